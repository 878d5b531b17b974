"""What the UI shows of an asset: column schemas, counts, tables and pictures.

Belongs here: turning counts and Arrow schemas into Dagster metadata. Nothing here takes a row of notes:
metadata outlives a run and is read by people who may not read notes.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.columns import MEANINGS
from deid_platform.reports import summary
from deid_platform.warehouse.gate.standing import Requirement

# Shares of thousands of words: what comes after is chance.
_DECIMALS = 4


def columns(schema: pa.Schema, described: Mapping[str, str] | None = None) -> dict[str, Any]:
    """An Arrow schema as the asset's column schema; `described` is what a column means here alone."""
    meanings = MEANINGS | dict(described or {})
    shown = [dg.TableColumn(f.name, _kind(f.type), description=meanings[f.name]) for f in schema]
    return {"dagster/column_schema": dg.TableSchema(columns=shown)}


def _kind(kind: pa.DataType) -> str:
    """An Arrow type, short enough to leave room beside it: of a struct, the names of its fields."""
    if pa.types.is_list(kind):
        return f"list of {_kind(kind.value_type)}"
    return f"({', '.join(field.name for field in kind)})" if pa.types.is_struct(kind) else str(kind)


def counts(rows: int, **more: Any) -> dict[str, Any]:
    """A row count under the name that Dagster plots over time, and whatever else was counted."""
    return {"dagster/row_count": rows, **{name: value for name, value in more.items() if value is not None}}


def requirement(found: Requirement) -> dict[str, Any]:
    """A requirement's state in words, and its figures and thresholds as numbers, which Dagster plots over time."""
    metadata: dict[str, Any] = {
        "state": found.shown_state,
        "may be waived by": found.waived_by,
        "measured on": found.measured_on,
        **(found.source.words if found.source else {}),
    }
    # One figure is the requirement's value; of several, each has its name.
    one = len(found.figures) == 1
    for figure in found.figures:
        value, threshold = ("value", "threshold") if one else (figure.name, f"{figure.name}: threshold")
        if figure.value is not None:
            metadata[value] = dg.MetadataValue.float(round(float(figure.value), _DECIMALS))
        if figure.threshold is not None:
            metadata[threshold] = dg.MetadataValue.float(float(figure.threshold))
        elif figure.value is None:
            metadata[value] = figure.demand
    if found.waived_until:
        metadata["waived until"] = found.waived_until.isoformat()
    return metadata


def share(value: float | None) -> float | None:
    """A share as a number that Dagster plots over time."""
    return None if value is None else round(value, _DECIMALS)


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> dg.MarkdownMetadataValue:
    """Rows as a Markdown table, shares to three places."""
    cells = [[_cell(value) for value in row] for row in rows]
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return dg.MetadataValue.md("\n".join([*lines, *("| " + " | ".join(row) + " |" for row in cells)]))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return summary.share(value) if isinstance(value, float) else str(value)


def picture(png: bytes, alt: str) -> dg.MarkdownMetadataValue:
    """A PNG inside the metadata, so that the UI needs no file server to show it."""
    return dg.MetadataValue.md(f"![{alt}](data:image/png;base64,{base64.b64encode(png).decode()})")
