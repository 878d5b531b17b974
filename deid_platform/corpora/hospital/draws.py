"""Names, addresses and firms drawn from the pools and word lists.

Belongs here: one draw each. Does not belong here: who they are drawn for (`institution`, `households`).
"""

from __future__ import annotations

from deid_platform.corpora.hospital import identifiers, library
from deid_platform.corpora.hospital.library import City
from deid_platform.corpora.hospital.people import Organization
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.pools import Share, given_names, surnames

_SUFFIXES = ("St", "Ave", "Rd", "Dr", "Ln", "Ct", "Blvd", "Way", "Pl", "Street", "Avenue", "Road", "Drive", "Lane")


# Where a family's names come from: mostly the United States, and a share from everywhere else.
_LOCALES = (
    *(("en_US", 0.58), ("es_MX", 0.09), ("en_IN", 0.05), ("en_GB", 0.05), ("en_IE", 0.03), ("it_IT", 0.03)),
    *(("fr_FR", 0.02), ("fr_CA", 0.01), ("de_DE", 0.03), ("pt_BR", 0.02), ("pl_PL", 0.02), ("es_ES", 0.02)),
    *(("nl_NL", 0.01), ("sv_SE", 0.01), ("tr_TR", 0.01), ("yo_NG", 0.01), ("ja_JP", 0.005), ("en_KE", 0.005)),
)
_PARTICLES = ("de la {}", "De La {}", "van der {}", "Van {}", "Di {}", "St. {}", "von {}", "del {}", "d'{}", "Mac{}")


def locale(dice: Dice) -> str:
    """Where a family's names come from."""
    return dice.weighted(_LOCALES)


def surname(dice: Dice, share: Share, locale: str = "en_US") -> str:
    """A surname of the share; in 4 of 100 draws one that is also an English word, in 7 a compound one."""
    if dice.chance(0.04):
        return dice.pick(library.words("surnames_common_words"))
    names = surnames(locale, share)
    name = dice.pick(names)
    kind = dice.weighted((("plain", 0.93), ("double", 0.035), ("particle", 0.02), ("apostrophe", 0.015)))
    if kind == "double":
        return f"{name}-{dice.pick(names)}"
    if kind == "particle" and " " not in name:
        return dice.pick(_PARTICLES).format(name)
    if kind == "apostrophe" and name.isalpha():
        return f"O'{name}"
    return name


def first_name(dice: Dice, sex: str, share: Share, locale: str = "en_US") -> str:
    """A first name for a sex, F or M, of the share."""
    return dice.pick(given_names(locale, sex, share))


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
