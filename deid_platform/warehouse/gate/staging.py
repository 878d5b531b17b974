"""Staging a delivery's notes: one COPY, one transaction, with a digest that the server computes.

Belongs here: the rows of `staging` and their way in. Does not belong here: which notes are clean (leak
checks come before, on the parts of the note store) or whether they may pass (`promotion`).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import cast

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.warehouse.server.connection import begin


class Status(StrEnum):
    """What became of a note before it was staged."""

    CLEAN = "clean"
    QUARANTINED = "quarantined"


class Kind(StrEnum):
    """What a withdrawal is of; `rejoined` lets a withdrawn patient back in."""

    NOTE = "note"
    PATIENT = "patient"
    REJOINED = "rejoined"


class Inputs(StrEnum):
    """What the detectors had to go by."""

    TOPICS = "topics"
    TEXT = "text"


@dataclass(frozen=True, slots=True, repr=False)
class StagedNote:
    """One note as it is staged: keys, a shifted date and redacted text, nothing of the source's own.

    `text` is None unless the status is `clean`. `content_digest` is the keyed digest of the raw note, `shift_key` that
    of whose date shift its patient has; None where dates are not shifted.
    """

    note_key: str
    status: Status
    text: str | None
    content_digest: str
    dictionary_digest: str
    patient_key: str | None = None
    provider_key: str | None = None
    encounter_key: str | None = None
    site: str | None = None
    note_type: str | None = None
    note_year: int | None = None
    shifted_date: date | None = None
    shift_key: str | None = None
    language: str | None = None
    former_keys: tuple[str, ...] = ()
    """The note's keys under former secrets, by which older releases know it."""

    def __repr__(self) -> str:
        return f"<StagedNote {self.status}>"


@dataclass(frozen=True, slots=True)
class StagedWithdrawal:
    """A note or a patient that leaves research, or a patient who comes back, by key."""

    kind: Kind
    key: str
    former_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Notes by status; notes and patients withdrawn; patients who rejoined."""

    clean: int = 0
    quarantined: int = 0
    withdrawn: int = 0
    rejoined: int = 0

    @property
    def notes(self) -> int:
        """Rows of `staging.note`."""
        return self.clean + self.quarantined


@dataclass(frozen=True, slots=True)
class Header:
    """What a delivery announces about itself; the gate compares the rows with it.

    Attributes:
        release: The release that the delivery is for.
        detector_digest: What found the identifiers.
        policy_digest: How they were replaced.
        key_id: Which secret keyed the identifiers.
        inputs: Whether the detectors had topics or text alone.
        run_id: The run that made the rows.
        announced: How many rows of each kind the note store holds, counted there.
        demonstration: Whether the feed is marked as demonstration data.
        detector: The detector's name, for people.
        policy: The policy's name, for people.
        limited: Whether true dates stay, so that the release is shown in `limited` and nowhere else.
        dates: The class of dates that it shows: `true`, `shift`, `season`, `given`, `year` or `none`.
    """

    release: str
    detector_digest: str
    policy_digest: str
    key_id: str
    inputs: Inputs
    run_id: str
    announced: Counts
    demonstration: bool = False
    detector: str = ""
    policy: str = ""
    limited: bool = False
    dates: str = "year"


@dataclass(frozen=True, slots=True)
class Staged:
    """What the server holds after staging; measurements are bound to `staged_digest`."""

    delivery: Delivery
    staged_digest: str
    counts: Counts


_OF_NOTE = (
    "note_key",
    "patient_key",
    "provider_key",
    "encounter_key",
    "site",
    "note_type",
    "note_year",
    "shifted_date",
    "shift_key",
    "language",
    "text",
    "status",
    "dictionary_digest",
    "content_digest",
    "former_keys",
)
_ROWS_A_STEP = 1_000
_DIGEST_BYTES = 16
_OF_HEADER = ("detector_digest", "policy_digest", "key_id", "run_id", "release")


def stage(
    loader: Engine,
    delivery: Delivery,
    rows: Iterable[StagedNote],
    header: Header,
    *,
    withdrawals: Iterable[StagedWithdrawal] = (),
) -> Staged:
    """Replaces what is staged for a delivery, whole or not at all.

    Args:
        loader: The engine of the role `loader`.
        delivery: Which delivery.
        rows: Its notes, streamed; one row a note_key.
        header: What the delivery announces.
        withdrawals: What it takes out of research, and who comes back; each kind and key once.

    Returns:
        The digest and the counts of what arrived, both computed by the server.

    Raises:
        DeidError: `release-conflict` if the release has another detector, policy or key; `release-dates` if notes are
            staged and a release under the same key shows dates of another class; `warehouse-statement` if a row is
            refused; `warehouse-unreachable`.
    """
    with begin(loader) as connection:
        _announce(connection, delivery, header)
        for table in ("note", "withdrawal"):
            connection.execute(text(f"DELETE FROM staging.{table} WHERE delivery = :d"), {"d": delivery.key})  # noqa: S608
        where = (delivery.key, delivery.feed, delivery.seq)
        same = tuple(getattr(header, name) for name in _OF_HEADER)
        of_note = attrgetter(*_OF_NOTE)
        place = ("delivery", "feed", "delivery_seq")
        _copy(connection, "note", (*place, *_OF_NOTE, *_OF_HEADER), ((*where, *of_note(row), *same) for row in rows))
        _copy(
            connection,
            "withdrawal",
            (*place, "kind", "key", "former_keys"),
            ((*where, item.kind, item.key, item.former_keys) for item in withdrawals),
        )
        found = connection.execute(text("SELECT * FROM ctl.finish_staging(:d)"), {"d": delivery.key}).one()
    counts = Counts(found.clean, found.quarantined, found.withdrawn, found.rejoined)
    return Staged(delivery, found.staged_digest, counts)


def staged_now(gatekeeper: Engine, delivery: Delivery) -> Staged:
    """What the server holds for a delivery, as its last staging left it.

    Raises:
        DeidError: `gate-unknown-delivery` if nothing is staged under that name.
    """
    with begin(gatekeeper) as connection:
        found = connection.execute(
            text(
                "SELECT staged_digest, clean, quarantined, withdrawn, rejoined FROM ctl.delivery"
                " WHERE delivery = :d AND staged_digest IS NOT NULL"
            ),
            {"d": delivery.key},
        ).one_or_none()
    if found is None:
        raise DeidError(Code.GATE_UNKNOWN_DELIVERY, delivery.key)
    return Staged(delivery, found.staged_digest, Counts(*found[1:]))


def count_differences(
    gatekeeper: Engine, staged: Staged, expected: Iterable[StagedNote], withdrawals: Iterable[StagedWithdrawal]
) -> int:
    """How many rows the server holds otherwise than they were made.

    What is measured on the note store says something of the staged rows only if they are the same, so every
    row is compared, its text by its digest.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        staged: What was staged; rows that were staged since count as different, all of them.
        expected: The notes as they were made.
        withdrawals: The withdrawals as they were made.

    Returns:
        Rows that differ, are missing, or should not be there; 0 if the server holds exactly these.
    """
    columns = ", ".join(name for name in _OF_NOTE if name != "text")
    statement = text(
        f"SELECT {columns}, encode(sha256(convert_to(text, 'UTF8')), 'hex') AS text FROM staging.note"  # noqa: S608
        " WHERE delivery = :d"
    )
    where = {"d": staged.delivery.key}
    # One snapshot: the rows that are compared are the rows that are digested.
    snapshot = gatekeeper.execution_options(isolation_level="REPEATABLE READ")
    with begin(snapshot) as connection:
        digest = connection.execute(text("SELECT ctl.staged_digest(:d)"), where).scalar()
        gone = {
            StagedWithdrawal(Kind(row.kind), row.key, tuple(row.former_keys))
            for row in connection.execute(
                text("SELECT kind, key, former_keys FROM staging.withdrawal WHERE delivery = :d"), where
            )
        }
        # Under a key of this comparison alone, nobody can make two rows of one digest, so short ones will do.
        key = secrets.token_bytes(32)
        held = _Digests(key)
        for row in connection.execute(
            statement.execution_options(stream_results=True, max_row_buffer=_ROWS_A_STEP), where
        ):
            held.add(row)
    if digest != staged.staged_digest:
        return max(len(held), 1)
    made = _Digests(key)
    for note in expected:
        made.add(note, text=None if note.text is None else hashlib.sha256(note.text.encode()).hexdigest())
    return len(gone.symmetric_difference(withdrawals)) + held.different_from(made)


class _Digests:
    """Rows by digests, of their key and of all that they hold: 32 bytes a row, however long its text is."""

    def __init__(self, key: bytes) -> None:
        self._digest = partial(hashlib.blake2b, digest_size=_DIGEST_BYTES, key=key)
        self._keys, self._rows = bytearray(), bytearray()

    def __len__(self) -> int:
        return len(self._rows) // _DIGEST_BYTES

    def add(self, row: object, **instead: object) -> None:
        """Takes in a row: its attributes, or what stands in the place of some."""
        values = {name: instead.get(name, getattr(row, name)) for name in _OF_NOTE}
        values |= {"status": str(values["status"]), "former_keys": list(cast(Sequence[str], values["former_keys"]))}
        self._keys += self._digest(str(values["note_key"]).encode()).digest()
        self._rows += self._digest(repr(values).encode()).digest()

    def different_from(self, expected: _Digests) -> int:
        """How many rows differ from what is expected, are missing, or should not be there; each key is here once."""
        here, there = _column(self._rows), _column(expected._rows)
        same = int(pc.sum(pc.is_in(here, value_set=there)).as_py() or 0)
        if same == len(here) == len(there):
            return 0
        due = _column(expected._keys)
        of_either = pa.concat_arrays([_column(self._keys), due]).unique()
        return len(of_either) - same + len(due) - len(due.unique())


def _column(digests: bytearray) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(_DIGEST_BYTES), len(digests) // _DIGEST_BYTES, [None, pa.py_buffer(digests)])


def _announce(connection: Connection, delivery: Delivery, header: Header) -> None:
    connection.execute(
        text(
            "SELECT ctl.begin_staging(:delivery, :feed, :seq, :release, :detector, :detector_digest, :policy,"
            " :policy_digest, :key_id, :inputs, :demonstration, :run_id, :clean, :quarantined, :withdrawn, :rejoined,"
            " :limited, :dates)"
        ),
        {
            "delivery": delivery.key,
            "feed": delivery.feed,
            "seq": delivery.seq,
            "release": header.release,
            "detector": header.detector,
            "detector_digest": header.detector_digest,
            "policy": header.policy,
            "policy_digest": header.policy_digest,
            "key_id": header.key_id,
            "inputs": header.inputs.value,
            "demonstration": header.demonstration,
            "run_id": header.run_id,
            "clean": header.announced.clean,
            "quarantined": header.announced.quarantined,
            "withdrawn": header.announced.withdrawn,
            "rejoined": header.announced.rejoined,
            "limited": header.limited,
            "dates": header.dates,
        },
    )


def _copy(connection: Connection, table: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101 - the engine is psycopg's
    statement = f"COPY staging.{table} ({', '.join(columns)}) FROM STDIN"
    refused = False
    with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in rows:
            try:
                copy.write_row([list(value) if isinstance(value, tuple) else value for value in row])
            except (UnicodeError, ValueError, TypeError):
                # A lone surrogate or a NUL: the driver's own message would quote the text.
                refused = True
                break
        if refused:
            raise DeidError(Code.WAREHOUSE_STATEMENT, "22021") from None
