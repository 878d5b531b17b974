"""Scoring a detector on a gold file: what `deid evaluate` does, without a warehouse.

Belongs here: bringing gold, detector and scores together. Does not belong here: reading gold (`corpora/`)
or the formulas (`scores.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path

from deid_platform.corpora.given_spans import GivenSpans
from deid_platform.corpora.gold import SCHEME, read_gold
from deid_platform.detection import DetectorSpec
from deid_platform.detection.two_pass import Detection
from deid_platform.engine import Engine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.bootstrap import RESAMPLES
from deid_platform.evaluation.contributions import Contribution, contributions_on
from deid_platform.evaluation.misses import miss_lines
from deid_platform.evaluation.scores import NoteCounts, Scores, count_note, summarise
from deid_platform.output import Output


def score_file(
    path: Path,
    *,
    spec: DetectorSpec,
    engine: Engine,
    scheme: str = SCHEME,
    columns: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    misses: Path | None = None,
    beside: Iterable[Path | None] = (),
    given: GivenSpans | None = None,
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
        misses: Where JSON lines of what was missed and wrongly hidden go, in context (`misses.py`): text of notes, in a
            file that its owner alone can read.
        given: Spans of another detector, which are scored in place of what `spec` finds.
        beside: The other files that this pass was made from, which `misses` may not replace.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `input-invalid` if the misses would replace an input; `input-empty` if the file holds no note, or no
            span in any: nothing could be found or missed; `spans-missing` if
            a note has none given; what `read_gold`, `GivenSpans.of` and `Output` raise.
    """
    output = None if misses is None else Output.at(misses).apart_from((path, *beside))
    gold = [(found, found.note) for found in read_gold(path, scheme=scheme, columns=columns, with_text=True)]
    notes = [note for _, note in gold if note is not None]
    if not any(found.spans for found, _ in gold):
        raise DeidError(Code.INPUT_EMPTY, "gold: no span" if gold else "gold: no line")
    if given is None:
        detections = engine.detect_in_two_passes(spec, lambda: notes, on_batch=progress)
    else:
        if unseen := sum(note not in given for note in notes):
            raise DeidError(Code.SPANS_MISSING, f"{unseen:,} of {len(notes):,} notes")
        detections = ((note, Detection(index, given.of(note))) for index, note in enumerate(notes))
    counts: list[NoteCounts] = []
    with nullcontext() if output is None else output.opened() as lines:
        for (found, _), (note, detection) in zip(gold, detections, strict=True):
            spans = detection.spans or ()
            counts.append(count_note(note.text, found.spans, spans, clinical=found.clinical, cluster=note.patient_id))
            if lines is not None:
                lines.writelines(miss_lines(note, found.spans, spans))
    return summarise(counts, resamples=resamples, seed=seed)


def contributions_to(
    path: Path,
    *,
    spec: DetectorSpec,
    scheme: str = SCHEME,
    columns: Mapping[str, str] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Contribution]:
    """What each source of a detector adds on the notes of a gold file; see `contributions_on`.

    Raises:
        DeidError: What `read_gold` and `contributions_on` raise.
    """
    read = read_gold(path, scheme=scheme, columns=columns, with_text=True)
    return contributions_on(((it.note, it.spans) for it in read if it.note is not None), spec, progress=progress)
