"""Commands on projects: project set, grant, member, delete, list, accesses.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`warehouse/readers/projects.py`, `oversight/grants.py`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, Json, Who, Why, counted, officer_of, say, show, site_of

projects = typer.Typer(help="Who may read what: projects, their grants and their members.", no_args_is_help=True)

Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it is valid.")]


@projects.command("set")
def set_project(
    project: Annotated[str, typer.Argument(help="Lower-case letters, digits, `_` and `-`.")],
    purpose: Annotated[str, typer.Option(help="The purpose of the study.")],
    until: Day = None,
    config: Config = None,
) -> None:
    """Make a project, or change its purpose or last day."""
    from deid_platform.warehouse.readers.projects import set_project as record

    record(officer_of(config), project, purpose=purpose, until=until.date() if until else None)
    say(f"project {project}")


@projects.command("grant")
def grant(
    project: Annotated[str, typer.Argument()],
    site: Annotated[str | None, typer.Option(help="Notes of this site; without it, of every site.")] = None,
    note_type: Annotated[str | None, typer.Option(help="Notes of this type; without it, of every type.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the grant back.")] = False,
    config: Config = None,
) -> None:
    """Grant a project the notes of a site, a type, or both, or take a grant back."""
    from deid_platform.oversight.grants import refuse_unknown_grant
    from deid_platform.warehouse.readers.projects import grant_project
    from deid_platform.warehouse.server.roles import Role

    installation = site_of(config)
    if not remove:
        refuse_unknown_grant(installation, of_site=site, note_type=note_type)
    ended = grant_project(
        installation.warehouse.engine(Role.OFFICER), project, site=site, note_type=note_type, granted=not remove
    )
    may = "may no longer" if remove else "may"
    say(f"{project} {may} read site {site or '*'}, type {note_type or '*'}")
    _tell_ended(ended)


@projects.command("member")
def member(
    project: Annotated[str, typer.Argument()],
    login: Annotated[str, typer.Argument(help="A person's login, made by `deid db login`.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove it from the project.")] = False,
    config: Config = None,
) -> None:
    """Add a login to a project, or remove it."""
    from deid_platform.warehouse.readers.projects import set_member

    ended = set_member(officer_of(config), project, login, member=not remove)
    say(f"{login} {'left' if remove else 'joined'} {project}")
    _tell_ended(ended)


@projects.command("delete")
def delete(project: Annotated[str, typer.Argument()], who: Who, why: Why, config: Config = None) -> None:
    """Delete a project: its members lose its grants. The ledger keeps its record."""
    from deid_platform.warehouse.readers.projects import delete_project

    ended = delete_project(officer_of(config), project, who=who, reason=why)
    say(f"{project} deleted")
    _tell_ended(ended)


@projects.command("list")
def list_projects(as_json: Json = False, config: Config = None) -> None:
    """List every project with its grants and its members."""
    from deid_platform.warehouse.readers.projects import projects as every

    columns = ("project", "purpose", "until", "may read (site, type)", "members")
    records = (
        (
            p.project,
            p.purpose,
            p.until or "no end",
            [f"{s or '*'}, {t or '*'}" for s, t in p.grants] or "nothing",
            p.members,
        )
        for p in every(officer_of(config))
    )
    show(columns, records, as_json=as_json)


@projects.command("accesses")
def accesses(
    login: Annotated[str | None, typer.Option(help="Only reads of this login.")] = None,
    newest: Annotated[int, typer.Option(min=1, help="How many reads to list.")] = 50,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List who read what, newest first."""
    from deid_platform.warehouse.readers.projects import accesses as read

    records = (
        (found.at, found.login, found.relation, found.release, found.projects or "nothing", found.reads)
        for found in read(officer_of(config), login=login, newest=newest)
    )
    show(("when", "login", "read", "release", "for", "times"), records, as_json=as_json)


def _tell_ended(ended: int | None) -> None:
    if ended is None:
        say("open connections go on: the database may not end them (`deid doctor`)")
    elif ended:
        say(f"{counted(ended, 'open connection')} ended")
