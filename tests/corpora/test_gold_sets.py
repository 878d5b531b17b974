"""Gold at a path: its format is told by its files, and commands that score take any of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deid_platform.cli import app
from deid_platform.corpora import Reason
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.gold_sets import GoldSet, form_of, gold_forms
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TEXT = "Seen by Dr. Alan Reed on 3/14/2019 ."
GOLD = Gold("n1", (Span(12, 21, Label.DOCTOR), Span(25, 34, Label.DATE)), note=Note("n1", TEXT))
MIMIC = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CHARTTIME,STORETIME,CATEGORY,DESCRIPTION,CGID,ISERROR,TEXT\n"
MARKED = (
    "kind: visit\nstyle: prose\nlanguage: en\ndate: 2024-01-02\n\nSeen by Dr. ⟦Alan Reed|DOCTOR staff⟧ on Monday.\n"
)
WRITTEN = {
    "i2b2": "notes",
    "brat": "notes",
    "conll": "notes.conll",
    "labelstudio": "export.json",
    "jsonl": "notes.jsonl",
}


@pytest.fixture(params=WRITTEN)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    path = tmp_path / WRITTEN[request.param]
    gold_format(request.param).write([GOLD], path)
    return request.param, path


def test_files_tell_their_format(written: tuple[str, Path]) -> None:
    form, path = written
    assert form_of(path) == form
    assert form in gold_forms()
    if path.is_file():
        assert form_of(path.parent) == form


def test_notes_come_with_text_and_labels(written: tuple[str, Path]) -> None:
    _, path = written
    (gold,) = GoldSet(path, scheme="i2b2-2014")
    assert gold.note is not None
    assert gold.note.text.replace(" ", "") == TEXT.replace(" ", "")
    assert [span.label for span in gold.spans] == [Label.DOCTOR, Label.DATE]


@pytest.mark.parametrize(("name", "content", "form"), [
    ("NOTEEVENTS.csv", MIMIC, "mimic3"), ("discharge.csv.gz", "", "mimic4"), ("001-visit.txt", MARKED, "marked"),
])  # fmt: skip
def test_a_folder_is_told_by_what_lies_in_it(tmp_path: Path, name: str, content: str, form: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert form_of(tmp_path) == form


def test_conll_has_its_own_labels_unless_told(tmp_path: Path) -> None:
    (tmp_path / "eng.conll").write_text("-DOCSTART- -X- -X- O\n\nAnn NNP B-NP I-PER\ncame VBD B-VP O\n")
    (gold,) = GoldSet(tmp_path)
    assert [span.label for span in gold.spans] == [Label.PATIENT]


def test_a_folder_that_tells_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Seen today.")
    with pytest.raises(DeidError) as error:
        form_of(tmp_path)
    assert error.value.code is Code.FORMAT_UNKNOWN
    with pytest.raises(DeidError) as error:
        form_of(tmp_path / "nothing")
    assert error.value.code is Code.GOLD_MISSING


def test_notes_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    gold_format("brat").write([GOLD], tmp_path / "set")
    (tmp_path / "set" / "n2.ann").write_text("T1\tDATE 0 1\tx\n")
    refused: list[Reason] = []
    assert len(list(GoldSet(tmp_path / "set", refused=lambda it: refused.append(it.reason)))) == 1
    assert refused == [Reason.MISSING_TEXT]


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_evaluate_and_compare_take_each_format(written: tuple[str, Path]) -> None:
    _, path = written
    scheme = ("--scheme", "i2b2-2014")
    status, told, _ = run("evaluate", path, "--detector", "rules", "--resamples", "2", "--json", *scheme)
    assert status == 0
    assert json.loads(told.splitlines()[0])["recall"] == 1
    status, told, errors = run("compare", path, "--detectors", "rules,ensemble", "--resamples", "2", *scheme)
    assert status == 0
    assert "gold has 2 identifiers" in errors + told


def test_evaluate_says_what_it_could_not_read(tmp_path: Path) -> None:
    gold_format("brat").write([GOLD], tmp_path / "set")
    (tmp_path / "set" / "n2.ann").write_text("T1\tDATE 0 1\tx\n")
    status, _, errors = run("evaluate", tmp_path / "set", "--detector", "rules", "--resamples", "2")
    assert status == 3
    assert "1 row refused: missing_text" in errors


def test_another_format_may_be_told(tmp_path: Path) -> None:
    gold_format("conll").write([GOLD], tmp_path / "notes.words")
    told = ("--gold-format", "conll", "--scheme", "i2b2-2014", "--resamples", "2")
    assert run("evaluate", tmp_path / "notes.words", "--detector", "rules", *told)[0] == 0
    assert run("evaluate", tmp_path / "nothing", "--detector", "rules")[0] == 1


RAW = "Ms. [**Known lastname 202**] came on [**2151-7-16**]."


@pytest.mark.parametrize("how", ["mimic3", "jsonl"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_placeholders_are_no_gold_until_they_are_filled(tmp_path: Path, how: str, command: str) -> None:
    if how == "mimic3":
        (tmp_path / "NOTEEVENTS.csv").write_text(f'{MIMIC}1,7,,,,,Nursing,Report,,,"{RAW}"\n')
        path = tmp_path
    else:
        path = tmp_path / "gold.jsonl"
        path.write_text(json.dumps({"note_id": "1", "text": RAW, "spans": [[4, 28, "PATIENT"]]}) + "\n")
    detectors = ("--detector", "rules") if command == "evaluate" else ("--detectors", "rules,ensemble")
    done = CliRunner().invoke(app, [command, str(path), *detectors, "--resamples", "2"])
    assert isinstance(done.exception, DeidError)
    assert (done.exit_code, done.stdout, done.exception.code) == (1, "", Code.PLACEHOLDERS_UNFILLED)
    assert "deid corpora fill mimic" in str(done.exception)


def test_notes_with_placeholders_and_no_gold_are_compared_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    rows = [{"note_id": "1", "text": RAW}, {"note_id": "2", "text": "Seen by Dr. Alan Reed. Signed: ___"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, _, errors = run("compare", path, "--detectors", "rules,ensemble", "--resamples", "2")
    assert status == 0
    assert "1 note with placeholders in brackets" in " ".join(errors.split())
