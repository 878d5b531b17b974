"""The note store: atomic, sealed, private."""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import resource
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.store import HEADS, MANIFEST, UNFINISHED, NoteStore
from deid_platform.store.heads import Heads

SECRET, OTHER = hashlib.sha256(b"one").digest(), hashlib.sha256(b"another").digest()
DATASET, PARTITION = "source/raw_notes", "hospital@2026-01-05"


@pytest.fixture
def keyring() -> Keyring:
    return Keyring(SECRET, site="here")


@pytest.fixture
def store(tmp_path: Path, keyring: Keyring) -> NoteStore:
    return NoteStore(tmp_path / "store", keyring)


def table(*texts: str) -> pa.Table:
    return pa.table({"text": list(texts)})


def test_what_was_written_is_read_back_in_order(store: NoteStore) -> None:
    manifest = store.write(DATASET, PARTITION, [table("a", "b"), table("c")], meta=lambda: {"notes": 3})
    assert manifest.rows == 3
    assert [row["text"] for row in store.rows(DATASET, PARTITION)] == ["a", "b", "c"]
    assert store.manifest(DATASET, PARTITION) == manifest
    assert store.partitions(DATASET) == [PARTITION]


def test_an_unwritten_partition_has_no_manifest_and_cannot_be_read(store: NoteStore) -> None:
    assert store.manifest(DATASET, PARTITION) is None
    assert store.partitions(DATASET) == []
    with pytest.raises(DeidError) as error:
        store.rows(DATASET, PARTITION)
    assert error.value.code is Code.NOT_MATERIALIZED


def test_a_torn_write_is_invisible_and_swept_by_the_next(store: NoteStore, tmp_path: Path) -> None:
    store.write(DATASET, PARTITION, [table("old")])

    def torn():
        yield table("new")
        raise OSError(28, "No space left on device")

    with pytest.raises(DeidError) as error:
        store.write(DATASET, PARTITION, torn())
    assert error.value.code is Code.STORE_WRITE
    assert [row["text"] for row in store.rows(DATASET, PARTITION)] == ["old"]

    folder = tmp_path / "store" / DATASET / PARTITION
    (folder / "part-orphan.parquet").write_bytes(b"half")
    assert [row["text"] for row in store.rows(DATASET, PARTITION)] == ["old"]
    for path in folder.iterdir():
        os.utime(path, times=(0, 0))
    store.write(DATASET, PARTITION, [table("new")])
    assert len(list(folder.iterdir())) == 2


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """What a full disk does to a writer, for this process alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Gives the store to root, who lets others read; changing modes back is then as impossible as writing."""
    user = os.geteuid()
    if os.getuid() != 0:
        pytest.skip("NOT RUN: only root can give files away")

    def give(to: int, folders: int, files: int) -> None:
        os.seteuid(0)
        for path in [root, *root.rglob("*")]:
            os.chown(path, to, to)
            path.chmod(folders if path.is_dir() else files)
        os.seteuid(user)

    give(0, 0o755, 0o644)
    try:
        yield
    finally:
        give(user, 0o700, 0o600)


@pytest.fixture
def somebody() -> Iterator[Path]:
    """A folder of a user for whom permissions count: nobody, if it is root who runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="deid-store-"))
    root = os.geteuid() == 0
    if root:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        os.seteuid(nobody.pw_uid)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        shutil.rmtree(folder)


LARGE = table(*(secrets.token_hex(1000) for _ in range(100)))
FULL: Callable[[Path], AbstractContextManager[None]] = lambda _: no_file_larger_than(20_000)  # noqa: E731


@pytest.mark.parametrize(
    ("trouble", "tables", "counts"),
    [
        (FULL, [LARGE], 0),
        (FULL, [table("new"), LARGE], 0),
        (FULL, [table("new")], 5000),
        (read_only, [table("new")], 0),
    ],
    ids=["full at the first part", "full at a later part", "full at the manifest", "read-only"],
)
def test_a_store_that_cannot_be_written_keeps_what_it_had_and_can_be_written_again(
    somebody: Path,
    keyring: Keyring,
    trouble: Callable[[Path], AbstractContextManager[None]],
    tables: list[pa.Table],
    counts: int,
) -> None:
    root = somebody / "store"
    store = NoteStore(root, keyring)
    store.write(DATASET, PARTITION, [table("old")])
    before = sorted(root.rglob("*"))
    with trouble(root), pytest.raises(DeidError) as error:
        store.write(DATASET, PARTITION, tables, meta=lambda: {"counts": list(range(counts))})
    assert error.value.code is Code.STORE_WRITE
    assert sorted(root.rglob("*")) == before, "half a part is left behind"
    assert [row["text"] for row in store.rows(DATASET, PARTITION)] == ["old"]
    store.write(DATASET, PARTITION, tables)
    assert store.required(DATASET, PARTITION).rows == sum(each.num_rows for each in tables)


def test_a_write_that_fails_for_another_reason_leaves_no_notes_behind(store: NoteStore, tmp_path: Path) -> None:
    def failing() -> Iterator[pa.Table]:
        yield table("new")
        raise DeidError(Code.DETECTOR_FAILED)

    with pytest.raises(DeidError) as error:
        store.write(DATASET, PARTITION, failing())
    assert error.value.code is Code.DETECTOR_FAILED
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file()]


def test_a_reader_of_the_moment_before_keeps_its_parts(store: NoteStore) -> None:
    store.write(DATASET, PARTITION, [table("a"), table("b")])
    reading = store.read(DATASET, PARTITION)
    next(reading)
    store.write(DATASET, PARTITION, [table("new")])
    assert next(reading).to_pydict() == {"text": ["b"]}


@pytest.mark.parametrize(
    "damage", ["part-truncated", "part-swapped", "part-missing", "manifest-edited", "manifest-cut"]
)
def test_anything_but_what_was_sealed_is_refused(store: NoteStore, tmp_path: Path, damage: str) -> None:
    store.write(DATASET, PARTITION, [table("a"), table("b")], meta=lambda: {"notes": 2})
    folder = tmp_path / "store" / DATASET / PARTITION
    first, second = sorted(folder.glob("part-*"))
    manifest = folder / MANIFEST
    match damage:
        case "part-truncated":
            first.write_bytes(first.read_bytes()[:-1])
        case "part-swapped":
            first.write_bytes(second.read_bytes())
        case "part-missing":
            first.unlink()
        case "manifest-edited":
            document = json.loads(manifest.read_text())
            document["meta"]["notes"] = 1
            manifest.write_text(json.dumps(document))
        case "manifest-cut":
            manifest.write_bytes(manifest.read_bytes()[:40])
    with pytest.raises(DeidError) as error:
        store.rows(DATASET, PARTITION)
    assert error.value.code is Code.STORE_TORN


def test_a_manifest_copied_to_another_partition_is_refused(store: NoteStore, tmp_path: Path) -> None:
    store.write(DATASET, PARTITION, [table("a")])
    folder = tmp_path / "store" / DATASET
    (folder / PARTITION).rename(folder / "hospital@2026-01-12")
    with pytest.raises(DeidError) as error:
        store.manifest(DATASET, "hospital@2026-01-12")
    assert error.value.code is Code.STORE_TORN


def test_another_secret_cannot_open_the_store(store: NoteStore, tmp_path: Path) -> None:
    store.write(DATASET, PARTITION, [table("a")])
    other = NoteStore(tmp_path / "store", Keyring(OTHER, site="here"))
    with pytest.raises(DeidError) as error:
        other.rows(DATASET, PARTITION)
    assert error.value.code is Code.STORE_TORN


def test_files_and_folders_are_private(store: NoteStore, tmp_path: Path) -> None:
    store.write(DATASET, PARTITION, [table("a")])
    for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path.name


@pytest.mark.parametrize(("dataset", "partition"), [("../etc", "x"), ("source", ".."), ("source", "a/b"), ("S", "x")])
def test_names_cannot_leave_the_root(store: NoteStore, dataset: str, partition: str) -> None:
    with pytest.raises(DeidError):
        store.write(dataset, partition, [table("a")])


def test_digests_of_equal_content_differ_between_sites(tmp_path: Path) -> None:
    digests = {Keyring(SECRET, site=site).digest("Stable. Follow up.") for site in ("north", "south")} | {
        Keyring(OTHER, site="north").digest("Stable. Follow up.")
    }
    assert len(digests) == 3


def put_back(folder: Path, kept: Path) -> None:
    """A partition's folder as it was when it was kept."""
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)


def assert_rolled_back(store: NoteStore, partition: str = PARTITION) -> None:
    for read in (store.manifest, store.rows):
        with pytest.raises(DeidError) as error:
            read(DATASET, partition)
        assert error.value.code is Code.STORE_ROLLED_BACK


def test_a_partition_that_was_put_back_whole_is_refused_until_it_is_written_again(
    store: NoteStore, tmp_path: Path, keyring: Keyring
) -> None:
    folder = tmp_path / "store" / DATASET / PARTITION
    store.write(DATASET, "hospital@2026-01-12", [table("beside")])
    for generation, text in enumerate(("first", "second", "third"), 1):
        assert store.write(DATASET, PARTITION, [table(text)]).generation == generation
        shutil.copytree(folder, tmp_path / text)
    for kept in ("first", "second"):
        put_back(folder, tmp_path / kept)
        assert_rolled_back(store)
        assert_rolled_back(NoteStore(tmp_path / "store", keyring))  # another process
    put_back(folder, tmp_path / "third")
    assert store.rows(DATASET, PARTITION) == [{"text": "third"}]
    put_back(folder, tmp_path / "first")
    store.write(DATASET, PARTITION, [table("fourth")])
    assert store.rows(DATASET, PARTITION) == [{"text": "fourth"}]
    assert store.rows(DATASET, "hospital@2026-01-12") == [{"text": "beside"}]
    put_back(folder, tmp_path / "third")
    assert_rolled_back(store)


def test_several_partitions_put_back_are_each_refused(store: NoteStore, tmp_path: Path) -> None:
    names = ["hospital@2026-01-05", "hospital@2026-01-12"]
    for name in names:
        store.write(DATASET, name, [table("old")])
    shutil.copytree(tmp_path / "store" / DATASET, tmp_path / "kept")
    for name in names:
        store.write(DATASET, name, [table("new")])
    put_back(tmp_path / "store" / DATASET, tmp_path / "kept")
    for name in names:
        assert_rolled_back(store, name)


def test_a_restored_backup_is_read_once_somebody_answers_for_it(store: NoteStore, tmp_path: Path) -> None:
    folder = tmp_path / "store" / DATASET / PARTITION
    store.write(DATASET, PARTITION, [table("old")])
    shutil.copytree(folder, tmp_path / "kept")
    store.write(DATASET, PARTITION, [table("new")])
    put_back(folder, tmp_path / "kept")
    assert store.accept() == 1
    assert store.rows(DATASET, PARTITION) == [{"text": "old"}]
    assert store.write(DATASET, PARTITION, [table("newer")]).generation == 2


@pytest.mark.parametrize("damage", ["gone", "cut", "edited", "put back"])
def test_a_record_that_is_not_the_newest_lets_nothing_be_read_or_written(
    store: NoteStore, tmp_path: Path, damage: str
) -> None:
    record = tmp_path / "store" / HEADS
    store.write(DATASET, PARTITION, [table("old")])
    kept = record.read_bytes()
    for text in ("new", "newer"):
        store.write(DATASET, PARTITION, [table(text)])
    match damage:
        case "gone":
            record.unlink()
        case "cut":
            record.write_bytes(kept[:40])
        case "edited":
            record.write_bytes(record.read_bytes().replace(b"[3,", b"[4,"))
        case "put back":
            record.write_bytes(kept)
    assert_rolled_back(store)
    if damage != "put back":  # a write makes a record of its partition whatever is there
        with pytest.raises(DeidError) as error:
            store.write(DATASET, "hospital@2026-01-12", [table("beside")])
        assert error.value.code is Code.STORE_ROLLED_BACK
    store.accept()
    assert store.rows(DATASET, PARTITION) == [{"text": "newer"}]


class Killed(BaseException):
    """Stands for the end of the process: nothing handles it."""


def test_a_kill_between_the_manifest_and_its_record_loses_nothing_and_accuses_nobody(
    store: NoteStore, tmp_path: Path, keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, record = tmp_path / "store" / DATASET / PARTITION, tmp_path / "store" / HEADS
    store.write(DATASET, PARTITION, [table("old")])
    shutil.copytree(folder, tmp_path / "kept")
    recorded = record.read_bytes()
    for again in (False, True):
        # What a kill leaves: the new manifest in its place, and the record of the one before.
        store.write(DATASET, PARTITION, [table(f"new {again}")])
        record.write_bytes(recorded)
        reader = NoteStore(tmp_path / "store", keyring)
        if again:
            reader.write(DATASET, PARTITION, [table("newest")])
            assert reader.rows(DATASET, PARTITION) == [{"text": "newest"}]
        else:
            assert reader.rows(DATASET, PARTITION) == [{"text": "new False"}]
            recorded = record.read_bytes()
        # Read or written once, it is recorded: what was there before is no longer taken.
        shutil.copytree(folder, tmp_path / f"kept {again}")
        put_back(folder, tmp_path / "kept")
        assert_rolled_back(reader)
        put_back(folder, tmp_path / f"kept {again}")


@pytest.mark.parametrize("step", ["_prepare", "replace"])
def test_a_write_that_is_killed_at_any_step_of_its_record_can_be_read_and_written(
    store: NoteStore, tmp_path: Path, keyring: Keyring, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    store.write(DATASET, PARTITION, [table("old")])

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(*((Heads, "_prepare") if step == "_prepare" else (Path, "replace")), killed)
        store.write(DATASET, PARTITION, [table("new")])
    after = NoteStore(tmp_path / "store", keyring)
    assert after.rows(DATASET, PARTITION) == [{"text": "old" if step == "_prepare" else "new"}]
    after.write(DATASET, PARTITION, [table("newer")])
    assert after.rows(DATASET, PARTITION) == [{"text": "newer"}]


def test_a_store_of_before_there_was_a_record_is_read_and_recorded_as_it_is_written(
    store: NoteStore, tmp_path: Path, keyring: Keyring
) -> None:
    for name in (PARTITION, "hospital@2026-01-12"):
        store.write(DATASET, name, [table("old")])
        manifest = tmp_path / "store" / DATASET / name / MANIFEST
        document = json.loads(manifest.read_text())
        del document["seal"], document["generation"]
        seal = keyring.digest("manifest", json.dumps(document, sort_keys=True))
        manifest.write_text(json.dumps({**document, "seal": seal}))
    (tmp_path / "store" / HEADS).unlink()
    folder = tmp_path / "store" / DATASET / PARTITION
    shutil.copytree(folder, tmp_path / "kept")
    former = NoteStore(tmp_path / "store", keyring)
    assert former.rows(DATASET, PARTITION) == [{"text": "old"}]
    former.write(DATASET, PARTITION, [table("new")])
    assert former.rows(DATASET, "hospital@2026-01-12") == [{"text": "old"}]
    put_back(folder, tmp_path / "kept")
    assert_rolled_back(former)


def test_writers_of_one_store_at_once_lose_no_record(tmp_path: Path, keyring: Keyring) -> None:
    stores = [NoteStore(tmp_path / "store", keyring) for _ in range(4)]

    def write(number: int) -> None:
        for text in ("a", "b", "c"):
            stores[number].write(DATASET, f"hospital@{number}", [table(text)])
            assert stores[number - 1].partitions(DATASET)

    with ThreadPoolExecutor(len(stores)) as threads:
        list(threads.map(write, range(len(stores))))
    reader = NoteStore(tmp_path / "store", keyring)
    assert [reader.required(DATASET, f"hospital@{number}").generation for number in range(4)] == [3] * 4


def test_a_reader_beside_a_writer_is_never_told_that_something_was_put_back(tmp_path: Path, keyring: Keyring) -> None:
    writer, reader = (NoteStore(tmp_path / "store", keyring) for _ in range(2))
    writer.write(DATASET, PARTITION, [table("0")])
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(lambda: [writer.write(DATASET, PARTITION, [table(str(i))]) for i in range(40)])
        while not writing.done():
            assert reader.required(DATASET, PARTITION).rows == 1
        writing.result()


def test_a_secret_that_was_changed_opens_the_record_of_the_former_one(store: NoteStore, tmp_path: Path) -> None:
    store.write(DATASET, PARTITION, [table("old")])
    changed = NoteStore(tmp_path / "store", Keyring(OTHER, site="here"), Keyring(SECRET, site="here"))
    assert changed.rows(DATASET, PARTITION) == [{"text": "old"}]
    assert changed.write(DATASET, PARTITION, [table("new")]).generation == 2


PARTS = ["a", "b", "c", "d"]


def killed_after(store: NoteStore, parts: int) -> None:
    """A write of `PARTS` whose process ends once so many of them are written."""

    def tables() -> Iterator[pa.Table]:
        yield from (table(text, text) for text in PARTS[:parts])
        raise Killed

    with pytest.raises(Killed):
        store.write(DATASET, PARTITION, tables(), resumable=True)


def left(store: NoteStore) -> str:
    """What can be taken over of a write that did not come to its end."""
    return "".join(each["text"][0].as_py() for each in store.unfinished(DATASET, PARTITION))


def test_of_a_write_that_was_killed_whole_parts_can_be_taken_over_and_are_no_partition(
    store: NoteStore, tmp_path: Path, keyring: Keyring
) -> None:
    folder = tmp_path / "store" / DATASET / PARTITION
    store.write(DATASET, PARTITION, [table("old")])
    assert left(store) == ""
    killed_after(store, 3)
    assert store.rows(DATASET, PARTITION) == [{"text": "old"}]
    assert left(NoteStore(tmp_path / "store", keyring)) == "abc"
    # Killed again, and earlier: what the first one had beyond that is still there, each part once.
    for parts in (1, 0, 2):
        killed_after(store, parts)
        assert left(store) == "abc"
    assert len(list(folder.glob("part-*"))) == 1 + 3
    store.write(DATASET, PARTITION, [table("new")], resumable=True)
    assert left(store) == ""
    assert not (folder / UNFINISHED).exists()
    assert store.rows(DATASET, PARTITION) == [{"text": "new"}]


def aged(folder: Path) -> set[str]:
    """Makes all files of a folder old enough to go; their names."""
    for path in folder.iterdir():
        os.utime(path, times=(0, 0))
    return {path.name for path in folder.iterdir()}


def test_former_parts_go_from_a_partition_that_is_never_written_again(store: NoteStore, tmp_path: Path) -> None:
    folder = tmp_path / "store" / DATASET / PARTITION
    store.write(DATASET, PARTITION, [table("former")])
    former = {path.name for path in folder.glob("part-*")}
    store.write(DATASET, PARTITION, [table("old")])
    store.sweep()
    assert former < {path.name for path in folder.iterdir()}, "a reader may still be at it"
    before = aged(folder)
    store.sweep()
    assert {path.name for path in folder.iterdir()} == before - former
    assert store.rows(DATASET, PARTITION) == [{"text": "old"}]


def test_a_write_that_may_be_resumed_and_a_partition_that_is_not_as_it_was_sealed_are_left(
    store: NoteStore, tmp_path: Path
) -> None:
    folder = tmp_path / "store" / DATASET / PARTITION
    store.write(DATASET, PARTITION, [table("old")])
    killed_after(store, 3)
    aged(folder)
    store.sweep()
    assert left(store) == "abc"
    assert store.rows(DATASET, PARTITION) == [{"text": "old"}]
    (folder / MANIFEST).write_text((folder / MANIFEST).read_text().replace('"rows": 1', '"rows": 2'))
    before = aged(folder)
    store.sweep()
    assert {path.name for path in folder.iterdir()} == before


def test_a_write_that_fails_keeps_its_whole_parts_for_the_next(somebody: Path, keyring: Keyring) -> None:
    store = NoteStore(somebody / "store", keyring)
    with no_file_larger_than(20_000), pytest.raises(DeidError) as error:
        store.write(DATASET, PARTITION, [table("a"), table("b"), LARGE], resumable=True)
    assert error.value.code is Code.STORE_WRITE
    assert left(store) == "ab"
    kept = [path.name for path in (somebody / "store" / DATASET / PARTITION).iterdir()]
    assert sorted(name.partition("-")[0] for name in kept) == ["part", "part", UNFINISHED]


@pytest.mark.parametrize(
    ("damage", "kept"),
    [("part-edited", "ac"), ("part-missing", "ac"), ("list-edited", ""), ("list-cut", ""), ("list-elsewhere", "")],
)
def test_only_what_was_sealed_is_taken_over_and_the_write_goes_on(
    store: NoteStore, tmp_path: Path, damage: str, kept: str
) -> None:
    killed_after(store, 3)
    folder = tmp_path / "store" / DATASET / PARTITION
    record = folder / UNFINISHED
    second = folder / json.loads(record.read_text())["parts"][1]["name"]
    match damage:
        case "part-edited":
            second.write_bytes(second.read_bytes()[:-1] + b"x")
        case "part-missing":
            second.unlink()
        case "list-edited":
            record.write_text(record.read_text().replace(second.name, "../../other"))
        case "list-cut":
            record.write_bytes(record.read_bytes()[:40])
        case "list-elsewhere":
            folder.rename(folder.with_name("hospital@2026-01-12"))
            assert list(store.unfinished(DATASET, "hospital@2026-01-12")) == []
    assert left(store) == kept
    store.write(DATASET, PARTITION, [table("new")], resumable=True)
    assert store.rows(DATASET, PARTITION) == [{"text": "new"}]


@pytest.mark.parametrize("manifest", ["kept", "put back", "gone"])
def test_a_list_of_before_the_last_write_is_none_whatever_is_put_back_with_it(
    store: NoteStore, tmp_path: Path, manifest: str
) -> None:
    folder = tmp_path / "store" / DATASET / PARTITION
    store.write(DATASET, PARTITION, [table("old")])
    killed_after(store, 2)
    shutil.copytree(folder, tmp_path / "kept")
    store.write(DATASET, PARTITION, [table("new")], resumable=True)
    for path in (tmp_path / "kept").iterdir():
        if path.name != MANIFEST or manifest == "put back":
            shutil.copy(path, folder)
    if manifest == "gone":
        (folder / MANIFEST).unlink()
    assert left(store) == ""
    store.write(DATASET, PARTITION, [table("newer")], resumable=True)
    assert store.rows(DATASET, PARTITION) == [{"text": "newer"}]


def test_a_list_in_the_place_of_a_manifest_is_no_manifest(store: NoteStore, tmp_path: Path) -> None:
    killed_after(store, 2)
    folder = tmp_path / "store" / DATASET / PARTITION
    (folder / UNFINISHED).rename(folder / MANIFEST)
    with pytest.raises(DeidError) as error:
        store.manifest(DATASET, PARTITION)
    assert error.value.code is Code.STORE_TORN


def test_another_secret_takes_over_nothing(store: NoteStore, tmp_path: Path) -> None:
    killed_after(store, 2)
    other = NoteStore(tmp_path / "store", Keyring(OTHER, site="here"), Keyring(SECRET, site="here"))
    assert left(other) == ""


def test_temporary_files_of_notes_lie_beside_the_record_where_the_store_is_elsewhere(
    tmp_path: Path, keyring: Keyring
) -> None:
    elsewhere = NoteStore("mock:///store", keyring, record=tmp_path / "record")
    assert elsewhere.spool == tmp_path / "record"
    assert stat.S_IMODE(elsewhere.spool.stat().st_mode) == 0o700
