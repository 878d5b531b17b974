"""An archive becomes deliveries: each note once, each patient in one of them, all of them or none."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner, Result

from deid_platform.cli import app
from deid_platform.corpora import splitting
from deid_platform.corpora.files import FilesFeed
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note, Withdrawal

DAY = date(2020, 1, 1)
COLUMNS = {"NOTE_TXT": "text", "PAT": "patient_id"}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    folder.mkdir()
    notes = [{"note_id": f"n{n}", "PAT": f"p{n % 17}", "NOTE_TXT": f"Note {n}.", "language": "en"} for n in range(100)]
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    (folder / "patients.csv").write_text("PAT,last_name\n" + "".join(f"p{n},Quill{n}\n" for n in range(17)))
    (folder / "withdrawn.csv").write_text("note_id,PAT\nn3,\n,p5\nnever,\n")
    (folder / "rejoined.csv").write_text("PAT\np6\n")
    return folder


@pytest.fixture
def reader(tmp_path: Path) -> FilesFeed:
    (tmp_path / "deliveries").mkdir()
    return FilesFeed("ehr", tmp_path / "deliveries", columns=COLUMNS)


def silent(_: int) -> None:
    pass


def test_each_note_comes_once_and_a_patients_notes_together(archive: Path, reader: FilesFeed) -> None:
    found = splitting.survey(reader, archive, progress=silent)
    made = splitting.split(reader, archive, found, notes=20, day=DAY, progress=silent)
    assert made == reader.deliveries() == [Delivery("ehr", f"20200101T000{n}") for n in range(5)]
    notes = [(delivery, note) for delivery in made for note in reader.notes(delivery)]
    assert all(isinstance(note, Note) for _, note in notes)
    assert sorted(note.note_id for _, note in notes) == sorted(f"n{n}" for n in range(100))  # type: ignore[union-attr]
    assert {note.text for _, note in notes} == {f"Note {n}." for n in range(100)}  # type: ignore[union-attr]
    assert len({(delivery, note.patient_id) for delivery, note in notes}) == 17  # type: ignore[union-attr]
    assert len(reader.topics(made[0])[0].patients) == 17
    assert not any(reader.topics(delivery)[0].patients for delivery in made[1:])


def test_whoever_leaves_or_comes_back_does_so_beside_the_notes(archive: Path, reader: FilesFeed) -> None:
    found = splitting.survey(reader, archive, progress=silent)
    made = splitting.split(reader, archive, found, notes=20, day=DAY, progress=silent)
    of = {note.note_id: delivery for delivery in made for note in reader.notes(delivery) if isinstance(note, Note)}
    statements = {
        item: delivery
        for delivery in made
        for item in reader.withdrawals(delivery, known_patients=None, known_notes=None)
    }
    assert statements == {
        Withdrawal(note_id="n3"): of["n3"],
        Withdrawal(patient_id="p5"): of["n5"],
        Withdrawal(note_id="never"): made[0],
    }
    assert [delivery for delivery in made for _ in reader.rejoinings(delivery)] == [of["n6"]]


def test_what_breaks_off_leaves_nothing(archive: Path, reader: FilesFeed) -> None:
    found = splitting.survey(reader, archive, progress=silent)
    found.notes += 1
    with pytest.raises(DeidError, match="changed while it was read"):
        splitting.split(reader, archive, found, notes=20, day=DAY, progress=silent)
    assert list(reader.root.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(
    archive: Path, reader: FilesFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(splitting, "write_table", full)
    found = splitting.survey(reader, archive, progress=silent)
    with pytest.raises(DeidError) as error:
        splitting.split(reader, archive, found, notes=20, day=DAY, progress=silent)
    assert error.value.code is Code.OUTPUT_FULL
    assert list(reader.root.iterdir()) == []


def test_deliveries_come_before_all_others_and_not_too_many(archive: Path, reader: FilesFeed) -> None:
    found = splitting.survey(reader, archive, progress=silent)
    found.notes = splitting.MOST_DELIVERIES * 20 + 1
    with pytest.raises(DeidError, match="at least 21 notes each"):
        splitting.split(reader, archive, found, notes=20, day=DAY, progress=silent)
    (reader.root / "2020-01-01").mkdir()
    with pytest.raises(DeidError, match="of that day or before"):
        splitting.split(reader, archive, found, notes=5000, day=DAY, progress=silent)
    with pytest.raises(DeidError, match="itself a delivery"):
        splitting.survey(reader, reader.root / "2020-01-01", progress=silent)


@pytest.fixture
def deid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("DEID_CONFIG", str(tmp_path / "deid.toml"))
    columns = "\n".join(f'{column} = "{field}"' for column, field in COLUMNS.items())
    (tmp_path / "deid.toml").write_text(
        f'site = "north"\nprofile = "demo"\n[feeds.ehr]\npath = "deliveries"\ndemonstration = true\n'
        f"[feeds.ehr.columns]\n{columns}\n"
    )
    return lambda *arguments: CliRunner().invoke(app, ["feed", "split", *arguments, "--feed", "ehr"])


def test_rows_that_cannot_be_used_stop_it_unless_they_are_left_out(
    archive: Path, reader: FilesFeed, deid: Callable[..., Result]
) -> None:
    with (archive / "notes.jsonl").open("a") as notes:
        notes.write('{"note_id": "bad", "NOTE_TXT": ""}\n')
    options = (str(archive), "--day", "2020-01-01", "--notes", "50")
    assert deid(*options).exit_code == 3
    assert list(reader.root.iterdir()) == []
    told = deid(*options, "--without-refused")
    assert told.exit_code == 0
    assert "100 notes in 2 deliveries, ehr@20200101T0000 to ehr@20200101T0001" in told.stderr
    assert len(reader.deliveries()) == 2


def test_a_withdrawal_that_cannot_be_read_always_stops_it(
    archive: Path, reader: FilesFeed, deid: Callable[..., Result]
) -> None:
    with (archive / "withdrawn.csv").open("a", newline="") as rows:
        csv.writer(rows).writerow(["n1", "p1"])
    stopped = deid(str(archive), "--day", "2020-01-01", "--without-refused")
    assert stopped.exit_code == 3
    assert "withdrawn" in stopped.stdout
    assert list(reader.root.iterdir()) == []
