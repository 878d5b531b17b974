"""Commands on what a reader found, or a reviewer marked, in a released note: retract, finding.

Belongs here: arguments, the question, and what a person reads of the answers. Does not belong here: what any of it does
(`refresh/staging/findings.py`).
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.extract import tell_holders
from deid_platform.cli.terminal import Config, Json, Who, Why, counted, officer_of, say, show, site_of
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from deid_platform.warehouse.officer.findings import Reach

_SPAN = re.compile(r"(\d{1,9})[:-](\d{1,9})")

finding = typer.Typer(
    help="Findings: identifiers that readers found, or reviewers marked, in released notes.", no_args_is_help=True
)


def retract(
    note_key: Annotated[str, typer.Argument(help="As research.notes shows it.")],
    label: Annotated[str, typer.Option(help="What kind of identifier it is, such as PATIENT.")],
    who: Annotated[str, typer.Option(help="Who found it.")],
    span: Annotated[
        str | None, typer.Option(help="Its position in the redacted text: START:END in characters from 0.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Hide the note whatever it says, and no other.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be hidden, and hide nothing.")] = False,
    hide: Annotated[
        int | None,
        typer.Option(min=1, help="Hide up to this many notes without asking; by default 1 in 100, at least 10."),
    ] = None,
    config: Config = None,
) -> None:
    """Hide a note in which a reader found an identifier, in every release at once.

    Every other note that holds the same string as whole words is hidden too. In many notes, it may be a common word:
    then only the reported note is hidden at once, and the others after a prompt at a terminal, or with --hide. No
    delivery passes the gate again until `deid refresh` has searched it for the string. Where a note may show it, the
    delivery is redacted again: notes that still hold it are then quarantined. The string is never printed or logged; it
    has up to 200 characters. With --whole, the note is hidden until two people withdraw the finding.
    """
    from deid_platform.labels import Label
    from deid_platform.refresh.staging.findings import preview, report, report_note
    from deid_platform.warehouse.readers.extracts import holders
    from deid_platform.warehouse.server.roles import Role

    place = _SPAN.fullmatch(span or "")
    if whole == (span is not None) or (whole and dry_run):
        raise DeidError(Code.FINDING_INVALID, "--span or --whole")
    if not whole and (place is None or int(place[1]) >= int(place[2])):
        raise DeidError(Code.FINDING_INVALID, "span")
    if label not in Label.__members__.values():
        raise DeidError(Code.LABEL_UNKNOWN, "--label")
    site = site_of(config)
    if place is None:
        note = report_note(site, note_key, label=Label(label), who=who)
        say(f"finding {note.number}: the note is hidden until two people withdraw the finding")
        tell_holders(holders(site.warehouse.engine(Role.OFFICER), finding=note.number))
        say("the gate is shut for what was measured before: run `deid refresh`")
        return
    start, end = int(place[1]), int(place[2])
    if dry_run:
        _tell_preview(preview(site, note_key, start, end), hide)
        return
    done = report(site, note_key, start, end, label=Label(label), who=who, hide=hide)
    settled = done.hidden == done.holders
    if not settled and hide is None and sys.stdin.isatty():
        # A leak must not stay visible while somebody thinks.
        say(f"the reported note is hidden; the string is in {_reach(done)}")
        if typer.confirm(f"hide all {done.holders:,} notes?", err=True):
            done = report(site, note_key, start, end, label=Label(label), who=who, hide=done.holders)
            settled = done.hidden == done.holders
        else:
            settled = True
    say(
        f"finding {done.number}, a string of {done.length} characters: {counted(done.hidden, 'note')} hidden;"
        f" the string is in {_reach(done)}"
    )
    tell_holders(holders(site.warehouse.engine(Role.OFFICER), finding=done.number))
    say("the gate is shut for what was measured before: run `deid refresh`")
    if not settled:
        raise DeidError(Code.FINDING_COMMON, f"finding {done.number}: {done.holders} of {counted(done.notes, 'note')}")


def _tell_preview(reach: Reach, hide: int | None) -> None:
    said = f"would hide {_reach(reach)}; a string of {reach.length} characters"
    most = reach.unasked if hide is None else hide
    if reach.holders > most:
        said += f"\nmore than {counted(most, 'note')}: `deid retract` hides the reported note alone and asks,"
        said += " unless --hide says so"
    typer.echo(said)


def _reach(reach: Reach) -> str:
    share = f"{reach.holders:,} of {counted(reach.notes, 'note')} ({reach.share:.1%})"
    return f"{share}, in {counted(reach.releases, 'release')}"


@finding.command("list")
def list_findings(as_json: Json = False, config: Config = None) -> None:
    """List every finding, oldest first; the strings themselves are never shown."""
    from deid_platform.warehouse.officer.findings import findings

    columns = ("finding", "note key", "label", "who", "when", "notes hidden", "state", "withdrawn by", "reasons")
    records = (
        (f.number, f.note_key, f.label, f.who, f.at, f.hidden, f.state, f.withdrawn_by, f.reasons)
        for f in findings(officer_of(config))
    )
    show(columns, records, as_json=as_json)


@finding.command("marks")
def list_marks(as_json: Json = False, config: Config = None) -> None:
    """List what reviewers marked as missed in released notes and nobody has acted upon, oldest first.

    Hide the note with `deid retract`, or say with `deid finding dismiss` why it stays.
    """
    from deid_platform.review.decisions import enter
    from deid_platform.review.rounds import rounds
    from deid_platform.warehouse.officer.marks import open_marks
    from deid_platform.warehouse.server.roles import Role

    site = site_of(config)
    unentered: DeidError | None = None
    for number in rounds(site.store):
        try:
            enter(site, number)
        except DeidError as error:
            unentered = error  # the marks that the ledger has wait all the same
    columns = ("mark", "note key", "label", "severity", "round", "role", "who", "when", "analysts see it", "releases")
    records = (
        (m.missed, m.note_key, m.label, m.severity, m.round, m.role, m.who, m.at, m.shown, m.releases)
        for m in open_marks(site.warehouse.engine(Role.OFFICER))
    )
    show(columns, records, as_json=as_json)
    if unentered is not None:
        raise unentered


@finding.command("dismiss")
def dismiss(
    mark: Annotated[str, typer.Argument(help="The mark, as `deid finding marks` shows it.")],
    note_key: Annotated[str, typer.Argument(help="The note in which it is dismissed, likewise.")],
    who: Who,
    why: Why,
    config: Config = None,
) -> None:
    """Say why a note stays although a reviewer marked an identifier in it. The reason is no place for the words."""
    from deid_platform.warehouse.officer.marks import dismiss_mark

    dismiss_mark(officer_of(config), mark, note_key, who=who, reason=why)
    say(f"mark {mark} dismissed; its note stays")


@finding.command("withdraw")
def withdraw(
    number: Annotated[int, typer.Argument(help="The finding's, as `deid finding list` shows it.")],
    who: Who,
    why: Why,
    config: Config = None,
) -> None:
    """Withdraw a mistaken finding: one person proposes it, and a second one confirms it with the same command.

    Then the notes that only this finding hid are shown again, and later runs do not look for its string.
    """
    from deid_platform.refresh.staging.findings import withdraw as withdraw_finding

    done = withdraw_finding(site_of(config), number, who=who, reason=why)
    if done.withdrawn:
        say(f"finding {number} withdrawn: {counted(done.shown, 'note')} shown again")
        say("next: deid refresh, which redacts again what was quarantined because of it")
    else:
        say(f"proposed to withdraw finding {number}; nothing is shown yet")
        say(f'next, by somebody else: deid finding withdraw {number} --who "NAME" --why "REASON"')
