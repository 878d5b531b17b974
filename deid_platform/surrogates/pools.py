"""Pools of names by locale and sex, split three ways by hash.

Belongs here: which names and towns there are to draw from. Does not belong here: who gets which (`keyed.py`),
or places of the United States, which are data (`places.py`).

Source: the name and address providers of the Faker library (MIT licence), whose class attributes are read as they are;
a generator would draw of all shares (`locales/faker_values.py` has those that are run). A pool keeps names in Latin
script of at most three words, each once, sorted, so that a draw depends on nothing but the version of Faker
(`POOLS_VERSION`).

The split keeps three uses apart that must not share names: what the synthetic hospital writes, what stands in
its place in training data, and what is held out to measure on. It goes by a hash of the folded name alone, so that
a name has one share whatever its locale, and a new version of Faker moves no name from one share to another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import regex
from anyascii import anyascii

POOLS_VERSION = f"faker {version('faker')}"
"""What a draw depends on beside the secret; part of what names a policy with surrogates."""

_NAME = regex.compile(r"\p{Latin}{2,}(?:['’-]\p{Latin}+)*(?: \p{Latin}{2,}(?:['’-]\p{Latin}+)*){0,2}")
_MC = regex.compile(r"^Mc(\p{Ll})")
_NO_NAME = frozenset({"auch", "genannt", "ii"})  # what a list of genealogists leaves behind
_PEOPLE = "faker.providers.person"
_PLACES = "faker.providers.address"

# Locale: the attributes that hold male given names, female ones, and surnames.
_BY_SEX = ("first_names_male", "first_names_female", "last_names")
_ROMANISED = ("first_romanized_names_male", "first_romanized_names_female", "last_romanized_names")
_LOCALES: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(
        (
            *("en_US", "en_GB", "en_IE", "en_IN", "en_KE", "es_ES", "es_MX", "it_IT", "fr_FR", "fr_CA", "de_DE"),
            *("pt_BR", "nl_NL", "sv_SE", "fi_FI", "da_DK", "hr_HR", "hu_HU", "tr_TR", "id_ID", "yo_NG"),
        ),
        _BY_SEX,
    ),
    # All of the American register of births, rare names and names of many origins among them.
    "en": _BY_SEX,
    "pl_PL": ("first_names_male", "first_names_female", "unisex_last_names"),
    "ja_JP": _ROMANISED,
}
# Country: the locale whose address provider lists its towns.
_TOWNS = {"IT": "it_IT", "DE": "de_DE", "IN": "en_IN", "PL": "pl_PL", "NL": "nl_NL", "SE": "sv_SE"}


class Share(StrEnum):
    """One of three sets of names that have none in common."""

    HOSPITAL = "hospital"
    TRAINING = "training"
    HELD_OUT = "held-out"


_SHARES = tuple(Share)


@lru_cache(maxsize=65536)
def share_of(name: str) -> Share:
    """The share of a name: SHA-256 of its folded form, modulo three; accents, case and spaces do not count."""
    folded = " ".join((name if name.isascii() else anyascii(name)).casefold().split())
    return _SHARES[int.from_bytes(hashlib.sha256(folded.encode()).digest()) % 3]


def locales() -> tuple[str, ...]:
    """The locales with given names by sex and surnames, the American one first; `en` is no country's."""
    return tuple(_LOCALES)


@lru_cache(maxsize=256)
def given_names(locale: str, sex: str | None, share: Share | None = None) -> tuple[str, ...]:
    """Given names, sorted.

    Args:
        locale: One of `locales()`.
        sex: What a topic may hold ("F", "male"); its first letter counts. Anything but F and M means both.
        share: Only the names of this share.

    Raises:
        KeyError: for a locale that is none of `locales()`.
    """
    male, female, _ = _LOCALES[locale]
    letter = (sex or "")[:1].upper()
    attributes = {"M": (male,), "F": (female,)}.get(letter, (male, female))
    return _pool(locale, attributes, share)


@lru_cache(maxsize=128)
def surnames(locale: str, share: Share | None = None) -> tuple[str, ...]:
    """Surnames, sorted; arguments as for `given_names`."""
    return _pool(locale, _LOCALES[locale][2:], share)


@lru_cache(maxsize=32)
def cities(country: str) -> tuple[str, ...]:
    """Towns of a country by its ISO code, sorted; empty where Faker lists none."""
    locale = _TOWNS.get(country)
    return () if locale is None else tuple(sorted(_names(_provider(_PLACES, locale).cities)))


def _pool(locale: str, attributes: Iterable[str], share: Share | None) -> tuple[str, ...]:
    names = frozenset[str]().union(*(faker_names(locale, attribute) for attribute in attributes))
    return tuple(sorted(name for name in names if share is None or share_of(name) is share))


@cache
def faker_names(locale: str, attribute: str) -> frozenset[str]:
    """The names in Latin script of one class attribute of Faker's provider of people for a locale."""
    return frozenset(_names(getattr(_provider(_PEOPLE, locale), attribute)))


def _provider(package: str, locale: str) -> Any:
    return import_module(f"{package}.{locale}").Provider


def _names(listed: Iterable[str]) -> set[str]:
    # The American list writes "Mccoy".
    return {
        name
        for name in (_MC.sub(lambda m: "Mc" + m[1].upper(), " ".join(entry.split())) for entry in listed)
        if _NAME.fullmatch(name) and name[0].isupper() and _NO_NAME.isdisjoint(name.lower().split())
    }
