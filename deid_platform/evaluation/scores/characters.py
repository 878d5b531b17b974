"""Shares of characters: of identifiers found, and of other text hidden (MedDeID, arXiv 2609.10049).

Belongs here: counting characters. Does not belong here: tokens or words (`token_scores.py`, `scores.py`).

No choice of token has a part in it: half a name found is half a name, and a long address weighs more than a town. So it
stands beside the scores of words, not in place of them: of an identifier, the half that is left may be the half that
tells. A character is a code point that is not white space, so that line ends and indents neither help nor harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Resampling, column
from deid_platform.evaluation.scores.token_scores import covered
from deid_platform.labels import Label
from deid_platform.notes import Span


@dataclass(frozen=True, slots=True)
class CharacterCounts:
    """One note.

    Attributes:
        identifying: Characters of identifiers.
        found: Those of them that are hidden.
        other: All other characters.
        hidden: Those of them that are hidden.
        labels: Of each gold label, characters of identifiers and those of them that are hidden.
        cluster: Whose note it is, for resampling; None makes it a cluster of its own.
    """

    identifying: int
    found: int
    other: int
    hidden: int
    labels: Mapping[Label, tuple[int, int]] = field(default_factory=dict)
    cluster: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class CharacterScores:
    """Shares over many notes.

    Attributes:
        found: Of the characters of identifiers, those that are hidden.
        hidden: Of all other characters, those that are hidden; less is better.
        labels: `found` by gold label.
    """

    found: Estimate
    hidden: Estimate
    labels: Mapping[Label, Estimate]


def count_characters(
    text: str, gold: Sequence[Span], predicted: Sequence[Span], *, cluster: str | None = None
) -> CharacterCounts:
    """Count one note.

    Args:
        text: The original text; all offsets are its code points.
        gold: What is an identifier.
        predicted: What is hidden.
        cluster: The patient, for resampling.

    Raises:
        DeidError: `span-bounds` if a span reaches outside the text.
    """
    if any(span.end > len(text) for span in (*gold, *predicted)):
        raise DeidError(Code.SPAN_BOUNDS, "evaluation")
    shown = np.array([not character.isspace() for character in text], dtype=np.bool_)
    of_gold, hidden = covered(len(text), gold), covered(len(text), predicted)
    labels: dict[Label, tuple[int, int]] = {}
    for label in Label:
        if mine := [span for span in gold if span.label is label]:
            of_label = covered(len(text), mine) & shown
            labels[label] = int(of_label.sum()), int((of_label & hidden).sum())
    return CharacterCounts(
        identifying=int((shown & of_gold).sum()),
        found=int((shown & of_gold & hidden).sum()),
        other=int((shown & ~of_gold).sum()),
        hidden=int((shown & ~of_gold & hidden).sum()),
        labels=labels,
        cluster=cluster,
    )


def character_scores(
    counts: Iterable[CharacterCounts], *, resamples: int = RESAMPLES, seed: int = 0
) -> CharacterScores:
    """Shares over many notes, with bootstrap intervals over patients."""
    notes = list(counts)
    labels = [label for label in Label if any(label in note.labels for note in notes)]
    rows = np.array(
        [
            [note.identifying, note.found, note.other, note.hidden]
            + [number for label in labels for number in note.labels.get(label, (0, 0))]
            for note in notes
        ],
        dtype=np.float64,
    ).reshape(len(notes), 4 + 2 * len(labels))
    share = Resampling(rows, [note.cluster for note in notes], resamples=resamples, seed=seed).share
    return CharacterScores(
        found=share(column(1), column(0)),
        hidden=share(column(3), column(2)),
        labels={label: share(column(5 + 2 * at), column(4 + 2 * at)) for at, label in enumerate(labels)},
    )
