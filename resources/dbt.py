"""The dbt project and the resource that runs it, as `deid_modeller` on the installation's warehouse."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from dagster_dbt import DbtCliResource, DbtProject
from packaging.version import Version

PROJECT_DIR = Path(__file__).resolve().parent.parent / "dbt"
# The one of this environment, which need not be on the PATH.
_DBT = Path(sys.executable).with_name("dbt")
_PARSED = "partial_parse.msgpack"


class Dbt(DbtCliResource):
    """dbt of this environment, without what costs seconds and nothing here asks for."""

    @property
    def _cli_version(self) -> Version:
        return Version(metadata.version("dbt-core"))

    def _initialize_dbt_core_adapter(self, args: Sequence[str]) -> None:  # type: ignore[override]  # may be none
        """A connection beside dbt's own, for row counts and columns that no asset fetches: two seconds a run."""


def dbt_project(target: Path) -> DbtProject:
    """The project, parsed anew if a file of it is newer than its manifest.

    Args:
        target: dbt's target folder, inside the instance, so that two installations do not share one.
    """
    project = DbtProject(project_dir=PROJECT_DIR, profiles_dir=PROJECT_DIR, target_path=target)
    newest = max(file.stat().st_mtime for file in PROJECT_DIR.rglob("*") if file.is_file())
    if not project.manifest_path.exists() or project.manifest_path.stat().st_mtime < newest:
        target.mkdir(parents=True, exist_ok=True)
        # Beside its place, then into it whole: half a manifest would be newer than the files, and never parsed again.
        with TemporaryDirectory(dir=target) as folder:
            dbt_resource().cli(["parse", "--quiet"], target_path=Path(folder)).wait()
            (Path(folder) / project.manifest_path.name).replace(project.manifest_path)
    return project


def dbt_resource() -> DbtCliResource:
    """dbt on the project, without telemetry and without a version check over the network."""
    return Dbt(
        project_dir=str(PROJECT_DIR),
        profiles_dir=str(PROJECT_DIR),
        dbt_executable=str(_DBT),
        global_config_flags=["--no-send-anonymous-usage-stats", "--no-version-check", "--no-use-colors"],
    )


def keep_parsed(project: DbtProject, built: Path) -> None:
    """Keeps what dbt parsed for its next run, which then parses only what has changed.

    Args:
        project: The project.
        built: The target folder of the run that parsed it.
    """
    with suppress(FileNotFoundError):
        (built / _PARSED).replace(project.manifest_path.with_name(_PARSED))
