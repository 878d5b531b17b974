"""Mails (.eml) as texts: sender, recipients, date and subject as lines, then the body.

Belongs here: which parts of a mail are its body, and how its head is written. Does not belong here: Outlook's own files
(`outlook.py`), which share that head.

Of forms of one body (plain, HTML) the one with more letters and digits is read. Attachments are not read, forwarded
mails among them: they are counted by kind. A mail whose body is encrypted is refused.
"""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterable, Iterator
from email.message import EmailMessage, Message

from deid_platform.corpora import Reason
from deid_platform.corpora.office import RefusedDocumentError, Unread
from deid_platform.corpora.office.html import shown_text

HEAD = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject")
"""The lines of a head that say who wrote to whom, when and about what; the others are of those who carried it."""
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_KINDS = {"image": "picture", "audio": "recording", "video": "recording", "message": "attached mail"}
_PARTS = 1_000


def mail_text(content: bytes) -> str:
    """The text of a mail, and what of it is not read.

    Args:
        content: The file.

    Raises:
        RefusedDocumentError: `unreadable_file` if it is no mail, `locked_file` if its body is encrypted,
            `limit_exceeded`.
    """
    try:
        message = email.message_from_bytes(content, policy=email.policy.default)
        if not any(message.get(name) for name in ("From", "To", "Date", "Subject", "Received")):
            raise RefusedDocumentError(Reason.UNREADABLE_FILE)
        unread = Unread()
        body = "\n\n".join(text for text in _bodies(message, unread) if text.strip())
        head = [(name, str(value)) for name in HEAD for value in message.get_all(name, ())]
    except (LookupError, ValueError, TypeError, AttributeError, IndexError, RecursionError):
        # The parser of heads fails on some that no program writes, and says what they hold.
        raise RefusedDocumentError(Reason.UNREADABLE_FILE) from None
    return unread.after(with_head(head, body))


def with_head(head: Iterable[tuple[str, str]], body: str) -> str:
    """A body below the lines of its head; each without what could begin another line."""
    lines = [f"{name}: {' '.join(value.split())}" for name, value in head if value.strip()]
    return "\n\n".join(part for part in ("\n".join(lines), body.strip("\r\n")) if part)


def kind_of_attachment(content_type: str) -> str:
    """What an attachment is called where it is named as not read: never its own name, which may be a patient's."""
    main = content_type.partition("/")[0].strip().lower()
    return _KINDS.get(main, "attachment")


def _bodies(message: Message, unread: Unread) -> Iterator[str]:
    parts = [message]
    for count in range(1, _PARTS + 2):
        if not parts:
            return
        if count > _PARTS:
            raise RefusedDocumentError(Reason.LIMIT_EXCEEDED)
        part = parts.pop()
        kind = part.get_content_type()
        if kind in _ENCRYPTED and part.get_param("smime-type") != "signed-data":
            raise RefusedDocumentError(Reason.LOCKED_FILE)
        if kind in _SIGNATURES:
            continue
        if part.get_content_disposition() == "attachment" or kind == "message/rfc822":
            unread.add(kind_of_attachment(kind))
        elif kind == "multipart/alternative":
            yield from _fullest(part, unread)
        elif part.is_multipart():
            parts += reversed(_parts_of(part))
        elif kind in ("text/plain", "text/html"):
            yield _text(part, unread)
        else:
            unread.add(kind_of_attachment(kind))


def _fullest(part: Message, unread: Unread) -> Iterator[str]:
    """The form with the most letters and digits, and what is attached to any of them."""
    forms: list[tuple[int, str, Unread]] = []
    for form in _parts_of(part):
        own = Unread()
        text = "\n\n".join(_bodies(form, own))
        forms.append((sum(map(str.isalnum, text)), text, own))
    if forms:
        _, text, own = max(forms, key=lambda form: form[0])
        unread.join(own)
        yield text


def _parts_of(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _text(part: Message, unread: Unread) -> str:
    assert isinstance(part, EmailMessage)  # noqa: S101  by the policy
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or "utf-8"
    try:
        text = raw.decode("utf-8" if charset == "us-ascii" else charset)
    except (UnicodeDecodeError, LookupError):
        raise RefusedDocumentError(Reason.BROKEN_ATTACHMENT) from None
    if part.get_content_type() == "text/html":
        text, hidden = shown_text(text)
        unread.add("hidden text", hidden)
    return text
