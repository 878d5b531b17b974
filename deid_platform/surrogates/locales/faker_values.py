"""Values of Faker's generators, in the kinds and locales in which they read like a country's own.

Belongs here: which generators are run, and how they are made to draw as all else here does. Does not belong here: names
of people and towns, of which Faker's lists alone are read (`surrogates/pools.py`), or our templates (`words.py`).

Source: the providers `company`, `address` and `automotive` of the Faker library (MIT licence). Whatever a generator
asks of chance comes from `Dice`, and whatever name it asks for from the names of the share, so that a company or a
street of a test is named after nobody of the training part. docs/corpora.md says which kinds are Faker's, and why
others are not: its numbers, say, are of ranges that are somebody's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import Any

from faker import Factory
from faker.providers import BaseProvider

from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.name_pools import Pool, names_of
from deid_platform.surrogates.pools import Share

SHARE = 0.5
"""Of the values of a kind that are Faker's, where any are; the others are of our templates."""
_BITS = 53
_PROVIDERS = [f"faker.providers.{name}" for name in ("company", "address", "automotive")]


class _Chance(Random):
    """What a generator draws from: only `random`, whose sequence Python keeps."""

    dice: Dice

    def random(self) -> float:
        return self.dice.between(0, (1 << _BITS) - 1) / (1 << _BITS)


class _People(BaseProvider):
    """The names that companies and streets are named after."""

    of: str
    share: Share | None

    def first_name(self) -> str:
        """A given name of the share."""
        given = names_of(self.of, self.share).given
        return self._drawn(given["F" if self.generator.random.random() < 0.5 else "M"])

    def last_name(self) -> str:
        """A surname of the share."""
        return self._drawn(names_of(self.of, self.share).surnames)

    def _drawn(self, pool: Pool) -> str:
        dice: Dice = self.generator.random.dice
        return pool.draw(dice, dice.chance(0.5))


class _Generator:
    """The providers of one locale."""

    def __init__(self, locale: str) -> None:
        self._faker: Any = Factory.create(locale, providers=_PROVIDERS)
        self._people = _People(self._faker)
        self._people.of = locale
        self._faker.add_provider(self._people)
        self._chance = self._faker.random = _Chance()

    def __repr__(self) -> str:
        return "<_Generator>"

    def draw(self, kind: Callable[[Any, Dice], str], dice: Dice, share: Share | None) -> str:
        """A value of a kind, with names of a share."""
        self._people.share, self._chance.dice = share, dice
        return " ".join(kind(self._faker, dice).split())


def _company(faker: Any, dice: Dice) -> str:
    """A company whose name says that it is one: a surname alone, as some are in France, would read as a person."""
    provider = next(it for it in faker.providers if it.__provider__ == _PROVIDERS[0])
    formats = [it for it in provider.formats if "company_suffix" in it]
    return str(faker.parse(dice.pick(formats)))


def _street_first(faker: Any, dice: Dice) -> str:
    return f"{faker.street_name()}, {dice.between(1, 98)}"


def _number_first(faker: Any, dice: Dice) -> str:
    return f"{dice.between(1, 98)}, {faker.street_name()}"


def _plate(faker: Any, dice: Dice) -> str:
    del dice
    return str(faker.license_plate())


_Kind = Callable[[Any, Dice], str]
_KINDS: Mapping[str, Mapping[str, _Kind]] = {
    "employer": dict.fromkeys(("en_US", "en_CA", "es_ES", "it_IT", "fr_FR"), _company),
    "street": {"es_ES": _street_first, "fr_FR": _number_first},
    "plate": dict.fromkeys(("en_CA", "es_ES", "it_IT", "fr_FR"), _plate),
}

_NAMELESS = "plate"


def kinds_of_faker() -> dict[str, tuple[str, ...]]:
    """Kind of value -> the locales in which Faker draws some."""
    return {kind: tuple(by_locale) for kind, by_locale in _KINDS.items()}


def or_of_faker(drawn: str, kind: str, locale: str, share: Share | None) -> str:
    """What was drawn from our templates, or in half of all cases a value of Faker's in its place.

    It is drawn by what stands there instead of by the dice of the corpus, so that whatever these draw next is the same
    with and without Faker.

    Args:
        drawn: Of our templates.
        kind: What it is, a kind of `kinds_of_faker`.
        locale: One of `LOCALES`.
        share: The share of the names; with None, what has a name in it stays as it was drawn, since that name could be
            of another part.
    """
    draw = _KINDS[kind].get(locale)
    if draw is None or (share is None and kind != _NAMELESS):
        return drawn
    dice = Dice("faker", locale, kind, drawn)
    return _generator(locale).draw(draw, dice, share) if dice.chance(SHARE) else drawn


@lru_cache(maxsize=16)
def _generator(locale: str) -> _Generator:
    return _Generator(locale)
