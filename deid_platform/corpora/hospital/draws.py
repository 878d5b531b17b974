"""Names, addresses and firms drawn from the word lists.

Belongs here: one draw each. Does not belong here: who they are drawn for (`institution`, `households`).
"""

from __future__ import annotations

from deid_platform.corpora.hospital import identifiers, library
from deid_platform.corpora.hospital.dice import Dice
from deid_platform.corpora.hospital.library import City
from deid_platform.corpora.hospital.people import Organization

_SUFFIXES = ("St", "Ave", "Rd", "Dr", "Ln", "Ct", "Blvd", "Way", "Pl", "Street", "Avenue", "Road", "Drive", "Lane")


def surname(dice: Dice) -> str:
    """A surname; in 4 of 100 draws one that is also an English word."""
    if dice.chance(0.04):
        return dice.pick(library.words("surnames_common_words"))
    return dice.pick(library.words("surnames"))


def first_name(dice: Dice, sex: str) -> str:
    """A first name for a sex, F or M."""
    return dice.pick(library.words("first_female" if sex == "F" else "first_male"))


def address(dice: Dice, *, flats: float = 0.28) -> str:
    """A street address, with an apartment in a share of `flats`."""
    street = f"{dice.between(1, 9899)} {dice.pick(library.words('streets'))} {dice.pick(_SUFFIXES)}"
    if dice.chance(flats):
        unit = dice.pick(("Apt {}", "Apt. {}", "Unit {}", "#{}", "Apt {}B", "Lot {}"))
        street += (", " if dice.chance(0.6) else " ") + unit.format(dice.between(1, 48))
    return street


def organization(dice: Dice, name: str, city: City) -> Organization:
    """A firm of that name with an address and numbers."""
    return Organization(
        name,
        address(dice, flats=0.0),
        city,
        identifiers.phone(dice, city.area_code),
        identifiers.phone(dice, city.area_code),
    )
