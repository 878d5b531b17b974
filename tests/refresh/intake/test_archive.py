"""The first load of an archive: into which deliveries it is split, what is refused, and what a kill leaves behind."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import deid

from deid_platform.corpora import archive as files_of_archive
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh.hiding import withdraw
from deid_platform.refresh.intake.archive import Pace, archives, prepare, under_way
from deid_platform.warehouse.server.roles import Role

TYPE = "progress note"


def rows(patients: int, notes: int) -> list[dict[str, str]]:
    """Notes of patients in turn, so that no patient's stand together."""
    return [
        {
            "note_id": f"n{number}",
            "patient_id": f"p{number % patients}",
            "note_type": TYPE,
            "text": f"Stable, {number}.",
        }
        for number in range(notes)
    ]


def jsonl(path: Path, notes: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(note) + "\n" for note in notes), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An archive in three formats, with a broken line, and tables beside the notes."""
    it = tmp_path / "2025-12-31"
    it.mkdir()
    notes = rows(patients=10, notes=60)
    jsonl(it / "notes-1.jsonl", notes[:20])
    with (it / "notes-1.jsonl").open("a") as stream:
        stream.write('{"note_id": "broken", \n')
    pq.write_table(pa.Table.from_pylist(notes[20:40]), it / "notes-2.parquet")
    lines = [",".join(notes[0]), *(",".join(f'"{cell}"' for cell in note.values()) for note in notes[40:])]
    (it / "notes-3.csv").write_text("\n".join(lines) + "\n")
    (it / "patients.csv").write_text("patient_id,last_name\np1,Quillfeather\n")
    (it / "withdrawn.csv").write_text("note_id\nn7\n")
    return it


@pytest.fixture
def clean(site):
    """Before and after: no deliveries and no plan."""

    def empty() -> None:
        root = site.settings.path(site.feed("hospital").path)
        for path in root.iterdir():
            shutil.rmtree(path)
        shutil.rmtree(site.settings.home_path / "store" / "source" / "archives", ignore_errors=True)
        (site.settings.home_path / "store" / "heads.json").unlink(missing_ok=True)

    empty()
    yield site
    empty()


def taken(site, delivery: Delivery) -> list:
    return [
        note for note in site.reader("hospital").notes(delivery) if hasattr(note, "note_id") and hasattr(note, "text")
    ]


def root_of(site) -> Path:
    return site.settings.path(site.feed("hospital").path)


def code_of(call) -> Code:
    with pytest.raises(DeidError) as refused:
        call()
    return refused.value.code


def test_every_note_is_in_one_delivery_with_all_of_its_patient(clean, folder) -> None:
    found = prepare(clean, folder, "hospital", notes=15)
    assert [part.watermark for part in found.parts] == [f"20251231T000{n}" for n in range(5)]
    assert clean.deliveries("hospital") == [*found.parts]
    where, ids = defaultdict(set), []
    for part in found.parts:
        for note in taken(clean, part):
            where[note.patient_id].add(part)
            ids.append(note.note_id)
    assert sorted(ids) == sorted(note["note_id"] for note in rows(10, 60))
    assert {len(parts) for parts in where.values()} == {1}
    # The broken line is counted as one that is refused, not lost on the way.
    assert sum(found.parts.values()) == 61
    assert len([r for part in found.parts for r in clean.reader("hospital").notes(part)]) == 61
    first, *_, last = (root_of(clean) / part.watermark for part in found.parts)
    assert (first / "patients.csv").exists() and not (last / "patients.csv").exists()
    assert (last / "withdrawn.csv").exists() and not (first / "withdrawn.csv").exists()
    assert prepare(clean, folder, "hospital", notes=15).parts == found.parts


def test_columns_are_those_of_the_feed(clean, tmp_path) -> None:
    it = tmp_path / "2025-12-31"
    it.mkdir()
    jsonl(it / "notes.jsonl", [{"note_id": f"n{n}", "MRN": "one", "text": "Stable."} for n in range(20)])
    feed = clean.feed("hospital").model_copy(update={"columns": {"MRN": "patient_id"}})
    mapped = type(clean)(clean.settings.model_copy(update={"feeds": {"hospital": feed}}))
    parts = prepare(mapped, it, "hospital", notes=5).parts
    assert sorted(parts.values()) == [0, 0, 0, 20]


@pytest.mark.parametrize("step", ["ids", "rows", "plan", "names"])
def test_what_a_kill_leaves_is_finished_by_the_same_command(clean, folder, monkeypatch, step) -> None:
    class Killed(BaseException):
        pass

    def kill(*_, **__):
        raise Killed

    renamed = []

    def kill_at_second(old: Path, new: Path) -> None:
        renamed.append(old)
        if len(renamed) == 2:
            raise Killed
        shutil.move(old, new)

    with monkeypatch.context() as patched:
        if step == "ids":
            patched.setattr(files_of_archive, "split", kill)
        elif step == "rows":
            patched.setattr(files_of_archive.shutil, "copyfileobj", kill)
        elif step == "plan":
            patched.setattr(type(clean.store), "write", kill)
        else:
            patched.setattr(Path, "rename", kill_at_second)
        with pytest.raises(Killed):
            prepare(clean, folder, "hospital", notes=15)
    assert clean.deliveries("hospital") == []
    found = prepare(clean, folder, "hospital", notes=15)
    assert clean.deliveries("hospital") == [*found.parts]
    ids = sorted(note.note_id for part in found.parts for note in taken(clean, part))
    assert ids == sorted(note["note_id"] for note in rows(10, 60))
    assert {path.name for path in root_of(clean).iterdir()} == {part.watermark for part in found.parts}


def test_no_part_of_an_archive_is_a_delivery_before_all_are(clean, folder, monkeypatch) -> None:
    # The first one has the topics of all, and the last one withdraws from all.
    seen = []

    def look(old: Path, new: Path) -> None:
        shutil.move(old, new)
        seen.append((len(list(root_of(clean).glob("2*"))), clean.deliveries("hospital")))

    other = root_of(clean) / "2026-01-05"
    other.mkdir()
    monkeypatch.setattr(Path, "rename", look)
    parts = prepare(clean, folder, "hospital", notes=15).parts
    arrived = Delivery("hospital", other.name)
    assert seen == [(number + 2, [arrived]) for number in range(len(parts))]
    assert clean.deliveries("hospital") == [*parts, arrived]


def test_another_size_or_other_files_are_refused_once_it_is_split(clean, folder) -> None:
    prepare(clean, folder, "hospital", notes=15)
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=20)) is Code.ARCHIVE_CHANGED
    jsonl(folder / "notes-1.jsonl", rows(10, 3))
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=15)) is Code.ARCHIVE_CHANGED


def test_files_that_change_while_they_are_split_are_refused(clean, folder) -> None:
    def change(_: int) -> None:
        os.utime(folder / "notes-3.csv", ns=(0, 0))

    jsonl(folder / "notes-4.jsonl", [{**note, "note_id": f"x{note['note_id']}"} for note in rows(10, 1_000)])
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=500, progress=change)) is Code.ARCHIVE_CHANGED
    assert clean.deliveries("hospital") == []
    assert archives(clean) == []
    # What is left of it would hide whatever arrives of that day, withdrawals too.
    assert list(root_of(clean).iterdir()) == []


def test_a_split_that_was_killed_hides_no_other_delivery_of_its_day_and_does_not_go_on_beside_it(
    clean, folder, monkeypatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_, **__):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(files_of_archive, "split", kill)
        with pytest.raises(Killed):
            prepare(clean, folder, "hospital", notes=15)
    (root_of(clean) / "2025-12-31").mkdir()
    assert clean.deliveries("hospital") == [Delivery("hospital", "2025-12-31")]
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=15)) is Code.ARCHIVE_NAME
    (root_of(clean) / "2025-12-31").rename(root_of(clean) / "20251231T0900")
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=15)) is Code.ARCHIVE_NAME


def test_a_delivery_of_its_day_that_arrives_during_a_split_takes_no_place_of_the_archives_own(clean, folder) -> None:
    def arrive(_: int) -> None:
        (root_of(clean) / "2025-12-31").mkdir(exist_ok=True)

    jsonl(folder / "notes-4.jsonl", [{**note, "note_id": f"x{note['note_id']}"} for note in rows(10, 1_000)])
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=500, progress=arrive)) is Code.ARCHIVE_NAME
    assert [path.name for path in root_of(clean).iterdir()] == ["2025-12-31"]


def test_a_split_that_ends_while_deliveries_are_listed_shows_none_of_its_parts_alone(
    clean, folder, monkeypatch
) -> None:
    listing, listed = Path.iterdir, []

    def look(old: Path, new: Path) -> None:
        shutil.move(old, new)
        if not listed:
            listed.append([*listing(root_of(clean))])

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", look)
        parts = prepare(clean, folder, "hospital", notes=15).parts
    work = root_of(clean) / "_archive-2025-12-31"
    work.mkdir()

    def ends(self: Path):
        work.rmdir()
        yield from listed[0]

    monkeypatch.setattr(Path, "iterdir", ends)
    assert clean.deliveries("hospital") == []
    monkeypatch.undo()
    assert clean.deliveries("hospital") == [*parts]


def test_what_cannot_be_split_is_refused_and_nothing_arrives(clean, folder, tmp_path) -> None:
    assert code_of(lambda: prepare(clean, tmp_path / "archive", "hospital", notes=9)) is Code.ARCHIVE_NAME
    inside = root_of(clean) / "2025-12-30"
    inside.mkdir()
    assert code_of(lambda: prepare(clean, inside, "hospital", notes=9)) is Code.ARCHIVE_NAME
    inside.rename(root_of(clean) / "20251231T0700")
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=9)) is Code.ARCHIVE_NAME
    (root_of(clean) / "20251231T0700").rmdir()
    assert code_of(lambda: prepare(clean, tmp_path / "2025-12-30", "hospital", notes=9)) is Code.FEED_UNREADABLE
    jsonl(folder / "notes-4.jsonl", rows(10, 600))
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=1)) is Code.ARCHIVE_SIZE
    # The same id under another patient: in another delivery it would correct the first.
    jsonl(folder / "notes-4.jsonl", [{**rows(10, 1)[0], "patient_id": "p5"}])
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=9)) is Code.ARCHIVE_BROKEN
    (folder / "notes-4.jsonl").unlink()
    whole = (folder / "notes-2.parquet").read_bytes()
    (folder / "notes-2.parquet").write_bytes(whole[:-9])
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=9)) is Code.ARCHIVE_BROKEN
    assert clean.deliveries("hospital") == []


@pytest.mark.parametrize(
    ("name", "ref"),
    [("notes-3.csv", "notes[2]"), ("patients.csv", "patients"), ("withdrawn.csv", "withdrawn")],
)
def test_nothing_of_what_a_link_in_an_archive_leads_to_is_copied(clean, folder, tmp_path, name, ref) -> None:
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DeidError) as refused:
        prepare(clean, folder, "hospital", notes=15)
    assert (refused.value.code, refused.value.ref) == (Code.ARCHIVE_BROKEN, ref)
    assert clean.deliveries("hospital") == []


@pytest.mark.parametrize("role", ["withdrawn", "rejoined"])
def test_an_archive_that_withdraws_somebody_whom_nobody_can_tell_is_refused(clean, folder, role) -> None:
    (folder / f"{role}.csv").write_text("patient_id,of\np1,2025\n")
    with pytest.raises(DeidError) as refused:
        prepare(clean, folder, "hospital", notes=15)
    assert (refused.value.code, refused.value.ref) == (Code.ARCHIVE_BROKEN, role)
    assert clean.deliveries("hospital") == []


def test_a_full_disk_says_so_whoever_writes(clean, folder, monkeypatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(files_of_archive.sqlite3, "connect", full)
    assert code_of(lambda: prepare(clean, folder, "hospital", notes=15)) is Code.FEED_WRITE


def test_a_feed_s_folder_that_is_mounted_read_only_says_so(clean, folder, monkeypatch) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as mounted:
        mounted.setattr(Path, "mkdir", read_only)
        assert code_of(lambda: prepare(clean, folder, "hospital", notes=15)) is Code.FEED_WRITE
    found = prepare(clean, folder, "hospital", notes=15)
    monkeypatch.setattr(Path, "mkdir", read_only)
    assert prepare(clean, folder, "hospital", notes=15).parts == found.parts  # what is split asks for nothing more


def test_nothing_of_an_archive_is_processed_before_what_it_withdraws_is_hidden(clean, folder, run, monkeypatch) -> None:
    def unreachable(*_: object, **__: object) -> int:
        raise DeidError(Code.WAREHOUSE_STATEMENT)

    job = Job(run)
    monkeypatch.setitem(sys.modules, "deid_platform.main_job.command", job)
    with monkeypatch.context() as patched:
        patched.setattr(withdraw, "withdraw", unreachable)
        ended = deid("archive", str(folder), "--feed", "hospital", "--notes", "40")
    assert ended.returncode != 0
    assert "warehouse-statement" in ended.stderr
    assert job.ran == []


def test_whoever_withdraws_while_an_archive_is_loaded_is_hidden_before_its_next_delivery(
    clean, folder, monkeypatch
) -> None:
    to_be_hidden = []

    def arrives(_: Delivery) -> None:
        to_be_hidden.append(withdraw.withdraw_arrived(clean).keys)
        if len(to_be_hidden) == 1:
            later = root_of(clean) / "2026-02-02"
            later.mkdir()
            (later / "withdrawn.csv").write_text("patient_id\np99\n")

    monkeypatch.setitem(sys.modules, "deid_platform.main_job.command", Job(arrives))
    ended = deid("archive", str(folder), "--feed", "hospital", "--notes", "40")
    assert ended.returncode == 0, ended.stderr
    assert to_be_hidden == [0, 0]


def test_only_tables_are_split(clean, folder) -> None:
    feed = clean.feed("hospital").model_copy(update={"format": "hl7"})
    other = type(clean)(clean.settings.model_copy(update={"feeds": {"hospital": feed}}))
    assert code_of(lambda: prepare(other, folder, "hospital", notes=9)) is Code.ARCHIVE_FORMAT


def test_the_time_left_is_told_from_what_was_refreshed() -> None:
    parts = {Delivery("hospital", f"20251231T000{n}"): 100 for n in range(4)}
    now = [0.0]
    pace = Pace(parts, [*parts][1:], clock=lambda: now[0])
    assert str(pace) == "1 of 4 deliveries, 100 of 400 notes"
    now[0] = 3_600.0
    pace.through(pace.due[0], promoted=True)
    assert str(pace) == "2 of 4 deliveries, 200 of 400 notes; about 2 h 00 min left"
    now[0] = 7_200.0
    pace.through(pace.due[1], promoted=False)
    assert str(pace) == "2 of 4 deliveries, 200 of 400 notes; 1 failed; about 1 h 00 min left"


class Job:
    """Stands for the main job: runs a delivery without Dagster, and is asked to stop before one of them."""

    def __init__(self, run: Callable[[Delivery], None], *, stop_before: int | None = None) -> None:
        self.ran: list[str] = []
        self._run, self._stop_before = run, stop_before

    def refresh_deliveries(self, *_: object, only: str | None, **__: object) -> list[object]:
        if only is None:
            return []
        if len(self.ran) == self._stop_before:
            signal.raise_signal(signal.SIGTERM)
        self.ran.append(only)
        self._run(Delivery.parse(only))
        return []

    def load_job(self, _: Path) -> None:
        """Nothing to load."""


def test_a_paused_archive_goes_on_and_analysts_see_nothing_of_it_until_all_is_there(
    clean, folder, run, monkeypatch
) -> None:
    command = ("archive", str(folder), "--feed", "hospital", "--notes", "40")

    def shown() -> int:
        with clean.warehouse.begin(Role.DEMO_ANALYST) as connection:
            return connection.exec_driver_sql("SELECT count(*) FROM research.notes").scalar_one()

    job = Job(run, stop_before=1)
    monkeypatch.setitem(sys.modules, "deid_platform.main_job.command", job)
    paused = deid(*command)
    assert paused.returncode == 143
    first, second = (part.key for part in clean.deliveries("hospital"))
    assert job.ran == [first]
    assert "paused; the same command continues from here" in paused.stderr
    assert "hospital@2025-12-31: 0 of 2 deliveries, 0 of 61 notes" in paused.stderr
    assert re.search(r"1 of 2 deliveries, \d+ of 61 notes; about \d+ min left", paused.stderr)
    told = re.compile(r"hospital@2025-12-31: 1 of 2 deliveries promoted, \d+ of 61 notes")
    # A narrow terminal breaks the line.
    assert told.search(deid("summary", "--json").stdout)
    assert told.search(" ".join(deid("doctor").stdout.split()))
    assert release_summary(clean).release is None
    assert shown() == 0

    job = Job(run)
    monkeypatch.setitem(sys.modules, "deid_platform.main_job.command", job)
    done = deid(*command)
    assert done.returncode == 0, done.stderr
    assert job.ran == [second]
    assert "2 of 2 deliveries, 61 of 61 notes" in done.stderr
    assert under_way(clean) == []
    assert "archive under way" not in deid("summary").stdout
    assert shown() == 59  # one is withdrawn
