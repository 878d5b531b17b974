"""Commands that make a model the site's own: draw, take, train.

Belongs here: arguments and what a person reads. Does not belong here: what any of it does
(`review/annotation/adaptation`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Config, Json, Value, counted, progress, say, show, site_of

if TYPE_CHECKING:
    from deid_platform.review.annotation.adaptation.own_model import Comparison

adapt = typer.Typer(help="A model of the site's own, from a few notes that people mark.", no_args_is_help=True)
_PHI = "it holds notes as they are: PHI, readable by you alone; keep it in the PHI zone, and delete it once taken back"


@adapt.command("draw")
def draw(
    to: Annotated[
        Path,
        typer.Option("--to", help="The file of tasks for Label Studio, or with --text the folder of marked text."),
    ],
    notes: Annotated[int, typer.Option(min=3, help="How many notes to draw.")] = 40,
    pool: Annotated[int, typer.Option(min=3, help="Of so many notes, drawn by lot, the least sure are taken.")] = 2000,
    as_text: Annotated[bool, typer.Option("--text", help="Write a folder of marked text, a file a note.")] = False,
    blind: Annotated[
        bool,
        typer.Option("--blind", help="Show nothing of what the detector finds, in the notes to learn from either."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Draw none, and write those that nobody has given back.")
    ] = False,
    config: Config = None,
) -> None:
    """Draw the notes that teach the model most, for people to mark.

    Three in five are those of which it is least sure, of as many types as there are; one in five, drawn by lot, serves
    the thresholds, and one in five the comparison with the model in use. None is of the bench's test set.
    """
    from deid_platform.review.annotation import adaptation

    site = site_of(config)
    with progress("reading notes") as bar:
        some = adaptation.unmarked(site) if again else adaptation.draw(site, notes, pool=pool, progress=bar.advance)
    count, left_out = adaptation.hand_out(site, some, to, as_text=as_text, blind=blind)
    of = ", ".join(f"{number:,} {_SERVE[part.value]}" for part, number in adaptation.parts(some.values()).items())
    say(f"{counted(count, 'note')}: {of}")
    if left_out:
        say(f"left out, changed since they were drawn or not writable: {counted(left_out, 'note')}")
    say(_PHI)
    say("next: mark every identifier, then deid adapt take FILE")


_SERVE = {"learn": "to learn from", "thresholds": "for the thresholds", "compare": "for the comparison"}


@adapt.command("take")
def take(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Exports of Label Studio, marked text, or folders of either.")
    ] = None,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Take what people mended in the quarantine queue too, to learn from.")
    ] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Take marked notes back, note by note; one that comes again replaces the former one.

    Exit status 3 says that something was refused: the place is that of the note in its file or folder, from 1.
    """
    from deid_platform.corpora.refusals import Refusals
    from deid_platform.review.annotation import adaptation

    if not files and not quarantine:
        raise typer.BadParameter("a file, or --quarantine", param_hint="FILES")
    site = site_of(config)
    done = adaptation.take(site, files or [])
    if quarantine:
        say(f"mended in quarantine: {counted(adaptation.take_mended(site).notes, 'note')}")
    skipped = f", {done.skipped:,} skipped" if done.skipped else ""
    say(f"taken back: {counted(done.notes, 'note')}{skipped}")
    of = adaptation.parts(it.member for it in adaptation.marked(site))
    say("marked so far: " + ", ".join(f"{number:,} {_SERVE[part.value]}" for part, number in of.items()))
    if not done.refused:
        return
    refusals = Refusals()
    for rejection in done.refused:
        refusals.add(rejection)
    show(("file", "reason", "notes", "places"), ((k.file, k.reason.value, k.rows, k.lines) for k in refusals),
         as_json=as_json)  # fmt: skip
    raise typer.Exit(3)


@adapt.command("train")
def train(as_json: Json = False, config: Config = None) -> None:
    """Train a model on the marked notes and compare it with the one in use; needs the extra `ml`.

    It goes on from the shipped model, as the section `[training]` says. It goes into the folder that this names if it
    is better on the notes kept back. Exit status 3 says that it is not: then it stays beside that folder.
    """
    from deid_platform.review.annotation.adaptation.own_model import adapt as carried_out

    site = site_of(config)
    with progress("training") as bar:
        done = carried_out(site, told=lambda at: bar.at(at.step, at.steps))
    say(f"learned from {counted(done.learned, 'note')} of the site, thresholds beside {done.thresholds:,}")
    found = done.comparison
    show(("measure", "in use", "new", "difference", "95% from", "to"), _rows(found), as_json=as_json)
    of = f"on {counted(found.after.notes, 'note')} kept back"
    name = _named(done.folder, site.settings.root)
    if not found.better:
        say(f"the new model is not better {of}: it is in {name}, and is not to be used")
        raise typer.Exit(3)
    say(f"the new model is better {of}")
    say(f'next: [detection] models = ["{name}"] in deid.toml, then deid refresh: the gate decides')


def _named(folder: Path, root: Path) -> str:
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _rows(found: Comparison) -> list[tuple[Value, ...]]:
    pairs = (
        ("recall", found.before.recall, found.after.recall, found.recall),
        ("precision", found.before.precision, found.after.precision, found.precision),
    )
    return [(name, old.value, new.value, less.value, less.low, less.high) for name, old, new, less in pairs]
