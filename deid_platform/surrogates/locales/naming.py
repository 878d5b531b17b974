"""How people of a locale put a name together.

Belongs here: compound given names, second surnames, middle names, fathers' names. Does not belong here: the names
(`name_pools.py`).

What is put together of two names of one share must be of that share itself, by its own hash: so "Maria Teresa" is never
in training where it is in a test, whatever other locale lists it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.name_pools import Names, Pool, is_listed, names_of
from deid_platform.surrogates.locales.records import Person
from deid_platform.surrogates.pools import Share, share_of

_TRIES = 12

Draw = Callable[[Pool], str]


@dataclass(frozen=True, slots=True)
class Manner:
    """How often, of all people, a name has more than one part, and how two parts are joined.

    Attributes:
        compound: Two given names that are one, a space between them.
        double: Two surnames.
        hinge: What stands between them.
        middle: Second given name, in the middle.
        father: A father's given name in the middle.
    """

    compound: float = 0.0
    double: float = 0.0
    hinge: str = "-"
    middle: float = 0.0
    father: float = 0.0


MANNERS: Mapping[str, Manner] = {
    "en_US": Manner(middle=0.6, double=0.03),
    "en_GB": Manner(middle=0.5, double=0.04),
    "en_AU": Manner(middle=0.5, double=0.04),
    "en_CA": Manner(middle=0.5, double=0.04),
    "es_ES": Manner(compound=0.22, double=0.85, hinge=" "),
    "it_IT": Manner(compound=0.07, middle=0.05, double=0.02, hinge=" "),
    "fr_FR": Manner(middle=0.1, double=0.05),
    "zh": Manner(),
    "hi": Manner(middle=0.2),
    "bn": Manner(middle=0.1),
    "ar": Manner(father=0.4),
}


FAMILIES: Mapping[str, tuple[tuple[str, float], ...]] = {"bn": (("bn muslim", 0.75), ("bn hindu", 0.25))}
"""The parts of a locale whose names do not mix in one person, each with its share of people."""


def draw_person(
    locale: str,
    dice: Dice,
    sex: str,
    share: Share,
    *,
    surname: str | None,
    listed: bool | None,
    unlisted: float,
) -> Person:
    """Somebody of a locale; arguments as for `Locale.person`."""
    family = dice.weighted(FAMILIES[locale]) if locale in FAMILIES else locale
    names, manner = names_of(family, share), MANNERS[locale]
    draw = partial(_draw, dice, listed, unlisted)
    given = names.given[sex]
    first = draw(given)
    called = names.called.get(first, ()) if dice.chance(0.5) else ()
    if dice.chance(manner.compound):
        first = _joined(dice, given, first, " ", share)
    return Person(
        first,
        _middle(dice, manner, names, draw, sex, first),
        surname if surname is not None else _last(dice, manner, names, draw, share, first),
        dice.pick(called) if called else "",
        sex,
    )


def _draw(dice: Dice, listed: bool | None, unlisted: float, pool: Pool) -> str:
    return pool.draw(dice, pool.listed_next(dice, unlisted) if listed is None else listed)


def _middle(dice: Dice, manner: Manner, names: Names, draw: Draw, sex: str, first: str) -> str:
    if dice.chance(manner.father):
        father = draw(names.given["M"])
        return father if father != first else ""
    if dice.chance(manner.middle):
        second = draw(names.given[sex])
        return second if second != first else ""
    return ""


def _last(dice: Dice, manner: Manner, names: Names, draw: Draw, share: Share, first: str) -> str:
    last = draw(names.surnames)
    if last == first:
        last = draw(names.surnames)
    return _joined(dice, names.surnames, last, manner.hinge, share) if dice.chance(manner.double) else last


def _joined(dice: Dice, pool: Pool, name: str, joint: str, share: Share) -> str:
    """The name and another of its kind, listed or not; the name alone where no two make one of the share."""
    if joint in name:
        return name
    kind = is_listed(name)
    for _ in range(_TRIES):
        second = pool.draw(dice, kind)
        both = f"{name}{joint}{second}"
        if second != name and joint not in second and share_of(both) is share:
            return both
    return name
