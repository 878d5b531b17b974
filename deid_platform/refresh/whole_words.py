"""Spans that people set, widened to whole words and numbers.

Belongs here: how far what a span touches reaches. Does not belong here: which spans are set (`ruling.py`).

The leak check compares whole words and numbers: one of which a letter is hidden is not recognised and would be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import regex

from deid_platform.notes import Span
from deid_platform.text import readable

_SIGN = r"[\p{L}\p{M}\p{N}\p{Cf}_]"
# What joins: signs within e-mails, double names, dates and numbers; a hyphen at a line's end; what parts the groups of
# a telephone number; the space between letters that are spaced out.
_JOIN = (
    r"(?:[-‐‑–'’.@/\\+:&#]{1,3}|[-‐‑]\s*\n\s*|(?<=\d)(?:\)[ \u00a0]?|[ \u00a0]?\(|[ \u00a0,])(?=\d)"
    rf"|(?<=(?<!{_SIGN}){_SIGN})[ \u00a0](?={_SIGN}(?!{_SIGN})))"
)
_RUN = regex.compile(rf"{_SIGN}+(?:{_JOIN}{_SIGN}+)*")


def runs(text: str) -> list[str]:
    """The words and numbers of a text, each whole: double names, dates, e-mails and telephone numbers are one."""
    return [match.group() for match in _RUN.finditer(readable(text).text)]


def widened(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, each as far as the words and numbers reach that it touches; two that meet are one.

    Escapes are read as what they show. Of two that meet, the label of the first stands.
    """
    seen = readable(text)
    places = [match.span() for match in _RUN.finditer(seen.text)]
    whole: list[Span] = []
    for span in sorted(spans):
        start, end = span.start, span.end
        shown = seen.shown(start, min(end, len(text)))
        for first, last in () if shown is None else _touched(places, *shown):
            begin, close = seen.origin(first, last)
            start, end = min(start, begin), max(end, close)
        if whole and start < whole[-1].end:
            whole[-1] = replace(whole[-1], end=max(whole[-1].end, end))
        else:
            whole.append(replace(span, start=start, end=end))
    return tuple(whole)


def _touched(places: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    return [place for place in places if place[0] < end and start < place[1]]
