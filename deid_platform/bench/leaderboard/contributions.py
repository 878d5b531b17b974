"""What each recognizer, dictionary and model of the configured detector adds, over the surrogate corpora.

Belongs here: which notes are read, and sealing the table. Does not belong here: the measure
(`evaluation/scores/contributions.py`).

Every rule has to earn its place: one whose identifiers something else finds too, and which hides medicine or takes
time, goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice

import pyarrow as pa

from deid_platform.bench.leaderboard.corpora import CorpusKey, sealed
from deid_platform.corpora.injection.corpus import Part
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.contributions import Contribution, contributions_on
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site


@dataclass(frozen=True)
class Contributions:
    """The table.

    Attributes:
        notes: Notes read.
        corpora: Whose they are.
        rows: A row a source, those that add most identifiers first.
    """

    notes: int
    corpora: tuple[str, ...]
    rows: list[Contribution]


def contributions(site: Site, *, progress: Callable[[int], object] = lambda _: None) -> Contributions:
    """Reads the first notes of each test part on the text alone, and seals the table.

    Raises:
        DeidError: `not-materialized` if no surrogate corpus has been made; `detector-failed`.
    """
    partitions = site.store.partitions(tables.SURROGATE_NOTES)
    if not partitions:
        raise DeidError(Code.NOT_MATERIALIZED, tables.SURROGATE_NOTES)
    count = 0

    def notes() -> Iterator[tuple[Note, tuple[Span, ...]]]:
        nonlocal count
        for partition in partitions:
            corpus, _, locale = partition.partition(".")
            some = sealed(site, CorpusKey(corpus, locale), Part.TEST)
            for note, gold, _ in islice(some, site.settings.bench.contribution_notes):
                count += 1
                yield note, gold

    # Without the language model: of what is counted here a note that it does not answer would be the end.
    spec = replace(site.spec(None), chat=None, young_unmarked=True)
    rows = contributions_on(notes(), spec, models=site.models, progress=progress)
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=tables.CONTRIBUTION_SCHEMA)
    digest = site.spec(None).detector_digest
    site.store.write(tables.CONTRIBUTIONS, tables.ALL, [table], meta=lambda: {"detector_digest": digest})
    return Contributions(count, tuple(sorted({name.partition(".")[0] for name in partitions})), rows)
