"""`deid redact` from files to files: order, offsets, refusals, and nothing left half-written."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from chat_endpoint import Reply, serving
from command_line import deid

import deid_platform
from deid_platform.corpora import Role
from deid_platform.corpora.gold_sets import GoldSet
from deid_platform.deidentify.files import read_topics, redact_file
from deid_platform.deidentify.release_note import places
from deid_platform.detection import DetectorSpec
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.files import score_file
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import Redaction
from deid_platform.settings import keyring_for

POLICIES = Path(deid_platform.__file__).parent / "redaction" / "policies"
NOTES = [
    {"note_id": "b", "text": "Patient: Ann Quillfeather\r\nDOB 03/04/1950, phone (617) 555-0142.", "patient_id": "p1"},
    {"note_id": "a", "text": "BP 120/80, on the Bruce protocol.\u2028Stable."},
]
SLOW_MODULES = ("dagster", "dbt", "great_expectations", "pandas", "torch", "transformers", "sqlalchemy", "matplotlib")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "".join(json.dumps(row) + "\n" for row in NOTES)
    (tmp_path / "notes.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "patients.csv").write_text("patient_id,first_name,last_name\np1,Ann,Quillfeather\n")
    return tmp_path


def redact(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    notes, output = folder / "notes.jsonl", folder / "out.jsonl"
    return deid("redact", str(notes), "-o", str(output), *arguments, folder=folder)


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").split("\n") if line]


def test_notes_come_out_redacted_in_their_order_with_offsets_into_the_original(folder: Path) -> None:
    done = redact(folder, "--patients", str(folder / "patients.csv"))
    assert done.returncode == 0, done.stderr
    assert [row["note_id"] for row in rows(folder)] == ["b", "a"]
    first, second = rows(folder)
    assert "Quillfeather" not in first["text"]
    assert "555-0142" not in first["text"]
    assert "\r\n" in first["text"]
    surfaces = {NOTES[0]["text"][start:end]: label for start, end, label in first["spans"]}
    assert surfaces["Ann Quillfeather"] == "PATIENT"
    assert surfaces["03/04/1950"] == "DATE"
    assert second == {"note_id": "a", "text": NOTES[1]["text"], "spans": []}


SECRET = "6d1f0c8a94e7b25310fd86a2c7e95b40"
DATED = [
    {"note_id": "1", "patient_id": "p1", "note_date": "2019-04-02",
     "text": "Patient: Ann Quillfeather, MRN 7731984, seen 3/4/2019. Dr. Ines Marchetti. Phone (617) 555-0142."},
    {"note_id": "2", "patient_id": "p1", "note_date": "2019-05-14",
     "text": "Ms. Quillfeather called on 05/10/2019. Quillfeather, Ann. MRN 7731984. Seen by Dr. Marchetti."},
]  # fmt: skip


@pytest.fixture
def dated(folder: Path) -> Path:
    """Two notes of one patient, topics, and a secret in a file."""
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DATED))
    (folder / "patients.csv").write_text("patient_id,first_name,last_name,mrn\np1,Ann,Quillfeather,7731984\n")
    (folder / "providers.csv").write_text("provider_id,first_name,last_name\nd1,Ines,Marchetti\n")
    (folder / "key").write_text(SECRET)
    return folder


def surrogates_of(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    topics = ("--patients", str(folder / "patients.csv"), "--providers", str(folder / "providers.csv"))
    return redact(folder, "--policy", "surrogate", *topics, *arguments)


def test_surrogates_are_one_person_in_all_notes_and_dates_keep_their_distance(dated: Path) -> None:
    done = surrogates_of(dated, "--secret-file", str(dated / "key"), "--date-order", "mdy")
    assert done.returncode == 0, done.stderr
    one, two = (row["text"] for row in rows(dated))
    for text in (one, two):
        assert not re.search("Quillfeather|Ann|Marchetti|7731984|2019-0|3/4/2019|05/10/2019|\\[[A-Z]", text), text
    first = re.fullmatch(
        r"Patient: (\S+) (\S+), MRN (\d{7}), seen (\d+/\d+/\d{4})\. Dr\. \S+ (\S+)\. Phone \(\d{3}\) 555-01\d\d\.", one
    )
    assert first, one
    given, surname, mrn, seen, doctor = first.groups()
    called = re.search(r"\d\d/\d\d/\d{4}", two)
    assert called, two
    assert two == (
        f"Ms. {surname} called on {called.group()}. {surname}, {given}. MRN {mrn}. Seen by Dr. {doctor}."
    )  # fmt: skip
    days = [datetime.strptime(day, "%m/%d/%Y").replace(tzinfo=UTC) for day in (seen, called.group())]
    assert (days[1] - days[0]).days == 67, "from March 4 to May 10"
    assert days[0].weekday() == 0, "a Monday, as it was"


@pytest.mark.process
def test_workers_write_what_one_process_writes(dated: Path) -> None:
    key = ("--secret-file", str(dated / "key"))
    told = surrogates_of(dated, *key)
    assert told.returncode == 0
    assert "dates became tags since nothing says which number is the day: --date-order" in told.stderr
    alone = (dated / "out.jsonl").read_bytes()
    assert surrogates_of(dated, *key, "--workers", "2").returncode == 0
    assert (dated / "out.jsonl").read_bytes() == alone


def test_under_surrogates_spans_are_places_in_the_redacted_text_and_tell_nothing_of_the_original(dated: Path) -> None:
    # Originals of other lengths in the same places, whose shifted forms have one length.
    shown = []
    for day in ("12/25/2018", "2018-12-25"):
        (dated / "notes.jsonl").write_text(json.dumps({**DATED[0], "text": f"CABG in 2015, seen {day} by me."}) + "\n")
        assert surrogates_of(dated, "--secret-file", str(dated / "key")).returncode == 0
        (row,) = rows(dated)
        shown.append([row["text"][start:end] for start, end, _ in row["spans"]])
        assert all(re.fullmatch(r"20\d\d|\d+/\d+/\d{4}|\d{4}-\d\d-\d\d", text) for text in shown[-1]), row
        assert len(shown[-1]) == 2, "the year alone too"
    assert shown[0][0] == shown[1][0]


def test_tags_and_surrogates_of_any_length_are_where_the_spans_say() -> None:
    redaction = Redaction("A [DATE] bc XYZW", (Span(2, 4, Label.DATE), Span(8, 9, Label.PATIENT)), ("[DATE]", "XYZW"))
    assert [redaction.text[s.start : s.end] for s in places(redaction)] == ["[DATE]", "XYZW"]


def test_a_note_that_leaks_is_withheld_and_told_by_its_reason(folder: Path) -> None:
    (folder / "notes.jsonl").write_text(
        '{"note_id": "n1", "patient_id": "p1", "text": "Patient: Ann Quillfeather."}\n'
        '{"note_id": "n2", "patient_id": "p1", "text": "the quillfeather chart"}\n'
    )
    # The patterns alone do not know whom small letters name; the leak check does.
    known = ("--patients", str(folder / "patients.csv"))
    done = redact(folder, "--detector", "patterns", "--policy", "safe_harbor", *known)
    assert done.returncode == 3
    assert [row["note_id"] for row in rows(folder)] == ["n1"]
    assert "1 note withheld: leak-last-name" in done.stderr
    assert "Quillfeather" not in done.stderr


def test_one_secret_makes_the_same_keys_wherever_it_is_given_and_another_site_others(
    dated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dated)  # where no deid.toml is
    given = keyring_for(dated / "key", None)
    assert given.site == "local"
    monkeypatch.setenv("DEID_SECRET_FILE", str(dated / "key"))
    assert keyring_for(None, None).key_id == given.key_id
    monkeypatch.delenv("DEID_SECRET_FILE")
    monkeypatch.setenv("DEID_SECRET", SECRET)
    assert keyring_for(None, None).key_id == given.key_id
    assert keyring_for(None, "elsewhere").key_id != given.key_id
    monkeypatch.delenv("DEID_SECRET")
    # In an installation: its site and its secret.
    (dated / "deid.toml").write_text('site = "north"\nhome = "home"\n')
    (dated / "home").mkdir()
    (dated / "home" / "secret").write_text(SECRET)
    assert keyring_for(None, None).key_id == Keyring(SECRET.encode(), site="north").key_id


def test_without_a_secret_surrogates_are_refused_and_tags_are_not(dated: Path) -> None:
    done = surrogates_of(dated)
    assert done.returncode == 1
    assert "secret-missing" in done.stderr
    assert not (dated / "out.jsonl").exists()
    assert redact(dated, "--policy", "gdpr_it").returncode == 0


def test_ages_under_90_go_where_the_policy_hides_every_age_and_nowhere_else(folder: Path) -> None:
    note = {"note_id": "a", "lang": "it", "text": "Il paziente ha 45 anni. La madre di 95 anni vive con lui e cammina."}
    (folder / "notes.jsonl").write_text(json.dumps(note) + "\n")
    assert redact(folder, "--policy", "gdpr_it").returncode == 0
    assert rows(folder)[0]["text"] == "Il paziente ha [AGE] anni. La madre di [AGE] anni vive con lui e cammina."
    assert redact(folder, "--policy", "safe_harbor").returncode == 0
    assert rows(folder)[0]["text"] == "Il paziente ha 45 anni. La madre di 90+ anni vive con lui e cammina."


def test_a_secret_that_can_be_guessed_is_refused_and_not_shown(dated: Path) -> None:
    (dated / "key").write_text("abc" * 20)
    done = surrogates_of(dated, "--secret-file", str(dated / "key"))
    assert done.returncode == 1
    assert "secret-weak" in done.stderr
    assert "abcabc" not in done.stderr


def test_the_output_never_takes_the_place_of_the_secret(dated: Path) -> None:
    done = surrogates_of(dated, "--secret-file", str(dated / "key"), "-o", str(dated / "key"))
    assert done.returncode == 1
    assert (dated / "key").read_text() == SECRET


def test_the_output_is_private(folder: Path) -> None:
    redact(folder)
    assert stat.S_IMODE((folder / "out.jsonl").stat().st_mode) == 0o600


def test_refused_rows_are_counted_left_out_and_told_by_the_exit_status(folder: Path) -> None:
    with (folder / "notes.jsonl").open("a") as lines:
        lines.write('{"note_id": "b", "text": "twice"}\n{"note_id": "c", "text": ""}\nnot json\n')
    done = redact(folder)
    assert done.returncode == 3
    assert len(rows(folder)) == 2
    for reason in ("duplicate_note_id", "empty_text", "malformed_row"):
        assert f"1 row refused: {reason}" in done.stderr


def test_unknown_columns_and_dates_that_are_none_lose_no_note(folder: Path) -> None:
    with (folder / "notes.jsonl").open("a") as lines:
        lines.write('{"note_id": "c", "text": "Well.", "spans": [[0, 1]], "note_date": "13/13/2020"}\n')
    done = redact(folder)
    assert done.returncode == 0, done.stderr
    assert rows(folder)[-1] == {"note_id": "c", "text": "Well.", "spans": []}
    assert "invalid dates (expected YYYY-MM-DD): 1 note" in done.stderr


def test_a_roster_that_is_not_read_whole_is_an_error(folder: Path) -> None:
    (folder / "patients.csv").write_text("patient_id,last_name,nickname\np1,Quillfeather,Quill\n")
    with pytest.raises(DeidError) as error:
        read_topics({Role.PATIENTS: folder / "patients.csv"})
    assert (error.value.code, error.value.ref) == (Code.COLUMN_UNKNOWN, "patients: nickname")
    done = redact(folder, "--patients", str(folder / "patients.csv"))
    assert done.returncode == 1
    assert not (folder / "out.jsonl").exists()
    assert "Quillfeather" not in done.stderr


def test_a_row_of_a_topic_that_is_lost_is_told_by_topic_and_line(folder: Path) -> None:
    (folder / "patients.csv").write_text('patient_id,last_name\np1,"Quillfeather\nJones"\n,Quillfeather\n')
    done = redact(folder, "--patients", str(folder / "patients.csv"))
    assert done.returncode == 1
    assert "topic-invalid [patients, line 4: missing_id]" in done.stderr
    assert "is not a note" not in done.stderr
    assert "Quillfeather" not in done.stderr


def test_a_topic_without_a_header_is_told_so_and_names_nobody(folder: Path) -> None:
    (folder / "patients.csv").write_text("p1,Ann,Quillfeather\np2,Bo,Marchetti\n")
    with pytest.raises(DeidError) as error:
        read_topics({Role.PATIENTS: folder / "patients.csv"})
    assert error.value.code is Code.COLUMN_UNKNOWN
    assert (
        error.value.ref
        == "patients: 3 not shown: the file may have no header line, or another separator than , ; | and tab"
    )


def test_a_second_row_of_one_patient_is_a_former_one_as_in_a_delivery(folder: Path) -> None:
    (folder / "patients.csv").write_text("patient_id,last_name\np1,Marchetti\np1,Quillfeather\n")
    done = redact(folder, "--patients", str(folder / "patients.csv"))
    assert done.returncode == 0, done.stderr
    assert "Quillfeather" not in rows(folder)[0]["text"]
    topics, _ = read_topics({Role.PATIENTS: folder / "patients.csv"})
    assert [row.last_name for row in topics.patients_known_as("p1")] == ["Marchetti", "Quillfeather"]


FOREIGN = {"DOC": "b", "BODY": NOTES[0]["text"], "PAT": "p1", "spans": [[9, 25, "PATIENT"], [31, 41, "DATE"]]}
MAPPED = ("--columns", "DOC=notes.note_id", "--columns", "BODY=text", "--columns", "PAT=patient_id")


@pytest.fixture
def foreign(folder: Path) -> Path:
    """Notes, gold and patients as another house names their columns."""
    (folder / "notes.jsonl").write_text(json.dumps(FOREIGN) + "\n")
    (folder / "gold.jsonl").write_text(json.dumps(FOREIGN) + "\n")
    (folder / "patients.csv").write_text("PAT;SURNAME;LOAD_TS\np1;Quillfeather;x\n")
    (folder / "deid.toml").write_text(
        'site = "north"\n[feeds.ehr]\npath = "x"\nignore = ["LOAD_TS"]\n'
        'columns = { DOC = "notes.note_id", BODY = "text", PAT = "patient_id", SURNAME = "patients.last_name" }\n'
    )
    return folder


@pytest.mark.parametrize(
    "options", [(*MAPPED, "--columns", "SURNAME=last_name", "--columns", "LOAD_TS="), ("--feed", "ehr")]
)
def test_columns_are_mapped_on_the_command_line_or_by_a_feed(foreign: Path, options: tuple[str, ...]) -> None:
    known = ("--patients", str(foreign / "patients.csv"))
    done = redact(foreign, *known, *options)
    assert done.returncode == 0, done.stderr
    assert rows(foreign)[0]["note_id"] == "b"
    assert "Quillfeather" not in rows(foreign)[0]["text"]
    scored = deid("evaluate", str(foreign / "gold.jsonl"), *known, *options, folder=foreign)
    assert scored.returncode == 0, scored.stderr
    assert "PATIENT" in scored.stdout


def test_columns_that_may_be_meant_are_offered_with_the_lines_that_lack_them(folder: Path) -> None:
    (folder / "notes.jsonl").write_text('{"note_id": "b", "NOTE_TXT": "Seen."}\n' * 2)
    done = redact(folder)
    assert done.returncode == 3
    assert "2 rows refused: empty_text, lines 1, 2" in done.stderr
    assert "--columns NOTE_TXT=text" in done.stderr


def test_a_file_without_a_header_is_told_so_and_shows_nobody(folder: Path) -> None:
    (folder / "notes.jsonl").unlink()
    (folder / "notes.csv").write_text("n1,Quillfeather\nn2,Marchetti\n")
    done = deid("redact", str(folder / "notes.csv"), "-o", str(folder / "out.jsonl"), folder=folder)
    assert done.returncode == 3
    assert "no column is known: map them with --columns COLUMN=field, or give the file a header line" in done.stderr
    assert "Quillfeather" not in done.stderr


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_an_error_and_leaves_no_output(folder: Path, content: str) -> None:
    (folder / "notes.jsonl").write_text(content)
    done = redact(folder)
    assert done.returncode == 1
    assert "input-empty [notes]" in done.stderr
    assert not (folder / "out.jsonl").exists()


def test_an_empty_roster_is_an_error(folder: Path) -> None:
    (folder / "patients.csv").write_text("patient_id,last_name\n")
    with pytest.raises(DeidError) as error:
        read_topics({Role.PATIENTS: folder / "patients.csv"})
    assert (error.value.code, error.value.ref) == (Code.INPUT_EMPTY, "patients")


@pytest.mark.parametrize(
    ("content", "ref"), [("", "gold: no note"), (json.dumps({**NOTES[0], "spans": []}) + "\n", "gold: no span")]
)
def test_gold_that_measures_nothing_is_an_error(folder: Path, content: str, ref: str) -> None:
    (folder / "gold.jsonl").write_text(content)
    with pytest.raises(DeidError) as error:
        score_file(GoldSet(folder / "gold.jsonl"), spec=DetectorSpec("rules"), engine=MustNotRun())
    assert (error.value.code, error.value.ref) == (Code.INPUT_EMPTY, ref)


def test_a_birth_date_that_is_none_is_left_out_and_told(folder: Path) -> None:
    (folder / "patients.csv").write_text("patient_id,last_name,birth_date\np1,Quillfeather,03/04/1950\n")
    done = redact(folder, "--patients", str(folder / "patients.csv"))
    assert done.returncode == 0
    assert "patients: 1 invalid date left out" in done.stderr
    assert "Quillfeather" not in rows(folder)[0]["text"]


class FailsOn(LocalEngine):
    """An engine whose detector fails on one note."""

    def detect(self, spec, notes, *, on_batch=None):
        for index, note in enumerate(notes):
            failed = note.note_id == "b"
            yield Detection(index, None if failed else (), Code.DETECTOR_FAILED if failed else None)


def test_a_note_on_which_the_detector_fails_is_withheld(folder: Path) -> None:
    outcome = redact_file(
        folder / "notes.jsonl",
        folder / "out.jsonl",
        spec=DetectorSpec("rules"),
        policy=load_policy("safe_harbor"),
        engine=FailsOn(),
    )
    assert outcome.withheld == {"detector-failed": 1}
    assert not outcome.complete
    assert [row["note_id"] for row in rows(folder)] == ["a"]


class DiesOn(LocalEngine):
    """An engine whose worker dies as it redacts one note."""

    def run(self, job, items, *, on_batch=None, on_report=None):
        for item in items:
            if job.fault is Code.REDACTION_FAILED and item.note.note_id == "b":
                yield job.failed(item)
            else:
                yield from super().run(job, [item])


def test_a_note_on_which_a_worker_dies_while_it_redacts_is_withheld(folder: Path) -> None:
    outcome = redact_file(
        folder / "notes.jsonl",
        folder / "out.jsonl",
        spec=DetectorSpec("rules"),
        policy=load_policy("safe_harbor"),
        engine=DiesOn(),
    )
    assert outcome.withheld == {"redaction-failed": 1}
    assert [row["note_id"] for row in rows(folder)] == ["a"]


def test_an_interrupted_pass_leaves_no_output(folder: Path) -> None:
    class Interrupted(LocalEngine):
        def detect(self, spec, notes, *, on_batch=None):
            raise DeidError(Code.DETECTOR_UNKNOWN)

    with pytest.raises(DeidError):
        redact_file(
            folder / "notes.jsonl",
            folder / "out.jsonl",
            spec=DetectorSpec("rules"),
            policy=load_policy("safe_harbor"),
            engine=Interrupted(),
        )
    assert sorted(path.name for path in folder.iterdir()) == ["notes.jsonl", "patients.csv"]


class MustNotRun(LocalEngine):
    """An engine that no note may reach."""

    def detect(self, spec, notes, *, on_batch=None):
        raise AssertionError


def _output(folder: Path, kind: str) -> tuple[Path, Path]:
    """Notes and an output that would take their place."""
    notes = folder / "notes.jsonl"
    match kind:
        case "the same path":
            return notes, notes
        case "another spelling":
            return notes, folder / "sub" / ".." / "notes.jsonl"
        case "a relative path":
            return notes, Path("notes.jsonl")
        case "a symbolic link":
            (folder / "link.jsonl").symlink_to(notes)
            return notes, folder / "link.jsonl"
        case "a link as input":
            (folder / "link.jsonl").symlink_to(notes)
            return folder / "link.jsonl", notes
        case _:
            (folder / "link.jsonl").hardlink_to(notes)
            return notes, folder / "link.jsonl"


@pytest.mark.parametrize(
    "kind",
    ["the same path", "another spelling", "a relative path", "a symbolic link", "a link as input", "a hard link"],
)
def test_the_output_may_not_replace_the_notes(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder)
    source, target = _output(folder, kind)
    content, names = source.read_bytes(), sorted(folder.iterdir())
    with pytest.raises(DeidError) as error:
        redact_file(source, target, spec=DetectorSpec("rules"), policy=load_policy("safe_harbor"), engine=MustNotRun())
    assert (error.value.code, error.value.ref) == (Code.INPUT_INVALID, "output is the input")
    assert (source.read_bytes(), sorted(folder.iterdir())) == (content, names)


@pytest.mark.parametrize(
    ("option", "name", "content"),
    [
        ("--patients", "patients.csv", "patient_id\np1\n"),
        ("--providers", "staff.jsonl", '{"provider_id": "d1"}\n'),
        ("--facilities", "clinics.csv", "facility_id\nf1\n"),
        ("--policy", "own.yaml", (POLICIES / "safe_harbor.yaml").read_text()),
    ],
)
def test_the_output_may_not_replace_what_stands_beside_the_notes(
    folder: Path, option: str, name: str, content: str
) -> None:
    (folder / name).write_text(content)
    (folder / "out.jsonl").hardlink_to(folder / name)
    done = redact(folder, option, str(folder / name))
    assert done.returncode == 1
    assert "input-invalid [output is the input]" in done.stderr
    assert (folder / name).read_text() == content


def test_an_output_of_an_earlier_pass_is_replaced(folder: Path) -> None:
    (folder / "out.jsonl").write_text((folder / "notes.jsonl").read_text())  # equal bytes, yet another file
    assert redact(folder).returncode == 0
    assert "555-0142" not in rows(folder)[0]["text"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--detector", "oracle"], "detector-unknown"),
        (["--policy", "none"], "policy-unknown"),
        (["--patients", "missing.csv"], "feed-unreadable"),
    ],
)
def test_what_cannot_be_used_is_told_by_its_code(folder: Path, arguments: list[str], code: str) -> None:
    done = redact(folder, *arguments)
    assert done.returncode == 1
    assert code in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.process
def test_no_slow_library_is_loaded(folder: Path) -> None:
    script = (
        "import sys; from deid_platform.cli import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {SLOW_MODULES!r} if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, "redact", str(folder / "notes.jsonl"), "-o", str(folder / "out.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "TERM": "dumb"})
    assert done.stdout.strip().endswith("[]"), done.stdout
    assert len(rows(folder)) == 2


def test_evaluate_scores_a_gold_file(folder: Path) -> None:
    gold = {**NOTES[0], "spans": [[9, 25, "PATIENT"], [31, 41, "DATE"]]}
    (folder / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    done = deid("evaluate", str(folder / "gold.jsonl"), "--patients", str(folder / "patients.csv"))
    assert done.returncode == 0, done.stderr
    assert "PATIENT" in done.stdout
    assert "inputs: topics" in done.stdout


def test_a_language_model_only_adds_and_what_it_does_not_answer_is_withheld(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: dict, _: int) -> Reply:
        if "Bruce" in body["messages"][-1]["content"]:
            return Reply(None, finish="content_filter")
        return Reply('[{"text": "phone", "label": "CITY"}]')

    with serving(script) as endpoint:
        toml = f'site = "north"\nhome = "home"\n[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\n'
        (folder / "deid.toml").write_text(toml)
        asked = ("--chat", "extract-zero", "--patients", str(folder / "patients.csv"))
        alone, done = redact(folder), redact(folder, *asked)
        assert (alone.returncode, done.returncode) == (0, 3)
        assert "1 note withheld: chat-refused" in done.stderr
        assert [(row["note_id"], row["text"]) for row in rows(folder)] == [
            ("b", "Patient: [PATIENT]\r\nDOB [DATE 1950], [CITY] [PHONE].")
        ]
        # Without a key secret nothing is kept, with one everything is.
        assert not (folder / "home" / "llm").exists() and len(endpoint.received) == 2
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DEID_SECRET", hashlib.sha256(b"some keys").hexdigest())
            for _ in range(2):
                assert redact(folder, *asked).returncode == 3
        assert len(endpoint.received) == 4
        monkeypatch.setenv("DEID_CONFIG", str(folder / "deid.toml"))
        with pytest.raises(DeidError, match="chat-refused"):
            deid_platform.load(chat="extract-zero").redact(NOTES[1]["text"])


def test_a_prompt_of_ones_own_is_a_file(folder: Path) -> None:
    """Its answers are in the form that it asks for; it is known by its name where it found something."""
    own = "name: mine\nversion: 1\nlanguage: en\ntask: extract\nform: dictionary\nlabels: {WHERE: CITY}\n"
    (folder / "mine.yaml").write_text(f"{own}messages:\n- {{role: user, content: 'x {{{{note}}}}'}}\n")
    with serving(lambda body, _: Reply('{"WHERE": ["phone"]}' if "phone" in str(body) else "{}")) as endpoint:
        (folder / "deid.toml").write_text(f'site = "north"\n[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\n')
        assert redact(folder, "--chat", str(folder / "mine.yaml")).returncode == 0
        assert any("[CITY]" in row["text"] for row in rows(folder))
        (folder / "mine.yaml").write_text(own)
        done = redact(folder, "--chat", str(folder / "mine.yaml"))
        assert done.returncode == 1 and "prompt-invalid" in done.stderr
        done = redact(folder, "--chat", "retention-few")
        assert done.returncode == 1 and "prompt-unknown" in done.stderr and "extract-one" in done.stderr


@pytest.mark.parametrize(
    ("toml", "said"), [("", "llm-missing"), ('[llm]\nurl = "http://10.0.0.1/v1"\nmodel = "toy"\n', "endpoint-refused")]
)
def test_a_language_model_that_may_not_be_asked_is_refused_and_nothing_is_written(
    folder: Path, toml: str, said: str
) -> None:
    (folder / "deid.toml").write_text(f'site = "north"\n{toml}')
    done = redact(folder, "--chat", "extract-zero")
    assert done.returncode == 1 and said in done.stderr
    assert not (folder / "out.jsonl").exists()


GERMAN = (
    "Frau Vogt klagt seit gestern über starke Schmerzen im rechten Knie. Kein Fieber, kein Trauma. Kontrolle Montag."
)
THAI = "ผู้ป่วยหญิง นางสมศรี ใจดีงาม อาศัยอยู่จังหวัดนครสวรรค์ มาด้วยอาการหอบเหนื่อย"


def test_notes_in_a_language_that_nobody_measured_are_withheld_whatever_their_column_says(folder: Path) -> None:
    written = [
        *(NOTES[1], {"note_id": "de", "text": GERMAN, "language": "en"}, {"note_id": "th", "text": THAI}),
        {"note_id": "name", "text": "Seen today with her son 王小明, no complaints, will return next week."},
    ]
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written), encoding="utf-8")
    done = redact(folder, "--detector", "rules")
    assert (done.returncode, [row["note_id"] for row in rows(folder)]) == (3, ["a"])
    assert "no figures of this detector in en, es, it, fr: measure it" in done.stderr
    assert "3 notes withheld: language-unmeasured" in done.stderr
    assert "withheld were notes in de 1, th 1, zh 1; if you have measured it" in done.stderr
    assert not any(word in done.stderr for word in ("Vogt", "สมศรี", "王"))

    accepted = redact(folder, "--detector", "rules", "--languages", "de,TH")
    assert (accepted.returncode, [row["note_id"] for row in rows(folder)]) == (3, ["a", "de", "th"])
    refused = redact(folder, "--detector", "rules", "--languages", "de,klingon")
    assert refused.returncode == 1 and "'klingon' is no code of ISO 639-1" in refused.stderr
