"""Expectations of staged rows, checked by Great Expectations; results are yes or no.

Belongs here: the rows of a staged delivery, and the run of the suites over them. Does not belong here: what is
expected (`suites/*.yaml`), what is measured of all rows together (`measures`), leak checks, which run before anything
is staged (`evaluation/`), or what the gate makes of the outcome (`ledger`, `promotion`).

The library takes three to four seconds to import, so it is imported inside the function. The text itself stays in
the database: the suites see its length, and whether it holds tags that the policy does not write. Rows are judged so
many at a time, and none is held after: a delivery of any size takes as much memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, text

from deid_platform.languages import ISO_639_1, UNDETERMINED
from deid_platform.redaction.policy import Policy
from deid_platform.settings import ProfileSettings
from deid_platform.surrogates.dates import MOST_GIVEN_DAYS, POSSIBLE_WEEKS
from deid_platform.warehouse.gate.measures import OTHER_TYPE, columns_of, measured, measured_by_language
from deid_platform.warehouse.gate.staging import Staged
from deid_platform.warehouse.gate.suite import Severity, Suite, build_suite, load_suite
from deid_platform.warehouse.server.connection import translated

if TYPE_CHECKING:
    import pandas as pd

MAX_CHARS = 1_100_000  # the readers' limit, and room for tags that are longer than what they replace
EARLIEST = date(1900, 1, 1)

FIGURES = frozenset(
    {*ProfileSettings.model_fields, "note_types", "languages", "max_chars", "latest_year"}
    | {"earliest_date", "latest_date"}
)
"""What a suite may refer to in braces: the profile's thresholds, and what is known of feed, policy and today."""

SUITES = tuple(load_suite(name, figures=FIGURES) for name in ("delivery", "note", "withdrawal", "language"))

ROWS_A_FRAME = 10_000

STAGED_UNCHANGED = "staged_unchanged"
EXPECTATIONS = {
    STAGED_UNCHANGED: "what is judged is what was staged",
    **{expectation.name: expectation.says for suite in SUITES for expectation in suite.expectations},
}
"""Every expectation's name and what it says, in the order of the outcomes."""

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
    unmeasured: int = 0,
    row_types: Collection[str] = (),
    offsets: bool = False,
) -> list[ExpectationOutcome]:
    """Holds the suites against the staged rows of one delivery.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        staged: What staging returned; the rows must still be those.
        note_types: The note types that the feed names; `other` may always occur.
        policy: The policy that redacted the rows.
        thresholds: Those of the profile in force.
        max_chars: Longest redacted text allowed, in code points.
        offsets: Whether dates are moved by offsets from outside.
        row_types: Types of the rows of tables beside the notes.
        unmeasured: How many notes are quarantined for their language alone: they do not count for the share of those.

    Returns:
        One outcome an expectation, in the order of `EXPECTATIONS`; `staged_unchanged` comes first and fails if
        somebody has staged something else since.

    Raises:
        DeidError: `warehouse-unreachable` or `warehouse-statement`.
    """
    import pandas as pd

    # One snapshot: the rows that are judged are the rows that are digested.
    snapshot = gatekeeper.execution_options(isolation_level="REPEATABLE READ")
    delivery = staged.delivery.key
    types = {*note_types} - {OTHER_TYPE}
    keyed = timedelta(weeks=max(POSSIBLE_WEEKS[policy.date_shift]))
    longest_shift = timedelta(days=MOST_GIVEN_DAYS) if offsets else keyed
    with _judge() as judge, translated(), snapshot.begin() as connection:
        digest = connection.execute(text("SELECT ctl.staged_digest(:d)"), {"d": delivery}).scalar()
        clock = "SELECT CAST(statement_timestamp() AT TIME ZONE 'UTC' AS date)"
        today: date = connection.execute(text(clock)).scalar_one()
        figures = {
            **thresholds.model_dump(),
            "note_types": sorted({*types, *row_types, OTHER_TYPE}),
            "languages": sorted({*ISO_639_1, UNDETERMINED}),
            "max_chars": max_chars,
            "latest_year": today.year + 1,
            "earliest_date": EARLIEST - longest_shift,
            "latest_date": today + longest_shift,
        }
        failed: set[str] = set()
        for suite in SUITES:
            if suite.in_parts:
                for rows in _frames(connection, suite, delivery):
                    failed |= judge(suite, rows, figures)
        of_delivery = measured(connection, delivery, policy) | {"named_types": len(types)}
        tables = {
            "delivery": [_but_for_languages(of_delivery, unmeasured)],
            "language": measured_by_language(connection, delivery, policy),
        }
        for suite in SUITES:
            if not suite.in_parts:
                failed |= judge(suite, pd.DataFrame(tables[suite.name]), figures)
    every = (each for suite in SUITES for each in suite.expectations)
    return [
        ExpectationOutcome(STAGED_UNCHANGED, digest == staged.staged_digest),
        *(ExpectationOutcome(each.name, each.name not in failed, each.severity) for each in every),
    ]


def _but_for_languages(of_delivery: dict[str, object], unmeasured: int) -> dict[str, object]:
    """The share of quarantined notes without those that are so for their language: nothing went wrong with them."""
    share, notes = of_delivery.get("quarantined_share"), of_delivery.get("notes")
    if not unmeasured or not isinstance(share, float) or not isinstance(notes, int):
        return of_delivery
    return of_delivery | {"quarantined_share": max(share - unmeasured / max(notes, 1), 0.0)}


def _frames(connection: Connection, suite: Suite, delivery: str) -> Iterator[pd.DataFrame]:
    """A delivery's rows of the suite's table of `staging`, in the columns that it is about; one frame at least."""
    import pandas as pd

    wanted = {column for each in suite.expectations for column in each.columns}
    # Of those, the ones that are there: a drifted table fails what needs the columns that are gone.
    columns = [name for name in columns_of(connection, suite.name) if name in wanted]
    instead = {name: f'"{name}"' for name in columns} | _INSTEAD
    listed = ", ".join(f'{instead[name]} AS "{name}"' for name in columns)
    statement = text(f"SELECT {listed} FROM staging.{suite.name} WHERE delivery = :d")  # noqa: S608
    rows = connection.execute(statement.execution_options(stream_results=True), {"d": delivery})
    found = False
    # Asked for by their number: as an option, `yield_per` is not heeded for a statement that is written out.
    for batch in rows.partitions(ROWS_A_FRAME):
        found = True
        # Most columns say the same of many rows: it is held once.
        once: dict[str, str] = {}
        values = [[once.setdefault(cell, cell) if type(cell) is str else cell for cell in row] for row in batch]
        # Objects as they came: a type that was guessed would take some of them for missing, and what is missing passes.
        yield pd.DataFrame(values, columns=columns, dtype=object)
    if not found:
        yield pd.DataFrame([], columns=columns, dtype=object)


@contextmanager
def _judge() -> Iterator[Callable[[Suite, pd.DataFrame, Mapping[str, object]], set[str]]]:
    """What tells which expectations of a suite a table does not meet."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    with _quiet():
        context = gx.get_context(mode="ephemeral")
        context.enable_analytics(enable=False)
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        source = context.data_sources.add_pandas("staging")

        def judge(suite: Suite, table: pd.DataFrame, figures: Mapping[str, object]) -> set[str]:
            asset = source.add_dataframe_asset(suite.name)
            batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": table})
            # Every other format carries the offending values.
            result = batch.validate(build_suite(suite, figures), result_format="BOOLEAN_ONLY")
            # What was judged stays in the library's hands as long as it knows the table.
            source.delete_asset(suite.name)
            # The result lists expectations that raised first, so they are found by name. What they raised is not read.
            met = {
                one.expectation_config.meta["name"]
                for one in result.results
                if one.expectation_config is not None and one.success
            }
            return {each.name for each in suite.expectations} - met

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
