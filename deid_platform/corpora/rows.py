"""From a row's cells to a record: columns, fields and what their values may be.

Belongs here: the rules that hold whatever the file format. Does not belong here: how a format writes
a row (`tables.py`) and what only the rows around it can tell, such as a duplicate (`files.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from deid_platform.corpora import Reason, Role
from deid_platform.errors import Code, DeidError
from deid_platform.languages import UNDETERMINED
from deid_platform.notes import Facility, Note, Patient, Provider, Rejoining, Withdrawal

Record = Note | Patient | Provider | Facility | Withdrawal | Rejoining

_RECORDS: Mapping[Role, type[Any]] = {
    Role.NOTES: Note,
    Role.PATIENTS: Patient,
    Role.PROVIDERS: Provider,
    Role.FACILITIES: Facility,
    Role.WITHDRAWN: Withdrawal,
    Role.REJOINED: Rejoining,
}
_FIELDS = {role: tuple(f.name for f in fields(record)) for role, record in _RECORDS.items()}
ID_FIELD: Mapping[Role, str] = {role: names[0] for role, names in _FIELDS.items() if role is not Role.WITHDRAWN}
STATEMENTS = (Role.WITHDRAWN, Role.REJOINED)
"""Roles whose rows are about patients and notes of other files."""
_DATES = frozenset({"note_date", "birth_date"})
_EARLIEST = date(1900, 1, 1)
_NO_DEFAULT = frozenset({"note_id", "text"})
# What a BCP 47 tag looks like, underscores allowed.
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Shape:
    """Which columns the files of one role may have, and what they mean.

    Attributes:
        role: What the files hold.
        columns: Source column to field.
        ignore: Columns that are dropped unread.
        defaults: Field to the constant that stands where a row has none.
        strict: Whether an unknown column, or a note's invalid date, refuses the row; else they
            are left aside.
    """

    role: Role
    columns: Mapping[str, str]
    ignore: frozenset[str]
    defaults: Mapping[str, str | date]
    strict: bool = True


def shapes(
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    defaults: Mapping[str, str] | None = None,
) -> dict[Role, Shape]:
    """The shape of every role's files under one feed's mapping.

    Args:
        columns: Source column to field, or to several with commas between. A field is meant for every role that has
            it (`patient_id`), or for one alone when that is written before it (`providers.last_name`). A column that
            already has its field's name needs no entry, unless another column takes that field. In statements
            (withdrawn, rejoined) the ids' own names stand all the same, and so does a column that is an id elsewhere:
            nobody stays in research for what a column of notes is called.
        ignore: Columns that are dropped unread, in any role.
        defaults: Note field to a constant for rows that have no value there.

    Raises:
        DeidError: `feed-mapping`, with the key, if it names a field that does not exist, if two columns
            go to one field, if a column is both mapped and ignored, or if a default cannot be used.
    """
    columns = columns or {}
    mapped: dict[Role, dict[str, str]] = {role: {} for role in Role}
    for column, targets in columns.items():
        for target in targets.split(","):
            prefix, dot, rest = target.strip().partition(".")
            name = rest if dot else prefix
            roles = [role for role in Role if name in _FIELDS[role] and (not dot or role == prefix)]
            taken = any(column in mapped[role] or name in mapped[role].values() for role in roles)
            if not roles or column in ignore or taken:
                raise DeidError(Code.FEED_MAPPING, f"columns.{column}")
            for role in roles:
                mapped[role][column] = name
    elsewhere = {column: {names[column] for names in mapped.values() if column in names} for column in columns}
    for role in STATEMENTS:
        ids = {column: min(names) for column, names in elsewhere.items() if len(names) == 1}
        own = {column: name for column, name in ids.items() if name in _FIELDS[role]}
        mapped[role] = {n: n for n in _FIELDS[role] if n not in mapped[role] and n not in ignore} | own | mapped[role]
    return {
        role: Shape(
            role,
            columns={n: n for n in _FIELDS[role] if n not in mapped[role].values() and n not in ignore} | mapped[role],
            ignore=frozenset(ignore),
            defaults=_defaults(defaults or {}) if role is Role.NOTES else {},
        )
        for role in Role
    }


def _defaults(defaults: Mapping[str, str]) -> dict[str, str | date]:
    checked: dict[str, str | date] = {}
    for name, constant in defaults.items():
        value = _value(name, constant)
        if name not in _FIELDS[Role.NOTES] or name in _NO_DEFAULT or value is None or isinstance(value, Reason):
            raise DeidError(Code.FEED_MAPPING, f"defaults.{name}")
        # A row would be refused or become `und` for these: as a default they would do that to every row.
        if (isinstance(value, date) and value < _EARLIEST) or (name == "language" and value != constant.strip()):
            raise DeidError(Code.FEED_MAPPING, f"defaults.{name}")
        checked[name] = value
    return checked


def roles_with(name: str) -> list[Role]:
    """The roles that have a field of that name."""
    return [role for role in Role if name in _FIELDS[role]]


def record_of(
    cells: Mapping[str, object], shape: Shape, *, max_chars: int, latest: date
) -> tuple[Record | None, Reason | None]:
    """The record that a row's cells spell out, and the first reason against the row or its date.

    A note's text is taken code point by code point. Every other value loses surrounding white space,
    and is missing if nothing else was there. A language that cannot be a tag is `und`, undetermined.

    Args:
        cells: The row by source column: str, int, date, None, or a `Reason` for an unusable cell.
        shape: The role's columns.
        max_chars: The longest text, in code points.
        latest: The last day that a note may be dated.

    Returns:
        One of the two, or both for a row that stands without its impossible date: any topic's, and a note's
        where the shape is not strict.
    """
    dropped: Reason | None = None
    values: dict[str, str | date] = dict(shape.defaults)
    for column, cell in cells.items():
        if column in shape.ignore:
            continue
        name = shape.columns.get(column)
        if name is None:
            if shape.strict:
                return None, Reason.UNKNOWN_COLUMN
            continue
        value = _value(name, cell)
        if value is Reason.IMPOSSIBLE_DATE and (shape.role is not Role.NOTES or not shape.strict):
            # Without its row, a person's name would be unknown and stay in the notes.
            dropped = value
        elif isinstance(value, Reason):
            return None, value
        elif value is not None:
            if shape.role in STATEMENTS and values.get(name, value) != value:
                return None, Reason.MALFORMED_ROW  # two columns name two
            values[name] = value
    if objection := _objection(values, shape.role, max_chars, latest):
        return None, objection
    return _RECORDS[shape.role](**values), dropped


def note_id_of(cells: Mapping[str, object] | Reason, shape: Shape) -> str | None:
    """The id in a row of notes, where it can be read, whatever else is wrong with the row."""
    return id_in(cells, shape, "note_id") if shape.role is Role.NOTES else None


def id_in(cells: Mapping[str, object] | Reason, shape: Shape, name: str) -> str | None:
    """The id in one field of a row, where it can be read, whatever else is wrong with the row."""
    if isinstance(cells, Reason):
        return None
    column = next((column for column, field in shape.columns.items() if field == name), None)
    value = _value(name, None if column is None else cells.get(column))
    # A reason is a string too.
    return value if isinstance(value, str) and not isinstance(value, Reason) else None


def text_fault(text: str, *, max_chars: int) -> Reason | None:
    """Why a note with this text would be refused; None if it would not.

    Args:
        text: The text.
        max_chars: The longest text, in code points.
    """
    value = _value("text", text)
    if isinstance(value, Reason):
        return value
    return _objection({"note_id": "", "text": text}, Role.NOTES, max_chars, date.max)


def _objection(values: Mapping[str, str | date], role: Role, max_chars: int, latest: date) -> Reason | None:
    match role:
        case Role.NOTES:
            text = str(values.get("text", ""))
            if "note_id" not in values:
                return Reason.MISSING_NOTE_ID
            if not text.strip():
                return Reason.EMPTY_TEXT
            if len(text) > max_chars:
                return Reason.TEXT_TOO_LONG
            written = values.get("note_date")
            return Reason.IMPOSSIBLE_DATE if isinstance(written, date) and not _EARLIEST <= written <= latest else None
        case Role.WITHDRAWN:
            if not values:
                return Reason.MISSING_ID
            return Reason.MALFORMED_ROW if len(values) > 1 else None
        case _:
            return None if ID_FIELD[role] in values else Reason.MISSING_ID


def _value(name: str, cell: object) -> str | date | Reason | None:
    """One field's value from its cell; None where it is missing."""
    if cell is None or isinstance(cell, Reason):
        # A moment beyond the calendar says nothing about dates where no date belongs.
        return Reason.MALFORMED_ROW if cell is Reason.IMPOSSIBLE_DATE and name not in _DATES else cell
    if isinstance(cell, date):
        return cell if name in _DATES else Reason.MALFORMED_ROW
    if isinstance(cell, int) and not isinstance(cell, bool) and name != "text":
        cell = str(cell)
    if not isinstance(cell, str):
        return Reason.MALFORMED_ROW
    if "\0" in cell:
        return Reason.NUL_CHARACTER
    if not cell.isascii() and _SURROGATE.search(cell):
        return Reason.LONE_SURROGATE
    if name == "text":
        return cell
    if not (stripped := cell.strip()):
        return None
    if name == "language":
        return stripped if _LANGUAGE.fullmatch(stripped) else UNDETERMINED
    if name not in _DATES:
        return stripped
    try:
        return datetime.fromisoformat(stripped).date()
    except ValueError:
        return Reason.IMPOSSIBLE_DATE
