"""Every command that the documentation, an error or a help text names is there, with its options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from deid_platform.cli import app
from deid_platform.errors import Code

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
DEID = typer.main.get_command(app)


def commands(text: str) -> list[str]:
    """What follows `deid` in backticks and in lines of a shell."""
    quoted = re.findall(r"`(?:\.venv/bin/)?deid ([^`]+)`", text)
    return [*quoted, *re.findall(r"^ *(?:\$ )?(?:\.venv/bin/)?deid (?=[a-z-])([^`#\n]+)", text, re.M)]


def unknown(said: str) -> Iterator[str]:
    """Words of a command line that name no command or option of that command."""
    found = DEID
    for word in said.split():
        if word == "--":
            return
        if word.startswith("--"):
            options = {"--help", *(name for option in found.params for name in option.opts)}
            if (name := word.split("=")[0].rstrip(".,;:")) not in options:
                yield name
        elif isinstance(found, TyperGroup):
            # `deid extract PROJECT`: what is no command goes to the group's default one.
            if (named := word if word in found.commands else getattr(found, "default", None)) is not None:
                found = found.commands[named]
            elif not found.invoke_without_command:
                yield word
                return


def test_a_command_that_is_not_there_is_noticed() -> None:
    assert list(unknown("db migrate")) == ["migrate"]
    assert list(unknown("refresh --delivery hospital@2026-01-05 --foce")) == ["--foce"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_there(page: Path) -> None:
    said = commands(page.read_text(encoding="utf-8"))
    assert [(line, word) for line in said for word in unknown(line)] == []


def test_every_command_of_an_error_is_there() -> None:
    said = [line for code in Code for line in commands(f"{code.meaning}\n{code.remedy}")]
    assert len(said) > 20
    assert [(line, word) for line in said for word in unknown(line)] == []


def every(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, below in getattr(command, "commands", {}).items():
        yield from every(below, *names, name)


def plain(text: str) -> str:
    return re.sub(r"[\s`│]+", "", text)


@pytest.mark.parametrize(("names", "command"), [pytest.param(*found, id=" ".join(found[0])) for found in every(DEID)])
def test_help_shows_all_that_was_written(names: tuple[str, ...], command: Any) -> None:
    """Markup takes words in brackets for its own."""
    shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "400", "TERM": "dumb"})
    assert shown.exit_code == 0
    output = plain(shown.output)
    for written in (command.help, *(getattr(option, "help", None) for option in command.params)):
        assert plain(written or "") in output
    assert [word for line in commands(command.help or "") for word in unknown(line)] == []
