"""Token scores of Aghakasiri 2025 (arXiv 2509.14464): accuracy, precision, recall and F1 over tokens.

Belongs here: what a token counts as, and the scores. Does not belong here: words, by which the gate judges
(`scores.py`), or spans (`span_scores.py`).

A token is a run without white space, as in the paper, so that "Smith," and "03/04/2019" are one token each. A token is
of an identifier if gold touches it. Where a token is hidden in part the paper counts in two ways, and in one of them
does more than it says:

- GENEROUS (table 2): "any change in a token" hides it.
- CONSERVATIVE (appendix N.2, as the text says it): "the whole set of characters belonging to the PII" must be hidden.
  That is said of identifiers alone, so any change to another token is still wrong. The strictest of the three.
- TWO_SIDED (table 13, as its numbers say it): from table 2 to table 13, TP + FN and FP + TN of a row stay as they are
  (Presidio on AHS: 7,280 and 146,789), TP falls by 72 and FP by 665. So other text left FP too: a token of it must
  count as wrongly hidden only if it is hidden whole, as one of an identifier counts as found. Precision may rise.

Characters are letters, marks and digits: a comma left behind "Smith" names nobody. Of a token that has none, all count.

Providers (appendix N.1, table 12): whether what names clinicians and clinics is an identifier. The paper has two ways,
and neither leaves such tokens out: in table 2 they are ordinary text and hiding them is wrong (319 of 500 sampled FP of
one model are "provider/clinic information", table 14), in table 12 they are identifiers. LEFT_OUT, ours, counts them
nowhere: neither found nor missed, neither wrong nor right. A token that a patient's identifier touches too is always
an identifier. A provider's labels are those that the policy `patient_only` leaves as a provider's; whose a telephone
number is cannot be told.

By label, a label stands against the rest: the right place under another label is missed for the one and wrong for the
other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt
import regex

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Resampling, column
from deid_platform.evaluation.scores.tokens import Marks, Offsets, touched
from deid_platform.labels import Label
from deid_platform.notes import Span

PROVIDER_LABELS = frozenset({Label.DOCTOR, Label.USERNAME, Label.HOSPITAL})
_TOKEN = regex.compile(r"\S+")
_NOT_IDENTIFYING = regex.compile(r"[^\p{L}\p{M}\p{N}]")


class Partly(Enum):
    """When a token that is hidden in part counts as hidden; the module says more."""

    GENEROUS = "generous"
    CONSERVATIVE = "conservative"
    TWO_SIDED = "two_sided"


class Providers(Enum):
    """What a token is that only a provider's label touches."""

    COUNTED = "counted"
    """An identifier (table 12)."""
    ORDINARY = "ordinary"
    """Text that should stay (table 2)."""
    LEFT_OUT = "left_out"
    """Neither: it is not counted."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Tokens by what they are and what became of them."""

    tp: int = 0
    tn: int = 0
    fp: int = 0
    fn: int = 0


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """One note.

    Attributes:
        tokens: All of its tokens, those left out too.
        all: Whatever the label.
        labels: Each label against the rest, for labels that gold or detector use; None where none was counted.
        cluster: Whose note it is, for resampling; None makes it a cluster of its own.
    """

    tokens: int
    all: Confusion
    labels: Mapping[Label, Confusion] | None = field(default_factory=dict)
    cluster: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Scores with intervals; the counts that they come from are in `counts`."""

    counts: Confusion
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate


def token_offsets(text: str) -> Offsets:
    """Runs without white space: shape (tokens, 2) of start and end in code points."""
    return np.array([match.span() for match in _TOKEN.finditer(text)], dtype=np.int64).reshape(-1, 2)


def count_tokens(
    text: str,
    gold: Sequence[Span],
    predicted: Sequence[Span],
    *,
    partly: Partly = Partly.GENEROUS,
    providers: Providers = Providers.COUNTED,
    provider_labels: Collection[Label] = PROVIDER_LABELS,
    by_label: bool = True,
    cluster: str | None = None,
) -> TokenCounts:
    """Count one note.

    Args:
        text: The original text; all offsets are its code points.
        gold: What is an identifier.
        predicted: What is hidden.
        partly: When a token that is hidden in part counts as hidden.
        providers: What tokens of providers are.
        provider_labels: Whose they are.
        by_label: Whether each label is counted too, which takes as long again for each.
        cluster: The patient, for resampling.

    Raises:
        DeidError: `span-bounds` if a span reaches outside the text.
    """
    if any(span.end > len(text) for span in (*gold, *predicted)):
        raise DeidError(Code.SPAN_BOUNDS, "evaluation")
    tokens = token_offsets(text)
    wanted = [s for s in gold if providers is Providers.COUNTED or s.label not in provider_labels]
    counted = np.ones(len(tokens), dtype=np.bool_)
    if providers is Providers.LEFT_OUT:
        counted = ~_touched(tokens, [s for s in gold if s.label in provider_labels]) | _touched(tokens, wanted)

    def confusion(of: Sequence[Span], found: Sequence[Span]) -> Confusion:
        positive, hit = _touched(tokens, of), _touched(tokens, found)
        if partly is not Partly.GENEROUS:
            whole = hidden_whole(text, tokens, of, found)
            hit = np.where(positive, whole, hit) if partly is Partly.CONSERVATIVE else whole
        cells = (positive & hit, ~positive & ~hit, ~positive & hit, positive & ~hit)
        return Confusion(*(int((cell & counted).sum()) for cell in cells))

    labels = [label for label in Label if any(s.label is label for s in (*wanted, *predicted))]
    return TokenCounts(
        tokens=len(tokens),
        all=confusion(wanted, predicted),
        labels={at: confusion(*([s for s in spans if s.label is at] for spans in (wanted, predicted))) for at in labels}
        if by_label
        else None,
        cluster=cluster,
    )


def token_scores(
    counts: Iterable[TokenCounts], label: Label | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> TokenScores:
    """Scores of many notes, of one label against the rest or whatever the label.

    A note in which neither gold nor detector uses the label counts all of its tokens as right.

    Raises:
        DeidError: `input-invalid` for a label where labels were not counted.
    """
    notes = list(counts)
    cells = [_cell(note, label) for note in notes]
    rows = np.array([(c.tp, c.tn, c.fp, c.fn) for c in cells], dtype=np.float64).reshape(-1, 4)
    share = Resampling(rows, [note.cluster for note in notes], resamples=resamples, seed=seed).share
    tp, tn, fp, fn = map(column, range(4))
    return TokenScores(
        counts=Confusion(*(int(total) for total in rows.sum(axis=0))),
        accuracy=share(lambda t: tp(t) + tn(t), lambda t: tp(t) + tn(t) + fp(t) + fn(t)),
        precision=share(tp, lambda t: tp(t) + fp(t)),
        recall=share(tp, lambda t: tp(t) + fn(t)),
        f1=share(lambda t: 2 * tp(t), lambda t: 2 * tp(t) + fp(t) + fn(t)),
    )


def _cell(note: TokenCounts, label: Label | None) -> Confusion:
    if label is None:
        return note.all
    if note.labels is None:
        raise DeidError(Code.INPUT_INVALID, "labels that were not counted")
    whatever = note.all
    return note.labels.get(label, Confusion(tn=whatever.tp + whatever.tn + whatever.fp + whatever.fn))


def _touched(tokens: Offsets, spans: Iterable[Span]) -> Marks:
    return touched(tokens, ((span.start, span.end) for span in spans))


def hidden_whole(text: str, tokens: Offsets, gold: Sequence[Span], predicted: Sequence[Span]) -> Marks:
    """Whether all letters and digits of each token that are gold's, or of a token without gold all, are hidden."""
    of_gold, hidden = covered(len(text), gold), covered(len(text), predicted)
    letters = np.ones(len(text), dtype=np.bool_)
    letters[[match.start() for match in _NOT_IDENTIFYING.finditer(text)]] = False

    def within(marks: Marks) -> npt.NDArray[np.int64]:
        """How many marked characters each token has."""
        before = np.concatenate(([0], np.cumsum(marks)))
        counted: npt.NDArray[np.int64] = before[tokens[:, 1]] - before[tokens[:, 0]]
        return counted

    has_gold = within(of_gold) > 0
    # What is asked of each token: the first of these that it has any of.
    all_of_it = np.ones_like(letters)
    choices = ((of_gold & letters, has_gold), (of_gold, has_gold), (letters, ~has_gold), (all_of_it, ~has_gold))
    result, settled = np.zeros(len(tokens), dtype=np.bool_), np.zeros(len(tokens), dtype=np.bool_)
    for asked, concerned in choices:
        now = concerned & ~settled & (within(asked) > 0)
        result[now] = (within(asked & ~hidden) == 0)[now]
        settled |= now
    return result


def covered(length: int, spans: Iterable[Span]) -> Marks:
    """Which code points of a text of that length any of the spans covers."""
    marks = np.zeros(length, dtype=np.bool_)
    for span in spans:
        marks[span.start : span.end] = True
    return marks
