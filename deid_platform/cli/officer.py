"""The privacy officer's commands: waive, retract, release, project.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`warehouse/`, `refresh/findings.py`).
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from deid_platform.cli.terminal import Config, console, out, site_of
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from sqlalchemy import Engine

releases = typer.Typer(help="Releases: which there are, and which one analysts see.", no_args_is_help=True)
projects = typer.Typer(help="Who may read what: projects, their grants and their members.", no_args_is_help=True)

Who = Annotated[str, typer.Option(help="The privacy officer who answers for it.")]
Why = Annotated[str, typer.Option(help="The reason, at least ten characters.")]
Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it holds.")]
_SPAN = re.compile(r"(\d{1,9})[:-](\d{1,9})")


def waive(
    delivery: Annotated[str, typer.Argument(help="`<feed>@<watermark>`.")],
    requirements: Annotated[list[str], typer.Argument(help="What is waived, such as topics site_gold.")],
    who: Who,
    why: Why,
    until: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it holds.")],
    config: Config = None,
) -> None:
    """Record the privacy officer's waiver of requirements for one delivery; `deid refresh` then promotes it."""
    from deid_platform.notes import Delivery
    from deid_platform.warehouse.promotion import waive as record

    officer = _officer(config)
    for requirement in requirements:
        record(officer, requirement, who=who, reason=why, until=until.date(), delivery=Delivery.parse(delivery))
        console.print(f"waived {requirement} for {delivery} until {until.date()}", highlight=False)


def retract(
    note_key: Annotated[str, typer.Argument(help="As research.notes shows it.")],
    span: Annotated[str, typer.Option(help="Where it stands in the redacted text: START:END in characters from 0.")],
    label: Annotated[str, typer.Option(help="What kind of identifier it is, such as PATIENT.")],
    who: Annotated[str, typer.Option(help="Who found it.")],
    at_most: Annotated[
        int, typer.Option(min=0, help="With more other notes than this holding the same string, hide this one alone.")
    ] = 1000,  # findings.MOST_MATCHES, whose module takes long to load
    config: Config = None,
) -> None:
    """Hide a note in which a reader found an identifier, in every release at once.

    Every other note in which the same string stands as words of its own is hidden too. No delivery passes the gate
    again until `deid refresh` has made and measured it anew: notes that still hold the string are then quarantined.
    The string itself is printed nowhere and logged nowhere. Exit status 3 says that it stands in too many notes.
    """
    from deid_platform.labels import Label
    from deid_platform.refresh.findings import report

    place = _SPAN.fullmatch(span)
    if place is None:
        raise DeidError(Code.FINDING_INVALID, "span")
    if label not in Label.__members__.values():
        raise DeidError(Code.LABEL_UNKNOWN, "--label")
    start, end = map(int, place.groups())
    found = report(site_of(config), note_key, start, end, label=Label(label), who=who, most_matches=at_most)
    console.print(
        f"finding {found.number}, a string of {found.length} characters: {found.hidden:,} notes hidden; it stands in"
        f" {found.matches:,} other notes, in {found.releases:,} releases",
        highlight=False,
    )
    console.print("the gate is shut for what was measured before: run `deid refresh`", highlight=False)
    if found.matches > at_most:
        console.print(f"in more than {at_most:,} other notes: those were left as they are", highlight=False)
        raise typer.Exit(3)


@releases.command("list")
def list_releases(config: Config = None) -> None:
    """List every release, oldest first."""
    from deid_platform.warehouse.releases import releases as every

    table = Table(box=None, title_justify="left", padding=(0, 2, 0, 0))
    for column in ("release", "state", "detector", "policy", "key", "deliveries", "notes", "since"):
        table.add_column(column, justify="right" if column in ("deliveries", "notes") else "left", no_wrap=True)
    for found in every(_officer(config)):
        since = found.activated_at or found.created_at
        counts = f"{found.deliveries:,}", f"{found.notes:,}"
        table.add_row(
            found.release, found.state, found.detector, found.policy, found.key_id, *counts, f"{since:%Y-%m-%d %H:%M}"
        )
    out.print(table)


@releases.command("show")
def show_release(release: Annotated[str, typer.Argument()], config: Config = None) -> None:
    """Show what one release was made with, what it holds, and what happened to it."""
    from deid_platform.warehouse.queries import ledger
    from deid_platform.warehouse.releases import release as one

    officer = _officer(config)
    found = one(officer, release)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in (
        ("release", found.release),
        ("state", found.state),
        ("detector", f"{found.detector} {found.detector_digest}"),
        ("policy", f"{found.policy} {found.policy_digest}"),
        ("key", found.key_id),
        ("deliveries", f"{found.deliveries:,}"),
        ("notes", f"{found.notes:,}, corrected versions included"),
    ):
        table.add_row(f"[bold]{name}[/]", value)
    for entry in ledger(officer, release=release):
        counts = ", ".join(f"{name} {count}" for name, count in entry.counts.items())
        said = "; ".join(filter(None, (entry.delivery, counts, entry.who, entry.reason)))
        table.add_row(f"{entry.at:%Y-%m-%d %H:%M}", escape(f"{entry.event}  {said}"))
    out.print(table)


@releases.command("diff")
def diff(old: Annotated[str, typer.Argument()], new: Annotated[str, typer.Argument()], config: Config = None) -> None:
    """Count how two releases differ, delivery by delivery."""
    from deid_platform.warehouse.releases import diff_releases

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("delivery", f"in {old}", f"in {new}", f"only {old}", f"only {new}", "other text"):
        table.add_column(column, justify="left" if column == "delivery" else "right", no_wrap=True)
    for found in diff_releases(_officer(config), old, new):
        counts = (found.notes_old, found.notes_new, found.only_old, found.only_new, found.changed)
        table.add_row(found.delivery, *("not comparable" if count is None else f"{count:,}" for count in counts))
    out.print(table)


@releases.command("notes")
def notes(
    release: Annotated[str | None, typer.Argument(help="By default the one that analysts see.")] = None,
    config: Config = None,
) -> None:
    """Print what a release changes for analysts since the one before it, as Markdown to hand to them.

    Counts under 11 are left out and others rounded down to tens, site by site.
    """
    from deid_platform.refresh.release_notes import release_notes
    from deid_platform.reports.release_notes import release_notes_markdown

    typer.echo(release_notes_markdown(release_notes(site_of(config), release)), nl=False)


@releases.command("rollback")
def rollback(who: Who, why: Why, config: Config = None) -> None:
    """Show analysts the release before this one. No refresh shows them this one again; `activate` does."""
    from deid_platform.warehouse.releases import previous_release, switch_release

    officer = _officer(config)
    release = previous_release(officer)
    switch_release(officer, release, who=who, reason=why)
    console.print(f"analysts see {release} now", highlight=False)


@releases.command("activate")
def activate(release: Annotated[str, typer.Argument()], who: Who, why: Why, config: Config = None) -> None:
    """Show analysts one release, even if it lacks deliveries or was taken away."""
    from deid_platform.warehouse.releases import switch_release

    switch_release(_officer(config), release, who=who, reason=why)
    console.print(f"analysts see {release} now", highlight=False)


@projects.command("set")
def set_project(
    project: Annotated[str, typer.Argument(help="Lower-case letters, digits, `_` and `-`.")],
    purpose: Annotated[str, typer.Option(help="What it is for.")],
    until: Day = None,
    config: Config = None,
) -> None:
    """Make a project, or give one another purpose or last day."""
    from deid_platform.warehouse.projects import set_project as record

    record(_officer(config), project, purpose=purpose, until=until.date() if until else None)
    console.print(f"project {project}", highlight=False)


@projects.command("grant")
def grant(
    project: Annotated[str, typer.Argument()],
    site: Annotated[str | None, typer.Option(help="Notes of this site; without it, of every site.")] = None,
    note_type: Annotated[str | None, typer.Option(help="Notes of this type; without it, of every type.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="It may read them no longer.")] = False,
    config: Config = None,
) -> None:
    """Let a project read notes of a site, a type, or both, or no longer."""
    from deid_platform.warehouse.projects import grant_project

    ended = grant_project(_officer(config), project, site=site, note_type=note_type, granted=not remove)
    may = "may no longer" if remove else "may"
    console.print(f"{project} {may} read site {site or '*'}, type {note_type or '*'}", markup=False, highlight=False)
    _tell_ended(ended)


@projects.command("member")
def member(
    project: Annotated[str, typer.Argument()],
    login: Annotated[str, typer.Argument(help="A person's login, made by `deid db login`.")],
    remove: Annotated[bool, typer.Option("--remove", help="It belongs to the project no longer.")] = False,
    config: Config = None,
) -> None:
    """Let a login read for a project, or no longer."""
    from deid_platform.warehouse.projects import set_member

    ended = set_member(_officer(config), project, login, member=not remove)
    console.print(f"{login} {'left' if remove else 'reads for'} {project}", markup=False, highlight=False)
    _tell_ended(ended)


@projects.command("list")
def list_projects(config: Config = None) -> None:
    """List every project with what it may read and who belongs to it."""
    from deid_platform.warehouse.projects import projects as every

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("project", "purpose", "until", "may read (site, type)", "members"):
        table.add_column(column)
    for found in every(_officer(config)):
        grants = "\n".join(f"{site or '*'}, {note_type or '*'}" for site, note_type in found.grants)
        until = str(found.until) if found.until else "no end"
        cells = (found.purpose, until, grants or "nothing", "\n".join(found.members))
        table.add_row(found.project, *map(escape, cells))
    out.print(table)


@projects.command("accesses")
def accesses(
    login: Annotated[str | None, typer.Option(help="Of this login alone.")] = None,
    newest: Annotated[int, typer.Option(min=1, help="How many.")] = 50,
    config: Config = None,
) -> None:
    """List who read what, newest first."""
    from deid_platform.warehouse.projects import accesses as read

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("when", "login", "read", "release", "for"):
        table.add_column(column)
    for found in read(_officer(config), login=login, newest=newest):
        when = f"{found.at:%Y-%m-%d %H:%M:%S}"
        reason = ", ".join(found.projects) or "nothing"
        table.add_row(when, escape(found.login), found.relation, found.release or "none", reason)
    out.print(table)


def _tell_ended(ended: int | None) -> None:
    if ended is None:
        console.print("open connections go on: the database may not end them (`deid doctor`)", highlight=False)
    elif ended:
        console.print(f"{ended} open connections ended", highlight=False)


def _officer(config: Path | None) -> Engine:
    from deid_platform.warehouse.roles import Role

    return site_of(config).warehouse.engine(Role.OFFICER)
