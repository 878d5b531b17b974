"""What never enters: note types by the words in them, patients by the list of opt-outs, and both in doubt."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora import Reason
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.files import FilesFeed
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery, Note
from deid_platform.settings import ExclusionSettings, Settings, load_settings

SHIPPED = Exclusions(ExclusionSettings().note_types)
SECRET = "4f1c9a7be0d2836598a1c0ffee5b7d3e"
KEYRING = Keyring(SECRET.encode(), site="north")


def _note(note_type: str | None = "progress note", patient_id: str | None = "p1") -> Note:
    return Note("n1", "Seen today.", patient_id=patient_id, note_type=note_type)


# Note types


@pytest.mark.parametrize(
    "note_type",
    [
        "psychotherapy",
        "Psychotherapy Progress Note",
        "PSYCHOTHERAPY NOTES",
        "Group psychotherapies",
        "psycho-therapy",
        "Psychothérapy",
        "psycho\u00adtherapy\u200b note",
        "\uff30sychotherapy",
        "BH_Psychotherapy_Note_v2",
        "Psychotherapy60min",
        "PsychotherapyNote",
        "PSYCHOTHERAPYNOTE",
        "Tele-psychotherapy",
        "Psychotherapist's note",
        "Substance Use Disorder Treatment Plan",
        "substance_use",
        "SubstanceUseProgram",
        "substance-abuse intake",
        "SUD counselling",
        "SUDs",
        "SUDNote",
        "Drug & Alcohol Counselling",
        "alcohol/drug screening",
        "Alcohol and Other Drugs",
        "Addiction Medicine Consult",
        "Chemical Dependency Unit",
        "Opioid Treatment Programme",
        "Methadone clinic",
        "42 CFR Part 2",
        "42CFRPart2 record",
    ],
)
def test_the_shipped_terms_find_their_types_however_they_are_written(note_type):
    assert SHIPPED.reason(_note(note_type)) is Reason.EXCLUDED_TYPE


@pytest.mark.parametrize(
    "note_type",
    [
        "progress note",
        "psychiatry consult",
        "physiotherapy note",
        "Psychology",
        "chemotherapy",
        "Sudden death in the family",
        "drug levels",
        "adverse substance reaction",
        "medication use",
        "cfr part 25",
        "42 CFR Part 25",
        "opioid-free anaesthesia",
        "",
        "---",
    ],
)
def test_types_that_only_look_alike_enter(note_type):
    assert SHIPPED.reason(_note(note_type)) is None


@pytest.mark.parametrize(
    ("term", "excluded", "enters"),
    [
        ("HIV", ["HIV counselling", "hiv/aids"], ["hives", "archive"]),
        ("34788-0", ["34788-0", "LOINC 34788-0"], ["134788-0", "34788-01"]),
        ("Sexual assaults", ["sexual assault exam", "SEXUAL-ASSAULT"], ["assault", "sexual health"]),
        ("salute mentale", ["Salute_Mentale: visita"], ["salute"]),
        ("diagnosis", ["Diagnosis"], ["diagnostics"]),
        ("a.b", ["A B"], ["acb"]),
    ],
)
def test_a_site_s_own_terms_are_matched_as_whole_words(term, excluded, enters):
    exclusions = Exclusions((term,))
    assert [exclusions.reason(_note(kind)) for kind in excluded] == [Reason.EXCLUDED_TYPE] * len(excluded)
    assert [exclusions.reason(_note(kind)) for kind in enters] == [None] * len(enters)


def test_no_terms_exclude_no_type():
    assert Exclusions().reason(_note("Psychotherapy")) is None


@pytest.mark.parametrize("term", ["", "-", "&", "and", "\u0301"])
def test_a_term_without_a_word_is_refused(term):
    with pytest.raises(DeidError) as error:
        Exclusions(("psychotherapy", term))
    assert (error.value.code, error.value.ref) == (Code.SETTINGS_INVALID, "exclusions.note_types")


@given(st.text(max_size=30))
def test_any_type_at_all_can_be_judged(note_type):
    assert SHIPPED.reason(_note(note_type)) in (None, Reason.EXCLUDED_TYPE)


@given(
    st.sampled_from(ExclusionSettings().note_types),
    st.sampled_from([" ", "_", "-", " - ", "/", "\u2013", "\t", ". "]),
    st.sampled_from([str.upper, str.lower, str.title, str]),
    st.sampled_from(["Initial {} visit", "{}", "{}s", "[{}]", "2026-{}-v3"]),
)
def test_every_shipped_term_is_found_in_any_case_between_any_separators(term, separator, case, frame):
    note_type = frame.format(case(term).replace(" ", separator))
    assert SHIPPED.reason(_note(note_type)) is Reason.EXCLUDED_TYPE


@pytest.mark.parametrize(("untyped", "reason"), [(False, None), (True, Reason.MISSING_TYPE)])
def test_a_note_without_a_type_enters_unless_the_site_says_otherwise(untyped, reason):
    exclusions = Exclusions(("psychotherapy",), untyped=untyped)
    assert exclusions.reason(_note(None)) is reason
    assert exclusions.reason(_note("progress note")) is None


# Opt-outs


@pytest.mark.parametrize(
    ("patient_id", "reason"),
    [("p1", Reason.OPTED_OUT), ("P1", None), ("p11", None), ("p2", None), (None, Reason.MISSING_PATIENT)],
)
def test_patients_who_opted_out_are_known_by_their_exact_id(patient_id, reason):
    assert Exclusions(patients=frozenset({"p1"})).reason(_note(patient_id=patient_id)) is reason


def test_where_nobody_opted_out_a_note_may_name_no_patient():
    assert SHIPPED.reason(_note(patient_id=None)) is None


def _load(folder: Path, name: str = "optouts.csv", **more: object) -> Exclusions:
    return Exclusions.load(Settings(site="north", root=folder, exclusions={"opt_outs": name, **more}))


def _parquet(rows: list[dict[str, object]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("optouts.csv", b"patient_id\np1\n7\n"),
        ("optouts.csv", b"\xef\xbb\xbfpatient_id,since,why\r\n p1 ,2026-01-05,\r\n7,,\xc3\xa9\r\np1,,\r\n\r\n"),
        ("optouts.csv", b"patient_id;since\np1;2026-01-05\n7;\n"),
        ("optouts.csv.gz", gzip.compress(b"patient_id\np1\n7\n", mtime=0)),
        ("my list.jsonl", b'{"patient_id": "p1"}\n{"patient_id": 7, "n": [1]}\n'),
        ("optouts.parquet", _parquet([{"patient_id": "p1"}, {"patient_id": "7"}])),
        ("optouts.parquet", _parquet([{"patient_id": 7}, {"patient_id": 7}])),
    ],
    ids=["csv", "csv with other columns", "semicolons", "gzip", "jsonl", "parquet", "parquet of numbers"],
)
def test_the_list_may_be_of_any_format_and_say_more(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert set(_load(tmp_path, name).opted_out()) >= {"7"}
    assert set(_load(tmp_path, name).opted_out()) <= {"p1", "7"}


@pytest.mark.parametrize(
    ("name", "content", "ref"),
    [
        ("absent.csv", None, "line 1: unreadable_file"),
        ("optouts.csv", b"", "no rows"),
        ("optouts.csv", b"patient_id\n", "no rows"),
        ("optouts.csv", b"p1\n", "no rows"),
        ("optouts.csv", b"p1\np2\n", "line 2: missing_id"),
        ("optouts.csv", b"mrn\np1\n", "line 2: missing_id"),
        ("optouts.csv", b"patient_id,since\np1,x\n,x\n", "line 3: missing_id"),
        ("optouts.csv", b"patient_id\np1\np\xe9\n", "line 3: invalid_utf8"),
        ("optouts.csv", "patient_id\np1\n".encode("utf-16-le"), "line 1: wrong_encoding"),
        ("optouts.csv.gz", gzip.compress(b"patient_id\n" + b"p1\n" * 999, mtime=0)[:-12], None),
        ("optouts.jsonl", b'{"patient_id": "p1"}\n{"patient_id": "p2"', "line 2: malformed_row"),
        ("optouts.jsonl", b'{"patient_id": ["p1"]}\n', "line 1: malformed_row"),
        ("optouts.parquet", b"not parquet", "line 1: unreadable_file"),
        ("optouts.xlsx", b"p1", "line 1: unreadable_file"),
        ("optouts.ods", b"p1", "line 1: spreadsheet"),
    ],
)
def test_a_list_that_cannot_be_read_whole_is_an_error_and_names_nobody(tmp_path, name, content, ref):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DeidError) as error:
        _load(tmp_path, name)
    assert error.value.code is Code.OPT_OUTS_UNREADABLE
    assert ref is None or error.value.ref == f"exclusions.opt_outs, {ref}"
    assert error.value.__suppress_context__ or error.value.__context__ is None
    assert "p1" not in str(error.value)
    assert name not in str(error.value)


def test_ids_are_read_as_those_of_notes_are(tmp_path):
    (tmp_path / "1").mkdir()
    ids = ["p1", 7, " 007 ", "é", "a b"]
    rows = [{"note_id": f"n{i}", "text": "x", "patient_id": patient} for i, patient in enumerate(ids)]
    (tmp_path / "1" / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    listed = '"p1"\n7\n"  007"\né\na b\n'
    (tmp_path / "optouts.csv").write_text(f"patient_id\n{listed}", encoding="utf-8")
    exclusions = _load(tmp_path)
    reasons = [exclusions.reason(note) for note in FilesFeed("ehr", tmp_path).notes(Delivery("ehr", "1"))]
    assert reasons == [Reason.OPTED_OUT] * len(ids)


def test_a_list_that_nobody_configured_is_not_missed(tmp_path):
    assert Exclusions.load(Settings(site="north", root=tmp_path)) == SHIPPED
    assert SHIPPED.opted_out() == []


def test_the_list_is_read_as_it_is_now(tmp_path):
    (tmp_path / "optouts.csv").write_text("patient_id\np2\np1\n")
    assert _load(tmp_path).opted_out() == ["p1", "p2"]
    (tmp_path / "optouts.csv").write_text("patient_id\np2\n")
    assert _load(tmp_path).opted_out() == ["p2"]


# Digests


def test_the_digest_changes_with_whatever_is_excluded_and_with_nothing_else():
    different = [
        Exclusions(),
        Exclusions(("psychotherapy",)),
        Exclusions(("psychotherapy", "hiv")),
        Exclusions(untyped=True),
        Exclusions(patients=frozenset({"psychotherapy"})),
        Exclusions(patients=frozenset({"p1"})),
        Exclusions(patients=frozenset({"p1", "p2"})),
    ]
    digests = [exclusions.digest(KEYRING) for exclusions in different]
    assert len(set(digests)) == len(digests)
    same = Exclusions(("HIV", "Psycho-Therapy", "hiv"))
    assert same.digest(KEYRING) == different[2].digest(KEYRING)
    assert same.digest(Keyring(SECRET[::-1].encode(), site="north")) != same.digest(KEYRING)


def test_nobody_is_named_by_its_repr():
    assert "p1" not in repr(Exclusions(patients=frozenset({"p1"})))


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ('note_types = ["psychotherapy", "--"]', "exclusions.note_types.1, line 3"),
        ('note_types = "psychotherapy"', "exclusions.note_types, line 3"),
        ("opt_outs = 1", "exclusions.opt_outs, line 3"),
        ('optouts = "optouts.csv"', "exclusions.optouts, line 3"),
    ],
)
def test_a_section_that_cannot_be_meant_is_refused_with_its_key(tmp_path, section, key):
    (tmp_path / "deid.toml").write_text(f'site = "north"\n[exclusions]\n{section}\n')
    with pytest.raises(DeidError) as error:
        load_settings(tmp_path / "deid.toml")
    assert error.value.code is Code.SETTINGS_INVALID
    assert str(error.value.ref).startswith(f"{key} (")
