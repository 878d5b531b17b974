"""Text of attached documents: base64, character sets, HTML.

Belongs here: what FHIR and HL7 v2 put around a document. Does not belong here: scanned pages (`scan.py`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from email.message import Message
from html.parser import HTMLParser

from deid_platform.corpora import Reason

_PLAIN = frozenset({"text/plain", "text/markdown", ""})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_BLOCKS = frozenset(
    {
        *(
            "address",
            "article",
            "blockquote",
            "br",
            "dd",
            "div",
            "dl",
            "dt",
            "fieldset",
            "footer",
            "h1",
            "h2",
            "h3",
            "h4",
        ),
        *("h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul"),
    }
)
_CELLS = frozenset({"td", "th"})
_HIDDEN = frozenset({"script", "style", "head", "title"})
_SPACES = re.compile(r"[ \t\r\f\v]+")
_LINES = re.compile(r" ?\n[ \n]*\n ?")


def attached_text(attachment: Mapping[str, object], *, max_chars: int) -> str | Reason:
    """The text of an attachment of FHIR.

    Args:
        attachment: `contentType` and `data`. One that is elsewhere (`url`) is not fetched.
        max_chars: The longest text, in code points.
    """
    data = attachment.get("data")
    if not isinstance(data, str) or not data.strip():
        return Reason.BROKEN_ATTACHMENT
    kind = attachment.get("contentType")
    return decoded_text(data, kind if isinstance(kind, str) else "", max_chars=max_chars)


def decoded_text(data: str, content_type: str, *, max_chars: int) -> str | Reason:
    """The text of base64 data, or why there is none.

    Args:
        data: Base64, white space allowed.
        content_type: With its character set; UTF-8 where it names none.
        max_chars: The longest text, in code points.
    """
    header = Message()
    header["content-type"] = content_type or "text/plain"
    kind, charset = header.get_content_type(), header.get_content_charset() or "utf-8"
    if kind not in _PLAIN | _HTML:
        return Reason.UNSUPPORTED_CONTENT
    if len(data) > 8 * max_chars + 1024:
        return Reason.TEXT_TOO_LONG
    try:
        text = base64.b64decode("".join(data.split()), validate=True).decode(charset).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return Reason.INVALID_UTF8 if charset == "utf-8" else Reason.BROKEN_ATTACHMENT
    except (binascii.Error, LookupError, ValueError):
        return Reason.BROKEN_ATTACHMENT
    return plain_text(text) if kind in _HTML else text


def plain_text(html: str) -> str:
    """What a reader sees of HTML: blocks on lines of their own, cells apart, scripts and styles left out."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return _LINES.sub("\n\n", "".join(reader.parts)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._hidden += tag in _HIDDEN
        self._apart(tag)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        self._apart(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(_SPACES.sub(" ", data.replace("\n", " ")))

    def _apart(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append("\t")
