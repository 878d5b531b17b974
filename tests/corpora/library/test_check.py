"""Notes as an author handed them in: counts, refusals by file and line, and what a reader should look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import deid

from deid_platform.corpora.library.check import Doubt, Place, check

HEADER = "kind: ED triage\nlanguage: en\n\n"
FILLING = "BP 120/80 and well. " * 70  # 280 words, none of a name


def write(folder: Path, *bodies: str, header: str = HEADER) -> Path:
    for number, body in enumerate(bodies):
        (folder / f"{number}.txt").write_text(header + body, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("body", "line", "doubt"),
    [
        ("Seen: ⟦Ann Quill|PATIENT patient⟧.\nMrs Quill is well.\n" + FILLING, 5, Doubt.UNMARKED),
        ("⟦QUILL, ANN|PATIENT patient⟧\n\n" + FILLING + "\nAnn left.", 7, Doubt.UNMARKED),
        ("⟦Dr. Ida Quill|DOCTOR staff⟧ " + FILLING, 4, Doubt.TITLE),
        (FILLING + "\n⟦Sra Quill|PATIENT relative⟧", 5, Doubt.TITLE),
        ("⟦Ida Quill, RN|DOCTOR staff⟧ " + FILLING, 4, Doubt.TITLE),
        ("⟦Ida Quill|DOCTOR staff⟧ is well.", 4, Doubt.LENGTH),
        (FILLING * 3, 4, Doubt.LENGTH),
    ],
)
def test_what_a_second_reader_should_look_at(tmp_path: Path, body: str, line: int, doubt: Doubt) -> None:
    assert check(write(tmp_path, body)).doubts == (Place(0, line, doubt.value),)


@pytest.mark.parametrize(
    "body",
    [
        "Dr ⟦Quill|DOCTOR staff⟧ saw Mr ⟦Quill|PATIENT patient⟧. ",
        "⟦Will Rose|PATIENT patient⟧ will return; a rose, wilted. ",  # words in small letters
        "⟦Jo Li|PATIENT patient⟧ Li 0.8, Jo ",  # too short to tell
        "⟦Drew Moran|PATIENT patient⟧ ⟦Sidney Mdoe|PATIENT relative⟧ ⟦Franca Donati|DOCTOR staff⟧ ",
        "At ⟦Quill Ward|HOSPITAL⟧: ⟦Ann Quill|PATIENT patient⟧. ",
        "⟦M. Quill|DOCTOR staff⟧ ⟦Don Moran|PATIENT patient⟧ ⟦Mark Do|DOCTOR staff⟧ ",  # no titles, names
    ],
)
def test_what_is_marked_as_it_should_be_is_no_doubt(tmp_path: Path, body: str) -> None:
    assert check(write(tmp_path, body + FILLING)).doubts == ()


def test_a_folder_is_counted_and_refused_by_file_and_line(tmp_path: Path) -> None:
    marked = "⟦Quill|PATIENT patient⟧ on ⟦3/4|DATE⟧ and ⟦5/4|DATE⟧. " + FILLING
    write(tmp_path, marked, "one line\n⟦Quillfeather|SURNAME⟧", "an ⟦open mark")
    found = check(tmp_path)
    assert (found.notes, found.words, found.marks, found.kinds) == (1, 285, {"PATIENT": 1, "DATE": 2}, 1)
    assert found.languages == {"en": 1}
    assert found.refused == (Place(1, 5, "unknown_label"), Place(2, 4, "malformed_row"))


def test_the_command_shows_places_and_counts_and_no_text(tmp_path: Path) -> None:
    written = write(
        tmp_path, "Seen: ⟦Quillfeather|PATIENT patient⟧.\nQuillfeather is well.\n" + FILLING, "⟦Quillfeather"
    )
    (tmp_path / "0.txt").rename(tmp_path / "Quillfeather.txt")
    told = deid("corpora", "check", str(written), "--format", "marked")
    assert told.returncode == 3, told.stdout + told.stderr
    said = told.stdout + told.stderr
    assert f"notes[1]\t5\tlook\t{Doubt.UNMARKED.value}" in said
    assert "notes[0]\t4\trefused\tmalformed_row" in said
    assert "1 note, 285 words, 1 kind of note; languages: en 1" in said
    assert "Quillfeather" not in said and "ED triage" not in said


def test_a_folder_without_a_note_fails(tmp_path: Path) -> None:
    assert deid("corpora", "check", str(write(tmp_path, "⟦open"))).returncode == 1
    assert "gold-missing" in deid("corpora", "check", str(tmp_path / "none")).stderr


def test_the_table_of_the_docs_is_that_of_the_library() -> None:
    told = deid("corpora", "library", "--markdown")
    assert told.returncode == 0 and "| `en-us-rural` | en | training |" in told.stdout
    page = (Path(__file__).parents[3] / "docs/library.md").read_text(encoding="utf-8")
    assert told.stdout in page, "`deid corpora library --markdown` prints it"
