"""`deid prompts`: trials of prompts to the language model.

Belongs here: arguments and what a person reads. Does not belong here: trying a prompt
(`bench/leaderboard/prompt_trials.py`).
"""

from __future__ import annotations

from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, Json, console, say, show, site_of
from deid_platform.runtime.stopping import watched


def prompts(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROMPT]...", help="Prompts by name (docs/language-models.md), or files of one's own."),
    ] = None,
    notes: Annotated[int | None, typer.Option(min=1, help="Notes. Default: `bench.trial_notes` of deid.toml.")] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Try prompts to the language model of deid.toml on notes for tuning, and show the scores of all trials.

    The notes are published clinical cases with identifiers written in (`deid corpora`), none of which is in a test.
    Answers are kept, so a trial that was stopped goes on where it was. Without a prompt, nothing is asked, and the
    trials so far are shown.
    """
    from deid_platform.bench.leaderboard.prompt_trials import COLUMNS, trial_rows, trials, tried
    from deid_platform.llm.prompts import DEIDENTIFY, prompt_of
    from deid_platform.settings import config_path

    site = site_of(config_path(config))
    chosen = [prompt_of(name, *DEIDENTIFY) for name in names or ()]
    with watched():
        for one in chosen:
            with console.status(f"trying {one.name}"):
                found = tried(site, one, notes)
            say(f"{one.name}, version {one.version}: {found.failed} of {found.notes} notes failed")
    show(COLUMNS, trial_rows(trials(site)), as_json=as_json)
