"""Commands on annotation by people: config, export, import, agreement, adjudicate, accept.

Belongs here: arguments and what a person reads. Does not belong here: what any of it does (`review/annotation/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Config, Json, Value, counted, progress, say, show, site_of

if TYPE_CHECKING:
    from deid_platform.evaluation.scores.agreement import Agreement, Kappa, SpanAgreement
    from deid_platform.review.annotation.adjudication import Standing
    from deid_platform.review.annotation.rounds import Role

annotate = typer.Typer(
    help="Annotation by people: two annotators and an adjudicator make the site's own gold.", no_args_is_help=True
)

Round = Annotated[int | None, typer.Option("--round", min=1, help="By default the newest.")]
To = Annotated[Path, typer.Option("--to", help="The file to write. It holds notes: keep it in the PHI zone.")]
_PHI = "it holds notes as they are: PHI, readable by you alone; keep it, and the annotation server, in the PHI zone"


@annotate.command("config")
def config_() -> None:
    """Print the labelling interface for Label Studio: every label with its colour."""
    from deid_platform.corpora.formats.labelstudio import labelling_config

    typer.echo(labelling_config(), nl=False)


@annotate.command("export")
def export(
    to: To,
    number: Annotated[int | None, typer.Option("--round", min=1, help="By default the newest, or 1.")] = None,
    annotator: Annotated[str | None, typer.Option(help="For whom: A or B. Default: one project for both.")] = None,
    predicted: Annotated[
        bool, typer.Option("--with-predictions/--blind", help="Show what the detector finds, or nothing.")
    ] = False,
    notes: Annotated[
        int | None, typer.Option(min=1, help="The most notes of a round that begins. Default: the whole sample.")
    ] = None,
    config: Config = None,
) -> None:
    """Write the notes of a round as tasks for Label Studio; the round begins with its first export."""
    from deid_platform.review.annotation.rounds import ANNOTATORS, begin, hand_out, rounds

    role = role_named(annotator)
    if role is not None and role not in ANNOTATORS:
        raise typer.BadParameter("A or B", param_hint="--annotator")
    site = site_of(config)
    chosen = number or (rounds(site.store) or [1])[-1]
    begin(site, chosen, most=notes)
    with progress("writing tasks") as bar:
        done = hand_out(site, chosen, to, role=role, predicted=predicted, progress=bar.advance)
    shown = "with predictions" if predicted else "blind"
    whom = f"for {role.value}" if role else "for both annotators"
    say(f"round {chosen}, {whom}, {shown}: {counted(done.notes, 'note')}")
    if done.left_out:
        say(f"left out, changed or withdrawn since the round began: {counted(done.left_out, 'note')}")
    say(_PHI)


@annotate.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="JSON exports of Label Studio, or folders of them.")],
    number: Round = None,
    annotator: Annotated[
        str | None, typer.Option(help="A, B or adjudicator, where tasks do not say it; those of another are refused.")
    ] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Take annotations back, note by note; an annotation that comes again replaces the former one.

    Exit status 3 says that something was refused: the place is that of the task in its file, from 1.
    """
    from deid_platform.corpora.refusals import Refusals
    from deid_platform.review.annotation.returned import take_back

    done = take_back(site_of(config), files, number=number, role=role_named(annotator))
    for (of, role), count in sorted(done.notes.items()):
        skipped = done.skipped[of, role]
        say(f"round {of}, {role.value}: {counted(count, 'note')}" + (f", {skipped:,} skipped" if skipped else ""))
    if not done.notes:
        say("nothing was taken back")
    refusals = Refusals()
    for rejection in done.refused:
        refusals.add(rejection)
    if done.refused:
        show(("file", "reason", "tasks", "places"), ((k.file, k.reason.value, k.rows, k.lines) for k in refusals),
             as_json=as_json)  # fmt: skip
        raise typer.Exit(3)


@annotate.command("agreement")
def agreement(
    number: Round = None,
    differences: Annotated[
        bool, typer.Option("--disagreements", help="List each place where the annotators differ, without its text.")
    ] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Show how far the two annotators agree, by label: F1 of spans, and Cohen's kappa over words."""
    from deid_platform.evaluation.scores.agreement import agreement as measured
    from deid_platform.evaluation.scores.agreement import disagreements
    from deid_platform.review.annotation.adjudication import paired, standing

    found = standing(site_of(config), number)
    notes = paired(found)
    columns: tuple[str, ...]
    if differences:
        columns = ("note", "kind", "A from", "A to", "A label", "B from", "B to", "B label")
        rows = [(d.key, _kind(d.kind), *_place(d.one), *_place(d.other)) for note in notes for d in disagreements(note)]
        show(columns, rows, as_json=as_json)
    else:
        columns = ("label", "A spans", "B spans", "F1 exact", "F1 overlapping", "F1 exact, any label", "kappa",
                   "95% from", "to")  # fmt: skip
        show(columns, _rows(measured(notes)), as_json=as_json)
    _tell(found)


def _rows(found: Agreement) -> Iterator[tuple[Value, ...]]:
    yield "all", *_figures(found.spans, found.kappa)
    for label, by in found.labels.items():
        yield label.value, *_figures(by.spans, by.kappa)


def _figures(spans: SpanAgreement, kappa: Kappa) -> tuple[Value, ...]:
    return (spans.one, spans.other, spans.exact, spans.overlapping, spans.exact_any_label, kappa.value, kappa.low,
            kappa.high)  # fmt: skip


def _place(span: object) -> tuple[Value, ...]:
    from deid_platform.notes import Span

    return (span.start, span.end, span.label.value) if isinstance(span, Span) else (None, None, None)


def _kind(kind: str) -> str:
    return {"only_one": "A alone", "only_other": "B alone"}.get(kind, kind.replace("_", " "))


def _tell(found: Standing) -> None:
    """Says on what the figures rest and what comes next."""
    of = counted(len(found.notes), "note")
    say(f"round {found.number}, {of}: {len(found.agreed):,} agreed, {len(found.disputed):,} disputed")
    if found.waiting:
        say(f"next: {counted(len(found.waiting), 'note')} lack an annotator; deid annotate import FILE")
    if found.undecided:
        say(f"next: {counted(len(found.undecided), 'note')} to decide; deid annotate adjudicate --to FILE")
    if not found.waiting and not found.undecided:
        say("next: deid annotate accept")


@annotate.command("adjudicate")
def adjudicate(to: To, number: Round = None, config: Config = None) -> None:
    """Write the notes that the annotators differ on as tasks for the adjudicator, with the spans of both."""
    from deid_platform.review.annotation.adjudication import hand_to_adjudicator

    done = hand_to_adjudicator(site_of(config), number, to)
    say(f"for the adjudicator: {counted(done, 'note')}")
    say(_PHI)


@annotate.command("accept")
def accept(number: Round = None, config: Config = None) -> None:
    """Make a finished round the site's own gold, in the gold folders of its feeds; the next refresh measures on it."""
    from deid_platform.review.annotation.adjudication import accept as take

    done = take(site_of(config), number)
    left = f"; {done.left_out:,} left out" if done.left_out else ""
    say(f"gold of {', '.join(done.deliveries)}: {counted(done.notes, 'note')}, {counted(done.spans, 'span')}{left}")
    say("next: deid refresh --force")


def role_named(name: str | None, hint: str = "--annotator") -> Role | None:
    """The role of that name, for options; None if none was given."""
    from deid_platform.review.annotation.rounds import Role

    if name is None:
        return None
    known = {role.value.casefold(): role for role in Role}
    if name.casefold() not in known:
        raise typer.BadParameter(f"one of {', '.join(role.value for role in Role)}", param_hint=hint)
    return known[name.casefold()]
