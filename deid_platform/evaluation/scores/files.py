"""Scoring a detector on a gold file: what `deid evaluate` does, without a warehouse.

Belongs here: bringing gold, detector and scores together. Does not belong here: reading gold (`corpora/`)
or the formulas (`scores.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

from deid_platform.corpora.given_spans import GivenSpans
from deid_platform.corpora.gold_sets import GoldSet
from deid_platform.detection import DetectorSpec
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import Engine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import RESAMPLES
from deid_platform.evaluation.scores.contributions import Contribution, contributions_on
from deid_platform.evaluation.scores.misses import miss_lines
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.runtime.output import Output


def score_file(
    gold: GoldSet,
    *,
    spec: DetectorSpec,
    engine: Engine,
    resamples: int = RESAMPLES,
    seed: int = 0,
    misses: Path | None = None,
    beside: Iterable[Path | None] = (),
    given: GivenSpans | None = None,
    progress: Callable[[int], None] | None = None,
) -> Scores:
    """Scores a detector on notes with gold. A note on which it raises counts as nothing found.

    Args:
        gold: The notes.
        spec: The detector, with topics or for the text alone.
        engine: Where it runs.
        resamples: Bootstrap resamples.
        seed: Of the resampling.
        misses: Where JSON lines of what was missed and wrongly hidden go, in context (`misses.py`): text of notes, in a
            file that its owner alone can read.
        given: Spans of another detector, which are scored in place of what `spec` finds.
        beside: The other files that this pass was made from, which `misses` may not replace.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `input-invalid` if the misses would replace an input; `input-empty` if there is no note, or no span
            in any: nothing could be found or missed; `spans-missing` if a note has none given; what `GoldSet`,
            `GivenSpans.of` and `Output` raise.
    """
    output = None if misses is None else Output.at(misses).apart_from((gold.path, *beside))
    read = [(found, found.note) for found in gold]
    notes = [note for _, note in read if note is not None]
    if not any(found.spans for found, _ in read):
        raise DeidError(Code.INPUT_EMPTY, "gold: no span" if read else "gold: no note")
    if given is None:
        detections = engine.detect_in_two_passes(spec, lambda: notes, on_batch=progress)
    else:
        if unseen := sum(note not in given for note in notes):
            raise DeidError(Code.SPANS_MISSING, f"{unseen:,} of {len(notes):,} notes")
        detections = ((note, Detection(index, given.of(note))) for index, note in enumerate(notes))
    counts: list[NoteCounts] = []
    with nullcontext() if output is None else output.opened() as lines:
        for (found, _), (note, detection) in zip(read, detections, strict=True):
            spans = detection.spans or ()
            counts.append(count_note(note.text, found.spans, spans, clinical=found.clinical, cluster=note.patient_id))
            if lines is not None:
                lines.writelines(miss_lines(note, found.spans, spans))
    return summarise(counts, resamples=resamples, seed=seed)


def contributions_to(
    gold: GoldSet,
    *,
    spec: DetectorSpec,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Contribution]:
    """What each source of a detector adds on notes with gold; see `contributions_on`.

    Raises:
        DeidError: What `GoldSet` and `contributions_on` raise.
    """
    return contributions_on(((it.note, it.spans) for it in gold if it.note is not None), spec, progress=progress)
