"""Opening a document that may be hostile: bytes and parts of zip archives within limits, XML without entities.

Belongs here: limits, and how opening fails. Does not belong here: what a part says (`docx.py`, `workbook.py`).

Sizes are looked at before anything is unpacked, and no message of a library goes any further: it may quote the file.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.office import LIMITS, Limits, RefusedDocumentError

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How old documents of Office, mails of Outlook and encrypted documents begin."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def content_of(path: Path, limits: Limits = LIMITS) -> bytes:
    """All bytes of a file.

    Raises:
        RefusedDocumentError: `unreadable_file`, `limit_exceeded`.
    """
    if not path.is_file():  # a pipe would wait for a writer
        raise RefusedDocumentError(Reason.UNREADABLE_FILE)
    content = bytearray()
    try:
        for chunk in chunks(path, None):
            content += chunk
            if len(content) > limits.file_bytes:
                raise RefusedDocumentError(Reason.LIMIT_EXCEEDED)
    except BrokenFileError as error:
        raise RefusedDocumentError(error.reason) from None
    return bytes(content)


@dataclass(frozen=True)
class Related:
    """What one part of a document leads to.

    Attributes:
        kind: The last word of the type: `header`, `image`.
        target: The name of a part; empty where it lies outside the document.
    """

    kind: str
    target: str


@dataclass
class Archive:
    """The parts of a document of Office Open XML."""

    zipped: zipfile.ZipFile
    limits: Limits = LIMITS
    names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = frozenset(self.zipped.namelist())

    def xml(self, name: str) -> Element:
        """The root of a part.

        Raises:
            RefusedDocumentError: `unreadable_file`, `limit_exceeded`, `truncated_file`.
        """
        try:
            info = self.zipped.getinfo(name)
            if info.flag_bits & 0x1:
                raise RefusedDocumentError(Reason.LOCKED_FILE)
            if info.file_size > self.limits.part_bytes:
                raise RefusedDocumentError(Reason.LIMIT_EXCEEDED)
            root: Element = fromstring(self.zipped.read(info), forbid_dtd=True)
        except (KeyError, DefusedXmlException, ParseError, zipfile.BadZipFile, zlib.error, EOFError):
            raise RefusedDocumentError(Reason.UNREADABLE_FILE) from None
        except (NotImplementedError, RuntimeError, OSError, ValueError, LookupError):
            raise RefusedDocumentError(Reason.UNREADABLE_FILE) from None
        return root

    def within(self, total_bytes: int) -> None:
        """Refuses an archive that would be too large if a library unpacks all of it.

        Raises:
            RefusedDocumentError: `limit_exceeded`.
        """
        sizes = [info.file_size for info in self.zipped.infolist()]
        if max(sizes, default=0) > self.limits.part_bytes or sum(sizes) > total_bytes:
            raise RefusedDocumentError(Reason.LIMIT_EXCEEDED)

    def related(self, name: str) -> Mapping[str, Related]:
        """What a part leads to, by the id that it uses."""
        folder, file = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations not in self.names:
            return {}
        found: dict[str, Related] = {}
        for relation in self.xml(relations):
            outside = relation.get("TargetMode", "").lower() == "external"
            target = "" if outside else posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))
            found[relation.get("Id", "")] = Related(relation.get("Type", "").rpartition("/")[2], target.lstrip("/"))
        return found


@contextmanager
def archive_of(content: bytes, limits: Limits = LIMITS) -> Iterator[Archive]:
    """The archive that a document of Office Open XML is.

    Raises:
        RefusedDocumentError: `locked_file` if it is encrypted, `unsupported_content` if it is a document of old,
            `truncated_file`, `unreadable_file`, `limit_exceeded`.
    """
    if content.startswith(OLE):
        encrypted = _ENCRYPTED in content
        raise RefusedDocumentError(Reason.LOCKED_FILE if encrypted else Reason.UNSUPPORTED_CONTENT)
    if not content.startswith(b"PK"):
        raise RefusedDocumentError(Reason.UNREADABLE_FILE)
    try:
        zipped = zipfile.ZipFile(BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError):
        # The directory of an archive is at its end.
        raise RefusedDocumentError(Reason.TRUNCATED_FILE) from None
    with zipped:
        names = zipped.namelist()
        if len(names) > limits.parts:
            raise RefusedDocumentError(Reason.LIMIT_EXCEEDED)
        if len({*names}) != len(names):  # of two parts of one name, another program may show the other
            raise RefusedDocumentError(Reason.UNREADABLE_FILE)
        yield Archive(zipped, limits)


def local(tag: object) -> str:
    """A tag without its namespace: the strict form of a format has others than the usual one."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """An attribute by its name without a namespace."""
    return next((value for key, value in element.attrib.items() if local(key) == name), None)
