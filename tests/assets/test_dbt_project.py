"""When the dbt project is parsed anew."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from resources import dbt


class Parser:
    """In dbt's place: writes a manifest and counts."""

    def __init__(self) -> None:
        self.parsed = 0

    def cli(self, args: list[str], *, target_path: Path) -> Parser:
        self.parsed += 1
        (target_path / "manifest.json").write_text("{}")
        (target_path / "partial_parse.msgpack").write_text("parsed")
        return self

    def wait(self) -> None: ...


@pytest.fixture
def parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parser:
    shutil.copytree(dbt.PROJECT_DIR, tmp_path / "project", ignore=shutil.ignore_patterns("target", "logs"))
    monkeypatch.setattr(dbt, "PROJECT_DIR", tmp_path / "project")
    found = Parser()
    monkeypatch.setattr(dbt, "dbt_resource", lambda: found)
    return found


def test_a_project_is_parsed_once(parser: Parser, tmp_path: Path) -> None:
    first = dbt.dbt_project(tmp_path / "target")
    (dbt.PROJECT_DIR / "target").mkdir()
    (dbt.PROJECT_DIR / "target" / "manifest.json").write_text("by hand")
    assert dbt.dbt_project(tmp_path / "target").manifest_path == first.manifest_path
    assert parser.parsed == 1


@pytest.mark.parametrize("change", ["written", "removed"])
def test_an_update_whose_files_are_older_than_the_manifest_is_parsed(
    parser: Parser, tmp_path: Path, change: str
) -> None:
    before = dbt.dbt_project(tmp_path / "target").manifest_path
    model = dbt.PROJECT_DIR / "models" / "marts" / "risk.sql"
    if change == "written":
        model.write_text("SELECT 1 AS one")
        os.utime(model, (0, 0))
    else:
        model.unlink()
    after = dbt.dbt_project(tmp_path / "target").manifest_path
    assert after != before
    assert parser.parsed == 2
    assert before.exists()  # a process of before the update may still be reading it


def test_a_build_begins_with_what_the_one_before_parsed(parser: Parser, tmp_path: Path) -> None:
    project = dbt.dbt_project(tmp_path / "target")
    with dbt.build_folder(project) as first:
        assert (first / "partial_parse.msgpack").read_text() == "parsed"  # for the manifest
        (first / "partial_parse.msgpack").write_text("parsed again")
    with pytest.raises(RuntimeError), dbt.build_folder(project) as failed:
        (failed / "partial_parse.msgpack").write_text("half")
        raise RuntimeError
    with dbt.build_folder(project) as second:
        assert (second / "partial_parse.msgpack").read_text() == "parsed again"
    assert not {first, failed, second}.intersection(project.manifest_path.parent.iterdir())


@pytest.mark.process
def test_the_platform_imports_neither_dbt_nor_great_expectations() -> None:
    script = """
import sys
import deid_platform.main_job.command
print(*{name.split(".")[0] for name in sys.modules} & {"dbt", "great_expectations"})
import dbt.version
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
