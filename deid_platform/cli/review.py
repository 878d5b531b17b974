"""Commands on review by people: start, open, config, export, import, enter, report, quarantine.

Belongs here: arguments and what a person reads. Does not belong here: what any of it does (`review/`, `ui/desk.py`).
"""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.annotate import role_named
from deid_platform.cli.terminal import Config, Json, counted, say, show, site_of
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from deid_platform.review.annotation.rounds import Role
    from deid_platform.review.report import MissedFigures
    from deid_platform.ui.guard import Login

review = typer.Typer(
    help="Review by people: rounds of removals and missed identifiers, and the quarantine queue.", no_args_is_help=True
)
Round = Annotated[int | None, typer.Option("--round", min=1, help="By default the newest.")]

As = Annotated[str, typer.Option("--as", help="Who reviews: A, B or adjudicator.")]


@review.command("start")
def start(
    sample: Annotated[int, typer.Option(min=1, help="How many removals to draw.")] = 500,
    whole_notes: Annotated[
        bool, typer.Option("--whole-notes", help="Show the whole note of each, to look for missed identifiers.")
    ] = False,
    delivery: Annotated[
        str | None, typer.Option(help="Draw from the redacted notes of a delivery, FEED@WATERMARK, which need no gold.")
    ] = None,
    notes: Annotated[
        Path | None, typer.Option(help="Draw from a file of notes without gold: JSON lines, CSV or Parquet.")
    ] = None,
    released: Annotated[
        Path | None,
        typer.Option(
            help='What any system released of --notes, which may then be gold: JSON lines {"note_id", "text"}, CSV, '
            "Parquet or a folder of texts, each named as its note. Its removals are drawn, not those of the site's "
            "detector."
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(max=1, help="The share of notes that is looked at, above 0: each note has that chance.")
    ] = 1.0,
    config: Config = None,
) -> None:
    """Draw a round: removals that no gold marks, in the bench's gold notes, or any removals in notes without gold.

    Without --delivery and --notes the bench's gold notes are taken. Removals of former rounds are left out. What
    a prompt or a peer released, `deid evaluate --save-released` writes for --released.
    """
    from deid_platform.cli.inputs import must_exist, say_refusals
    from deid_platform.review.rounds import start as draw
    from deid_platform.review.sources import Source, checked

    if delivery is not None and notes is not None:
        raise typer.BadParameter("either --delivery or --notes", param_hint="--notes")
    if released is not None and notes is None:
        raise typer.BadParameter("name the originals with --notes", param_hint="--released")
    must_exist(
        notes=None if released is not None and notes is not None and notes.is_dir() else notes,
        released=None if released is not None and released.is_dir() else released,
    )
    source = checked(Source(delivery, notes, rate, released))
    number, drawn, of = draw(site_of(config), sample, whole_notes=whole_notes, source=source)
    say_refusals(source.refusals)
    if source.failed:
        why = "detection failed" if released is None else "not released"
        say(f"left out, {why}: {counted(source.failed, 'note')}")
    say(f"round {number}: {counted(drawn, 'removal')} of {of:,}")
    say("next: deid review open --as A, and --as B by another person")


@review.command("open")
def open_(
    role: As,
    number: Round = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the loopback address.")] = 3010,
    config: Config = None,
) -> None:
    """Open the desk: a page on this machine that shows removals and keeps each decision at once. It shows PHI."""
    from deid_platform.review.rounds import known_round
    from deid_platform.ui.desk import serve

    who = _reviewer(role)
    site = site_of(config)
    chosen = known_round(site.store, number)
    listening, login = _listening(port, f"round {chosen}, {who.value}")
    with listening:
        serve(site, chosen, who, listening=listening, login=login)


@review.command("quarantine")
def quarantine(
    who: Annotated[str, typer.Option(help="Who decides: the ledger keeps it.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the loopback address.")] = 3011,
    config: Config = None,
) -> None:
    """Open the quarantine queue: keep a note out, mend its spans, or let it pass with a second person. It shows PHI.

    Whatever is decided, the next refresh redacts the note and its leak check and gate judge it.
    """
    from deid_platform.ui.queue import serve_queue

    site = site_of(config)
    listening, login = _listening(port, f"quarantine, {who}")
    with listening:
        serve_queue(site, who, listening=listening, login=login)


def _listening(port: int, what: str) -> tuple[socket.socket, Login]:
    """A socket, and the login of a page whose link is printed."""
    from deid_platform.ui.guard import Login

    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError:
        raise DeidError(Code.PORT_UNUSABLE, str(port)) from None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    login = Login(port)
    say(f"{what} (ends with Ctrl-C); this link works once, in one browser:")
    say(f"http://127.0.0.1:{port}{login.path}")
    return listening, login


@review.command("config")
def config_(config: Config = None) -> None:
    """Print the labelling interface of a round for Label Studio."""
    from deid_platform.review.studio import config as interface

    typer.echo(interface(site_of(config)), nl=False)


@review.command("export")
def export(
    role: As,
    to: Annotated[
        Path,
        typer.Option("--to", help="A CSV file, or .json for Label Studio. It holds notes: keep it in the PHI zone."),
    ],
    number: Round = None,
    config: Config = None,
) -> None:
    """Write a round for a reviewer to fill in: a spreadsheet or, if the file ends in .json, tasks for Label Studio."""
    from deid_platform.review.rounds import known_round

    if to.suffix == ".json":
        from deid_platform.review.studio import export as write
    else:
        from deid_platform.review.sheets import export as write
    site = site_of(config)
    chosen = known_round(site.store, number)
    done = write(site, chosen, _reviewer(role), to)
    say(f"round {chosen}: {counted(done, 'removal')}; it holds notes as they are: PHI, keep it in the PHI zone")


@review.command("import")
def import_(
    sheet: Annotated[Path, typer.Argument(help="The CSV file, filled in, or Label Studio's .json export.")],
    role: As,
    number: Round = None,
    config: Config = None,
) -> None:
    """Take the decisions of a spreadsheet or of Label Studio back, all or none; empty cells are left as they are."""
    from deid_platform.review.decisions import enter as entered
    from deid_platform.review.rounds import known_round

    if sheet.suffix == ".json":
        from deid_platform.review.studio import take_back
    else:
        from deid_platform.review.sheets import take_back
    site = site_of(config)
    chosen = known_round(site.store, number)
    decisions, marks = take_back(site, chosen, _reviewer(role), sheet)
    say(f"round {chosen}: {counted(decisions, 'decision')} kept, {counted(marks, 'mark')} of missed identifiers")
    if marks:
        try:
            entered(site, chosen)
        except DeidError as error:
            say(f"not in the ledger yet ({error.code.slug}); next: deid review enter")
        else:
            say("next, by an officer: deid finding marks, where a released note still shows what was marked")


@review.command("enter")
def enter(number: Round = None, config: Config = None) -> None:
    """Enter the decisions of a round that the ledger lacks; the desk does so itself while the warehouse answers."""
    from deid_platform.review.decisions import enter as entered
    from deid_platform.review.rounds import known_round

    site = site_of(config)
    chosen = known_round(site.store, number)
    say(f"round {chosen}: {counted(entered(site, chosen), 'decision')} entered; the ledger has all of them")


def _reviewer(name: str) -> Role:
    role = role_named(name, "--as")
    if role is None:
        raise typer.BadParameter("A, B or adjudicator", param_hint="--as")
    return role


@review.command("report")
def report(
    number: Round = None,
    role: Annotated[str | None, typer.Option("--as", help="What one role says, not what is settled.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Show the shares of removals by category and severity, with 95% intervals, and how far the readers agree."""
    from deid_platform.review.report import report as measured
    from deid_platform.review.rounds import known_round
    from deid_platform.review.sources import WITH_GOLD

    site = site_of(config)
    chosen = known_round(site.store, number)
    found = measured(site, chosen, role=role_named(role, "--as"))
    of_all = [("category", name.value, share) for name, share in found.categories.items()]
    of_relevant = [("severity", name.value, share) for name, share in found.severities.items()]
    show(
        ("of", "what", "removals", "of all", "share", "95% from", "to"),
        [(of, what, e.hits, e.total, e.value, e.low, e.high) for of, what, e in (*of_all, *of_relevant)],
        as_json=as_json,
    )
    _show_missed(found.missed, as_json=as_json)
    stands = found.standing
    if found.source not in WITH_GOLD:
        say("drawn from notes without gold: missed_by_gold is the share of removals that were right")
    say(f"round {chosen}: {len(stands.settled):,} settled, {len(stands.undecided):,} to be adjudicated, "
        f"{len(stands.waiting):,} lack a reader")  # fmt: skip
    if found.kappa is not None:
        category = _ranged(found.kappa, *(found.kappa_interval or (None, None)))
        severity = ""
        if found.kappa_severity is not None:
            severity = f", severity {_ranged(found.kappa_severity, *(found.kappa_severity_interval or (None, None)))}"
        say(f"Cohen's kappa (95% interval) over {found.read_twice:,} read twice: category {category}{severity}")


def _show_missed(found: MissedFigures, *, as_json: bool) -> None:
    of = [("all", "all", found.per_note), *(("label", label.value, it) for label, it in found.labels.items())]
    of += [("severity", severity.value, it) for severity, it in found.severities.items()]
    show(
        ("missed", "what", "notes", "per note", "95% from", "to"),
        [(kind, what, it.n, it.value, it.low, it.high) for kind, what, it in of],
        as_json=as_json,
    )
    say(f"{counted(found.found, 'identifier')} missed in what is shown of {counted(found.notes, 'note')}; "
        f"{found.apart:,} marked by one reader alone")  # fmt: skip
    if found.agreement.value is not None:
        say(
            f"F1 of the two readers' marks: {_ranged(found.agreement.value, found.agreement.low, found.agreement.high)}"
        )


def _ranged(value: float, low: float | None, high: float | None) -> str:
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
