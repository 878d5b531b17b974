"""Fills a carrier's own slots with surrogates.

Belongs here: which surrogate stands in each slot, and one person staying one. Does not belong here: names of people as
they are written (`name_slots.py`), or identifiers that are woven in (`weaving.py`).

Values are the chart's where the note's own patient or institution is meant: the first street of a note is the
patient's, the second the clinic's. Anything else is drawn by what the carrier says there, so that one text has one
surrogate throughout a note, and an institution throughout the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from deid_platform.corpora.injection.carriers import Carrier, Slot
from deid_platform.corpora.injection.chart import Chart
from deid_platform.corpora.injection.edits import Edit, Piece
from deid_platform.corpora.injection.institution import Clinic, Institution
from deid_platform.corpora.injection.name_slots import names_in
from deid_platform.corpora.injection.slots import written_date
from deid_platform.corpora.placeholders import kind_of
from deid_platform.labels import Label
from deid_platform.surrogates.date_order import DateWriting, usual_order
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.institutions import stand_in_place_number
from deid_platform.surrogates.locales import Address
from deid_platform.surrogates.numbers import keyed_draw, stand_in_number
from deid_platform.surrogates.written_dates import shift_text
from deid_platform.text.fold import fold_term

NAMES = (Label.PATIENT, Label.DOCTOR)
_OLD = 89
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BLANK = "___"
_FUTURE, _NOW = re.compile(r"2[12]\d\d"), 2019
_DATE_WORDS = re.compile(r"M{1,2}\s*[/-]\s*D{1,2}\s*[/-]\s*Y{2,4}|Month DD,? YYYY", re.IGNORECASE)
_PATTERNS = {"en": "MM/DD/YYYY", "es": "DD/MM/YYYY", "it": "DD/MM/YYYY", "fr": "DD/MM/YYYY"}
# How the dates of MIMIC-III are written by the kinds of its placeholders; it is English.
_OF_KIND: Mapping[str, str] = {
    "month": "Month", "month day": "Month D", "month day year": "Month D, YYYY", "day month": "D Month",
    "day month year": "D Month YYYY", "month year": "Month YYYY", "month/day": "M/D", "month/day/year": "M/D/YYYY",
    "month/year": "M/YYYY", "year/month": "YYYY/M", "year/month/day": "YYYY/M/D", "year": "YYYY",
}  # fmt: skip
_HOLIDAYS = ("Christmas", "Thanksgiving", "Easter", "Labor Day", "Memorial Day", "Ramadan", "Passover", "Diwali")
_WARDS = ("North", "South", "East", "West")
_OTHER_KINDS: Mapping[str, Callable[[Dice], str]] = {
    "holiday": lambda dice: dice.pick(_HOLIDAYS),
    "pager number": lambda dice: dice.digits(5),
    "po box": lambda dice: str(dice.between(11, 999)),
    **dict.fromkeys(
        ("hospital unit name", "hospital unit number", "hospital ward name", "wardname", "ward name"),
        lambda dice: f"{dice.pick(_WARDS)} {dice.between(2, 12)}",
    ),
}
_ADDRESS: Mapping[Label, Callable[[Address], str]] = {
    Label.STREET: lambda a: a.street,
    Label.CITY: lambda a: a.city,
    Label.STATE: lambda a: a.state or a.city,
    Label.ZIP: lambda a: a.postcode,
    Label.COUNTRY: lambda a: a.country,
}
_PATIENTS: Mapping[Label, str] = {
    Label.MEDICALRECORD: "mrn",
    Label.HEALTHPLAN: "plan",
    Label.ACCOUNT: "account",
    Label.SSN: "national_id",
    Label.VEHICLE: "plate",
    Label.DEVICE: "device",
    Label.BIOID: "biometric",
    Label.PROFESSION: "profession",
    Label.LOCATION_OTHER: "landmark",
}


def filled(carrier: Carrier, chart: Chart, institution: Institution) -> list[Edit]:
    """One edit for each of the carrier's slots."""
    filler = _Filler(carrier, chart, institution)
    names = [slot for slot in carrier.slots if slot.label in NAMES]
    edits = [
        Edit(slot.start, slot.end, (Piece(text, slot.label),))
        for slot, text in zip(names, names_in(carrier, names, chart, institution), strict=True)
    ]
    for slot in carrier.slots:
        if slot.label not in NAMES:
            edits.append(Edit(slot.start, slot.end, filler.pieces(slot)))
    return edits


class _Filler:
    """The values of one note's slots, by what the carrier says in them."""

    def __init__(self, carrier: Carrier, chart: Chart, institution: Institution) -> None:
        self._text = carrier.note.text
        self._chart = chart
        self._institution = institution
        self._said: dict[tuple[Label, str], str] = {}
        self._count: dict[Label, int] = {}
        self._dates = [s.said or self._text[s.start : s.end] for s in carrier.slots if s.label is Label.DATE]
        # Whole weeks, so that days of the week stay true.
        self._days = 7 * chart.dice.between(26, 260) + _from_the_future(carrier)
        patient, (clinic, other) = chart.patient.address, chart.clinics
        self._addresses: Sequence[Address] = (patient, clinic.address, other.address)

    def pieces(self, slot: Slot) -> tuple[Piece, ...]:
        """What stands in a slot: a placeholder may be of a state and a post code."""
        piece = self._piece(slot)
        if not slot.said or kind_of(slot.said) != "state/zipcode":
            return (piece,)
        return Piece(self._chart.patient.address.state, Label.STATE), Piece(" "), piece

    def _piece(self, slot: Slot) -> Piece:
        """What stands in a slot. An age up to 89 stays, and is none; a year alone is none in any corpus."""
        surface = slot.said or self._text[slot.start : slot.end]
        if slot.label is None and slot.said and not slot.said.isdigit():
            pattern = _OF_KIND.get(kind_of(slot.said))
            return Piece(written_date(self._chart.day("past"), pattern, "en") if pattern else _BLANK)
        if slot.label is None or (slot.label is Label.DATE and _YEAR.fullmatch(surface)):
            return Piece(self._year(surface))
        if slot.label is Label.AGE and not (slot.said or _is_over_89(surface)):
            return Piece(surface)
        key = (slot.label, " ".join(fold_term(surface).split()))
        if key not in self._said:
            typed = self._of_kind(slot.label, slot.said, key[1]) if slot.said else ""
            self._said[key] = typed or self._value(slot.label, surface, key[1])
            self._count[slot.label] = self._count.get(slot.label, 0) + 1
        text = self._said[key]
        capitals = surface.isupper() and " " in surface and slot.label in _WORDS
        return Piece(text.upper() if capitals else text, slot.label)

    def _of_kind(self, label: Label, said: str, key: str) -> str:
        """What the kind of a placeholder says more exactly than its label; empty for others."""
        kind, chart = kind_of(said), self._chart
        dice = Dice(self._institution.seed, chart.patient.patient_id, label, key)
        if kind in _OTHER_KINDS:
            return _OTHER_KINDS[kind](dice)
        if kind == "date range":
            first = chart.day("past")
            last = first + timedelta(days=dice.between(1, 20))
            return f"{first.month}/{first.day}-{last.month}/{last.day}"
        if kind in _OF_KIND:
            return written_date(chart.day("past"), _OF_KIND[kind], "en")
        return self._institution.locale.mrn(dice) if label is Label.IDNUM else ""

    def _value(self, label: Label, surface: str, key: str) -> str:
        number = self._count.get(label, 0)
        institution, chart = self._institution, self._chart
        if label in _ADDRESS:
            return _ADDRESS[label](self._addresses[number] if number < 3 else self._drawn(key))
        if number == 0 and label in _PATIENTS:
            return chart.patient.value(_PATIENTS[label])
        dice = Dice(institution.seed, chart.patient.patient_id, label, key)
        locale = institution.locale
        draw = keyed_draw(f"{institution.seed}/{chart.patient.patient_id}".encode()[:64])
        match label:
            case Label.HOSPITAL:
                return stand_in_place_number(draw, surface) or _name(self._clinic(key), surface)
            case Label.ORGANIZATION:
                return locale.employer(Dice(institution.seed, label, key), chart.clinics[0].address, institution.share)
            case Label.DATE:
                return self._date(surface)
            case Label.AGE:
                old = str(dice.between(_OLD + 1, 99))
                return _NUMBER.sub(old, surface) if _NUMBER.match(surface) else old
            case Label.PHONE | Label.FAX:
                return chart.patient.value("phone") if number == 0 else locale.phone(dice, chart.clinics[0].address)
            case Label.EMAIL:
                return chart.patient.value("email") if number == 0 else chart.staff[number % 2].email
            case Label.URL:
                return locale.url(dice, chart.clinics[0].name)
            case Label.USERNAME:
                return chart.staff[number % len(chart.staff)].user
            case Label.PROFESSION:
                return locale.profession(dice, chart.language)
            case Label.LOCATION_OTHER:
                return locale.landmark(dice, chart.clinics[0].address, institution.share)
            case Label.LICENSE:
                return chart.author.license if number == 0 else locale.license(dice)
            case _:
                return stand_in_number(draw, surface) or locale.mrn(dice)

    def _drawn(self, key: str) -> Address:
        return self._institution.locale.address(Dice(self._institution.seed, "address", key), self._institution.share)

    def _clinic(self, key: str) -> Clinic:
        """The corpus's clinic for a name, another one for another name of this note."""
        clinics = self._institution.clinics
        at = Dice(self._institution.seed, "clinic of", key).between(0, len(clinics) - 1)
        return clinics[at]

    def _year(self, surface: str) -> str:
        """A year by itself, moved as the dates are."""
        return str(int(surface) - round(self._days / 365.25)) if surface.isdigit() else surface

    def _date(self, surface: str) -> str:
        language = self._chart.language
        if pattern := _DATE_WORDS.fullmatch(surface.strip()):
            written = "Month DD, YYYY" if pattern[0][2:3].lower() == "n" else "MM/DD/YYYY"
            return written_date(self._chart.day("past"), written, language)
        writing = DateWriting(usual_order(language), zeros=False)
        moved = shift_text(surface, -self._days, language=language, beside=self._dates, writing=writing)
        return moved or written_date(self._chart.day("past"), _PATTERNS[language], language)


def _from_the_future(carrier: Carrier) -> int:
    """How many whole weeks, in days, bring the dates of placeholders from after 2100 to about 2019."""
    years = (int(year[0]) for slot in carrier.slots if (year := _FUTURE.search(slot.said)))
    first = next(years, None)
    return 0 if first is None else 7 * round((first - _NOW) * 365.25 / 7)


_WORDS = frozenset({Label.HOSPITAL, Label.ORGANIZATION, Label.STREET, Label.CITY, Label.STATE, Label.COUNTRY,
                    Label.LOCATION_OTHER})  # fmt: skip


def _name(clinic: Clinic, surface: str) -> str:
    """A clinic's name, or its abbreviation where the carrier has one."""
    return clinic.short if surface.isupper() and " " not in surface and len(surface) <= 6 else clinic.name


def _is_over_89(surface: str) -> bool:
    number = _NUMBER.search(surface)
    return number is not None and int(number[0][:4]) > _OLD
