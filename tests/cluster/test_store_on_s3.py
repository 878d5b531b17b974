"""The note store on an S3-compatible server that the tests start: what a folder promises, it promises too."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pytest
from s3_server import S3Server

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import sealing
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.settings import load_settings
from deid_platform.store import HEADS, MANIFEST, Location, NoteStore

pytestmark = [pytest.mark.process, pytest.mark.slow]

DATASET, PARTITION = "source/raw_notes", "hospital@2026-01-05"
KEYRING = Keyring(hashlib.sha256(b"one").digest(), site="north")


@pytest.fixture
def location(s3: S3Server, tmp_path: Path) -> Location:
    """A bucket of its own."""
    bucket = hashlib.sha256(str(tmp_path).encode()).hexdigest()[:32]
    s3.bucket(bucket)
    return Location(f"s3://{bucket}/north/store", endpoint=f"http://{s3.host}")


@pytest.fixture
def store(location: Location, tmp_path: Path) -> NoteStore:
    return NoteStore(location, KEYRING, record=tmp_path / "record")


def table(text: str) -> pa.Table:
    return pa.table({"text": [text]})


def objects(location: Location) -> dict[str, bytes]:
    """All that lies in the store."""
    files, root = location.opened()
    found = files.get_file_info(pafs.FileSelector(root, recursive=True, allow_not_found=True))
    return {it.path: files.open_input_stream(it.path).read() for it in found if it.type == pafs.FileType.File}


def put(location: Location, path: str, raw: bytes) -> None:
    with location.opened()[0].open_output_stream(path) as stream:
        stream.write(raw)


def refused(store: NoteStore) -> Code:
    with pytest.raises(DeidError) as error:
        store.rows(DATASET, PARTITION)
    return error.value.code


def denied(attempt: Callable[[], object]) -> Code:
    with pytest.raises(DeidError) as error:
        attempt()
    return error.value.code


def test_what_was_written_is_read_back_by_another_process(store: NoteStore, location: Location, tmp_path: Path) -> None:
    for text in ("old", "new"):
        store.write(DATASET, PARTITION, [table(text), table("more")])
    again = NoteStore(location, KEYRING, record=tmp_path / "record")
    assert [row["text"] for row in again.rows(DATASET, PARTITION)] == ["new", "more"]
    assert again.required(DATASET, PARTITION).generation == 2
    assert again.partitions(DATASET) == [PARTITION]


def test_a_write_that_ends_early_is_invisible_and_resumed(store: NoteStore) -> None:
    class Killed(BaseException):
        """Nothing handles it."""

    def tables() -> Iterator[pa.Table]:
        yield table("whole")
        raise Killed

    store.write(DATASET, PARTITION, [table("old")])
    with pytest.raises(Killed):
        store.write(DATASET, PARTITION, tables(), resumable=True)
    assert store.rows(DATASET, PARTITION) == [{"text": "old"}]
    assert [each.to_pylist() for each in store.unfinished(DATASET, PARTITION)] == [[{"text": "whole"}]]
    store.write(DATASET, PARTITION, [table("new")], resumable=True)
    assert store.rows(DATASET, PARTITION) == [{"text": "new"}]
    assert list(store.unfinished(DATASET, PARTITION)) == []


def test_who_keeps_the_bucket_can_neither_edit_nor_put_back_a_partition(store: NoteStore, location: Location) -> None:
    store.write(DATASET, PARTITION, [table("old")])
    kept = objects(location)
    store.write(DATASET, PARTITION, [table("new")])
    new = {path: raw for path, raw in objects(location).items() if path not in kept}
    (manifest,) = (path for path in kept if path.endswith(MANIFEST))
    newest = objects(location)[manifest]
    for path, raw in kept.items():
        put(location, path, raw)
    assert refused(store) is Code.STORE_ROLLED_BACK
    put(location, manifest, newest)
    assert store.rows(DATASET, PARTITION) == [{"text": "new"}]
    for path, raw in new.items():
        put(location, path, raw[:-1] + b"x")
    assert refused(store) is Code.STORE_TORN


def test_a_second_installation_reads_and_writes_nothing_until_it_takes_the_place_of_the_first(
    store: NoteStore, location: Location, tmp_path: Path
) -> None:
    store.write(DATASET, PARTITION, [table("a")])
    with pytest.raises(DeidError) as error:
        NoteStore(location, KEYRING)
    assert error.value.code is Code.SETTINGS_INVALID
    other = Keyring(hashlib.sha256(b"two").digest(), site="north")
    before = objects(location)
    for ring, unread in ((KEYRING, Code.STORE_ROLLED_BACK), (other, Code.STORE_TORN)):
        second = NoteStore(location, ring, record=tmp_path / "second")
        assert refused(second) is unread
        assert denied(lambda it=second: it.write(DATASET, PARTITION, [table("b")], resumable=True)) is Code.STORE_TAKEN
        assert denied(lambda it=second: it.write(DATASET, "new", [table("b")])) is Code.STORE_TAKEN
        assert denied(second.sweep) is Code.STORE_TAKEN
        assert denied(second.probe) is Code.STORE_TAKEN
    assert objects(location) == before
    second = NoteStore(location, KEYRING, record=tmp_path / "second")
    assert second.accept() == 1
    second.write(DATASET, PARTITION, [table("b")])
    assert second.rows(DATASET, PARTITION) == [{"text": "b"}]
    assert denied(lambda: store.write(DATASET, PARTITION, [table("c")])) is Code.STORE_TAKEN


def test_an_installation_that_is_replaced_in_the_middle_of_a_write_seals_nothing(
    store: NoteStore, location: Location, tmp_path: Path
) -> None:
    store.write(DATASET, PARTITION, [table("a")])
    second = NoteStore(location, KEYRING, record=tmp_path / "second")

    def tables() -> Iterator[pa.Table]:
        yield table("b")
        second.accept()

    assert denied(lambda: store.write(DATASET, PARTITION, tables())) is Code.STORE_TAKEN
    assert second.rows(DATASET, PARTITION) == [{"text": "a"}]


def test_a_store_that_was_copied_from_a_folder_is_taken_over_by_whoever_answers_for_it(
    location: Location, tmp_path: Path
) -> None:
    folder = tmp_path / "store"
    NoteStore(folder, KEYRING).write(DATASET, PARTITION, [table("a")])
    for path in (path for path in folder.rglob("*") if path.is_file() and path.name != HEADS):
        put(location, f"{location.uri.removeprefix('s3://')}/{path.relative_to(folder)}", path.read_bytes())
    moved = NoteStore(location, KEYRING, record=folder)
    assert denied(lambda: moved.write(DATASET, PARTITION, [table("b")])) is Code.STORE_TAKEN
    assert moved.accept() == 1
    assert moved.rows(DATASET, PARTITION) == [{"text": "a"}]
    moved.write(DATASET, PARTITION, [table("b")])
    assert moved.rows(DATASET, PARTITION) == [{"text": "b"}]


def test_what_lies_there_already_is_never_written_to(store: NoteStore, location: Location) -> None:
    put(location, f"{location.uri.removeprefix('s3://')}/holidays.jpg", b"no note")
    before = objects(location)
    assert denied(lambda: store.write(DATASET, PARTITION, [table("a")])) is Code.STORE_TAKEN
    assert objects(location) == before


def test_a_bucket_that_anybody_may_read_holds_no_note(s3: S3Server, store: NoteStore, location: Location) -> None:
    s3.open = True
    try:
        assert denied(lambda: store.write(DATASET, PARTITION, [table("a")])) is Code.STORE_PUBLIC
        assert denied(store.probe) is Code.STORE_PUBLIC
    finally:
        s3.open = False
    assert objects(location) == {}
    store.probe()
    assert objects(location) == {}
    store.write(DATASET, PARTITION, [table("a")])


@pytest.mark.parametrize("place", ["nobody", "no bucket"])
def test_a_place_that_does_not_answer_is_told_by_a_code(s3: S3Server, tmp_path: Path, place: str) -> None:
    host = "127.0.0.1:9" if place == "nobody" else s3.host
    store = NoteStore(Location("s3://nowhere/store", endpoint=f"http://{host}"), KEYRING, record=tmp_path)
    for attempt in (lambda: store.write(DATASET, PARTITION, [table("a")]), store.sweep, store.accept, store.probe):
        with pytest.raises(DeidError) as error:
            attempt()
        said = "NETWORK_CONNECTION" if place == "nobody" else "NO_SUCH_BUCKET"
        assert (error.value.code, error.value.ref) == (Code.STORE_UNREACHABLE, said)


def test_a_server_that_is_named_by_the_environment_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://objects.example")
    assert denied(Location("s3://bucket/store").opened) is Code.SETTINGS_INVALID


def test_a_delivery_is_redacted_as_in_a_folder(
    store: NoteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEID_SECRET_FILE", raising=False)
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"one").hexdigest())
    write(HospitalSpec(notes=20, deliveries=1), feed_root=tmp_path / "deliveries", gold_root=tmp_path / "gold")
    config = tmp_path / "deid.toml"
    config.write_text('site = "north"\nprofile = "demo"\nhome = "home"\n[feeds.hospital]\npath = "deliveries"\n')
    site = Site(load_settings(config))
    (delivery,) = site.deliveries()
    recipe = Recipe(DetectorSpec("patterns", topics=Topics()), load_policy("safe_harbor"), KEYRING)
    rows = []
    for where in (store, NoteStore(tmp_path / "folder", KEYRING)):
        reader = site.reader("hospital")
        sealing.take_in_notes(reader, delivery, store=where, keyring=KEYRING, exclusions=site.exclusions)
        deidentify(delivery, store=where, recipe=recipe, engine=LocalEngine())
        rows.append(where.rows(tables.REDACTED_NOTES, delivery.key))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 20
