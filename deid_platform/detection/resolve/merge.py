"""Overlapping candidates are merged into one, and whatever one of them covered stays covered.

Belongs here: the rule for overlaps. Does not belong here: which candidates there are, or which are clinical
(`recovery/`).

Candidates that share a code point are merged to their common extent. The label is that of the longest one; between
equally long ones, that of the best informed source (the roster, then the gazetteer, rules, other notes); then that of
the higher confidence. A model's candidate, however long, gives way to what anything else found, so that evidence is not
lost, and a language model's to that of any other model, since it says no probability. A profession, which identifies
least, gives way to any other label. A match of a site's own recognizer gives way to a direct identifier of the patient,
however short: a site adds to what is hidden, and a policy may keep its label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from deid_platform.detection.api import Candidate, SourceKind
from deid_platform.labels import DIRECT_IDENTIFIERS, Label
from deid_platform.notes import Span

_Placed = TypeVar("_Placed", Span, Candidate)


def rank(candidate: Candidate) -> tuple[bool, bool, bool, int, int, float, str]:
    """Which of two overlapping candidates gives its label: no model's, the longer, the better informed, the surer."""
    start, end, label, source, _, confidence = candidate
    predicted = source.kind is SourceKind.MODEL
    length, informed = end - start, source.kind.informed
    return not source.asked, label is not Label.PROFESSION, not predicted, length, informed, confidence, label.value


def merge(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Overlapping candidates as one, each with the label that the rule gives it.

    Returns:
        Sorted and non-overlapping; they cover exactly what the input covered.
    """
    candidates = list(candidates)
    if any(candidate.source.of_site for candidate in candidates):
        direct = [c for c in candidates if c.label in DIRECT_IDENTIFIERS and not c.source.of_site]
        candidates = [_of_patient(candidate, direct) for candidate in candidates]
    return [
        best if (best.start, best.end) == (start, end) else best._replace(start=start, end=end)
        for best, start, end in merged(candidates, rank=rank)
    ]


def _of_patient(candidate: Candidate, direct: Sequence[Candidate]) -> Candidate:
    """A site's candidate with the label of a direct identifier that it overlaps."""
    if not candidate.source.of_site or candidate.label in DIRECT_IDENTIFIERS:
        return candidate
    met = [other for other in direct if other.overlaps(candidate)]
    return candidate._replace(label=max(met, key=rank).label) if met else candidate


def merged(
    spans: Iterable[_Placed], *, rank: Callable[[_Placed], tuple[object, ...]]
) -> Iterator[tuple[_Placed, int, int]]:
    """Groups of overlapping spans, sorted; spans that only touch stay apart.

    Args:
        spans: In any order.
        rank: Sort key of a span; of equals, the one that starts first counts.

    Yields:
        The highest member of each group, and where the group starts and ends.
    """
    best: _Placed | None = None
    start = end = 0
    for span in sorted(spans, key=_place):
        if best is not None and span.start < end:
            end = max(end, span.end)
            best = max(best, span, key=rank)
            continue
        if best is not None:
            yield best, start, end
        best, start, end = span, span.start, span.end
    if best is not None:
        yield best, start, end


def _place(span: Span | Candidate) -> tuple[int, int]:
    return span.start, span.end


def well_formed(spans: Sequence[Span], length: int) -> bool:
    """Whether spans are sorted, do not overlap and lie inside a text of `length` code points."""
    end = 0
    for span in spans:
        if span.start < end:
            return False
        end = span.end
    return end <= length
