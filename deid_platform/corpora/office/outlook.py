"""Outlook's own files of mails (.msg) as texts, in the form of `mail.py`.

Belongs here: what `oxmsg` says of a message. Does not belong here: mails as they are sent (`mail.py`).
"""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any

from deid_platform.corpora import Reason
from deid_platform.corpora.office import RefusedDocumentError, Unread
from deid_platform.corpora.office.html import shown_text
from deid_platform.corpora.office.mail import HEAD, kind_of_attachment, with_head
from deid_platform.corpora.office.opening import OLE
from deid_platform.errors import Code, DeidError

_ENCRYPTED = ("IPM.Note.SMIME", "IPM.Note.Secure")
_RTF = 0x1009  # PidTagRtfCompressed


def outlook_text(content: bytes) -> str:
    """The text of a mail, and what of it is not read.

    Args:
        content: The file.

    Raises:
        RefusedDocumentError: `unreadable_file`; `locked_file` if it is encrypted; `unsupported_content` if its body is
            rich text alone.
        DeidError: `document-reader-missing` without the extra `office`.
    """
    if not content.startswith(OLE):
        raise RefusedDocumentError(Reason.UNREADABLE_FILE)
    try:
        library = import_module("oxmsg")
    except ImportError:
        raise DeidError(Code.DOCUMENT_READER_MISSING, "python-oxmsg") from None
    try:
        return _text(library.Message.load(content))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError, struct.error, RecursionError):
        raise RefusedDocumentError(Reason.UNREADABLE_FILE) from None


def _text(message: Any) -> str:
    signed = message.message_class.endswith("MultipartSigned")
    if message.message_class.startswith(_ENCRYPTED) and not signed:
        raise RefusedDocumentError(Reason.LOCKED_FILE)
    unread = Unread()
    shown, hidden = shown_text(message.html_body or "")
    plain = message.body or ""
    if sum(map(str.isalnum, shown)) > sum(map(str.isalnum, plain)):
        unread.add("hidden text", hidden)
    else:
        shown = plain
    if not shown.strip() and message.properties.binary_prop_value(_RTF):
        raise RefusedDocumentError(Reason.UNSUPPORTED_CONTENT)
    for attachment in message.attachments:
        unread.add(kind_of_attachment(attachment.mime_type or ""))
    return unread.after(with_head(_head(message), shown))


def _head(message: Any) -> list[tuple[str, str]]:
    headers = {name.lower(): value for name, value in message.message_headers.items()}
    given = [(name, headers[name.lower()]) for name in HEAD if headers.get(name.lower())]
    named = {name for name, _ in given}
    people = ", ".join(f'"{one.name}" <{one.email_address}>' for one in message.recipients)
    # A draft has no headers; those who got a copy unseen are no header of anything that was sent.
    own = {"From": message.sender or "", "Subject": message.subject, "To": people}
    if message.sent_date is not None:
        own["Date"] = message.sent_date.isoformat(sep=" ", timespec="minutes")
    return sorted([*given, *((n, v) for n, v in own.items() if n not in named)], key=lambda line: HEAD.index(line[0]))
