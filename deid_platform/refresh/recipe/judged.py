"""Which of the bench's measurements the gate judges by, and which stand beside it.

Belongs here: their order. Does not belong here: measuring (`bench/gate/scoring.py`), thresholds
(`refresh/staging/measure.py`), or which gold comes before which (`evaluation/sources.py`).
"""

from __future__ import annotations

from deid_platform.evaluation.sources import Source
from deid_platform.refresh.datasets import tables
from deid_platform.store import Manifest, NoteStore


def measurements(store: NoteStore) -> list[Manifest]:
    """What the bench measured on each set of notes; the gate judges by the first.

    If the first is of another detector than today's, today's was not measured: the next does not stand in for it.
    """
    sealed = (store.manifest(it.metrics, tables.ALL) for it in tables.BENCH_SETS)
    return sorted((it for it in sealed if it is not None), key=lambda it: Source.of_meta(it.meta).rank)
