"""Dagster's own database, as a production installation has it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
PASSWORD = "tq7-Wm2xRz9-Kp4vLd8"


@pytest.fixture(scope="session")
def deploy() -> Path:
    """The folder of what starts a production installation."""
    return DEPLOY


@pytest.fixture(scope="session")
def dagster_password(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that holds the password of Dagster's role."""
    path = tmp_path_factory.mktemp("secrets") / "dagster_password"
    path.write_text(f"{PASSWORD}\n")
    return path


@pytest.fixture(scope="session")
def make_storage(dagster_password: Path) -> Callable[..., None]:
    """Runs the script by which compose makes Dagster's role and database."""

    def run(psql: Path, **where: str) -> None:
        path = f"{psql.parent}:{os.environ['PATH']}"
        environment = {**os.environ, **where, "PATH": path, "DAGSTER_PG_PASSWORD_FILE": str(dagster_password)}
        subprocess.run([str(DEPLOY / "postgres" / "dagster.sh")], env=environment, check=True)

    return run
