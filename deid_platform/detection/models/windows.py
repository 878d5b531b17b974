"""Windows of a text that a model can read at once.

Belongs here: where a long text is cut. Does not belong here: pieces (`tokens.py`) or what a model says of a window.

Where a window ends depends on the text alone. It ends before a line if there is one in its last third, since lines
seldom go on; the next begins up to `OVERLAP` pieces earlier, and each piece is judged where it has more text around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from deid_platform.detection.models.tokens import GAPS, Tokens

LENGTH = 126
"""The most pieces of a window, without the marks at its ends."""
OVERLAP = 16
_LINE = GAPS.index("line")


class Window(NamedTuple):
    """A stretch of the pieces of a text.

    Attributes:
        start: First piece.
        end: One past the last.
        judged_from: The first piece that is judged in this window.
        judged_to: One past the last such piece.
    """

    start: int
    end: int
    judged_from: int
    judged_to: int


def windows(tokens: Tokens, length: int = LENGTH, overlap: int = OVERLAP) -> Iterator[Window]:
    """The windows of a text, in order; together they judge every piece once."""
    count = len(tokens.ids)
    start = judged = 0
    while start < count:
        end = _end(tokens, start, length)
        following = max(start + 1, end - overlap) if end < count else count
        judged_to = end - (end - following) // 2 if end < count else count
        yield Window(start, end, judged, judged_to)
        start, judged = following, judged_to


def _end(tokens: Tokens, start: int, length: int) -> int:
    """Where a window ends that begins at a piece: before a line, else before a word, else after the most pieces."""
    most = start + length
    if most >= len(tokens.ids):
        return len(tokens.ids)
    words = tokens.words
    last = 0
    for piece in range(most, start + 2 * length // 3, -1):
        if words[piece] != words[piece - 1]:
            if tokens.gaps[words[piece]] >= _LINE:
                return piece
            last = last or piece
    return last or most
