"""The data model that every room shares: notes, spans, topics and deliveries.

Belongs here: frozen records and the arithmetic that needs nothing but them. Does not belong here:
reading them (`corpora/`), keeping them (`store.py`) or finding anything in them (`detection/`).

No `repr` shows a value: a record that reaches a log or a traceback says only what kind of thing it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label


class _Quiet:
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
class Span:
    """An identifier's place in a text: code points, end exclusive.

    Attributes:
        start: First code point, from 0.
        end: One past the last code point.
        label: What kind of identifier it is.
        score: The detector's confidence, 0 to 1.
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


@dataclass(frozen=True, slots=True, repr=False)
class Patient(_Quiet):
    """One row of the patients topic; all but the id may be missing."""

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


@dataclass(frozen=True, slots=True, repr=False)
class Provider(_Quiet):
    """One row of the providers topic; all but the id may be missing."""

    provider_id: str
    first_name: str | None = None
    last_name: str | None = None
    title: str | None = None
    npi: str | None = None
    user_id: str | None = None


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


@dataclass(frozen=True, slots=True, repr=False)
class Topics(_Quiet):
    """The structured tables that come with notes, each by its id, folded as of one delivery.

    Attributes:
        patients: The current row of each patient.
        providers: The current row of each provider.
        facilities: The current row of each facility.
        former: Earlier rows of a patient that differ from the current one, newest first, each once. A name or
            address that a patient has given up still names the patient in older notes.
        undated: Patients whose current row lost its birth date because it was none; an earlier row's stands in
            when topics are folded.
    """

    patients: Mapping[str, Patient] = field(default_factory=dict)
    providers: Mapping[str, Provider] = field(default_factory=dict)
    facilities: Mapping[str, Facility] = field(default_factory=dict)
    former: Mapping[str, tuple[Patient, ...]] = field(default_factory=dict)
    undated: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        patients: Iterable[Patient] = (),
        providers: Iterable[Provider] = (),
        facilities: Iterable[Facility] = (),
        undated: Iterable[str] = (),
    ) -> Topics:
        """Topics from rows; of two rows with one id the later one stands, and a patient's earlier one is former."""
        known_as: dict[str, list[Patient]] = {}
        for patient in patients:
            known_as.setdefault(patient.patient_id, []).insert(0, patient)
        return cls(
            {patient_id: rows[0] for patient_id, rows in known_as.items()},
            {p.provider_id: p for p in providers},
            {f.facility_id: f for f in facilities},
            {key: former for key, rows in known_as.items() if (former := _differing(rows[0], rows))},
            frozenset(undated),
        )

    def folded(self, upserts: Topics) -> Topics:
        """These topics after a later delivery's upserts: a row replaces the row of its id whole.

        A patient's replaced row is kept in `former`, as are the former rows of both sides. Where a new row lost
        its birth date because it was none, the newest earlier one stands.
        """
        upserts = upserts._dated_by(self)
        patients = {**self.patients, **upserts.patients}
        former = dict(self.former)
        for patient_id in dict.fromkeys((*upserts.patients, *upserts.former)):
            rows = (*upserts.patients_known_as(patient_id), *self.patients_known_as(patient_id))
            former[patient_id] = _differing(patients.get(patient_id), rows)
        return Topics(
            patients,
            {**self.providers, **upserts.providers},
            {**self.facilities, **upserts.facilities},
            {patient_id: rows for patient_id, rows in former.items() if rows},
            (self.undated - upserts.patients.keys()) | upserts.undated,
        )

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
        if patient_id is None:
            return ()
        current = self.patients.get(patient_id)
        return (*(() if current is None else (current,)), *self.former.get(patient_id, ()))

    def __bool__(self) -> bool:
        return bool(self.patients or self.providers or self.facilities or self.former)


def _differing(current: Patient | None, rows: Iterable[Patient]) -> tuple[Patient, ...]:
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
