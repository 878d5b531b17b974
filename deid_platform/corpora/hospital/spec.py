"""What one asks the hospital for and what it gives back.

Belongs here: the specification, the delivered records, the names of styles and of identifier shapes. Does
not belong here: how any of it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span, Topics, Withdrawal
from deid_platform.surrogates.pools import Share

DAYS_BETWEEN_DELIVERIES = 7

TYPE_NAMES = {
    # The file of its layouts, and what the `note_type` column says.
    "progress": "progress note",
    "telephone": "telephone encounter",
    "discharge": "discharge summary",
    "referral": "referral letter",
    "consult": "consultation",
    "report": "diagnostic report",
    "h_and_p": "history and physical",
    "operative": "operative report",
    "pathology": "pathology report",
    "radiology": "radiology report",
    "nursing": "nursing note",
    "questionnaire": "questionnaire",
    "email": "e-mail",
}
NOTE_TYPES = tuple(TYPE_NAMES.values())


class Style(StrEnum):
    """Houses of style: how one and the same content is set down."""

    TERSE = "terse"
    TEMPLATED = "templated"
    DICTATED = "dictated"
    TABULAR = "tabular"
    COPIED_FORWARD = "copied-forward"


class Part(StrEnum):
    """Which part of what the hospital can write.

    `HELD_OUT` is what nobody develops on: the note types and styles below, the held-out share of the names, and
    more than a third of the ways of writing. `SHOWN` is the rest of types, styles and ways, with the hospital's own
    names.
    """

    WHOLE = "whole"
    SHOWN = "shown"
    HELD_OUT = "held-out"


HELD_OUT_TYPES = frozenset({"pathology report", "questionnaire", "e-mail"})
HELD_OUT_STYLES = frozenset({Style.DICTATED, Style.COPIED_FORWARD})


class Shape(StrEnum):
    """Identifier shapes that detectors are known to miss.

    Most are those of Murugadoss 2024, table 2 and supplementary table 1; the last ten are what scanners, hurried hands
    and other alphabets make of names, dates and numbers.
    """

    PATIENT_INITIALS = "patient-initials"
    PATIENT_NICKNAME = "patient-nickname"
    PATIENT_MISSPELT = "patient-misspelt"
    PATIENT_COMMON_WORD = "patient-common-word"
    PATIENT_EPONYM = "patient-eponym"
    RELATIVE_INLINE = "relative-inline"
    PROVIDER_INITIALS = "provider-initials"
    PROVIDER_CAPS = "provider-caps"
    NAME_BESIDE_USER_ID = "name-beside-user-id"
    DATE_TYPO = "date-typo"
    MONTH_YEAR = "month-year"
    STANDALONE_DAY = "standalone-day"
    SHORT_PHONE = "short-phone"
    PARTIAL_ADDRESS = "partial-address"
    CAPS_ADDRESS = "caps-address"
    CLINIC_LOCATION = "clinic-location"
    CLINIC_ABBREVIATION = "clinic-abbreviation"
    SPECIMEN_NUMBER = "specimen-number"
    PHARMACY_ADDRESS = "pharmacy-address"
    CC_ORGANIZATION = "cc-organization"
    EMPLOYER = "employer"
    AGE_OVER_89 = "age-over-89"
    NAME_RUN_TOGETHER = "name-run-together"
    NAME_BROKEN = "name-broken"
    NAME_SCANNED = "name-scanned"
    NAME_RESPELT = "name-respelt"
    DATE_IN_WORDS = "date-in-words"
    HOLIDAY = "holiday"
    PHONE_EXTENSION = "phone-extension"
    PARTIAL_NUMBER = "partial-number"
    BARE_NUMBER = "bare-number"


@dataclass(frozen=True)
class HospitalSpec:
    """What to generate.

    Attributes:
        seed: The same seed gives the same bytes on every machine that has the same version of Faker (`pools`).
        notes: Distinct notes over all deliveries; corrected versions come on top.
        patients: Patients with notes; about a quarter of `notes` unless given.
        deliveries: How many arrivals, a week apart. The first holds the bulk; each later one holds new,
            changed, late and withdrawn notes and one withdrawn patient.
        start: Date of the first delivery, its watermark.
        part: Which part of the types, styles, ways and names to write.
        note_types: Only these, of `NOTE_TYPES`; all that the part has unless given.
        styles: Only these; all that the part has unless given.
        names: The share of the name pools; that of the part unless given.

    Raises:
        DeidError: `input-invalid` with the field's name if a number is too small to fill the deliveries or a note
            type does not exist.
    """

    seed: int = 7
    notes: int = 600
    patients: int | None = None
    deliveries: int = 2
    start: date = date(2026, 1, 5)
    part: Part = Part.WHOLE
    note_types: tuple[str, ...] = ()
    styles: tuple[Style, ...] = ()
    names: Share | None = None

    def __post_init__(self) -> None:
        if self.deliveries < 1:
            raise DeidError(Code.INPUT_INVALID, "deliveries")
        if self.notes < 10 * self.deliveries:
            raise DeidError(Code.INPUT_INVALID, "notes")
        if self.patients is not None and not 4 * self.deliveries <= self.patients <= self.notes:
            raise DeidError(Code.INPUT_INVALID, "patients")
        if not set(self.note_types) <= set(NOTE_TYPES):
            raise DeidError(Code.INPUT_INVALID, "note_types")

    @property
    def name_share(self) -> Share:
        """The share of the name pools that people are drawn from."""
        if self.names is not None:
            return self.names
        return Share.HELD_OUT if self.part is Part.HELD_OUT else Share.HOSPITAL

    @property
    def patient_count(self) -> int:
        """How many patients there will be."""
        return self.patients if self.patients is not None else max(4 * self.deliveries, self.notes // 4)

    def day(self, delivery: int) -> date:
        """The date of a delivery, counted from 0."""
        return self.start + timedelta(days=DAYS_BETWEEN_DELIVERIES * delivery)


@dataclass(frozen=True, repr=False)
class Document:
    """A note with what was planted in it.

    Attributes:
        note: The note as the feed shows it.
        gold: Planted identifiers, in order, never overlapping.
        clinical: Planted clinical terms that must survive, `[start, end)` in code points.
        shapes: For each gold span its shape, or None for a common one.
        ways: For each gold span the way of writing that it is an example of (`data/ways`), or None where prose or a
            layout names the identifier in its plain form.
        style: The house of style.
        condition: What the note is mostly about, the name of its prose in `data/pool_conditions.txt`.
    """

    note: Note
    gold: tuple[Span, ...]
    clinical: tuple[tuple[int, int], ...]
    shapes: tuple[Shape | None, ...]
    ways: tuple[str | None, ...] = ()
    style: Style = Style.TEMPLATED
    condition: str = ""

    def __repr__(self) -> str:
        return "<Document>"


@dataclass(frozen=True, repr=False)
class HospitalDelivery:
    """One arrival: what the feed holds, and the gold that it does not.

    Attributes:
        watermark: The delivery's date, ISO.
        notes: New, changed and late notes.
        gold: Identifiers by note_id.
        clinical: Clinical terms that must survive, by note_id.
        shapes: The shape of each gold span, by note_id.
        ways: The way of writing of each gold span, by note_id.
        styles: The house of style, by note_id.
        conditions: What each note is mostly about, by note_id.
        topics: Rows new or changed with this delivery.
        withdrawals: Notes and patients that leave with it.
    """

    watermark: str
    notes: list[Note] = field(default_factory=list)
    gold: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    clinical: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    shapes: Mapping[str, tuple[Shape | None, ...]] = field(default_factory=dict)
    ways: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    styles: Mapping[str, Style] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    topics: Topics = field(default_factory=Topics)
    withdrawals: tuple[Withdrawal, ...] = ()

    def __repr__(self) -> str:
        return f"<HospitalDelivery {self.watermark}>"
