"""A file of date offsets that somebody outside drew: a trial, a registry.

Belongs here: reading it whole or not at all. Does not belong here: what is done with an offset (`surrogates/dates.py`).

The file leads from every patient to the true dates of every note, so it is sealed: deid.toml holds its SHA-256, and
nobody but its owner may read it. A file that was exchanged moves nobody.
"""

from __future__ import annotations

import hashlib
import re
import stat
from pathlib import Path

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.formats.delimited import written_as
from deid_platform.corpora.tables import table_rows
from deid_platform.errors import Code, DeidError
from deid_platform.surrogates.dates import MOST_GIVEN_DAYS, GivenShifts

_DAYS = re.compile(r"[+-]?[0-9]{1,5}")
_CELL_CHARS = 1_000


def read_given_shifts(path: Path, sha256: str, *, keyed_if_missing: bool) -> GivenShifts:
    """The offsets of a file: columns `patient_id` and `days`, as CSV, JSON lines, Parquet or .xlsx.

    Args:
        path: The file.
        sha256: What its bytes must have, in hexadecimal.
        keyed_if_missing: Whether a patient whom it does not name has the keyed shift.

    Raises:
        DeidError: `offsets-invalid` if it cannot be read by its owner alone, is another file, names a patient twice or
            nobody, or has a row without an offset from 1 to 3,660 days, back or ahead.
    """
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise _invalid("others may read it")
        digest = hashlib.sha256()
        for chunk in chunks(path, None):
            digest.update(chunk)
        if digest.hexdigest() != sha256:
            raise _invalid("its SHA-256 is not the one of deid.toml")
        days: dict[str, int] = {}
        for place, cells in table_rows(path, *written_as(path), max_chars=_CELL_CHARS):
            row = None if isinstance(cells, Reason) else _row(cells.get("patient_id"), cells.get("days"))
            if row is None or row[0] in days:
                raise _invalid(f"line {place}")
            days[row[0]] = row[1]
    except (OSError, BrokenFileError):
        raise _invalid("cannot be read") from None
    if not days:
        raise _invalid("no rows")
    return GivenShifts(days, sha256, keyed_if_missing)


def _row(patient: object, days: object) -> tuple[str, int] | None:
    name, said = str(patient or "").strip(), str("" if days is None else days).strip()
    if not name or isinstance(patient, Reason) or not _DAYS.fullmatch(said):
        return None
    return (name, int(said)) if 0 < abs(int(said)) <= MOST_GIVEN_DAYS else None


def _invalid(why: str) -> DeidError:
    return DeidError(Code.OFFSETS_INVALID, f"redaction.offsets: {why}")
