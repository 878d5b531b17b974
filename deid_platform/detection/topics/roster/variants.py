"""What is looked for in the notes of one patient: the lines of words and the digits that their rows give.

Belongs here: the ways in which names, addresses and contacts of the topics are written. Does not belong here:
whether a word at a place in a note is one of them (`search.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import Enum

import regex

from deid_platform.detection.topics.roster.nicknames import pet_names
from deid_platform.labels import Label
from deid_platform.lexicon.classes import is_common, ordinary_words
from deid_platform.lexicon.lists import word_list
from deid_platform.lexicon.nicknames import nicknames_of
from deid_platform.notes import Patient
from deid_platform.text.names import PARTICLES, name_words, single_names, spellings, street_lines
from deid_platform.text.tokens import line_of

_DIGITS = regex.compile(r"\D+")
_NOTE = regex.compile(r"\([^)]*\)|^[^:]*:")
_SHORTEST_FRAGMENTED = 4
_SHORTEST_SPELT = 4
_SHORTEST_HANDLE = 5
_SHORTEST_NUMBER = 5
_LOOK_ALIKE = (("rn", "m"), ("m", "rn"), ("vv", "w"), ("w", "vv"))


class How(Enum):
    """How a term must stand in a note to count."""

    SURE = "in any case"
    CAPITAL = "with a capital letter, or beside another part of the name"
    DWELLING = "with a capital letter, or where it reads as somebody's home"
    CONTEXT = "where it reads as a name"
    SPELT = "with a capital letter, unless it is a doctor's name"
    BESIDE = "only beside another part of the name or after a title"
    SPLIT = "as a word that a line break has parted, or beside another part of the name"
    INITIALS = "where initials stand"


_LOOSEST = (How.SURE, How.DWELLING, How.CAPITAL, How.CONTEXT, How.INITIALS, How.SPLIT)


@dataclass(slots=True, repr=False)
class Variants:
    """What to look for. Its `repr` shows nothing of the patient.

    Attributes:
        terms: Lines of words, each with its label and how it must stand.
        numbers: Digits, each with its label.
        spelt: Words of the names that count with one letter wrong.
        handles: User names made from the names.
        letters: Initials of the given names, alone and together: "j", "t", "jt".
        births: Dates of birth.
    """

    terms: dict[str, tuple[Label, How]] = field(default_factory=dict)
    numbers: dict[str, Label] = field(default_factory=dict)
    spelt: set[str] = field(default_factory=set)
    handles: set[str] = field(default_factory=set)
    letters: set[str] = field(default_factory=set)
    births: set[date] = field(default_factory=set)

    def __repr__(self) -> str:
        return "<Variants>"

    @classmethod
    def of(cls, rows: tuple[Patient, ...]) -> Variants:
        """The variants of a patient's current and former rows."""
        variants = cls()
        # Kind by kind, so that a former name outweighs a city of today, and a number a former ZIP code.
        for row in rows:
            variants._add_own_name(row.first_name, row.middle_name, row.last_name)
        for row in rows:
            for given, surname in _relatives(row.relatives):
                variants._add_names(given, surname)
                variants._add_joined("".join(name_words(given)), "".join(name_words(surname)))
        for row in rows:
            variants._add_address(row)
        for row in rows:
            variants._add_contacts(row)
        return variants

    def _add_names(self, given: str | None, surname: str | None) -> None:
        """Every part of a name, alone and run together."""
        for name in (given, surname):
            words = name_words(name)
            for line in spellings(name):
                self._add(line, Label.PATIENT, _how(line))
                if " " not in line:
                    self._add_spelt(line)
            for word in words:
                if len(words) > 1 and word not in PARTICLES:
                    self._add(word, Label.PATIENT, _how(word))
                    self._add_spelt(word)
            for single in _of_double(name):
                for line in spellings(single):
                    self._add(line, Label.PATIENT, _how(line))
            if len(words) > 1 and words[0] in PARTICLES and len(words[-1]) > 2:
                self._add(words[-1], Label.PATIENT, _how(words[-1]))
        for word in name_words(surname):
            if len(word) >= _SHORTEST_FRAGMENTED and not is_common(word):
                self._add(word + "s", Label.PATIENT, How.CAPITAL)

    def _add_own_name(self, first: str | None, middle: str | None, last: str | None) -> None:
        """A patient's own name: also what it is shortened to, and what a typist or a scanner makes of it."""
        self._add_names(first, last)
        self._add_names(middle, None)
        given, inner, family = name_words(first), name_words(middle), name_words(last)
        for word in (*given, *inner, "".join(given)):
            for nickname in nicknames_of(word) | pet_names(word):
                self._add_nickname(line_of(nickname))
        for word in (*given, *inner, *family):
            self._add_fragments(word)
        main = tuple(word for word in family if word not in PARTICLES) or family[-1:]
        wholes = {"".join(family), *main, *("".join(name_words(single)) for single in _of_double(last))}
        if not given or not main:
            return
        for whole in wholes:
            for name in {"".join(given), given[0]}:
                self._add_joined(name, whole)
            self._add_handles(given[0][0], inner[0][0] if inner else "", whole)
        self._add_initials(given, inner, (family[0], *main))

    def _add_joined(self, name: str, whole: str) -> None:
        """A given name and a surname that have run together."""
        if name and whole and len(name) + len(whole) > 6:
            self._add(name + whole, Label.PATIENT, How.SURE)
            self._add(whole + name, Label.PATIENT, How.SURE)

    def _add_handles(self, first: str, middle: str, whole: str) -> None:
        for handle in (first + whole, whole + first, first + middle + whole, whole + first + middle):
            if len(handle) >= _SHORTEST_HANDLE and handle not in ordinary_words():
                self.handles.add(handle)
                self._add(handle, Label.USERNAME, How.SURE)

    def _add_initials(self, given: tuple[str, ...], inner: tuple[str, ...], family: tuple[str, ...]) -> None:
        firsts = "".join(word[0] for word in given)
        self.letters |= {*firsts, *(word[0] for word in inner), firsts[0] + (inner[0][0] if inner else ""), firsts}
        if len(firsts) > 1:
            self._add(firsts, Label.PATIENT, How.INITIALS)  # Mary Jane, called MJ
        for last in {word[0] for word in family}:
            inners = {"", *(word[0] for word in inner[:1]), firsts[1:]}
            for letters in (firsts[0] + between + last for between in inners):
                self._add(letters, Label.PATIENT, How.INITIALS)
                self._add(" ".join(letters), Label.PATIENT, How.INITIALS)

    def _add_nickname(self, line: str) -> None:
        how = _how(line)
        lone = line in word_list("lone_given_names")
        self._add(line, Label.PATIENT, How.CAPITAL if how is How.SURE and not lone else how)

    def _add_fragments(self, word: str) -> None:
        """A word that was spelled out, or that a line break or a scanner has parted or misread."""
        if len(word) < _SHORTEST_FRAGMENTED or word in PARTICLES:
            return
        self._add(" ".join(word), Label.PATIENT, How.CAPITAL)  # spelled out
        for cut in range(1, len(word)):
            self._add(f"{word[:cut]} {word[cut:]}", Label.PATIENT, How.SPLIT)
        for shape, seen_as in _LOOK_ALIKE:
            place = word.find(shape)
            if place >= 0 and (taken := word[:place] + seen_as + word[place + len(shape) :]) not in ordinary_words():
                self._add(taken, Label.PATIENT, How.CAPITAL)

    def _add_spelt(self, word: str) -> None:
        if len(word) >= _SHORTEST_SPELT and word.isalpha():
            self.spelt.add(word)

    def _add_address(self, patient: Patient) -> None:
        lines = street_lines(patient.street)
        for line in lines:
            self._add(line, Label.STREET, How.SURE)
        if lines and (tokens := lines[0].split())[0].isdigit() and len(tokens) > 1:
            rare = _how(tokens[1]) is How.SURE and len(tokens[1]) > 3
            if rare:
                self._add(" ".join(tokens[:2]), Label.STREET, How.SURE)
            for line in lines:
                if line.count(" ") > 1:
                    self._add(line.partition(" ")[2], Label.STREET, How.SURE if rare else How.DWELLING)
        if patient.city:
            city = line_of(patient.city)
            self._add(city, Label.CITY, How.SURE if _how(city) is How.SURE else How.DWELLING)
        zip5 = _DIGITS.sub("", patient.zip or "")[:5]
        if len(zip5) == 5:
            self.numbers[zip5] = Label.ZIP

    def _add_contacts(self, patient: Patient) -> None:
        if patient.birth_date is not None:
            self.births.add(patient.birth_date)
        if patient.email:
            self._add(line_of(patient.email), Label.EMAIL, How.SURE)
            local = line_of(patient.email.partition("@")[0])
            if len(local) >= _SHORTEST_HANDLE and any(
                w not in self.terms and w not in ordinary_words() for w in local.split()
            ):
                self._add(local, Label.USERNAME, How.SURE)
        self._add_number(patient.phone, Label.PHONE, 7)
        self._add_number(patient.ssn, Label.SSN, 9)
        self._add_identifier(patient.mrn, Label.MEDICALRECORD)
        self._add_identifier(patient.patient_id, Label.IDNUM)

    def _add_identifier(self, value: str | None, label: Label) -> None:
        digits = _DIGITS.sub("", value or "")
        if value and len(value) >= 4 and digits:
            line = line_of(value)
            self._add(line, label, How.SURE)
            self._add(line.replace(" ", ""), label, How.SURE)
        for number in (digits, digits.lstrip("0")):
            if len(number) >= _SHORTEST_NUMBER:
                self.numbers[number] = label

    def _add_number(self, value: str | None, label: Label, minimum: int) -> None:
        digits = _DIGITS.sub("", value or "")
        if len(digits) >= minimum:
            self.numbers[digits] = label
            if label is Label.PHONE:
                # With and without the country code, and as dialled in the same area.
                self.numbers |= dict.fromkeys((digits[-10:], "1" + digits[-10:], digits[-7:]), label)

    def _add(self, line: str, label: Label, how: How) -> None:
        if len(line) < 2:
            return
        known = self.terms.get(line)
        if known is None:
            self.terms[line] = (label, how)
        elif _LOOSEST.index(how) < _LOOSEST.index(known[1]):
            # The label that came first stands; the loosest way of standing counts.
            self.terms[line] = (known[0], how)


def _of_double(name: str | None) -> tuple[str, ...]:
    """The single names of a double one; none of a single one."""
    singles = single_names(name)
    return singles if len(singles) > 1 else ()


def _how(line: str) -> How:
    """How a line of words must stand: as its least ordinary word does."""
    how = How.CONTEXT
    for word in line.split():
        if len(word) <= 2 or is_common(word) or word in word_list("months"):
            continue
        if word not in word_list("ordinary_words"):
            return How.SURE
        how = How.CAPITAL
    return how


def _relatives(names: str | None) -> Iterator[tuple[str, str]]:
    """Given names and surname of each relative that a row names; a single word counts as a given name."""
    for name in (names or "").split(";"):
        plain = _NOTE.sub(" ", name).strip()
        last, comma, first = plain.partition(",")
        if comma:
            yield first, last
            continue
        words = plain.split()
        cut = max(1, len(words) - 1)
        while cut > 1 and words[cut - 1].lower() in PARTICLES:
            cut -= 1
        if words:
            yield " ".join(words[:cut]), " ".join(words[cut:])
