"""The institution of a surrogate corpus: its staff and its clinics, the same in all its notes.

Belongs here: who works there and where, with the rows of the topics. Does not belong here: patients (`patients.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from deid_platform.notes import Facility, Provider
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import Address, Locale, Person, slug
from deid_platform.surrogates.pools import Share

NURSES = 4
"""Every so manyth of the staff is a nurse."""


@dataclass(frozen=True, slots=True, repr=False)
class Staff:
    """A clinician.

    Attributes:
        provider_id: As in the topics.
        person: The name.
        place: Where the telephone is.
        nurse: Whether a nurse.
    """

    provider_id: str
    person: Person
    nurse: bool
    phone: str
    pager: str
    email: str
    user: str
    license: str

    def row(self) -> Provider:
        """The row of the topics."""
        p = self.person
        return Provider(self.provider_id, p.first, p.last, None, None, self.user, self.phone)


@dataclass(frozen=True, slots=True, repr=False)
class Clinic:
    """A hospital or clinic."""

    facility_id: str
    name: str
    short: str
    address: Address
    phone: str
    fax: str

    def row(self) -> Facility:
        """The row of the topics."""
        a = self.address
        return Facility(self.facility_id, self.name, self.short, a.street, a.city, a.state, a.postcode, self.phone)


class Institution:
    """Staff and clinics, each made when it is first asked for.

    Args:
        locale: Whose names and places.
        share: The share of the names.
        seed: The same seed gives the same institution.
        staff: How many clinicians there are.
        clinics: How many hospitals and clinics.
        prefix: Of their ids.
    """

    def __init__(self, locale: Locale, share: Share, seed: str, *, staff: int, clinics: int, prefix: str = "") -> None:
        self.locale = locale
        self.share = share
        self.seed = seed
        self._size = staff
        self._sites = clinics
        self._prefix = prefix

    def __repr__(self) -> str:
        return "<Institution>"

    @cached_property
    def clinics(self) -> tuple[Clinic, ...]:
        """All hospitals and clinics, hospitals and practices in turn."""
        found: list[Clinic] = []
        names: set[str] = set()
        for number in range(1, 4 * self._sites):
            dice = Dice(self.seed, "clinic", number)
            place = self.locale.address(dice)
            name, short = (self.locale.practice if number % 3 == 0 else self.locale.hospital)(dice, place)
            if name not in names:
                phone, fax = (self.locale.phone(dice, place) for _ in range(2))
                found.append(Clinic(f"{self._prefix}F{number:03d}", name, short, place, phone, fax))
                names.add(name)
            if len(found) == self._sites:
                break
        return tuple(found)

    @cached_property
    def staff(self) -> tuple[Staff, ...]:
        """All clinicians; no two share their whole name."""
        found: list[Staff] = []
        names: set[tuple[str, str]] = set()
        for number in range(1, 4 * self._size):
            dice = Dice(self.seed, "staff", number)
            person = self.locale.person(dice, "F" if dice.chance(0.5) else "M", self.share)
            if (person.first, person.last) in names:
                continue
            names.add((person.first, person.last))
            place = self.clinics[number % len(self.clinics)].address
            login = f"{slug(person.first)[:1]}{slug(person.last)[:7]}"
            user = f"{login}{dice.between(1, 99)}" if dice.chance(0.6) else f"{login[:2].upper()}{dice.digits(4)}"
            found.append(
                Staff(
                    f"{self._prefix}D{number:04d}",
                    person,
                    number % NURSES == 0,
                    self.locale.phone(dice, place),
                    f"{dice.between(1, 9)}{dice.digits(3)}",
                    f"{login}@{dice.pick(('hospital', 'clinic', 'health'))}.example.org",
                    user,
                    self.locale.license(dice),
                )
            )
            if len(found) == self._size:
                break
        return tuple(found)

    def some_staff(self, dice: Dice, count: int) -> list[Staff]:
        """So many physicians, then one nurse, all different."""
        doctors = [s for s in dice.some(range(len(self.staff)), 3 * count + NURSES)]
        people = [self.staff[i] for i in doctors]
        physicians = [s for s in people if not s.nurse][:count]
        nurses = [s for s in people if s.nurse] or [self.staff[NURSES - 1]]
        return [*physicians, nurses[0]]
