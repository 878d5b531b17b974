"""The names of a locale by part, sex and share, those that detection's lists hold apart from those they do not.

Belongs here: which names there are. Does not belong here: where they come from (`name_sources.py`) and how people of a
country put them together (`naming.py`).

A name is of a share if its own hash says so and that of each of its words, particles aside ("de", "al"): else "De Luca"
would be in a test and "Luca" in training. A name is listed if one of its words is on a list that detection has of
given names, nicknames or surnames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import regex

from deid_platform.lexicon.lists import rows, word_list
from deid_platform.lexicon.nicknames import nicknames_of
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import name_sources
from deid_platform.surrogates.locales.name_sources import folded
from deid_platform.surrogates.pools import Share, share_of
from deid_platform.text.fold import fold_term

PARTICLES = frozenset(
    {
        *("de", "del", "della", "delle", "dei", "degli", "dello", "dalla", "dal", "di", "da", "do", "dos", "la", "las"),
        *(
            "le",
            "les",
            "los",
            "lo",
            "li",
            "du",
            "des",
            "van",
            "von",
            "der",
            "y",
            "e",
            "i",
            "al",
            "el",
            "ad",
            "an",
            "ar",
        ),
        *("as", "ash", "at", "az", "bin", "bint", "ibn", "ben", "abu", "abd", "abdul", "abdel", "ul", "ur", "uz", "us"),
        *("d", "l", "o", "st", "md", "mc", "san", "santa"),
    }
)
"""Words of names that are nobody's own; they have no share."""
FEWEST = 24
"""Fewer names on no list than this are drawn more rarely, so that they do not stand for a locale."""
_WORD = regex.compile(r"[^\s’'\-]+")


@dataclass(frozen=True, repr=False, slots=True)
class Pool:
    """Names of one part and share, sorted; `unlisted` ones are on no list of detection."""

    listed: tuple[str, ...]
    unlisted: tuple[str, ...]

    def draw(self, dice: Dice, listed: bool) -> str:
        """One of the listed or of the others; of the other kind where there is none."""
        return dice.pick((self.listed if listed else self.unlisted) or self.listed or self.unlisted)

    def listed_next(self, dice: Dice, unlisted: float) -> bool:
        """Whether the next name is a listed one: not in a share of `unlisted`, less where few are on no list."""
        few = min(1.0, len(self.unlisted) / FEWEST)
        return not dice.chance(unlisted * few)

    def __len__(self) -> int:
        return len(self.listed) + len(self.unlisted)


@dataclass(frozen=True, repr=False, slots=True)
class Names:
    """What a locale has of one share.

    Attributes:
        given: Given names by sex.
        surnames: For women and men alike.
        called: Nicknames of the same share by given name.
    """

    given: dict[str, Pool]
    surnames: Pool
    called: dict[str, tuple[str, ...]]


@lru_cache(maxsize=64)
def names_of(locale: str, share: Share | None) -> Names:
    """The names of a locale that are of a share; of all of them for None."""
    given = {sex: _pools(locale, sex)[share] for sex in "FM"}
    called = {}
    for pool in given.values():
        for name in (*pool.listed, *pool.unlisted):
            known = (*name_sources.nicknames(locale).get(name, ()), *_english_nicknames(locale, name))
            if short := tuple(sorted({n for n in known if share is None or in_share(n, share)})):
                called[name] = short
    return Names(given, _pools(locale, "S")[share], called)


def in_share(name: str, share: Share) -> bool:
    """Whether a name may be drawn for a share: its hash and that of each of its own words say so."""
    return share_of(name) is share and (name.isalpha() or all(share_of(word) is share for word in own_words(name)))


def own_words(name: str) -> tuple[str, ...]:
    """The words of a name that are no particles, initials aside."""
    words = _WORD.findall(name)
    return tuple(w for w in words if len(words) == 1 or (len(w) > 1 and w.lower() not in PARTICLES))


def is_listed(name: str) -> bool:
    """Whether detection has the name, or one of its words, on a list of names."""
    known = _known()
    if folded(name) in known:
        return True
    return not name.isalpha() and any(folded(word) in known for word in own_words(name))


@cache
def _known() -> frozenset[str]:
    nicknames = frozenset(fold_term(name) for row in rows("nicknames") for name in row)
    return word_list("given_names") | word_list("lone_given_names") | word_list("surnames") | nicknames


@cache
def _pools(locale: str, part: str) -> Mapping[Share | None, Pool]:
    """The names of one part by share; under None all of them, those of no share too."""
    found: dict[Share | None, tuple[list[str], list[str]]] = {share: ([], []) for share in (*Share, None)}
    known = _known()
    for name in sorted(name_sources.read(locale)[part]):
        # Most names are one word of ASCII letters, so these do not take the long way.
        plain = name.isascii() and name.isalpha()
        unlisted = name.lower() not in known if plain else not is_listed(name)
        found[None][unlisted].append(name)
        share = share_of.__wrapped__(name) if plain else share_of(name)
        if plain or in_share(name, share):
            found[share][unlisted].append(name)
    return {share: Pool(tuple(listed), tuple(rest)) for share, (listed, rest) in found.items()}


def _english_nicknames(locale: str, name: str) -> tuple[str, ...]:
    if not locale.startswith("en_"):
        return ()
    return tuple(nick.title() for nick in nicknames_of(fold_term(name)))
