"""The dbt project and the resource that runs it, as `deid_modeller` on the installation's warehouse."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from dagster_dbt import DbtCliResource, DbtProject

PROJECT_DIR = Path(__file__).resolve().parent.parent / "dbt"
# The one of this environment, which need not be on the PATH.
_DBT = Path(sys.executable).with_name("dbt")


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
            dbt_resource(project).cli(["parse", "--quiet"], target_path=Path(folder)).wait()
            (Path(folder) / project.manifest_path.name).replace(project.manifest_path)
    return project


def dbt_resource(project: DbtProject) -> DbtCliResource:
    """dbt on that project, without telemetry and without a version check over the network."""
    return DbtCliResource(
        project_dir=project,
        profiles_dir=str(PROJECT_DIR),
        dbt_executable=str(_DBT),
        global_config_flags=["--no-send-anonymous-usage-stats", "--no-version-check", "--no-use-colors"],
    )
