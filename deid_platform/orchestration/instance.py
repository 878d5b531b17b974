"""The Dagster instance of one installation: its folder, its settings file and its environment.

Belongs here: what must be on disk and in the environment before Dagster is imported. Does not belong
here: Dagster itself.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from importlib import resources
from pathlib import Path

from deid_platform.orchestration.code_location import FOLDER
from deid_platform.runtime.silence import silence_libraries
from deid_platform.settings import Settings

# Telemetry off everywhere, and user-code errors redacted: Dagster would else store tracebacks with values.
ENVIRONMENT = {
    "DAGSTER_REDACT_USER_CODE_ERRORS": "1",
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "GX_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}

_HISTORY = "base_dir: .deid/dagster"
"""In the dagster.yaml of a checkout."""
_DEV, _TOLD = "DAGSTER_IS_DEV_CLI", "DEID_DEV_TOLD"
_UNGUARDED = (
    "dagster dev answers everybody who reaches its port. `deid ui` serves the same runs behind the guard"
    " (docs/operations.md)."
)
PRIVATE = 0o077
"""The umask of every process that may handle notes: files 0600, folders 0700."""


def write_workspace(settings: Settings, folder: Path) -> list[Path]:
    """Writes what `dagster dev` in a folder reads: workspace.yaml, and a dagster.yaml that names the instance.

    In a checkout both are there. What is there stays as it is.

    Returns:
        The files that were written.
    """
    of_demonstration = (FOLDER / "dagster.yaml").read_text(encoding="utf-8")
    history = json.dumps(str(settings.home_path / "dagster"))
    texts = {
        folder / "workspace.yaml": (FOLDER / "workspace.yaml").read_text(encoding="utf-8"),
        folder / "dagster.yaml": of_demonstration.replace(_HISTORY, f"base_dir: {history}"),
    }
    written = [path for path in texts if not path.exists()]
    for path in written:
        path.write_text(texts[path], encoding="utf-8")
    return written


def prepare_instance(settings: Settings, config: Path) -> Path:
    """Makes the instance folder if need be and points this process's environment at it.

    A dagster.yaml that is already there is the operator's own and stays as it is. From here on, whatever this
    process and its children write is open to its own user alone: each process that loads the platform comes
    through here, whoever started it.

    Returns:
        The folder, which is DAGSTER_HOME.

    Raises:
        DeidError: `home-unusable`.
    """
    os.umask(PRIVATE)
    home = settings.make_home() / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)  # one that was there before may have been wider
    target = home / "dagster.yaml"
    if not target.exists():
        with resources.as_file(resources.files(__package__) / "dagster.yaml") as template:
            shutil.copyfile(template, target)
    # dbt would else work in the folder of its project, which is the program's and not this installation's.
    dbt = {"DBT_TARGET_PATH": str(home / "dbt"), "DBT_LOG_PATH": str(home / "dbt" / "logs")}
    os.environ.update(ENVIRONMENT, **dbt, DAGSTER_HOME=str(home), DEID_CONFIG=str(config))
    silence_libraries()
    if _DEV in os.environ and _TOLD not in os.environ:  # once, not in each run's process
        os.environ[_TOLD] = "1"
        sys.stderr.write(f"{_UNGUARDED}\n")
    # Dagster tells redacted errors to this logger whole; each asset has already said all that may be said.
    logger = logging.getLogger("dagster.redacted_errors")
    logger.handlers = [logging.NullHandler()]
    logger.propagate = False
    return home
