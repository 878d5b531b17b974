"""Texts whose identifiers are marked: [[surface|LABEL]], or [[surface]] where the label is left open."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import regex

from deid_platform.labels import Label
from deid_platform.notes import Span

MARK = regex.compile(r"\[\[(.+?)(?:\|([A-Z\-]+))?\]\]", regex.DOTALL)
LABELS = frozenset({"", *(label.value for label in Label)})


def plain(line: str) -> str:
    """A marked text without its marks.

    Raises:
        ValueError: A mark has no end or no beginning, or a label that there is not.
    """
    for surface, label in MARK.findall(line):
        if label not in LABELS or (not label and "|" in surface):
            raise ValueError("a mark with a label that there is not")
    text: str = MARK.sub(r"\1", line)
    if "[[" in text or "]]" in text:
        raise ValueError("a mark without its other end")
    return text


def of_any_label(line: str) -> frozenset[tuple[int, int]]:
    """Where a marked text leaves the label open: start and end of each such surface, in the text without marks."""
    found, removed = set(), 0
    for mark in MARK.finditer(line):
        start = mark.start() - removed
        removed += len(mark[0]) - len(mark[1])
        if mark[2] is None:
            found.add((start, start + len(mark[1])))
    return frozenset(found)


def marked(text: str, spans: Sequence[Span], of_any_label: Collection[tuple[int, int]] = ()) -> str:
    """A text with marks around some spans, in their order; without a label where it is left open."""
    for span in reversed(spans):
        label = "" if (span.start, span.end) in of_any_label else f"|{span.label.value}"
        text = f"{text[: span.start]}[[{text[span.start : span.end]}{label}]]{text[span.end :]}"
    return text
