"""Which name stands in for a name: its kind, origin, sex and length, and a keyed order of each such pool.

Belongs here: surrogates for single words of names. Does not belong here: whose words they are (`identity.py`), or how
they are put back into a text (`keyed.py`).

Every listed name has one home: a kind, a family of locales, a sex and a length class. Homes have no name in common,
and within one scope a home's names are put into a secret order in which each stands in for the one before it: two
listed names of a scope never get one surrogate, and none gets itself. A name that no list holds takes a place in the
order by its hash.

Where surrogates change from note to note, a name that never stands in for itself would be told by that: of some
hundreds, it would be the one that never comes. So each name has, as long as the patient or the site has, only half of
its home to be drawn from: what never comes is the other half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources

import regex

from deid_platform.lexicon.lists import word_list
from deid_platform.surrogates.orders import Order
from deid_platform.surrogates.pools import Share, given_names, locales, share_of, surnames
from deid_platform.text.fold import fold_term

_SMALLEST_POOL = 16
_ENGLISH = "en"
# Locales that count as one origin, the first locale's list before the others'.
_FAMILIES = {"en_US": _ENGLISH, "en_GB": _ENGLISH, "es_MX": "es", "es_ES": "es", "fr_FR": "fr", "fr_CA": "fr"}
# A name on several lists is English if Britain has it; else Mexican names come first, since many are on the American
# list too.
_ORDER = ("en_GB", "es_MX", "en_US", "es_ES", "it_IT", "fr_FR", "de_DE", "pt_BR", "pl_PL", "en_IN", "en")
# Tells that a name is borne in English-speaking countries, and is too long and too odd to draw from.
_NOT_DRAWN = "en"
# On the British list, and Indian all the same.
_INDIAN = frozenset({"patel", "shah", "singh", "kaur"})
_SINGLE = regex.compile(r"\p{L}{3,}")
_NEVER = (
    "common_words",
    "clinical_words",
    "clinical_names",
    "drugs",
    "devices",
    "eponyms",
    "tests_and_scores",
    "months",
)
_WORD = regex.compile(r"\p{L}+")
_ALMOST_ALL_LETTERS = "abcdefghijklmnopqrstuvwxy"  # the last one takes the place of the initial itself
# What capitals, or a keyboard without them, make of these.
_SPELLED_OUT = {"ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe"}


class Kind(StrEnum):
    """The kinds of words in a name of a person; middle names are given names. Places have invented ones."""

    GIVEN = "given"
    SURNAME = "surname"
    PLACE = "place"


@dataclass(frozen=True, slots=True, order=True)
class Home:
    """The set of names that may stand in for one another.

    Attributes:
        kind: Given name or surname.
        family: The origin, as a language or a locale.
        sex: F, M, N for what both bear; empty for surnames.
        size: Length class: 0 up to four letters, 1 up to seven, 2 above. Where a class has too few names, those next
            to it in length are of it too.
    """

    kind: Kind
    family: str
    sex: str
    size: int


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Pool:
    """The names of one home that may be drawn, with their folded forms and places."""

    home: Home
    names: tuple[str, ...]
    folded: tuple[str, ...]
    place: dict[str, int]

    def __repr__(self) -> str:
        return f"<Pool of {len(self.names)}>"


class Deck:
    """The keyed orders of all pools for one scope, a patient or a site.

    Args:
        key: The scope's own secret.
        share: Draws names of people from this share alone.
        lasting: Where the scope is a note: the deck of its patient or of the site, which says from which half of a pool
            each word may draw.
    """

    def __init__(self, key: bytes, share: Share | None = None, *, lasting: Deck | None = None) -> None:
        self._key = key
        self._share = share
        self._lasting = lasting
        self._of_pool: dict[Pool, Order] = {}

    def __repr__(self) -> str:
        return "<Deck>"

    def pool(self, kind: Kind, word: str, sex: str | None = None, *, beside: str | None = None) -> Pool:
        """The pool from which a folded word's surrogate is drawn; arguments as for `pool_for`."""
        return pool_for(kind, word, sex, beside=beside, share=self._share)

    @property
    def of_note(self) -> bool:
        """Whether it is that of one note alone."""
        return self._lasting is not None

    def holds(self, name: str) -> bool:
        """Whether a name is of the share from which this deck draws."""
        return self._share is None or share_of(name) is self._share

    def surname_pool(self, family: str) -> Pool:
        """The surnames of middle length of an origin, for streets that are called after people."""
        pools = _pools(self._share)
        return pools.get(Home(Kind.SURNAME, family, "", 1)) or pools[Home(Kind.SURNAME, _ENGLISH, "", 1)]

    def draw(self, pool: Pool, word: str, avoid: Container[str], *, ident: str | None = None) -> str | None:
        """The surrogate for a word.

        Args:
            pool: Where to draw from.
            word: The folded original.
            avoid: Folded names that may not be drawn.
            ident: Whose name it is, where that is more than the word says: it then decides instead of the word.

        Returns:
            The first name after the word's place that may be drawn; None if none may.
        """
        order, size = self._order(pool), len(pool.names)
        place = pool.place.get(word) if ident is None else None
        rank = self.number(pool.home.kind, ident or word) % size if place is None else order.rank(place)
        for step in range(1, size + 1):
            drawn = order.at((rank + step) % size)
            name = pool.folded[drawn]
            if name != word and name not in avoid and self._may_be(ident or word, name):
                return pool.names[drawn]
        return None

    def letter(self, role: str, initial: str) -> str:
        """A letter that stands for an initial of nobody known, and is another one."""
        others = ["z" if letter == initial else letter for letter in _ALMOST_ALL_LETTERS]
        drawable = [letter for letter in others if self._may_be(initial, letter)] or others
        return drawable[self.number("letter", role, initial) % len(drawable)]

    def number(self, *parts: str) -> int:
        """A keyed number of 64 bits."""
        message = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(message, key=self._key, digest_size=8).digest(), "big")

    def _may_be(self, word: str, name: str) -> bool:
        """Whether a name is of the half from which a word may draw."""
        return self._lasting is None or self._lasting.number("half", word, name) % 2 == 0

    def _order(self, pool: Pool) -> Order:
        """The secret order of a pool's names."""
        order = self._of_pool.get(pool)
        if order is None:
            home = pool.home
            seed = self._key + f"{home.kind}/{home.family}/{home.sex}/{home.size}".encode()
            order = self._of_pool[pool] = Order(seed, len(pool.names))
        return order


def load_pools(share: Share | None = None) -> None:
    """Reads all lists of names, a third of a second once a process, so that no note waits for them."""
    _pools(share)
    _origins()
    _usual()


@lru_cache(maxsize=65536)
def pool_for(
    kind: Kind, word: str, sex: str | None = None, *, beside: str | None = None, share: Share | None = None
) -> Pool:
    """The pool from which a folded word's surrogate is drawn.

    Args:
        kind: Given name or surname.
        word: The folded original: its list tells the origin, and the sex where none is given. A word on no list
            counts as English and neutral.
        sex: F or M, where it is known.
        beside: The folded surname, where it is known: a given name of several origins is then of the surname's.
        share: Only the names of this share.
    """
    family, listed_sex = _listed()[kind].get(word, (_ENGLISH, "N" if kind is Kind.GIVEN else ""))
    if beside is not None and (origin := _listed()[Kind.SURNAME].get(beside, ("",))[0]) in _origins().get(word, ()):
        family = origin
    wanted = sex if kind is Kind.GIVEN and sex in ("F", "M") else listed_sex
    size, pools = _size(word), _pools(share)
    around = (pools.get(Home(kind, family, wanted, other)) for other in ((0, 2) if size == 1 else ()))
    return (
        next((pool for pool in around if pool is not None and word in pool.place), None)
        or pools.get(Home(kind, family, wanted, size))
        or pools.get(Home(kind, family, wanted, 1))
        or pools.get(Home(kind, _ENGLISH, wanted, size))
        or pools[Home(kind, _ENGLISH, wanted, 1)]
    )


@cache
def invented_pool() -> Pool:
    """Names for streets and institutions, put together from two parts: "Alderbrook"."""
    rows = [line.split("\t") for line in read_lines("place_words.tsv")]
    firsts, lasts = ([word for part, word in rows if part == wanted] for wanted in ("first", "last"))
    never = _never_drawn()
    made = sorted({a + b for a in firsts for b in lasts if a[-1] != b[0]} - never)
    return Pool(Home(Kind.PLACE, _ENGLISH, "", 1), tuple(map(str.title, made)), tuple(made), {})


def read_lines(name: str) -> tuple[str, ...]:
    """The lines of one of this package's data files, without its header."""
    source = (resources.files("deid_platform.surrogates") / "data" / name).read_text(encoding="utf-8")
    return tuple(line for line in source.splitlines() if line and not line.startswith("#"))


def is_listed(kind: Kind, word: str) -> bool:
    """Whether a folded word is a name of that kind in any locale."""
    return word in _listed()[kind]


@lru_cache(maxsize=131072)
def letters(word: str) -> str:
    """A word in the form in which names are compared: folded, its letters only, so that "O’Brien" is "obrien"."""
    if word.isascii() and word.isalpha():
        return word.lower()
    folded = fold_term(word)
    return "".join(_SPELLED_OUT.get(c, c) for c in folded if c.isalpha())


def is_usual(word: str) -> bool:
    """Whether a folded word is a name on some country's list of usual names, and so hardly another one misspelt."""
    return word in _usual()


@cache
def _usual() -> frozenset[str]:
    named = (locale for locale in locales() if locale != _NOT_DRAWN)
    lists = (names for locale in named for names in (given_names(locale, None), surnames(locale)))
    return frozenset(letters(name) for names in lists for name in names) | frozenset(map(letters, _neutral_names()))


@cache
def _listed() -> dict[Kind, dict[str, tuple[str, str]]]:
    """The family and sex of every folded name."""
    given: dict[str, tuple[str, str]] = dict.fromkeys(map(letters, _neutral_names()), (_ENGLISH, "N"))
    last: dict[str, tuple[str, str]] = {}
    for locale in (*_ORDER, *(locale for locale in locales() if locale not in _ORDER)):
        family = _FAMILIES.get(locale, locale)
        women, men = (frozenset(map(letters, _given_names(locale, sex))) for sex in ("F", "M"))
        both = women & men
        for name in women | men:
            # On both lists of a place where names have a sex, the ending has to tell.
            sex = ("F" if name not in men else "M") if name not in both else "F" if name[-1] == "a" else "M"
            given.setdefault(name, (family, "N" if family == _ENGLISH and name in both else sex))
        for name in _surnames(locale):
            folded = letters(name)
            last.setdefault(folded, ("en_IN" if folded in _INDIAN else family, ""))
    return {Kind.GIVEN: given, Kind.SURNAME: last}


@cache
def _origins() -> dict[str, frozenset[str]]:
    """The families on whose lists a folded given name is."""
    found: dict[str, set[str]] = {}
    for locale in locales():
        for name in given_names(locale, None):
            found.setdefault(letters(name), set()).add(_FAMILIES.get(locale, locale))
    return {name: frozenset(families) for name, families in found.items()}


@cache
def _pools(share: Share | None = None) -> dict[Home, Pool]:
    """Every name that may be drawn, by its home."""
    written: dict[Kind, dict[str, str]] = {Kind.GIVEN: {}, Kind.SURNAME: {}}
    for locale in (locale for locale in dict.fromkeys((*_ORDER, *locales())) if locale != _NOT_DRAWN):
        given = (*_given_names(locale, "F"), *_given_names(locale, "M"))
        for kind, names in ((Kind.GIVEN, given), (Kind.SURNAME, _surnames(locale))):
            for name in names:
                written[kind].setdefault(letters(name), name)
    for name in _neutral_names():
        written[Kind.GIVEN].setdefault(letters(name), name)
    never = _never_drawn()
    homes: dict[Home, list[str]] = {}
    for kind, listed in _listed().items():
        for folded, (family, sex) in listed.items():
            name = written[kind].get(folded, "")
            if _SINGLE.fullmatch(name) and folded not in never and (share is None or share_of(name) is share):
                homes.setdefault(Home(kind, family, sex, _size(folded)), []).append(folded)
    for home in sorted(home for home, names in homes.items() if len(names) < _SMALLEST_POOL and home.size != 1):
        _join(homes, home)
    pools = {}
    for home, members in homes.items():
        if len(members) >= _SMALLEST_POOL:
            ordered = tuple(sorted(members))
            spelled = tuple(written[home.kind][name] for name in ordered)
            pools[home] = Pool(home, spelled, ordered, {name: place for place, name in enumerate(ordered)})
    return pools


def _join(homes: dict[Home, list[str]], home: Home) -> None:
    """Fills a home that has too few names with those of middle length next to it, or gives them its own."""
    names, middle = homes[home], homes.setdefault(replace(home, size=1), [])
    middle.sort(key=lambda name: (len(name) if home.size == 0 else -len(name), name))
    wanted = _SMALLEST_POOL - len(names)
    if len(middle) >= wanted + _SMALLEST_POOL:
        names += middle[:wanted]
        del middle[:wanted]
    else:
        middle += homes.pop(home)


def _size(word: str) -> int:
    return 0 if len(word) <= 4 else 1 if len(word) <= 7 else 2


@cache
def _never_drawn() -> frozenset[str]:
    """Words of everyday and clinical language, eponyms among them: as a name they would mislead."""
    return frozenset(word for name in _NEVER for term in word_list(name) for word in _WORD.findall(term))


def _given_names(locale: str, sex: str) -> tuple[str, ...]:
    return (*given_names(locale, sex), *_more_names().get((locale, sex), ()))


def _surnames(locale: str) -> tuple[str, ...]:
    return (*surnames(locale), *_more_names().get((locale, "-"), ()))


@cache
def _more_names() -> dict[tuple[str, str], list[str]]:
    """Names beside those of the lists, of lengths of which these have too few to draw from."""
    found: dict[tuple[str, str], list[str]] = {}
    for locale, sex, names in (line.split("\t") for line in read_lines("more_names.tsv")):
        found.setdefault((locale, sex), []).extend(names.split())
    return found


@cache
def _neutral_names() -> tuple[str, ...]:
    return read_lines("neutral_names.txt")
