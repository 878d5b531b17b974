"""A refresh of an installation whose notes are kept on a server that speaks S3, killed once and run again.

The steps of the main job, without Dagster and dbt. `pytest -rP` shows how many requests they make.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import crash_scene
import pytest
from s3_server import Request, S3Server

from deid_platform import doctor
from deid_platform.errors import Code, DeidError
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import sealing
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.connection import Warehouse

pytestmark = [pytest.mark.process, pytest.mark.slow]

SCENE = Path(crash_scene.__file__).parent
KILLED_IN = "hospital@2026-01-12"
REFRESH = f"""
import sys
sys.path += [{str(SCENE)!r}, {str(SCENE.parent)!r}]
from pathlib import Path
import crash_scene
crash_scene.refresh(Path(sys.argv[1]), None, lambda step: None)
"""


@pytest.fixture(scope="module")
def config(
    warehouse: Warehouse, s3: S3Server, tmp_path_factory: pytest.TempPathFactory, monkeypatch_module: pytest.MonkeyPatch
) -> Path:
    """An installation with three deliveries that keeps its notes in a bucket."""
    config = crash_scene.make_installation(tmp_path_factory.mktemp("s3") / "installation", detector="ensemble")
    s3.bucket("notes")
    with config.open("a") as settings:
        settings.write(f'[store]\nuri = "s3://notes/north/store"\nendpoint = "http://{s3.host}"\n')
    monkeypatch_module.setenv("DEID_WAREHOUSE_URL", warehouse.admin_engine().url.render_as_string(hide_password=False))
    return config


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DEID_SECRET_FILE", "DEID_CONFIG"):
            patch.delenv(name, raising=False)
        patch.setenv("DEID_SECRET", "7f1c9be04d3a5862e7b0914fd2c68a35")
        yield patch


def test_killed_as_it_seals_a_delivery_it_completes_and_no_note_lies_elsewhere(config: Path, s3: S3Server) -> None:
    with subprocess.Popen([sys.executable, "-c", REFRESH, str(config)]) as process:

        def kill(request: Request) -> None:
            if request[0] == "PUT" and request[1].endswith(f"{tables.REDACTED_NOTES}/{KILLED_IN}/manifest.json"):
                process.kill()

        s3.on_request = kill
        process.wait()
    s3.on_request = lambda _: None
    assert process.returncode == -signal.SIGKILL

    site, entered = Site(load_settings(config)), list[str]()
    at = len(s3.requests)
    crash_scene.refresh(config, KILLED_IN, entered.append)
    made = Counter(method for method, _ in s3.requests[at:])
    steps = len(entered) // len(crash_scene.STEPS)
    print(f"{made.total()} requests for {steps} deliveries: {made}")  # noqa: T201 - a figure of docs/installation.md

    # The newest version of each note but those that were withdrawn or are held back, each once.
    keys = {site.note_key("hospital", f"n{number}"): number for number in range(81)}
    shown = {keys[key]: text for key, text in crash_scene.shown(site.warehouse)}
    gone = {3, 8, 1, 70} | set(range(4, 60, 5))
    assert set(shown) == {*range(61), 71, 80} - gone
    assert {text.split()[1] for number, text in shown.items() if number in range(2, 12, 2)} == {"2"}
    assert shown[0].startswith("Version 3")

    here = [path.name for path in (config.parent / "home" / "store").rglob("*") if path.is_file()]
    assert sorted(here) == ["heads.json", "installation"]
    (found,) = (diagnosis for diagnosis in doctor.examine(config) if diagnosis.subject == "note store")
    assert found.good
    assert found.detail.startswith("s3://notes/north/store over http, on this machine")


def test_a_second_installation_on_the_same_bucket_refreshes_nothing(config: Path, s3: S3Server, tmp_path: Path) -> None:
    second = tmp_path / "deid.toml"
    text = config.read_text().replace('home = "home"', f'home = "{tmp_path / "home"}"')
    second.write_text(text.replace('path = "deliveries"', f'path = "{config.parent / "deliveries"}"'))
    site = Site(load_settings(second))
    at = len(s3.requests)
    (delivery, *_) = site.deliveries()
    with pytest.raises(DeidError) as error:  # what a refresh writes first
        sealing.take_in_topic(site.reader(delivery.feed), delivery, "patients", store=site.store)
    assert error.value.code is Code.STORE_TAKEN
    assert {method for method, _ in s3.requests[at:]} <= {"GET", "HEAD"}
    (found,) = (diagnosis for diagnosis in doctor.examine(second) if diagnosis.subject == "note store")
    assert not found.good
    assert found.detail.startswith(Code.STORE_TAKEN.slug)


def test_a_server_that_is_gone_is_told_by_a_code(config: Path, tmp_path: Path) -> None:
    gone = tmp_path / "deid.toml"
    lines = config.read_text().splitlines()
    away = ['endpoint = "http://127.0.0.1:9"' if line.startswith("endpoint") else line for line in lines]
    gone.write_text("\n".join(away))
    (found,) = (diagnosis for diagnosis in doctor.examine(gone) if diagnosis.subject == "note store")
    assert not found.good
    assert found.detail.startswith(f"{Code.STORE_UNREACHABLE.slug} [NETWORK_CONNECTION]")
