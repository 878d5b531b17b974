"""Scores on only some labels, for a detector that claims no others.

Belongs here: counting a note's words by claimed labels. Does not belong here: which labels a peer claims
(`detection/peers/claims.py`), or what follows from counts (`evaluation/scores/scores.py`).

Words of an identifier whose label is not claimed are left out: not missed if they stay, not wrong if they are hidden.
Of the words that identify nobody, only those count as wrong that are hidden under a claimed label. A claimed word is
found if it is hidden under any label. So a detector that claims all labels has the scores of
`evaluation/scores/scores.py`, and one that claims few is compared with another by what both were asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from deid_platform.evaluation.scores.scores import NoteCounts, count_note
from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Span

Place = tuple[int, int]


def count_claimed(
    text: str,
    gold: Sequence[Span],
    hidden: Iterable[Place],
    claimed: Iterable[Place],
    labels: Collection[Label],
    *,
    cluster: str | None = None,
) -> NoteCounts:
    """Count one note on the claimed labels; without counts by label.

    Args:
        text: The original text; all offsets are its code points.
        gold: What is an identifier, of all labels.
        hidden: Start and end of whatever the detector hides.
        claimed: Of these, what it says is of a claimed label.
        labels: The claimed labels.
        cluster: The patient, for resampling.

    Raises:
        DeidError: `span-bounds` if a span is empty or reaches outside the text.
    """
    wanted = [span for span in gold if span.label in labels]
    under_any = [Span(start, end, Label.IDNUM) for start, end in hidden]
    whole = count_note(text, wanted, under_any, cluster=cluster)
    words = word_offsets(text)
    of_gold = touched(words, ((span.start, span.end) for span in gold))
    wrong = touched(words, claimed) & ~of_gold
    return NoteCounts(
        words=whole.words,
        true_positives=whole.true_positives,
        false_positives=int(wrong.sum()),
        false_negatives=whole.false_negatives,
        entities=whole.entities,
        covered_entities=whole.covered_entities,
        cluster=cluster,
    )
