"""`deid demo` and `deid workspace` in folders without a checkout; the whole of it is tests/deploy/wheel.py's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from command_line import deid

import deid_platform.cli
from deid_platform.orchestration.code_location import FOLDER
from deid_platform.settings import load_settings

ROOT = Path(__file__).parents[1]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that the demonstration takes, without taking them."""
    taken: list[str] = []
    demo = sys.modules["deid_platform.cli.demo"]
    monkeypatch.setattr(demo, "hospital", lambda notes, config: taken.append(f"hospital {notes} {config}"))
    monkeypatch.setattr(demo, "db_bootstrap", lambda config: taken.append(f"bootstrap {config}"))
    monkeypatch.setattr(demo, "refresh", lambda config: taken.append(f"refresh {config}"))
    return taken


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEID_CONFIG", raising=False)


def test_in_an_empty_folder_the_demonstration_writes_its_settings_and_takes_three_steps(tmp_path, steps) -> None:
    done = deid("demo", "--notes", "60", folder=tmp_path)
    path = tmp_path / "deid.toml"
    assert done.returncode == 0, done.stderr
    assert steps == [f"hospital 60 {path}", f"bootstrap {path}", f"refresh {path}"]
    assert path.read_bytes() == (ROOT / "deid.toml").read_bytes()
    assert {"dagster.yaml", "workspace.yaml"} <= {it.name for it in tmp_path.iterdir()}


def test_settings_that_are_there_are_used_as_they_are(tmp_path, steps) -> None:
    own = 'site = "north"\nprofile = "demo"\n'
    (tmp_path / "deid.toml").write_text(own)
    assert deid("demo", folder=tmp_path).returncode == 0
    assert [it.name for it in tmp_path.iterdir()] == ["deid.toml"]
    assert (tmp_path / "deid.toml").read_text() == own
    assert len(steps) == 3


def test_an_installation_for_true_notes_gets_no_invented_ones(tmp_path, steps) -> None:
    (tmp_path / "deid.toml").write_text('site = "north"\nprofile = "production"\n')
    done = deid("demo", folder=tmp_path)
    assert done.returncode == 1
    assert "settings-invalid [profile]" in done.stderr
    assert steps == []


def test_a_deid_toml_that_is_named_and_missing_is_not_made_up(tmp_path, steps) -> None:
    done = deid("demo", "--config", "other.toml", folder=tmp_path)
    assert "settings-missing" in done.stderr
    assert steps == []
    assert list(tmp_path.iterdir()) == []


def test_dagster_dev_finds_the_history_of_the_installation(tmp_path) -> None:
    (tmp_path / "deid.toml").write_text('site = "north"\nprofile = "demo"\nhome = "its home"\n')
    assert deid("workspace", folder=tmp_path).returncode == 0
    instance = yaml.safe_load((tmp_path / "dagster.yaml").read_text())
    home = load_settings(tmp_path / "deid.toml").home_path / "dagster"
    assert instance["storage"]["sqlite"]["base_dir"] == str(home)
    assert instance["local_artifact_storage"]["config"]["base_dir"] == str(home)
    assert (tmp_path / "workspace.yaml").read_bytes() == (FOLDER / "workspace.yaml").read_bytes()


def test_files_for_dagster_dev_that_are_there_stay_as_they_are(tmp_path) -> None:
    (tmp_path / "deid.toml").write_text('site = "north"\nprofile = "demo"\n')
    (tmp_path / "workspace.yaml").write_text("load_from: []\n")
    said = deid("workspace", folder=tmp_path)
    assert "dagster.yaml" in said.stdout + said.stderr
    assert (tmp_path / "workspace.yaml").read_text() == "load_from: []\n"
    assert "are there already" in (said := deid("workspace", folder=tmp_path)).stdout + said.stderr


def test_without_the_extra_nothing_is_written(tmp_path, steps, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["deid_platform.cli.terminal"], "is_installed", lambda extra: False)
    done = deid("demo", folder=tmp_path)
    assert "extra-missing [platform]" in done.stderr
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_in_a_checkout_the_rest_of_the_platform_lies_beside_the_package() -> None:
    assert Path(deid_platform.cli.__file__).parents[2] == FOLDER
    assert all((FOLDER / name).exists() for name in ("assets", "resources", "dbt", "workspace.yaml", "deid.toml"))
