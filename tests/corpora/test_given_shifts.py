"""A file of date offsets from outside: read whole or not at all, and only the one that was sealed."""

from __future__ import annotations

import hashlib
from datetime import date

import pytest

from deid_platform.corpora.given_shifts import read_given_shifts
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Note, Patient, Topics
from deid_platform.surrogates.dates import GivenShifts, note_shift_days, shifted

KEYRING = Keyring(hashlib.sha256(b"offsets").digest(), site="north")


@pytest.fixture
def sealed(tmp_path):
    """Writes a file that its owner alone may read, and returns it with its SHA-256."""

    def write(content: str, name: str = "offsets.csv"):
        path = tmp_path / name
        path.write_text(content)
        path.chmod(0o600)
        return path, hashlib.sha256(content.encode()).hexdigest()

    return write


def refused(path, sha256) -> str | None:
    with pytest.raises(DeidError) as caught:
        read_given_shifts(path, sha256, keyed_if_missing=False)
    assert caught.value.code is Code.OFFSETS_INVALID
    assert "p1" not in str(caught.value)
    return caught.value.ref


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("offsets.csv", "patient_id,days\n p1 ,-17\np2,+400\n"),
        ("offsets.jsonl", '{"patient_id": "p1", "days": -17}\n{"patient_id": "p2", "days": "400"}\n'),
    ],
)
def test_patients_and_days_are_read(sealed, name, content) -> None:
    path, sha256 = sealed(content, name)
    read = read_given_shifts(path, sha256, keyed_if_missing=True)
    assert read == GivenShifts({"p1": -17, "p2": 400}, sha256, True)
    assert "p1" not in repr(read)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("p1,5\np1,6\n", 3),
        ("p1,0\n", 2),
        ("p1,3661\n", 2),
        ("p1,\n", 2),
        ("p1,5.5\n", 2),
        (",5\n", 2),
        ("p1,5\np2,five\n", 3),
        ("p1,5,x\n", 2),
    ],
)
def test_one_row_that_is_none_refuses_the_file(sealed, rows, line) -> None:
    assert refused(*sealed(f"patient_id,days\n{rows}")) == f"redaction.offsets: line {line}"


def test_another_file_and_one_that_others_may_read_are_refused(sealed, tmp_path) -> None:
    path, sha256 = sealed("patient_id,days\np1,5\n")
    path.write_text("patient_id,days\np1,6\n")
    assert refused(path, sha256) == "redaction.offsets: its SHA-256 is not the one of deid.toml"
    path.chmod(0o640)
    assert refused(path, sha256) == "redaction.offsets: others may read it"
    assert refused(tmp_path / "absent.csv", sha256) == "redaction.offsets: cannot be read"
    assert refused(*sealed("patient_id,days\n")) == "redaction.offsets: no rows"


def test_an_offset_stands_in_the_place_of_the_keyed_shift_and_of_the_mothers() -> None:
    topics = Topics.of(patients=[Patient("p1", mother_id="p2")])
    note = Note("n", "x", patient_id="p1", note_date=date(2026, 1, 2))
    given = GivenShifts({"p1": -17}, "d")
    assert note_shift_days(KEYRING, topics, note, given=given) == -17
    assert shifted(KEYRING, topics, note, given=given) == date(2025, 12, 16)
    assert note_shift_days(KEYRING, topics, note) % 7 == 0


@pytest.mark.parametrize("patient", ["p9", None])
def test_of_a_patient_who_is_not_named_nothing_is_moved_unless_the_keyed_shift_is_asked_for(patient) -> None:
    note = Note("n", "x", patient_id=patient, note_date=date(2026, 1, 2))
    with pytest.raises(DeidError) as caught:
        note_shift_days(KEYRING, None, note, given=GivenShifts({"p1": -17}, "d"))
    assert caught.value.code is Code.OFFSETS_INVALID
    keyed = GivenShifts({"p1": -17}, "d", keyed_if_missing=True)
    assert note_shift_days(KEYRING, None, note, given=keyed) == note_shift_days(KEYRING, None, note)
