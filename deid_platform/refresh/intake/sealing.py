"""From a delivery's files to the note store.

Belongs here: sealing what arrived (raw notes, withdrawals, topic upserts). Does not belong here: parsing files
(`corpora/`), or what the topics come to (`refresh/topics/as_of.py`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.corpora import Reader, Reason, Rejection, Role
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery, Note, Rejoining, Withdrawal
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_until
from deid_platform.refresh.datasets.derived import NOTE_IDS
from deid_platform.refresh.redact.structured_rows import take_in_structured
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.store import NoteStore

T = TypeVar("T")
_MOST_COLUMNS = 20
STATEMENT_KEPT = (Reason.UNKNOWN_NOTE.value, Reason.UNKNOWN_PATIENT.value, Reason.DUPLICATE_ID.value)
"""A withdrawal or a rejoining that was rejected for these is kept: it takes effect once what it names is known."""


@dataclass(frozen=True)
class Intake:
    """Counts of one step of the intake; nothing here identifies anyone."""

    rows: int
    rejected: dict[str, int] = field(default_factory=dict)
    """Reason code -> rows refused; notes that never enter are among them."""
    withdrawn: int = 0
    """Withdrawals of notes and of patients, as the feed states them."""
    rejoined: int = 0
    """Patients who take part again."""
    unknown_columns: tuple[str, ...] = ()
    """Unknown columns of refused rows, whose names may be shown."""
    structured: int = 0
    """Rows of tables beside the notes."""


def content_digest(note: Note, keyring: Keyring) -> str:
    """A keyed digest of everything that a note says, structured columns included."""
    row = tables.to_row(note)
    return keyring.digest(*(f"{name}={'' if value is None else value}" for name, value in row.items()))


def files_digests(
    reader: Reader,
    delivery: Delivery,
    keyrings: Sequence[Keyring],
    exclusions: Exclusions,
    *,
    unread: Callable[[], object] = lambda: None,
) -> list[str]:
    """Digests of a delivery's files and of what never enters, one by each secret: is there anything to take in anew?

    Every byte is read for them, once.

    Args:
        reader: Of the delivery's feed.
        delivery: The delivery.
        keyrings: The site's keys under each secret.
        exclusions: What never enters.
        unread: Called for each file that could not be read to its end.

    Raises:
        DeidError: `feed-unreadable` if the delivery is not there.
    """
    fingerprint = reader.fingerprint(delivery, unread=unread)
    return [keyring.digest(fingerprint, exclusions.digest(keyring)) for keyring in keyrings]


def files_digest(reader: Reader, delivery: Delivery, keyring: Keyring, exclusions: Exclusions) -> str:
    """The digest by one secret, as it is sealed with what is taken in; raises what `files_digests` does."""
    return files_digests(reader, delivery, [keyring], exclusions)[0]


def reading_digest(reader: Reader, keyring: Keyring) -> str:
    """A keyed digest of the settings by which a feed is read."""
    return keyring.digest("reading", reader.reading)


def withdrawals_marker(reader: Reader, delivery: Delivery, keyring: Keyring, marker: str | None = None) -> str:
    """A keyed mark that changes when a file that withdraws anything does; no file is read for it.

    Args:
        reader: Of the delivery's feed.
        delivery: The delivery.
        keyring: The site's keys.
        marker: The reader's own, if it is known.

    Raises:
        DeidError: `feed-unreadable` if the delivery is not there.
    """
    return keyring.digest("withdrawals", reader.marker(delivery, Role.WITHDRAWN) if marker is None else marker)


def take_in_notes(
    reader: Reader, delivery: Delivery, *, store: NoteStore, keyring: Keyring, exclusions: Exclusions
) -> Intake:
    """Seals a delivery's notes, withdrawals and rejoinings. Its topics must have been taken in before.

    A note that is excluded or refused is not sealed. It is counted by its reason and, where its id can be read,
    withdrawn: an earlier delivery may have brought a version of it, and that is corrected by what cannot be shown.

    Raises:
        DeidError: `feed-empty`, as `refuse_empty`, unless there is a refused note to be hidden first.
    """
    refused_notes: Counter[str] = Counter()
    refused_withdrawals: Counter[str] = Counter()
    columns: dict[str, None] = {}
    refused: set[str] = set()
    excluded: set[str] = set()
    ids: list[pa.Table] = []

    def admitted() -> Iterator[Note]:
        for note in _good(reader.notes(delivery), refused_notes, refused, columns):
            if (reason := exclusions.reason(note)) is None:
                yield note
            else:
                refused_notes[reason.value] += 1
                excluded.add(note.note_id)

    def parts() -> Iterator[pa.Table]:
        for batch in tables.batched(admitted(), tables.NOTES_A_PART):
            rows = [{**tables.to_row(note), "content_digest": content_digest(note, keyring)} for note in batch]
            table = pa.Table.from_pylist(rows, schema=tables.RAW_SCHEMA)
            ids.append(table.select(NOTE_IDS.columns))
            yield table

    # Before they are read: what changes from here on is of another digest. No digest is that of topics of before.
    digest = files_digest(reader, delivery, keyring, exclusions)
    digest = digest if _topics_as_read(reader, delivery, store) else ""
    marker = withdrawals_marker(reader, delivery, keyring)
    rows_beside = _good(reader.structured(delivery), refused_notes, refused)
    structured = take_in_structured(rows_beside, delivery, reader, store=store, keyring=keyring, exclusions=exclusions)
    notes = store.write(
        tables.RAW_NOTES,
        delivery.key,
        parts(),
        meta=lambda: {
            "files": digest,
            "reading": reading_digest(reader, keyring),
            "rejected": dict(refused_notes),
            "unknown_columns": [*columns],
        },
    )
    NOTE_IDS.of(store, delivery.key, ids)
    items = reader.withdrawals(delivery, known_patients=None, known_notes=None)
    withdrawn = list(_good(items, refused_withdrawals))
    # Who is both withdrawn and rejoined in one delivery is withdrawn.
    gone = {withdrawal.patient_id for withdrawal in withdrawn}
    back = [r for r in _good(reader.rejoinings(delivery), refused_withdrawals) if r.patient_id not in gone]
    # Of rows with one id the good one stands, whichever comes first.
    unsealed = excluded | refused
    unsealed -= _brought(store, [delivery], "note_id", unsealed)
    refused_withdrawals.update(_unknown(store, delivery, [*withdrawn, *back], unsealed))
    never = [Withdrawal(note_id=note_id) for note_id in sorted(unsealed)]
    statements: list[Withdrawal | Rejoining] = [*withdrawn, *never, *back]
    rows = [tables.withdrawal_row(statement) for statement in dict.fromkeys(statements)]
    table = pa.Table.from_pylist(rows, schema=tables.WITHDRAWAL_SCHEMA)
    read = len(withdrawn) + len(back) + len(excluded)
    meta = {
        "rejected": dict(refused_withdrawals),
        "read": read,
        "stated": len(set(withdrawn)),
        "marker": marker,
    }
    store.write(tables.WITHDRAWALS, delivery.key, [table], meta=lambda: meta)
    if not unsealed:
        refuse_empty(store, delivery)
    refusals = dict(refused_notes + refused_withdrawals)
    return Intake(notes.rows, refusals, len(withdrawn), len(back), (*columns,), structured)


def withdrawals_stated(store: NoteStore, delivery: Delivery) -> int | None:
    """How many notes and patients a delivery's source withdraws; None where nothing was taken in, or nobody counted.

    What is staged as withdrawn may be more: a note that is excluded or refused hides what an earlier delivery brought.
    """
    manifest = store.manifest(tables.WITHDRAWALS, delivery.key)
    return None if manifest is None else manifest.meta.get("stated")


def refuse_empty(store: NoteStore, delivery: Delivery) -> None:
    """Refuses a delivery of which nothing could be read, or no more than the ids of notes that it corrects.

    Those have to be hidden before: whoever calls this has seen to that.

    Raises:
        DeidError: `feed-empty`, with the reasons, if no good note, no row of a table beside the notes, no withdrawal
            and no topic row arrived.
    """
    notes, statements = (store.required(name, delivery.key) for name in (tables.RAW_NOTES, tables.WITHDRAWALS))
    beside = store.manifest(tables.STRUCTURED, delivery.key)
    said = notes.rows or statements.meta.get("read", statements.rows) or (beside is not None and beside.rows)
    if said or _any_topic(store, delivery):
        return
    rejected = Counter(notes.meta["rejected"]) + Counter(statements.meta["rejected"])
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(rejected.items()))
    columns = ", ".join(notes.meta.get("unknown_columns", ()))
    raise DeidError(
        Code.FEED_EMPTY,
        f"{delivery.key}: {reasons or 'no rows'}{f'; unknown columns: {columns}' * bool(columns)}",
    )


def withdrawals_lost(store: NoteStore, delivery: Delivery) -> int:
    """How many rows of a delivery's withdrawals and rejoinings could not be read: whom they name nobody knows.

    A file that ends early, or cannot be opened at all, counts as one row.
    """
    rejected: Mapping[str, int] = store.required(tables.WITHDRAWALS, delivery.key).meta["rejected"]
    return sum(count for reason, count in rejected.items() if reason not in STATEMENT_KEPT)


def _good(
    items: Iterable[T | Rejection],
    reasons: Counter[str],
    note_ids: set[str] | None = None,
    columns: dict[str, None] | None = None,
) -> Iterator[T]:
    """The items that are no rejections; of those, reasons, readable ids of notes and columns are kept on the way."""
    for item in items:
        if not isinstance(item, Rejection):
            yield item
            continue
        reasons[item.reason.value] += 1
        if note_ids is not None and item.note_id is not None:
            note_ids.add(item.note_id)
        # Of these names nobody reads more.
        if columns is not None and item.unknown is not None and len(columns) < _MOST_COLUMNS:
            columns.update(dict.fromkeys(item.unknown.named))


def _unknown(
    store: NoteStore, delivery: Delivery, statements: Iterable[Withdrawal | Rejoining], unsealed: Set[str]
) -> Counter[str]:
    """Counts withdrawals and rejoinings of what no delivery up to this one has brought.

    They are told as rows that name nobody, and take their effect all the same: the note may be in a delivery
    that is late, or was refused.

    Args:
        unsealed: Ids of the notes that this delivery brought and that were not sealed.
    """
    of_notes: Counter[str] = Counter()
    of_patients: Counter[str | None] = Counter()
    for statement in statements:
        if isinstance(statement, Withdrawal) and statement.note_id is not None:
            of_notes[statement.note_id] += 1
        else:
            of_patients[statement.patient_id] += 1
    if of_notes or of_patients:
        until = deliveries_until(store, tables.RAW_NOTES, delivery)
        for note_id in unsealed | _brought(store, until, "note_id", of_notes.keys()):
            del of_notes[note_id]
        known = topics_as_of(store, delivery).patients.keys() if of_patients else frozenset[str]()
        for patient_id in (of_patients.keys() & known) | _brought(store, until, "patient_id", of_patients.keys()):
            del of_patients[patient_id]
    counts = Counter({Reason.UNKNOWN_NOTE.value: of_notes.total(), Reason.UNKNOWN_PATIENT.value: of_patients.total()})
    return +counts  # without those of which there are none


def _any_topic(store: NoteStore, delivery: Delivery) -> bool:
    manifests = (store.manifest(f"source/{name}", delivery.key) for name in tables.TOPICS)
    return any(manifest is not None and manifest.rows for manifest in manifests)


def _topics_as_read(reader: Reader, delivery: Delivery, store: NoteStore) -> bool:
    """Whether a delivery's files of topics are those that its topics were taken from, by size and time."""
    for name in tables.TOPICS:
        manifest = store.manifest(f"source/{name}", delivery.key)
        # Of a source that writes over its rows there is no mark, nor did earlier versions of the platform keep any.
        read = None if manifest is None else manifest.meta.get("marker")
        if read is not None and read != reader.marker(delivery, Role(name)):
            return False
    return True


def take_in_topic(reader: Reader, delivery: Delivery, name: str, *, store: NoteStore) -> Intake:
    """Seals a delivery's upserts of one topic: `patients`, `providers` or `facilities`.

    Where the source writes over its rows, those that this delivery brought before are kept as former ones: a name that
    a patient had stands in notes, and the source has forgotten it.
    """
    # Before they are read. A source that writes over its rows is never still.
    marker = None if reader.overwrites else reader.marker(delivery, Role(name))
    topics, rejections = reader.topics(delivery)
    if reader.overwrites and store.manifest(f"source/{name}", delivery.key) is not None:
        before = {topic: [] if topic != name else store.rows(f"source/{name}", delivery.key) for topic in tables.TOPICS}
        topics = tables.topics_of(before).folded(topics)
    table = pa.Table.from_pylist(list(tables.topic_rows(topics, name)), schema=tables.TOPIC_SCHEMAS[name])
    reasons: Counter[str] = Counter()
    columns: dict[str, None] = {}
    rejected = (rejection for rejection in rejections if rejection.role.value == name)
    deque(_good(rejected, reasons, columns=columns), maxlen=0)
    meta = {"rejected": dict(reasons), "marker": marker}
    manifest = store.write(f"source/{name}", delivery.key, [table], meta=lambda: meta)
    return Intake(manifest.rows, dict(reasons), unknown_columns=(*columns,))


def _brought(store: NoteStore, deliveries: Iterable[Delivery], column: str, ids: Set[str | None]) -> set[str]:
    """Which of these ids stand in a column of the deliveries' notes. The others are not held: there may be millions."""
    known: set[str] = set()
    if sought := pa.array([value for value in ids if value is not None], pa.large_string()):
        for each in deliveries:
            there = NOTE_IDS.of(store, each.key)[column]
            known.update(there.filter(pc.is_in(there, value_set=sought)).to_pylist())
    return known
