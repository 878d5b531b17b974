"""What `deid refresh` does with storage, with a small job in the place of the main one.

Where that of Dagster cannot be written, and where it is to read all files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest
from rich.console import Console
from sqlalchemy import Engine, event

from deid_platform.errors import Code, DeidError
from deid_platform.main_job.command import Refreshed, refresh_deliveries
from deid_platform.notes import Delivery
from deid_platform.orchestration.instance import prepare_instance
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

DELIVERY = Delivery("hospital", "2026-01-05")


class Disk:
    """The disk under Dagster's SQLite files: once it is full, none of them gets another page."""

    full = False

    def limit(self, connection: object, _: object) -> None:
        if self.full and isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA max_page_count = 1")  # that is, as many as there are


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    event.listen(Engine, "connect", disk.limit)
    yield disk
    event.remove(Engine, "connect", disk.limit)


@pytest.fixture(scope="module")
def config(installation: Path) -> Iterator[Path]:
    folder = installation.parent / "deliveries" / DELIVERY.watermark
    folder.mkdir()
    (folder / "notes.jsonl").write_text('{"note_id": "1", "text": "Well."}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", "")  # prepare_instance sets it; the monkeypatch puts it back
        prepare_instance(load_settings(installation), installation)
        yield installation


def refresh(config: Path, disk: Disk, *, fills: bool = False, reread: bool = False) -> list[Refreshed]:
    """One refresh by a job in the middle of which the disk is full, if it fills."""

    @dg.asset(partitions_def=dg.DynamicPartitionsDefinition(name="delivery"))
    def only() -> dg.MaterializeResult[None]:
        disk.full = disk.full or fills
        return dg.MaterializeResult(metadata={"large": "x" * 100_000})

    job = dg.define_asset_job("refresh", executor_def=dg.in_process_executor)
    definition = dg.Definitions(assets=[only], jobs=[job]).resolve_job_def("refresh")
    quiet = Console(quiet=True)
    return refresh_deliveries(
        definition, config, feed=None, only=DELIVERY.key, force=True, reread=reread, console=quiet
    )


@pytest.mark.parametrize("when", ["before it begins", "in the middle"])
def test_a_full_disk_has_a_code_and_once_there_is_room_the_next_refresh_ends_well(
    config: Path, disk: Disk, when: str
) -> None:
    disk.full = when == "before it begins"
    with pytest.raises(DeidError) as refused:
        refresh(config, disk, fills=True)
    assert refused.value.code is Code.INSTANCE_WRITE
    disk.full = False
    assert refresh(config, disk, fills=False) == [Refreshed(DELIVERY)]


@pytest.mark.parametrize("reread", [False, True])
def test_what_is_known_of_files_is_forgotten_where_they_are_to_be_read(config: Path, disk: Disk, reread: bool) -> None:
    store = Site(load_settings(config)).store
    store.write(tables.FILES_DIGEST, DELIVERY.key, [pa.table({"digest": ["of before"]})])
    assert refresh(config, disk, reread=reread) == [Refreshed(DELIVERY)]
    assert store.rows(tables.FILES_DIGEST, DELIVERY.key) == ([] if reread else [{"digest": "of before"}])
