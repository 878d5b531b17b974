"""What all commands share: output, progress bar, lists, and the installation.

Belongs here: the two consoles, options that many commands take, and how records are shown. Does not belong here: any
command.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from deid_platform.errors import Code, DeidError
from deid_platform.extras import is_installed

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from deid_platform.refresh.installation.site import Site

_IN_A_PIPE = 200  # columns: rich folds at 80 where nobody watches


def _width(stream: TextIO) -> int | None:
    return None if stream.isatty() or "COLUMNS" in os.environ else _IN_A_PIPE


console = Console(stderr=True, width=_width(sys.stderr))
"""What happens, and what went wrong."""
out = Console(width=_width(sys.stdout))
"""What was asked for."""

Config = Annotated[Path | None, typer.Option("--config", help="A deid.toml to use instead of the one found here.")]
Json = Annotated[bool, typer.Option("--json", help="JSON lines, one object per record.")]

Who = Annotated[str, typer.Option(help="The privacy officer who decides.")]
Why = Annotated[str, typer.Option(help="The reason, at least ten characters.")]

Value = str | int | float | bool | date | datetime | None | Sequence[str] | Sequence[int] | Mapping[str, int]
"""What a field of a record may hold."""


def needs(extra: str) -> None:
    """Refuses a command before it begins.

    Raises:
        DeidError: `extra-missing` if not all of the extra is installed.
    """
    if not is_installed(extra):
        raise DeidError(Code.EXTRA_MISSING, extra)


def site_of(config: Path | None) -> Site:
    """The installation of a deid.toml, by default of the one that is found."""
    from deid_platform.refresh.installation.site import Site
    from deid_platform.settings import load_settings

    return Site(load_settings(config))


def officer_of(config: Path | None) -> Engine:
    """The privacy officer's connections to the warehouse of an installation."""
    from deid_platform.warehouse.server.roles import Role

    return site_of(config).warehouse.engine(Role.OFFICER)


def say(what: str) -> None:
    """Prints what happened on stderr, just as it is: without markup or colours, and on one line however long."""
    console.print(what, markup=False, highlight=False, soft_wrap=True)


def show(columns: Sequence[str], records: Iterable[Sequence[Value]], *, as_json: bool = False) -> None:
    """Prints records whole: a table where a person reads, tab-separated lines in a pipe, or JSON lines.

    Args:
        columns: Names of the fields, words separated by blanks; in JSON by underscores.
        records: One value a column.
        as_json: JSON lines, wherever they go.
    """
    if as_json:
        for record in records:
            show_json(dict(zip((column.replace(" ", "_") for column in columns), record, strict=True)))
        return
    rows = [list(record) for record in records]
    if not out.is_terminal:
        header: list[Value] = [*columns]
        for row in (header, *rows):
            typer.echo("\t".join(" ".join(_plain(value).split()) for value in row))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for at, column in enumerate(columns):
        numbers = any(isinstance(row[at], int | float) and not isinstance(row[at], bool) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(_plain(value)) for value in row))
    out.print(table)


def show_json(fields: Mapping[str, object]) -> None:
    """Prints one JSON object on a line of its own; dates in ISO 8601."""
    typer.echo(json.dumps(fields, default=_iso, ensure_ascii=False))


def counted(count: int, what: str) -> str:
    """A number of things, as "1 note" or "2,000 notes"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _plain(value: Value) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}" if out.is_terminal else str(value)
        case datetime():
            return f"{value:%Y-%m-%d %H:%M}"
        case float():
            return f"{value:.4g}"
        case str() | date():
            return str(value)
        case Mapping():
            return ", ".join(f"{name} {count}" for name, count in value.items())
        case _:
            return ", ".join(map(str, value))


def _iso(value: date) -> str:
    return value.isoformat()


@dataclass(frozen=True)
class Bar:
    """One progress bar."""

    bars: Progress
    task: TaskID

    def advance(self, notes: int) -> None:
        """So many more are done."""
        self.bars.advance(self.task, notes)

    def at(self, done: int, total: int) -> None:
        """So many of so many are done."""
        self.bars.update(self.task, completed=done, total=total)


@contextmanager
def progress(what: str) -> Iterator[Bar]:
    """A bar on stderr that appears only where a person watches."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield Bar(bars, bars.add_task(what, total=None))
