"""Rows of a file: JSONL, CSV, Parquet, workbooks, documents and plain text behind one interface.

Belongs here: how each format writes a row, and where its rows begin again after a broken one. Does not belong here:
encodings (`encodings.py`), which columns there may be and what their values mean (`rows.py`).

A row is its number with either its cells by column or the reason why the format itself
refuses it. The number is the line of the file on which the row begins, from 1, and in Parquet, which has no lines, the
row's place. A cell that Parquet or a workbook holds but that cannot be used is a `Reason` in the value's place.
"""

from __future__ import annotations

import csv
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from deid_platform.corpora import Format, Reason
from deid_platform.corpora.decoding import BrokenFileError, OverlongLine, chunks, lines
from deid_platform.corpora.encodings import UTF8, in_utf8
from deid_platform.corpora.office import RefusedDocumentError
from deid_platform.corpora.office.documents import document_text
from deid_platform.corpora.parquet import parquet_rows

Row = tuple[int, Mapping[str, object] | Reason]

_BOM = b"\xef\xbb\xbf"
_DELIMITERS = (",", ";", "\t", "|")
TEXT_NOTE_ID = "note"
"""The id of the one note that a plain text is."""
_SPREADSHEET = re.compile(r"\.(?:xls[xmb]?|xlt[xm]?|ods|fods|numbers)(?:\.(?:gz|zst))?$", re.IGNORECASE)
_SEPARATOR = re.compile(r'"?sep=([^"\w\s]|\t)"?', re.IGNORECASE)
"""The line before the header by which a spreadsheet is told what separates fields."""


def table_rows(
    path: Path,
    table_format: str,
    compression: str | None,
    *,
    max_chars: int,
    spool: Path | None = None,
    encoding: str = UTF8,
    numbers: bool = False,
) -> Iterator[Row]:
    """The rows of one file, streamed; of a workbook, all of it is held in memory.

    Args:
        path: The file.
        table_format: A `Format`; anything else cannot be read.
        compression: Around the file: `gz`, `zst` or None.
        max_chars: The longest text that is wanted. A JSONL or CSV row that is certainly longer is
            refused as `text_too_long` without being held in memory.
        spool: Folder for temporary files, made if need be; by default the system's own.
        encoding: Of JSONL, CSV and plain text, unless the file says another by a byte order mark.
        numbers: Whether whole numbers in cells of a workbook stand for their digits: leading zeros may be lost.

    Raises:
        DeidError: `store-write` if a temporary file cannot be written; `document-reader-missing` for a workbook.
        BrokenFileError: The file can be read no further; the rows before have been yielded.
    """
    # JSON may spend 12 bytes on one character ("\ud83d\ude00"); the other columns share the rest.
    limit = 12 * max_chars + (1 << 20)
    match table_format:
        case Format.JSONL:
            yield from _jsonl(in_utf8(chunks(path, compression), encoding), limit)
        case Format.CSV:
            yield from _csv(in_utf8(chunks(path, compression), encoding), limit)
        case Format.PARQUET:
            yield from parquet_rows(path, compression, spool)
        case Format.XLSX if compression is None:
            yield from _workbook(path, numbers)
        case Format.DOCUMENT:
            yield from _document(path)
        case Format.TEXT:
            yield from _plain_text(in_utf8(chunks(path, compression), encoding), limit)
        case _:
            raise BrokenFileError(Reason.SPREADSHEET if is_spreadsheet(path.name) else Reason.UNREADABLE_FILE)


def _workbook(path: Path, numbers: bool) -> Iterator[Row]:
    from deid_platform.corpora.office.opening import content_of  # 0.1 s, so only when a file needs it
    from deid_platform.corpora.office.workbook import workbook_rows

    try:
        yield from workbook_rows(content_of(path), numbers=numbers)
    except RefusedDocumentError as refused:
        raise BrokenFileError(refused.reason) from None


def _document(path: Path) -> Iterator[Row]:
    try:
        yield 1, {"note_id": TEXT_NOTE_ID, "text": document_text(path)}
    except RefusedDocumentError as refused:
        raise BrokenFileError(refused.reason) from None


def is_spreadsheet(file_name: str) -> bool:
    """Whether a file is a workbook by its name."""
    return _SPREADSHEET.search(file_name) is not None


def _without_bom(parts: Iterator[bytes]) -> Iterator[bytes]:
    head = b""
    for part in parts:
        head += part
        if len(head) >= len(_BOM):
            break
    yield head.removeprefix(_BOM)
    yield from parts


def unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object, for `object_pairs_hook`; a `ValueError` if a key is repeated: one of the two would be lost."""
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError
    return row


def _no_constant(_: str) -> object:
    raise ValueError


# Not strict: a raw tab or CR inside a string breaks JSON's grammar but leaves no doubt about what was written.
_JSON = json.JSONDecoder(object_pairs_hook=unrepeated, parse_constant=_no_constant, strict=False)


def _jsonl(parts: Iterator[bytes], limit: int) -> Iterator[Row]:
    """One JSON object a line; a row's number is its line's, blank lines counted."""
    for number, line in enumerate(lines(_without_bom(parts), limit=limit, carriage_returns=False), start=1):
        if isinstance(line, OverlongLine):
            yield number, Reason.TEXT_TOO_LONG
            continue
        if not line.strip():
            continue
        try:
            row = _JSON.decode(line.decode())
        except UnicodeDecodeError:
            yield number, Reason.INVALID_UTF8
        except (ValueError, RecursionError):
            yield number, Reason.MALFORMED_ROW
        else:
            yield number, row if isinstance(row, dict) else Reason.MALFORMED_ROW


def _plain_text(parts: Iterator[bytes], limit: int) -> Iterator[Row]:
    """The whole file as one note; none if there is nothing but white space."""
    content = bytearray()
    for part in _without_bom(parts):
        content += part
        if len(content) > limit:
            yield 1, Reason.TEXT_TOO_LONG
            return
    if content.strip():
        try:
            yield 1, {"note_id": TEXT_NOTE_ID, "text": content.decode()}
        except UnicodeDecodeError:
            yield 1, Reason.INVALID_UTF8


class _OverlongRecordError(Exception):
    """A CSV record, or one of its lines, is over the limit."""


class _RecordLines:
    """Feeds lines to `csv.reader` and remembers those of the record in hand, so that it can be given up."""

    def __init__(self, source: Iterator[bytes | OverlongLine], limit: int) -> None:
        self._source = source
        self._again: deque[bytes | OverlongLine] = deque()
        self._limit = limit
        self._lines = 0
        self.begin()

    def begin(self) -> None:
        """A new record starts."""
        self.first_line = self._lines + 1
        self._taken: list[bytes | OverlongLine] = []
        self._size = 0
        self.undecodable = False

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        line = self._take()
        if isinstance(line, OverlongLine):
            raise _OverlongRecordError
        self._size += len(line)
        if self._size > self._limit:
            raise _OverlongRecordError
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.undecodable = True
            return line.decode(errors="replace")

    def _take(self) -> bytes | OverlongLine:
        line = self._again.popleft() if self._again else next(self._source)
        self._taken.append(line)
        self._lines += 1
        return line

    def ahead(self) -> str:
        """The first line that is not blank, without taking it; empty if there is none that can be read."""
        line: bytes | OverlongLine = b""
        while not isinstance(line, OverlongLine) and not line.strip():
            if (line := next(self._source, b"")) == b"":
                break
            self._again.append(line)
        return "" if isinstance(line, OverlongLine) else line.decode(errors="replace")

    def drop(self) -> None:
        """Takes the line that `ahead` showed, and the blank ones before it."""
        while isinstance(line := self._take(), bytes) and not line.strip():
            pass

    def retry(self) -> None:
        """Gives up the record's first line alone: a quote left open must not swallow the rows below it."""
        self._again.extendleft(reversed(self._taken[1:]))
        self._lines -= len(self._taken) - 1

    def skip(self) -> None:
        """Drops the rest of a record that is too long to hold: up to the line that closes its quotes.

        Raises:
            BrokenFileError: `unreadable_file` if none does.
        """
        quotes = 0
        try:
            while True:
                quotes += sum(
                    line.quotes if isinstance(line, OverlongLine) else line.count(b'"') for line in self._taken
                )
                if quotes % 2 == 0:
                    return
                self._taken.clear()
                self._take()
        except StopIteration:
            raise BrokenFileError(Reason.UNREADABLE_FILE) from None


def _delimiter(header: str) -> str:
    """What separates the fields of a header line: a comma, unless it has none outside quotes and has another.

    Only the header decides: guessing from rows would let the text of a note change how its file is read.
    """
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            if len(next(csv.reader([header], strict=True, delimiter=delimiter), ())) > 1:
                return delimiter
    return _DELIMITERS[0]


def header_cells(text: str) -> list[str]:
    """The cells of a text's first line as a CSV's header would have them; none if it cannot be one."""
    line, _, rest = text.lstrip().partition("\n")
    if said := _SEPARATOR.fullmatch(line.strip()):
        line = rest.partition("\n")[0]
    delimiter = said[1] if said else _delimiter(line)
    with suppress(csv.Error):
        return [cell.strip() for cell in next(csv.reader([line], strict=True, delimiter=delimiter), ())]
    return []


def _csv(parts: Iterator[bytes], limit: int) -> Iterator[Row]:
    """Records with a header (RFC 4180), separated by commas or by what the header shows; blank lines are passed over.

    After broken quoting the next line is taken for a new record, since nothing says otherwise; where it
    was the middle of a text, it rarely has the header's number of fields and is refused too.
    """
    # The limit is the process's own: it only ever goes up, `lines` is what bounds memory.
    csv.field_size_limit(max(csv.field_size_limit(), limit))
    source = _RecordLines(lines(_without_bom(parts), limit=limit, carriage_returns=True), limit)
    head = source.ahead()
    if said := _SEPARATOR.fullmatch(head.strip(" \r\n")):
        source.drop()
    reader = csv.reader(source, strict=True, delimiter=said[1] if said else _delimiter(head))
    header: list[str] | None = None
    while True:
        source.begin()
        outcome: list[str] | Reason
        try:
            outcome = next(reader)
        except StopIteration:
            return
        except csv.Error:
            source.retry()
            outcome = Reason.MALFORMED_ROW
        except _OverlongRecordError:
            source.skip()
            outcome = Reason.TEXT_TOO_LONG
        if not outcome:
            continue
        if source.undecodable:
            outcome = Reason.INVALID_UTF8
        if header is None:
            header = [] if isinstance(outcome, Reason) else [column.strip() for column in outcome]
            if not header or len(set(header)) != len(header):
                raise BrokenFileError(Reason.UNREADABLE_FILE)
            continue
        line = source.first_line
        if isinstance(outcome, Reason):
            yield line, outcome
        elif len(outcome) != len(header):
            yield line, Reason.MALFORMED_ROW
        else:
            yield line, dict(zip(header, outcome, strict=True))
