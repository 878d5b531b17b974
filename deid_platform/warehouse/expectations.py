"""One Great Expectations suite over what is staged, told as passed or not and never with a value.

Belongs here: the suite and how it is run. Does not belong here: leak checks, which run before anything is
staged (`evaluation/`), or what the gate makes of the outcome (`ledger`, `promotion`).

The library takes three to four seconds to import, so it is imported inside the function, and all
expectations run as one suite. The text itself stays in the database: the suite sees its length.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, text

from deid_platform.keys import PREFIXES
from deid_platform.warehouse.connection import translated
from deid_platform.warehouse.staging import Staged

if TYPE_CHECKING:
    import pandas as pd

KEY = "^{prefix}_[a-z2-7]{{26}}$"  # as keys.Keyring.key makes them
DIGEST = "^[0-9a-f]{8,64}$"
LANGUAGE = "^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$"
EARLIEST_YEAR = 1900
MAX_CHARS = 1_100_000  # the readers' limit, and room for tags that are longer than what they replace

COLUMNS = (
    "delivery",
    "feed",
    "delivery_seq",
    "note_key",
    "patient_key",
    "provider_key",
    "encounter_key",
    "site",
    "note_type",
    "note_year",
    "shifted_date",
    "language",
    "text",
    "status",
    "detector_digest",
    "dictionary_digest",
    "policy_digest",
    "key_id",
    "run_id",
    "release",
    "content_digest",
)


EXPECTATIONS = {
    "staged_unchanged": "what is judged is what was staged",
    "columns_in_order": "the table has its columns, in their order",
    "rows_as_announced": "as many rows as the note store announced",
    "clean_as_announced": "as many clean rows as the note store announced",
    "status_known": "clean, quarantined or withdrawn",
    "note_key_present": "every row has its key",
    "note_key_unique": "one row a note",
    "note_key_format": "a keyed identifier, never a source's own",
    "patient_key_format": "a keyed identifier, never a source's own",
    "provider_key_format": "a keyed identifier, never a source's own",
    "encounter_key_format": "a keyed identifier, never a source's own",
    "text_present": "every clean row has a text",
    "text_length": "no text is empty or longer than a note may be",
    "note_type_known": "one of the types that research may see, or other",
    "note_year_plausible": "between 1900 and next year",
    "language_format": "a BCP 47 tag",
    "detector_digest_format": "hexadecimal",
    "dictionary_digest_format": "hexadecimal",
    "policy_digest_format": "hexadecimal",
    "key_id_format": "hexadecimal",
    "content_digest_format": "hexadecimal",
    "feed_single": "one feed",
    "delivery_seq_single": "one place in the feed's order",
    "detector_digest_single": "one detector",
    "policy_digest_single": "one policy",
    "key_id_single": "one secret",
    "release_single": "one release",
}
"""Every expectation's name and what it says, in the order of the outcomes."""


@dataclass(frozen=True, slots=True)
class ExpectationOutcome:
    """One expectation's name and whether it held."""

    name: str
    passed: bool


def validate_staged(
    gatekeeper: Engine,
    staged: Staged,
    *,
    note_types: Collection[str],
    max_chars: int = MAX_CHARS,
) -> list[ExpectationOutcome]:
    """Runs the suite over the staged rows of one delivery.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        staged: What staging returned; the rows must still be those.
        note_types: The note types that may occur.
        max_chars: Longest redacted text allowed, in code points.

    Returns:
        One outcome an expectation, in the order of the suite; `staged_unchanged` comes first and fails if
        somebody has staged something else since.

    Raises:
        DeidError: `warehouse-unreachable` or `warehouse-statement`.
    """
    # One snapshot: the rows that are judged are the rows that are digested.
    snapshot = gatekeeper.execution_options(isolation_level="REPEATABLE READ")
    with translated(), snapshot.begin() as connection:
        digest = connection.execute(text("SELECT ctl.staged_digest(:d)"), {"d": staged.delivery.key}).scalar()
        frame, announced, newest = _read(connection, staged.delivery.key)
    unchanged = ExpectationOutcome("staged_unchanged", digest == staged.staged_digest)
    return [unchanged, *_validate(frame, announced, newest, note_types, max_chars)]


def _read(connection: Connection, delivery: str) -> tuple[pd.DataFrame, dict[str, int], int]:
    """The staged rows with each text's length in its place, what was announced, and the newest plausible year."""
    import pandas as pd

    # The table's own columns in their own order, so that a drifted table is noticed.
    names = connection.execute(text("SELECT * FROM staging.note LIMIT 0")).keys()
    chosen = ", ".join("char_length(text) AS text" if name == "text" else f'"{name}"' for name in names)
    rows = connection.execute(text(f"SELECT {chosen} FROM staging.note WHERE delivery = :d"), {"d": delivery})  # noqa: S608
    frame = pd.DataFrame(rows.all(), columns=list(names))
    announced = connection.execute(
        text("SELECT clean, quarantined, withdrawn FROM ctl.delivery WHERE delivery = :d"), {"d": delivery}
    ).one_or_none()
    newest = int(connection.execute(text("SELECT extract(year FROM current_date) + 1")).scalar_one())
    return frame, dict(announced._mapping) if announced else {}, newest


def _validate(
    frame: pd.DataFrame, announced: dict[str, int], newest: int, note_types: Collection[str], max_chars: int
) -> list[ExpectationOutcome]:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    named = list(_suite(announced, newest, note_types, max_chars))
    with _quiet():
        context = gx.get_context(mode="ephemeral")
        context.enable_analytics(enable=False)
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        asset = context.data_sources.add_pandas("staging").add_dataframe_asset("note")
        batch = asset.add_batch_definition_whole_dataframe("delivery").get_batch({"dataframe": frame})
        suite = gx.ExpectationSuite(name="staged", expectations=[expectation for _, expectation in named])
        # Every other format carries the offending values.
        result = batch.validate(suite, result_format="BOOLEAN_ONLY")
    # The result lists expectations that raised first, so they are found by name. What they raised is not read.
    configured = ((one.expectation_config, one.success) for one in result.results)
    passed = {config.meta["name"]: bool(success) for config, success in configured if config is not None}
    return [ExpectationOutcome(name, passed.get(name, False)) for name, _ in named]


def _suite(
    announced: dict[str, int], newest: int, note_types: Collection[str], max_chars: int
) -> Iterator[tuple[str, Any]]:
    from great_expectations import expectations
    from great_expectations.expectations.row_conditions import Column

    gxe: Any = expectations  # it does not declare what it re-exports
    clean = Column("status") == "clean"

    def named(name: str, kind: type[Any], **arguments: object) -> tuple[str, Any]:
        return name, kind(meta={"name": name}, **arguments)

    yield named("columns_in_order", gxe.ExpectTableColumnsToMatchOrderedList, column_list=list(COLUMNS))
    yield named("rows_as_announced", gxe.ExpectTableRowCountToEqual, value=sum(announced.values()))
    yield named(
        "clean_as_announced", gxe.ExpectTableRowCountToEqual, value=announced.get("clean", 0), row_condition=clean
    )
    yield named("status_known", gxe.ExpectColumnValuesToBeInSet, column="status", value_set=[*announced])
    yield named("note_key_present", gxe.ExpectColumnValuesToNotBeNull, column="note_key")
    yield named("note_key_unique", gxe.ExpectColumnValuesToBeUnique, column="note_key")
    for kind, prefix in PREFIXES.items():
        column, pattern = f"{kind}_key", KEY.format(prefix=prefix)
        yield named(f"{column}_format", gxe.ExpectColumnValuesToMatchRegex, column=column, regex=pattern)
    yield named("text_present", gxe.ExpectColumnValuesToNotBeNull, column="text", row_condition=clean)
    yield named("text_length", gxe.ExpectColumnValuesToBeBetween, column="text", min_value=1, max_value=max_chars)
    yield named("note_type_known", gxe.ExpectColumnValuesToBeInSet, column="note_type", value_set=sorted(note_types))
    yield named(
        "note_year_plausible",
        gxe.ExpectColumnValuesToBeBetween,
        column="note_year",
        min_value=EARLIEST_YEAR,
        max_value=newest,
    )
    yield named("language_format", gxe.ExpectColumnValuesToMatchRegex, column="language", regex=LANGUAGE)
    for column in ("detector_digest", "dictionary_digest", "policy_digest", "key_id", "content_digest"):
        yield named(f"{column}_format", gxe.ExpectColumnValuesToMatchRegex, column=column, regex=DIGEST)
    for column in ("feed", "delivery_seq", "detector_digest", "policy_digest", "key_id", "release"):
        yield named(f"{column}_single", gxe.ExpectColumnUniqueValueCountToBeBetween, column=column, max_value=1)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the library's own log lines, which may quote what they choked on, out of ours."""
    logger = logging.getLogger("great_expectations")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
