"""The command `deid demo`: from an empty folder to a release in a warehouse.

Belongs here: the demonstration's settings, and the order of the commands that it consists of. Does not belong here:
what those do (`operate.py`, `database.py`).
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from deid_platform.cli.database import db_bootstrap
from deid_platform.cli.operate import DEMONSTRATION_NOTES, hospital, refresh
from deid_platform.cli.terminal import Config, say

SETTINGS = "demonstration.toml"


def demo(
    notes: Annotated[int, typer.Option(min=20, help="Notes over all deliveries.")] = DEMONSTRATION_NOTES,
    config: Config = None,
) -> None:
    """Run the demonstration: a synthetic hospital, two deliveries, one release in an embedded Postgres.

    It is `deid hospital`, `deid db bootstrap` and `deid refresh` one after the other, by the deid.toml that is found;
    where there is none, one is written into this folder. A second run costs only what changed.
    """
    path = config if config is not None or "DEID_CONFIG" in os.environ else _settings()
    hospital(notes=notes, config=path)
    db_bootstrap(config=path)
    refresh(config=path)


def _settings() -> Path:
    """The deid.toml in force, or the demonstration's own, written here."""
    from deid_platform.errors import Code, DeidError
    from deid_platform.settings import config_path

    try:
        return config_path()
    except DeidError as error:
        if error.code is not Code.SETTINGS_MISSING:
            raise
    written = Path.cwd() / "deid.toml"
    text = (resources.files("deid_platform") / SETTINGS).read_text(encoding="utf-8")
    written.write_text(text, encoding="utf-8")
    say(f"settings of the demonstration: {written}")
    return written
