"""Unknown columns: which are named, which field each probably is, and mappings as they are typed."""

from __future__ import annotations

import tomllib

import pytest

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.columns import ColumnMapping, unknown_columns
from deid_platform.corpora.refusals import FIRST, Refusals, lines_of
from deid_platform.corpora.rows import shapes
from deid_platform.errors import Code, DeidError


def _unknown(names, role=Role.NOTES, **config):
    return unknown_columns(names, shapes(**config)[role])


@pytest.mark.parametrize(
    ("role", "names", "shown"),
    [
        (Role.NOTES, ["note_id", "text", "colour", "LOAD_TS"], "colour, LOAD_TS"),
        (Role.NOTES, ["NOTE_ID", "NOTE_TXT", "Lang", "X1"], "NOTE_ID, NOTE_TXT, Lang, X1"),
        (Role.NOTES, ["Note Text", "Patient Id"], "Note Text, Patient Id"),
        (Role.PATIENTS, ["last_name", "sex", "nickname"], "nickname"),
        (Role.WITHDRAWN, ["patient_id", "why"], "why"),
        (Role.PATIENTS, ["MRN", "PAT_NAME", "DOB"], "MRN, PAT_NAME, DOB"),
        (Role.WITHDRAWN, ["MRN", "CSN"], "MRN, CSN"),
        (Role.WITHDRAWN, ["MRN"], "MRN"),
        (Role.REJOINED, ["PAT_MRN_ID"], "PAT_MRN_ID"),
        # All in capitals
        (Role.PATIENTS, ["MRN", "SURNAME", "FORENAME", "SEX"], "MRN, SURNAME, FORENAME, SEX"),
        (Role.PATIENTS, ["LASTNAME", "FIRSTNAME"], "LASTNAME, FIRSTNAME"),
        (Role.PATIENTS, ["MRN", "SURNAME", "FORENAME"], "MRN, SURNAME, FORENAME"),
    ],
)
def test_a_header_is_named(role, names, shown):
    assert str(_unknown(names, role)) == shown


@pytest.mark.parametrize(
    ("role", "names"),
    [
        (Role.PATIENTS, ["p1", "Ann", "Quillfeather"]),
        (Role.PATIENTS, ["p1", "ANN", "QUILLFEATHER", "7731984"]),
        (Role.PATIENTS, ["Street", "Page", "Key"]),  # words of columns, and surnames
        (Role.PATIENTS, ["Ann Quillfeather"]),
        (Role.PATIENTS, ["MRN-7731984", "QUILLFEATHER", "SEX"]),
        (Role.REJOINED, ["QUILLFEATHER"]),
        (Role.PATIENTS, ["ANN", "STREET", "QUILLFEATHER"]),
        (Role.PATIENTS, ["COGNOME-7731984", "QUILLFEATHER", "CITY"]),
        (Role.PROVIDERS, ["d1", "Ines", "Marchetti", "imarchetti"]),
        (Role.NOTES, ["n1", "Seen today with her son.", "p1", "2026-01-05"]),
        (Role.NOTES, ["n1", "Visit Note", "Quillfeather"]),
        (Role.NOTES, ["Visit Note", "Phone Note", "Quillfeather"]),
        (Role.NOTES, ["text", "Quillfeather"]),  # one word that is a field proves little
    ],
)
def test_a_row_in_the_header_s_place_is_not_shown(role, names):
    found = _unknown(names, role)
    assert set(found.named) <= {"Visit Note", "Phone Note"}
    assert str(found).endswith("the file may have no header line, or another separator than , ; | and tab")


@pytest.mark.parametrize(
    "name",
    [
        "Quillfeather",
        "AnnQuillfeather",
        "Ann_Quillfeather",
        "Ann Quillfeather",
        "MRN7731984",
        "ann@quill.org",
        "617-555-0142",
        "Seen today.",
        "é",
    ],
)
def test_a_name_that_may_be_a_value_is_not_shown_in_a_header_either(name):
    assert str(_unknown(["note_id", "text", name])) == "1 not shown"


@pytest.mark.parametrize(
    ("role", "column", "field"),
    [
        (Role.NOTES, "NOTE_TXT", "text"),
        (Role.NOTES, "ReportBody", "text"),
        (Role.NOTES, "TEXT", "text"),
        (Role.NOTES, "DOC_ID", "note_id"),
        (Role.NOTES, "id", "note_id"),
        (Role.NOTES, "PAT_NUM", "patient_id"),
        (Role.NOTES, "noteDate", "note_date"),
        (Role.NOTES, "TYPE", "note_type"),
        (Role.NOTES, "lnaguage", "language"),
        (Role.NOTES, "LOAD_TS", None),
        (Role.PATIENTS, "DOB", "birth_date"),
        (Role.PATIENTS, "PAT_LAST_NM", "last_name"),
        (Role.PATIENTS, "given_name", "first_name"),
        (Role.PATIENTS, "Gender", "sex"),
        (Role.PATIENTS, "ZIP_CODE", "zip"),
        (Role.FACILITIES, "address", "street"),
        (Role.NOTES, "REPORT", "text"),
        # Usual names
        (Role.NOTES, "CSN", "encounter_id"),
        (Role.NOTES, "PAT_ENC_CSN_ID", "encounter_id"),
        (Role.NOTES, "HADM_ID", "encounter_id"),
        (Role.NOTES, "visit_occurrence_id", "encounter_id"),
        (Role.NOTES, "ACCESSION", "note_id"),
        (Role.NOTES, "SERVICE_DT", "note_date"),
        (Role.NOTES, "CHARTDATE", "note_date"),
        (Role.NOTES, "person_id", "patient_id"),
        (Role.NOTES, "AUTHOR_PROV_ID", "provider_id"),
        (Role.PATIENTS, "given", "first_name"),
        (Role.PATIENTS, "GIVEN", "first_name"),
        (Role.PATIENTS, "family", "last_name"),
        (Role.PATIENTS, "Family Name", "last_name"),
        (Role.PATIENTS, "PID.5.1", "last_name"),
        (Role.PATIENTS, "PAT_MRN_ID", "mrn"),
        (Role.PATIENTS, "ADD_LINE_1", "street"),
        (Role.PATIENTS, "Apellidos", "last_name"),
        (Role.PROVIDERS, "PROV_ID", "provider_id"),
        (Role.FACILITIES, "care_site_name", "name"),
        # What looks like a field, and is none
        (Role.PATIENTS, "DEATH_DATE", None),
        (Role.PATIENTS, "PAT_NAME", None),
        (Role.PATIENTS, "MAIDEN", None),
        (Role.NOTES, "UPDATE_DATE", None),
        (Role.NOTES, "NOTE_STATUS", None),
        (Role.NOTES, "PATIENT_AGE", None),
    ],
)
def test_the_field_that_is_probably_meant(role, column, field):
    known = {
        Role.NOTES: ["text", "language"],
        Role.PATIENTS: ["ssn", "relatives"],
        Role.PROVIDERS: ["npi", "title"],
        Role.FACILITIES: ["abbreviation", "city"],
    }
    if column.lower() in ("text", "note_txt", "reportbody", "report"):
        known[Role.NOTES] = ["site", "encounter_id"]
    if column == "lnaguage":
        known[Role.NOTES] = ["site", "text"]
    found = _unknown([*known[role], column], role)
    assert dict(found.fields).get(column) == field


@pytest.mark.parametrize(
    ("role", "names", "fields"),
    [
        (Role.PATIENTS, ["MRN", "PAT_NAME", "DOB"], {"MRN": "mrn", "DOB": "birth_date"}),
        (Role.WITHDRAWN, ["MRN", "CSN"], {"MRN": "patient_id"}),
        (Role.REJOINED, ["PAT_MRN_ID"], {"PAT_MRN_ID": "patient_id"}),
        (Role.REJOINED, ["MRN", "SMITH"], {"MRN": "patient_id"}),
    ],
)
def test_a_name_that_nobody_is_called_is_proposed_whatever_stands_beside_it(role, names, fields):
    told = _unknown(names, role)
    assert dict(told.fields) == fields
    assert "SMITH" not in str(told)


def test_of_two_columns_that_may_be_one_field_the_likelier_one_is_proposed():
    assert dict(_unknown(["ACCESSION", "TXT", "NOTE_ID", "MRN", "PAT_ID"]).fields) == {
        "TXT": "text",
        "NOTE_ID": "note_id",
        "PAT_ID": "patient_id",
    }
    header = ["CSN", "ACCESSION", "SERVICE_DT", "BODY"]
    assert dict(_unknown(header).fields) == {
        "CSN": "encounter_id",
        "ACCESSION": "note_id",
        "SERVICE_DT": "note_date",
        "BODY": "text",
    }


def test_three_usual_names_of_one_word_are_a_header():
    assert len(_unknown(["given", "family", "gender"], Role.PATIENTS).fields) == 3
    assert _unknown(["ANN", "FAMILY", "STREET"], Role.PATIENTS).named == ()


def test_a_field_that_a_column_has_is_suggested_to_no_other():
    assert _unknown(["note_id", "text", "NOTE_TXT", "BODY"]).fields == ()
    assert _unknown(["note_id", "NOTE_TXT", "BODY"]).fields == (("NOTE_TXT", "text"),)
    assert _unknown(["note_id", "NOTE_TXT", "BODY"], columns={"BODY": "text"}).fields == ()


def test_what_is_mapped_or_ignored_is_not_unknown():
    assert _unknown(["note_id", "BODY", "LOAD_TS"], columns={"BODY": "text"}, ignore=["LOAD_TS"]) is None


def test_refusals_count_by_file_and_reason_and_keep_the_first_lines():
    refusals = Refusals()
    for row in range(2, 32):
        refusals.add(Rejection(Role.NOTES, "notes[0]", row, Reason.EMPTY_TEXT))
    refusals.add(Rejection(Role.PATIENTS, "patients[0]", 3, Reason.DUPLICATE_ID))
    empty, repeated = refusals
    assert (empty.rows, empty.lines, empty.stands) == (30, [*range(2, 2 + FIRST)], False)
    assert lines_of(empty).endswith("20, 21, ...")
    assert (repeated.rows, lines_of(repeated), repeated.stands) == (1, "line 3", True)
    assert refusals.lost == 30


def _refusals(**headers):
    """Refused rows of files with these headers, a role each."""
    refusals = Refusals()
    for role, names in headers.items():
        unknown = _unknown(names.split(";"), Role(role))
        refusals.add(Rejection(Role(role), f"{role}[0]", 2, Reason.UNKNOWN_COLUMN, None, unknown))
    return refusals


def test_the_advice_is_toml_that_maps_the_columns_as_they_are_and_ignores_none():
    headers = {"notes": "Note Id;NOTE_TXT;PAT_ID;LOAD_TS", "patients": "patient_id;SURNAME;nick"}
    refusals = _refusals(**headers)
    advice = tomllib.loads(refusals.advice())
    assert advice == {
        "columns": {
            "Note Id": "notes.note_id",
            "NOTE_TXT": "text",
            "PAT_ID": "notes.patient_id",
            "SURNAME": "patients.last_name",
        }
    }
    assert refusals.undecided() == ["LOAD_TS", "nick"]
    for role, names in headers.items():
        assert _unknown(names.split(";"), Role(role), ignore=["LOAD_TS", "nick"], **advice) is None


def test_a_column_that_is_something_else_in_each_file_is_mapped_for_each():
    refusals = _refusals(notes="ID;text;PT_NUM;note_type", patients="ID;SURNAME;first_name;sex")
    assert refusals.mapping() == {
        "ID": "notes.note_id, patients.patient_id",
        "PT_NUM": "notes.patient_id",
        "SURNAME": "patients.last_name",
    }
    both = shapes(refusals.mapping())
    assert (both[Role.NOTES].columns["ID"], both[Role.PATIENTS].columns["ID"]) == ("note_id", "patient_id")


def test_what_a_column_is_in_another_file_already_it_stays():
    refusals = _refusals(patients="PAT_ID;SURNAME;first_name;sex")
    mapping = {"PAT_ID": "notes.patient_id", "B": "text"}
    assert tomllib.loads(refusals.advice(mapping))["columns"] == {
        "PAT_ID": "notes.patient_id, patients.patient_id",
        "B": "text",
        "SURNAME": "patients.last_name",
    }


def test_a_field_that_another_column_is_mapped_to_is_proposed_for_none():
    assert _unknown(["note_id", "NOTE_TXT"], columns={"BODY": "text"}).fields == ()


def test_mappings_are_read_as_they_are_typed_and_added_to_a_feed_s():
    feed = ColumnMapping({"DOC": "note_id", "BODY": "text"}, ("LOADED",), {"note_type": "letter"})
    mapping = ColumnMapping.parse(["BODY=", "TXT = text", "a=b=site"], feed)
    assert mapping.columns == {"DOC": "note_id", "TXT": "text", "a=b": "site"}
    assert mapping.ignore == ("BODY", "LOADED")
    assert mapping.defaults == {"note_type": "letter"}


@pytest.mark.parametrize(
    ("option", "ref"), [("NOTE_TXT", "--columns"), ("=text", "--columns"), ("NOTE_TXT=body", "columns.NOTE_TXT")]
)
def test_a_mapping_that_cannot_be_used_is_refused(option, ref):
    with pytest.raises(DeidError) as error:
        ColumnMapping.parse([option])
    assert (error.value.code, error.value.ref) == (Code.FEED_MAPPING, ref)
