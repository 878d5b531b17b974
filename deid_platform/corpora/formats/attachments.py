"""Text of attached documents: base64, character sets, kinds.

Belongs here: what FHIR and HL7 v2 put around a document. Does not belong here: HTML (`office/html.py`), scanned pages
(`scan.py`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from email.message import Message

from deid_platform.corpora import Reason
from deid_platform.corpora.office import Unread
from deid_platform.corpora.office.html import shown_text

_PLAIN = frozenset({"text/plain", "text/markdown", ""})
_HTML = frozenset({"text/html", "application/xhtml+xml"})


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
    if kind in _HTML:
        text, hidden = shown_text(text)
        unread = Unread()
        unread.add("hidden text", hidden)
        return unread.after(text)
    return text
