"""Runs the main job from the command line, delivery by delivery, on the installation's Dagster instance.

Belongs here: which deliveries need a run, running them; the marts alone, surrogate corpora alone. Does not belong here:
what the job consists of (`definitions.py`), what it does (`refresh/`), how a run is executed (`main_job/run.py`) or how
far it is (`main_job/progress.py`).
"""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import dagster as dg
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES
from dagster._core.storage.tags import PARTITION_NAME_TAG
from rich.console import Console
from sqlalchemy.exc import DBAPIError

from deid_platform.bench.leaderboard.corpora import CorpusKey
from deid_platform.definitions import build_defs
from deid_platform.errors import Code, DeidError
from deid_platform.main_job.progress import TimeLeft, watched, weights
from deid_platform.main_job.run import execute, failure_of
from deid_platform.notes import Delivery
from deid_platform.refresh.hiding.search import due_after_search
from deid_platform.refresh.installation.lock import installation_lock
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.file_digests import forget_files
from deid_platform.refresh.staging.due import only_to_promote, pending
from deid_platform.runtime.stopping import check
from deid_platform.settings import load_settings

JOB = "refresh"
# Marks the runs that `deid refresh` itself executes; those of the daemon and the UI have workers of their own.
_OURS = {"deid/started_by": "deid refresh"}
_OF_DBT = ("marts", "papers")
_WITHOUT_DETECTOR = ("surrogate_notes", "corpus_statistics")
_MOST_RUNS = 3
"""How often a delivery is run in one refresh, if each run of others makes it due again."""
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO)


@dataclass(frozen=True)
class Refreshed:
    """How one delivery's run ended."""

    delivery: Delivery
    failure: str | None = None
    """The coded failure of the step that stopped it; None if it was promoted."""


def load_job(config: Path) -> dg.JobDefinition:
    """The main job of an installation; takes seconds, since it loads Dagster and parses the dbt project.

    Raises:
        DeidError: As `build_defs`; `instance-write` if the instance's folder cannot be written.
    """
    with _storage_coded():
        return build_defs(config=config).resolve_job_def(JOB)


def refresh_deliveries(
    job: dg.JobDefinition,
    config: Path,
    *,
    feed: str | None,
    only: str | None,
    force: bool,
    reread: bool = False,
    console: Console,
) -> list[Refreshed]:
    """Runs the job on every delivery that is new or changed, or whose last run did not end well, oldest first.

    First it tidies up after runs that were killed. It holds the installation's lock; take it before `load_job`
    already, so that a second refresh is refused at once.

    Args:
        job: The main job.
        config: deid.toml.
        feed: Only this feed's deliveries.
        only: Only this delivery.
        force: Also those that research holds unchanged.
        reread: To see what changed, reads all files, also those that the file system says nobody touched.
        console: Where progress goes.

    Returns:
        One outcome a run, in order; a delivery that is left out has none. A refused delivery does not hold
        up the next.

    Raises:
        KeyboardInterrupt: The process was asked to stop.
        DeidError: `feed-unreadable` if the one delivery that is asked for has not arrived; `refresh-running`;
            `instance-write` if Dagster's storage cannot be written.
    """
    site = Site(load_settings(config))
    with installation_lock(site.settings.home_path), _storage_coded(), dg.DagsterInstance.get() as instance:
        end_killed_runs(instance)
        if only is None:  # an archive comes through here once a delivery, and the store is read whole
            site.store.sweep()
        if reread:
            forget_files(site.store, site.wanted(feed, only))
        return _refresh(job, site, instance, feed=feed, only=only, force=force, console=console)


@contextmanager
def _storage_coded() -> Iterator[None]:
    """Gives failures of Dagster's storage a code; the warehouse's and the note store's have theirs by then."""
    try:
        yield
    except (DBAPIError, sqlite3.Error):
        raise DeidError(Code.INSTANCE_WRITE) from None
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise DeidError(Code.INSTANCE_WRITE) from None


def build_marts(config: Path) -> str | None:
    """Builds the marts and the papers' tables, in a run of its own: for figures that came without a delivery.

    Args:
        config: deid.toml.

    Returns:
        The coded failure; None if they were built.

    Raises:
        DeidError: As `load_job`.
    """
    with _storage_coded():
        defs = build_defs(config=config)
        keys = [key for key in defs.resolve_asset_graph().get_all_asset_keys() if key.path[0] in _OF_DBT]
        with dg.DagsterInstance.get() as instance:
            result = execute(defs.resolve_implicit_global_asset_job_def(), instance, assets=keys)
    check()
    return failure_of(result)


def make_corpora(config: Path, keys: Iterable[CorpusKey], *, scores: bool) -> Iterator[tuple[CorpusKey, str | None]]:
    """Makes surrogate corpora and says what is in them, each in a run of its own.

    Args:
        config: deid.toml.
        keys: Which, in which locales.
        scores: Whether the configured detector reads and is scored too, which takes longer.

    Yields:
        Each with the coded failure; None if it was made.

    Raises:
        DeidError: As `load_job`.
    """
    keys = list(keys)
    if not keys:
        return
    with _storage_coded():
        job = build_defs(config=config).resolve_job_def("surrogate_corpora")
        wanted = [key for key in job.asset_layer.selected_asset_keys if scores or key.path[-1] in _WITHOUT_DETECTOR]
        with dg.DagsterInstance.get() as instance:
            logging.getLogger("dagster").setLevel(logging.CRITICAL)
            for it in keys:
                partition = dg.MultiPartitionKey({"corpus": it.corpus, "locale": it.locale})
                result = execute(job, instance, partition=partition, assets=wanted)
                check()
                yield it, failure_of(result)


def end_killed_runs(instance: dg.DagsterInstance) -> list[str]:
    """Ends the runs of `deid refresh` that were killed, and frees every pool slot that a killed run kept.

    Only under the installation's lock, which proves both: who executed such a run held the lock to the end, and
    each step holds it while it runs, so that nobody can be at work in a pool now.

    Returns:
        The ids of the runs that were ended.
    """
    unfinished = dg.RunsFilter(job_name=JOB, tags=_OURS, statuses=NOT_FINISHED_STATUSES)
    # One that somebody executed again in the UI has its tags too, and a parent.
    killed = [run for run in instance.get_runs(unfinished) if run.parent_run_id is None]
    for run in killed:
        instance.report_run_failed(run, "The process that executed this run was killed.")
    slots = instance.event_log_storage
    for run_id in slots.get_concurrency_run_ids():
        slots.free_concurrency_slots_for_run(run_id)
    return [run.run_id for run in killed]


def _refresh(
    job: dg.JobDefinition,
    site: Site,
    instance: dg.DagsterInstance,
    *,
    feed: str | None,
    only: str | None,
    force: bool,
    console: Console,
) -> list[Refreshed]:
    wanted = site.wanted(feed, only)
    for name in sorted({delivery.feed for delivery in wanted}):
        for error in site.reader(name).refused():
            console.print(f"not a delivery [{error.ref}]: {error.code.remedy}", markup=False, highlight=False)
    unheld, clear = (wanted, []) if force else due_after_search(site, wanted)
    if clear:
        console.print(f"deliveries that show nothing of what was reported: {len(clear):,}", highlight=False)
    new = set(unheld)
    due = [delivery for delivery in wanted if delivery in new or _was_stopped(instance, delivery)]
    waived = frozenset[Delivery]() if force else only_to_promote(site, due)
    instance.add_dynamic_partitions("delivery", [delivery.key for delivery in wanted])
    outcomes: list[Refreshed] = []
    while due:
        left = TimeLeft(weights(site, due))
        for done, delivery in enumerate(due):
            if done:
                console.print(str(left), highlight=False)
            outcomes.append(_run(job, instance, delivery, console, waived=delivery in waived))
            left.through(delivery)
        # They may tell what changes an earlier one's rows: a name, or the mother of a newborn whose notes it brought.
        runs = Counter(outcome.delivery for outcome in outcomes)
        enough = {it.delivery for it in outcomes if it.failure or runs[it.delivery] == _MOST_RUNS}
        enough.add(outcomes[-1].delivery)  # nothing was told after it
        due = [delivery for delivery in pending(site, wanted) if delivery not in enough]
        waived = only_to_promote(site, due)
    run = {outcome.delivery for outcome in outcomes}
    for delivery in wanted:
        if delivery not in run:
            console.print(f"{delivery.key}: unchanged", highlight=False)
    return outcomes


def _was_stopped(instance: dg.DagsterInstance, delivery: Delivery) -> bool:
    """Whether the delivery's last run failed or was killed: what comes after its promotion may be missing."""
    runs = instance.get_runs(dg.RunsFilter(job_name=JOB, tags={PARTITION_NAME_TAG: delivery.key}), limit=1)
    return any(run.status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED) for run in runs)


def _run(
    job: dg.JobDefinition, instance: dg.DagsterInstance, delivery: Delivery, console: Console, *, waived: bool = False
) -> Refreshed:
    run_id = str(uuid4())
    if waived:
        console.print(f"{delivery.key}: what is missing was waived; what is staged and measured is promoted")
    with watched(job, instance, run_id, delivery.key, console):
        result = execute(
            job,
            instance,
            run_id=run_id,
            partition=delivery.key,
            assets=_from_promotion(job) if waived else None,
            tags={**_OURS, "deid/feed": delivery.feed},
        )
    check()  # a run that was stopped ends like one that failed, and the next delivery's would begin
    failure = failure_of(result)
    if failure is None:
        console.print(f"{delivery.key}: [green]promoted[/]", highlight=False)
        return Refreshed(delivery)
    console.print(f"{delivery.key}: [red]stopped[/]", highlight=False)
    console.print(f"  {failure}", markup=False, highlight=False)
    return Refreshed(delivery, failure)


def _from_promotion(job: dg.JobDefinition) -> list[dg.AssetKey]:
    """The promotion and all that comes after it. dbt builds its models together, those of the scores too."""
    graph, promotion = job.asset_layer.asset_graph, dg.AssetKey(["research", "note_version"])
    after = dg.AssetSelection.assets(promotion).downstream().resolve(graph)
    selected = job.asset_layer.selected_asset_keys
    return [key for key in selected if key in after or key.path[0] in _OF_DBT]
