"""`deid demo` is the three commands of the demonstration in their order, and needs nothing but a folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from command_line import deid

from deid_platform.cli import operate

ROOT = Path(__file__).parents[1]
demo = import_module("deid_platform.cli.demo")  # by its name alone it is the command


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path | None]]:
    """The commands that run, each with its deid.toml."""
    monkeypatch.delenv("DEID_CONFIG", raising=False)
    commands: list[tuple[str, Path | None]] = []
    for name in ("hospital", "db_bootstrap", "refresh"):
        monkeypatch.setattr(demo, name, lambda name=name, **given: commands.append((name, given["config"])))
    return commands


def test_in_an_empty_folder_it_writes_the_demonstrations_settings(done, tmp_path: Path) -> None:
    shown = deid("demo", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    written = tmp_path / "deid.toml"
    assert done == [("hospital", written), ("db_bootstrap", written), ("refresh", written)]
    assert written.read_text(encoding="utf-8") == (ROOT / "deid.toml").read_text(encoding="utf-8")
    assert str(written) in shown.stderr


def test_settings_that_are_there_stay(done, tmp_path: Path) -> None:
    (tmp_path / "deid.toml").write_text('site = "mine"\n')
    (tmp_path / "below").mkdir()
    shown = deid("demo", folder=tmp_path / "below")
    assert shown.returncode == 0, shown.stderr
    assert {config for _, config in done} == {tmp_path / "deid.toml"}
    assert (tmp_path / "deid.toml").read_text() == 'site = "mine"\n'


def test_a_named_deid_toml_that_is_not_there_is_refused_and_none_is_written(done, tmp_path: Path) -> None:
    assert deid("demo", "--notes", "5", folder=tmp_path).returncode == 2  # fewer than a hospital has
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEID_CONFIG", str(tmp_path / "gone.toml"))
        patch.setattr(demo, "hospital", operate.hospital)
        shown = deid("demo", folder=tmp_path)
    assert shown.returncode == 1
    assert "settings-missing" in shown.stderr
    assert [*tmp_path.iterdir()] == []
