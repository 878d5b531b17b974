"""Gold that cannot be used is told by its line and the reason, and blames nobody else."""

from __future__ import annotations

import json

import pytest

from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.rows import shapes
from deid_platform.errors import Code, DeidError
from deid_platform.labels import CROSSWALKS

GOOD = {"note_id": "n1", "text": "Ann Quillfeather came.", "spans": [[0, 16, "PATIENT"]]}


def _refused(tmp_path, line, **options):
    path = tmp_path / "gold.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{line if isinstance(line, str) else json.dumps(line)}\n")
    with pytest.raises(DeidError) as error:
        list(read_gold(path, **options))
    assert "Quillfeather" not in str(error.value)
    return error.value.code, error.value.ref


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({**GOOD, "spans": [[0, 99, "PATIENT"]]}, "a span ends past the text"),
        ({**GOOD, "spans": [[16, 0, "PATIENT"]]}, "a span is empty or reversed"),
        ({**GOOD, "spans": [[3, 3, "PATIENT"]]}, "a span is empty or reversed"),
        ({**GOOD, "spans": [[-4, 3, "PATIENT"]]}, "a span begins before the text"),
        ({**GOOD, "spans": [[0, 3, "PATIENT", "Quillfeather"]]}, "a span does not hold the surface beside it"),
        ({**GOOD, "clinical": [[5, 99]]}, "a clinical term ends past the text"),
        ({**GOOD, "spans": [[0.0, 3.5, "PATIENT"]]}, "not of this form"),
        ({**GOOD, "spans": [["0", "3", "PATIENT"]]}, "not of this form"),
        ({**GOOD, "note_date": "Quillfeather"}, "not of this form"),
        ({"note_id": "n2", "text": "x"}, "no spans"),
        ({"text": "x", "spans": []}, "no note_id"),
        ("[1]", "not of this form"),
        ('{"note_id":', "not of this form"),
    ],
)
def test_a_line_that_cannot_be_used_is_told_by_its_number_and_reason(tmp_path, line, reason):
    assert _refused(tmp_path, line) == (Code.GOLD_INVALID, f"line 2: {reason}")


def test_a_line_without_a_text_is_a_fault_where_a_text_is_needed(tmp_path):
    bare = {"note_id": "n2", "spans": []}
    assert _refused(tmp_path, bare, with_text=True) == (Code.GOLD_INVALID, "line 2: no text")


def test_a_label_that_the_scheme_has_not_is_told_by_its_line(tmp_path):
    assert _refused(tmp_path, {**GOOD, "spans": [[0, 3, "PERSON"]]}) == (Code.LABEL_UNKNOWN, "line 2")


def test_a_scheme_that_is_none_names_those_there_are(tmp_path):
    code, ref = _refused(tmp_path, GOOD, scheme="i2b2")
    assert (code, ref) == (Code.SCHEME_UNKNOWN, ", ".join(sorted(CROSSWALKS)))
    assert "labels.py" not in code.remedy


@pytest.mark.parametrize(("said", "condition"), [("t2dm", "t2dm"), (None, None), (7, None), ({"icd": "E11"}, None)])
def test_what_a_note_is_about_is_a_word_or_not_said(tmp_path, said, condition):
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({**GOOD, "condition": said}))
    assert [gold.condition for gold in read_gold(path)] == [condition]


def test_keys_are_mapped_as_the_columns_of_a_feed_are(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"DOC": 7, "BODY": "Ann came.", "spans": [[0, 3, "PATIENT"]]}) + "\n")
    columns = shapes({"DOC": "notes.note_id", "BODY": "text"})
    (found,) = read_gold(path, columns=next(shape for shape in columns.values()).columns)
    assert (found.note_id, found.note.text) == ("7", "Ann came.")


def test_of_notes_that_are_not_wanted_no_more_is_looked_at_than_whose_line_it_is(tmp_path):
    path = tmp_path / "gold.jsonl"
    lines = [GOOD, {**GOOD, "note_id": "n2", "spans": [[0, 99, "PERSON"]]}, {**GOOD, "note_id": 3}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [gold.note_id for gold in read_gold(path, note_ids={"n1", "3", "n9"})] == ["n1", "3"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({**GOOD, "spans": [[0, 99, "PATIENT"]]}, "a span ends past the text"),
        ({**GOOD, "note_id": " n1 ", "spans": [[3, 3, "PATIENT"]]}, "a span is empty or reversed"),
        ({"text": "x", "spans": []}, "no note_id"),
        ({**GOOD, "note_id": ["n2"]}, "not of this form"),
        ('{"note_id": "n2"', "not of this form"),
    ],
)
def test_a_line_of_a_wanted_note_or_of_nobody_knows_which_is_refused_as_ever(tmp_path, line, reason):
    assert _refused(tmp_path, line, note_ids={"n1"}) == (Code.GOLD_INVALID, f"line 2: {reason}")
