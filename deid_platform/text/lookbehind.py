"""Expressions of what stands right before a place, read backwards from it.

Belongs here: how they are read. Does not belong here: what any of them says (`detection/context/names.py`,
`detection/resolve/relatives.py`).

Sought forwards, an expression that must end at a place is tried at every code point before it; read backwards it is
tried once.
"""

from __future__ import annotations

import regex

from deid_platform.text.compiled import compiled


class Lookbehind:
    """What may stand right before a place.

    Args:
        expression: In `regex` syntax, without captures; case does not count.
        reach: Code points before the place that it may look at; lookbehinds see further.
    """

    def __init__(self, expression: str, reach: int) -> None:
        self._match = compiled(expression, regex.REVERSE | regex.IGNORECASE).match
        self._reach = reach

    def __call__(self, text: str, place: int, *, left: int = 0) -> bool:
        """Whether it stands before a place of a text, and not before `left`."""
        first = place - self._reach
        return self._match(text, first if first > left else left, place) is not None
