"""Scoring a detector on a gold file: what `deid evaluate` does, without a warehouse.

Belongs here: bringing gold, detector and scores together. Does not belong here: reading gold (`corpora/`)
or the formulas (`scores.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from deid_platform.across_notes import detect_together
from deid_platform.corpora.gold import SCHEME, read_gold
from deid_platform.detection import DetectorSpec
from deid_platform.engine import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores import RESAMPLES, Scores, count_note, summarise


def score_file(
    path: Path,
    *,
    spec: DetectorSpec,
    engine: LocalEngine,
    scheme: str = SCHEME,
    columns: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Scores:
    """Scores a detector on the notes of a gold file. A note on which it raises counts as nothing found.

    Args:
        path: JSON lines as `corpora.gold` reads them, with the text in each line.
        spec: The detector, with topics or for the text alone.
        engine: Where it runs.
        scheme: Which label names the gold uses.
        columns: Key of the gold to field of the note; by default each key is its field's name.
        resamples: Bootstrap resamples.
        seed: Of the resampling.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `input-empty` if the file holds no note, or no span in any: nothing could be found or missed; what
            `read_gold` raises.
    """
    gold = [(found, found.note) for found in read_gold(path, scheme=scheme, columns=columns, with_text=True)]
    notes = [note for _, note in gold if note is not None]
    if not any(found.spans for found, _ in gold):
        raise DeidError(Code.INPUT_EMPTY, "gold: no span" if gold else "gold: no line")
    detections = detect_together(engine, spec, lambda: notes, on_batch=progress)
    counts = (
        count_note(note.text, found.spans, detection.spans or (), clinical=found.clinical, cluster=note.patient_id)
        for (found, _), (note, detection) in zip(gold, detections, strict=True)
    )
    return summarise(counts, resamples=resamples, seed=seed)
