"""Names that stand in for the names of hospitals, clinics, firms and schools.

Belongs here: which institution a text means, and its invented name and abbreviation. Does not belong here: people
and addresses.

What an institution is ("Medical Center", "Cardiology Associates", "High School") stays; the words that say which one
become one invented word, the same wherever the site's notes name it. An abbreviation becomes that of the invented
name: where "Larkmoor General Hospital" is "Fernbrook General Hospital", LGH is FGH.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

import regex

from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Topics
from deid_platform.surrogates.names import Deck, invented_pool, read_lines
from deid_platform.surrogates.numbers import Draw, scrambled, stand_in_number
from deid_platform.text.fold import fold_term

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.]*")
_SMALL = frozenset(
    {"of", "the", "and", "for", "at", "in", "on", "de", "di", "del", "della", "du", "des", "la", "le", "y", "e"}
)
_SAINT = frozenset({"st", "saint", "san", "santa", "santo", "sainte"})
_ABBREVIATION = regex.compile(r"(?:[A-Z]\.?){2,7}s?")
# A room, a bed, a ward: "412", "7B", "B-214", "4 West".
_NUMBERED = regex.compile(
    r"(?P<number>(?:[\p{L}]{0,2}[ /.-]?\d{1,4}[ /.-]?){1,3}\p{L}{0,2})"
    r"(?P<wing> (?:north|south|east|west|nord|sud|süd|ost|est|ovest|ouest|norte|sur|este|oeste))?",
    regex.IGNORECASE,
)


class Institutions:
    """The institutions of the topics, ready to be recognised.

    Args:
        topics: The facilities of the institution.
    """

    def __init__(self, topics: Topics | None) -> None:
        self._runs: set[str] = set()
        self._by_first: dict[str, list[str]] = {}
        self._by_abbreviation: dict[str, str] = {}
        self._by_initials: dict[str, str] = {}
        for facility in (topics or Topics()).every_facility():
            if facility.name:
                self._runs.update(which_words(facility.name))
                for short in (_initials(facility.name), _initials(facility.name, small=True)):
                    self._by_initials.setdefault(short, facility.name)
                if facility.abbreviation:
                    self._by_abbreviation.setdefault(_plain(facility.abbreviation), facility.name)

        for run in self._runs:
            self._by_first.setdefault(run.partition(" ")[0], []).append(run)

    def __repr__(self) -> str:
        return "<Institutions>"

    def meant(self, words: str) -> str:
        """Words that say which institution, whole where they begin those of just one: "Beth Israel" Deaconess."""
        if words in self._runs:
            return words
        longer = [run for run in self._by_first.get(words.partition(" ")[0], ()) if run.startswith(words + " ")]
        return longer[0] if len(longer) == 1 else words

    def name_of(self, abbreviation: str, here: Iterable[str]) -> str | None:
        """The full name that an abbreviation stands for, of the topics or of those written in the note."""
        if known := self._by_abbreviation.get(_plain(abbreviation)):
            return known
        wanted = _plain(abbreviation)
        written = next((name for name in here if wanted in (_initials(name), _initials(name, small=True))), None)
        return written or self._by_initials.get(wanted)


def stand_in_institution(
    deck: Deck, draw: Draw, surface: str, institutions: Institutions, here: Iterable[str] = ()
) -> str | None:
    """An institution's invented name in the writing of the original.

    Args:
        deck: The site's.
        draw: The site's keyed function, for abbreviations of nothing that is known.
        surface: The name as written.
        institutions: Those of the topics.
        here: Other names of institutions in the note.

    Returns:
        None where no word of it says which institution it is. The number of a room, a bed or a ward stays one.
    """
    if number := stand_in_place_number(draw, surface):
        return number
    if _ABBREVIATION.fullmatch(surface):
        name = institutions.name_of(surface, here)
        made = None if name is None else stand_in_institution(deck, draw, name, institutions)
        if name is None or made is None or "".join(c for c in surface if c.isalpha()) == _initials(made).upper():
            return scrambled(draw, surface)
        wanted = _plain(surface)
        short = _initials(made, small=wanted == _initials(name, small=True) != _initials(name)).upper()
        return short if short != surface else scrambled(draw, surface)
    pieces: list[str] = []
    position = 0
    avoid = _folded_words(surface)
    for start, end in _runs(surface):
        said = surface[start:end]
        ident = "which/" + institutions.meant(_plain_words(said))
        invented = deck.draw(invented_pool(), "", avoid, ident=ident)
        if invented is None:
            return None
        cased = invented.upper() if said.isupper() else invented.lower() if said.islower() else invented
        pieces += (surface[position:start], cased)
        position = end
    return "".join((*pieces, surface[position:])) if pieces else None


def stand_in_place_number(draw: Draw, surface: str) -> str | None:
    """The number of another room, bed or ward, in the writing of the original; None for what is no such number."""
    place = _NUMBERED.fullmatch(surface)
    number = place and stand_in_number(draw, place["number"])
    return number + (place["wing"] or "") if place and number else None


@lru_cache(maxsize=4096)
def which_words(name: str) -> tuple[str, ...]:
    """The folded words of a name that say which institution it is, run by run, without what says only what it is."""
    return tuple(_plain_words(name[start:end]) for start, end in _runs(name))


def _plain_words(run: str) -> str:
    return " ".join(fold_term(match[0]).rstrip(".").removesuffix("'s") for match in _WORD.finditer(run))


def _runs(name: str) -> list[tuple[int, int]]:
    """Where the words stand that say which institution it is, neighbours together."""
    runs: list[tuple[int, int]] = []
    for match in _WORD.finditer(name):
        word = fold_term(match[0]).rstrip(".").removesuffix("'s")
        generic = word in _generic() or word in _SMALL
        if runs and name[runs[-1][1] : match.start()].strip(" .-–'’") == "" and not generic:
            runs[-1] = (runs[-1][0], match.end())
        elif not generic:
            runs.append((match.start(), match.end()))
    return runs


@cache
def _generic() -> frozenset[str]:
    words = word_list("generic_institution_words") | frozenset(map(fold_term, read_lines("organization_words.txt")))
    return words - _SAINT


def _folded_words(name: str) -> frozenset[str]:
    return frozenset(fold_term(match[0]) for match in _WORD.finditer(name))


@lru_cache(maxsize=4096)
def _initials(name: str, *, small: bool = False) -> str:
    """The initials of a name's words, small ones left out unless asked for."""
    words = (fold_term(match[0]) for match in _WORD.finditer(name))
    return "".join(word[0] for word in words if small or word not in _SMALL)


def _plain(abbreviation: str) -> str:
    return "".join(c for c in fold_term(abbreviation) if c.isalnum())
