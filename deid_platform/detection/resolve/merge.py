"""Arithmetic of spans: trim, merge, check.

Belongs here: pure functions on intervals of code points. Does not belong here: any knowledge of what a
span means beyond its label (`recovery/`, `pipeline.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from deid_platform.notes import Span


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The interval without the white space at its ends, or None if nothing else is in it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def merge(spans: Iterable[Span], *, rank: Callable[[Span], tuple[object, ...]]) -> tuple[Span, ...]:
    """Overlapping spans become one, so that nothing that any of them covered is uncovered.

    The merged span reaches from the first start to the last end of its members; label, score and source
    are those of the member that `rank` puts highest. Spans that only touch stay apart.

    Args:
        spans: In any order.
        rank: Sort key of a span; the highest member lends the merged span its label.

    Returns:
        Sorted, non-overlapping spans that cover exactly what the input covered.
    """
    merged: list[Span] = []
    best: Span | None = None
    start = end = 0
    for span in sorted(spans, key=_place):
        if best is not None and span.start < end:
            end = max(end, span.end)
            best = max(best, span, key=rank)
            continue
        if best is not None:
            merged.append(_widened(best, start, end))
        best, start, end = span, span.start, span.end
    if best is not None:
        merged.append(_widened(best, start, end))
    return tuple(merged)


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _widened(span: Span, start: int, end: int) -> Span:
    return span if (span.start, span.end) == (start, end) else replace(span, start=start, end=end)


def well_formed(spans: Sequence[Span], length: int) -> bool:
    """Whether spans are sorted, do not overlap and lie inside a text of `length` code points."""
    end = 0
    for span in spans:
        if span.start < end:
            return False
        end = span.end
    return end <= length
