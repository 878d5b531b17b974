"""HTML as text: what a reader sees of it.

Belongs here: blocks, cells and what is not shown. Does not belong here: where the HTML comes from.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS_WORDS = (
    "address article blockquote br dd div dl dt fieldset footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre "
    "section table tr ul"
)
_BLOCKS = frozenset(_BLOCKS_WORDS.split())
_CELLS = frozenset({"td", "th"})
_NO_TEXT = frozenset({"script", "style", "head", "title", "template"})
_VOID_WORDS = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_WORDS.split())
_HIDING = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\f\v]+")
_LINES = re.compile(r" ?\n[ \n]*\n ?")


def shown_text(html: str) -> tuple[str, bool]:
    """What a reader sees of HTML, and whether there is text beside it that its style hides.

    Blocks stand on lines of their own, cells apart; scripts and styles are left out.
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return _LINES.sub("\n\n", "".join(reader.parts)).strip(), reader.hidden


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = False
        self._silent = 0
        self._hider = ""
        """The element that hides what is in it, if one is open."""
        self._within = 0
        """How many elements of its name are open."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _NO_TEXT
        if self._hider:
            self._within += tag == self._hider
        elif tag not in _VOID and any(k == "hidden" or (k == "style" and _HIDING.search(v or "")) for k, v in attrs):
            self._hider, self._within = tag, 1
        self._apart(tag)

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _NO_TEXT and self._silent > 0
        if self._hider == tag:
            self._within -= 1
            self._hider = self._hider if self._within else ""
        self._apart(tag)

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._hider:
            self.hidden = self.hidden or bool(data.strip())
        else:
            self.parts.append(_SPACES.sub(" ", data.replace("\n", " ")))

    def _apart(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append("\t")
