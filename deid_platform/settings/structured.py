"""Sections `[feeds.NAME.structured.TABLE]`: tables beside the notes, mapped column by column.

Belongs here: which columns are released, as what, and what they are called in research. Does not belong here: reading
such a table (`corpora/structured.py`), or what becomes of a value (`refresh/redact/structured_rows.py`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from deid_platform.labels import Label
from deid_platform.settings.section import Section, TableName

_OTHER = re.compile(r"[^a-z0-9]+")
_TAKEN = frozenset({"row_key", "patient_key", "site", "release", ""})
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10)]


class StructuredSettings(Section):
    """One table: a column that is neither here nor in `keep` is not released."""

    row: str = Field(min_length=1)
    """The column that tells rows apart: a row that comes again is a correction."""
    patient: str = Field(min_length=1)
    """The column with the patient's id, as the notes have it."""
    columns: dict[str, Label] = {}
    """Source column -> the label of its values, which the policy treats as it does those of the notes."""
    keep: dict[str, Reason] = {}
    """Source column -> why its values identify nobody and are released as they are."""

    # Of databases alone, in place of files `structured-TABLE.csv`.
    table: TableName | None = None
    """The table or view that holds the rows."""
    query: Path | None = None
    """Or a file with the one SELECT that gives them."""
    watermark: str | None = Field(default=None, min_length=1)
    """The column that says when a row was written or changed; by default the feed's."""

    @property
    def released(self) -> dict[str, str]:
        """Source column -> its name in research, in the order of the settings."""
        return {column: _OTHER.sub("_", column.lower()).strip("_") for column in (*self.columns, *self.keep)}

    def comment(self, column: str) -> str:
        """What becomes of a column's values, for the data dictionary."""
        return f"Policy: as {self.columns[column]}." if column in self.columns else f"Policy: kept: {self.keep[column]}"

    @model_validator(mode="after")
    def _apart(self) -> StructuredSettings:
        names = [*self.released.values()]
        if {*self.columns} & {*self.keep}:
            raise PydanticCustomError("a column is in columns and in keep", "see docs/structured.md")
        if not names or len({*names}) != len(names) or {*names} & _TAKEN:
            raise PydanticCustomError("columns have no names of their own", "see docs/structured.md")
        return self
