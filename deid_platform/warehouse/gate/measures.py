"""What is measured of all staged rows of a delivery together; the server measures it, whatever their number.

Belongs here: counts and shares, in SQL. Does not belong here: which of them are expected (`suites/`), or what is judged
row by row (`expectations`).

A measure whose columns are gone is left out, so that what needs it fails: a drifted table passes nothing. None is NULL,
since what is missing would pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from sqlalchemy import Connection, text

from deid_platform.redaction.policy import NoteDateRule, Policy
from deid_platform.warehouse.gate.staging import Kind, Status
from deid_platform.warehouse.gate.tags import FOREIGN_TAG, tag_patterns

OTHER_TYPE = "other"

# Which of a note's dates a policy lets through; a true year beside a shifted date would narrow the shift down.
_DATE_COLUMNS = {
    NoteDateRule.YEAR: "note_year",
    NoteDateRule.SHIFT: "shifted_date",
    NoteDateRule.DROP: None,
    NoteDateRule.KEEP: "shifted_date",
}
# Rows of tables beside the notes are many and hardly ever quarantined: among them, notes that are would not show.
_NOTES_ALONE = "left(coalesce({note_type}, ''), 11) <> 'structured:'"
_HELD_BACK = f"count(*) FILTER (WHERE {{status}} = '{Status.QUARANTINED}')"
_UNTYPED = f"count(*) FILTER (WHERE {{note_type}} IS NULL OR {{note_type}} = '{OTHER_TYPE}')"
_ALL = "CAST(greatest(count(*), 1) AS float8)"
_ALL_NOTES = f"CAST(greatest(count(*) FILTER (WHERE {_NOTES_ALONE}), 1) AS float8)"
_NOTES_HELD_BACK = f"count(*) FILTER (WHERE {{status}} = '{Status.QUARANTINED}' AND {_NOTES_ALONE})"


def _doubled(column: str) -> str:
    return f"count({{{column}}}) - count(DISTINCT {{{column}}})"


def _mixed(column: str) -> str:
    """Zero where all rows say the same; a row that says nothing is one too many."""
    lacking = f"count(*) - count({{{column}}})"
    return f"{lacking} + CASE WHEN min({{{column}}}) <> max({{{column}}}) THEN 1 ELSE 0 END"


_OF_NOTES = {
    "notes": "count(*)",
    "clean": f"count(*) FILTER (WHERE {{status}} = '{Status.CLEAN}')",
    "quarantined": _HELD_BACK,
    "quarantined_share": f"{_NOTES_HELD_BACK} / {_ALL_NOTES}",
    "untyped_share": f"{_UNTYPED} / {_ALL_NOTES}",
    "doubled_note_keys": _doubled("note_key"),
    **{
        f"mixed_{column}": _mixed(column)
        for column in ("feed", "delivery_seq", "detector_digest", "policy_digest", "key_id", "release")
    },
}
_OF_WITHDRAWALS = {
    "withdrawn": f"count(*) FILTER (WHERE {{kind}} IS DISTINCT FROM '{Kind.REJOINED}')",
    "rejoined": f"count(*) FILTER (WHERE {{kind}} = '{Kind.REJOINED}')",
    "doubled_withdrawal_keys": _doubled("key"),
    **{f"mixed_withdrawal_{column}": _mixed(column) for column in ("feed", "delivery_seq")},
}
_COLUMNS = (
    "SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ', ' ORDER BY a.attnum)"
    " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
    " WHERE a.attrelid IN ('staging.note'::regclass, 'staging.withdrawal'::regclass)"
    " AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1"
)
_ANNOUNCED = (
    "SELECT clean + quarantined AS announced_notes, clean AS announced_clean, quarantined AS announced_quarantined,"
    " withdrawn AS announced_withdrawn, rejoined AS announced_rejoined FROM ctl.delivery WHERE delivery = :d"
)


def columns_of(connection: Connection, table: str) -> list[str]:
    """The columns that a table of `staging` has, whatever they are."""
    return [*connection.execute(text(f"SELECT * FROM staging.{table} LIMIT 0")).keys()]  # noqa: S608


def measured(connection: Connection, delivery: str, policy: Policy) -> dict[str, object]:
    """The row of the suite `delivery`: what is staged, beside what was announced.

    Args:
        connection: One of the role `gatekeeper`.
        delivery: The delivery's key.
        policy: The policy that redacted the rows.
    """
    where = {"d": delivery}
    of_notes, of_withdrawals = columns_of(connection, "note"), columns_of(connection, "withdrawal")
    shown = _DATE_COLUMNS[policy.note_date]
    by_policy = {
        # Of both, so that it cannot be taken where either is gone.
        "dates_beyond_policy": " + ".join(
            f"{int(column != shown)} * count({{{column}}})" for column in ("note_year", "shifted_date")
        ),
        "shift_keys_against_policy": "count(*) FILTER (WHERE ({shift_key} IS NOT NULL)"
        f" <> ({{patient_key}} IS NOT NULL AND {policy.dates.moved}))",
    }
    measures: dict[str, object] = {f"{row[0]}_columns": row[1] for row in connection.execute(text(_COLUMNS))}
    statements = [
        _ANNOUNCED,
        *_statements("note", {**_OF_NOTES, **by_policy}, of_notes),
        *_statements("withdrawal", _OF_WITHDRAWALS, of_withdrawals),
    ]
    if "note_key" in of_notes and "key" in of_withdrawals:
        # Nothing tells the planner how many rows there are, and in a nested loop each note would read all withdrawals.
        connection.execute(text("SET LOCAL enable_nestloop = off"))
        gone = f"SELECT {_as_text('key')} FROM staging.withdrawal WHERE delivery = :d"  # noqa: S608
        statements.append(
            "SELECT count(*) AS staged_though_withdrawn FROM staging.note"  # noqa: S608
            f" WHERE delivery = :d AND {_as_text('note_key')} IN ({gone})"
        )
    for each in statements:
        for row in connection.execute(text(each), where):
            measures |= {name: value for name, value in row._mapping.items() if value is not None}
    return measures


def measured_by_language(connection: Connection, delivery: str, policy: Policy) -> list[dict[str, object]] | None:
    """The rows of the suite `language`: of each language, its clean notes and the share with a tag of another policy.

    Returns:
        None where that cannot be measured.
    """
    if not {"language", "status", "text"} <= {*columns_of(connection, "note")}:
        return None
    statement = (
        f"SELECT count(*) AS clean, count(*) FILTER (WHERE {FOREIGN_TAG}) / {_ALL} AS foreign_tag_share"  # noqa: S608
        f" FROM staging.note WHERE delivery = :d AND {_as_text('status')} = :clean GROUP BY {_as_text('language')}"
    )
    where = {"d": delivery, "clean": Status.CLEAN.value, **tag_patterns(policy)}
    found: list[dict[str, object]] = [dict(row) for row in connection.execute(text(statement), where).mappings()]
    return found or [{"clean": 0, "foreign_tag_share": 0.0}]


def _statements(table: str, measures: Mapping[str, str], columns: list[str]) -> list[str]:
    """One statement for the measures that can be taken, if there are any."""
    there = {name: _as_text(name) for name in columns}
    chosen = []
    for name, measure in measures.items():
        with suppress(KeyError):
            chosen.append(f"{measure.format_map(there)} AS {name}")
    return [f"SELECT {', '.join(chosen)} FROM staging.{table} WHERE delivery = :d"] if chosen else []  # noqa: S608


def _as_text(column: str) -> str:
    # Byte by byte, and of whatever type a drifted column is.
    return f'CAST("{column}" AS text) COLLATE "C"'
