"""Expectations of staged rows, checked by Great Expectations; results are yes or no.

Belongs here: what is read of a staged delivery, and the run of the suites over it. Does not belong here: what is
expected (`suites/*.yaml`), leak checks, which run before anything is staged (`evaluation/`), or what the gate makes
of the outcome (`ledger`, `promotion`).

The library takes three to four seconds to import, so it is imported inside the function. The text itself stays in
the database: the suites see its length, and whether it holds tags that the policy does not write. Notes are judged so
many at a time, that memory does not grow with all that a delivery says.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import Connection, Engine, text

from deid_platform.languages import ISO_639_1, UNDETERMINED
from deid_platform.redaction.policy import NoteDateRule, Policy
from deid_platform.settings import ProfileSettings
from deid_platform.surrogates.dates import POSSIBLE_WEEKS
from deid_platform.warehouse.connection import translated
from deid_platform.warehouse.staging import Kind, Staged, Status
from deid_platform.warehouse.suite import Severity, Suite, build_suite, load_suite
from deid_platform.warehouse.tags import FOREIGN_TAG, tag_patterns

if TYPE_CHECKING:
    import pandas as pd

OTHER_TYPE = "other"
MAX_CHARS = 1_100_000  # the readers' limit, and room for tags that are longer than what they replace
EARLIEST = date(1900, 1, 1)

FIGURES = frozenset(
    {*ProfileSettings.model_fields, "note_types", "languages", "max_chars", "latest_year"}
    | {"earliest_date", "latest_date"}
)
"""What a suite may refer to in braces: the profile's thresholds, and what is known of feed, policy and today."""

SUITES = tuple(load_suite(name, figures=FIGURES) for name in ("delivery", "note", "withdrawal", "language"))

_NOTE = next(suite for suite in SUITES if suite.name == "note")
_MEASURED = frozenset(
    {"note_key", "patient_key", "shift_key", "note_type", "note_year", "shifted_date", "language", "status"}
    | {"foreign_tags"}
)
"""What of the notes is measured of all of them together; every other column is held a frame at a time."""
NOTES_A_FRAME = 10_000

STAGED_UNCHANGED = "staged_unchanged"
EXPECTATIONS = {
    STAGED_UNCHANGED: "what is judged is what was staged",
    **{expectation.name: expectation.says for suite in SUITES for expectation in suite.expectations},
}
"""Every expectation's name and what it says, in the order of the outcomes."""

# Which of a note's dates a policy lets through; a true year beside a shifted date would narrow the shift down.
_DATE_COLUMNS = {
    NoteDateRule.YEAR: "note_year",
    NoteDateRule.SHIFT: "shifted_date",
    NoteDateRule.DROP: None,
    NoteDateRule.KEEP: "shifted_date",
}
# What is read in a column's place.
_INSTEAD = {"text": "char_length(text)", "former_keys": "array_to_string(former_keys, ' ', '?')"}


@dataclass(frozen=True, slots=True)
class ExpectationOutcome:
    """One expectation's name, whether it held, and what follows if it did not."""

    name: str
    passed: bool
    severity: Severity = Severity.CRITICAL

    @property
    def refuses(self) -> bool:
        """Whether the gate must refuse for it."""
        return not self.passed and self.severity is Severity.CRITICAL


def validate_staged(
    gatekeeper: Engine,
    staged: Staged,
    *,
    note_types: Collection[str],
    policy: Policy,
    thresholds: ProfileSettings,
    max_chars: int = MAX_CHARS,
) -> list[ExpectationOutcome]:
    """Holds the suites against the staged rows of one delivery.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        staged: What staging returned; the rows must still be those.
        note_types: The note types that the feed names; `other` may always occur.
        policy: The policy that redacted the rows.
        thresholds: Those of the profile in force.
        max_chars: Longest redacted text allowed, in code points.

    Returns:
        One outcome an expectation, in the order of `EXPECTATIONS`; `staged_unchanged` comes first and fails if
        somebody has staged something else since.

    Raises:
        DeidError: `warehouse-unreachable` or `warehouse-statement`.
    """
    # One snapshot: the rows that are judged are the rows that are digested.
    snapshot = gatekeeper.execution_options(isolation_level="REPEATABLE READ")
    delivery = staged.delivery.key
    types = {*note_types} - {OTHER_TYPE}
    longest_shift = timedelta(weeks=max(POSSIBLE_WEEKS[policy.date_shift]))
    with _judge() as judge, translated(), snapshot.begin() as connection:
        digest = connection.execute(text("SELECT ctl.staged_digest(:d)"), {"d": delivery}).scalar()
        clock = "SELECT CAST(statement_timestamp() AT TIME ZONE 'UTC' AS date)"
        today: date = connection.execute(text(clock)).scalar_one()
        figures = {
            **thresholds.model_dump(),
            "note_types": sorted({*types, OTHER_TYPE}),
            "languages": sorted({*ISO_639_1, UNDETERMINED}),
            "max_chars": max_chars,
            "latest_year": today.year + 1,
            "earliest_date": EARLIEST - longest_shift,
            "latest_date": today + longest_shift,
        }
        failed: set[str] = set()
        kept = {*_MEASURED, *(each.column for each in _NOTE.expectations if not each.row_by_row)}
        parts = []
        for rows in _frames(connection, "note", delivery, {"foreign_tags": FOREIGN_TAG}, tag_patterns(policy)):
            failed |= judge(_NOTE, rows, figures, row_by_row=True)
            parts.append(rows[[name for name in rows if name in kept]])
        read = _read(connection, delivery, parts)
    for name, table in _tables(read, policy, len(types)).items():
        failed |= judge(next(each for each in SUITES if each.name == name), table, figures, row_by_row=False)
    every = (each for suite in SUITES for each in suite.expectations)
    return [
        ExpectationOutcome(STAGED_UNCHANGED, digest == staged.staged_digest),
        *(ExpectationOutcome(each.name, each.name not in failed, each.severity) for each in every),
    ]


@dataclass(frozen=True, slots=True, repr=False)
class _Read:
    """What the server holds of a delivery; of the notes only what is measured of all of them together."""

    notes: pd.DataFrame
    withdrawals: pd.DataFrame
    columns: Mapping[str, str]
    announced: Mapping[str, int]


def _read(connection: Connection, delivery: str, notes: Sequence[pd.DataFrame]) -> _Read:
    import pandas as pd

    columns = connection.execute(
        text(
            "SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ', ' ORDER BY a.attnum)"
            " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE a.attrelid IN ('staging.note'::regclass, 'staging.withdrawal'::regclass)"
            " AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1"
        )
    )
    announced = connection.execute(
        text(
            "SELECT clean + quarantined AS notes, clean, quarantined, withdrawn, rejoined"
            " FROM ctl.delivery WHERE delivery = :d"
        ),
        {"d": delivery},
    ).one_or_none()
    return _Read(
        notes=pd.concat(notes, ignore_index=True),
        withdrawals=pd.concat([*_frames(connection, "withdrawal", delivery, {}, {})], ignore_index=True),
        columns={row[0]: row[1] for row in columns},
        announced=dict(announced._mapping) if announced else {},
    )


def _frames(
    connection: Connection, table: str, delivery: str, computed: Mapping[str, str], parameters: Mapping[str, object]
) -> Iterator[pd.DataFrame]:
    """A delivery's rows of a table of `staging`, with what may be read in each column's place; one frame at least."""
    import pandas as pd

    # The table's own columns, whatever they are: a drifted table fails what needs the columns that are gone.
    names = connection.execute(text(f"SELECT * FROM staging.{table} LIMIT 0")).keys()  # noqa: S608
    chosen = {name: _INSTEAD.get(name, f'"{name}"') for name in names}
    if "text" in chosen:
        chosen |= computed
    listed = ", ".join(f'{expression} AS "{name}"' for name, expression in chosen.items())
    statement = text(f"SELECT {listed} FROM staging.{table} WHERE delivery = :d")  # noqa: S608
    streamed = statement.execution_options(stream_results=True, yield_per=NOTES_A_FRAME)
    rows = connection.execute(streamed, {"d": delivery, **parameters} if computed else {"d": delivery})
    found = False
    for batch in rows.partitions():
        found = True
        # Most columns say the same of many rows: it is held once.
        once: dict[str, str] = {}
        values = [[once.setdefault(cell, cell) if type(cell) is str else cell for cell in row] for row in batch]
        # Objects as they came: a type that was guessed would take some of them for missing, and what is missing passes.
        yield pd.DataFrame(values, columns=list(chosen), dtype=object)
    if not found:
        yield pd.DataFrame([], columns=list(chosen), dtype=object)


def _tables(read: _Read, policy: Policy, named_types: int) -> dict[str, pd.DataFrame]:
    """The table of each suite. A measure that cannot be taken is left out, so that what needs it fails."""
    import pandas as pd

    notes, withdrawals = read.notes, read.withdrawals
    measures: dict[str, object] = {f"{table}_columns": columns for table, columns in read.columns.items()}
    measures |= {f"announced_{name}": count for name, count in read.announced.items()}
    measures |= {"notes": len(notes), "named_types": named_types}
    by_language = pd.DataFrame()
    if "status" in notes:
        clean = notes["status"] == Status.CLEAN.value
        quarantined = notes["status"] == Status.QUARANTINED.value
        measures |= {"clean": int(clean.sum()), "quarantined": int(quarantined.sum())}
        measures["quarantined_share"] = _share(quarantined)
        if {"language", "foreign_tags"} <= {*notes.columns}:
            by_language = pd.DataFrame(
                [
                    {"clean": len(rows), "foreign_tag_share": _share(rows["foreign_tags"])}
                    for _, rows in notes[clean].groupby("language", dropna=False)
                ],
                columns=["clean", "foreign_tag_share"],
            )
    if "note_type" in notes:
        measures["untyped_share"] = _share(notes["note_type"].isna() | (notes["note_type"] == OTHER_TYPE))
    if {"note_year", "shifted_date"} <= {*notes.columns}:
        withheld = {"note_year", "shifted_date"} - {_DATE_COLUMNS[policy.note_date]}
        measures["dates_beyond_policy"] = int(notes[sorted(withheld)].notna().to_numpy().sum())
    if {"patient_key", "shift_key"} <= {*notes.columns}:
        wanted = notes["patient_key"].notna() & policy.dates.moved
        measures["shift_keys_against_policy"] = int((notes["shift_key"].notna() != wanted).sum())
    if "kind" in withdrawals:
        rejoined = int((withdrawals["kind"] == Kind.REJOINED.value).sum())
        measures |= {"withdrawn": len(withdrawals) - rejoined, "rejoined": rejoined}
    if "key" in withdrawals and "note_key" in notes:
        measures["staged_though_withdrawn"] = int(notes["note_key"].dropna().isin(withdrawals["key"]).sum())
    delivery = pd.DataFrame([measures])
    return {"delivery": delivery, "note": notes, "withdrawal": withdrawals, "language": by_language}


def _share(chosen: pd.Series[bool]) -> float:
    """The share of rows that are chosen; none of none is none."""
    return float(chosen.sum()) / len(chosen) if len(chosen) else 0.0


class _Judge(Protocol):
    """Which expectations of a suite, of those that go row by row or of the others, a table does not meet."""

    def __call__(
        self, suite: Suite, table: pd.DataFrame, figures: Mapping[str, object], *, row_by_row: bool
    ) -> set[str]: ...


@contextmanager
def _judge() -> Iterator[_Judge]:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    with _quiet():
        context = gx.get_context(mode="ephemeral")
        context.enable_analytics(enable=False)
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        source = context.data_sources.add_pandas("staging")

        def judge(suite: Suite, table: pd.DataFrame, figures: Mapping[str, object], *, row_by_row: bool) -> set[str]:
            # The rows of other tables are held whole.
            asked = [each for each in suite.expectations if suite is not _NOTE or each.row_by_row is row_by_row]
            asset = source.add_dataframe_asset(suite.name)
            batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": table})
            # Every other format carries the offending values.
            wanted = build_suite(suite.model_copy(update={"expectations": asked}), figures)
            result = batch.validate(wanted, result_format="BOOLEAN_ONLY")
            # What was judged stays in the library's hands as long as it knows the table.
            source.delete_asset(suite.name)
            # The result lists expectations that raised first, so they are found by name. What they raised is not read.
            met = {
                one.expectation_config.meta["name"]
                for one in result.results
                if one.expectation_config is not None and one.success
            }
            return {each.name for each in asked} - met

        yield judge


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the library's own log lines, which may quote what they choked on, out of ours."""
    # Several of its loggers set a level of their own, so a level set above them would not do.
    logger = logging.getLogger("great_expectations")
    nowhere, before = logging.NullHandler(), logger.propagate
    logger.addHandler(nowhere)
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = before
        logger.removeHandler(nowhere)
