"""Finds what the institution's own topics name: people, facilities, addresses, numbers, ids.

Belongs here: terms from topics and where they occur, whoever the note's patient is. Does not belong here:
the note's own patient, whose single names count as well (`roster.py`).

Terms that say nothing about anybody are dropped, after paper 001 (Methods, dictionaries): frequent
generic phrases ("primary care") and single words of common English. A term made of common words alone
("May Brown") is found only where every word of it begins with a capital.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.detector import word_list
from deid_platform.detection.naming import capitalised, is_common, person_forms, street_forms, street_without_unit
from deid_platform.detection.reading import Reading, bounded, fold_term
from deid_platform.labels import Label
from deid_platform.notes import Facility, Patient, Provider, Span, Topics

_SOURCE = "gazetteer"
_SCORE = 0.9
_MIN_ID = 5  # shorter ids are counted, dosed and measured too often
_DIGITS = regex.compile(r"\D+")
_WORD = regex.compile(r"[\p{L}\p{N}']+")


class _Case(Enum):
    """How a term must be written in the note to count."""

    ANY = "any"
    TITLE = "every word begins with a capital"
    UPPER = "no small letter"


class Gazetteer:
    """Finds the terms of the topics, whole words only, whatever their case, accents and spacing.

    Args:
        topics: Patients, providers and facilities of the institution.
    """

    def __init__(self, topics: Topics) -> None:
        terms = _Terms(topics)
        self._numbers = terms.numbers
        # The automaton keeps the phrases themselves.
        self._kinds = tuple(terms.phrases.values())
        # Overlapping matches, so that a longer term that fails its word boundary hides no shorter one.
        self._automaton = AhoCorasick(
            terms.phrases, matchkind=MatchKind.Standard, implementation=Implementation.ContiguousNFA
        )

    def __repr__(self) -> str:
        return "<Gazetteer>"

    def find(self, reading: Reading) -> list[Span]:
        """Occurrences of terms and numbers; see `Component`."""
        return [*self._find_terms(reading), *self._find_numbers(reading)]

    def _find_terms(self, reading: Reading) -> Iterator[Span]:
        text = reading.folded.text
        for term, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if not bounded(text, start, end) or (place := reading.interval(start, end)) is None:
                continue
            label, case = self._kinds[term]
            surface = reading.text[place[0] : place[1]]
            if case is _Case.TITLE and not capitalised(surface):
                continue
            if case is _Case.UPPER and surface != surface.upper():
                continue
            yield Span(*place, label, _SCORE, _SOURCE)

    def _find_numbers(self, reading: Reading) -> Iterator[Span]:
        if not self._numbers:
            return
        for start, end, digits in reading.numbers:
            label = self._numbers.get(digits)
            if label is not None:
                yield Span(start, end, label, _SCORE, _SOURCE)


def institution_terms(topics: Topics) -> Iterator[tuple[str, Label]]:
    """The folded terms and the digits that a gazetteer of these topics looks for, with their labels."""
    terms = _Terms(topics)
    yield from ((term, label) for term, (label, _) in terms.phrases.items())
    yield from terms.numbers.items()


class _Terms:
    """What of the topics is worth looking for: phrases with their label and writing, and digits with theirs."""

    def __init__(self, topics: Topics) -> None:
        self.numbers: dict[str, Label] = {}
        self.phrases: dict[str, tuple[Label, _Case]] = {}
        for patient in topics.every_patient():
            self._add_patient(patient)
        for provider in topics.every_provider():
            self._add_provider(provider)
        for facility in topics.every_facility():
            self._add_facility(facility)

    def _add_patient(self, patient: Patient) -> None:
        for form in person_forms(patient.first_name, patient.middle_name, patient.last_name):
            self._add_phrase(form, Label.PATIENT)
        self._add_number(patient.phone, Label.PHONE, minimum=10)
        self._add_number(patient.ssn, Label.SSN, minimum=9)
        self._add_id(patient.mrn, Label.MEDICALRECORD)
        self._add_id(patient.patient_id, Label.IDNUM)
        self._add_id(patient.email, Label.EMAIL)
        self._add_street(patient.street)

    def _add_provider(self, provider: Provider) -> None:
        for form in person_forms(provider.first_name, None, provider.last_name):
            self._add_phrase(form, Label.DOCTOR)
        self._add_number(provider.npi, Label.LICENSE, minimum=10)
        self._add_id(provider.user_id, Label.USERNAME)
        self._add_id(provider.provider_id, Label.IDNUM)

    def _add_facility(self, facility: Facility) -> None:
        if facility.name:
            for form in {facility.name, facility.name.replace("-", " "), facility.name.replace("&", "and")}:
                self._add_phrase(form, Label.HOSPITAL)
        if facility.abbreviation:
            self._add_abbreviation(facility.abbreviation)
        self._add_street(facility.street)
        if facility.city:
            self._add_term(facility.city, Label.CITY, _Case.TITLE)
        self._add_number(facility.phone, Label.PHONE, minimum=10)

    def _add_phrase(self, phrase: str, label: Label) -> None:
        words = _WORD.findall(fold_term(phrase))
        generic = word_list("generic_institution_words")
        if fold_term(phrase) in word_list("generic_phrases") or all(word in generic for word in words):
            return
        common = all(is_common(word) or len(word) <= 2 for word in words)
        if not (common and len(words) == 1):
            self._add_term(phrase, label, _Case.TITLE if common else _Case.ANY)

    def _add_street(self, street: str | None) -> None:
        for form in street_forms(street):
            self._add_phrase(form, Label.STREET)
            self._add_phrase(street_without_unit(form), Label.STREET)

    def _add_abbreviation(self, abbreviation: str) -> None:
        folded = fold_term(abbreviation)
        if len(folded) <= 2 or is_common(folded) or folded in word_list("generic_phrases"):
            return
        self._add_term(abbreviation, Label.HOSPITAL, _Case.ANY if len(folded) >= 6 else _Case.UPPER)

    def _add_id(self, value: str | None, label: Label) -> None:
        if not value or len(value) < _MIN_ID or not (regex.search(r"\d", value) or "@" in value):
            # A user id without a digit is still nobody's word if it is no common one.
            if value and label is Label.USERNAME and len(value) >= 4 and not is_common(fold_term(value)):
                self._add_term(value, label, _Case.ANY)
            return
        self._add_term(value, label, _Case.ANY)

    def _add_number(self, value: str | None, label: Label, *, minimum: int) -> None:
        digits = _DIGITS.sub("", value or "")
        if len(digits) < minimum:
            return
        self.numbers[digits] = label
        if len(digits) == 11 and digits.startswith("1"):
            self.numbers[digits[1:]] = label
        elif label is Label.PHONE:
            self.numbers["1" + digits] = label

    def _add_term(self, term: str, label: Label, case: _Case) -> None:
        folded = fold_term(term)
        if len(folded) < 3:
            return
        known = self.phrases.get(folded)
        # The same words from two rows: the looser writing and the first label stand.
        if known is None or (case is _Case.ANY and known[1] is not _Case.ANY):
            self.phrases[folded] = (known[0] if known else label, case)
