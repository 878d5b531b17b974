"""Documents and mails as texts: Word, RTF, e-mail; and workbooks as rows.

    documents   a file as a text, by what its name ends with
    docx, rtf, mail, outlook, html   one format each
    workbook    the one table of a workbook
    opening     bytes and zip archives within limits

Belongs here: what a document shows a reader, and what of it is not read. Does not belong here: which note a document is
(`formats/named_files.py`), paper (`scans/`).

What a document shows is its text, headers, footers, notes, comments and text boxes included. What it holds but does not
show (deleted and hidden text) is not read, since the writer took it out of sight, and neither is what is no text
(pictures, attachments). The last line of a text says what was not read, by kind alone: `[not read: 2 pictures, deleted
text]`. So nothing is left out silently.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from deid_platform.corpora import Reason


class RefusedDocumentError(Exception):
    """A document is not read; carries the reason alone."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason.value)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may take.

    Attributes:
        file_bytes: Of the file as it lies there.
        part_bytes: Of one part of an archive that is read, unpacked.
        parts: Files in an archive.
    """

    file_bytes: int = 100_000_000
    part_bytes: int = 100_000_000
    parts: int = 10_000


LIMITS = Limits()


class Unread:
    """What of one document is not read, counted by kind."""

    def __init__(self) -> None:
        self._kinds: Counter[str] = Counter()

    def add(self, kind: str, many: int = 1) -> None:
        """Counts something of a kind: a word of ours, never one of the document."""
        if many:
            self._kinds[kind] += many

    def join(self, other: Unread) -> None:
        """Counts what another has."""
        self._kinds.update(other._kinds)

    def line(self) -> str:
        """What was not read, as a line; empty if nothing is left."""
        said = [
            kind if kind.endswith("text") else f"{many} {kind}{'s' if many > 1 else ''}"
            for kind, many in sorted(self._kinds.items())
        ]
        return f"[not read: {', '.join(said)}]" if said else ""

    def after(self, text: str) -> str:
        """A text with that line behind it."""
        return "\n\n".join(part for part in (text, self.line()) if part)
