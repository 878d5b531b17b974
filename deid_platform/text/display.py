"""What the display of characters changes: accents that stand apart from their letters, and overridden direction.

Belongs here: Latin letters and digits under marks, and runs that a directional override shows backwards. Does not
belong here: characters that nobody sees and look-alikes, which detection and the leak check read each in its own way.

Source: Unicode Standard Annex 9, explicit overrides (3.3.2), of which right-to-left ones turn Latin text around;
Unicode Normalization Form C for the marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from deid_platform.text.decoded import Edit

_MARKED = re.compile(
    "[0-9A-Za-z\u00c0-\u024f\u1e00-\u1eff][\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_MARK = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_RLO = "\u202e"
_OPENING = frozenset("\u202a\u202b\u202d\u202e")
_POP = "\u202c"
_CONTROL = re.compile("[\u202a-\u202e\r\n\u2029]")
_DEEPEST = 125  # levels that the standard knows; further ones change nothing


def composed_letters(text: str) -> Iterator[Edit]:
    """Latin letters and digits whose accents stand apart, each as one character without further marks."""
    if text.isascii() or not _MARK.search(text):
        return
    for match in _MARKED.finditer(text):
        letter = match[0][0]
        for mark in match[0][1:]:
            both = unicodedata.normalize("NFC", letter + mark)
            if len(both) == 1:
                letter = both
        yield match.start(), match.end(), letter


def overridden(text: str) -> Iterator[Edit]:
    """Runs behind a right-to-left override, as they are shown: from their end to their beginning."""
    if _RLO not in text:
        return
    begun: int | None = None
    stack: list[tuple[bool, list[str]]] = []
    beyond = 0
    last = 0
    for match in (*_CONTROL.finditer(text), None):
        place = match.start() if match else len(text)
        sign = match[0] if match else "\n"
        if stack:
            stack[-1][1].extend(text[last:place])
        last = place + 1
        if sign in _OPENING:
            if len(stack) >= _DEEPEST:
                beyond += 1
            elif stack or sign == _RLO:
                begun = place if begun is None else begun
                stack.append((sign == _RLO, []))
        elif sign == _POP and beyond:
            beyond -= 1
        elif stack:
            while True:
                backwards, shown = stack.pop()
                run = "".join(reversed(shown) if backwards else shown)
                if stack:
                    stack[-1][1].append(run)
                if not stack or sign == _POP:
                    break
            if not stack and begun is not None:
                yield begun, place + (sign == _POP), run
                begun, beyond = None, 0
