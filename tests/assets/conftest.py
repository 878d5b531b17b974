"""The platform's definitions on an empty installation, an instance of their own, and a Dagster that really runs."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import dagster as dg
import pytest
from dagster_server import Start, servers
from desk_browser import browser, tab

from deid_platform.settings import load_settings

__all__ = ["browser", "tab"]


@pytest.fixture(scope="module")
def definitions(started_before: Path) -> dg.Definitions:
    from deid_platform.definitions import build_defs

    return build_defs(config=started_before)


@pytest.fixture(scope="session")
def instances() -> Iterator[ExitStack]:
    # Kept open to the end: Dagster remembers the last instance, and stumbles over one that is gone.
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def instance(instances: ExitStack, tmp_path: Path) -> dg.DagsterInstance:
    return instances.enter_context(dg.DagsterInstance.local_temp(str(tmp_path)))


@pytest.fixture(scope="module")
def arrive(installation: Path) -> Callable[..., None]:
    """Writes a delivery folder with these notes, patients and withdrawals."""

    def write(watermark: str, notes: list[dict], patients: str = "", withdrawn: str = "") -> None:
        settings = load_settings(installation)
        folder = settings.path(settings.feeds["hospital"].path) / watermark
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
        if patients:
            (folder / "patients.csv").write_text(patients)
        if withdrawn:
            (folder / "withdrawn.csv").write_text(withdrawn)

    return write


@pytest.fixture(scope="session")
def open_to_others() -> Callable[[Path], dict[str, str]]:
    """What lies under a folder, itself included, for more than its owner, with its mode."""

    def found(folder: Path) -> dict[str, str]:
        modes = {}
        for path in (folder, *folder.rglob("*")):
            with suppress(FileNotFoundError):  # a server's journal comes and goes
                modes[str(path.relative_to(folder))] = stat.S_IMODE(path.lstat().st_mode)
        assert modes
        return {name: oct(mode) for name, mode in modes.items() if mode & 0o077}

    return found


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts a server of Dagster's in a session of its own, which ends with the module."""
    with servers(tmp_path_factory.mktemp("servers")) as started:
        yield started
