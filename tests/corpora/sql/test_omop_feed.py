"""The OMOP common data model as a feed: its columns, its concepts, and what it has not."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.sql.omop import omop_columns
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Topics

DAY = Delivery("ehr", "2026-01-05")
NOTE = (
    "CREATE TABLE note (note_id BIGINT, person_id BIGINT, note_date DATE, note_datetime TIMESTAMP,"
    " note_type_concept_id INTEGER, note_class_concept_id INTEGER, note_title VARCHAR(250), note_text TEXT,"
    " encoding_concept_id INTEGER, language_concept_id INTEGER, provider_id BIGINT, visit_occurrence_id BIGINT,"
    " visit_detail_id BIGINT, note_source_value VARCHAR(50){more})"
)
# 5.4 has two columns more.
VERSIONS = {"5.3": "", "5.4": ", note_event_id BIGINT, note_event_field_concept_id INTEGER"}
MODEL = (
    "CREATE TABLE person (person_id BIGINT, gender_concept_id INTEGER, year_of_birth INTEGER, month_of_birth INTEGER,"
    " day_of_birth INTEGER, birth_datetime TIMESTAMP, location_id BIGINT, person_source_value VARCHAR(50))",
    "CREATE TABLE location (location_id BIGINT, address_1 VARCHAR(50), address_2 VARCHAR(50), city VARCHAR(50),"
    " state VARCHAR(2), zip VARCHAR(9))",
    "CREATE TABLE provider (provider_id BIGINT, provider_name VARCHAR(255), npi VARCHAR(20), care_site_id BIGINT,"
    " provider_source_value VARCHAR(50))",
    "CREATE TABLE care_site (care_site_id BIGINT, care_site_name VARCHAR(255), location_id BIGINT)",
)
CONCEPT = "CREATE TABLE concept (concept_id INTEGER, concept_name VARCHAR(255))"
IDENTIFIERS = "CREATE TABLE person_names (person_id BIGINT, first_name TEXT, last_name TEXT, mrn TEXT)"


def note(number: int, text: object = "Well.", **more: object) -> dict[str, object]:
    return {"note_id": number, "person_id": 7, "note_date": "2026-01-05", "note_text": text, **more}


def notes(source, **keys: object) -> list[Note | Rejection]:
    return list(source.feed(format="omop", **keys).notes(DAY))


def topics(source, **keys: object) -> Topics:
    found, refused = source.feed(format="omop", **keys).topics(DAY)
    assert refused == []
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_note_is_a_row_of_note(source, version: str) -> None:
    source.run(NOTE.format(more=VERSIONS[version]), *MODEL)
    columns = {
        "provider_id": 3,
        "visit_occurrence_id": 5,
        "note_title": "Progress note",
        "language_concept_id": 4180186,
    }
    source.add("note", note(1, **columns, note_class_concept_id=44814645, note_source_value="left out"))
    assert notes(source) == [
        Note("1", "Well.", "7", "5", "3", site="north", note_type="Progress note", note_date=date(2026, 1, 5))
    ]


@pytest.mark.parametrize(
    ("concept", "name", "language"),
    [
        (4180186, None, "en"),
        (4182511, None, "es"),
        (4182507, "whatever it says", "it"),
        (1, "German language", "de"),
        (2, "Quechua language", "und"),
        (3, None, "und"),
        (4182347, "World languages", "en"),
        (0, "No matching concept", "en"),
        (None, None, "en"),
    ],
)
def test_a_language_is_known_by_its_concept_or_its_name(source, concept, name, language) -> None:
    source.run(NOTE.format(more=""), CONCEPT)
    source.add("note", note(1, language_concept_id=concept))
    if name:
        source.add("concept", {"concept_id": concept, "concept_name": name})
    (found,) = notes(source)
    assert found.language == language


def test_a_language_that_is_not_said_is_the_default(source) -> None:
    source.run(NOTE.format(more=""))
    source.add("note", note(1, language_concept_id=0), note(2, language_concept_id=4180186))
    assert [n.language for n in notes(source, defaults={"language": "it"})] == ["it", "en"]


@pytest.mark.parametrize("vocabulary", [None, "vocab"])
def test_a_note_without_a_title_has_the_name_of_its_class(source, tmp_path, vocabulary) -> None:
    source.run(NOTE.format(more=""))
    if vocabulary and source.kind == "sqlite":
        vocabulary = None  # it has no schemas but those that are attached
    if vocabulary:
        source.run("DROP SCHEMA IF EXISTS vocab CASCADE", "CREATE SCHEMA vocab")
    source.run(CONCEPT.replace("concept (", "vocab.concept (" if vocabulary else "concept ("))
    source.add("vocab.concept" if vocabulary else "concept", {"concept_id": 1, "concept_name": "Discharge summary"})
    source.add(
        "note",
        note(1, note_class_concept_id=1),
        note(2, note_class_concept_id=1, note_title="Letter"),
        note(3, note_class_concept_id=1, note_title="  "),
        note(4, note_class_concept_id=0),
        note(5, note_class_concept_id=99),
    )
    keys = {} if vocabulary is None else {"vocabulary_schema": vocabulary}
    types = ["Discharge summary", "Letter", "Discharge summary", None, None]
    assert [n.note_type for n in notes(source, **keys)] == types


def test_a_site_may_take_a_notes_type_from_elsewhere(source) -> None:
    source.run(NOTE.format(more=""))
    source.add("note", note(1, note_title="Ignored", note_source_value="PN"))
    assert [n.note_type for n in notes(source, columns={"note_source_value": "note_type"})] == ["PN"]


def test_without_a_table_of_identifiers_there_are_no_rosters_and_that_is_said(source) -> None:
    source.run(NOTE.format(more=""), *MODEL)
    source.add("note", note(1))
    source.add("person", {"person_id": 7, "year_of_birth": 1950, "gender_concept_id": 8532})
    assert topics(source).patients == {}
    assert "tables.patients" in str(source.feed(format="omop").layout.advice())
    assert source.feed(format="omop", tables={"patients": "x"}).layout.advice() is None


def test_identifiers_are_joined_to_person_and_location(source) -> None:
    source.run(NOTE.format(more=""), *MODEL, IDENTIFIERS)
    source.add("note", note(1))
    source.add(
        "person",
        {
            "person_id": 7,
            "gender_concept_id": 8532,
            "year_of_birth": 1950,
            "month_of_birth": 2,
            "day_of_birth": 3,
            "location_id": 1,
        },
        {"person_id": 8, "gender_concept_id": 8507, "year_of_birth": 1960},
        {"person_id": 9, "gender_concept_id": 0, "year_of_birth": 1961, "birth_datetime": "1961-05-06 00:00:00"},
    )
    source.add(
        "location", {"location_id": 1, "address_1": "12 Mill Lane", "city": "Northtown", "state": "NT", "zip": "00000"}
    )
    source.add(
        "person_names",
        {"person_id": 7, "first_name": "Ann", "last_name": "Quillfeather", "mrn": "M7"},
        {"person_id": 8, "last_name": "Okafor"},
        {"person_id": 9, "last_name": "Marchetti"},
        {"person_id": 10, "last_name": "Nobody"},
    )
    found = topics(source, tables={"patients": "person_names"}).patients
    assert found == {
        "7": Patient(
            "7", "Ann", None, "Quillfeather", date(1950, 2, 3), "F", "M7",
            street="12 Mill Lane", city="Northtown", state="NT", zip="00000",
        ),
        "8": Patient("8", last_name="Okafor", sex="M"),
        "9": Patient("9", last_name="Marchetti", birth_date=date(1961, 5, 6)),
        "10": Patient("10", last_name="Nobody"),
    }  # fmt: skip


def test_what_the_sites_table_says_itself_stands_before_the_models(source) -> None:
    source.run(NOTE.format(more=""), *MODEL, "CREATE TABLE ids (pid BIGINT, surname TEXT, dob DATE, town TEXT)")
    source.add("note", note(1))
    source.add("person", {"person_id": 7, "year_of_birth": 1950, "month_of_birth": 2, "day_of_birth": 30})
    source.add("ids", {"pid": 7, "surname": "Doe", "dob": "1951-01-01", "town": "Westport"})
    columns = {
        "pid": "patients.patient_id",
        "surname": "patients.last_name",
        "dob": "birth_date",
        "town": "patients.city",
    }
    found = topics(source, tables={"patients": "ids"}, columns=columns)
    assert found.patients == {"7": Patient("7", last_name="Doe", birth_date=date(1951, 1, 1), city="Westport")}


def test_a_birth_date_that_is_none_costs_no_name(source) -> None:
    source.run(NOTE.format(more=""), *MODEL, IDENTIFIERS)
    source.add("note", note(1))
    source.add("person", {"person_id": 7, "year_of_birth": 1950, "month_of_birth": 2, "day_of_birth": 30})
    source.add("person_names", {"person_id": 7, "last_name": "Doe"})
    found, refused = source.feed(format="omop", tables={"patients": "person_names"}).topics(DAY)
    assert found == Topics.of([Patient("7", last_name="Doe")], undated=["7"])
    assert [(r.reason, r.stands) for r in refused] == [(Reason.IMPOSSIBLE_DATE, True)]


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("Quillfeather, Ann", "Ann", "Quillfeather"),
        ("Quillfeather, Ann MD", "Ann", "Quillfeather"),
        ("Ann Quillfeather", "Ann", "Quillfeather"),
        ("Dr. Ann B. Quillfeather, M.D.", "Ann B.", "Quillfeather"),
        ("Quillfeather", None, "Quillfeather"),
        ("van der Berg, Ann", "Ann", "van der Berg"),
        (None, None, None),
    ],
)
def test_a_providers_one_name_becomes_two(source, name, first, last) -> None:
    source.run(NOTE.format(more=""), *MODEL)
    source.add("note", note(1))
    source.add("provider", {"provider_id": 3, "provider_name": name, "npi": "1234567893", "provider_source_value": "x"})
    assert topics(source).providers == {"3": Provider("3", first, last, npi="1234567893")}


def test_a_sites_mapping_of_the_providers_name_is_kept(source) -> None:
    source.run(NOTE.format(more=""), *MODEL)
    source.add("note", note(1))
    source.add("provider", {"provider_id": 3, "provider_name": "Ward, Night", "provider_source_value": "nward"})
    columns = {"provider_name": "providers.last_name", "provider_source_value": "user_id"}
    found = topics(source, columns=columns).providers["3"]
    assert (found.last_name, found.user_id) == ("Ward, Night", "nward")


def test_care_sites_are_facilities(source) -> None:
    source.run(NOTE.format(more=""), *MODEL)
    source.add("note", note(1))
    source.add("care_site", {"care_site_id": 4, "care_site_name": "North Clinic", "location_id": 1})
    source.add("location", {"location_id": 1, "address_1": "1 High Street", "city": "Northtown", "zip": "00000"})
    expected = Facility("4", "North Clinic", street="1 High Street", city="Northtown", zip="00000")
    assert topics(source).facilities == {"4": expected}


def test_death_is_no_withdrawal(source) -> None:
    source.run(NOTE.format(more=""), *MODEL, "CREATE TABLE death (person_id BIGINT, death_date DATE)")
    source.add("note", note(1))
    source.add("death", {"person_id": 7, "death_date": "2026-01-05"})
    assert list(source.feed(format="omop").withdrawals(DAY, known_patients=None, known_notes=None)) == []


def test_a_site_may_have_a_better_watermark_and_a_table_of_its_own(source) -> None:
    source.run(NOTE.format(more=", loaded TIMESTAMP"), "ALTER TABLE note RENAME TO etl_note")
    source.add("etl_note", note(1, note_date="2019-06-01", loaded="2026-01-05 03:00:00"))
    (found,) = notes(source, tables={"notes": "etl_note"}, watermark="loaded")
    assert (found.note_id, found.note_date) == ("1", date(2019, 6, 1))


def test_a_database_without_notes_is_told(source) -> None:
    source.run(*MODEL)
    with pytest.raises(DeidError) as caught:
        notes(source)
    assert (caught.value.code, caught.value.ref) == (Code.FEED_TABLE, "ehr: notes")


def test_the_omop_feed_keeps_the_reader_contract(source, contract) -> None:
    m = contract.MARKER
    source.run(
        NOTE.format(more="").replace("note_id BIGINT, person_id BIGINT", "note_id TEXT, person_id TEXT"),
        *(each.replace("person_id BIGINT", "person_id TEXT") for each in MODEL),
        "CREATE TABLE names (person_id TEXT, last_name TEXT, changed DATE)",
        "CREATE TABLE gone (note_id TEXT, person_id TEXT, changed DATE)",
        "CREATE TABLE back (person_id TEXT, changed DATE)",
    )
    row = {"person_id": f"p-{m}", "note_text": f"Seen {m}.", "note_title": m, "language_concept_id": 4180186}
    source.add(
        "note",
        {"note_id": f"n-{m}", "note_date": "2026-01-05", **row},
        {"note_id": f"n-{m}", "note_date": "2026-01-05", **row},
        {"note_id": f"{m}2", "note_date": "2026-01-05", **row, "note_text": None},
        {"note_id": f"{m}3", "note_date": None, **row},
        {"note_id": f"n-{m}", "note_date": "2026-01-12", **row},
    )
    source.add("names", {"person_id": f"p-{m}", "last_name": m, "changed": "2026-01-05"})
    source.add("names", {"person_id": None, "last_name": m, "changed": "2026-01-05"})
    source.add("provider", {"provider_id": 3, "provider_name": m})
    source.add("care_site", {"care_site_id": 4, "care_site_name": m})
    source.add("gone", {"note_id": f"w-{m}", "changed": "2026-01-05"}, {"person_id": f"q-{m}", "changed": "2026-01-12"})
    source.add("back", *2 * [{"person_id": f"q-{m}", "changed": "2026-01-12"}])

    def rewrite(delivery: Delivery) -> None:
        source.add("note", {"note_id": "later", "note_date": delivery.watermark, **row})

    changed = dict.fromkeys(("patients", "withdrawn", "rejoined"), "changed")
    tables = {"patients": "names", "withdrawn": "gone", "rejoined": "back"}
    contract.check_reader(lambda: source.feed(format="omop", tables=tables, watermarks=changed), rewrite)


def test_a_field_that_the_site_maps_is_none_of_the_models_also_where_a_column_is_several():
    mapped = omop_columns({"NUMBER": "notes.encounter_id, patients.patient_id"})
    assert {"person_id", "visit_occurrence_id"}.isdisjoint(mapped)
    assert mapped["note_text"] == "text"
