"""Initials in fields and columns that hold nothing else.

Belongs here: "Transcribed: sa", the cells under a heading such as "Init" or "By". Does not belong here: initials in
running text (`positions.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.detection.topics.staff.positions import CREDENTIALS, REACH, WIDEST
from deid_platform.text.compiled import compiled

_MOST_ROWS = 100
_SEPARATORS = "|\t;"
_FIELD = compiled(r"[:=][ \t]*_*(?P<initials>\p{L}{2,3})(?=_*[ \t]*(?:[.,;|)\r\n]|$))")
_FIELD_NAME = compiled(
    r"(?<![\p{L}\p{N}])(?:transcribed|transcriber|transcriptionist|typed|typist|scribed?|initials|dictator|trans|tr)"
    r"(?:[ \t]+by)?[ \t]*$",
    regex.IGNORECASE,
)
_HEADINGS = (
    r"(?i:(?:rn|nurse|staff|tech|pt|md|user|provider)?['’]?s?[ ]?init(?:ial)?s?|by|rn|lpn|nurse|staff|tech|signed|"
    r"signature|sig|charted|recorder|witness|cosign(?:er)?|co-sign(?:er)?|verifier|checker|author|clinician|"
    r"(?:2nd|second)[ ](?:rn|nurse|check)|"
    r"(?:done|given|charted|signed|entered|checked|verified|recorded|admin(?:istered)?|taken|performed|collected|drawn)"
    r"[ ]by)"
)
_HEADING = compiled(rf"[|\t;\n][ \t]{{0,20}}+{_HEADINGS}\.?[ \t]*(?=[|\t;\r\n])")
# The last heading of a table whose columns are set off by spaces alone.
LAST_HEADINGS = ("init", "inits", "initials", "initial", "init.", "given by", "done by", "charted by", "signed by")
_LAST_CELL = compiled(r"(?:[|\t;,]|[ ]{2})[ \t]*(?P<one>\p{Lu}{2,3})(?:/(?P<two>\p{Lu}{2,3}))?[ \t\r|;]*$")
_LETTERS = r"(?:\p{Lu}{2,3}|\p{Ll}{2,3}|\p{Lu}\.(?:[ ]?\p{Lu}\.){1,2})"
_CELL = compiled(
    rf"[ \t(]*(?P<one>{_LETTERS})(?:,?[ ]{CREDENTIALS})?(?:[ \t]*[/,&][ \t]*(?P<two>{_LETTERS}))?[ \t\r)]*"
)


def in_fields(text: str) -> Iterator[tuple[int, int]]:
    """Initials in a field of the dictation line, also in small letters: "Transcribed: sa"."""
    for match in _FIELD.finditer(text):
        initials, start = match["initials"], match.start()
        letters = initials in (initials.upper(), initials.lower()) and initials.lower() != "by"
        if letters and _FIELD_NAME.search(text, max(0, start - REACH), start):
            yield match.span("initials")


def in_columns(text: str) -> Iterator[tuple[int, int]]:
    """Initials in the cells under a heading such as "Init" or "By"."""
    if not any(sign in text for sign in _SEPARATORS):
        return
    read: dict[int, int] = {}  # how far each column has been read: a heading there is none
    for heading in _HEADING.finditer(text):
        top = text.rfind("\n", max(0, heading.start() - WIDEST), heading.start() + 1) + 1
        bottom = text.find("\n", heading.end(), heading.end() + WIDEST)
        header = text[top:bottom] if 0 <= bottom < top + WIDEST else ""
        sign = next((sign for sign in _SEPARATORS if sign in header), None)
        if sign is None:
            continue
        column = text.count(sign, top, heading.end())
        if heading.start() < read.get(column, 0):
            continue
        start = bottom + 1
        for _ in range(_MOST_ROWS):
            stop = text.find("\n", start, start + WIDEST)
            stop = stop if stop >= 0 else min(len(text), start + WIDEST)
            if text.count(sign, start, stop) != header.count(sign):
                break
            yield from _in_cell(text, start, stop, sign, column)
            start = stop + 1
        read[column] = start - 1


def _in_cell(text: str, start: int, stop: int, sign: str, column: int) -> Iterator[tuple[int, int]]:
    for _ in range(column):
        start = text.find(sign, start, stop) + 1
    edge = text.find(sign, start, stop)
    cell = _CELL.fullmatch(text, start, edge if edge >= 0 else stop)
    for group in ("one", "two"):
        if cell is not None and cell[group]:
            yield cell.span(group)


def last_cell(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """The places of two or three capitals, or of two such, that are all of the last cell of a row."""
    if stop - start <= 3:
        return []
    cell = _LAST_CELL.search(text, max(start, stop - REACH), stop)
    return [] if cell is None else [cell.span(group) for group in ("one", "two") if cell[group]]
