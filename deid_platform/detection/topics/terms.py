"""The terms of an institution's topics that are searched for in all notes.

Belongs here: the terms of patients, providers and facilities, in the form of the line of words. Does not belong
here: finding them (`gazetteer.py`), or what is searched for in one patient's own notes (`roster/`).

Names of people are kept as pairs of one given name and one word of the surname: one short entry instead of ten for all
orders, particles and initials. Terms that identify nobody are dropped, after Murugadoss 2024 (Methods, dictionaries):
generic phrases ("primary care") and single words of common English.

What grows with every patient stands in tables, which may be dictionaries or, where nobody reads the terms back, hashed
ones; what a language or an institution limits (words of names, facilities, staff) stands in collections of strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

import regex

from deid_platform.labels import Label
from deid_platform.large_tables.hashed_table import Table
from deid_platform.lexicon.classes import is_common, ordinary_words
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Facility, Patient, Provider, Topics
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES, name_words, single_names, street_lines
from deid_platform.text.tokens import line_of

_MIN_ID = 5  # shorter ids are counted, dosed and measured too often
_MIN_PHRASE = 3
_MIN_ALONE = 4  # letters of a word that names a clinic or a provider by itself
_LOCAL = 7
_DIGIT = regex.compile(r"\d")
_DIGITS = regex.compile(r"\D+")
_SHORT_FORMS = {
    "center": "ctr", "centre": "ctr", "hospital": "hosp", "medical": "med", "university": "univ", "saint": "st",
    "mount": "mt", "department": "dept", "associates": "assoc", "clinic": "cln", "medicine": "med",
    "pediatrics": "peds", "orthopedics": "ortho", "surgery": "surg", "health": "hlth", "regional": "reg",
}  # fmt: skip
_LONG_FORMS = {
    "ctr": "center",
    "hosp": "hospital",
    "med": "medical",
    "univ": "university",
    "st": "saint",
    "mt": "mount",
}


class Case(Enum):
    """How a term must be written in the note to count."""

    ANY = "any"
    TITLE = "every word begins with a capital"
    UPPER = "no small letter"


class _Table(Table[Label], Protocol):
    def setdefault(self, key: str, value: Label, /) -> Label: ...

    def __len__(self) -> int: ...


T = TypeVar("T", bound=_Table)


class Terms(Generic[T]):
    """What to look for. Its `repr` shows nothing of the topics.

    Args:
        topics: Of the institution, or some of their rows.
        table: Makes an empty table.

    Attributes:
        phrases: Lines of words, each with its label, how it must be written, and whether it is the whole name.
        ids: Patients' ids with a digit in them that are more than digits, as lines of words.
        id_shapes: By the length of the first word with a digit in those lines: how many words stand before it, and how
            many words there are.
        streets: Street addresses, as lines of words.
        street_heads: The first two words of those whose first word has a digit.
        street_numbers: That word.
        named_streets: The first two words of the others.
        longest_street: How many words the longest one has.
        emails: Addresses in small letters.
        pairs: "given surname" of each person, by single words.
        first_names: Each word that is the first of a pair.
        surnames: Each word of a surname, with the label of those who bear it.
        providers: Words of providers' surnames that hardly stand for anything else.
        family: All words of providers' surnames.
        initialled: The same with the initial of a given name: "t bell".
        givens: Words of providers' given names.
        numbers: Digits of ten and more, and of ids.
        local: Digits of telephones as dialled in the same area.
    """

    def __init__(self, topics: Topics, table: Callable[[], T]) -> None:
        self.phrases: dict[str, tuple[Label, Case, bool]] = {}
        self.ids = table()
        self.id_shapes: dict[int, set[tuple[int, int]]] = {}
        self.streets = table()
        self.street_heads = table()
        self.street_numbers: set[str] = set()
        self.named_streets: dict[str, None] = {}
        self.longest_street = 0
        self.emails = table()
        self.pairs = table()
        self.first_names: set[str] = set()
        self.surnames: dict[str, Label] = {}
        self.providers: set[str] = set()
        self.family: set[str] = set()
        self.initialled: set[str] = set()
        self.givens: set[str] = set()
        self.numbers = table()
        self.local: set[str] = set()
        for patient in topics.every_patient():
            self._add_patient(patient)
        for provider in topics.every_provider():
            self._add_provider(provider)
        for facility in topics.every_facility():
            self._add_facility(facility)

    def __repr__(self) -> str:
        return "<Terms>"

    def _add_patient(self, patient: Patient) -> None:
        self._add_person(patient.first_name, patient.middle_name, patient.last_name, Label.PATIENT)
        self._add_number(patient.phone, Label.PHONE, minimum=10)
        self._add_number(patient.ssn, Label.SSN, minimum=9)
        self._add_patient_id(patient.mrn, Label.MEDICALRECORD)
        self._add_patient_id(patient.patient_id, Label.IDNUM)
        if patient.email and "@" in patient.email:
            # Past its cache, which nearly every address would only fill.
            self.emails.setdefault(fold_term.__wrapped__(patient.email), Label.EMAIL)
        self._add_street(patient.street)

    def _add_provider(self, provider: Provider) -> None:
        self._add_person(provider.first_name, None, provider.last_name, Label.DOCTOR)
        given = name_words(provider.first_name)
        self.givens.update(word for word in given if len(word) > 2)
        for word in name_words(provider.last_name):
            if len(word) > 2 and word not in PARTICLES:
                self.family.add(word)
                self.initialled.update(f"{name[0]} {word}" for name in given)
                self._add_handle(f"{''.join(given)}{word}", len(given))
                for name in given:
                    self._add_user_name(f"{name[0]}{word}")
                    self._add_user_name(f"{word}{name[0]}")
            if len(word) >= _MIN_ALONE and word.isalpha() and not _stands_for_else(word):
                self.providers.add(word)
        self._add_number(provider.npi, Label.LICENSE, minimum=10)
        self._add_number(provider.phone, Label.PHONE, minimum=10)
        self._add_local(provider.phone)
        self._add_id(provider.user_id, Label.USERNAME)
        self._add_id(provider.provider_id, Label.IDNUM)

    def _add_handle(self, line: str, parts: int) -> None:
        """A name whose words have run together: "@TerryBell"."""
        if parts and len(line) >= _LOCAL and line not in ordinary_words():
            self._add_phrase(line, Label.DOCTOR, Case.TITLE)

    def _add_user_name(self, line: str) -> None:
        """A surname and an initial run together: "imarchetti"."""
        if len(line) >= _LOCAL and not _stands_for_else(line) and line not in word_list("surnames"):
            self._add_phrase(line, Label.USERNAME, Case.ANY)

    def _add_facility(self, facility: Facility) -> None:
        if facility.name:
            self._add_facility_name(facility.name)
        if facility.abbreviation:
            self._add_abbreviation(facility.abbreviation)
        self._add_street(facility.street)
        if facility.city:
            self._add_phrase(line_of(facility.city), Label.CITY, Case.TITLE)
        self._add_number(facility.phone, Label.PHONE, minimum=10)
        self._add_local(facility.phone)

    def _add_person(self, first: str | None, middle: str | None, last: str | None, label: Label) -> None:
        family = name_words(last)
        if not family:
            return
        mains = [word for word in family if word not in PARTICLES and len(word) > 1]
        if len(family) > 1:
            mains += ["".join(family), *("".join(name_words(single)) for single in single_names(last))]
        given = [word for word in name_words(first) if len(word) > 1]
        if len(given) > 1:
            given.append("".join(given))
        given += [word for word in name_words(middle) if len(word) > 2]
        for main in mains:
            self.surnames.setdefault(main, label)
            for name in given:
                if name != main:
                    self.pairs.setdefault(f"{name} {main}", label)
                    self.first_names.add(name)

    def _add_facility_name(self, name: str) -> None:
        """A clinic's name, also with its words shortened or written out, and its own part without the generic one."""
        lines = {line_of(name), line_of(name.replace("&", " and ")), line_of(regex.sub(r"\band\b", " ", name))}
        for line in tuple(lines):
            words = line.split()
            lines.add(" ".join(_SHORT_FORMS.get(word, word) for word in words))
            lines.add(" ".join(_LONG_FORMS.get(word, word) for word in words))
        for line in sorted(lines):
            if not _is_generic(line):
                self._add_own(line, whole=True)
        words = line_of(name).split()
        first_generic = next((i for i, word in enumerate(words) if _generic(word)), len(words))
        last_own = max((i for i, word in enumerate(words) if not (_generic(word) or word.isdigit())), default=-1)
        for cut in {first_generic, last_own + 1} - {0, len(words)}:
            own = " ".join(words[:cut])
            if not _is_generic(own):
                self._add_own(own, whole=False)

    def _add_own(self, line: str, *, whole: bool) -> None:
        words = line.split()
        if len(words) == 1:
            if len(line) >= _MIN_ALONE and line not in ordinary_words():
                self._add_phrase(line, Label.HOSPITAL, Case.TITLE, whole=whole)
            return
        common = all(is_common(word) or len(word) <= 2 for word in words)
        # Part of a name made of everyday words is too little.
        if whole or not all(is_common(word) or _generic(word) for word in words):
            self._add_phrase(line, Label.HOSPITAL, Case.TITLE if common or not whole else Case.ANY, whole=whole)

    def _add_abbreviation(self, abbreviation: str) -> None:
        line = line_of(abbreviation)
        if len(line) <= 2 or is_common(line) or _is_generic(line) or line in word_list("short_abbreviations"):
            return
        self._add_phrase(line, Label.HOSPITAL, Case.ANY if len(line) >= 6 else Case.UPPER)

    def _add_street(self, street: str | None) -> None:
        for line in street_lines(street):
            first, second, *rest = line.split()
            if not first.isdigit() and is_common(second) and not rest:
                continue
            self.streets.setdefault(line, Label.STREET)
            self.longest_street = max(self.longest_street, 2 + len(rest))
            head = f"{first} {second}"
            if _DIGIT.search(first):
                self.street_heads.setdefault(head, Label.STREET)
                self.street_numbers.add(first)
            else:
                self.named_streets[head] = None

    def _add_patient_id(self, value: str | None, label: Label) -> None:
        line = line_of(value or "")
        words = line.split()
        before = next((number for number, word in enumerate(words) if _DIGIT.search(word)), None)
        if before is None or line.isdigit() or len(line) < _MIN_PHRASE or len(value or "") < _MIN_ID:
            self._add_id(value, label)
            return
        self.ids.setdefault(line, label)
        self.id_shapes.setdefault(len(words[before]), set()).add((before, len(words)))

    def _add_id(self, value: str | None, label: Label) -> None:
        if not value:
            return
        line = line_of(value)
        if len(value) >= _MIN_ID and _DIGIT.search(value):
            if line.isdigit():
                self.numbers.setdefault(line, label)
            else:
                self._add_phrase(line, label, Case.ANY)
        elif label is Label.USERNAME and len(value) >= _MIN_ALONE and line not in ordinary_words():
            # A user id without a digit is still nobody's word.
            self._add_phrase(line, label, Case.ANY)

    def _add_number(self, value: str | None, label: Label, *, minimum: int) -> None:
        digits = _DIGITS.sub("", value or "")
        if len(digits) == 11 and digits[0] == "1":
            digits = digits[1:]
        if len(digits) >= minimum:
            self.numbers.setdefault(digits, label)

    def _add_local(self, phone: str | None) -> None:
        digits = _DIGITS.sub("", phone or "")
        if len(digits) >= _LOCAL:
            self.local.add(digits[-_LOCAL:])

    def _add_phrase(self, line: str, label: Label, case: Case, *, whole: bool = True) -> None:
        # An id of a patient is looked for already, however it is written.
        if len(line) < _MIN_PHRASE or line in self.ids:
            return
        known = self.phrases.get(line)
        # The same words from two rows: the looser writing and the first label stand.
        if known is None or (case is Case.ANY and known[1] is not Case.ANY):
            self.phrases[line] = _kind(known[0] if known else label, case, whole)


def institution_terms(topics: Topics) -> Iterator[tuple[str, Label]]:
    """The terms and the digits that a gazetteer of these topics looks for, with their labels."""
    terms = Terms[dict[str, Label]](topics, dict)
    yield from ((term, kind[0]) for term, kind in terms.phrases.items())
    for table in (terms.ids, terms.pairs, terms.streets, terms.emails, terms.numbers):
        yield from table.items()
    yield from ((word, Label.DOCTOR) for word in sorted(terms.providers))
    yield from ((digits, Label.PHONE) for digits in sorted(terms.local))


def _stands_for_else(word: str) -> bool:
    """Whether a word with a capital may well be something else than a surname."""
    return word in ordinary_words() or word in word_list("cities") or word in word_list("countries")


@lru_cache(maxsize=256)
def _kind(label: Label, case: Case, whole: bool) -> tuple[Label, Case, bool]:
    """One tuple for all terms of a kind."""
    return label, case, whole


def _generic(word: str) -> bool:
    return word in word_list("generic_institution_words") or len(word) == 1


def _is_generic(line: str) -> bool:
    return line in _generic_lines() or all(map(_generic, line.split()))


@lru_cache(maxsize=1)
def _generic_lines() -> frozenset[str]:
    return frozenset(map(line_of, word_list("generic_phrases")))
