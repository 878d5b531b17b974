"""The one table of a workbook (.xlsx): rows whose cells are what a reader of the sheet would say.

Belongs here: which sheet is the table, what a cell says, and what of a workbook is hidden. Does not belong here: which
columns there may be (`corpora/rows.py`).

A workbook keeps an id that somebody typed as a number, without its leading zeros; then the patient is not looked for
under the id that the notes have. So a number is refused where no date belongs, unless its format fills it up with
zeros (`00000000`) or the caller says that numbers are harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from importlib import import_module
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

from deid_platform.corpora import Reason
from deid_platform.corpora.office import LIMITS, Limits, RefusedDocumentError
from deid_platform.corpora.office.opening import archive_of
from deid_platform.errors import Code, DeidError

_UNPACKED = 300_000_000
"""Bytes of all parts of a workbook; in memory its cells take some five times that."""
_PADDED = re.compile(r"00+")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_EXACT = 10**15
"""From here on a workbook rounds whole numbers."""

_Row = tuple[int, Mapping[str, object] | Reason]


def workbook_rows(content: bytes, *, numbers: bool, limits: Limits = LIMITS) -> Iterator[_Row]:
    """The rows of the one sheet that has some, below its header; their number is the sheet's.

    A hidden sheet that holds anything is one refused row. A row that is hidden or has a comment is refused, and so is a
    value in a hidden column, a formula whose result the file does not hold, an error, and a number as above.

    Args:
        content: The file.
        numbers: Whether whole numbers stand for their digits.
        limits: What it may take.

    Raises:
        RefusedDocumentError: `several_sheets`; `unreadable_file`, `limit_exceeded` and others of `opening.archive_of`.
        DeidError: `document-reader-missing` without the extra `office`.
    """
    try:
        library = import_module("openpyxl")
    except ImportError:
        raise DeidError(Code.DOCUMENT_READER_MISSING, "openpyxl") from None
    with archive_of(content, limits) as archive:
        archive.within(_UNPACKED)
    try:
        book = library.load_workbook(BytesIO(content), keep_links=False)
        sheets = [sheet for sheet in book.worksheets if any(cell.value is not None for cell in _cells(sheet))]
        shown = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
        results = None
        if shown and any(cell.data_type == "f" for cell in _cells(shown[0])):
            results = library.load_workbook(BytesIO(content), keep_links=False, data_only=True)[shown[0].title]
    except (ValueError, LookupError, TypeError, AttributeError, OSError, SyntaxError, BadZipFile, RecursionError):
        # openpyxl fails in as many ways as a file can be broken, and says what it holds.
        raise RefusedDocumentError(Reason.UNREADABLE_FILE) from None
    if len(shown) > 1:
        raise RefusedDocumentError(Reason.SEVERAL_SHEETS)
    yield from ((1, Reason.HIDDEN_CONTENT) for sheet in sheets if sheet.sheet_state != "visible")
    if shown:
        yield from _rows(shown[0], results, numbers)


def _cells(sheet: Any) -> Iterable[Any]:
    # What `iter_rows` goes through is as large as the farthest cell lies, and one may lie anywhere.
    return sheet._cells.values()  # type: ignore[no-any-return]


def _rows(sheet: Any, results: Any, numbers: bool) -> Iterator[_Row]:
    lines: dict[int, list[Any]] = {}
    for cell in _cells(sheet):
        if cell.value is not None or getattr(cell, "comment", None) is not None:
            lines.setdefault(cell.row, []).append(cell)
    hidden = _hidden_columns(sheet)
    columns: dict[int, str] | None = None
    for number in sorted(lines):
        cells = lines[number]
        if columns is None:
            columns = {cell.column: str(cell.value).strip() for cell in cells}
            if len({*columns.values()}) != len(columns) or not all(isinstance(cell.value, str) for cell in cells):
                raise RefusedDocumentError(Reason.UNREADABLE_FILE)
        elif sheet.row_dimensions[number].hidden:
            yield number, Reason.HIDDEN_CONTENT
        elif any(cell.comment is not None for cell in cells):
            yield number, Reason.UNSUPPORTED_CONTENT
        elif any(cell.column not in columns for cell in cells):
            yield number, Reason.MALFORMED_ROW
        else:
            row: dict[str, object] = dict.fromkeys(columns.values())
            for cell in cells:
                shown = _value(cell, results, numbers)
                row[columns[cell.column]] = Reason.HIDDEN_CONTENT if cell.column in hidden else shown
            yield number, row


def _hidden_columns(sheet: Any) -> frozenset[int]:
    spans = [(said.min, said.max) for said in sheet.column_dimensions.values() if said.hidden and said.min]
    return frozenset(column for first, last in spans for column in range(first, min(last, 1 << 14) + 1))


def _value(cell: Any, results: Any, numbers: bool) -> object:
    value = cell.value
    if cell.data_type == "f":
        cell = results[cell.coordinate]
        value = Reason.MALFORMED_ROW if cell.value is None else cell.value
    match value:
        case _ if cell.data_type == "e":
            return Reason.MALFORMED_ROW
        case str():
            return value if isinstance(value, Reason) else _ESCAPED.sub(lambda m: chr(int(m[1], 16)), value)
        case datetime():
            return value.date()
        case date():
            return value
        case bool():
            return Reason.MALFORMED_ROW
        case int() | float():
            return _digits(value, cell.number_format, numbers)
        case _:
            return Reason.MALFORMED_ROW


def _digits(value: float, number_format: str, numbers: bool) -> str | Reason:
    padded = _PADDED.fullmatch(number_format) is not None and value >= 0
    if (
        value != value
        or abs(value) >= _EXACT
        or value != int(value)
        or not (numbers or (padded and number_format != "0"))
    ):
        return Reason.NUMBER_CELL
    return f"{int(value):0{len(number_format)}d}" if padded else str(int(value))
