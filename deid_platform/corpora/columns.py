"""Unknown columns: which of them may be named, and which field each probably is.

Belongs here: which names may be shown, and guesses by their words. Does not belong here: the usual whole names
(`column_names.py`), or what their cells hold (`rows.py`).

A column's name is no value, unless the file has no header line: then the first row's values stand in its place. So a
name is shown only where the names around it prove a header, or where it is made of words that headers are made of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from deid_platform.corpora import Role, UnknownColumns
from deid_platform.corpora.column_names import is_unmistakable, plain, usual_field
from deid_platform.corpora.rows import ID_FIELD, Shape, shapes
from deid_platform.errors import Code, DeidError

_SYNONYMS: Mapping[str, str] = {
    # A word of a source's column -> the platform's words for it; nothing where it says nothing.
    **dict.fromkeys(("doc", "document", "report"), "note"),
    **dict.fromkeys(("body", "content", "txt"), "text"),
    **dict.fromkeys(("pat", "pt", "person"), "patient"),
    **dict.fromkeys(("prov", "clinician", "physician", "author"), "provider"),
    **dict.fromkeys(("enc", "visit"), "encounter"),
    **dict.fromkeys(("fac", "clinic"), "facility"),
    **dict.fromkeys(("num", "number", "no", "nbr", "key", "identifier"), "id"),
    **dict.fromkeys(("dt", "dttm", "datetime", "day"), "date"),
    **dict.fromkeys(("given", "forename"), "first"),
    **dict.fromkeys(("family",), "last"),
    **dict.fromkeys(("nm",), "name"),
    **dict.fromkeys(("tel", "telephone"), "phone"),
    **dict.fromkeys(("zipcode", "postcode", "postal"), "zip"),
    **dict.fromkeys(("code", "cd"), ""),
    "address": "street",
    "dob": "birth date",
    "fname": "first name",
    "gender": "sex",
    "lang": "language",
    "lname": "last name",
    "surname": "last name",
}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]{0,39}")
# Of one case, since a person's name has a capital and small letters, and with fewer digits than a person's number.
_CODE = re.compile(r"(?!(?:.*[0-9]){4})(?:[a-z_][a-z0-9_]{0,39}|[A-Z_][A-Z0-9_]{0,39})")
_CLOSE = 0.85
_ENOUGH = 3
_ITSELF, _BY_WORDS = -1, 1000


@dataclass(frozen=True)
class ColumnMapping:
    """How a source's columns become fields, as a feed of deid.toml says it or the command line.

    Attributes:
        columns: Source column to field, see `rows.shapes`.
        ignore: Columns that are dropped unread.
        defaults: Note field to a constant for rows without a value there.
    """

    columns: Mapping[str, str]
    ignore: Collection[str] = ()
    defaults: Mapping[str, str] | None = None

    @classmethod
    def parse(cls, options: Iterable[str], base: ColumnMapping | None = None) -> ColumnMapping:
        """The mapping that options of the form `COLUMN=field` spell out; `COLUMN=` ignores the column.

        Args:
            options: One a column.
            base: A mapping that they add to; an option stands before what it says of the same column.

        Raises:
            DeidError: `feed-mapping` for an option of another form, or a mapping that no file could have.
        """
        columns, ignore = (dict(base.columns), set(base.ignore)) if base else ({}, set())
        for option in options:
            column, sign, target = (part.strip() for part in option.rpartition("="))
            if not (column and sign):
                raise DeidError(Code.FEED_MAPPING, "--columns")
            columns.pop(column, None)
            ignore.discard(column)
            if target:
                columns[column] = target
            else:
                ignore.add(column)
        mapping = cls(columns, tuple(sorted(ignore)), base.defaults if base else None)
        mapping.shapes()
        return mapping

    def shapes(self) -> dict[Role, Shape]:
        """The shape of every role's files under this mapping; raises as `rows.shapes`."""
        return shapes(self.columns, self.ignore, self.defaults)


def unknown_columns(names: Collection[str], shape: Shape) -> UnknownColumns | None:
    """Those of a row's columns that are no field, are not mapped and are not ignored; None if there is none."""
    unknown = [name for name in names if name not in shape.columns and name not in shape.ignore]
    if not unknown:
        return None
    header = is_header(names, shape)
    shown = tuple(name for name in unknown if _may_be_shown(name, shape, header=header))
    there = {shape.columns[name] for name in names if name in shape.columns}
    # What another column is mapped to already can be mapped to from no second one.
    taken = there | {field for column, field in shape.columns.items() if column != field}
    guesses = {name: guess for name in shown if (guess := _guess(name, shape)) is not None}
    fields: dict[str, str] = {}
    for name, (field, _) in sorted(guesses.items(), key=lambda guess: guess[1][1]):
        if field not in taken:
            fields[name] = field
            taken.add(field)
    in_order = tuple((name, fields[name]) for name in shown if name in fields)
    return UnknownColumns(shown, len(unknown) - len(shown), in_order, header=header, there=frozenset(there))


def is_header(names: Collection[str], shape: Shape) -> bool:
    """Whether these are names and no values: an id's column is among them, or two that are known or nearly so.

    A field's name in capitals is nearly known. A word alone may be a surname: it takes three of those that are usual
    names.
    """
    known = {name for name in names if name in shape.columns or name in shape.ignore}
    codes = [name for name in names if _CODE.fullmatch(name)]
    nearly = {name for name in codes if _is_nearly(name, shape)}
    of_an_id = {column for column, field in shape.columns.items() if field.endswith("_id")}
    usual = known | nearly | {name for name in codes if usual_field(name, shape.role)}
    return len(known | nearly) > 1 or not of_an_id.isdisjoint(known) or len(usual) >= _ENOUGH


def _is_nearly(name: str, shape: Shape) -> bool:
    return (
        any(plain(name) == plain(field) for field in shape.columns.values())
        or is_unmistakable(name, shape.columns.values())
        or (_usual_words(name, shape) > 1 and _field(name, shape) is not None)
    )


def _may_be_shown(name: str, shape: Shape, *, header: bool) -> bool:
    """A word alone may be a surname, unless it stands in a header and is one that fields are named by.

    What nobody is called may be shown in any place, if it is written as names of columns are.
    """
    usual = _usual_words(name, shape)
    in_header = usual == 1 or _CODE.fullmatch(name) is not None or usual_field(name, shape.role) is not None
    mistaken = _CODE.fullmatch(name) is None or not is_unmistakable(name, shape.columns.values())
    return usual > 1 or not mistaken or (header and in_header)


def _usual_words(name: str, shape: Shape) -> int:
    """How many words a name has, if all of them are words that fields are named by; else 0."""
    words = [word.lower() for word in _WORD.findall(name)]
    usual = {word for field in shape.columns.values() for word in field.split("_")} | {*_SYNONYMS}
    return len(words) if usual.issuperset(words) and _NAME.fullmatch(name) else 0


def _guess(name: str, shape: Shape) -> tuple[str, int] | None:
    """The field that a column's name most probably means, and how unlikely that is beside other guesses."""
    if own := next((field for field in shape.columns.values() if plain(field) == plain(name)), None):
        return own, _ITSELF
    if usual := usual_field(name, shape.role):
        return usual
    field = _field(name, shape)
    return None if field is None else (field, _BY_WORDS)


def _field(name: str, shape: Shape) -> str | None:
    """The field that the words of a column's name spell, or nearly spell."""
    words = " ".join(_SYNONYMS.get(word.lower(), word.lower()) for word in _WORD.findall(name)).split()
    words = [word for at, word in enumerate(words) if word not in words[:at]]
    fields = {*shape.columns.values()}
    about = ID_FIELD[shape.role].removesuffix("_id") if shape.role in ID_FIELD else ""
    without = [word for word in words if word != about]
    for candidate in ("_".join(words), "_".join(without), "_".join((about, *without))):
        if candidate in fields:
            return candidate
    return next(iter(get_close_matches("_".join(words), sorted(fields), n=1, cutoff=_CLOSE)), None)
