"""Columns, fields and values: the rules that hold whatever the file format."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.rows import note_id_of, record_of, shapes
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Facility, Note, Patient, Provider, Rejoining, Withdrawal

NOTE = {"note_id": "n1", "text": "Seen today."}
LATEST = date(2026, 3, 1)


def _both(cells, role=Role.NOTES, max_chars=100, **config):
    return record_of(cells, shapes(**config)[role], max_chars=max_chars, latest=LATEST)


def _read(cells, role=Role.NOTES, max_chars=100, **config):
    """The record or the reason against it, where there is one of the two."""
    record, reason = _both(cells, role, max_chars, **config)
    assert (record is None) != (reason is None)
    return reason if record is None else record


@pytest.mark.parametrize(
    ("role", "cells", "record"),
    [
        (Role.NOTES, NOTE, Note("n1", "Seen today.")),
        (
            Role.NOTES,
            {
                **NOTE,
                "patient_id": "p",
                "encounter_id": "e",
                "provider_id": "d",
                "site": "s",
                "note_type": "t",
                "note_date": "2026-01-05",
                "language": "it",
            },
            Note("n1", "Seen today.", "p", "e", "d", "s", "t", date(2026, 1, 5), "it"),
        ),
        (Role.PATIENTS, {"patient_id": "p", "zip": "02139"}, Patient("p", zip="02139")),
        (Role.PATIENTS, {"patient_id": "p", "birth_date": date(1950, 2, 1)}, Patient("p", birth_date=date(1950, 2, 1))),
        (Role.PROVIDERS, {"provider_id": 7, "npi": 1000000000}, Provider("7", npi="1000000000")),
        (Role.FACILITIES, {"facility_id": "f", "phone": " 555-0100 "}, Facility("f", phone="555-0100")),
        (Role.WITHDRAWN, {"note_id": "n1", "patient_id": ""}, Withdrawal(note_id="n1")),
        (Role.WITHDRAWN, {"patient_id": "p"}, Withdrawal(patient_id="p")),
        (Role.REJOINED, {"patient_id": 7}, Rejoining("7")),
    ],
)
def test_a_good_row_is_a_both(role, cells, record):
    assert _read(cells, role) == record


@pytest.mark.parametrize("empty", [None, "", "   ", "\t\n"])
def test_an_optional_field_that_is_empty_is_missing(empty):
    cells = {**NOTE, **dict.fromkeys(("patient_id", "note_date", "language", "site"), empty)}
    assert _read(cells) == Note("n1", "Seen today.")


@pytest.mark.parametrize(
    "text", ["a\r\nb\rc\nd", "a\u2028b\x0bc\x85d\u2029", "\ufeffa\ufeffb", "  a  ", "e\u0301 é", "a\x1bb", "\U0001f9b4"]
)
def test_text_is_kept_code_point_by_code_point(text):
    note = _read({"note_id": "n1", "text": text})
    assert isinstance(note, Note)
    assert note.text == text


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"text": "x"}, Reason.MISSING_NOTE_ID),
        ({"note_id": None, "text": "x"}, Reason.MISSING_NOTE_ID),
        ({"note_id": " ", "text": "x"}, Reason.MISSING_NOTE_ID),
        ({"note_id": "n1"}, Reason.EMPTY_TEXT),
        ({"note_id": "n1", "text": ""}, Reason.EMPTY_TEXT),
        ({"note_id": "n1", "text": " \r\n\u2028\x0b"}, Reason.EMPTY_TEXT),
        ({"note_id": "n1", "text": "x" * 101}, Reason.TEXT_TOO_LONG),
        ({"note_id": "n1", "text": "a\0b"}, Reason.NUL_CHARACTER),
        ({"note_id": "n\x001", "text": "a"}, Reason.NUL_CHARACTER),
        ({"note_id": "n1", "text": "a\ud800b"}, Reason.LONE_SURROGATE),
        ({"note_id": "n\udfff1", "text": "a"}, Reason.LONE_SURROGATE),
        ({**NOTE, "colour": "blue"}, Reason.UNKNOWN_COLUMN),
        ({**NOTE, "birth_date": "1950-02-01"}, Reason.UNKNOWN_COLUMN),
        ({"note_id": "n1", "text": 12}, Reason.MALFORMED_ROW),
        ({"note_id": 1.0, "text": "x"}, Reason.MALFORMED_ROW),
        ({"note_id": True, "text": "x"}, Reason.MALFORMED_ROW),
        ({"note_id": ["n1"], "text": "x"}, Reason.MALFORMED_ROW),
        ({**NOTE, "site": date(2026, 1, 5)}, Reason.MALFORMED_ROW),
        ({**NOTE, "site": Reason.INVALID_UTF8}, Reason.INVALID_UTF8),
        ({**NOTE, "note_date": Reason.IMPOSSIBLE_DATE}, Reason.IMPOSSIBLE_DATE),
        ({**NOTE, "language": ["en"]}, Reason.MALFORMED_ROW),
    ],
)
def test_a_bad_note_is_refused(cells, reason):
    assert _read(cells) is reason


@pytest.mark.parametrize(
    ("cells", "note_id"),
    [
        ({**NOTE, "text": ""}, "n1"),
        ({**NOTE, "text": "a\0b"}, "n1"),
        ({**NOTE, "note_date": "2026-02-30"}, "n1"),
        ({**NOTE, "colour": "blue"}, "n1"),
        ({"note_id": " 7 ", "text": ["x"]}, "7"),
        ({"note_id": 7, "site": Reason.INVALID_UTF8}, "7"),
        ({"text": "x"}, None),
        ({"note_id": " "}, None),
        ({"note_id": "n\x001"}, None),
        ({"note_id": "n\udfff1"}, None),
        ({"note_id": ["n1"]}, None),
        ({"note_id": True}, None),
        ({"note_id": Reason.INVALID_UTF8}, None),
        (Reason.MALFORMED_ROW, None),
    ],
)
def test_a_note_s_id_is_read_from_a_bad_row_where_it_can_be(cells, note_id):
    assert note_id_of(cells, shapes()[Role.NOTES]) == note_id


def test_a_note_s_id_is_read_from_the_column_that_is_mapped_to_it_and_from_notes_alone():
    shape = shapes(columns={"DOC": "note_id"})
    assert note_id_of({"DOC": "n1", "note_id": "other"}, shape[Role.NOTES]) == "n1"
    assert note_id_of({"DOC": "n1", "patient_id": "p"}, shape[Role.WITHDRAWN]) is None


def test_the_limit_itself_is_not_over_the_limit():
    assert isinstance(_read({"note_id": "n1", "text": "\U0001f9b4" * 100}), Note)


@pytest.mark.parametrize(
    ("role", "cells", "reason"),
    [
        (Role.PATIENTS, {"first_name": "Ann"}, Reason.MISSING_ID),
        (Role.PATIENTS, {"first_name": "Ann", "birth_date": "1950-13-01"}, Reason.MISSING_ID),
        (Role.PATIENTS, {"patient_id": "p", "birth_date": "1950-13-01", "zip": "\0"}, Reason.NUL_CHARACTER),
        (Role.PATIENTS, {"patient_id": "p", "last_name": Reason.IMPOSSIBLE_DATE}, Reason.MALFORMED_ROW),
        (Role.PATIENTS, {"patient_id": Reason.IMPOSSIBLE_DATE}, Reason.MALFORMED_ROW),
        (Role.PROVIDERS, {"provider_id": ""}, Reason.MISSING_ID),
        (Role.FACILITIES, {"facility_id": "f", "npi": "1"}, Reason.UNKNOWN_COLUMN),
        (Role.WITHDRAWN, {"note_id": "", "patient_id": None}, Reason.MISSING_ID),
        (Role.WITHDRAWN, {"note_id": "n", "patient_id": "p"}, Reason.MALFORMED_ROW),
    ],
)
def test_a_bad_topic_or_withdrawal_is_refused(role, cells, reason):
    assert _read(cells, role) is reason


@pytest.mark.parametrize("impossible", ["1950-13-01", "unknown", "00/00/0000", Reason.IMPOSSIBLE_DATE])
def test_a_patient_without_a_possible_birth_date_keeps_the_name_and_is_told(impossible):
    cells = {"patient_id": "p", "birth_date": impossible, "last_name": "Quillfeather"}
    assert _both(cells, Role.PATIENTS) == (Patient("p", last_name="Quillfeather"), Reason.IMPOSSIBLE_DATE)


@pytest.mark.parametrize("day", [date(1900, 1, 1), date(2026, 2, 28), LATEST])
def test_a_note_may_be_dated_from_1900_to_the_latest_day(day):
    for written in (day, day.isoformat(), f"{day}T23:59:59"):
        assert _read({**NOTE, "note_date": written}) == Note("n1", "Seen today.", note_date=day)


@pytest.mark.parametrize("day", [date(1899, 12, 31), date(1, 1, 1), LATEST + timedelta(days=1), date(9999, 12, 31)])
def test_a_note_dated_before_1900_or_after_the_latest_day_is_refused(day):
    for written in (day, day.isoformat()):
        assert _read({**NOTE, "note_date": written}) is Reason.IMPOSSIBLE_DATE


def test_a_birth_may_be_before_1900():
    cells = {"patient_id": "p", "birth_date": "1899-12-31"}
    assert _read(cells, Role.PATIENTS) == Patient("p", birth_date=date(1899, 12, 31))


@pytest.mark.parametrize(
    ("written", "language"),
    [
        ("it", "it"),
        (" es ", "es"),
        ("EN", "EN"),
        ("fil", "fil"),
        ("en-US", "en-US"),
        ("en_US", "en_US"),
        ("zh-Hant-TW", "zh-Hant-TW"),
        ("de-1996", "de-1996"),
        ("", "en"),
        (None, "en"),
        ("e", "und"),
        ("English", "und"),
        ("en-", "und"),
        ("en US", "und"),
        ("en-U", "und"),
        ("en-abcdefghi", "und"),
        ("e\u0144", "und"),
        ("en\nUS", "und"),
        ("Quillfeather, Ann", "und"),
        (12, "und"),
    ],
)
def test_a_language_is_kept_as_it_is_written_or_undetermined(written, language):
    assert _read({**NOTE, "language": written}) == Note("n1", "Seen today.", language=language)


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-01-05", date(2026, 1, 5)),
        (" 2026-01-05 ", date(2026, 1, 5)),
        ("2024-02-29", date(2024, 2, 29)),
        ("2026-01-05T23:30", date(2026, 1, 5)),
        ("2026-01-05 23:30:00.123", date(2026, 1, 5)),
        ("2026-01-05T23:30:00Z", date(2026, 1, 5)),
        ("2026-01-05T23:30:00-05:00", date(2026, 1, 5)),  # the writer's own calendar, not UTC's
        ("2026-02-30", None),
        ("2026-02-29", None),
        ("2026-1-5", None),
        ("01/05/2026", None),
        ("5 January 2026", None),
        ("0000-01-01", None),
        ("2026-01-05T25:00", None),
        ("2026", None),
    ],
)
def test_dates_are_iso_or_impossible(written, day):
    outcome = _read({**NOTE, "note_date": written})
    assert outcome == (Reason.IMPOSSIBLE_DATE if day is None else Note("n1", "Seen today.", note_date=day))


def test_columns_are_mapped_and_ignored():
    cells = {"DOC": "n1", "BODY": "x", "text": "summary", "LOAD_TS": Reason.MALFORMED_ROW}
    config = {"columns": {"DOC": "note_id", "BODY": "text"}, "ignore": ("LOAD_TS", "text")}
    assert _read(cells, **config) == Note("n1", "x")
    assert _read(cells, columns=config["columns"], ignore=("LOAD_TS",)) is Reason.UNKNOWN_COLUMN  # `text` is taken


def test_two_columns_may_swap_names():
    assert _read({"text": "n1", "note_id": "x"}, columns={"text": "note_id", "note_id": "text"}) == Note("n1", "x")


def test_a_target_may_be_meant_for_one_role():
    columns = {"PAT_LAST": "patients.last_name", "PROV_LAST": "providers.last_name", "PID": "patient_id"}
    assert _read({"PID": "p", "PAT_LAST": "A"}, Role.PATIENTS, columns=columns) == Patient("p", last_name="A")
    assert _read({"provider_id": "d", "PROV_LAST": "B"}, Role.PROVIDERS, columns=columns) == Provider(
        "d", last_name="B"
    )
    assert _read({"provider_id": "d", "PAT_LAST": "B"}, Role.PROVIDERS, columns=columns) is Reason.UNKNOWN_COLUMN
    assert _read({"PID": "p"}, Role.WITHDRAWN, columns=columns) == Withdrawal(patient_id="p")


def test_defaults_stand_where_a_note_has_none():
    defaults = {"note_type": "transcription", "language": "es", "note_date": "2026-01-05"}
    assert _read({**NOTE, "language": "it", "note_type": ""}, defaults=defaults) == Note(
        "n1", "Seen today.", note_type="transcription", note_date=date(2026, 1, 5), language="it"
    )
    assert _read({"patient_id": "p"}, Role.PATIENTS, defaults=defaults) == Patient("p")


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"columns": {"BODY": "body"}}, "columns.BODY"),
        ({"columns": {"A": "text", "B": "text"}}, "columns.B"),
        ({"columns": {"A": "last_name", "B": "patients.last_name"}}, "columns.B"),
        ({"columns": {"A": "patients.npi"}}, "columns.A"),
        ({"columns": {"A": "people.last_name"}}, "columns.A"),
        ({"columns": {"A": "text"}, "ignore": ["A"]}, "columns.A"),
        ({"defaults": {"note_typ": "x"}}, "defaults.note_typ"),
        ({"defaults": {"note_id": "x"}}, "defaults.note_id"),
        ({"defaults": {"text": "x"}}, "defaults.text"),
        ({"defaults": {"note_type": " "}}, "defaults.note_type"),
        ({"defaults": {"note_date": "2026-02-30"}}, "defaults.note_date"),
        ({"defaults": {"note_date": "1899-12-31"}}, "defaults.note_date"),
        ({"defaults": {"language": "English"}}, "defaults.language"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_by_its_key(config, key):
    with pytest.raises(DeidError) as caught:
        shapes(**config)
    assert (caught.value.code, caught.value.ref) == (Code.FEED_MAPPING, key)


MAPPED = {"PAT_ID": "patient_id", "NOTE_NUM": "notes.note_id", "MRN": "patients.mrn", "ID": "notes.site, patients.sex"}


@pytest.mark.parametrize(
    ("role", "cells", "withdrawn"),
    [
        (Role.WITHDRAWN, {"patient_id": "p1"}, {"patient_id": "p1"}),
        (Role.WITHDRAWN, {"note_id": "n1"}, {"note_id": "n1"}),
        (Role.WITHDRAWN, {"PAT_ID": "p1", "note_id": ""}, {"patient_id": "p1"}),
        (Role.WITHDRAWN, {"NOTE_NUM": "n1"}, {"note_id": "n1"}),
        (Role.WITHDRAWN, {"PAT_ID": "p1", "patient_id": "p1"}, {"patient_id": "p1"}),
        (Role.WITHDRAWN, {"PAT_ID": "p1", "patient_id": "p2"}, Reason.MALFORMED_ROW),
        (Role.WITHDRAWN, {"MRN": "1"}, Reason.UNKNOWN_COLUMN),
        (Role.WITHDRAWN, {"ID": "1"}, Reason.UNKNOWN_COLUMN),
        (Role.REJOINED, {"patient_id": "p1"}, {"patient_id": "p1"}),
        (Role.REJOINED, {"NOTE_NUM": "n1"}, Reason.UNKNOWN_COLUMN),
    ],
)
def test_field_names_are_valid_in_statements_whatever_is_mapped(role, cells, withdrawn):
    record, reason = _both(cells, role, columns=MAPPED)
    said = reason if record is None else {k: v for k in ("note_id", "patient_id") if (v := getattr(record, k, None))}
    assert said == withdrawn


def test_in_other_files_the_mapped_column_alone_is_the_field():
    assert _both({"note_id": "n1", "text": "x"}, Role.NOTES, columns=MAPPED)[1] is Reason.UNKNOWN_COLUMN
    assert _both({"patient_id": "n1"}, Role.PATIENTS, columns=MAPPED)[1] is Reason.UNKNOWN_COLUMN
    assert _both({"note_id": "n1"}, Role.WITHDRAWN, ignore=["note_id"])[1] is Reason.MISSING_ID
