"""The dbt project and the resource that runs it, as `deid_modeller` on the installation's warehouse."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import Version

from deid_platform.orchestration.code_location import FOLDER
from deid_platform.warehouse.readers.marts import MartRelations

# dbt is a program here. Where it is no library, dagster-dbt does without it; to import it takes every process of the
# platform as long as all else that it imports.
_HIDDEN = "dbt.version"
_hides = _HIDDEN not in sys.modules
if _hides:
    sys.modules[_HIDDEN] = None  # type: ignore[assignment]
from dagster_dbt import DbtCliResource, DbtProject  # noqa: E402

if _hides:
    del sys.modules[_HIDDEN]

PROJECT_DIR = FOLDER / "dbt"
# The one of this environment, which need not be on the PATH. Debian's own Python does not lie beside its scripts.
_DBT = Path(sysconfig.get_path("scripts"), "dbt")
_PARSED = "partial_parse.msgpack"


class Dbt(DbtCliResource):
    """dbt of this environment, without what costs seconds and nothing here asks for."""

    @property
    def _cli_version(self) -> Version:
        return Version(metadata.version("dbt-core"))

    def _initialize_dbt_core_adapter(self, args: Sequence[str]) -> None:  # type: ignore[override]  # may be none
        """A connection beside dbt's own, for row counts and columns that no asset fetches: two seconds a run."""


def dbt_project(target: Path) -> DbtProject:
    """The project, parsed anew if its files or dbt are others than those that its manifest was made of.

    Args:
        target: Where dbt's target folders lie, one for each state of the project: inside the instance, so that two
            installations do not share one.
    """
    # Not by time: an update brings files that are older than the manifest which its forerunner made.
    target = target / _state()
    project = DbtProject(project_dir=PROJECT_DIR, profiles_dir=PROJECT_DIR, target_path=target)
    if not project.manifest_path.exists():
        target.mkdir(parents=True, exist_ok=True)
        # Beside its place, then into it whole: half a manifest would never be parsed again.
        with TemporaryDirectory(dir=target) as folder:
            dbt_resource().cli(["parse", "--quiet"], target_path=Path(folder)).wait()
            with suppress(FileNotFoundError):
                (Path(folder) / _PARSED).replace(target / _PARSED)  # for the first build
            (Path(folder) / project.manifest_path.name).replace(project.manifest_path)
    return project


def mart_relations(project: DbtProject) -> MartRelations:
    """The tables of a project that has been parsed, and what its models read.

    Not what only its tests read: of that nothing is in a mart.
    """
    manifest = json.loads(project.manifest_path.read_bytes())
    nodes = [it for it in manifest["nodes"].values() if it["config"].get("materialized") != "ephemeral"]
    models = [it for it in manifest["nodes"].values() if it["resource_type"] == "model"]
    read = {name for it in models for name in it["depends_on"]["nodes"] if name in manifest["sources"]}

    def tables(kind: str) -> list[tuple[str, str]]:
        return sorted((it["schema"], it["alias"]) for it in nodes if it["resource_type"] == kind)

    return MartRelations(
        project.manifest_path.parent.name,
        sorted((it["schema"], it["identifier"]) for it in map(manifest["sources"].get, read)),
        tables("model"),
        tables("seed"),
    )


def _state() -> str:
    """A name for what the project's files say, and for the dbt that reads them."""
    known = sha256(metadata.version("dbt-core").encode())
    for file in sorted(PROJECT_DIR.rglob("*")):
        within = file.relative_to(PROJECT_DIR)
        # What dbt leaves behind where somebody runs it by hand.
        if file.is_file() and within.parts[0] not in ("target", "logs") and not file.name.startswith("."):
            known.update(f"\0{within}\0".encode() + file.read_bytes())
    return known.hexdigest()[:12]


def dbt_resource() -> DbtCliResource:
    """dbt on the project, without telemetry and without a version check over the network."""
    return Dbt(
        project_dir=str(PROJECT_DIR),
        profiles_dir=str(PROJECT_DIR),
        dbt_executable=str(_DBT),
        global_config_flags=["--no-send-anonymous-usage-stats", "--no-version-check", "--no-use-colors"],
    )


@contextmanager
def build_folder(project: DbtProject) -> Iterator[Path]:
    """A target folder for one build, gone afterwards, with what dbt parsed for the last one: it parses only changes.

    dbt looks for that in the folder in which it builds, and nowhere else. A build that fails keeps nothing.
    """
    parsed = project.manifest_path.with_name(_PARSED)
    with TemporaryDirectory(dir=parsed.parent, prefix="build-") as name:
        kept = Path(name, _PARSED)
        with suppress(FileNotFoundError):
            shutil.copyfile(parsed, kept)
        yield kept.parent
        with suppress(FileNotFoundError):
            kept.replace(parsed)
