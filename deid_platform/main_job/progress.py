"""How far the main job is, for somebody who watches a terminal or reads its output later.

Belongs here: each step of a run as it begins, and how long the deliveries that wait may take. Does not belong here:
running anything (`main_job/command.py`), or the notes of an archive (`refresh/intake/archive.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from time import monotonic

import dagster as dg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from deid_platform.corpora import Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.errors import DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.archive import hours_and_minutes


class TimeLeft:
    """How long the deliveries of a refresh that wait may take, by how much those took that are done.

    Args:
        weights: How much there is to read of each delivery, in any unit.
        clock: Seconds that only grow.
    """

    def __init__(self, weights: Mapping[Delivery, int], *, clock: Callable[[], float] = monotonic) -> None:
        self._weights = weights
        self._done: list[Delivery] = []
        self._clock, self._since = clock, clock()

    def through(self, delivery: Delivery) -> None:
        """One more is done, promoted or not."""
        self._done.append(delivery)

    def __str__(self) -> str:
        total, done = sum(self._weights.values()), sum(self._weights[delivery] for delivery in self._done)
        seconds = (self._clock() - self._since) * (total - done) / max(done, 1)
        return f"{len(self._done):,} of {len(self._weights):,} deliveries; about {hours_and_minutes(seconds)} left"


def weights(site: Site, deliveries: Iterable[Delivery]) -> dict[Delivery, int]:
    """How much there is to read of each delivery: bytes of its files of notes; of a database, the same for each.

    One that was taken in before counts by its rows where all of them were.
    """
    deliveries = list(deliveries)
    held = {it: site.store.manifest(tables.RAW_NOTES, it.key) for it in deliveries}
    if all(held.values()):
        return {it: max(1, manifest.rows) for it, manifest in held.items() if manifest}
    sizes = {it: _size(site, it) for it in deliveries}
    return {it: size or 1 for it, size in sizes.items()} if all(sizes.values()) else dict.fromkeys(deliveries, 1)


def _size(site: Site, delivery: Delivery) -> int:
    """Bytes of the files of notes; 0 where there are none, or they cannot be read."""
    reader = site.reader(delivery.feed)
    if not isinstance(reader, FilesFeed):
        return 0
    try:
        return sum(path.stat().st_size for path in reader.files(delivery, Role.NOTES))
    except (DeidError, OSError):  # the run says why
        return 0


@contextmanager
def watched(
    job: dg.JobDefinition, instance: dg.DagsterInstance, run_id: str, what: str, console: Console
) -> Iterator[None]:
    """Says of a run that is executed in this process which step begins: a bar at a terminal, elsewhere a line each."""
    # Progress is ours to show; Dagster's loggers would write over it.
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    with _shown(what, len(job.nodes), console) as begins:
        steps = count(1)

        def heard(entry: dg.EventLogEntry) -> None:
            if entry.dagster_event_type is dg.DagsterEventType.STEP_START:
                begins(next(steps), (entry.step_key or "").replace("__", "/"))

        # Called by the instance itself as it stores an event, so that nobody has to ask it again and again.
        instance.add_event_listener(run_id, heard)
        yield


@contextmanager
def _shown(what: str, steps: int, console: Console) -> Iterator[Callable[[int, str], None]]:
    """Takes number and name of each step as it begins."""
    if not console.is_terminal:
        since = monotonic()

        def line(number: int, step: str) -> None:
            seconds = monotonic() - since
            console.print(f"{what}  {number} of {steps}  {step}  {seconds:,.0f} s", markup=False, highlight=False)

        yield line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(what, total=steps)
        yield lambda number, step: bars.update(task, completed=number - 1, description=f"{what}  {step}")
