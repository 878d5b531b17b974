"""Periods of a watermark: the spans of time whose rows are one delivery.

Belongs here: the arithmetic between moments, period numbers and the names of deliveries. Does not belong here: reading
anything (`feed.py`).

A period is a number that orders as time does: 2026011203 is the hour after three on 12 January 2026, 20260112 the day,
202601 the month. The database computes it from its parts of the date, which every dialect has, so that the rows that
are listed and the rows that are read agree whatever the type and time zone of the column.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

from sqlalchemy import BigInteger, ColumnElement, and_, extract, literal_column, or_, type_coerce

Period = Literal["hour", "day", "month"]

_PARTS: dict[Period, tuple[str, ...]] = {
    "hour": ("year", "month", "day", "hour"),
    "day": ("year", "month", "day"),
    "month": ("year", "month"),
}
_NAMES: dict[Period, str] = {"hour": "%Y%m%dT%H00", "day": "%Y-%m-%d", "month": "%Y-%m-01"}
_FORMATS: dict[Period, str] = {"hour": "%Y%m%d%H", "day": "%Y%m%d", "month": "%Y%m"}
_A_DAY = timedelta(days=1)
# What Python's calendar and a delivery's name can say, a day off its ends.
_LOWEST, _HIGHEST = datetime(1, 1, 2), datetime(9999, 12, 30)  # noqa: DTZ001 - wall clocks


@dataclass(frozen=True)
class Periods:
    """How a feed's watermarks are divided.

    Attributes:
        period: The length of one.
        since: Rows before this day are left out.
        initial: All up to the end of this day's period is one delivery.
    """

    period: Period = "day"
    since: date | None = None
    initial: date | None = None

    def of(self, moment: datetime) -> int:
        """The period that a moment is in."""
        parts = [int(getattr(moment, part)) for part in _PARTS[self.period]]
        number = parts[0]
        for part in parts[1:]:
            number = 100 * number + part
        return number

    def name(self, number: int) -> str:
        """The watermark of the delivery of a period."""
        begin = self._begin(number)
        if self.period == "hour":
            return f"{begin.year:04}{begin:%m%dT%H00}"
        return f"{begin.year:04}-{begin:%m-%d}"

    def parsed(self, watermark: str) -> int | None:
        """The period of a delivery's watermark; None if no period of this feed bears that name."""
        try:
            number = self.of(datetime.strptime(watermark, _NAMES[self.period]))  # noqa: DTZ007 - a wall clock
        except ValueError:
            return None
        return number if self.name(number) == watermark and number == self.folded(number) else None

    def folded(self, number: int) -> int:
        """The period under whose name the rows of a period are delivered."""
        return number if self._folds_to is None else max(number, self._folds_to)

    def number(self, watermark: ColumnElement[Any]) -> ColumnElement[Any]:
        """The period of a row, computed by the database; NULL where its watermark is no moment."""
        first, *rest = (extract(part, watermark) for part in _PARTS[self.period])
        number: ColumnElement[Any] = first
        for part in rest:
            # Constants, not parameters: Postgres takes two parameters for two expressions, and will not group by one.
            number = number * literal_column("100") + part
        return type_coerce(number, BigInteger)  # an hour's is beyond 32 bits

    def within(self, watermark: ColumnElement[Any], number: int, *, typed: bool) -> ColumnElement[bool]:
        """Whether a row is in the delivery of a period.

        Args:
            watermark: The column.
            number: The period.
            typed: Whether the column has a type of dates, so that an index on it can be used.
        """
        of_row = self.number(watermark)
        folds = number == self._folds_to
        lowest = self._lowest if folds else number
        exact = and_(of_row >= lowest, of_row <= number) if folds else of_row == number
        if not typed:
            return exact
        # A day wider than the period: where time zones and the ends of the period meet, only the number decides.
        begin, end = max(self._begin(lowest), _LOWEST) - _A_DAY, min(self._end(number), _HIGHEST) + _A_DAY
        return and_(watermark >= begin, watermark < end, exact)

    def usable(self, watermark: ColumnElement[Any]) -> ColumnElement[bool]:
        """Whether a row is in any period that is wanted."""
        of_row = self.number(watermark)
        return and_(of_row >= self._lowest, of_row <= self.of(_HIGHEST))

    def before(self, watermark: ColumnElement[Any], number: int, *, typed: bool) -> ColumnElement[bool]:
        """Whether a row is in a delivery before that of a period."""
        if number == self._folds_to:
            return literal_column("1") == literal_column("0")
        of_row = self.number(watermark)
        exact = and_(of_row >= self._lowest, of_row < number)
        return and_(watermark < min(self._begin(number), _HIGHEST) + _A_DAY, exact) if typed else exact

    def missing(self, watermark: ColumnElement[Any]) -> ColumnElement[bool]:
        """Whether a row's watermark is missing or beyond the calendar."""
        of_row = self.number(watermark)
        return or_(of_row.is_(None), of_row < self.of(_LOWEST), of_row > self.of(_HIGHEST))

    @property
    def _lowest(self) -> int:
        return self.of(_LOWEST if self.since is None else datetime.combine(self.since, time.min))

    @property
    def _folds_to(self) -> int | None:
        return None if self.initial is None else self.of(datetime.combine(self.initial, time.max))

    def _begin(self, number: int) -> datetime:
        digits = str(number).rjust({"hour": 10, "day": 8, "month": 6}[self.period], "0")
        return datetime.strptime(digits, _FORMATS[self.period])  # noqa: DTZ007 - a wall clock

    def _end(self, number: int) -> datetime:
        begin = self._begin(number)
        # A month has no more than 31 days, and the bound is a day too wide anyway.
        return (
            min(begin, _HIGHEST - 31 * _A_DAY)
            + {"hour": timedelta(hours=1), "day": _A_DAY, "month": 31 * _A_DAY}[self.period]
        )
