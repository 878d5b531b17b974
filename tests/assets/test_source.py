"""What the assets of the source refuse before they read a byte."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
import pytest
from command_line import deid

from assets.layer import DELIVERIES
from assets.source import ASSETS
from deid_platform.errors import Code
from resources import SiteResource


@pytest.fixture
def installation_of_real_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with an embedded server and a feed of real notes."""
    for name in ("DEID_SECRET", "DEID_SECRET_FILE", "DEID_WAREHOUSE_URL"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "deid.toml"
    config.write_text('site = "north"\nprofile = "demo"\nhome = "home"\n[feeds.ehr]\npath = "deliveries"\n')
    folder = tmp_path / "deliveries" / "2026-01-05"
    folder.mkdir(parents=True)
    (folder / "notes.csv").write_text("note_id,text\nn1,Seen.\n")
    (folder / "patients.csv").write_text("patient_id,last_name\np1,Quillfeather\n")
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "secret").write_text(os.urandom(32).hex())
    (tmp_path / "home" / "secret").chmod(0o600)
    return config


def test_the_embedded_server_s_refusal_of_real_notes_comes_before_a_byte_is_read(
    installation_of_real_notes: Path,
) -> None:
    config = installation_of_real_notes
    files = sorted((config.parent / "deliveries").rglob("*.csv"))
    for path in files:
        os.utime(path, (1, path.stat().st_mtime))
    for selection in (ASSETS[:-1], ASSETS[-1:]):
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions(DELIVERIES.name, ["ehr@2026-01-05"])
            result = dg.materialize(
                ASSETS,
                selection=selection,
                partition_key="ehr@2026-01-05",
                instance=instance,
                resources={"site": SiteResource(config=str(config))},
                raise_on_error=False,
            )
        failures = [event.step_failure_data for event in result.all_events if event.is_step_failure]
        assert len(failures) == len(selection)
        assert all(Code.FEED_NOT_DEMONSTRATION.slug in str(it.user_failure_data.description) for it in failures)
    assert [path.stat().st_atime for path in files] == [1, 1]
    assert not list((config.parent / "home").rglob("*.parquet"))


def test_an_archive_of_real_notes_is_not_split_for_the_embedded_server(installation_of_real_notes: Path) -> None:
    config = installation_of_real_notes
    ended = deid("archive", str(config.parent / "2026-01-06"), "--feed", "ehr", "--config", str(config))
    assert (ended.returncode, Code.FEED_NOT_DEMONSTRATION.slug in ended.stderr) == (1, True), ended.stderr
