"""Installations that are struck down and run again, and the process from which the runs to be killed are forked."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))

import crash_scene
import loops

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.connection import Warehouse

SECRET = "7f1c9be04d3a5862e7b0914fd2c68a35"


@dataclass
class Installation:
    """One installation under test, with what it takes to refresh it in a process of its own."""

    config: Path
    environment: dict[str, str]
    zygote: subprocess.Popen[str]
    stopped: str | None = None
    """The delivery in which the last refresh was struck, as Dagster's event log would tell."""
    struck: list[str] = field(default_factory=list)

    def refresh(self, **order: Any) -> dict[str, Any]:
        """One refresh, struck as `order` says (see `crash_zygote`); returns how it ended."""
        assert self.zygote.stdin is not None
        assert self.zygote.stdout is not None
        said = {"config": str(self.config), "environment": self.environment, "stopped": self.stopped, **order}
        self.zygote.stdin.write(json.dumps(said) + "\n")
        self.zygote.stdin.flush()
        ended: dict[str, Any] = json.loads(self.zygote.stdout.readline())
        if ended["outcome"] == "done":
            self.stopped = None
        elif ended["step"]:
            self.stopped = ended["step"].split()[0]
            self.struck.append(ended["step"].split()[1])
        return ended

    def picture(self) -> dict[str, Any]:
        return crash_scene.picture(self.config)


@pytest.fixture(scope="session")
def detector(sampling: loops.Sampling) -> str:
    """That of the installations with a database: the default one, or in a sample its rules alone.

    A kill comes between statements and files, and the network has none: without it a refresh takes half the time.
    """
    return "ensemble" if sampling.everything else "rules"


@pytest.fixture(scope="session")
def zygote(detector: str) -> Iterator[subprocess.Popen[str]]:
    program = Path(__file__).parent / "crash_zygote.py"
    # Only a process without threads may be forked.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, str(program), detector],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """Random, and yet the same at each run with the same DEID_TEST_SEED."""
    return loops.dice(request.node.name)


@pytest.fixture
def one_delivery(tmp_path: Path, zygote: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> Installation:
    """An installation without a database that has taken in a delivery of 45 notes."""
    monkeypatch.delenv("DEID_SECRET_FILE", raising=False)
    monkeypatch.setenv("DEID_SECRET", SECRET)
    write(HospitalSpec(notes=45, deliveries=1), feed_root=tmp_path / "deliveries", gold_root=tmp_path / "gold")
    config = tmp_path / "deid.toml"
    config.write_text(
        'site = "north"\nprofile = "demo"\nhome = "home"\n[feeds.hospital]\npath = "deliveries"\n'
        '[detection]\ndetector = "patterns"\n'
    )
    site = Site(load_settings(config))
    (delivery,) = site.deliveries()
    crash_scene.take_in_topics(site, delivery)
    crash_scene.take_in_notes(site, delivery)
    site.recipe(delivery)  # chooses the words in force, so that the places are those of detection and redaction
    return Installation(config, {"DEID_SECRET": SECRET}, zygote)


@pytest.fixture(scope="session")
def installed(
    tmp_path_factory: pytest.TempPathFactory, zygote: subprocess.Popen[str], detector: str
) -> Callable[[Warehouse], AbstractContextManager[Installation]]:
    """Makes an installation on a database."""

    @contextmanager
    def make(warehouse: Warehouse) -> Iterator[Installation]:
        url = warehouse.admin_engine().url.render_as_string(hide_password=False)
        passwords = {name: value for name, value in os.environ.items() if name.startswith("DEID_PASSWORD_")}
        environment = {"DEID_SECRET": SECRET, "DEID_WAREHOUSE_URL": url, **passwords}
        config = crash_scene.make_installation(tmp_path_factory.mktemp("crash") / "installation", detector=detector)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("DEID_SECRET_FILE", "DEID_CONFIG"):
                patch.delenv(name, raising=False)
            for name, value in environment.items():
                patch.setenv(name, value)
            yield Installation(config, environment, zygote)

    return make


@pytest.fixture(scope="session")
def new_installation(
    installed: Callable[[Warehouse], AbstractContextManager[Installation]],
    fresh_database: Callable[[], AbstractContextManager[Warehouse]],
) -> Callable[[], AbstractContextManager[Installation]]:
    """Makes an installation with a database of its own, on the suite's server."""

    @contextmanager
    def make() -> Iterator[Installation]:
        with fresh_database() as warehouse, installed(warehouse) as installation:
            yield installation

    return make


@pytest.fixture(scope="session")
def reference(new_installation: Callable[[], AbstractContextManager[Installation]]) -> dict[str, Any]:
    """A refresh that nothing disturbed: what it left, what it showed, its seconds and its places to strike."""
    with new_installation() as undisturbed:
        ended = undisturbed.refresh()
        assert ended["outcome"] == "done", ended
        picture = undisturbed.picture()
        ever_shown = crash_scene.ever_shown(undisturbed.config)
    assert picture["due"] == []
    assert "Version 1 of note 60. Keeps [PATIENT] with care." in {text for _, text in picture["shown"]}
    assert any("quarantined" in row for row in picture["tables"]["research.held"])
    return {"picture": picture, "ever_shown": ever_shown, "seconds": ended["seconds"], "places": ended["places"]}
