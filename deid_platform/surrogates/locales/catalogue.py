"""How much each locale holds.

Belongs here: the rows of the catalogue. Does not belong here: how they are shown.
"""

from __future__ import annotations

from typing import NamedTuple

from deid_platform.surrogates.locales.locale import LOCALES, locale
from deid_platform.surrogates.pools import Share

THIN = 1000
"""Fewer distinct values of a part of a name are thin."""
_PARTS = ("given_F", "given_M", "surnames")


class Row(NamedTuple):
    """One type of value of one locale.

    Attributes:
        locale: One of `LOCALES`.
        kind: What it is: `given_F`, `cities`, `hospital`, ...
        values: How many distinct ones there are.
        unlisted: Of these, how many detection has on no list of names; None for what is no name of a person.
        thin: A part of a name with fewer than `THIN` values.
    """

    locale: str
    kind: str
    values: int
    unlisted: int | None
    thin: bool


def catalogue(share: Share | None = None) -> tuple[Row, ...]:
    """A row for each locale and type of value, all shares together or one of them."""
    rows = []
    for name in LOCALES:
        counts = locale(name).counts(share)
        for kind, values in counts.items():
            if not kind.endswith("_unlisted"):
                part = kind in _PARTS
                rows.append(
                    Row(name, kind, values, counts[f"{kind}_unlisted"] if part else None, part and values < THIN)
                )
    return tuple(rows)


def catalogue_markdown(share: Share | None = None) -> str:
    """The catalogue as a table: a line for each locale, names with how many are on no list, thin parts with a star."""
    rows = catalogue(share)
    kinds = tuple(dict.fromkeys(row.kind for row in rows))
    lines = [f"| locale | {' | '.join(kind.replace('_', ' ') for kind in kinds)} |", "| --- |" + " ---: |" * len(kinds)]
    for name in LOCALES:
        cells = {row.kind: _cell(row) for row in rows if row.locale == name}
        lines.append(f"| `{name}` | {' | '.join(cells[kind] for kind in kinds)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row) -> str:
    said = f"{row.values:,}" if row.unlisted is None else f"{row.values:,} ({row.unlisted:,})"
    return f"{said} *" if row.thin else said
