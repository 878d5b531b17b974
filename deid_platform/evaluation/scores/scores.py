"""Scores of a detector against gold, with intervals.

Belongs here: counting words and entities, and what follows from the counts. Does not belong here: where
gold comes from (`corpora/`), leaks of a redacted text (`leakcheck/`), pictures (`reports/`).

Word-level precision, recall and F1 are those of Murugadoss 2024, supplementary "Evaluation Metrics": a word
counts as an identifier if gold or detector touches it, whatever the label. Stricter measures stand beside
them, since a word half covered is a hit there: conservative recall, by which the gate judges, counts a word of
gold as found only when every letter and digit of it that gold marks is covered (Aghakasiri 2025, appendix
N.2, `token_scores.py`), an entity counts as found only when all of its are, and a note leaks when one of its
entities is not.

Intervals are bootstraps over patients (`bootstrap.py`), with 1,000 resamples, where the paper has 100. A share of
nothing is None, never 1.0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Column, Estimate, Resampling, column
from deid_platform.evaluation.scores.token_scores import hidden_whole
from deid_platform.evaluation.scores.tokens import touched, word_offsets, words_between
from deid_platform.labels import Label
from deid_platform.notes import Span

SMALLEST_SHOWN = 11
MEASURES = (
    *("precision", "recall", "recall_conservative", "f1", "entity_recall", "leak_rate"),
    *("words_kept", "clinical_retention"),
)
"""Of all words, whatever their label."""


def suppress(count: int) -> str:
    """A count as an analyst may see it: "<11" from 1 to 10; 0 identifies nobody and is shown."""
    return f"<{SMALLEST_SHOWN}" if 0 < count < SMALLEST_SHOWN else f"{count:,}"


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """One label's counts in one note.

    Attributes:
        gold_words: Words that gold gives the label.
        found_words: Those of them that the detector touches, under any label.
        predicted_words: Words that the detector gives the label.
        right_words: Those of them that gold touches, under any label.
        entities: Gold spans of the label.
        covered_entities: Those of them that the detector covers whole.
    """

    gold_words: int = 0
    found_words: int = 0
    predicted_words: int = 0
    right_words: int = 0
    entities: int = 0
    covered_entities: int = 0


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """What scores need to know of one note: counts, and no text.

    Attributes:
        words: Words of the note.
        true_positives: Words that gold and detector touch.
        false_positives: Words that the detector alone touches.
        false_negatives: Words that gold alone touches.
        entities: Gold spans that hold a word.
        covered_entities: Those that the detector covers whole.
        clinical: Clinical terms that must survive.
        kept_clinical: Those that no detected span touches.
        labels: Counts by label.
        whole: Words that gold touches and the detector hides whole; None where that was not counted.
        cluster: Whose note it is, for resampling by patient; None makes the note a cluster of its own.
    """

    words: int
    true_positives: int
    false_positives: int
    false_negatives: int
    entities: int
    covered_entities: int
    clinical: int = 0
    kept_clinical: int = 0
    labels: Mapping[Label, LabelCounts] = field(default_factory=dict)
    whole: int | None = None
    cluster: str | None = field(default=None, repr=False)

    @property
    def leaks(self) -> bool:
        """Whether any gold entity is left in part or whole."""
        return self.covered_entities < self.entities


@dataclass(frozen=True, slots=True)
class LabelScores:
    """One label: recall by gold label, precision by detected label, both blind to the other side's label."""

    recall: Estimate
    precision: Estimate
    entity_recall: Estimate


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a detector on one gold.

    Attributes:
        notes: Notes scored.
        words: Words in them.
        precision: Share of detected words that gold touches.
        recall: Share of gold's words that are detected.
        recall_conservative: Share of gold's words that are hidden whole.
        f1: Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN).
        entity_recall: Share of gold entities that are covered whole.
        leak_rate: Share of the notes with gold entities in which one is not covered whole.
        words_kept: Share of the words that gold does not touch which no detected span touches either: where gold is of
            whole notes, what is left of everything that identifies nobody.
        clinical_retention: Share of clinical terms, of those that gold lists, that no detected span touches.
        labels: By label, for labels that gold or detector use.
    """

    notes: int
    words: int
    precision: Estimate
    recall: Estimate
    recall_conservative: Estimate
    f1: Estimate
    entity_recall: Estimate
    leak_rate: Estimate
    words_kept: Estimate
    clinical_retention: Estimate
    labels: Mapping[Label, LabelScores]

    def to_rows(self) -> list[dict[str, str | float | int | None]]:
        """One row a measure: `label` ("ALL" or a label), `measure`, `value`, `low`, `high`, `hits`, `n`.

        The counts are as they are, for the gate to judge by; whoever shows them suppresses small ones.
        """
        measures: list[tuple[str, str, Estimate]] = [
            # Not every gold lists clinical terms, and of none there is no share.
            ("ALL", name, getattr(self, name))
            for name in MEASURES
            if name != "clinical_retention" or self.clinical_retention.total
        ]
        for label, scores in self.labels.items():
            measures += [
                (label.value, name, getattr(scores, name)) for name in ("recall", "precision", "entity_recall")
            ]
        return [
            {"label": label, "measure": m, "value": e.value, "low": e.low, "high": e.high, "hits": e.hits, "n": e.total}
            for label, m, e in measures
        ]


def count_note(
    text: str,
    gold: Sequence[Span],
    predicted: Sequence[Span],
    *,
    clinical: Sequence[tuple[int, int]] = (),
    cluster: str | None = None,
) -> NoteCounts:
    """Count one note.

    Args:
        text: The original text; all offsets are its code points.
        gold: What is an identifier.
        predicted: What the detector says is one.
        clinical: Start and end of terms that must survive.
        cluster: The patient, for resampling.

    Raises:
        DeidError: `span-bounds` if a span reaches outside the text.
    """
    for end in (*(span.end for span in (*gold, *predicted)), *(end for _, end in clinical)):
        if end > len(text):
            raise DeidError(Code.SPAN_BOUNDS, "evaluation")
    words = word_offsets(text)
    is_gold = touched(words, ((s.start, s.end) for s in gold))
    is_found = touched(words, ((s.start, s.end) for s in predicted))
    covered = _covered(text, words, gold, predicted)
    tallies: dict[Label, Counter[str]] = defaultdict(Counter)
    for label, spans in _by_label(gold).items():
        mine = touched(words, ((s.start, s.end) for s in spans))
        tallies[label]["gold_words"] = int(mine.sum())
        tallies[label]["found_words"] = int((mine & is_found).sum())
    for label, spans in _by_label(predicted).items():
        mine = touched(words, ((s.start, s.end) for s in spans))
        tallies[label]["predicted_words"] = int(mine.sum())
        tallies[label]["right_words"] = int((mine & is_gold).sum())
    for label, whole in covered:
        tallies[label]["entities"] += 1
        tallies[label]["covered_entities"] += whole
    kept = sum(not any(start < s.end and s.start < end for s in predicted) for start, end in clinical)
    return NoteCounts(
        words=len(words),
        true_positives=int((is_gold & is_found).sum()),
        false_positives=int((~is_gold & is_found).sum()),
        false_negatives=int((is_gold & ~is_found).sum()),
        entities=len(covered),
        covered_entities=sum(whole for _, whole in covered),
        clinical=len(clinical),
        kept_clinical=kept,
        labels={label: LabelCounts(**tallies[label]) for label in Label if label in tallies},
        whole=int((is_gold & hidden_whole(text, words, gold, predicted)).sum()),
        cluster=cluster,
    )


def summarise(counts: Iterable[NoteCounts], *, resamples: int = RESAMPLES, seed: int = 0) -> Scores:
    """Scores of many notes from their counts, with percentile bootstrap intervals.

    Args:
        counts: One a note, in any order that is the same from run to run.
        resamples: Bootstrap resamples.
        seed: Of the resampling.
    """
    notes = list(counts)
    labels = [label for label in Label if any(label in note.labels for note in notes)]
    width = len(_COLUMNS) + 6 * len(labels)
    table = np.array([_row(note, labels) for note in notes], dtype=np.float64).reshape(len(notes), width)
    estimate = Resampling(table, [note.cluster for note in notes], resamples=resamples, seed=seed).share
    tp, fp, fn = _named("true_positives"), _named("false_positives"), _named("false_negatives")

    def other(t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return _named("words")(t) - tp(t) - fn(t)

    by_label: dict[Label, LabelScores] = {}
    for number, label in enumerate(labels):
        base = len(_COLUMNS) + 6 * number
        gold, found, predicted, right, entities, covered = (column(base + i) for i in range(6))
        by_label[label] = LabelScores(
            recall=estimate(found, gold),
            precision=estimate(right, predicted),
            entity_recall=estimate(covered, entities),
        )
    return Scores(
        notes=len(notes),
        words=sum(note.words for note in notes),
        precision=estimate(tp, lambda t: tp(t) + fp(t)),
        recall=estimate(tp, lambda t: tp(t) + fn(t)),
        recall_conservative=(
            Estimate(None, None, None, 0, 0)
            if any(note.whole is None for note in notes)
            else estimate(_named("whole"), lambda t: tp(t) + fn(t))
        ),
        f1=estimate(lambda t: 2 * tp(t), lambda t: 2 * tp(t) + fp(t) + fn(t)),
        entity_recall=estimate(_named("covered_entities"), _named("entities")),
        leak_rate=estimate(_named("leaking"), _named("with_gold")),
        words_kept=estimate(lambda t: other(t) - fp(t), other),
        clinical_retention=estimate(_named("kept_clinical"), _named("clinical")),
        labels=by_label,
    )


_COLUMNS = (
    "true_positives",
    "false_positives",
    "false_negatives",
    "entities",
    "covered_entities",
    "leaking",
    "with_gold",
    "clinical",
    "kept_clinical",
    "whole",
    "words",
)


def _named(name: str) -> Column:
    return column(_COLUMNS.index(name))


def _row(note: NoteCounts, labels: Sequence[Label]) -> list[int]:
    row = [
        note.true_positives,
        note.false_positives,
        note.false_negatives,
        note.entities,
        note.covered_entities,
        int(note.leaks),
        int(note.entities > 0),
        note.clinical,
        note.kept_clinical,
        note.whole or 0,
        note.words,
    ]
    for label in labels:
        c = note.labels.get(label, LabelCounts())
        row += [c.gold_words, c.found_words, c.predicted_words, c.right_words, c.entities, c.covered_entities]
    return row


def _by_label(spans: Iterable[Span]) -> dict[Label, list[Span]]:
    grouped: dict[Label, list[Span]] = defaultdict(list)
    for span in spans:
        grouped[span.label].append(span)
    return grouped


def _covered(
    text: str, words: npt.NDArray[np.int64], gold: Sequence[Span], predicted: Sequence[Span]
) -> list[tuple[Label, bool]]:
    """For every gold span that holds a word, its label and whether every word character of it is covered."""
    hidden = np.zeros(len(text) + 1, dtype=np.int64)
    for span in predicted:
        hidden[span.start] += 1
        hidden[span.end] -= 1
    # How many code points up to each place are not covered.
    bare = np.concatenate(([0], np.cumsum(np.cumsum(hidden[:-1]) == 0)))
    result: list[tuple[Label, bool]] = []
    for span in gold:
        first, last = words_between(words, span.start, span.end)
        if first == last:
            continue
        starts = np.maximum(words[first:last, 0], span.start)
        ends = np.minimum(words[first:last, 1], span.end)
        result.append((span.label, bool((bare[ends] == bare[starts]).all())))
    return result
