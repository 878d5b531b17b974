"""`--spans`: another detector's spans under our policy and leak check; and `--scores`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deid_platform.cli import app
from deid_platform.errors import Code, DeidError

TEXT = "\N{GRINNING FACE} Ann Quillfeather, 34, met Dr. Alan Reed."
NAME = [2, 18]
DOCTOR = [TEXT.index("Alan"), TEXT.index("Alan") + 9]
NOTES = [{"note_id": "a", "text": TEXT, "patient_id": "p1"}, {"note_id": "b", "text": "BP 120/80."}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NOTES))
    (tmp_path / "patients.csv").write_text("patient_id,first_name,last_name\np1,Ann,Quillfeather\n")
    return tmp_path


def given(folder: Path, *rows: object) -> Path:
    path = folder / "spans.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return path


def redact(folder: Path, *arguments: str | Path) -> Result:
    command = ["redact", folder / "notes.jsonl", "-o", folder / "out.jsonl", *arguments]
    return CliRunner().invoke(app, [str(argument) for argument in command])


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]


def refusal(result: Result) -> tuple[Code, str | None]:
    assert isinstance(result.exception, DeidError), result.output
    return result.exception.code, result.exception.ref


def test_what_another_detector_found_is_hidden_by_our_policy_and_nothing_else(folder: Path) -> None:
    # Numbers and blanks around ids are one id, as in the notes.
    spans = given(
        folder, {"note_id": " a ", "spans": [[*NAME, "Name"], [20, 22, "Age"]]}, {"note_id": "b", "spans": []}
    )
    done = redact(folder, "--spans", spans, "--scheme", "murugadoss-2024")
    assert done.exit_code == 0, done.output
    first, second = rows(folder)
    assert first["text"] == "\N{GRINNING FACE} [PATIENT], 34, met Dr. Alan Reed.", "an age under 90 stays by policy"
    assert first["spans"] == [[*NAME, "PATIENT"], [20, 22, "AGE"]]
    assert second == {"note_id": "b", "text": "BP 120/80.", "spans": []}


def test_a_note_that_nobody_looked_at_is_withheld(folder: Path) -> None:
    done = redact(folder, "--spans", given(folder, {"note_id": "b", "spans": []}))
    assert done.exit_code == 3
    assert [row["note_id"] for row in rows(folder)] == ["b"]
    assert "1 note withheld: spans-missing" in done.output


def test_a_note_in_which_the_other_detector_missed_its_patient_is_withheld(folder: Path) -> None:
    spans = given(folder, {"note_id": "a", "spans": [[*DOCTOR, "DOCTOR"]]}, {"note_id": "b", "spans": []})
    done = redact(folder, "--spans", spans, "--patients", folder / "patients.csv")
    assert done.exit_code == 3
    assert [row["note_id"] for row in rows(folder)] == ["b"]
    assert "1 note withheld: leak-" in done.output
    assert "Quillfeather" not in done.output


def test_spans_that_overlap_become_one_with_the_label_of_the_surer(folder: Path) -> None:
    found = [[2, 8, "PATIENT", 0.4], [4, 18, "DOCTOR", 0.9], [*NAME, "CITY"]]
    spans = given(folder, {"note_id": "a", "spans": found}, {"note_id": "b", "spans": []})
    assert redact(folder, "--spans", spans, "--scores").exit_code == 0
    assert rows(folder)[0]["spans"] == [[*NAME, "DOCTOR", 0.9]]


def test_what_the_policy_hides_is_not_shown_for_a_surer_label_that_it_keeps(folder: Path) -> None:
    found = [[2, 5, "STATE", 0.9], [*NAME, "PATIENT", 0.4], [20, 22, "AGE"]]
    spans = given(folder, {"note_id": "a", "spans": found}, {"note_id": "b", "spans": []})
    assert redact(folder, "--spans", spans, "--policy", "safe_harbor").exit_code == 0
    assert rows(folder)[0]["text"] == "\N{GRINNING FACE} [PATIENT], 34, met Dr. Alan Reed."


def test_scores_stand_behind_the_labels_of_spans_that_have_one(folder: Path) -> None:
    found = [[*NAME, "PATIENT", 0.5, "Ann Quillfeather"], [*DOCTOR, "DOCTOR"]]
    spans = given(folder, {"note_id": "a", "spans": found}, {"note_id": "b", "spans": []})
    assert redact(folder, "--spans", spans, "--scores").exit_code == 0
    assert rows(folder)[0]["spans"] == [[*NAME, "PATIENT", 0.5], [*DOCTOR, "DOCTOR"]]
    # What rules find has one too.
    assert redact(folder, "--scores").exit_code == 0
    scored = rows(folder)[0]["spans"]
    assert {tuple(span[:3]) for span in scored} >= {(*NAME, "PATIENT"), (*DOCTOR, "DOCTOR")}
    assert all(0 < score <= 1 for *_, score in scored)
    assert redact(folder).exit_code == 0
    assert rows(folder)[0]["spans"] == [span[:3] for span in scored]
    # And what was written can be read again.
    (folder / "spans.jsonl").write_text("".join(json.dumps({**row, "spans": scored}) + "\n" for row in NOTES[:1]))
    again = redact(folder, "--spans", folder / "spans.jsonl", "--scores")
    assert (again.exit_code, rows(folder)[0]["spans"]) == (3, scored)


@pytest.mark.parametrize(
    ("line", "ref"),
    [
        ({"note_id": "b", "spans": [[3, 11, "DATE"]]}, "line 2: a span ends past the text"),
        ({"note_id": "b", "spans": [[-1, 2, "DATE"]]}, "line 2: a span begins before the text"),
        ({"note_id": "b", "spans": [[2, 2, "DATE"]]}, "line 2: a span is empty or reversed"),
        ({"note_id": "b", "spans": [[0, 2, "DATE", "Bo"]]}, "line 2: a span does not hold the text beside it"),
        ({"note_id": "b", "spans": [[0, 2, "DATE", 1.5]]}, "line 2: a span has a score that is not from 0 to 1"),
        ('{"note_id": "b", "spans": [[0, 2, "DATE", NaN]]}', "line 2: a span has a score that is not from 0 to 1"),
        ('{"note_id": "b", "spans": [], "spans": []}', "line 2: not of this form"),
        ({"note_id": "a", "spans": []}, "line 2: a second line of one note"),
        ({"note_id": "b"}, "line 2: not of this form"),
        ({"note_id": "b", "spans": [[0.0, 2.0, "DATE"]]}, "line 2: not of this form"),
        ({"note_id": None, "spans": []}, "line 2: not of this form"),
        ("[]", "line 2: not of this form"),
        ("Quillfeather", "line 2: not of this form"),
    ],
)
def test_a_line_that_cannot_be_used_is_told_by_its_number(folder: Path, line: object, ref: str) -> None:
    spans = given(folder, {"note_id": "a", "spans": []}, line)
    assert refusal(redact(folder, "--spans", spans)) == (Code.SPANS_INVALID, ref)
    assert not (folder / "out.jsonl").exists()


def test_labels_and_schemes_are_those_that_there_are(folder: Path) -> None:
    spans = given(folder, {"note_id": "a", "spans": [[*NAME, "Name"]]})
    assert refusal(redact(folder, "--spans", spans)) == (Code.LABEL_UNKNOWN, "line 1")
    code, ref = refusal(redact(folder, "--spans", spans, "--scheme", "none"))
    assert (code, "murugadoss-2024" in str(ref)) == (Code.SCHEME_UNKNOWN, True)


def test_the_spans_are_read_compressed_and_never_replaced(folder: Path) -> None:
    lines = "".join(json.dumps({"note_id": key, "spans": []}) + "\n" for key in "ab").encode()
    (folder / "spans.jsonl.gz").write_bytes(gzip.compress(lines))
    assert redact(folder, "--spans", folder / "spans.jsonl.gz").exit_code == 0
    (folder / "spans.jsonl.gz").write_bytes(gzip.compress(lines)[:-9])
    assert refusal(redact(folder, "--spans", folder / "spans.jsonl.gz")) == (Code.FEED_UNREADABLE, "spans")
    spans = given(folder, *(json.loads(line) for line in lines.splitlines()))
    (folder / "out.jsonl").unlink()
    (folder / "out.jsonl").hardlink_to(spans)
    assert refusal(redact(folder, "--spans", spans)) == (Code.INPUT_INVALID, "output is the input")


def test_a_detector_and_its_replacement_are_not_both_taken(folder: Path) -> None:
    spans = given(folder, {"note_id": "a", "spans": []})
    assert redact(folder, "--spans", spans, "--detector", "patterns").exit_code == 2


def test_a_plain_text_is_the_note_called_note(folder: Path) -> None:
    (folder / "letter.txt").write_text(TEXT, encoding="utf-8")
    spans = given(folder, {"note_id": "note", "spans": [[*NAME, "PATIENT"]]})
    command = ["redact", folder / "letter.txt", "-o", folder / "out.txt", "--spans", spans]
    done = CliRunner().invoke(app, [str(argument) for argument in command])
    assert done.exit_code == 0, done.output
    assert (folder / "out.txt").read_text(encoding="utf-8") == TEXT.replace("Ann Quillfeather", "[PATIENT]")


@pytest.fixture
def gold(folder: Path) -> Path:
    found = ([[*NAME, "PATIENT"], [*DOCTOR, "DOCTOR"]], [])
    lines = (json.dumps({**row, "spans": spans}) + "\n" for row, spans in zip(NOTES, found, strict=True))
    (folder / "gold.jsonl").write_text("".join(lines))
    return folder / "gold.jsonl"


def evaluate(gold: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["evaluate", *map(str, (gold, *arguments))])


def test_another_detector_is_scored_on_the_same_gold(folder: Path, gold: Path) -> None:
    found = [[*NAME, "Name"], [20, 22, "Age"]]
    spans = given(folder, {"note_id": "a", "spans": found}, {"note_id": "b", "spans": []})
    misses = folder / "misses.jsonl"
    shown = evaluate(gold, "--spans", spans, "--spans-scheme", "murugadoss-2024", "--json", "--misses", misses)
    assert shown.exit_code == 0, shown.output
    whole = json.loads(shown.stdout.splitlines()[0])
    assert (whole["recall"], whole["precision"]) == (2 / 4, 2 / 3)
    assert whole["recall_conservative"] == 2 / 4  # what was found was found whole
    told = [json.loads(line) for line in misses.read_text().splitlines()]
    assert [(line["kind"], line["text"]) for line in told] == [("wrongly hidden", "34"), ("missed", "Alan Reed")]
    # Gold finds all of itself, which shows that both are read alike.
    shown = evaluate(gold, "--spans", gold)
    assert "spans of another detector" in shown.stdout
    assert shown.stdout.count("1.000") >= 3


def test_notes_that_nobody_looked_at_are_no_scores(folder: Path, gold: Path) -> None:
    spans = given(folder, {"note_id": "b", "spans": []})
    assert refusal(evaluate(gold, "--spans", spans)) == (Code.SPANS_MISSING, "1 of 2 notes")
    past = given(folder, {"note_id": "b", "spans": []}, {"note_id": "a", "spans": [[0, 99, "DATE"]]})
    assert refusal(evaluate(gold, "--spans", past)) == (Code.SPANS_INVALID, "line 2: a span ends past the text")
