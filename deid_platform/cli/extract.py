"""Commands on extracts: extract PROJECT, extract check, list, destroyed.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`oversight/extract.py`, `warehouse/readers/extracts.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from deid_platform.cli.terminal import Config, Json, Who, Why, counted, officer_of, progress, say, show, site_of
from deid_platform.warehouse.server.roles import Role

if TYPE_CHECKING:
    from collections.abc import Sequence


class ByProject(TyperGroup):
    """A group in which what is no command is the project to extract."""

    default = "write"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Puts the default command before a project's name."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


extract = typer.Typer(
    cls=ByProject,
    help="Extracts: `deid extract PROJECT` writes what a project may read as Parquet; the ledger knows each of them.",
    no_args_is_help=True,
)

Login = Annotated[str, typer.Option("--login", help="Your own login, which belongs to the project.")]


@extract.command("write")
def write(
    project: Annotated[str, typer.Argument(help="One of the projects of the login.")],
    to: Annotated[
        Path | None, typer.Option(help="The folder to be made; by default one of the project's name here.")
    ] = None,
    login: Login = Role.DEMO_ANALYST.value,
    config: Config = None,
) -> None:
    """Write what a project may read now as Parquet, with a data dictionary and a manifest. `write` may be left out.

    The folder appears whole or not at all, and its owner alone can read it.
    """
    from deid_platform.oversight.extract import write_extract

    target = to or Path(project)
    with progress("extracting") as bar:
        made = write_extract(site_of(config).warehouse.engine(login), project, target, progress=bar.advance)
    say(f"extract {made.number}: {counted(made.notes, 'note')} of release {made.release} in {target}")
    say(f"before each use: deid extract check {target} --login {login}")


@extract.command("check")
def check(
    folder: Annotated[Path, typer.Argument(help="An extract.")],
    login: Login = Role.DEMO_ANALYST.value,
    config: Config = None,
) -> None:
    """Check that the files are those of the manifest, and that the extract still stands. Exit status 1 if not."""
    from deid_platform.oversight.extract import check_extract

    found = check_extract(site_of(config).warehouse.engine(login), folder)
    say(f"extract {found.number} stands: {counted(found.notes, 'note')} of release {found.release}")
    if found.release_state != "active":
        say("analysts see another release by now: `deid extract` makes a new one")


@extract.command("list")
def list_extracts(
    note: Annotated[str | None, typer.Option(help="Only those that hold this note, by its key.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List every extract, oldest first, and whether it still stands. It counts notes anew, which takes a while."""
    from deid_platform.warehouse.readers.extracts import extracts, holders

    officer = officer_of(config)
    wanted = None if note is None else holders(officer, note_keys=[note])
    columns = ("extract", "project", "login", "when", "release", "notes", "hidden since", "state")
    records = (
        (e.number, e.project, e.login, e.at, e.release, e.notes, e.hidden, e.state)
        for e in extracts(officer)
        if wanted is None or e.number in wanted
    )
    show(columns, records, as_json=as_json)


@extract.command("destroyed")
def destroyed(
    number: Annotated[int, typer.Argument(help="The extract's, as `deid extract list` shows it.")],
    who: Who,
    why: Why,
    config: Config = None,
) -> None:
    """Record that every copy of an extract is destroyed; nobody is asked for it again."""
    from deid_platform.warehouse.readers.extracts import end_extract

    end_extract(officer_of(config), number, who=who, reason=why)
    say(f"extract {number} recorded as destroyed")


def tell_holders(numbers: Sequence[int]) -> None:
    """Says which extracts hold what was hidden, and what their owners must do."""
    if numbers:
        say(f"extracts that hold what is hidden now: {', '.join(map(str, numbers))} (`deid extract list`)")
        say("their owners must delete them and what they made of them, and make new ones (docs/releases.md)")
