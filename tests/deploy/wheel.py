"""The wheel, installed into an empty environment and used outside any checkout.

Not a `test_*.py`: it installs everything anew, so that it is run by name, `make test-wheel`. The tests run in their
order: the core first, then the extra `platform` into the same environment. The bill of materials is written by the
tool that `make sbom` installs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from secrets import token_hex

import pytest

from deid_platform import __version__

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
MOST_BYTES = 300_000_000
"""Of what the core adds to an empty environment."""
# Neither settings nor a path of the machine that runs the tests; bytecode is written as by default.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("DEID_", "DAGSTER_")) and name not in {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
}
# All steps of `deid demo` but the last, which tests/assets runs in a checkout.
BEGIN = """
import sys
import deid_platform.cli
demo = sys.modules["deid_platform.cli.demo"]
demo.refresh = lambda **_: print("begun")
demo.demo(20)
"""


def run(*command: str | Path, folder: Path, status: int = 0, given: str = "", **more: str) -> str:
    """What a command prints, standard error included, in a folder outside the checkout."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**ENVIRONMENT, **more},
        input=given,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def build(source: Path, to: Path, *, umask: str = "022") -> Path:
    script = (
        f'umask {umask}; exec "$0" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$1" "$2"'
    )
    run("sh", "-c", script, sys.executable, to, source, folder=to.parent)
    (made,) = to.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a user is."""
    return tmp_path_factory.mktemp("user")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel") / "made")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that is empty at first."""
    place = tmp_path_factory.mktemp("environment") / "venv"
    run(sys.executable, "-m", "venv", place, folder=place.parent)
    return place / "bin"


def install(programs: Path, wheel: Path, extras: str = "") -> None:
    options = ("--quiet", "--disable-pip-version-check", "--no-compile", "--constraint", ROOT / "constraints.txt")
    run(programs / "python", "-m", "pip", "install", *options, f"{wheel}{extras}", folder=programs)


def installed(programs: Path) -> dict[str, str]:
    """The distributions of an environment, with their versions."""
    rows = json.loads(run(programs / "python", "-m", "pip", "list", "--format", "json", folder=programs))
    return {row["name"].lower().replace("_", "-"): row["version"] for row in rows}


def size(programs: Path) -> int:
    """The bytes of an environment's files, without links (`du --apparent-size`) and what use leaves beside them."""
    files = (path for path in programs.parent.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if "__pycache__" not in path.parts)


@pytest.fixture(scope="module")
def core(programs: Path, wheel: Path) -> int:
    """Installs the core; the bytes that the empty environment had."""
    before = size(programs)
    install(programs, wheel)
    return before


def test_the_same_source_makes_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True).stdout
    copy = tmp_path / "copy"
    copy.mkdir()
    pack = ["tar", "-c", "--ignore-failed-read", "--null", "--files-from", "-"]
    packed = subprocess.run(pack, cwd=ROOT, input=listed, check=True, capture_output=True).stdout
    # Another folder, other times of the files and other permissions.
    subprocess.run(["tar", "-x", "--touch", "--mode", "go="], cwd=copy, input=packed, check=True)
    assert build(copy, tmp_path / "again", umask="077").read_bytes() == wheel.read_bytes()


def test_the_wheel_is_one_package_with_all_of_the_platform_and_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"deid_platform-{__version__}.dist-info/METADATA").decode()
    assert {name.split("/")[0] for name in names} == {"deid_platform", f"deid_platform-{__version__}.dist-info"}
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    outside = [name for name in tracked if name.startswith(("assets/", "resources/", "dbt/"))]
    expected = {name for name in tracked if name.startswith("deid_platform/")}
    expected |= {
        f"deid_platform/_code_location/{it}" for it in (*outside, "workspace.yaml", "dagster.yaml", "deid.toml")
    }
    assert {name for name in names if name.startswith("deid_platform/")} == expected
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert {f"deid_platform-{__version__}.dist-info/licenses/{name}" for name in ("LICENSE", "NOTICE")} < names


def test_the_core_redacts_a_note(core: int, programs: Path, folder: Path) -> None:
    said = run(programs / "deid", "redact", "-", given="Seen by Dr. Alan Reed on 3/4/2019.\n", folder=folder)
    assert "Seen by Dr. [DOCTOR] on [DATE 2019].\n" in said
    (folder / "key").write_text(token_hex(32))
    surrogates = ("--policy", "surrogate", "--secret-file", "key", "--date-order", "mdy")
    said = run(
        programs / "deid", "redact", "-", *surrogates, given="Seen by Dr. Alan Reed on 3/4/2019.\n", folder=folder
    )
    assert "[" not in said
    assert "Alan Reed" not in said


def test_the_core_does_what_the_page_on_python_shows(core: int, programs: Path, folder: Path) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    code, printed = re.findall(r"```(?:python)?\n(.*?)```", page, re.S)[:2]
    (folder / "example.py").write_text(code)
    assert run(programs / "python", "example.py", folder=folder) == printed


def test_the_core_is_small_and_has_nothing_of_the_platform(core: int, programs: Path) -> None:
    added = size(programs) - core
    assert added < MOST_BYTES, f"{added / 1e6:.0f} MB"
    heavy = {
        "dagster",
        "dbt-core",
        "great-expectations",
        "psycopg",
        "sqlalchemy",
        "pandas",
        "pyarrow",
        "scipy",
        "torch",
    }
    assert heavy.isdisjoint(installed(programs))


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "refresh",
        "ui",
        "workspace",
        "db bootstrap",
        "redact notes.parquet -o -",
        "compare n.txt --detectors rules",
    ],
)
def test_a_command_of_the_platform_names_the_extra(core: int, programs: Path, folder: Path, command: str) -> None:
    (folder / "notes.parquet").touch()
    (folder / "n.txt").write_text("Seen.\n")
    said = run(programs / "deid", *command.split(), folder=folder, status=1)
    assert "extra-missing [platform]" in said
    assert "whl[" in said


def test_the_doctor_is_content_with_the_core(core: int, programs: Path, folder: Path) -> None:
    assert "deid redact` needs none" in run(programs / "deid", "doctor", folder=folder)


@pytest.fixture(scope="module")
def platform(core: int, programs: Path, wheel: Path) -> None:
    """Installs the extra `platform` over the core."""
    install(programs, wheel, "[platform]")


def test_the_demonstration_begins_in_an_empty_folder(platform: None, programs: Path, folder: Path) -> None:
    # A project of the user's own, whose folder Dagster puts before everything else.
    (folder / "assets").mkdir()
    (folder / "assets" / "__init__.py").write_text("raise SystemExit('the assets of somebody else')\n")
    said = run(programs / "python", "-c", BEGIN, folder=folder)
    assert "20 notes" in said
    assert said.endswith("begun\n")
    assert {"deid.toml", "dagster.yaml", "workspace.yaml", ".deid"} <= {path.name for path in folder.iterdir()}
    try:
        # As `dagster dev` loads them: by the workspace.yaml of the folder.
        said = run(programs / "dagster", "definitions", "validate", "-w", "workspace.yaml", folder=folder)
        assert "All code locations passed validation" in said
        assert "hospital" in run(programs / "deid", "doctor", folder=folder)
    finally:
        run(programs / "deid", "db", "stop", folder=folder)


def test_the_bill_of_materials_names_what_is_installed(platform: None, programs: Path, tmp_path: Path) -> None:
    made = tmp_path / "sbom.json"
    options = ("--output-reproducible", "--output-file", made, programs / "python")
    run(ROOT / ".venv-sbom" / "bin" / "cyclonedx-py", "environment", *options, folder=tmp_path)
    bill = json.loads(made.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    named = {part["name"].lower().replace("_", "-"): part["version"] for part in bill["components"]}
    assert named["deid-platform"] == __version__
    assert named == installed(programs)
