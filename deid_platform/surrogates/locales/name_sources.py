"""Where the names of a locale come from.

Belongs here: reading lists of names. Does not belong here: which share a name is of (`name_pools.py`).

Sources: the class attributes of Faker's providers of people, whose generators are not run; the surnames of the United
States census as the package `names` has them; and the files of `data/`, each of which says its own. A file has lines of
a key, a tab and names with commas between: F and M are given names, S surnames; F1 and F2, M1 and M2 first and second
syllables of given names, each with each; of `N` each entry is a given name and what its bearers are called; what stands
under `X` is left out of all that the sources have. A name is written once, in the spelling of the first source that has
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product

from deid_platform.lexicon.lists import word_list
from deid_platform.surrogates.pools import faker_names
from deid_platform.text.fold import fold_term

_DATA = files("deid_platform.surrogates.locales") / "data"
_BY_SEX = {"F": "first_names_female", "M": "first_names_male", "S": "last_names"}
_BREAK = "'"
# Words that no surname of the census is meant by, or that would read as one in a note.
_WORDS = (
    *("ordinary_words", "common_words", "clinical_words", "rare_words", "drugs", "professions", "occupations"),
    *("italian_words", "substances"),
)

# What registers write where there is no name, and errors of Faker's lists.
_NO_NAME = frozenset({"Unknown", "Infant", "Baby", "El", "Lone", "Rodrígez", "Wm"})

# Surnames of the census that are taken, the most frequent first; rarer ones are more and more misspelt.
_RANKS = 45_000

# Locale: Faker's locales, and the files of `data/` with the keys that are read of them.
_FAKER: Mapping[str, tuple[str, ...]] = {
    "en_US": ("en", "en_US", "es_MX", "en_IN"),
    "en_GB": ("en_GB", "en_IE"),
    "en_AU": ("en_GB", "en_IE", "en_NZ"),
    "en_CA": ("en_GB", "en_US", "fr_CA"),
    "es_ES": ("es_ES", "es_CL", "es_CO", "es_MX"),
    "it_IT": ("it_IT",),
    "fr_FR": ("fr_FR", "fr_BE", "fr_CA", "fr_CH"),
    "hi": ("en_IN",),
}
_FILES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en_US": {"births_us": ("old", "new", "lasting", "rare")},
    "en_GB": {"names_en_GB": (), "births_us": ("old",), "census_en": ()},
    "en_AU": {"names_en_AU": (), "births_us": ("old", "lasting"), "census_en": ()},
    "en_CA": {"names_en_CA": (), "births_us": ("old", "new", "lasting"), "census_en": (), "census_fr": ()},
    "es_ES": {"names_es_ES": (), "census_es": ()},
    "it_IT": {"names_it_IT": (), "census_it": ()},
    "fr_FR": {"names_fr_FR": (), "census_fr": ()},
    "zh": {"names_zh": ()},
    "hi": {"names_hi": ()},
    "bn": {"names_bn": ("muslim", "hindu")},
    "bn muslim": {"names_bn": ("muslim",)},
    "bn hindu": {"names_bn": ("hindu",)},
    "ar": {"names_ar": ()},
}


@cache
def read(locale: str) -> Mapping[str, tuple[str, ...]]:
    """Given names of women (F) and men (M) and surnames (S) of a locale, or of a part of it, each once."""
    found: dict[str, list[str]] = {"F": [], "M": [], "S": []}
    for file, marks in _FILES[locale].items():
        for key, listed in _file(file).items():
            part, _, mark = key.partition(" ")
            if part in found and (not mark or mark in marks):
                found[part] += listed
    for faker in _FAKER.get(locale, ()):
        for part, attribute in _BY_SEX.items():
            # In a fixed order: of a name in two writings the first is kept.
            found[part] += sorted(faker_names(faker, attribute))
    if locale == "en_US":
        found["S"] += _census()
    if locale == "zh":
        for sex in "FM":
            found[sex] += _two_syllables(_file("names_zh")[f"{sex}1"], _file("names_zh")[f"{sex}2"])
    wrong = _NO_NAME | {name for file in _FILES[locale] for name in _file(file).get("X", ())}
    return {part: _once(name for name in names if name not in wrong) for part, names in found.items()}


@cache
def nicknames(locale: str) -> Mapping[str, tuple[str, ...]]:
    """What the bearers of a given name are called, as the locale's own file says."""
    found: dict[str, tuple[str, ...]] = {}
    for file in _FILES[locale]:
        for entry in _file(file).get("N", ()):
            name, _, short = entry.partition(" ")
            found[name] = (*found.get(name, ()), short)
    return found


@cache
def _file(name: str) -> Mapping[str, tuple[str, ...]]:
    text = (_DATA / f"{name}.tsv").read_text("utf-8")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, _, entries = line.partition("\t")
            found.setdefault(key, []).extend(n for n in (e.strip() for e in entries.split(",")) if n)
    return {key: tuple(names) for key, names in found.items()}


@cache
def births() -> Mapping[str, str]:
    """Folded given names of the United States, and when they were frequent: old, new, lasting or rare (`births_us`)."""
    return {folded(name): key.partition(" ")[2] for key, names in _file("births_us").items() for name in names}


def census_rank(surname: str) -> int | None:
    """The rank of a folded surname in the census of the United States, from 1; None for one of the rarest or none."""
    return _ranks().get(surname)


@cache
def _ranks() -> Mapping[str, int]:
    lines = (files("names") / "dist.all.last").read_text("ascii").splitlines()[:_RANKS]
    return {line.split(maxsplit=1)[0].lower(): rank for rank, line in enumerate(lines, start=1)}


@cache
def _census() -> tuple[str, ...]:
    words = frozenset[str]().union(*(word_list(name) for name in _WORDS))
    found = iter(_ranks())
    return tuple(
        f"Mc{n[2:].capitalize()}" if n.startswith("mc") else n.capitalize()
        for n in found
        if len(n) > 2 and n not in words
    )


def _two_syllables(first: Iterable[str], second: Iterable[str]) -> Iterator[str]:
    # An apostrophe stands where pinyin could be read in another way: Xi'an is not Xian.
    for a, b in product(first, second):
        if a != b:
            yield f"{a.capitalize()}{_BREAK if b[0] in 'aeo' else ''}{b}"


def _once(names: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(folded(name), name)
    return tuple(found.values())


def folded(name: str) -> str:
    """A name as lists are asked for it; the same as `fold_term`, but fast where there is nothing to fold."""
    return name.lower() if name.isascii() and name.isalpha() else fold_term(name)
