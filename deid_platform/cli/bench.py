"""`deid bench`: the leaderboard, by plan.

Belongs here: arguments and what a person reads. Does not belong here: measuring (`bench/leaderboard/leaderboard.py`),
or building marts (`main_job/command.py`).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Config, Json, Value, console, counted, progress, say, show, site_of
from deid_platform.runtime.stopping import requested, watched

if TYPE_CHECKING:
    from deid_platform.bench.leaderboard.corpora import CorpusKey
    from deid_platform.bench.leaderboard.detectors import Detectors
    from deid_platform.bench.leaderboard.leaderboard import NotMeasured
    from deid_platform.bench.leaderboard.plan import BenchPlan
    from deid_platform.refresh.installation.site import Site

_NO_NOTES = "corpus without test notes, left out: {}"
_MARTS = ("leaderboard", "efficiency", "token_scores", "sex_gap", "published_beside_ours", "published_coverage")


def bench(
    plan: Annotated[
        str | None,
        typer.Option(
            help="A plan's name, papers or chat, or a file (docs/evaluation.md). Default: `bench.plan` of deid.toml."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be measured, and what is.")] = False,
    marts: Annotated[bool, typer.Option(help="Build the marts afterwards.")] = True,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Measure detectors of any kind on surrogate corpora and on a site's own gold, and record their scores.

    The corpora are those of `deid corpora`, published ones and the site's own. Peers are those of [peers] in deid.toml,
    and prompts go to the model of [llm] or else of [vllm]; what is not here is named and left out. What was measured
    and has not changed since is not measured again, so a run that was stopped goes on where it was. Exit status 1 means
    that a detector failed on a corpus, that nothing was measured, or that the marts could not be built.
    """
    from deid_platform.bench.leaderboard.plan import plan_of
    from deid_platform.settings import config_path

    path = config_path(config)
    site = site_of(path)
    chosen = plan_of(site.settings, plan)
    with watched():
        try:
            failed = _bench(site, path, chosen, dry_run=dry_run, marts=marts, as_json=as_json)
        except KeyboardInterrupt:
            say("stopped; the next `deid bench` continues from here")
            raise typer.Exit(128 + (requested() or signal.SIGINT)) from None
    if failed:
        raise typer.Exit(1)


def _bench(site: Site, path: Path, plan: BenchPlan, *, dry_run: bool, marts: bool, as_json: bool) -> bool:
    """Carries out a plan; whether a detector or the marts failed, or nothing was measured."""
    from deid_platform.bench.leaderboard.detectors import Detectors
    from deid_platform.bench.leaderboard.leaderboard import Measured, WithoutNotes, carried_out, here
    from deid_platform.evaluation.sources import Source
    from deid_platform.reports.leaderboard_table import COLUMNS, board_rows

    keys, elsewhere = here(site, plan)
    if elsewhere:
        say(f"corpora that are not here, left out: {', '.join(elsewhere)}")
    with console.status("starting peers"):
        detectors = Detectors(site, plan.detectors)
    with detectors:
        for name, why in detectors.missing.items():
            say(f"detector that is not here, left out: {name} ({why})")
        if dry_run:
            columns = ("corpus", "locale", "notes", "detector", "measured")
            show(columns, _listed(site, plan, keys, detectors), as_json=as_json)
            return False
        found: list[Measured] = []
        failures: list[NotMeasured] = []
        total = sum(1 for key in keys for it in detectors if it.reads(_language(site, key)))
        with progress("measuring") as bar:
            for done, it in enumerate(carried_out(site, plan, keys, detectors), start=1):
                bar.at(done, total)
                if isinstance(it, Measured):
                    found.append(it)
                elif isinstance(it, WithoutNotes):
                    say(_NO_NOTES.format(it.key.partition))
                else:
                    failures.append(it)
    for it in failures:
        say(f"not measured: {it.name} on {it.key.corpus} in {it.key.locale}: {it.failure}")
    anew = sum(it.anew for it in found)
    say(f"{counted(len(found), 'score')} of a detector on a corpus in a locale: {anew:,} measured, the rest as before")
    if found and not as_json:
        keys_of = dict.fromkeys(it.key for it in found)
        sources = (Source.of(key.gold(site.settings)[0], "text" if key.as_written else "topics") for key in keys_of)
        for said in dict.fromkeys(source.both for source in sources):
            say(f"measured on {said}")
    show(COLUMNS, board_rows(scored for it in found for scored in it.scored), as_json=as_json)
    built = not marts or _build_marts(site, path)
    return bool(failures) or not built or not found


def _listed(site: Site, plan: BenchPlan, keys: list[CorpusKey], detectors: Detectors) -> Iterator[tuple[Value, ...]]:
    from deid_platform.bench.leaderboard.leaderboard import Leaderboard, WithoutNotes, notes_of_plan

    board = Leaderboard(site)
    for given in notes_of_plan(site, plan, keys):
        if isinstance(given, WithoutNotes):
            say(_NO_NOTES.format(given.key.partition))
            continue
        key = given.key
        for it in detectors:
            if it.reads(given.language):
                yield key.corpus, key.locale, len(given.notes), it.name, board.is_measured(it, given)


def _language(site: Site, key: CorpusKey) -> str:
    from deid_platform.corpora.catalogue import corpus_of

    return corpus_of(key.corpus, site.settings).language


def _build_marts(site: Site, path: Path) -> bool:
    """Builds the marts and says where they are; whether they were built."""
    from deid_platform.refresh.installation.lock import installation_lock

    with installation_lock(site.settings.home_path, wait=True), console.status("building the marts"):
        from deid_platform.main_job.command import build_marts

        failure = build_marts(path)
    if failure:
        say(f"the marts were not built: {failure}")
        return False
    database = site.settings.warehouse.database
    say(f"in the database {database}: {', '.join(f'marts.{name}' for name in _MARTS)}; `deid db psql` opens it")
    return True
