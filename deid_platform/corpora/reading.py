"""From rows to records: what every reader does, wherever its rows come from.

Belongs here: duplicates, unknown ids and topics, which only the rows around a row can tell. Does not belong here: where
rows come from (`files.py`, `sql/`), columns and values (`rows.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from deid_platform.corpora import Reader, Reason, Rejection, Role, UnknownColumns
from deid_platform.corpora.columns import unknown_columns
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.rows import ID_FIELD, Record, Shape, note_id_of, record_of
from deid_platform.corpora.tables import Row
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Rejoining, Topics, Withdrawal

MAX_CHARS = 1_000_000
"""The longest note by default, in code points: some 200 times an ordinary one."""

TOPIC_ROLES = {Patient: Role.PATIENTS, Provider: Role.PROVIDERS, Facility: Role.FACILITIES}

Objection = Callable[[Record], Reason | None]
"""What speaks against a record that is well by itself."""


class RowReader(Reader):
    """A reader that says what the rows of a role are, and promises the rest of `Reader` over them."""

    @abstractmethod
    def _records(
        self, delivery: Delivery, role: Role, objection: Objection, head: int | None = None
    ) -> Iterator[Record | Rejection]:
        """Every row of a role in a delivery, or the first `head` of each file."""

    def notes(self, delivery: Delivery) -> Iterator[Note | Rejection]:
        """New and changed notes; of two rows with one `note_id` the first good one stands."""
        return cast(Iterator[Note | Rejection], self._records(delivery, Role.NOTES, repeated(Role.NOTES)))

    def topics(self, delivery: Delivery) -> tuple[Topics, list[Rejection]]:
        """This delivery's upserts; see `Reader.topics`."""
        found: list[Record | Rejection] = []
        for role in TOPIC_ROLES.values():
            found += self._records(delivery, role, repeated(role))
        return topics_of(found)

    def withdrawals(
        self,
        delivery: Delivery,
        *,
        known_patients: Container[str] | None,
        known_notes: Container[str] | None,
    ) -> Iterator[Withdrawal | Rejection]:
        """What must leave research; an id that is not in its container is refused (None: not checked)."""
        objection = withdrawable(known_patients, known_notes)
        return cast(Iterator[Withdrawal | Rejection], self._records(delivery, Role.WITHDRAWN, objection))

    def rejoinings(self, delivery: Delivery) -> Iterator[Rejoining | Rejection]:
        """Withdrawn patients who take part again, each once."""
        return cast(Iterator[Rejoining | Rejection], self._records(delivery, Role.REJOINED, repeated(Role.REJOINED)))

    def inspect(
        self, delivery: Delivery, *, never: Callable[[Note], Reason | None] | None = None, head: int | None = None
    ) -> Iterator[Record | Rejection]:
        """Every row of a delivery, role by role; see `Reader.inspect`."""
        for role in Role:
            yield from self._records(delivery, role, inspected(role, never), head)


def read_rows(
    rows: Iterable[Row], shape: Shape, objection: Objection, *, ordinal: int = 0, max_chars: int = MAX_CHARS
) -> Iterator[Record | Rejection]:
    """Every row in order: the record it is, the rejection it earns, or both.

    Args:
        rows: The rows of one file, or of what stands for one.
        shape: Its role and columns.
        objection: What the rows before say against a record.
        ordinal: The file's place among the delivery's files of that role.
        max_chars: The longest text, in code points.
    """
    # Where a note was written, the calendar may be a day ahead of UTC's.
    latest = datetime.now(UTC).date() + timedelta(days=1)
    label, row = f"{shape.role}[{ordinal}]", 0
    header: tuple[str, ...] | None = None
    unknown: UnknownColumns | None = None
    try:
        for row, cells in rows:
            record, reason = (
                (None, cells)
                if isinstance(cells, Reason)
                else record_of(cells, shape, max_chars=max_chars, latest=latest)
            )
            if record is not None and (refused := objection(record)):
                # A second row may hold another name, and that name may be in the notes.
                record, reason = record if type(record) in TOPIC_ROLES else None, refused
            if reason is not None:
                if not isinstance(cells, Reason) and (names := (*cells,)) != header:
                    header, unknown = names, unknown_columns(names, shape)
                of_row = None if isinstance(cells, Reason) else unknown
                yield Rejection(shape.role, label, row, reason, note_id_of(cells, shape), of_row)
            if record is not None:
                yield record
    except BrokenFileError as error:
        yield Rejection(shape.role, label, row + 1, error.reason)


def repeated(role: Role) -> Objection:
    """Objects to a record whose id it has let pass before."""
    seen: set[object] = set()
    reason = Reason.DUPLICATE_NOTE_ID if role is Role.NOTES else Reason.DUPLICATE_ID

    def objection(record: Record) -> Reason | None:
        key = record if isinstance(record, Withdrawal) else getattr(record, ID_FIELD[role])
        if key in seen:
            return reason
        seen.add(key)
        return None

    return objection


def inspected(role: Role, never: Callable[[Note], Reason | None] | None) -> Objection:
    """As `repeated`, and objects to notes that never enter."""
    again = repeated(role)
    return lambda record: again(record) or (never(record) if never and isinstance(record, Note) else None)


def withdrawable(known_patients: Container[str] | None, known_notes: Container[str] | None) -> Objection:
    """Objects to a withdrawal of what is not in its container (None: not checked), and to one that is repeated."""
    again = repeated(Role.WITHDRAWN)

    def objection(record: Record) -> Reason | None:
        if isinstance(record, Withdrawal):
            if record.patient_id is not None and known_patients is not None:
                if record.patient_id not in known_patients:
                    return Reason.UNKNOWN_PATIENT
            elif record.note_id is not None and known_notes is not None and record.note_id not in known_notes:
                return Reason.UNKNOWN_NOTE
        return again(record)

    return objection


def topics_of(found: Iterable[Record | Rejection]) -> tuple[Topics, list[Rejection]]:
    """Topics of records; of two with one id the first stands and the second is former."""
    rejections: list[Rejection] = []
    first: dict[type, dict[str, Any]] = {kind: {} for kind in TOPIC_ROLES}
    again: dict[type, list[Any]] = {kind: [] for kind in TOPIC_ROLES}
    undated: set[str] = set()
    before: Record | Rejection | None = None
    for item in found:
        if isinstance(item, Rejection):
            rejections.append(item)
        else:
            kind = type(item)
            key = getattr(item, ID_FIELD[TOPIC_ROLES[kind]])
            if key in first[kind]:
                again[kind].append(item)
            else:
                first[kind][key] = item
                # What is said against a row that stands comes right before it.
                if isinstance(before, Rejection) and before.reason is Reason.IMPOSSIBLE_DATE:
                    undated.add(key)
        before = item
    # Of two rows the later one would stand.
    rows = {kind: [*again[kind], *first[kind].values()] for kind in TOPIC_ROLES}
    return Topics.of(rows[Patient], rows[Provider], rows[Facility], undated), rejections
