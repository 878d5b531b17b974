"""Commands on releases: release list, show, diff, notes, rollback, activate.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`warehouse/officer/releases.py`).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Config, Json, Who, Why, officer_of, say, show, show_json, site_of

if TYPE_CHECKING:
    from deid_platform.warehouse.gate.queries import LedgerEntry

releases = typer.Typer(
    help="Releases: list and compare them, and choose the one that analysts see.", no_args_is_help=True
)


@releases.command("list")
def list_releases(as_json: Json = False, config: Config = None) -> None:
    """List every release, oldest first."""
    from deid_platform.warehouse.officer.releases import releases as every

    columns = ("release", "state", "detector", "policy", "key", "deliveries", "notes", "since")
    records = (
        (r.release, r.state, r.detector, r.policy, r.key_id, r.deliveries, r.notes, r.activated_at or r.created_at)
        for r in every(officer_of(config))
    )
    show(columns, records, as_json=as_json)


@releases.command("show")
def show_release(release: Annotated[str, typer.Argument()], as_json: Json = False, config: Config = None) -> None:
    """Show what one release was made with, what it holds, and what happened to it."""
    from deid_platform.warehouse.gate.queries import ledger
    from deid_platform.warehouse.officer.releases import release as one

    officer = officer_of(config)
    found, entries = one(officer, release), ledger(officer, release=release)
    if as_json:
        show_json({**asdict(found), "ledger": [asdict(entry) for entry in entries]})
        return
    made_with = (
        ("state", found.state),
        ("detector", f"{found.detector} {found.detector_digest}"),
        ("policy", f"{found.policy} {found.policy_digest}"),
        ("key", found.key_id),
        ("deliveries", found.deliveries),
        ("notes", f"{found.notes:,}, corrected versions included"),
    )
    show(("release", found.release), (*made_with, *((entry.at, _said(entry)) for entry in entries)))


def _said(entry: LedgerEntry) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in entry.counts.items())
    return f"{entry.event}  {'; '.join(filter(None, (entry.delivery, counts, entry.who, entry.reason)))}"


@releases.command("diff")
def diff(
    old: Annotated[str, typer.Argument()],
    new: Annotated[str, typer.Argument()],
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Count how two releases differ, delivery by delivery."""
    from deid_platform.warehouse.officer.releases import diff_releases

    columns = ("delivery", f"in {old}", f"in {new}", f"only {old}", f"only {new}", "other text")
    records = (
        (
            d.delivery,
            d.notes_old,
            d.notes_new,
            d.only_old,
            d.only_new,
            "not comparable" if d.changed is None else d.changed,
        )
        for d in diff_releases(officer_of(config), old, new)
    )
    show(columns, records, as_json=as_json)


@releases.command("notes")
def notes(
    release: Annotated[str | None, typer.Argument(help="By default the one that analysts see.")] = None,
    config: Config = None,
) -> None:
    """Print what a release changes for analysts since the one before it, as Markdown for them.

    Counts under 11 are left out and others rounded down to tens, site by site.
    """
    from deid_platform.oversight.release_notes import release_notes
    from deid_platform.reports.release_notes import release_notes_markdown

    typer.echo(release_notes_markdown(release_notes(site_of(config), release)), nl=False)


@releases.command("rollback")
def rollback(who: Who, why: Why, config: Config = None) -> None:
    """Show analysts the previous release. Only `activate` shows the present one again; a refresh does not."""
    from deid_platform.warehouse.officer.releases import previous_release, switch_release

    officer = officer_of(config)
    release = previous_release(officer)
    switch_release(officer, release, who=who, reason=why)
    say(f"analysts see {release} now")


@releases.command("activate")
def activate(release: Annotated[str, typer.Argument()], who: Who, why: Why, config: Config = None) -> None:
    """Show analysts one release, even if it lacks deliveries or was withheld by a rollback."""
    from deid_platform.warehouse.officer.releases import switch_release

    switch_release(officer_of(config), release, who=who, reason=why)
    say(f"analysts see {release} now")
