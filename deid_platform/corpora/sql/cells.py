"""From a driver's values to cells, and to a digest.

Belongs here: which types a database's value may have. Does not belong here: what a field may hold (`corpora/rows.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from deid_platform.corpora import Reason

_MODULUS = 1 << 256


def cell_of(value: object) -> object:
    """A value as a cell: str, int, date, None, or the reason why it is none of these.

    A moment counts as its calendar day where it was written. A decimal number without a fraction is a whole number, as
    ids are kept by some databases. Bytes are no text: nobody says in which encoding.
    """
    if value is None or isinstance(value, Reason):
        return value
    if isinstance(value, bool | float):
        return Reason.MALFORMED_ROW
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, str | int | date):
        return value
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else Reason.MALFORMED_ROW
    return str(value) if isinstance(value, UUID) else Reason.MALFORMED_ROW


def beside_cell_of(value: object) -> object:
    """A value of a table beside the notes, where numbers may have a fraction and moments an hour."""
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else Reason.MALFORMED_ROW
    return str(value) if isinstance(value, UUID) else value


class RowsDigest:
    """A digest of rows in any order: the sum of each row's SHA-256. PHI zone only, as a fingerprint is."""

    def __init__(self) -> None:
        self._sum = self._rows = 0

    def add(self, cells: Mapping[str, object]) -> None:
        """Counts a row with all its values."""
        content = hashlib.sha256()
        for name in sorted(cells):
            value = cells[name]
            said = "" if value is None else f"{type(value).__name__} {value}"
            # The length says where a value ends, so that none can run over into the next.
            content.update(f"{name} {len(said)} {said}\n".encode(errors="surrogatepass"))
        self._sum = (self._sum + int.from_bytes(content.digest())) % _MODULUS
        self._rows += 1

    def __str__(self) -> str:
        return f"{self._rows} {self._sum:x}"
