"""Spans that people set, widened to whole words and numbers.

Belongs here: how far what a span touches reaches. Does not belong here: which spans are set
(`refresh/redact/decision.py`).

The leak check compares whole words and numbers: one of which a letter is hidden is not recognised and would be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import regex

from deid_platform.notes import Span
from deid_platform.text import readable

# Symbols among them: letters in circles and squares are read as letters.
_SIGN = r"[\p{L}\p{M}\p{N}\p{Cf}\p{So}_]"
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


def whole_places(text: str) -> list[tuple[int, int]]:
    """Where they stand in a text as it was written, in order; two that share an escape are one."""
    seen = readable(text)
    places: list[tuple[int, int]] = []
    for match in _RUN.finditer(seen.text):
        start, end = seen.origin(*match.span())
        if places and start < places[-1][1]:
            first, last = places.pop()
            start, end = first, max(last, end)
        places.append((start, end))
    return places


def widened(text: str, spans: Iterable[Span], leaks: Iterable[tuple[int, int]] = ()) -> tuple[Span, ...]:
    """Spans in order, each as far as the words and numbers reach that it touches; two that meet are one.

    Escapes are read as what they show. Of two that meet, the label of the first stands.

    Args:
        text: The note's.
        spans: What people set.
        leaks: Other places that are whole or not at all.
    """
    places = sorted([*whole_places(text), *leaks])
    whole = _over(spans, places)
    while whole != (wider := _over(whole, places)):
        whole = wider
    return whole


def _over(spans: Iterable[Span], places: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    whole: list[Span] = []
    for span in sorted(spans):
        touched = [place for place in places if place[0] < span.end and span.start < place[1]]
        start = min([span.start, *(first for first, _ in touched)])
        end = max([span.end, *(last for _, last in touched)])
        if whole and start < whole[-1].end:
            whole[-1] = replace(whole[-1], start=min(whole[-1].start, start), end=max(whole[-1].end, end))
        else:
            whole.append(replace(span, start=start, end=end))
    return tuple(whole)
