"""The platform's definitions on an empty installation, and an instance of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import dagster as dg
import pytest

from deid_platform.settings import load_settings


@pytest.fixture(scope="module")
def definitions(installation: Path) -> dg.Definitions:
    from deid_platform.definitions import build_defs

    return build_defs(config=installation)


@pytest.fixture(scope="session")
def instances() -> Iterator[ExitStack]:
    # Kept open to the end: Dagster remembers the last instance, and stumbles over one that is gone.
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def instance(instances: ExitStack, tmp_path: Path) -> dg.DagsterInstance:
    return instances.enter_context(dg.DagsterInstance.local_temp(str(tmp_path)))


@pytest.fixture
def arrive(installation: Path) -> Callable[..., None]:
    """Writes a delivery folder with these notes and patients."""

    def write(watermark: str, notes: list[dict], patients: str = "") -> None:
        settings = load_settings(installation)
        folder = settings.path(settings.feeds["hospital"].path) / watermark
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
        if patients:
            (folder / "patients.csv").write_text(patients)

    return write
