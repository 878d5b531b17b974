"""What every command shares: where it writes, its progress bar, and the installation that it is about.

Belongs here: the two consoles and options that many commands take. Does not belong here: any command.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from deid_platform.refresh.site import Site

console = Console(stderr=True)
"""What happens, and what went wrong."""
out = Console()
"""What was asked for."""

Config = Annotated[Path | None, typer.Option("--config", help="Another deid.toml than the one found here.")]


def site_of(config: Path | None) -> Site:
    """The installation of a deid.toml, by default of the one that is found."""
    from deid_platform.refresh.site import Site
    from deid_platform.settings import load_settings

    return Site(load_settings(config))


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
