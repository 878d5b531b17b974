"""Commands for a first look: demo, and workspace, for `dagster dev` where there is no checkout.

Belongs here: which steps the demonstration has, and what it writes into an empty folder. Does not belong here: the
steps (`operate.py`, `database.py`).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from deid_platform.cli.database import db_bootstrap
from deid_platform.cli.operate import DEMONSTRATION_NOTES, hospital, refresh
from deid_platform.cli.terminal import Config, needs, say
from deid_platform.errors import Code, DeidError
from deid_platform.extras import PLATFORM
from deid_platform.orchestration.code_location import FOLDER


def demo(
    notes: Annotated[
        int, typer.Option(min=60, help="Notes over both deliveries; of fewer, too few are measured to promote them.")
    ] = DEMONSTRATION_NOTES,
    config: Config = None,
) -> None:
    """Show the platform on a synthetic hospital: two deliveries, one release in an embedded PostgreSQL.

    Where no deid.toml is found, that of the demonstration is written into this folder, with the files that
    `dagster dev` reads. All else goes into its home, `.deid`. Run again, it costs only what changed.
    """
    needs(PLATFORM)
    from deid_platform.settings import load_settings

    path = _settings(config)
    if load_settings(path).profile != "demo":
        raise DeidError(Code.SETTINGS_INVALID, "profile")
    hospital(notes, config=path)
    db_bootstrap(config=path)
    refresh(config=path)


def workspace(config: Config = None) -> None:
    """Write workspace.yaml and dagster.yaml beside deid.toml, for `dagster dev` in that folder.

    Nothing guards it: `deid ui` serves the same runs behind the guard.
    """
    needs(PLATFORM)
    from deid_platform.settings import config_path

    _write_workspace(config_path(config))


def _settings(config: Path | None) -> Path:
    """The deid.toml that counts, if need be the demonstration's own, written into this folder."""
    from deid_platform.settings import config_path

    try:
        return config_path(config)
    except DeidError as error:
        if error.code is not Code.SETTINGS_MISSING or config:
            raise
    path = Path.cwd() / "deid.toml"
    shutil.copyfile(FOLDER / path.name, path)
    say(f"wrote {path}, the demonstration's settings")
    _write_workspace(path)
    return path


def _write_workspace(path: Path) -> None:
    from deid_platform.orchestration.instance import write_workspace
    from deid_platform.settings import load_settings

    written = write_workspace(load_settings(path), path.parent)
    say(f"wrote {', '.join(map(str, written))}" if written else "workspace.yaml and dagster.yaml are there already")
