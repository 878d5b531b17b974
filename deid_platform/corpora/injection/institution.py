"""The institution of a surrogate corpus: its staff and its clinics, the same in all its notes.

Belongs here: who works there and where, with the rows of the topics. Does not belong here: patients (`patients.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from deid_platform.notes import Facility, Provider
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import Address, Locale, Person
from deid_platform.surrogates.pools import Share

NURSES = 4
"""Every so manyth of the staff is a nurse."""
_PRACTICES = 3  # and of the clinics a practice


@dataclass(frozen=True, slots=True, repr=False)
class Staff:
    """A clinician.

    Attributes:
        provider_id: As in the topics.
        person: The name.
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
            place = self.locale.address(dice, self.share)
            if number % _PRACTICES:
                name, short = self.locale.hospital(dice, place, self.share)
            else:
                name = self.locale.practice(dice, place, self.share)
                short = "".join(word[0] for word in name.split() if word[0].isupper())
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
            found.append(
                Staff(
                    f"{self._prefix}D{number:04d}",
                    person,
                    number % NURSES == 0,
                    self.locale.phone(dice, place),
                    f"{dice.between(1, 9)}{dice.digits(3)}",
                    self.locale.email(dice, person),
                    self.locale.user_name(dice, person),
                    self.locale.license(dice),
                )
            )
            if len(found) == self._size:
                break
        return tuple(found)

    @cached_property
    def physicians(self) -> tuple[Staff, ...]:
        """All who are no nurses."""
        return tuple(staff for staff in self.staff if not staff.nurse)

    @cached_property
    def nurses(self) -> tuple[Staff, ...]:
        """All nurses."""
        return tuple(staff for staff in self.staff if staff.nurse)

    def some_staff(self, dice: Dice, count: int) -> list[Staff]:
        """So many physicians, then one nurse, all different."""
        found: list[Staff] = []
        while len(found) < count:
            one = dice.pick(self.physicians)
            if one not in found:
                found.append(one)
        return [*found, dice.pick(self.nurses)]
