"""The data model that all packages share: notes, spans, topics and deliveries.

Belongs here: frozen records and the arithmetic that needs nothing but them. Does not belong here:
reading them (`corpora/`), keeping them (`store/`) or finding anything in them (`detection/`).

No `repr` shows a value: a record that reaches a log or a traceback says only what kind of thing it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import NamedTuple, Self, TypeVar

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Indirect, Label


class _Pickled:
    """Mix-in: pickled as its values, in half the time that a frozen dataclass with slots takes by itself."""

    __slots__: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), tuple([getattr(self, name) for name in self.__slots__])


class _Quiet(_Pickled):
    """Mix-in: a `repr` that names the kind of record and none of its values."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


@dataclass(frozen=True, slots=True, repr=False)
class Note(_Quiet):
    """One clinical note as its source wrote it.

    `note_id` and all other ids are the source's own and therefore identifiers: they stay in the PHI
    zone, as does `note_date`. `text` is kept code point by code point, newlines included.
    """

    note_id: str
    text: str
    patient_id: str | None = None
    encounter_id: str | None = None
    provider_id: str | None = None
    site: str | None = None
    note_type: str | None = None
    note_date: date | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True, order=True)
class Span(_Pickled):
    """An identifier's place in a text: code points, end exclusive.

    Attributes:
        start: First code point, from 0.
        end: One past the last code point.
        label: What kind of identifier it is.
        score: The detector's confidence, 0 to 1; NaN where another detector says none.
        source: Which detector or which gold says so.

    Raises:
        DeidError: `span-bounds` if the span is empty or reversed.
    """

    start: int
    end: int
    label: Label
    score: float = 1.0
    source: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise DeidError(Code.SPAN_BOUNDS, self.source or None)

    def overlaps(self, other: Span) -> bool:
        """Whether the two share at least one code point."""
        return self.start < other.end and other.start < self.end

    def shared(self, other: Span) -> int:
        """How many code points the two share; none or fewer where they lie apart."""
        return min(self.end, other.end) - max(self.start, other.start)


class IndirectMention(NamedTuple):
    """An indirect identifier's place: code points, end exclusive."""

    start: int
    end: int
    category: Indirect


@dataclass(frozen=True, slots=True, repr=False)
class Patient(_Quiet):
    """One row of the patients topic; all but the id may be missing.

    Attributes:
        relatives: Names of relatives and contacts, separated by `;`.
        mother_id: The `patient_id` of the mother, where she is a patient too: the two share their date shift.
    """

    patient_id: str
    first_name: str | None = None
    middle_name: str | None = None
    last_name: str | None = None
    birth_date: date | None = None
    sex: str | None = None
    mrn: str | None = None
    ssn: str | None = None
    phone: str | None = None
    email: str | None = None
    street: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    relatives: str | None = None
    mother_id: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Provider(_Quiet):
    """One row of the providers topic; all but the id may be missing."""

    provider_id: str
    first_name: str | None = None
    last_name: str | None = None
    title: str | None = None
    npi: str | None = None
    user_id: str | None = None
    phone: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Facility(_Quiet):
    """One row of the facilities topic; all but the id may be missing."""

    facility_id: str
    name: str | None = None
    abbreviation: str | None = None
    street: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    phone: str | None = None


Row = TypeVar("Row", bound=Patient | Provider | Facility)


@dataclass(frozen=True, slots=True, repr=False)
class Topics(_Quiet):
    """The structured tables that come with notes, each by its id, folded as of one delivery.

    Attributes:
        patients: The current row of each patient.
        providers: The current row of each provider.
        facilities: The current row of each facility.
        former: Earlier rows of a patient that differ from the current one, newest first, each once. A name or
            address that somebody has given up still names them in older notes.
        undated: Patients whose current row lost its birth date because it was none; an earlier row's stands in
            when topics are folded.
        former_providers: Earlier rows of a provider, as `former` has those of a patient. former_facilities: Earlier
        rows of a facility, likewise. fillers: Last names that stand for most patients, folded, which therefore name
        nobody (`refresh/topics/known.py`); none
            where nobody counted.
        nameless: Whether rows of patients were counted, and none has a last name.
    """

    patients: Mapping[str, Patient] = field(default_factory=dict)
    providers: Mapping[str, Provider] = field(default_factory=dict)
    facilities: Mapping[str, Facility] = field(default_factory=dict)
    former: Mapping[str, tuple[Patient, ...]] = field(default_factory=dict)
    undated: frozenset[str] = frozenset()
    former_providers: Mapping[str, tuple[Provider, ...]] = field(default_factory=dict)
    former_facilities: Mapping[str, tuple[Facility, ...]] = field(default_factory=dict)
    fillers: frozenset[str] = field(default=frozenset(), compare=False)
    nameless: bool = field(default=False, compare=False)

    @classmethod
    def of(
        cls,
        patients: Iterable[Patient] = (),
        providers: Iterable[Provider] = (),
        facilities: Iterable[Facility] = (),
        undated: Iterable[str] = (),
    ) -> Topics:
        """Topics from rows; of two rows with one id the later one stands, and the earlier one is former."""
        current_patients, former = _by_id(patients, "patient_id")
        current_providers, former_providers = _by_id(providers, "provider_id")
        current_facilities, former_facilities = _by_id(facilities, "facility_id")
        return cls(
            current_patients,
            current_providers,
            current_facilities,
            former,
            frozenset(undated),
            former_providers,
            former_facilities,
        )

    def folded(self, upserts: Topics) -> Topics:
        """These topics after a later delivery's upserts: a row replaces the row of its id whole.

        The replaced row is kept as a former one, as are the former rows of both sides. Where a patient's new row
        lost its birth date because it was none, the newest earlier one stands.
        """
        new = upserts._dated_by(self)
        patients, former = _folded(self.patients, self.former, new.patients, new.former)
        providers, former_providers = _folded(
            self.providers, self.former_providers, new.providers, new.former_providers
        )
        facilities, former_facilities = _folded(
            self.facilities, self.former_facilities, new.facilities, new.former_facilities
        )
        undated = (self.undated - new.patients.keys()) | new.undated
        return Topics(patients, providers, facilities, former, undated, former_providers, former_facilities)

    def _dated_by(self, earlier: Topics) -> Topics:
        """These topics with the birth dates of earlier ones where a row here lost its own."""
        patients = dict(self.patients)
        for patient_id in self.undated & patients.keys():
            dates = (row.birth_date for row in earlier.patients_known_as(patient_id))
            known = next((date for date in dates if date is not None), None)
            patients[patient_id] = replace(patients[patient_id], birth_date=known)
        undated = frozenset(key for key in self.undated if key in patients and patients[key].birth_date is None)
        return replace(self, patients=patients, undated=undated)

    def patients_known_as(self, patient_id: str | None) -> tuple[Patient, ...]:
        """All rows of one patient, the current one first, then the former, newest first; empty if unknown."""
        return () if patient_id is None else _known_as(patient_id, self.patients, self.former)

    def every_patient(self) -> Iterator[Patient]:
        """All rows of all patients, current and former."""
        return _every(self.patients, self.former)

    def each_patient(self) -> Iterator[tuple[Patient, ...]]:
        """All rows of one patient after the other, as `patients_known_as` gives them."""
        for patient_id, row in self.patients.items():
            yield (row, *self.former.get(patient_id, ()))
        yield from (rows for patient_id, rows in self.former.items() if patient_id not in self.patients)

    def every_provider(self) -> Iterator[Provider]:
        """All rows of all providers, current and former."""
        return _every(self.providers, self.former_providers)

    def every_facility(self) -> Iterator[Facility]:
        """All rows of all facilities, current and former."""
        return _every(self.facilities, self.former_facilities)

    def __bool__(self) -> bool:
        former = self.former or self.former_providers or self.former_facilities
        return bool(self.patients or self.providers or self.facilities or former)


def _by_id(rows: Iterable[Row], name: str) -> tuple[dict[str, Row], dict[str, tuple[Row, ...]]]:
    """The last row of each id, and the rows before it that differ, newest first."""
    known_as: dict[str, list[Row]] = {}
    for row in rows:
        known_as.setdefault(getattr(row, name), []).insert(0, row)
    former = {key: _differing(found[0], found) for key, found in known_as.items()}
    return {key: found[0] for key, found in known_as.items()}, {key: found for key, found in former.items() if found}


def _folded(
    current: Mapping[str, Row],
    former: Mapping[str, tuple[Row, ...]],
    new: Mapping[str, Row],
    new_former: Mapping[str, tuple[Row, ...]],
) -> tuple[dict[str, Row], dict[str, tuple[Row, ...]]]:
    """Current and former rows after new ones."""
    merged = {**current, **new}
    kept = dict(former)
    for key in dict.fromkeys((*new, *new_former)):
        rows = (*_known_as(key, new, new_former), *_known_as(key, current, former))
        kept[key] = _differing(merged.get(key), rows)
    return merged, {key: rows for key, rows in kept.items() if rows}


def _known_as(key: str, current: Mapping[str, Row], former: Mapping[str, tuple[Row, ...]]) -> tuple[Row, ...]:
    earlier = former.get(key, ())
    return (current[key], *earlier) if key in current else earlier


def _every(current: Mapping[str, Row], former: Mapping[str, tuple[Row, ...]]) -> Iterator[Row]:
    yield from current.values()
    for rows in former.values():
        yield from rows


def _differing(current: Row | None, rows: Iterable[Row]) -> tuple[Row, ...]:
    """Those rows that are not the current one, each once."""
    return tuple(row for row in dict.fromkeys(rows) if row != current)


@dataclass(frozen=True, slots=True, repr=False)
class Withdrawal(_Quiet):
    """A note or a whole patient that must leave research; exactly one of the two ids is set."""

    note_id: str | None = None
    patient_id: str | None = None

    def __post_init__(self) -> None:
        if (self.note_id is None) == (self.patient_id is None):
            raise DeidError(Code.INPUT_INVALID, "withdrawal")


@dataclass(frozen=True, slots=True, repr=False)
class Rejoining(_Quiet):
    """A withdrawn patient who takes part again.

    Withdrawals and rejoinings of a patient are statements in the order of their feed's watermarks: the newest
    counts, and within one delivery the withdrawal.
    """

    patient_id: str


_FEED = re.compile(r"[a-z][a-z0-9_]{0,39}")
# A plain number has at most 7 digits: one more and it could not be told from a date.
_WATERMARK = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T_-]?([0-9]{4}|[0-9]{6})Z?)?|[0-9]{1,7}")


def _check_moment(year: str, month: str, day: str, time: str | None) -> None:
    try:
        datetime.strptime(year + month + day + (time or "").ljust(6, "0"), "%Y%m%d%H%M%S")  # noqa: DTZ007 - a name
    except ValueError:
        raise DeidError(Code.DELIVERY_NAME) from None


@dataclass(frozen=True, slots=True, order=True)
class Delivery:
    """One arrival from one feed: the Dagster partition `<feed>@<watermark>`.

    The watermark is a date (`2026-01-05`), a timestamp (`20260105T0600`) or a number, so that order is
    what the name says, never when the delivery was promoted.

    Raises:
        DeidError: `delivery-name` if the feed or the watermark is not of that form.
    """

    feed: str
    watermark: str

    def __post_init__(self) -> None:
        match = _WATERMARK.fullmatch(self.watermark)
        if not _FEED.fullmatch(self.feed) or match is None:
            raise DeidError(Code.DELIVERY_NAME)
        if match[1] is not None:
            _check_moment(*match.groups())

    @classmethod
    def parse(cls, key: str) -> Delivery:
        """The delivery that a partition key names."""
        feed, separator, watermark = key.partition("@")
        if not separator:
            raise DeidError(Code.DELIVERY_NAME)
        return cls(feed, watermark)

    @property
    def key(self) -> str:
        """The partition key, `<feed>@<watermark>`."""
        return f"{self.feed}@{self.watermark}"

    @property
    def seq(self) -> int:
        """A number that orders the deliveries of one feed: YYYYMMDDhhmmss, or the number itself."""
        match = _WATERMARK.fullmatch(self.watermark)
        assert match is not None  # noqa: S101 - the constructor checked it
        year, month, day, time = match.groups()
        if year is None:
            return int(self.watermark)
        return int(f"{year}{month}{day}{(time or '').ljust(6, '0')}")
