"""Files that nobody touched are not read again, and whatever may have changed is."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from opened import opened_under

from deid_platform.corpora import Reason, file_states, files
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats.delimited import Tables
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.intake import file_digests, sealing
from deid_platform.refresh.intake.file_digests import SETTLED_NS, forget_files, known_files_digests
from deid_platform.store import NoteStore

DAY = Delivery("ehr", "2026-01-05")
NOTES = "notes-Quillfeather.jsonl"
NOTE = '{"note_id": "n1", "text": "Seen today."}\n'
KEYRING = Keyring(hashlib.sha256(b"known files").digest(), site="north")
BOTH = [NOTES, "patients.csv"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A delivery of two files."""
    folder = tmp_path / "feed" / DAY.watermark
    folder.mkdir(parents=True)
    (folder / NOTES).write_text(NOTE)
    (folder / "patients.csv").write_text("patient_id,last_name\np1,Quillfeather\n")
    return folder


@pytest.fixture
def feed(folder: Path) -> FilesFeed:
    return FilesFeed(DAY.feed, folder.parent)


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path / "store", KEYRING)


@pytest.fixture(autouse=True)
def believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the tests run on: what it says is believed."""
    monkeypatch.setattr(file_states, "_file_systems", lambda: {tmp_path.stat().st_dev: "ext4 /dev/vda"})


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the clock by which files are read, in ns from now."""

    def by(ns: int) -> None:
        monkeypatch.setattr(file_digests, "time_ns", lambda: time.time_ns() + ns)

    return by


@pytest.fixture
def settled(wait: Callable[[int], None]) -> None:
    """The files were written more than an hour ago, as far as anybody can tell."""
    wait(SETTLED_NS + 10**9)


def look(feed: FilesFeed, store: NoteStore, exclusions: Exclusions | None = None) -> tuple[str, list[str]]:
    """The digest, and the names of the feed's files that were opened for it."""
    with opened_under(feed.root) as opened:
        (digest,) = known_files_digests(
            feed, DAY, store=store, keyrings=[KEYRING], exclusions=exclusions or Exclusions()
        )
    return digest, sorted(opened)


def read(feed: FilesFeed, exclusions: Exclusions | None = None) -> str:
    """The digest of what is there."""
    return sealing.files_digest(feed, DAY, KEYRING, exclusions or Exclusions())


@pytest.mark.usefixtures("settled")
def test_files_that_nobody_touched_are_read_once(feed, store, tmp_path) -> None:
    assert look(feed, store) == (read(feed), BOTH)
    assert look(feed, store) == (read(feed), [])
    # By another process too.
    assert look(FilesFeed(DAY.feed, feed.root), NoteStore(tmp_path / "store", KEYRING)) == (read(feed), [])


@pytest.mark.usefixtures("settled")
def test_files_are_read_once_for_all_secrets(feed, store) -> None:
    former = Keyring(hashlib.sha256(b"the former secret").digest(), site="north")
    for opened in (BOTH, []):
        with opened_under(feed.root) as files:
            digests = known_files_digests(feed, DAY, store=store, keyrings=[KEYRING, former], exclusions=Exclusions())
        assert digests == [sealing.files_digest(feed, DAY, ring, Exclusions()) for ring in (KEYRING, former)]
        assert sorted(files) == opened
    # One who does not know the former secret cannot take the current one's digest for granted.
    assert look(feed, store) == (read(feed), BOTH)


@pytest.mark.usefixtures("settled")
def test_no_name_of_a_file_and_no_digest_without_the_secret_is_kept(feed, store, tmp_path) -> None:
    look(feed, store)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    assert b"files_digest" in kept
    assert b"uillfeather" not in kept
    plain = [hashlib.sha256((feed.root / DAY.watermark / name).read_bytes()).hexdigest() for name in BOTH]
    (rows,) = store.rows(tables.FILES_DIGEST, DAY.key)
    assert not {feed.fingerprint(DAY), *plain} & {rows["digest"]}
    assert not any(digest.encode() in kept for digest in (feed.fingerprint(DAY), *plain))


# What changes


def rewritten(path: Path) -> None:
    before = path.stat()
    path.write_text(path.read_text().replace("n1", "n2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path) -> None:
    before = path.stat()
    other = path.with_name("other.tmp")
    other.write_text(path.read_text().replace("n1", "n2"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(path)


def restored(path: Path) -> None:
    before = path.stat()
    other = path.with_name("other.tmp")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(path)


def appended(path: Path) -> None:
    with path.open("a") as file:
        file.write(NOTE.replace("n1", "n2"))


def one_more(path: Path) -> None:
    path.with_name("withdrawn.csv").write_text("note_id\nn1\n")


def one_less(path: Path) -> None:
    path.unlink()


def of_another_role(path: Path) -> None:
    path.rename(path.with_name("providers.jsonl"))


def linked(path: Path) -> None:
    before = path.stat()
    elsewhere = path.parents[2] / "elsewhere.jsonl"
    elsewhere.write_text(path.read_text().replace("n1", "n2"))
    os.utime(elsewhere, ns=(before.st_atime_ns, before.st_mtime_ns))
    path.unlink()
    path.symlink_to(elsewhere)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", [rewritten, replaced, appended, one_more, one_less, of_another_role])
def test_a_change_is_noticed_with_whatever_size_and_time(feed, store, folder, change) -> None:
    before, _ = look(feed, store)
    change(folder / NOTES)
    digest, opened = look(feed, store)
    assert digest == read(feed) != before
    assert set(opened) >= {"patients.csv"}
    assert look(feed, store) == (digest, [])


@pytest.mark.usefixtures("settled")
def test_what_a_link_leads_to_is_noticed_where_links_are_followed_and_never_read_elsewhere(feed, store, folder) -> None:
    followed = replace(feed, follow_links=True)
    before, _ = look(followed, store)
    linked(folder / NOTES)
    digest, opened = look(followed, store)
    assert digest == read(followed) != before
    assert set(opened) >= {"patients.csv"}
    assert look(followed, store) == (digest, [])
    for _ in range(2):  # a link is nothing that the file system is believed about
        digest, opened = look(feed, store)
        assert (digest, opened) == (read(feed), ["patients.csv"])


@pytest.mark.parametrize("change", [rewritten, replaced])
def test_those_changes_leave_size_and_time_as_they_were(folder, change) -> None:
    before = (folder / NOTES).stat()
    change(folder / NOTES)
    after = (folder / NOTES).stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


@pytest.mark.usefixtures("settled")
def test_what_was_restored_from_a_backup_is_read_once_and_is_the_same(feed, store, folder) -> None:
    before, _ = look(feed, store)
    restored(folder / NOTES)
    assert look(feed, store) == (before, BOTH)
    assert look(feed, store) == (before, [])


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("number", ["st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev"])
def test_each_number_of_the_file_system_has_to_be_the_same(feed, store, folder, monkeypatch, number) -> None:
    look(feed, store)
    stat = Path.stat
    names = ("st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev")

    def other(path: Path, **given: bool) -> object:
        found = stat(path, **given)
        if path != folder / NOTES:
            return found
        numbers = {name: getattr(found, name) for name in names}
        return SimpleNamespace(**numbers | {number: numbers[number] - 1})

    systems = dict.fromkeys((folder.stat().st_dev, folder.stat().st_dev - 1), "ext4 /dev/vda")
    monkeypatch.setattr(file_states, "_file_systems", lambda: systems)
    monkeypatch.setattr(Path, "stat", other)
    assert look(feed, store)[1] == BOTH


@pytest.mark.usefixtures("settled")
def test_the_same_numbers_on_another_file_system_are_read(feed, store, folder, monkeypatch) -> None:
    look(feed, store)
    monkeypatch.setattr(file_states, "_file_systems", lambda: {folder.stat().st_dev: "nfs4 files:/export"})
    assert look(feed, store) == (read(feed), BOTH)


@pytest.mark.usefixtures("settled")
def test_what_is_excluded_is_part_of_it(feed, store) -> None:
    excluded = Exclusions(patients=frozenset({"p1"}))
    look(feed, store)
    assert look(feed, store, excluded) == (read(feed, excluded), BOTH)


@dataclass(frozen=True)
class ByName(Tables):
    """Tables whose rows follow from the names of their files."""

    names_tell: ClassVar[bool] = True


@pytest.mark.usefixtures("settled")
def test_what_was_read_without_names_is_not_believed_where_names_tell(feed, store) -> None:
    other = replace(feed, file_format=ByName())
    assert read(other) != read(feed)
    look(feed, store)
    assert look(other, store) == (read(other), BOTH)
    assert look(other, store) == (read(other), [])


# When it is believed


def test_what_changed_within_the_hour_is_read_each_time(feed, store, wait) -> None:
    for _ in range(2):
        assert look(feed, store) == (read(feed), BOTH)
    wait(SETTLED_NS - 60 * 10**9)
    assert look(feed, store) == (read(feed), BOTH)
    # What was read then is not believed later: a write at the time of the one before it shows in no time.
    wait(SETTLED_NS + 10**9)
    assert look(feed, store) == (read(feed), BOTH)
    assert look(feed, store) == (read(feed), [])


def test_once_the_clock_is_set_back_everything_is_read(feed, store, wait) -> None:
    wait(SETTLED_NS + 10**9)
    look(feed, store)
    wait(-SETTLED_NS)
    assert look(feed, store) == (read(feed), BOTH)


@pytest.mark.usefixtures("settled")
def test_a_change_while_it_is_read_is_noticed_the_next_time(feed, store, folder, monkeypatch) -> None:
    before = FilesFeed.fingerprint

    def meanwhile(self: FilesFeed, *given: object, **named: object) -> str:
        found = before(self, *given, **named)
        rewritten(folder / NOTES)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(FilesFeed, "fingerprint", meanwhile)
        first, _ = look(feed, store)
    assert look(feed, store) == (read(feed), BOTH)
    assert read(feed) != first


@pytest.mark.usefixtures("settled")
def test_what_could_not_be_read_to_its_end_is_read_again(feed, store, monkeypatch) -> None:
    def failing(path: Path, compression: str | None) -> Iterator[bytes]:
        yield NOTE[:9].encode()
        raise BrokenFileError(Reason.UNREADABLE_FILE)

    with monkeypatch.context() as patch:
        patch.setattr(files, "chunks", failing)
        first, _ = look(feed, store)
    assert look(feed, store) == (read(feed), BOTH)
    assert read(feed) != first


@pytest.mark.usefixtures("settled")
def test_what_is_no_plain_file_is_asked_each_time(feed, store, folder) -> None:
    (folder / "notes-folder.parquet").mkdir()
    for _ in range(2):
        assert look(feed, store) == (read(feed), BOTH)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    ("line", "is_believed"),
    [
        ("27 1 {device} / / rw,relatime - ext4 /dev/vda rw,discard", True),
        ("27 1 {device} /export /mnt/my\\040feed rw shared:7 master:1 - nfs4 files:/export rw,vers=4.2", True),
        ("27 1 {device} / /data rw,noatime - xfs /dev/mapper/a-b rw", True),
        ("27 1 {device} / / rw,relatime,lazytime - ext4 /dev/vda rw", False),
        ("27 1 {device} / / rw - ext4 /dev/vda rw,lazytime", False),
        ("27 1 {device} / /mnt/share rw - cifs //files/share rw", False),
        ("27 1 {device} / /tmp rw - tmpfs tmpfs rw", False),
        ("27 1 {device} / / rw - overlay overlay rw,lowerdir=/ext4", False),
        ("27 1 0:99 / / rw - ext4 /dev/vda rw", False),
        ("", False),
        (None, False),
    ],
)
def test_only_some_file_systems_are_believed(feed, tmp_path, monkeypatch, line, is_believed) -> None:
    monkeypatch.undo()
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(file_states, "_MOUNTS", mounts)
    if line is not None:
        mounts.write_text(line.format(device=f"{os.major(device)}:{os.minor(device)}") + "\n")
    assert (feed.states(DAY) is not None) == is_believed


def test_states_show_no_name_and_want_a_delivery_that_is_there(feed) -> None:
    assert "uillfeather" not in repr(feed.states(DAY))
    for absent in (Delivery(DAY.feed, "1999-12-31"), Delivery("other", DAY.watermark)):
        with pytest.raises(DeidError) as refused:
            feed.states(absent)
        assert refused.value.code is Code.FEED_UNREADABLE


# What is kept


def torn(folder: Path) -> None:
    (part,) = folder.glob("part-*")
    part.write_bytes(part.read_bytes()[:-8])


def garbage(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"parts": ')


def lost(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("harm", [torn, garbage, lost])
def test_what_is_kept_and_harmed_costs_reading_once(feed, store, tmp_path, harm) -> None:
    look(feed, store)
    harm(tmp_path / "store" / tables.FILES_DIGEST / DAY.key)
    assert look(feed, store) == (read(feed), BOTH)
    assert look(feed, store) == (read(feed), [])


@pytest.mark.usefixtures("settled")
def test_an_older_one_that_is_put_back_is_not_believed(feed, store, folder, tmp_path) -> None:
    kept = tmp_path / "store" / tables.FILES_DIGEST / DAY.key
    look(feed, store)
    before = {path: path.read_bytes() for path in kept.iterdir()}
    rewritten(folder / NOTES)
    look(feed, store)
    for path, raw in before.items():
        path.write_bytes(raw)
    assert look(feed, store) == (read(feed), BOTH)


@pytest.mark.usefixtures("settled")
def test_a_store_that_cannot_be_written_costs_reading(feed, store, monkeypatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise DeidError(Code.STORE_WRITE, tables.FILES_DIGEST)

    monkeypatch.setattr(NoteStore, "write", full)
    for _ in range(2):
        assert look(feed, store) == (read(feed), BOTH)


@pytest.mark.usefixtures("settled")
def test_another_process_that_looks_meanwhile_costs_nothing_but_time(
    feed, store, folder, tmp_path, monkeypatch
) -> None:
    before = FilesFeed.fingerprint
    other = NoteStore(tmp_path / "store", KEYRING)
    inside: list[str] = []

    def meanwhile(self: FilesFeed, *given: object, **named: object) -> str:
        found = before(self, *given, **named)
        if not inside:
            inside.append("once")
            rewritten(folder / NOTES)
            inside.append(look(feed, other)[0])
        return found

    with monkeypatch.context() as patch:
        patch.setattr(FilesFeed, "fingerprint", meanwhile)
        first, _ = look(feed, store)
    # The older one did not write over the newer one.
    assert look(feed, store) == (read(feed), [])
    assert read(feed) == inside[1] != first


@pytest.mark.usefixtures("settled")
def test_many_at_once_all_hear_the_same(feed, tmp_path) -> None:
    def ask(_: int) -> str:
        at = NoteStore(tmp_path / "store", KEYRING)
        return known_files_digests(feed, DAY, store=at, keyrings=[KEYRING], exclusions=Exclusions())[0]

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(24))) == {read(feed)}
    assert look(feed, NoteStore(tmp_path / "store", KEYRING)) == (read(feed), [])


@pytest.mark.usefixtures("settled")
def test_what_is_forgotten_is_read_once_more(feed, store) -> None:
    forget_files(store, [DAY])
    assert store.partitions(tables.FILES_DIGEST) == [], "what is not kept needs no forgetting"
    look(feed, store)
    forget_files(store, [Delivery(DAY.feed, "2026-01-06")])
    assert look(feed, store)[1] == []
    forget_files(store, [DAY])
    assert look(feed, store) == (read(feed), BOTH)
    assert look(feed, store) == (read(feed), [])


# Intake


@pytest.mark.usefixtures("settled")
def test_intake_reads_whatever_is_kept(feed, store, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(file_digests, "files_digests", lambda *_, **__: ["of other files"])
        look(feed, store)
    assert look(feed, store) == ("of other files", [])
    for name in tables.TOPICS:
        sealing.take_in_topic(feed, DAY, name, store=store)
    with opened_under(feed.root) as opened:
        sealing.take_in_notes(feed, DAY, store=store, keyring=KEYRING, exclusions=Exclusions())
    assert opened.count(NOTES) == 2, "for the digest, then for its rows"
    assert "patients.csv" in opened
    assert store.required(tables.RAW_NOTES, DAY.key).meta["files"] == read(feed)
