"""What a newcomer is told of a delivery, of deid.toml and of a warehouse that was never made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook
from typer.testing import CliRunner, Result

from deid_platform.cli import app
from deid_platform.corpora import Reason, Role, column_names
from deid_platform.corpora.feeds import open_feed
from deid_platform.corpora.rows import STATEMENTS
from deid_platform.doctor import Diagnosis, examine
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.settings import load_settings

SETTINGS = 'site = "north"\nprofile = "demo"\n[feeds.ehr]\npath = "deliveries"\ndemonstration = true\n'
FOREIGN = 'NOTE_NUM;NOTE_TXT;PAT_ID;LOAD_TS\nn1;"Seen\ntoday by Dr. Marchetti.";p1;x\nn2;Well.;p2;x\n'


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installation's one feed; nothing else is there."""
    for name in ("DEID_SECRET", "DEID_SECRET_FILE", "DEID_WAREHOUSE_URL", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DEID_CONFIG", str(tmp_path / "deid.toml"))
    (tmp_path / "deid.toml").write_text(SETTINGS)
    (tmp_path / "deliveries").mkdir()
    return tmp_path / "deliveries"


@pytest.fixture
def deliver(feed: Path) -> Callable[..., Path]:
    """Writes a delivery's folder, a file a keyword."""

    def write(watermark: str = "2026-01-05", **files: str) -> Path:
        folder = feed / watermark
        folder.mkdir()
        for name, content in files.items():
            (folder / f"{name}.csv").write_text(content)
        return folder

    return write


def deid(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def refusals(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


# feed check


def test_what_would_be_refused_is_told_by_file_reason_and_line(deliver: Callable[..., Path]) -> None:
    folder = deliver(
        notes='note_id,text,note_date\nn1,"two\nlines",\nn1,again,\nn2,,\nn3,x,2026-02-30\nn4,x,extra,\n',
        patients="patient_id,last_name\np1,Quillfeather\np1,Marchetti\n,Okafor\n",
    )
    told = deid("feed", "check", str(folder), "--json")
    assert told.exit_code == 3
    assert [(r["file"], r["reason"], r["lines"], r["kept"]) for r in refusals(told)] == [
        ("notes[0]", "duplicate_note_id", [4], False),
        ("notes[0]", "empty_text", [5], False),
        ("notes[0]", "impossible_date", [6], False),
        ("notes[0]", "malformed_row", [7], False),
        ("patients[0]", "duplicate_id", [3], True),
        ("patients[0]", "missing_id", [4], False),
    ]
    assert "read as a delivery of ehr" in told.stderr
    assert "would be taken in: notes 1, patients 2" in told.stderr
    assert "Quillfeather" not in told.output


def test_what_to_map_is_added_to_what_the_feed_maps_already(feed: Path, deliver: Callable[..., Path]) -> None:
    settings = feed.parent / "deid.toml"
    settings.write_text(SETTINGS + 'columns = { BODY = "text" }\nignore = ["DEPT"]\n')
    told = deid("feed", "check", str(deliver(notes="NOTE_NUM,BODY,DEPT,LOAD_TS\nn1,x,y,z\n")))
    assert 'columns = { BODY = "text", NOTE_NUM = "notes.note_id" }' in told.stderr
    assert "to decide on, since nothing says what they are: LOAD_TS\n" in told.stderr


def test_a_delivery_that_is_well_ends_with_0_and_only_the_first_lines_are_told(deliver: Callable[..., Path]) -> None:
    assert deid("feed", "check", str(deliver(notes="note_id,text\nn1,x\n"))).exit_code == 0
    rows = "".join(f"n{n},\n" for n in range(30))
    (refused,) = refusals(deid("feed", "check", "--json", str(deliver("2", notes=f"note_id,text\n{rows}n99,x\n"))))
    assert (refused["rows"], refused["lines"]) == (30, [*range(2, 22)])


def pasted(told: Result) -> list[str]:
    """The lines for deid.toml that a check proposes."""
    return [line.strip() for line in told.stderr.splitlines() if line.startswith("  ")]


def test_the_advice_on_columns_is_followed_and_the_delivery_is_well(feed: Path, deliver: Callable[..., Path]) -> None:
    folder = deliver(notes=FOREIGN, patients="patient_id,SURNAME,nick\np1,Quillfeather,Quill\n")
    told = deid("feed", "check", str(folder))
    assert told.exit_code == 1, "nothing would be left"
    assert "unknown columns of notes: NOTE_NUM, NOTE_TXT, PAT_ID, LOAD_TS" in told.stderr
    assert "unknown columns of patients: SURNAME, nick" in told.stderr
    assert "nothing says what they are: LOAD_TS, nick\n" in told.stderr
    assert "Quillfeather" not in told.output
    advice = pasted(told)
    assert not any("ignore" in line for line in advice), "nobody is told to ignore a column"
    (feed.parent / "deid.toml").write_text("\n".join([SETTINGS.strip(), *advice, 'ignore = ["LOAD_TS", "nick"]', ""]))
    again = deid("feed", "check", str(folder))
    assert (again.exit_code, "notes 2, patients 1" in again.stderr) == (0, True), again.output


_NAMES_A_FIELD = max(len(names.split()) for fields in column_names.USUAL.values() for names in fields.values())
_CELLS = {"birth_date": "1950-02-03", "note_date": "2026-01-02", "sex": "F", "language": "en"}


def _file(role: Role, at: int) -> tuple[str, dict[str, str]]:
    """A table in which each field has the name at that place of its usual ones, or else the last; and its row."""
    fields = {field: names.split() for field, names in column_names.USUAL[role].items()}
    if role in STATEMENTS:
        fields = {"patient_id": fields["patient_id"]}
    columns = {names[min(at, len(names) - 1)].upper(): field for field, names in fields.items()}
    row = {field: _CELLS.get(field, f"{field} x") for field in columns.values()}
    return f"{','.join(columns)}\n{','.join(row.values())}\n", row


@pytest.mark.parametrize("at", range(_NAMES_A_FIELD))
def test_every_proposal_can_be_pasted_and_the_feed_runs(feed: Path, deliver: Callable[..., Path], at: int) -> None:
    files = {role: _file(role, at) for role in column_names.USUAL}
    statements = "withdrawn_2", "patient_id\npatient_id y\n"
    folder = deliver(**{role.value: text for role, (text, _) in files.items()}, **dict([statements]))
    (advice,) = pasted(deid("feed", "check", str(folder)))
    (feed.parent / "deid.toml").write_text(f"{SETTINGS}{advice}\n")
    again = deid("feed", "check", str(folder), "--json")
    assert (again.exit_code, refusals(again)) == (0, []), again.output
    reader = open_feed(load_settings(feed.parent / "deid.toml"), "ehr", spool=feed)
    delivery = Delivery("ehr", folder.name)
    topics, refused = reader.topics(delivery)
    rows = [*reader.notes(delivery), *topics.every_patient(), *topics.every_provider(), *topics.every_facility()]
    for role, row in zip((Role.NOTES, Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES), rows, strict=True):
        assert {name: str(getattr(row, name)) for name in files[role][1]} == files[role][1]
    withdrawn = list(reader.withdrawals(delivery, known_patients=None, known_notes=None))
    assert [getattr(statement, "patient_id", None) for statement in withdrawn] == ["patient_id x", "patient_id y"]
    assert not refused


def test_a_table_in_another_encoding_is_told_by_its_place_with_the_key_to_set(
    feed: Path, deliver: Callable[..., Path]
) -> None:
    folder = deliver(notes="note_id,text\nn1,x\n", **{"patients-1": "patient_id,last_name\np1,Bell\n"})
    (folder / "patients-2.csv").write_bytes("patient_id,last_name\np2,Quillmüller\n".encode("cp1252"))
    told = deid("feed", "check", str(folder), "--json")
    assert [(r["file"], r["reason"]) for r in refusals(told)] == [("patients[1]", "invalid_utf8")]
    key = 'encoding = "windows-1252"'
    assert f"patients[1] has bytes that are not utf-8, and may be windows-1252: set {key} in [feeds.ehr]" in told.stderr
    assert "Quillm" not in told.output
    (feed.parent / "deid.toml").write_text(f"{SETTINGS}{key}\n")
    again = deid("feed", "check", str(folder))
    assert (again.exit_code, "patients 2" in again.stderr) == (0, True), again.output
    (folder / "patients-2.csv").write_text("patient_id,last_name\np2,Quillmüller\n")
    told = deid("feed", "check", str(folder))
    assert (told.exit_code, "patients[1] is in UTF-8 and not windows-1252: set" in told.stderr) == (3, True), (
        told.stderr
    )


def test_utf_16_without_a_mark_is_named_and_with_one_it_is_read(deliver: Callable[..., Path]) -> None:
    folder = deliver(patients="patient_id,last_name\np1,Bell\n")
    (folder / "notes.csv").write_bytes("note_id\ttext\nn1\tx\n".encode("utf-16-le"))
    told = deid("feed", "check", str(folder), "--json")
    assert [(r["file"], r["reason"]) for r in refusals(told)] == [("notes[0]", "wrong_encoding")]
    assert 'set encoding = "utf-16-le"' in told.stderr
    (folder / "notes.csv").write_bytes("note_id\ttext\nn1\tx\n".encode("utf-16"))
    assert deid("feed", "check", str(folder)).exit_code == 0


@pytest.mark.parametrize("name", ["notes.xlsb", "patients.xls", "notes.ods", "Notes.XLT", "withdrawn list.xls"])
def test_a_workbook_is_refused_by_name_with_what_to_do(deliver: Callable[..., Path], name: str) -> None:
    folder = deliver(notes="note_id,text\nn1,x\n")
    (folder / name).write_bytes(b"PK\x03\x04")
    told = deid("feed", "check", str(folder), "--json")
    assert [r["reason"] for r in refusals(told)] == ["spreadsheet"]
    assert "save it as .xlsx, its name beginning with a role, or export each sheet as CSV" in told.stderr


def test_a_workbook_that_is_skipped_is_told_and_one_that_is_called_csv_is_refused(deliver: Callable[..., Path]) -> None:
    folder = deliver(notes="note_id,text\nn1,x\n")
    (folder / "Quillfeather.xlsx").write_bytes(b"PK\x03\x04")
    told = deid("feed", "check", str(folder))
    assert (told.exit_code, "1 workbook among them" in told.stderr) == (0, True), told.stderr
    assert "Quillfeather" not in told.output
    (folder / "patients.csv").write_bytes(b"PK\x03\x04 and so on")
    assert [r["reason"] for r in refusals(deid("feed", "check", str(folder), "--json"))] == ["spreadsheet"]


def test_a_workbooks_ids_are_texts_and_what_to_do_about_numbers_is_told(
    feed: Path, deliver: Callable[..., Path]
) -> None:
    folder = deliver(notes="note_id,text\nn1,x\n")
    book = Workbook()
    for row in (["patient_id", "last_name"], ["007", "Bell"], [7, "Quillfeather"]):
        book.active.append(row)
    book.save(folder / "patients.xlsx")
    told = deid("feed", "check", str(folder), "--json")
    assert [(r["file"], r["reason"], r["lines"]) for r in refusals(told)] == [("patients[0]", "number_cell", [3])]
    assert "workbook_numbers = true in [feeds.ehr]" in told.stderr
    assert "Quillfeather" not in told.output
    (feed.parent / "deid.toml").write_text(f"{SETTINGS}workbook_numbers = true\n")
    again = deid("feed", "check", str(folder))
    assert (again.exit_code, "patients 2" in again.stderr) == (0, True), again.output


def test_of_a_table_beside_the_notes_rows_are_counted_and_columns_that_are_not_released_are_named(
    feed: Path, deliver: Callable[..., Path]
) -> None:
    table = '[feeds.ehr.structured.labs]\nrow = "ID"\npatient = "PAT"\ncolumns = { DRAWN = "DATE" }\n'
    (feed.parent / "deid.toml").write_text(SETTINGS + table)
    rows = "ID,PAT,DRAWN,COMMENT\n1,p1,2026-01-02,Quillfeather\n2,,2026-01-02,\n"
    folder = deliver(notes="note_id,text\nn1,x\n", **{"structured-labs": rows, "structured-other": rows})
    told = deid("feed", "check", str(folder), "--json")
    assert [(r["file"], r["reason"], r["lines"]) for r in refusals(told)] == [("structured-labs[0]", "missing_id", [3])]
    assert "would be taken in: notes 1, structured-labs 1" in told.stderr
    assert "columns of structured-labs that nobody mapped, and that are not released: COMMENT" in told.stderr
    assert "skipped: 1 file" in told.stderr
    assert "Quillfeather" not in told.output


MESSAGE = (
    "MSH|^~\\&|A|B|||20260105||{kind}|m{n}|P|2.5\rPID|||p1^^^^MR||{name}\rTXA||Letter||||||||||{n}\rOBX|1|TX|||{text}\r"
)
RESOURCE = '{"resourceType": "Patient", "id": "p1"%s}\n{"resourceType": "Patient"}\n'


@pytest.mark.parametrize(
    ("form", "file", "content", "place", "called"),
    [
        (
            "hl7",
            "a.hl7",
            MESSAGE.format(kind="MDM^T02", n=1, name="", text="Well.")
            + MESSAGE.format(kind="MDM^T02", n=2, name="", text=""),
            "message",
            "end in .hl7",
        ),
        (
            "fhir",
            "Patient.ndjson",
            RESOURCE % "",
            "line of an .ndjson, or entry of a Bundle",
            "as Patient, and end in .ndjson",
        ),
    ],
)
def test_of_other_sources_what_is_said_is_about_them(
    feed: Path, tmp_path: Path, form: str, file: str, content: str, place: str, called: str
) -> None:
    (feed.parent / "deid.toml").write_text(SETTINGS + f'format = "{form}"\nnote_types = ["report"]\n')
    folder = feed / "2026-01-05"
    folder.mkdir()
    (folder / file).write_text(content)
    (folder / "Quillfeather.log").write_text("x")
    told = deid("feed", "check", str(folder))
    assert told.exit_code == 3, told.output
    assert f"lines are numbers, from 1: {place}" in told.stderr
    assert "skipped: 1 file; files of the format" in told.stderr
    assert called in told.stderr
    assert "patients with a last name 0.0%" in told.stderr
    assert "the source gives none; deliver them beside its files, in a patients.csv" in told.stderr
    assert "map the column" not in told.stderr
    assert "Quillfeather" not in told.output
    # What is delivered beside it counts, and nothing more is said of names.
    (folder / "patients.csv").write_text("patient_id,last_name\np1,Bell\n")
    again = deid("feed", "check", str(folder))
    assert "the source gives none" not in again.stderr, again.stderr


def test_links_are_told_and_never_read(feed: Path, deliver: Callable[..., Path], tmp_path: Path) -> None:
    folder = deliver(notes="note_id,text\nn1,x\n")
    (tmp_path / "secret.csv").write_text("patient_id,last_name\np1,Quillfeather\n")
    (folder / "patients.csv").symlink_to(tmp_path / "secret.csv")
    told = deid("feed", "check", str(folder), "--json")
    assert [(r["file"], r["reason"]) for r in refusals(told)] == [("patients[0]", "link")]
    assert "Quillfeather" not in told.output
    (feed / "2026-01-12").symlink_to(tmp_path)
    failed = deid("feed", "check", str(feed / "2026-01-12")).exception
    assert isinstance(failed, DeidError)
    assert failed.code is Code.FEED_LINK
    assert "1 folders are links" in finding("feed ehr").detail
    (feed.parent / "deid.toml").write_text(f"{SETTINGS}follow_links = true\n")
    assert "patients 1" in deid("feed", "check", str(folder)).stderr


@pytest.mark.parametrize(
    ("patients", "extra"),
    [
        ("patient_id,first_name\np1,Ann\n", ""),
        ("patient_id,last_name\np1,\n", ""),
        ("patient_id,PAT_NAME,sex\np1,Quillfeather,F\n", ""),
        ("patient_id,GIVEN,FAMILY\np1,Ann,Quillfeather\n", 'ignore = ["GIVEN", "FAMILY"]\n'),
    ],
)
def test_patients_without_a_last_name_are_warned_of(
    feed: Path, deliver: Callable[..., Path], patients: str, extra: str
) -> None:
    (feed.parent / "deid.toml").write_text(SETTINGS + extra)
    told = deid("feed", "check", str(deliver(notes="note_id,text\nn1,x\n", patients=patients)))
    assert "patients would have no last name" in told.stderr


@pytest.mark.parametrize(
    "patients", ["patient_id,last_name\np1,Quillfeather\np2,\n", "patient_id,FAMILY,GIVEN\np1,Quillfeather,Ann\n"]
)
def test_patients_with_a_last_name_or_a_column_that_may_hold_it_are_not_warned_of(
    deliver: Callable[..., Path], patients: str
) -> None:
    told = deid("feed", "check", str(deliver(notes="note_id,text\nn1,x\n", patients=patients)))
    assert "no last name" not in told.stderr
    assert "no last name" not in deid("feed", "check", str(deliver("2", notes="note_id,text\nn1,x\n"))).stderr


def test_a_delivery_that_arrived_is_found_by_its_watermark(deliver: Callable[..., Path]) -> None:
    deliver("2026-01-05", notes="note_id,text\nn1,x\n")
    deliver("2026-01-12", notes="note_id,text\nn2,x\nn3,x\n")
    newest = deid("feed", "check", "--feed", "ehr")
    assert (newest.exit_code, "ehr@2026-01-12" in newest.stderr, "notes 2" in newest.stderr) == (0, True, True)
    other = deid("feed", "check", "--feed", "ehr", "--delivery", "2026-01-05")
    assert (other.exit_code, "ehr@2026-01-05" in other.stderr, "notes 1" in other.stderr) == (0, True, True)


def test_a_folder_of_any_name_needs_no_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEID_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "export of today"
    folder.mkdir()
    (folder / "notes.csv").write_text("note_id,text\nn1,x\n")
    (folder / "Ann Quillfeather.csv").write_text("x")
    told = deid("feed", "check", str(folder))
    assert told.exit_code == 0, told.output
    assert "without a feed's columns" in told.stderr
    assert "skipped: 1 file;" in told.stderr
    assert "Name delivery folders by date" in told.stderr
    assert "Quillfeather" not in told.output


def test_notes_that_never_enter_and_types_that_are_not_listed_are_told(
    feed: Path, deliver: Callable[..., Path]
) -> None:
    (feed.parent / "optouts.csv").write_text("patient_id\np9\n")
    (feed.parent / "deid.toml").write_text(
        f'{SETTINGS}note_types = ["progress note"]\n[exclusions]\nopt_outs = "optouts.csv"\n'
    )
    row = "n{0},x,p{0},{1}\n"
    types = ((1, "progress note"), (2, "phone call"), (3, "psychotherapy note"), (9, "progress note"))
    folder = deliver(notes="note_id,text,patient_id,note_type\n" + "".join(row.format(*each) for each in types))
    told = deid("feed", "check", str(folder), "--json")
    assert [(r["reason"], r["lines"]) for r in refusals(told)] == [("excluded_type", [4]), ("opted_out", [5])]
    assert "shown as `other`: 1 note" in told.stderr


def test_checking_writes_nothing(feed: Path, deliver: Callable[..., Path]) -> None:
    folder = deliver(notes=FOREIGN)
    before = sorted(feed.parent.rglob("*"))
    deid("feed", "check", str(folder))
    assert sorted(feed.parent.rglob("*")) == before


def test_the_folder_above_the_deliveries_is_told_apart_from_one(feed: Path, deliver: Callable[..., Path]) -> None:
    for watermark in ("2026-01-05", "2026-01-12"):
        deliver(watermark, notes=FOREIGN)
    failed = deid("feed", "check", str(feed)).exception
    assert isinstance(failed, DeidError)
    assert failed.ref == f"2 deliveries in this folder: check one of them, such as {feed / '2026-01-12'}"


@pytest.mark.parametrize(("name", "there"), [("2026-01-05", "2026-01-05"), ("Quillfeather", "2026-01-12")])
def test_for_a_folder_that_is_not_there_one_that_is_is_named(
    feed: Path, deliver: Callable[..., Path], tmp_path: Path, name: str, there: str
) -> None:
    for watermark in ("2026-01-05", "2026-01-12"):
        deliver(watermark, notes=FOREIGN)
    failed = deid("feed", "check", str(tmp_path / name)).exception
    assert isinstance(failed, DeidError)
    assert (failed.code, failed.ref) == (Code.FEED_UNREADABLE, f"there is no such folder; there is {feed / there}")
    (file,) = (feed / there).iterdir()
    of_file = deid("feed", "check", str(file)).exception
    assert "a file: name the folder that it lies in" in str(of_file)


def test_a_type_in_capitals_is_the_type_that_is_listed(feed: Path, deliver: Callable[..., Path]) -> None:
    (feed.parent / "deid.toml").write_text(f'{SETTINGS}note_types = ["progress note"]\n')
    folder = deliver(notes="note_id,text,note_type\nn1,x,PROGRESS  NOTE\nn2,x,Progress Note\nn3,x,letter\n")
    assert "shown as `other`: 1 note" in deid("feed", "check", str(folder)).stderr


def test_a_folder_that_is_not_there_and_a_feed_that_is_none(tmp_path: Path, feed: Path) -> None:
    for arguments, code in (
        ((str(feed / "3"),), Code.FEED_UNREADABLE),
        ((str(feed), "--feed", "x"), Code.FEED_UNKNOWN),
    ):
        failed = deid("feed", "check", *arguments).exception
        assert isinstance(failed, DeidError)
        assert failed.code is code


def test_every_reason_is_explained() -> None:
    page = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [reason.value for reason in Reason if f"`{reason.value}`" not in page] == []


ROSTER = "patient_id,GIVEN,FAMILY,birth_date,mrn\n" + "".join(
    f"p{n},Thandiwe,Quill{'abcdefghijklmnopqrstuvwxy'[n]}feather,19{n + 30}-03-04,44190{n}\n" for n in range(25)
)
LAST_NAMES = {
    "ignored": ('ignore = ["GIVEN", "FAMILY"]\n', ROSTER, 0.0),
    "mapped": ('ignore = ["GIVEN"]\ncolumns = { FAMILY = "last_name" }\n', ROSTER, 100.0),
    "one for all": ("", "patient_id,last_name\n" + "".join(f"p{n},Memorial\n" for n in range(25)), 0.0),
    "ids": ("", "patient_id,last_name\n" + "".join(f"p{n},P{n}\n" for n in range(25)), 0.0),
    "initials": ("", "patient_id,last_name\n" + "".join(f"p{n},{chr(97 + n)}.\n" for n in range(25)), 0.0),
    "some": ("", "patient_id,last_name\n" + "".join(f"p{n},{'Ostrowe' * (n < 2)}\n" for n in range(25)), 8.0),
}


@pytest.mark.parametrize(("mapping", "patients", "share"), LAST_NAMES.values(), ids=LAST_NAMES)
def test_what_the_rows_of_patients_tell_is_shown_and_the_doctor_warns_where_they_name_nobody(
    feed: Path, deliver: Callable[..., Path], mapping: str, patients: str, share: float
) -> None:
    (feed.parent / "deid.toml").write_text(SETTINGS + mapping)
    folder = deliver(notes="note_id,patient_id,text\nn1,p1,Well.\n", patients=patients)
    told = 100.0 if "birth_date" in patients else 0.0
    shown = f"patients with a last name {share}%, a birth date {told}%, a record number {told}%"
    checked = deid("feed", "check", str(folder))
    assert (checked.exit_code, shown in checked.stderr.splitlines()) == (0, True)
    found = finding("feed ehr")
    assert shown in found.detail
    assert found.good is (share == 100) is ("patients without a last name" not in found.detail)


def test_providers_and_facilities_without_names_are_counted_too(deliver: Callable[..., Path]) -> None:
    folder = deliver(
        notes="note_id,text\nn1,Well.\n",
        providers="provider_id,last_name\nd1,Marchetti\nd2,UNKNOWN\n",
        facilities="facility_id,name\nf1,Marigold Clinic\nf2,Oak House\nf3,.\n",
    )
    said = deid("feed", "check", str(folder)).stderr.splitlines()
    assert {"providers with a last name 50.0%", "facilities with a name 66.6%"} <= set(said)


def test_a_file_of_patients_without_names_is_told_by_the_command_that_redacts_one_too(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text('{"note_id": "n1", "patient_id": "p1", "text": "Well."}\n')
    (tmp_path / "p.csv").write_text(ROSTER)
    command = [
        "redact",
        str(tmp_path / "n.jsonl"),
        "-o",
        str(tmp_path / "o.jsonl"),
        "--patients",
        str(tmp_path / "p.csv"),
    ]
    command += ["--detector", "rules", "--columns", "GIVEN="]
    said = "patients without a last name: 25 of 25"
    assert said in deid(*command, "--columns", "FAMILY=").stderr
    assert said not in deid(*command, "--columns", "FAMILY=last_name").stderr


# doctor


def finding(subject: str) -> Diagnosis:
    return next(found for found in examine() if found.subject == subject)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"notes": FOREIGN}, "unknown columns of notes: NOTE_NUM, NOTE_TXT, PAT_ID, LOAD_TS"),
        ({"notes": "note_id,text\nn1,\n"}, "1 rows of notes[0] empty_text (line 2)"),
        ({"notes": "note_id,text\nn1,x\n", "patients": "patient_id,nick\np1,x\n"}, "columns of patients"),
        ({"notes": "note_id,text\n"}, "no rows"),
        ({}, "no rows"),
    ],
)
def test_the_doctor_looks_at_the_newest_delivery(
    deliver: Callable[..., Path], files: dict[str, str], said: str
) -> None:
    deliver("2026-01-05", notes="note_id,text\nn1,x\n")
    assert finding("feed ehr").good
    folder = deliver("2026-01-12", **files)
    found = finding("feed ehr")
    assert not found.good
    assert said in found.detail
    assert f"`deid feed check {folder}`" in found.detail


def test_the_doctor_names_what_a_refresh_refuses_for_the_settings_alone(
    feed: Path, deliver: Callable[..., Path]
) -> None:
    rows = "".join(f"n{number},x,phone call\n" for number in range(20))
    deliver(notes=f"note_id,text,note_type\n{rows}")
    config = feed.parent / "deid.toml"
    config.write_text(f'{SETTINGS}note_types = ["progress note"]\n'.replace("demonstration = true\n", ""))
    found = finding("feed ehr").detail
    assert "feed-not-demonstration [ehr]" in found
    assert "20 of 20 notes have a type that note_types does not list" in found
    config.write_text(f'{SETTINGS}[exclusions]\nopt_outs = "gone.csv"\n')
    assert "opt-outs-unreadable [exclusions.opt_outs, line 1: unreadable_file]" in finding("exclusions").detail
    config.write_text(SETTINGS + 'colums = { A = "text" }\n')
    assert "settings-invalid [feeds.ehr.colums, line 6 (there is no such key)]" in finding("settings").detail


def test_the_doctor_shows_the_key_in_brackets(feed: Path) -> None:
    (feed.parent / "deid.toml").write_text(SETTINGS + "workers = 2\n")
    assert "[feeds.ehr.workers, line 6" in " ".join(deid("doctor").stdout.split())


# Before the bootstrap


@pytest.mark.parametrize(
    "command", [("refresh",), ("withdraw",), ("summary",), ("release", "list"), ("db", "status"), ("db", "psql")]
)
def test_before_the_bootstrap_every_command_names_it_and_makes_no_server(feed: Path, command: tuple[str, ...]) -> None:
    failed = deid(*command).exception
    assert isinstance(failed, DeidError)
    assert (failed.code, failed.code.remedy) == (Code.WAREHOUSE_NOT_READY, "Run `deid db bootstrap`.")
    assert not list(feed.parent.rglob("postgres"))


def test_a_reversed_span_is_told_as_one(feed: Path) -> None:
    failed = deid("retract", "key", "--span", "9:3", "--label", "PATIENT", "--who", "Officer").exception
    assert isinstance(failed, DeidError)
    assert (failed.code, failed.ref) == (Code.FINDING_INVALID, "span")
