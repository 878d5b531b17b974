"""The suites over staged rows: what each expectation notices, and that nothing of a row is said."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import date, timedelta

import pandas as pd
import pytest
from sqlalchemy import Connection, text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring, plain_digest
from deid_platform.notes import Delivery
from deid_platform.redaction.policy import NoteDateRule, Policy, load_policy
from deid_platform.settings import PROFILES, ProfileSettings
from deid_platform.warehouse.gate import expectations, measures
from deid_platform.warehouse.gate.expectations import EXPECTATIONS, SUITES, ExpectationOutcome, validate_staged
from deid_platform.warehouse.gate.staging import (
    Counts,
    Header,
    Inputs,
    Kind,
    Staged,
    StagedNote,
    StagedWithdrawal,
    Status,
    stage,
    staged_now,
)
from deid_platform.warehouse.gate.suite import Severity, Suite
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

KEYS = Keyring(plain_digest("a secret").encode(), site="clinic")
FORMER = Keyring(plain_digest("the secret before").encode(), site="clinic")
MARKER = "Zyxwarren Quillfeather"
DELIVERY = Delivery("clinic", "1")
YEARS = load_policy("safe_harbor")
SHIFTED = dataclasses.replace(YEARS, note_date=NoteDateRule.SHIFT)
LIMITED = dataclasses.replace(YEARS, note_date=NoteDateRule.KEEP)
UNDATED = dataclasses.replace(YEARS, note_date=NoteDateRule.DROP)
TYPES = ("progress", "discharge")


class Desk:
    """One delivery, staged and judged in a database whose tables keep nobody from planting a fault."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse

    def stage(
        self,
        notes: Iterable[StagedNote],
        withdrawals: Iterable[StagedWithdrawal] = (),
        *,
        announced: Counts | None = None,
    ) -> Staged:
        notes, withdrawals = list(notes), list(withdrawals)
        header = Header(
            release="r1",
            detector_digest=plain_digest("detector"),
            policy_digest=plain_digest("policy"),
            key_id=KEYS.key_id,
            inputs=Inputs.TOPICS,
            run_id="run-1",
            announced=announced
            or Counts(
                clean=sum(note.status == Status.CLEAN for note in notes),
                quarantined=sum(note.status == Status.QUARANTINED for note in notes),
                withdrawn=sum(item.kind != Kind.REJOINED for item in withdrawals),
                rejoined=sum(item.kind == Kind.REJOINED for item in withdrawals),
            ),
            demonstration=True,
        )
        return stage(self.warehouse.engine(Role.LOADER), DELIVERY, notes, header, withdrawals=withdrawals)

    def run(self, statement: str) -> None:
        with self.warehouse.administer() as connection:
            connection.execute(text(statement))

    def staged_so(self) -> Staged:
        """What is staged now, as if it had been staged like that."""
        self.run("UPDATE ctl.delivery SET staged_digest = ctl.staged_digest(delivery)")
        return staged_now(self.warehouse.engine(Role.GATEKEEPER), DELIVERY)

    def judge(
        self,
        staged: Staged,
        *,
        policy: Policy = YEARS,
        note_types: Collection[str] = TYPES,
        thresholds: ProfileSettings = PROFILES["production"],
        **options: int,
    ) -> list[ExpectationOutcome]:
        return validate_staged(
            self.warehouse.engine(Role.GATEKEEPER),
            staged,
            policy=policy,
            note_types=note_types,
            thresholds=thresholds,
            **options,
        )

    def failed(self, staged: Staged, **options: object) -> set[str]:
        """The names of the expectations that did not hold."""
        return {outcome.name for outcome in self.judge(staged, **options) if not outcome.passed}  # type: ignore[arg-type]


def loosened(warehouse: Warehouse) -> Desk:
    """A desk where the tables themselves refuse nothing: expectations are the second line."""
    desk = Desk(warehouse)
    for table, key in (("note", "note_key"), ("withdrawal", "key")):
        with warehouse.administer() as connection:
            names = connection.execute(
                text(
                    "SELECT conname FROM pg_constraint WHERE conrelid = CAST(:t AS regclass) AND contype IN ('c', 'p')"
                ),
                {"t": f"staging.{table}"},
            ).scalars()
            for name in names.all():
                connection.exec_driver_sql(f"ALTER TABLE staging.{table} DROP CONSTRAINT {name}")
            connection.exec_driver_sql(f"ALTER TABLE staging.{table} ALTER {key} DROP NOT NULL")
    for table, column in (("note", "status"), ("note", "release"), ("withdrawal", "feed")):
        desk.run(f"ALTER TABLE staging.{table} ALTER {column} DROP NOT NULL")
    return desk


@pytest.fixture(scope="module")
def desk(fresh_database: Callable[[], AbstractContextManager[Warehouse]]) -> Iterator[Desk]:
    with fresh_database() as fresh:
        yield loosened(fresh)


def note(number: int, body: str | None = None, *, status: str = "clean", **changes: object) -> StagedNote:
    """Note `number` as the platform stages it."""
    made = StagedNote(
        note_key=KEYS.key("note", str(number)),
        patient_key=KEYS.key("patient", str(number % 7)),
        provider_key=KEYS.key("provider", str(number % 3)),
        encounter_key=KEYS.key("encounter", str(number)),
        status=Status(status),
        text=(body or f"Seen on [DATE 2019] by [PATIENT]: note {number}") if status == "clean" else None,
        content_digest=plain_digest(str(number)),
        dictionary_digest=plain_digest("dictionary"),
        site="clinic",
        note_type="progress",
        note_year=2020,
        language="en",
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def usual(clean: int = 25) -> list[StagedNote]:
    """So many clean notes, and one in quarantine."""
    return [*(note(number) for number in range(clean)), note(900, status="quarantined")]


def gone() -> list[StagedWithdrawal]:
    return [
        *(StagedWithdrawal(Kind.NOTE, KEYS.key("note", str(number))) for number in (901, 902)),
        *(StagedWithdrawal(Kind.PATIENT, KEYS.key("patient", str(number))) for number in (91, 92)),
        *(StagedWithdrawal(Kind.REJOINED, KEYS.key("patient", str(number))) for number in (93, 94)),
    ]


def test_what_the_platform_stages_holds(desk: Desk) -> None:
    rows = [
        *usual(),
        note(26, patient_key=None, provider_key=None, encounter_key=None, note_year=None, note_type="other"),
        note(27, language="und", former_keys=(FORMER.key("note", "27"), KEYS.key("note", "x"))),
    ]
    withdrawals = [*gone(), StagedWithdrawal(Kind.NOTE, KEYS.key("note", "99"), (FORMER.key("note", "99"),))]
    assert desk.failed(desk.stage(rows, withdrawals)) == set()


@pytest.mark.parametrize("withdrawals", [[], gone()], ids=["nothing", "withdrawals alone"])
def test_a_delivery_without_notes_holds(desk: Desk, withdrawals: list[StagedWithdrawal]) -> None:
    assert desk.failed(desk.stage([], withdrawals)) == set()


def test_every_outcome_is_described_in_the_same_order(desk: Desk) -> None:
    assert [outcome.name for outcome in desk.judge(desk.stage(usual()))] == list(EXPECTATIONS)
    assert len(EXPECTATIONS) == 1 + sum(len(suite.expectations) for suite in SUITES)


FIRST = f"WHERE note_key = '{KEYS.key('note', '1')}'"
HELD = f"WHERE note_key = '{KEYS.key('note', '900')}'"
OF_NOTES, OF_PATIENTS, REJOINED = (
    f"WHERE key = '{KEYS.key(kind, number)}'"
    for kind, number in (("note", "901"), ("patient", "91"), ("patient", "93"))
)
EXTRA = (
    "INSERT INTO staging.note (delivery, feed, delivery_seq, note_key, status, detector_digest, dictionary_digest,"
    " policy_digest, key_id, run_id, release, content_digest, former_keys)"
    f" SELECT delivery, feed, delivery_seq, '{KEYS.key('note', 'extra')}', NULL, detector_digest, dictionary_digest,"
    f" policy_digest, key_id, run_id, release, content_digest, former_keys FROM staging.note {FIRST}"
)
# Each breaks the one expectation that it stands by.
FAULTS = {
    "note_key_present": f"UPDATE staging.note SET note_key = NULL {FIRST}",
    "note_key_unique": f"UPDATE staging.note SET note_key = '{KEYS.key('note', '2')}' {FIRST}",
    "note_key_format": f"UPDATE staging.note SET note_key = '{MARKER}' {FIRST}",
    "patient_key_format": f"UPDATE staging.note SET patient_key = '{MARKER}' {FIRST}",
    "provider_key_format": f"UPDATE staging.note SET provider_key = '{MARKER}' {FIRST}",
    "encounter_key_format": f"UPDATE staging.note SET encounter_key = '2026-01-05' {FIRST}",
    "former_keys_format": f"UPDATE staging.note SET former_keys = ARRAY[note_key, '{MARKER}'] {FIRST}",
    "text_present": f"UPDATE staging.note SET text = NULL {FIRST}",
    "text_withheld": f"UPDATE staging.note SET text = '{MARKER}' {HELD}",
    "text_length": f"UPDATE staging.note SET text = '' {FIRST}",
    "site_format": f"UPDATE staging.note SET site = '{MARKER}' {FIRST}",
    "note_type_known": f"UPDATE staging.note SET note_type = '{MARKER}' {FIRST}",
    "language_known": f"UPDATE staging.note SET language = '{MARKER}' {FIRST}",
    "note_year_plausible": f"UPDATE staging.note SET note_year = 1492 {FIRST}",
    "detector_digest_format": f"UPDATE staging.note SET detector_digest = '{MARKER}'",
    "dictionary_digest_format": f"UPDATE staging.note SET dictionary_digest = '{MARKER}' {FIRST}",
    "policy_digest_format": f"UPDATE staging.note SET policy_digest = '{MARKER}'",
    "key_id_format": f"UPDATE staging.note SET key_id = '{MARKER}'",
    "content_digest_format": f"UPDATE staging.note SET content_digest = '{MARKER}' {FIRST}",
    "feed_single": f"UPDATE staging.note SET feed = '{MARKER}' {FIRST}",
    "delivery_seq_single": f"UPDATE staging.note SET delivery_seq = 2 {FIRST}",
    "detector_digest_single": f"UPDATE staging.note SET detector_digest = repeat('0', 32) {FIRST}",
    "policy_digest_single": f"UPDATE staging.note SET policy_digest = repeat('0', 32) {FIRST}",
    "key_id_single": f"UPDATE staging.note SET key_id = repeat('0', 12) {FIRST}",
    "release_single": f"UPDATE staging.note SET release = '{MARKER}' {FIRST}",
    "withdrawal_kind_known": f"UPDATE staging.withdrawal SET kind = '{MARKER}' {OF_NOTES}",
    "withdrawal_key_present": f"UPDATE staging.withdrawal SET key = NULL {OF_NOTES}",
    "withdrawal_key_unique": f"UPDATE staging.withdrawal SET key = '{KEYS.key('note', '902')}' {OF_NOTES}",
    "withdrawn_note_key_format": f"UPDATE staging.withdrawal SET key = '{MARKER}' {OF_NOTES}",
    "withdrawn_patient_key_format": f"UPDATE staging.withdrawal SET key = '{MARKER}' {OF_PATIENTS}",
    "rejoined_patient_key_format": f"UPDATE staging.withdrawal SET key = '{MARKER}' {REJOINED}",
    "withdrawal_former_keys_format": f"UPDATE staging.withdrawal SET former_keys = ARRAY['{MARKER}'] {OF_NOTES}",
    "withdrawal_feed_single": f"UPDATE staging.withdrawal SET feed = '{MARKER}' {OF_NOTES}",
    "withdrawal_delivery_seq_single": f"UPDATE staging.withdrawal SET delivery_seq = 2 {OF_NOTES}",
    "rows_as_announced": EXTRA,
    "clean_as_announced": f"UPDATE staging.note SET status = NULL, text = NULL {FIRST}",
    "quarantined_as_announced": f"UPDATE staging.note SET status = NULL {HELD}",
    "withdrawn_as_announced": f"DELETE FROM staging.withdrawal {OF_PATIENTS}",
    "rejoined_as_announced": f"DELETE FROM staging.withdrawal {REJOINED}",
    "withdrawn_not_staged": f"UPDATE staging.withdrawal SET key = '{KEYS.key('note', '1')}' {OF_NOTES}",
    "dates_of_the_policy": f"UPDATE staging.note SET shifted_date = '2020-03-02' {FIRST}",
    "shift_keys_of_the_policy": f"UPDATE staging.note SET shift_key = repeat('0', 32) {FIRST}",
}
SHAPES = {
    "note_columns": "ALTER TABLE staging.note ALTER site TYPE {}",
    "withdrawal_columns": "ALTER TABLE staging.withdrawal ALTER kind TYPE {}",
}
# Told by the tests below that name them.
TOLD_APART = {
    "staged_unchanged",
    "status_known",
    "shifted_date_plausible",
    "shift_key_format",
    "quarantined_share",
    "untyped_share",
    "tags_of_the_policy",
}


def test_a_fault_is_noticed_in_whichever_part_of_the_rows_it_lies(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "ROWS_A_FRAME", 10)
    frames, sizes = expectations._frames, []

    def seen(connection: Connection, suite: Suite, delivery: str) -> Iterator[pd.DataFrame]:
        for rows in frames(connection, suite, delivery):
            sizes.append(len(rows))
            yield rows

    monkeypatch.setattr(expectations, "_frames", seen)
    rows = [*usual(), note(901, site="CLINIC"), *(note(number) for number in range(30, 50))]
    assert desk.failed(desk.stage([row for row in rows if row.site != "CLINIC"], gone()[2:])) == set()
    desk.stage(rows, gone()[2:])
    for apart in ("delivery_seq_single", "note_key_unique"):
        desk.run(FAULTS[apart])
    # Two rows with one key, and two with another place, lie in the first part and in the last.
    assert desk.failed(desk.staged_so()) == {"site_format", "delivery_seq_single", "note_key_unique"}
    assert max(sizes) == 10, "no more are held at once"


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (f"UPDATE staging.note SET release = NULL {FIRST}", "release_single"),
        ("UPDATE staging.note SET release = NULL", "release_single"),
        ("UPDATE staging.withdrawal SET feed = NULL", "withdrawal_feed_single"),
    ],
    ids=["one note", "all notes", "all withdrawals"],
)
def test_a_row_that_does_not_say_where_it_comes_from_is_noticed(desk: Desk, fault: str, name: str) -> None:
    desk.stage(usual(), gone())
    desk.run(fault)
    assert desk.failed(desk.staged_so()) == {name}


def test_a_measure_that_is_nothing_holds_for_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = desk.stage(usual(), gone())
    monkeypatch.setitem(measures._OF_NOTES, "doubled_note_keys", "CAST(NULL AS bigint)")
    monkeypatch.setitem(measures._OF_NOTES, "quarantined_share", "CAST(NULL AS float8)")
    assert desk.failed(staged) == {"note_key_unique", "quarantined_share"}


def test_every_expectation_has_a_fault_that_it_notices() -> None:
    assert {*FAULTS, *SHAPES, *TOLD_APART} == set(EXPECTATIONS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_its_value_is_not(
    desk: Desk, name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    desk.stage(usual(), gone())
    desk.run(FAULTS[name])
    staged = desk.staged_so()
    caplog.clear()
    outcomes = desk.judge(staged)
    assert {outcome.name for outcome in outcomes if not outcome.passed} == {name}
    printed = "".join(capfd.readouterr()) + caplog.text + repr(outcomes)
    assert MARKER not in printed


@pytest.mark.parametrize("name", SHAPES)
def test_a_column_of_another_type_is_noticed(desk: Desk, name: str) -> None:
    desk.stage(usual(), gone())
    desk.run(SHAPES[name].format("varchar(80)"))
    try:
        assert desk.failed(desk.staged_so()) == {name}
    finally:
        desk.run(SHAPES[name].format("text"))


def test_columns_that_are_gone_fail_what_needs_them_and_raise_nothing(
    fresh_database: Callable[[], AbstractContextManager[Warehouse]],
) -> None:
    gone_of_note = {
        "language": {"language_known", "tags_of_the_policy"},
        "note_key": {"note_key_present", "note_key_unique", "note_key_format", "withdrawn_not_staged"},
        "note_type": {"note_type_known", "untyped_share", "quarantined_share"},
        "note_year": {"note_year_plausible", "dates_of_the_policy"},
        "shift_key": {"shift_key_format", "shift_keys_of_the_policy"},
        "detector_digest": {"detector_digest_format", "detector_digest_single"},
        "release": {"release_single"},
    }
    of_kind = {
        "withdrawal_kind_known",
        "withdrawn_note_key_format",
        "withdrawn_patient_key_format",
        "rejoined_patient_key_format",
        "withdrawn_as_announced",
        "rejoined_as_announced",
    }
    with fresh_database() as fresh:
        desk = Desk(fresh)
        staged = desk.stage([note(1)])
        for column in gone_of_note:
            desk.run(f"ALTER TABLE staging.note RENAME COLUMN {column} TO {column}_of_old")
        for column in ("kind", "feed"):
            desk.run(f"ALTER TABLE staging.withdrawal RENAME COLUMN {column} TO {column}_of_old")
        desk.run("ALTER FUNCTION ctl.staged_digest RENAME TO digest_of_old")
        desk.run(
            "CREATE FUNCTION ctl.staged_digest(text) RETURNS text LANGUAGE sql AS 'SELECT NULL'; "
            "GRANT EXECUTE ON FUNCTION ctl.staged_digest TO gatekeeper"
        )
        changed = {"staged_unchanged", "note_columns", "withdrawal_columns"}
        assert desk.failed(staged) == {*changed, *of_kind, "withdrawal_feed_single"}.union(*gone_of_note.values())


def test_a_row_of_another_status_is_also_one_too_many(desk: Desk) -> None:
    desk.stage(usual())
    desk.run(EXTRA)
    desk.run(f"UPDATE staging.note SET status = '{MARKER}' WHERE status IS NULL")
    assert desk.failed(desk.staged_so()) == {"status_known", "rows_as_announced"}


def test_what_was_staged_since_is_noticed(desk: Desk) -> None:
    staged = desk.stage(usual())
    desk.stage([*usual(), note(30)])
    assert desk.failed(staged) == {"staged_unchanged"}


def test_a_line_break_at_the_end_is_part_of_a_value(desk: Desk) -> None:
    desk.stage(usual())
    columns = ("note_key", "patient_key", "content_digest", "site")
    desk.run(f"UPDATE staging.note SET {', '.join(f'{one} = {one} || chr(10)' for one in columns)} {FIRST}")
    assert desk.failed(desk.staged_so()) == {f"{one}_format" for one in columns}


def today(desk: Desk) -> date:
    with desk.warehouse.begin(Role.GATEKEEPER) as connection:
        day: date = connection.execute(text("SELECT current_date")).scalar_one()
    return day


def test_a_year_ahead_is_not_plausible_and_next_year_is(desk: Desk) -> None:
    for ahead, expected in ((1, set()), (2, {"note_year_plausible"})):
        row = note(1, note_year=today(desk).year + ahead)
        assert desk.failed(desk.stage([row])) == expected


def test_shifted_dates_lie_within_reach_of_a_shift(desk: Desk) -> None:
    reach = timedelta(weeks=52)
    for day, expected in (
        (today(desk) + reach, set()),
        (today(desk) + reach + timedelta(days=1), {"shifted_date_plausible"}),
        (date(1900, 1, 1) - reach, set()),
        (date(1900, 1, 1) - reach - timedelta(days=1), {"shifted_date_plausible"}),
    ):
        row = note(1, note_year=None, shifted_date=day, shift_key=plain_digest("whose"))
        assert desk.failed(desk.stage([row]), policy=SHIFTED) == expected


@pytest.mark.parametrize(
    ("policy", "shift_key", "patient", "failed"),
    [
        (SHIFTED, plain_digest("whose"), KEYS.key("patient", "1"), set()),
        (SHIFTED, None, None, set()),
        (SHIFTED, None, KEYS.key("patient", "1"), {"shift_keys_of_the_policy"}),
        (SHIFTED, plain_digest("whose"), None, {"shift_keys_of_the_policy"}),
        (SHIFTED, MARKER, KEYS.key("patient", "1"), {"shift_key_format"}),
        (YEARS, plain_digest("whose"), KEYS.key("patient", "1"), {"shift_keys_of_the_policy"}),
    ],
)
def test_whose_shift_it_is_stands_beside_every_patients_row(
    desk: Desk, policy: Policy, shift_key: str | None, patient: str | None, failed: set[str]
) -> None:
    row = note(1, note_year=None, shift_key=shift_key, patient_key=patient)
    assert desk.failed(desk.stage([row]), policy=policy) == failed


@pytest.mark.parametrize(
    ("policy", "year", "day", "holds"),
    [
        (YEARS, 2020, None, True),
        (YEARS, None, None, True),
        (YEARS, None, date(2020, 3, 2), False),
        (SHIFTED, None, date(2020, 3, 2), True),
        (SHIFTED, 2020, date(2020, 3, 2), False),
        (LIMITED, None, date(2020, 3, 2), True),
        (LIMITED, 2020, date(2020, 3, 2), False),
        (UNDATED, None, None, True),
        (UNDATED, 2020, None, False),
    ],
)
def test_a_date_that_the_policy_withholds_is_noticed(
    desk: Desk, policy: Policy, year: int | None, day: date | None, holds: bool
) -> None:
    row = note(1, note_year=year, shifted_date=day, shift_key=plain_digest("whose") if policy is SHIFTED else None)
    assert desk.failed(desk.stage([row]), policy=policy) == (set() if holds else {"dates_of_the_policy"})


def test_lengths_are_bounded(desk: Desk) -> None:
    staged = desk.stage([note(1, "four")])
    assert desk.failed(staged, max_chars=4) == set()
    assert desk.failed(staged, max_chars=3) == {"text_length"}


def test_rows_that_were_not_announced_are_noticed(desk: Desk) -> None:
    short = desk.stage([note(1)], announced=Counts(clean=2))
    assert desk.failed(short) == {"rows_as_announced", "clean_as_announced"}
    other = desk.stage([note(1)], announced=Counts(quarantined=1))
    assert desk.failed(other) == {"clean_as_announced", "quarantined_as_announced"}


def test_a_patient_who_is_withdrawn_and_rejoins_in_one_delivery_is_noticed(desk: Desk) -> None:
    patient = KEYS.key("patient", "91")
    both = [StagedWithdrawal(Kind.PATIENT, patient), StagedWithdrawal(Kind.REJOINED, patient)]
    assert desk.failed(desk.stage(usual(), both)) == {"withdrawal_key_unique"}


def test_the_share_in_quarantine_is_bounded_by_the_profile_from_20_notes_on(desk: Desk) -> None:
    def staged(clean: int, quarantined: int) -> Staged:
        held = (note(100 + number, status="quarantined") for number in range(quarantined))
        return desk.stage([*(note(number) for number in range(clean)), *held])

    one_in_ten = staged(18, 2)
    assert desk.failed(one_in_ten) == {"quarantined_share"}
    assert desk.failed(one_in_ten, thresholds=PROFILES["demo"]) == set()
    assert desk.failed(staged(19, 1)) == set()
    assert desk.failed(staged(0, 19)) == set()


def test_mostly_other_types_are_a_warning_where_the_feed_names_types(desk: Desk) -> None:
    def outcome(other: int, **options: object) -> ExpectationOutcome:
        rows = [note(number, note_type="other" if number < other else "progress") for number in range(20)]
        judged = desk.judge(desk.stage(rows), **options)  # type: ignore[arg-type]
        assert all(one.passed for one in judged if one.name != "untyped_share")
        return next(one for one in judged if one.name == "untyped_share")

    assert outcome(10).passed
    warning = outcome(11)
    assert not warning.passed
    assert warning.severity is Severity.WARNING
    assert not warning.refuses
    assert outcome(20, note_types=()).passed


def test_all_but_a_warning_refuse() -> None:
    severities = {one.name: one.severity for suite in SUITES for one in suite.expectations}
    assert {name for name, severity in severities.items() if severity is Severity.WARNING} == {"untyped_share"}
    assert ExpectationOutcome("a", passed=False).refuses
    assert not ExpectationOutcome("a", passed=True).refuses


def test_tags_that_the_policy_does_not_write_are_noticed_in_each_language(desk: Desk) -> None:
    def staged(*bodies: str, language: str = "en") -> Staged:
        own = (note(100 + number, body, language=language) for number, body in enumerate(bodies))
        return desk.stage([*(note(number) for number in range(40)), *own])

    italian = ["Visto il [DATA] da [NOME]"] * 3
    good = ["Seen on [DATE 2019] by [PATIENT]"] * 17
    assert desk.failed(staged(*italian, *good, language="it")) == {"tags_of_the_policy"}
    assert desk.failed(staged(*italian[:2], *good, good[0], language="it")) == set()
    assert desk.failed(staged(*italian, *good[:16], language="it")) == set(), "of 19 notes, any"
    assert desk.failed(staged(*italian)) == set(), "three of forty-three"
    assert desk.failed(staged(*["Signed: [DOCTOR]"] * 6)) == {"tags_of_the_policy"}, "safe_harbor keeps doctors"
    plus = load_policy("safe_harbor_plus_providers")
    assert desk.failed(staged(*["Signed: [DOCTOR]"] * 6), policy=plus) == set()


def test_a_value_that_the_driver_cannot_read_is_refused_without_it(desk: Desk) -> None:
    desk.stage(usual())
    desk.run(f"UPDATE staging.note SET shifted_date = 'infinity' {FIRST}")
    with pytest.raises(DeidError) as caught:
        desk.judge(desk.staged_so())
    assert caught.value.code is Code.WAREHOUSE_STATEMENT
    assert "infinity" not in str(caught.value)


def test_the_library_calls_nobody(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    contacted: list[object] = []
    staged = desk.stage([note(1)])
    monkeypatch.setattr("socket.getaddrinfo", lambda *arguments, **_: contacted.append(arguments[0]) or [])
    desk.judge(staged)
    assert contacted == []
