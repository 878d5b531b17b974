"""The note store on an S3-compatible server that the tests start: what a folder promises, it promises too."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pytest
from moto.server import ThreadedMotoServer

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.detection import DetectorSpec
from deid_platform.engine import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.refresh import intake, tables
from deid_platform.refresh.deidentify import deidentify
from deid_platform.refresh.recipe import Recipe
from deid_platform.refresh.site import Site
from deid_platform.settings import load_settings
from deid_platform.store import MANIFEST, NoteStore

pytestmark = [pytest.mark.process, pytest.mark.slow]

DATASET, PARTITION = "source/raw_notes", "hospital@2026-01-05"
KEYRING = Keyring(hashlib.sha256(b"one").digest(), site="north")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Host and port, as a URI writes them."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield f"127.0.0.1%3A{server.get_host_and_port()[1]}"
    server.stop()


@pytest.fixture
def uri(server: str, tmp_path: Path) -> str:
    """A bucket of its own."""
    bucket = hashlib.sha256(str(tmp_path).encode()).hexdigest()[:32]
    there = f"scheme=http&region=us-east-1&endpoint_override={server}&allow_bucket_creation=true"
    pafs.FileSystem.from_uri(f"s3://key:secret@{bucket}?{there}")[0].create_dir(bucket)
    return f"s3://key:secret@{bucket}/store?{there}"


@pytest.fixture
def store(uri: str, tmp_path: Path) -> NoteStore:
    return NoteStore(uri, KEYRING, record=tmp_path / "record")


def table(text: str) -> pa.Table:
    return pa.table({"text": [text]})


def objects(uri: str) -> dict[str, bytes]:
    """All that lies in the bucket."""
    files, root = pafs.FileSystem.from_uri(uri)
    found = files.get_file_info(pafs.FileSelector(root, recursive=True, allow_not_found=True))
    return {it.path: files.open_input_stream(it.path).read() for it in found if it.type == pafs.FileType.File}


def put(uri: str, path: str, raw: bytes) -> None:
    with pafs.FileSystem.from_uri(uri)[0].open_output_stream(path) as stream:
        stream.write(raw)


def refused(store: NoteStore) -> Code:
    with pytest.raises(DeidError) as error:
        store.rows(DATASET, PARTITION)
    return error.value.code


def test_what_was_written_is_read_back_by_another_process(store: NoteStore, uri: str, tmp_path: Path) -> None:
    for text in ("old", "new"):
        store.write(DATASET, PARTITION, [table(text), table("more")])
    again = NoteStore(uri, KEYRING, record=tmp_path / "record")
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


def test_who_keeps_the_bucket_can_neither_edit_nor_put_back_a_partition(store: NoteStore, uri: str) -> None:
    store.write(DATASET, PARTITION, [table("old")])
    kept = objects(uri)
    store.write(DATASET, PARTITION, [table("new")])
    new = {path: raw for path, raw in objects(uri).items() if path not in kept}
    (manifest,) = (path for path in kept if path.endswith(MANIFEST))
    newest = objects(uri)[manifest]
    for path, raw in kept.items():
        put(uri, path, raw)
    assert refused(store) is Code.STORE_ROLLED_BACK
    put(uri, manifest, newest)
    assert store.rows(DATASET, PARTITION) == [{"text": "new"}]
    for path, raw in new.items():
        put(uri, path, raw[:-1] + b"x")
    assert refused(store) is Code.STORE_TORN


def test_without_the_record_of_this_machine_nothing_is_read_until_somebody_answers_for_it(
    store: NoteStore, uri: str, tmp_path: Path
) -> None:
    store.write(DATASET, PARTITION, [table("a")])
    with pytest.raises(DeidError) as error:
        NoteStore(uri, KEYRING)
    assert error.value.code is Code.SETTINGS_INVALID
    elsewhere = NoteStore(uri, KEYRING, record=tmp_path / "elsewhere")
    assert refused(elsewhere) is Code.STORE_ROLLED_BACK
    assert elsewhere.accept() == 1
    assert elsewhere.rows(DATASET, PARTITION) == [{"text": "a"}]


def test_a_server_that_is_gone_is_an_error_of_writing(tmp_path: Path) -> None:
    nobody = "s3://key:secret@bucket/store?scheme=http&region=us-east-1&endpoint_override=127.0.0.1%3A9"
    with pytest.raises(DeidError) as error:
        NoteStore(nobody, KEYRING, record=tmp_path).write(DATASET, PARTITION, [table("a")])
    assert error.value.code is Code.STORE_WRITE


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
        intake.take_in_notes(reader, delivery, store=where, keyring=KEYRING, exclusions=site.exclusions)
        deidentify(delivery, store=where, recipe=recipe, engine=LocalEngine())
        rows.append(where.rows(tables.REDACTED_NOTES, delivery.key))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 20
