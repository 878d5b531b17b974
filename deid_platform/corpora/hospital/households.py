"""Patients and their families.

Belongs here: households, and what a patient brings along: address, numbers, relatives, conditions. Does
not belong here: staff and facilities (`institution`) or notes (`deliveries`).

Patients come in households, so that relatives named in one note may be patients of their own: couples,
siblings, a parent with a child, a mother with her newborn. Shares are chosen for coverage of name shapes
rather than after a census: about one patient in twelve bears a name that is an English word, one in
twenty a surname that is also an eponym, one in sixteen is over 89.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

from deid_platform.corpora.hospital import draws, identifiers, library
from deid_platform.corpora.hospital.library import City, Condition
from deid_platform.corpora.hospital.people import Institution, Kin, Resident, age_on, ascii_slug, facts_of
from deid_platform.corpora.hospital.spec import HospitalSpec
from deid_platform.notes import Facility, Patient
from deid_platform.surrogates.dice import Dice

_MAIL_HOSTS = ("example.com", "example.org", "example.net", "mail.example.com")
_HOUSEHOLDS = (("single", 0.68), ("couple", 0.12), ("siblings", 0.06), ("child", 0.09), ("newborn", 0.05))
_KIN = (
    ("daughter", "F"),
    ("son", "M"),
    ("wife", "F"),
    ("husband", "M"),
    ("sister", "F"),
    ("brother", "M"),
    ("niece", "F"),
    ("nephew", "M"),
    ("mother", "F"),
    ("father", "M"),
)


def settle(
    spec: HospitalSpec, place: Institution, clinics: tuple[Facility, ...], region: tuple[City, ...]
) -> tuple[Resident, ...]:
    """Fill the region until there are patients enough; they come back in the order of their ids."""
    return _Households(spec, place, clinics, region).residents()


@dataclass(frozen=True, repr=False)
class _Person:
    first: str
    last: str
    sex: str
    born: date
    kin: str
    phone: str


class _Households:
    """Fills the region with households until there are patients enough."""

    def __init__(
        self, spec: HospitalSpec, place: Institution, clinics: tuple[Facility, ...], region: tuple[City, ...]
    ) -> None:
        self._spec = spec
        self._place = place
        self._region = region
        self._clinics = clinics
        self._pharmacies = [
            draws.organization(Dice(spec.seed, "pharmacy", n), name, region[n % len(region)])
            for n, name in enumerate(library.words("pharmacies"))
        ]
        self._employers = [
            draws.organization(Dice(spec.seed, "employer", n), name, region[n % len(region)])
            for n, name in enumerate(library.words("employers"))
        ]
        self._found: list[Resident] = []
        self._locale = ""  # of the household under way

    def residents(self) -> tuple[Resident, ...]:
        """All patients in the order of their ids."""
        total, later = self._spec.patient_count, self._spec.deliveries - 1
        # A fifth of the patients come with later deliveries, at least two with each.
        each = max(2, total // (5 * later)) if later else 0
        bounds = [total - each * (later - k) for k in range(later + 1)]
        household = 0
        while len(self._found) < total:
            dice = Dice(self._spec.seed, "household", household)
            # The second household is a mother and her newborn at every size.
            kind = "newborn" if household == 1 else dice.weighted(_HOUSEHOLDS)
            if len(self._found) == total - 1:
                kind = "single"
            arrival = next(k for k, bound in enumerate(bounds) if len(self._found) < bound)
            self._settle(dice, kind, arrival)
            household += 1
        return tuple(self._found)

    def _settle(self, dice: Dice, kind: str, arrival: int) -> None:
        self._locale = draws.locale(dice)
        last = self._family_name(dice)
        city = dice.pick(self._region) if dice.chance(0.8) else dice.pick(library.cities())
        home = (draws.address(dice), city)
        today = self._spec.day(arrival)
        if kind == "newborn":
            born = today - timedelta(days=dice.between(45, 420))
            mother = self._person(dice, "F", today - timedelta(days=dice.between(22 * 365, 38 * 365)), last, "mother")
            child_sex = "F" if dice.chance(0.5) else "M"
            child = self._person(dice, child_sex, born, last, "daughter" if child_sex == "F" else "son")
            child = self._unlike(child, mother, dice)
            father = self._relative(dice, "father", last, "M")
            mothers_id = self._admit(
                dice, mother, [replace(father, kin="husband"), child], home, arrival, "postpartum", born
            )
            self._admit(dice, child, [mother, father], home, arrival, "newborn", born, mothers_id)
            return
        if kind == "couple":
            one, two = self._adult(dice, "F", last, today, "wife"), self._adult(dice, "M", last, today, "husband")
            self._admit(dice, one, [two, self._kin(dice, one, "husband")], home, arrival)
            self._admit(dice, two, [one, self._kin(dice, two, "wife")], home, arrival)
            return
        if kind == "siblings":
            one, two = self._adult(dice, "F", last, today, "sister"), self._adult(dice, "M", last, today, "brother")
            self._admit(dice, one, [two, self._kin(dice, one, "brother")], home, arrival)
            self._admit(dice, two, [one, self._kin(dice, two, "sister")], (draws.address(dice), city), arrival)
            return
        if kind == "child":
            sex = "F" if dice.chance(0.5) else "M"
            born = today - timedelta(days=dice.between(2 * 365, 16 * 365))
            parents = [self._relative(dice, "mother", last, "F"), self._relative(dice, "father", last, "M")]
            self._admit(dice, self._person(dice, sex, born, last, ""), parents, home, arrival)
            return
        sex = "F" if dice.chance(0.5) else "M"
        person = self._adult(dice, sex, last, today, "")
        nearest = self._kin(dice, person, "")
        self._admit(dice, person, [nearest, self._kin(dice, person, nearest.kin)], home, arrival)

    def _family_name(self, dice: Dice) -> str:
        if dice.chance(0.05):
            return dice.pick(library.words("surnames_eponyms"))
        return self._surname(dice)

    def _surname(self, dice: Dice) -> str:
        return draws.surname(dice, self._spec.name_share, self._locale)

    def _first_name(self, dice: Dice, sex: str) -> str:
        return draws.first_name(dice, sex, self._spec.name_share, self._locale)

    def _adult(self, dice: Dice, sex: str, last: str, today: date, kin: str) -> _Person:
        years = dice.weighted((((18, 39), 0.22), ((40, 64), 0.38), ((65, 89), 0.33), ((91, 98), 0.07)))
        born = today - timedelta(days=dice.between(years[0] * 366 + 400, years[1] * 365))
        return self._person(dice, sex, born, last, kin)

    def _person(self, dice: Dice, sex: str, born: date, last: str, kin: str) -> _Person:
        first = self._first_name(dice, sex)
        if dice.chance(0.05):
            first = dice.pick([name for name, of in library.pairs("first_common_words") if of == sex])
        return _Person(first, last, sex, born, kin, identifiers.phone(dice, dice.pick(self._region).area_code))

    def _kin(self, dice: Dice, person: _Person, but: str) -> _Person:
        """A relative whom someone of that age can have, other than of the kind `but`."""
        years = age_on(person.born, self._spec.start)
        # One spouse of the other sex at most, parents only for those young enough to have them.
        barred = {but, "wife" if person.sex == "F" else "husband"} | ({"mother", "father"} if years > 62 else set())
        barred |= {"daughter", "son"} if years < 38 else set()
        kin, sex = dice.pick([(kin, sex) for kin, sex in _KIN if kin not in barred])
        return self._unlike(self._relative(dice, kin, person.last, sex), person, dice)

    def _relative(self, dice: Dice, kin: str, last: str, sex: str) -> _Person:
        return self._person(dice, sex, self._spec.start, last if dice.chance(0.75) else self._surname(dice), kin)

    def _unlike(self, relative: _Person, person: _Person, dice: Dice) -> _Person:
        """The relative, under another first name if the two share theirs."""
        while relative.first == person.first:
            relative = replace(relative, first=self._first_name(dice, relative.sex))
        return relative

    def _admit(
        self,
        dice: Dice,
        person: _Person,
        relatives: list[_Person],
        home: tuple[str, City],
        arrival: int,
        situation: str = "",
        delivered: date | None = None,
        mother_id: str | None = None,
    ) -> str:
        """Make a patient of the person; returns the patient's id."""
        number = len(self._found) + 1
        street, city = home
        chart_day = delivered or self._spec.day(arrival)
        facts = facts_of(person.born, person.sex, chart_day)
        middle = dice.pick("ABCDEFGHJKLMNPRSTVW") if dice.chance(0.85) else ""
        minor = "adult" not in facts
        email = f"{ascii_slug(person.first)}.{ascii_slug(person.last)}{dice.between(1, 99)}@{dice.pick(_MAIL_HOSTS)}"
        patient = Patient(
            patient_id=f"P{number:05d}",
            first_name=person.first,
            middle_name=middle or None,
            last_name=person.last,
            birth_date=person.born,
            sex=person.sex,
            mrn=f"{dice.between(1, 9)}{dice.digits(dice.pick((6, 7)))}",
            ssn=identifiers.ssn(dice) if dice.chance(0.9) else None,
            phone=identifiers.phone(dice, city.area_code, style=1),
            email=None if minor else email,
            street=street,
            city=city.name,
            state=city.state,
            zip=city.zip,
            relatives=_contacts(Dice(self._spec.seed, "contacts", number), relatives),
            mother_id=mother_id,
        )
        self._found.append(
            Resident(
                patient=patient,
                arrival=arrival,
                born=person.born,
                sex=person.sex,
                first=person.first,
                last=person.last,
                middle=middle,
                nickname=library.nicknames().get(person.first, ""),
                kin=tuple(Kin(r.kin, r.first, r.last, r.sex, r.phone) for r in relatives),
                clinic=dice.pick(self._clinics),
                pcp=dice.pick(self._place.by_role["physician"] + self._place.by_role["advanced"]),
                employer=dice.pick(self._employers),
                pharmacy=dice.pick(self._pharmacies),
                plan_id=f"{identifiers.letters(dice, 3)}{dice.digits(9)}",
                account=f"{dice.between(1, 9)}{dice.digits(8)}",
                chronic=_chronic(dice, facts, mild=bool(situation)),
                situation=situation,
                delivered=delivered if situation == "postpartum" else None,
            )
        )
        return patient.patient_id


def _contacts(dice: Dice, relatives: list[_Person]) -> str | None:
    """Whom the registration knows: usually both relatives, sometimes the nearest alone, sometimes nobody."""
    known = dice.weighted(((2, 0.6), (1, 0.25), (0, 0.15)))
    return "; ".join(f"{person.first} {person.last}" for person in relatives[:known]) or None


def _chronic(dice: Dice, facts: frozenset[str], *, mild: bool) -> tuple[str, ...]:
    """Two conditions that a patient keeps; common ones four times as likely as rare ones."""
    left: list[tuple[Condition, float]] = [
        (c, 1.0 if "rare" in c.kinds else 4.0)
        for c in library.conditions()
        if "chronic" in c.kinds and c.who <= facts and (not mild or "mild" in c.kinds)
    ]
    found: list[str] = []
    while left and len(found) < 2:
        drawn = dice.weighted(left)
        found.append(drawn.key)
        left = [(c, weight) for c, weight in left if c is not drawn]
    return tuple(found)
