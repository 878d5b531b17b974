"""The reader of a database: deliveries are closed periods of the watermark.

Belongs here: what a reader promises. Does not belong here: which rows are whose delivery (`selection.py`), where a
role's rows are (`sources.py`, `omop.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar, cast

from deid_platform.corpora import Rejection, Role
from deid_platform.corpora.reading import MAX_CHARS, Objection, RowReader, read_rows
from deid_platform.corpora.rows import Record, Shape, shapes
from deid_platform.corpora.sql.cells import RowsDigest
from deid_platform.corpora.sql.connection import Database
from deid_platform.corpora.sql.periods import Periods
from deid_platform.corpora.sql.selection import Rows
from deid_platform.corpora.sql.sources import EVERY, Beside, Layout, Source
from deid_platform.corpora.structured import StructuredRow, rows_of
from deid_platform.corpora.tables import Row
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery


@dataclass(frozen=True)
class SqlFeed(RowReader):
    """One feed of a database.

    Args:
        name: The feed's name, as deliveries carry it.
        database: Where its rows are.
        layout: What of it is the rows of a role.
        periods: How its rows become deliveries.
        columns: Source column to field, see `rows.shapes`.
        ignore: Columns that are not asked for; `*` for all that are not mapped.
        defaults: Note field to a constant for rows without a value there.
        max_chars: The longest note text, in code points.
        site: The institution, for notes that do not name theirs.
        reading: As `Reader` has it.
        beside: Tables beside the notes.

    Raises:
        DeidError: `feed-mapping` for columns or defaults that cannot be used, `delivery-name` for a name
            that no delivery could carry.
    """

    overwrites: ClassVar[bool] = True

    name: str
    database: Database
    layout: Layout
    periods: Periods = field(default_factory=Periods)
    columns: Mapping[str, str] = field(default_factory=dict)
    ignore: Collection[str] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    max_chars: int = MAX_CHARS
    site: str | None = None
    reading: str = ""
    beside: tuple[Beside, ...] = ()
    _shapes: Mapping[Role, Shape] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Delivery(self.name, "0")
        site = {} if self.site is None else {"site": self.site}
        ignored = [column for column in self.ignore if column != EVERY]
        object.__setattr__(self, "_shapes", shapes(self.columns, ignored, {**site, **self.defaults}))

    def deliveries(self) -> list[Delivery]:
        """The closed periods that have rows, oldest first."""
        with self._opened() as rows:
            numbers = sorted({number for counted in rows.census().values() for number in counted})
        return [Delivery(self.name, self.periods.name(number)) for number in numbers]

    def refused(self) -> list[DeidError]:
        """A `feed-watermark` error for each role with rows that are in no period."""
        with self._opened() as rows:
            return [
                DeidError(Code.FEED_WATERMARK, f"{self.name}: {role}, {count}")
                for role in rows.sources
                if (count := rows.missing(role))
            ]

    def waiting(self) -> int:
        """How many rows are in no delivery yet, since their period is not closed."""
        with self._opened() as rows:
            return sum(map(rows.open, rows.sources))

    def structured(self, delivery: Delivery) -> Iterator[StructuredRow | Rejection]:
        """Rows of the tables beside the notes; see `Reader.structured`."""
        if not self.beside:
            return
        with self._opened() as rows:
            number, seen = rows.period(delivery), set[str]()
            for beside in self.beside:
                yield from rows_of(beside.table, rows.beside(beside, number), seen)

    def kept_back(self) -> dict[str, list[str]]:
        """The columns of the tables beside the notes that are not released, by table."""
        if not self.beside:
            return {}
        with self.database.connected() as connection:
            tables = [(beside.table, beside.found(connection, self.name)[1]) for beside in self.beside]
        kept = {table.name: table.kept_back(names.values()) for table, names in tables}
        return {name: columns for name, columns in kept.items() if columns}

    def fingerprint(self, delivery: Delivery, *, unread: Callable[[], object] = lambda: None) -> str:
        """SHA-256 over every value of every row, in whatever order; PHI zone only.

        Of a topic without watermarks, only rows that the delivery's notes name count, and facilities in the first: the
        whole table would make every delivery another whenever a patient is added.
        """
        del unread  # rows that cannot be read raise
        total = hashlib.sha256()
        with self._opened() as rows:
            number = rows.period(delivery)
            first = rows.is_first(number)
            for role in rows.sources:
                total.update(f"{role} {rows.loose(role)}\n".encode() if first else b"")
                digest = RowsDigest()
                for values in rows.values(role, number, whole=False):
                    digest.add(values)
                total.update(f"{role} {digest}\n".encode())
        return total.hexdigest()

    def marker(self, delivery: Delivery, *roles: Role) -> str:
        """SHA-256 over the number of rows and their newest watermark, of each of these roles, by default of all."""
        with self._opened() as rows:
            number = rows.period(delivery)
            return self._marks(rows, [number], roles, only=number)[number]

    def markers(self, deliveries: Sequence[Delivery], *roles: Role) -> dict[Delivery, str]:
        """The marker of each delivery, with one statement a role."""
        numbers = {delivery: self.periods.parsed(delivery.watermark) for delivery in deliveries}
        with self._opened() as rows:
            marks = self._marks(rows, [number for number in numbers.values() if number is not None], roles)
        return {delivery: marks[number] for delivery, number in numbers.items() if number is not None}

    def _records(
        self, delivery: Delivery, role: Role, objection: Objection, head: int | None = None
    ) -> Iterator[Record | Rejection]:
        with self._opened() as rows:
            number = rows.period(delivery)
            if role in rows.sources:
                found = islice(enumerate(rows.cells(role, number), start=1), head)
                yield from read_rows(
                    cast(Iterator[Row], found), self._shapes[role], objection, max_chars=self.max_chars
                )

    def _marks(
        self, rows: Rows, numbers: Sequence[int], roles: Sequence[Role], *, only: int | None = None
    ) -> dict[int, str]:
        said: dict[int, list[str]] = {number: [] for number in numbers}
        counted = rows.census(only)
        for role in roles or rows.sources:
            if role not in rows.sources:
                continue
            for number, (count, newest) in counted.get(role, {}).items():
                if number in said:
                    said[number].append(f"{role} {count} {newest}\n")
            if (loose := rows.loose(role)) and (first := rows.first()) in said:
                said[first].append(f"{role} first {loose}\n")
        return {n: hashlib.sha256("".join(lines).encode()).hexdigest() if lines else "" for n, lines in said.items()}

    @contextmanager
    def _opened(self) -> Iterator[Rows]:
        with self.database.connected() as connection:
            of_roles: Mapping[Role, Source] = self.layout.sources(connection, self._shapes)
            sources: dict[str, Source] = {role.value: source for role, source in of_roles.items()}
            sources |= {beside.called: beside.source(connection, self.name) for beside in self.beside}
            # The rows of one watermark are ordered by their id, as notes are.
            shapes = {role.value: shape for role, shape in self._shapes.items()} | {
                beside.called: Shape(Role.NOTES, {beside.table.row: "note_id"}, frozenset(), {})
                for beside in self.beside
            }
            today = self.periods.of(self.database.now(connection))
            yield Rows(
                self.name,
                connection,
                sources,
                shapes,
                self.periods,
                today=today,
                max_chars=self.max_chars,
            )
