"""Files and folders of notes with gold: which are read, how refusals are placed, and how they are written whole.

Belongs here: what the formats with gold share. Does not belong here: how any of them writes a note (a module each
beside this file), or what is wrong with spans (`corpora/annotations.py`).
"""

from __future__ import annotations

import gzip
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import TextIO, cast

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.annotations import GoldFaultError, check_text, misplaced
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.folders import is_unfinished
from deid_platform.corpora.gold import Fault, Gold, SpansIn, given_spans, gold_lines
from deid_platform.corpora.schemes import Scheme
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note
from deid_platform.runtime.output import Output

_NO_FILE_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")
_LONGEST_NAME = 200  # bytes; file systems take 255, of which the ending and a temporary name need some


def gold_files(path: Path, claims: Callable[[str], bool]) -> tuple[Path, list[str]]:
    """The files of a set: those of a folder that are of the format, or the one file that the path names.

    Args:
        path: A folder or a file.
        claims: Whether a file of a folder is of the format, by its name.

    Returns:
        The folder, and the names in their order: there may be very many, and a path is larger than its name.

    Raises:
        DeidError: `gold-missing` if there is nothing at that path, `feed-unreadable` if the folder cannot be listed.
    """
    if not path.is_dir():
        if not path.exists():
            raise DeidError(Code.GOLD_MISSING)
        return path.parent, [path.name]
    try:
        names = (p.name for p in path.iterdir())
        return path, sorted(name for name in names if not is_unfinished(name) and claims(name))
    except OSError:
        raise DeidError(Code.FEED_UNREADABLE, "gold") from None


def read_lines(
    folder: Path,
    names: Iterable[str],
    scheme: Scheme,
    *,
    max_chars: int,
    spans_in: SpansIn = given_spans,
) -> Iterator[Gold | Rejection]:
    """The notes of files of JSON lines, streamed; a line that cannot be used comes as a rejection with its number.

    Args:
        folder: Where the files are.
        names: The files', in order.
        scheme: Of the labels.
        max_chars: The longest text, in code points.
        spans_in: The spans of a line.
    """
    seen: set[str] = set()
    for ordinal, name in enumerate(names):
        number = 0
        try:
            lines = gold_lines(folder / name, scheme, overlaps=False, max_chars=max_chars, spans_in=spans_in)
            for number, gold in lines:
                if isinstance(gold, Fault):
                    yield refused(ordinal, number, gold.reason, gold.note_id)
                elif gold.note_id in seen:
                    yield refused(ordinal, number, Reason.DUPLICATE_NOTE_ID, gold.note_id)
                else:
                    seen.add(gold.note_id)
                    yield gold
        except BrokenFileError as broken:
            yield refused(ordinal, number + 1, broken.reason, None)


def refused(ordinal: int, place: int, reason: Reason, note_id: str | None) -> Rejection:
    """The rejection of a note, or of the rest of a file.

    Args:
        ordinal: The file's place among those of the set, from 0.
        place: The line, from 1.
        reason: Why.
        note_id: Which note, where that can be read.
    """
    return Rejection(Role.NOTES, f"{Role.NOTES}[{ordinal}]", place, reason, note_id)


def content(path: Path, max_chars: int = MAX_CHARS) -> str:
    """A whole file as text, code point by code point: line ends and a byte order mark stay.

    Raises:
        GoldFaultError: It is too long, or not UTF-8.
        BrokenFileError: It cannot be read.
    """
    if not path.is_file():  # a FIFO would never end
        raise BrokenFileError(Reason.UNREADABLE_FILE)
    raw = bytearray()
    for chunk in chunks(path, None):
        raw += chunk
        # UTF-8 spends up to four bytes on a code point, and mark-up needs some more.
        if len(raw) > 12 * max_chars + (1 << 20):
            raise GoldFaultError(Reason.TEXT_TOO_LONG)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise GoldFaultError(Reason.INVALID_UTF8) from None


def writable(notes: Iterable[Gold]) -> Iterator[tuple[int, Gold, Note]]:
    """Notes that any reader would take back, with their places, from 1.

    Raises:
        DeidError: `input-invalid` with the place of the first note that has no text or one that a feed would refuse,
            whose spans overlap or end past it, or whose id is missing or that of an earlier note.
    """
    seen: set[str] = set()
    for number, gold in enumerate(notes, start=1):
        note = gold.note
        if note is None or gold.note_id != note.note_id or not _sound(gold, note) or gold.note_id in seen:
            raise unwritable(number)
        seen.add(gold.note_id)
        yield number, gold, note


def unwritable(number: int) -> DeidError:
    """The error for the note at that place."""
    return DeidError(Code.INPUT_INVALID, f"note {number}")


def _sound(gold: Gold, note: Note) -> bool:
    try:
        check_text(note.text, MAX_CHARS)
        gold.note_id.encode()
    except (GoldFaultError, UnicodeEncodeError):
        return False
    spans = sorted(gold.spans)
    if any(misplaced(span.start, span.end, note.text) for span in spans):
        return False
    if any(one.overlaps(other) for one, other in pairwise(spans)):
        return False
    return bool(gold.note_id) and gold.note_id == gold.note_id.strip() and "\0" not in gold.note_id


@contextmanager
def written_file(path: Path) -> Iterator[TextIO]:
    """A text file, gzipped if its name says so, that appears whole or not at all; its owner alone can read it.

    Raises:
        DeidError: `output-unusable`.
    """
    try:
        with ExitStack() as stack:
            stream = stack.enter_context(Output.at(path).opened())
            if path.suffix == ".gz":
                # No time and no name in the header: equal notes make equal files.
                packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=cast(TextIOWrapper, stream).buffer, mtime=0)
                packed = stack.enter_context(packed)
                stream = stack.enter_context(TextIOWrapper(packed, encoding="utf-8", newline="\n"))
            yield stream
    except OSError:
        raise DeidError(Code.OUTPUT_UNUSABLE, "cannot be written") from None


@contextmanager
def written_folder(path: Path) -> Iterator[Callable[[str, str], None]]:
    """A folder of text files, by name and text, that appears whole or not at all; its owner alone can read it.

    Raises:
        DeidError: `output-unusable`, also for a folder that already holds something: what is written and what was
            there would be read as one set.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")

    def write(name: str, text: str) -> None:
        descriptor = os.open(temporary / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)

    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise DeidError(Code.OUTPUT_UNUSABLE, "a folder that is not empty")
        temporary.mkdir(mode=0o700)
        try:
            yield write
            temporary.rename(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError:
        raise DeidError(Code.OUTPUT_UNUSABLE, "cannot be written") from None


class FileNames:
    """The names of files that are called by the ids of their notes."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, note_id: str, number: int) -> str:
        """The name, without an ending.

        Raises:
            DeidError: `input-invalid` if the id is no name of a file, or differs from an earlier one in case alone,
                which not every file system tells apart.
        """
        name = note_id.casefold()
        if (
            _NO_FILE_NAME.search(note_id)
            or is_unfinished(note_id)
            or len(note_id.encode()) > _LONGEST_NAME
            or name in self._taken
        ):
            raise unwritable(number)
        self._taken.add(name)
        return note_id
