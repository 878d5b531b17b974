"""What one note knows: its patient, family, staff, clinics, days, and the numbers of the note itself.

Belongs here: the values that slots ask for. Does not belong here: how a slot writes them (`slots.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from deid_platform.corpora.injection.institution import Clinic, Institution, Staff
from deid_platform.corpora.injection.patients import PatientFile, Relative
from deid_platform.corpora.injection.words import DEGREES, NURSE_DEGREES, PRONOUNS, SPECIALTIES, TITLES
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import Locale, Person
from deid_platform.surrogates.numbers import DOCUMENTATION_NETS

_DOCTORS = ("doctor", "doctor2", "doctor3", "nurse")
_RELATIVES = ("relative", "relative2")
PEOPLE = ("patient", *_RELATIVES, *_DOCTORS)
"""Roles of people in a note."""
_OF_NOTE = ("encounter", "accession", "ip", "url", "town")


class Chart:
    """One note's values.

    Args:
        institution: Where it is written.
        patient: Whose it is.
        day: When it is written.
        dice: Decides which staff and which clinics, and every draw while the note is written.
        language: Of the note.
    """

    def __init__(self, institution: Institution, patient: PatientFile, *, day: date, dice: Dice, language: str) -> None:
        self.locale: Locale = institution.locale
        self.share = institution.share
        self.patient = patient
        self.dice = dice
        self.language = language
        self._day = day
        self._staff = dict(zip(_DOCTORS, institution.some_staff(dice, len(_DOCTORS) - 1), strict=True))
        clinic, other = dice.some(institution.clinics, 2)
        self._clinics: Mapping[str, Clinic] = {"clinic": clinic, "clinic2": other}
        self._relatives = dict(zip(_RELATIVES, patient.relatives, strict=True))
        self._days: dict[str, date] = {"note": day, "birth": patient.birth}
        self._values: dict[str, str] = {}
        self._title = dice.between(0, 1)

    def __repr__(self) -> str:
        return "<Chart>"

    @property
    def age(self) -> int:
        """The patient's age in full years on the day of the note."""
        born, day = self.patient.birth, self._day
        return day.year - born.year - ((day.month, day.day) < (born.month, born.day))

    @property
    def author(self) -> Staff:
        """Who writes the note."""
        return self._staff["doctor"]

    @property
    def staff(self) -> tuple[Staff, ...]:
        """Physicians, the author first, then the nurse."""
        return tuple(self._staff.values())

    @property
    def clinics(self) -> tuple[Clinic, ...]:
        """Where it is written, and another one."""
        return tuple(self._clinics.values())

    @property
    def relatives(self) -> tuple[Relative, ...]:
        """The patient's relatives."""
        return self.patient.relatives

    def person(self, who: str) -> Person:
        """Somebody by role, one of `PEOPLE`."""
        if who == "patient":
            return self.patient.person
        return self._relatives[who].person if who in self._relatives else self._staff[who].person

    def day(self, which: str) -> date:
        """A day by name; another one of the past each time it is asked for."""
        if which in _FRESH:
            return self._day + timedelta(days=self.dice.between(*_FRESH[which]))
        found = self._days.get(which)
        if found is None:
            admitted = self._day - timedelta(days=self.dice.between(1, 21))
            self._days["admit"] = admitted
            self._days["discharge"] = admitted + timedelta(days=self.dice.between(1, 20))
            found = self._days[which]
        return found

    def value(self, name: str) -> str:
        """A value that is nobody's in particular, or the patient's."""
        if name in _PRONOUN:
            return PRONOUNS[self.patient.sex][name]
        if name in self._clinics:
            return self._clinics[name].name
        if name == "license":
            return self.author.license
        if name not in _OF_NOTE:
            return self.patient.value(name)
        found = self._values.get(name)
        if found is None or name == "town":
            found = self._values[name] = _DRAWN[name](self)
        return found

    def field(self, who: str, field: str, language: str) -> str:
        """A field of somebody or of a clinic, as in `patient.city`."""
        if field == "title":
            return self._titled(who, language)
        if who in self._clinics:
            return _CLINIC[field](self._clinics[who])
        if who == "patient":
            return _ADDRESS[field](self.patient) if field in _ADDRESS else self.patient.value(field)
        if who in self._relatives:
            return _RELATIVE[field](self, self._relatives[who])
        if field == "specialty":
            return SPECIALTIES[language][(hash_of(who) + self._title) % len(SPECIALTIES[language])]
        return str(getattr(self._staff[who], field))

    def holds(self, guards: frozenset[str]) -> bool:
        """Whether what a way's guards ask is true of this note."""
        return all(_GUARDS[guard](self) for guard in guards)

    def _titled(self, who: str, language: str) -> str:
        if who in _DOCTORS:
            degrees = (NURSE_DEGREES if who == "nurse" else DEGREES)[language]
            return degrees[(hash_of(who) + self._title) % len(degrees)]
        titles = TITLES[language][self.person(who).sex]
        return titles[self._title % len(titles)]


_FRESH: Mapping[str, tuple[int, int]] = {"past": (-200, -2), "old": (-6000, -400), "next": (2, 90)}
_PRONOUN = frozenset(PRONOUNS["F"])
_GUARDS: Mapping[str, Callable[[Chart], bool]] = {
    "male": lambda c: c.patient.sex == "M",
    "female": lambda c: c.patient.sex == "F",
    "rel-male": lambda c: c.person("relative").sex == "M",
    "rel-female": lambda c: c.person("relative").sex == "F",
    "doc-male": lambda c: c.person("doctor").sex == "M",
    "doc-female": lambda c: c.person("doctor").sex == "F",
}
_CLINIC: Mapping[str, Callable[[Clinic], str]] = {
    "short": lambda c: c.short,
    "street": lambda c: c.address.street,
    "city": lambda c: c.address.city,
    "state": lambda c: c.address.state,
    "zip": lambda c: c.address.postcode,
    "phone": lambda c: c.phone,
    "fax": lambda c: c.fax,
}
_ADDRESS: Mapping[str, Callable[[PatientFile], str]] = {
    "street": lambda p: p.address.street,
    "city": lambda p: p.address.city,
    "state": lambda p: p.address.state,
    "zip": lambda p: p.address.postcode,
    "country": lambda p: p.address.country,
}
_RELATIVE: Mapping[str, Callable[[Chart, Relative], str]] = {
    "kin": lambda _, r: r.kin,
    "Kin": lambda _, r: r.kin[:1].upper() + r.kin[1:],
    "city": lambda _, r: r.address.city,
    "phone": lambda _, r: r.phone,
    "email": lambda _, r: r.email,
    "profession": lambda c, _: c.locale.profession(c.dice, c.language),
}
_DRAWN: Mapping[str, Callable[[Chart], str]] = {
    "encounter": lambda c: c.dice.digits(c.dice.between(7, 10)),
    "accession": lambda c: f"{c.dice.pick(('S', 'SP', 'US', 'CT', 'R'))}{c._day.year % 100:02d}-{c.dice.digits(5)}",
    "ip": lambda c: f"{c.dice.pick(DOCUMENTATION_NETS)}.{c.dice.between(1, 254)}",
    "url": lambda c: c.locale.url(c.dice, c.clinics[0].name),
    "town": lambda c: c.locale.town(c.dice, c.share),
}


def hash_of(text: str) -> int:
    """A small number that a text always gives."""
    return sum(map(ord, text))
