"""Which rows of a database are whose delivery, over one connection.

Belongs here: the statements that count and read rows. Does not belong here: connecting (`connection.py`), the
arithmetic of periods (`periods.py`), what becomes of rows (`feed.py`).

A row without a watermark is in no period: the first delivery counts it, and it is refused. A topic without a column for
it, as OMOP's PERSON, is a picture of today. Its rows are in the first delivery; from then on, those are in a delivery
that its notes name by id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, literal_column, null, select, true

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.rows import ID_FIELD, Shape
from deid_platform.corpora.sql.cells import beside_cell_of, cell_of
from deid_platform.corpora.sql.connection import STREAMED
from deid_platform.corpora.sql.periods import Periods
from deid_platform.corpora.sql.sources import Beside, Source
from deid_platform.corpora.tables import Row
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery

_LONG = "deid_too_long"
_UTF8_BYTES = 4
_NAMED_BY_NOTES: Mapping[str, str] = {Role.PATIENTS: "patient_id", Role.PROVIDERS: "provider_id"}
_IDS: Mapping[str, str] = {role.value: name for role, name in ID_FIELD.items()}


class Rows:
    """A feed's rows over one connection.

    Args:
        feed: The feed's name.
        connection: To its database.
        sources: The source of each role that there is, and of each table beside the notes.
        shapes: The columns of each role.
        periods: How rows become deliveries.
        today: The period that is not closed yet.
        max_chars: The longest note text, in code points.
    """

    def __init__(
        self,
        feed: str,
        connection: Connection,
        sources: Mapping[str, Source],
        shapes: Mapping[str, Shape],
        periods: Periods,
        *,
        today: int,
        max_chars: int,
    ) -> None:
        # Text compares as text in SQLite, and 30 February has a month and a day until it is made a moment.
        self._typed = connection.dialect.name != "sqlite"
        self.sources: dict[str, Source] = (
            dict(sources) if self._typed else {role: _moments(found) for role, found in sources.items()}
        )
        self._feed = feed
        self._shapes = shapes
        self._periods = periods
        self._connection = connection
        self._today = today
        self._max_bytes = _UTF8_BYTES * max_chars

    def period(self, delivery: Delivery) -> int:
        """The period of a delivery.

        Raises:
            DeidError: `feed-unreadable` if it is another feed's, or is not closed, or has no rows.
        """
        number = self._periods.parsed(delivery.watermark)
        if delivery.feed != self._feed or number is None or number >= self._today or not self._any_in(number):
            raise DeidError(Code.FEED_UNREADABLE, delivery.key) from None
        return number

    def census(self, only: int | None = None) -> dict[str, dict[int, tuple[int, str]]]:
        """Period -> number of rows and newest watermark, of every role that has watermarks; of one period or of all."""
        return {role: self._counted(role, only) for role in self._marked()}

    def missing(self, role: str) -> int:
        """How many rows of a role are in no period."""
        mark = self.sources[role].watermark
        return 0 if mark is None else self._count(role, self._periods.missing(mark))

    def loose(self, role: str) -> int:
        """How many rows of a role are the first delivery's because no watermark says otherwise."""
        if self.sources[role].watermark is not None:
            return self.missing(role)
        return 0 if role in _NAMED_BY_NOTES else self._count(role, true())

    def open(self, role: str) -> int:
        """How many rows of a role are in a period that is not closed."""
        mark = self.sources[role].watermark
        if mark is None:
            return 0
        return self._count(role, self._periods.usable(mark) & (self._periods.number(mark) >= self._today))

    def first(self) -> int | None:
        """The first period with rows."""
        numbers = [number for role in self._marked() for number in self._counted(role, None)]
        return min(numbers, default=None)

    def cells(self, role: str, number: int) -> Iterator[Mapping[str, object]]:
        """The rows of a delivery as `rows.record_of` takes them."""
        source = self.sources[role]
        try:
            for values in self.values(role, number, whole=True):
                cells = {name: cell_of(value) for name, value in values.items() if name != _LONG}
                if values.get(_LONG):
                    cells[self._text_of(source, role)] = Reason.TEXT_TOO_LONG
                yield cells if source.convert is None else source.convert(cells)
            if self.is_first(number):
                yield from self._unmarked(role)
        except UnicodeDecodeError:  # of a driver that gives up its cursor
            raise BrokenFileError(Reason.INVALID_UTF8) from None

    def beside(self, table: Beside, number: int) -> Iterator[Row]:
        """A delivery's rows of a table beside the notes; the first has those without a watermark, to be refused."""
        source, row = self.sources[table.called], table.table.row
        last = 0
        try:
            for last, values in enumerate(self.values(table.called, number, whole=True), start=1):
                yield last, {name: beside_cell_of(value) for name, value in values.items()}
            if source.watermark is None or not self.is_first(number):
                return
            lost = select(source.columns[row]).select_from(source.rows).where(self._periods.missing(source.watermark))
            for place, (value,) in enumerate(self._connection.execute(lost, execution_options=STREAMED), last + 1):
                yield place, {row: beside_cell_of(value), table.table.patient: Reason.MISSING_WATERMARK}
        except UnicodeDecodeError:  # of a driver that gives up its cursor
            raise BrokenFileError(Reason.INVALID_UTF8) from None

    def values(self, role: str, number: int, *, whole: bool) -> Iterator[dict[str, object]]:
        """The values of a delivery's rows by their column's name.

        Args:
            role: One of `sources`.
            number: The period.
            whole: Whether the first delivery has the whole of a topic without watermarks.
        """
        source = self.sources[role]
        shape = self._shapes[role]
        condition = self._condition(role, number, whole=whole)
        if condition is None:
            return
        columns = {**source.columns, **source.needs}
        order = [] if source.watermark is None else [source.watermark]
        if (identity := source.of_field(_IDS.get(role, "note_id"), shape)) is not None:
            order.append(identity)
        selected = dict(columns)
        if role is Role.NOTES:
            selected |= self._bounded(source)
        labelled = [column.label(name) for name, column in selected.items()]
        statement = (
            select(*labelled).select_from(source.rows).where(condition).order_by(*order, *self._rest(role, order))
        )
        for row in self._connection.execute(statement, execution_options=STREAMED):
            yield dict(zip(selected, row, strict=True))

    def _bounded(self, source: Source) -> dict[str, ColumnElement[Any]]:
        """The text of a note, left in the database where it is certainly too long, and whether it was."""
        if (name := self._text_of(source, Role.NOTES)) not in source.columns:
            return {}
        text = source.columns[name]
        fits = _size(self._connection, text) <= self._max_bytes
        return {
            name: case((fits, text), else_=null()),
            _LONG: case((text.is_(None) | fits, literal_column("0")), else_=literal_column("1")),
        }

    def _text_of(self, source: Source, role: str) -> str:
        """The name of the column that holds a note's text; empty if there is none."""
        return next((name for name in source.columns if self._shapes[role].columns.get(name) == "text"), "")

    def _rest(self, role: str, before: Collection[ColumnElement[Any]]) -> Iterator[ColumnElement[Any]]:
        """Further columns to order by, so that rows with one id and one watermark come as they came before."""
        shape = self._shapes[role]
        for name, column in self.sources[role].columns.items():
            if shape.columns.get(name) == "text":
                yield _size(self._connection, column)
            elif name in shape.columns and not any(column is known for known in before):
                yield column

    def _unmarked(self, role: str) -> Iterator[Mapping[str, object]]:
        """Rows without a watermark, refused; of a note's, with its id: an older version of it must not stand."""
        source, shape = self.sources[role], self._shapes[role]
        if source.watermark is None:
            return
        name = next((n for n in source.columns if shape.columns.get(n) == _IDS.get(role)), None)
        shown = source.columns[name] if role is Role.NOTES and name is not None else literal_column("1")
        refused: dict[str, object] = dict.fromkeys(shape.columns, Reason.MISSING_WATERMARK)
        statement = select(shown).select_from(source.rows).where(self._periods.missing(source.watermark))
        for (value,) in self._connection.execute(statement, execution_options=STREAMED):
            yield {**refused, **({name: cell_of(value)} if name is not None and role is Role.NOTES else {})}

    def _condition(self, role: str, number: int, *, whole: bool) -> ColumnElement[bool] | None:
        """Which rows of a role are a delivery's; None if there can be none."""
        source = self.sources[role]
        if source.watermark is not None:
            return self._periods.within(source.watermark, number, typed=self._typed)
        if (role not in _NAMED_BY_NOTES or whole) and self.is_first(number):
            return true()
        name, notes = _NAMED_BY_NOTES.get(role), self.sources.get(Role.NOTES)
        if name is None or notes is None or notes.watermark is None:
            return None
        ours = source.of_field(name, self._shapes[role])
        theirs = notes.of_field(name, self._shapes[Role.NOTES])
        if ours is None or theirs is None:
            return None
        of_delivery = self._periods.within(notes.watermark, number, typed=self._typed)
        return ours.in_(select(theirs).select_from(notes.rows).where(of_delivery))

    def _marked(self) -> Iterator[str]:
        return (role for role, source in self.sources.items() if source.watermark is not None)

    def _counted(self, role: str, only: int | None) -> dict[int, tuple[int, str]]:
        source = self.sources[role]
        mark = source.watermark
        assert mark is not None  # noqa: S101 - of `_marked`
        periods = self._periods
        condition = periods.usable(mark) if only is None else periods.within(mark, only, typed=self._typed)
        number: ColumnElement[Any] = periods.number(mark)
        counted: dict[int, tuple[int, str]] = {}
        grouped: Select[Any] = (
            select(number, func.count(), func.max(mark)).select_from(source.rows).where(condition).group_by(number)
        )
        for row in self._connection.execute(grouped):
            if (of_rows := int(row[0])) >= self._today:
                continue
            folded = periods.folded(of_rows)
            known, latest = counted.get(folded, (0, ""))
            counted[folded] = (known + int(row[1]), max(latest, str(row[2])))
        # A first load's name may be that of a day which is not over.
        return {each: tallied for each, tallied in counted.items() if each < self._today}

    def is_first(self, number: int) -> bool:
        """Whether no delivery is before that of a period."""
        return not any(
            self._exists(role, self._periods.before(mark, number, typed=self._typed))
            for role in self._marked()
            if (mark := self.sources[role].watermark) is not None
        )

    def _any_in(self, number: int) -> bool:
        return any(
            self._exists(role, self._periods.within(mark, number, typed=self._typed))
            for role in self._marked()
            if (mark := self.sources[role].watermark) is not None
        )

    def _exists(self, role: str, condition: ColumnElement[bool]) -> bool:
        any_row: Select[Any] = (
            select(literal_column("1")).select_from(self.sources[role].rows).where(condition).limit(1)
        )
        return self._connection.execute(any_row).first() is not None

    def _count(self, role: str, condition: ColumnElement[bool]) -> int:
        counted = select(func.count()).select_from(self.sources[role].rows).where(condition)
        return int(self._connection.execute(counted).scalar_one())


def _moments(source: Source) -> Source:
    """A source of SQLite, which keeps moments as text of several forms."""
    mark = source.watermark
    return source if mark is None else replace(source, watermark=func.datetime(mark, literal_column("'+0 days'")))


def _size(connection: Connection, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """How long a value is as the database keeps it, without reading it: at least its code points, at most four each."""
    match connection.dialect.name:
        case "sqlite" | "oracle":
            return func.length(column)
        case "mssql":
            return func.datalength(column)
        case _:
            return func.octet_length(column)
