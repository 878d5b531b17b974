"""Finds the note's own patient: every part of the name, birth date, address, contacts and numbers.

Belongs here: what the topics say, and once said, about the one patient whose note it is. Does not belong
here: other people (`gazetteer.py`), nicknames, initials and misspellings.

The roster always wins: what it finds is never given back as clinical, so that a patient named Bruce stays
hidden on the line of the Bruce protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import lru_cache

import regex
from ahocorasick_rs import AhoCorasick, MatchKind

from deid_platform.detection.naming import (
    capitalised,
    is_common,
    name_parts,
    person_forms,
    reads_as_name,
    street_forms,
    street_without_unit,
)
from deid_platform.detection.reading import Reading, bounded, fold_term
from deid_platform.labels import Label
from deid_platform.notes import Patient, Span, Topics

SOURCE = "roster"
_CACHED_PATIENTS = 256
_DIGITS = regex.compile(r"\D+")
# Between two parts of one name: "Maria T. Lopez", "Lopez, Maria".
_GAP = regex.compile(r"[ \t]*,?[ \t]*(?:\p{L}\.?[ \t]+)?")


class Roster:
    """Finds the patient of each note, by the note's `patient_id`.

    Args:
        topics: Only the patients are used.
    """

    def __init__(self, topics: Topics) -> None:
        self._known_as = topics.patients_known_as
        self._entry = lru_cache(maxsize=_CACHED_PATIENTS)(_Entry)

    def __repr__(self) -> str:
        return "<Roster>"

    def find(self, reading: Reading) -> list[Span]:
        """Occurrences of the note's own patient; see `Component`."""
        rows = self._known_as(reading.note.patient_id)
        return self._entry(rows).find(reading) if rows else []


class _Entry:
    """One patient's terms and numbers, of the current and all former rows, ready to search for."""

    def __init__(self, rows: tuple[Patient, ...]) -> None:
        self._terms: dict[str, tuple[Label, bool]] = {}
        self._numbers: dict[str, Label] = {}
        # Kind by kind, so that a former name outweighs a city of today, and a number a former ZIP code.
        for add in (self._add_names, self._add_address, self._add_contacts):
            for row in rows:
                add(row)
        self._kinds = tuple(self._terms.values())
        self._automaton = AhoCorasick(self._terms, matchkind=MatchKind.Standard)

    def find(self, reading: Reading) -> list[Span]:
        names: list[Span] = []
        doubtful: list[Span] = []
        others: list[Span] = []
        text = reading.folded.text
        for term, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if not bounded(text, start, end) or (place := reading.interval(start, end)) is None:
                continue
            label, sure = self._kinds[term]
            span = Span(*place, label, 1.0, SOURCE)
            if sure:
                (names if label is Label.PATIENT else others).append(span)
            elif label is Label.PATIENT:
                doubtful.append(span)
            elif capitalised(reading.text[place[0] : place[1]]):
                others.append(span)
        for start, end, digits in reading.numbers:
            known = self._numbers.get(digits) or self._numbers.get(digits.lstrip("0"))
            if known is not None:
                others.append(Span(start, end, known, 1.0, SOURCE))
        names.extend(_names_among(reading.text, doubtful, names))
        return [*_joined(reading.text, names), *others]

    def _add_names(self, patient: Patient) -> None:
        for name in (patient.first_name, patient.middle_name, patient.last_name):
            for part in {name or "", *name_parts(name)}:
                folded = fold_term(part)
                if len(folded) >= 2:
                    self._add(part, Label.PATIENT, sure=len(folded) > 2 and not is_common(folded))
        for form in person_forms(patient.first_name, patient.middle_name, patient.last_name):
            parts = regex.findall(r"\p{L}{2,}", form)
            self._add(form, Label.PATIENT, sure=not all(is_common(fold_term(p)) or len(p) <= 2 for p in parts))

    def _add_address(self, patient: Patient) -> None:
        for form in street_forms(patient.street):
            self._add(form, Label.STREET)
            self._add(street_without_unit(form), Label.STREET)
        if patient.city:
            self._add(patient.city, Label.CITY, sure=False)
        zip5 = _DIGITS.sub("", patient.zip or "")[:5]
        if len(zip5) == 5:
            self._numbers[zip5] = Label.ZIP

    def _add_contacts(self, patient: Patient) -> None:
        if patient.birth_date is not None:
            for form in date_forms(patient.birth_date):
                self._add(form, Label.DATE)
        self._add(patient.email, Label.EMAIL)
        self._add_number(patient.phone, Label.PHONE, 7)
        self._add_number(patient.ssn, Label.SSN, 9)
        self._add_identifier(patient.mrn, Label.MEDICALRECORD)
        self._add_identifier(patient.patient_id, Label.IDNUM)

    def _add_identifier(self, value: str | None, label: Label) -> None:
        digits = _DIGITS.sub("", value or "")
        if value and len(value) >= 4 and digits:
            self._add(value, label)
            self._add(regex.sub(r"[\W_]+", "", value), label)
        if value and len(digits) >= 5:
            self._numbers[digits] = label
            self._numbers[digits.lstrip("0")] = label

    def _add_number(self, value: str | None, label: Label, minimum: int) -> None:
        digits = _DIGITS.sub("", value or "")
        if len(digits) >= minimum:
            self._numbers[digits] = label
            if label is Label.PHONE:
                # With and without the country code, and as dialled in the same area.
                self._numbers |= dict.fromkeys((digits[-10:], "1" + digits[-10:], digits[-7:]), label)

    def _add(self, term: str | None, label: Label, *, sure: bool = True) -> None:
        folded = fold_term(term or "")
        if len(folded) >= 2:
            known = self._terms.get(folded)
            self._terms[folded] = (known[0], known[1] or sure) if known else (label, sure)


def date_forms(day: date) -> tuple[str, ...]:
    """A date in the writings that notes use: numeric in both orders, ISO, compact, with the month's name."""
    y, m, d = day.year, day.month, day.day
    month = day.strftime("%B")
    forms = [day.isoformat(), f"{y}{m:02}{d:02}", f"{m:02}{d:02}{y}", f"{y}/{m:02}/{d:02}", f"{y}.{m:02}.{d:02}"]
    for sep in "/-. ":
        for year in (f"{y}", f"{y % 100:02}"):
            for first, second in ((m, d), (d, m)):
                for a in {f"{first}", f"{first:02}"}:
                    forms += [f"{a}{sep}{b}{sep}{year}" for b in {f"{second}", f"{second:02}"}]
    for name in {month, month[:3], f"{month[:3]}.", "Sept" if m == 9 else month}:
        for number in {f"{d}", f"{d:02}", f"{d}{_ordinal(d)}"}:
            forms += [f"{name} {number}, {y}", f"{name} {number} {y}", f"{number} {name} {y}", f"{number} {name}, {y}"]
            forms += [f"{number} of {name} {y}", f"{number}-{name}-{y}", f"{number}-{name}-{y % 100:02}"]
    return tuple(dict.fromkeys(forms))


def _ordinal(number: int) -> str:
    return "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _names_among(text: str, doubtful: list[Span], sure: list[Span]) -> Iterator[Span]:
    """Names that are common words, where they read as names or stand beside another part of the name."""
    edges = sorted({(s.start, s.end) for s in (*sure, *doubtful)})
    for span in doubtful:
        beside = any(
            _GAP.fullmatch(text, end, span.start) or _GAP.fullmatch(text, span.end, start)
            for start, end in edges
            if (end <= span.start <= end + 4) or (span.end <= start <= span.end + 4)
        )
        whole = " " in text[span.start : span.end] and capitalised(text[span.start : span.end])
        if whole or (beside and text[span.start].isupper()) or reads_as_name(text, span.start, span.end):
            yield span


def _joined(text: str, names: list[Span]) -> Iterator[Span]:
    """Names, with the parts of one name and the initial between them as one span."""
    current: Span | None = None
    for span in sorted(names, key=lambda s: (s.start, s.end)):
        if current is None:
            current = span
        elif span.start <= current.end or _GAP.fullmatch(text, current.end, span.start):
            current = Span(current.start, max(current.end, span.end), Label.PATIENT, 1.0, SOURCE)
        else:
            yield current
            current = span
    if current is not None:
        yield current
