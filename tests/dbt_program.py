"""dbt as a program, on a warehouse of a test's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from deid_platform.warehouse.server.connection import Warehouse

PROJECT = Path(__file__).parents[1] / "dbt"
DBT = [sys.executable, "-c", "import sys; from dbt.cli.main import cli; sys.argv[0] = 'dbt'; cli()"]


def dbt(warehouse: Warehouse, target: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs dbt as a program, since it keeps global state; its folders go to `target`."""
    places = ["--project-dir", PROJECT, "--profiles-dir", PROJECT, "--target-path", target, "--log-path", target]
    return subprocess.run(
        [*DBT, *command, *map(str, places)],
        env={**os.environ, **warehouse.dbt_environment(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
