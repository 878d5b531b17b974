"""Where the rest of the platform lies: beside this package in a checkout, in a folder of it where it is installed.

Belongs here: that folder. Does not belong here: anything in it, or importing from it (`definitions.py`).
`[tool.hatch.build.targets.wheel]` of pyproject.toml lists what a wheel puts there.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_WHEEL = _PACKAGE / "_code_location"
FOLDER = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent
"""Holds `assets/`, `resources/`, `dbt/`, workspace.yaml, and the demonstration's deid.toml and dagster.yaml."""
