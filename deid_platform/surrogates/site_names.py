"""The surrogates of providers, the same in every patient's notes.

Belongs here: what is drawn within the site's scope for people. Does not belong here: patients and those around them
(`household_names.py`).

A provider's surrogate follows from the site's secret and the provider's own name. Nothing of the patient whose note it
stands in decides anything, so that all of a site's notes together tell nothing of any patient's family by it. By chance
it is sometimes a name of that very family. It stays then: another one, or a tag, in those notes alone would say to
whoever knows the provider from elsewhere (from the provider's key, from the signature) which name the family has. The
leak check knows that such a word was put in and was not there before. Only where a provider's whole surrogate is that
of somebody in the household does a tag stand: both can be read, and two people must not become one.

Surnames are drawn by the word alone: a bare mention agrees with a full one, and whoever joins or leaves the staff
changes nothing for anybody. Namesakes therefore share a surname, as they do in life; to draw it by ids could not give
"Dr. Zeller" in the notes one surrogate before and after a second Zeller came. Given names are drawn by the word too.
Where that would make two names of the topics one (two names of one list never meet, others by their hash), whoever the
topics named first keeps the surrogate and the other takes the next. Two providers who are written alike are one in a
text: the key of a note's provider tells them apart.

Where surrogates change from note to note, all of this is drawn for the surnames of one note, and two of them never
have one surrogate.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from deid_platform.surrogates.household_names import initial_of, nickname_of
from deid_platform.surrogates.names import Deck, Kind, letters
from deid_platform.surrogates.persons import corrected_spellings
from deid_platform.surrogates.written_names import NamePart, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deid_platform.surrogates.identity import Directory, Mention
    from deid_platform.surrogates.persons import Person


class SiteNames:
    """Draws for the site.

    Args:
        deck: The site's keyed orders.
        directory: Who the providers are.
        surnames: The folded words of the surnames that are told apart; those of all providers unless given.
    """

    def __init__(self, deck: Deck, directory: Directory, surnames: Iterable[str] | None = None) -> None:
        self._deck = deck
        self._directory = directory
        self._surname = lru_cache(maxsize=16384)(self._surname_of)
        self._usual = lru_cache(maxsize=16384)(self._usual_of)
        self._apart = lru_cache(maxsize=4096)(self._apart_of)
        # The providers' surnames by their surrogate.
        self._alike: dict[str, list[str]] = {}
        # Stays empty where the same are to be drawn whoever else is named.
        self._taken: set[str] = set()
        for word in directory.surnames() if surnames is None else surnames:
            if (drawn := self._surname(word)) is not None:
                self._alike.setdefault(drawn, []).append(word)

    def __repr__(self) -> str:
        return "<SiteNames>"

    def word(self, mention: Mention, part: NamePart) -> str | None:
        """What stands for one part of a name, in whosever notes: a word, or the letter of an initial."""
        person = mention.person
        if part.initial:
            return initial_of(person, part, self._deck, lambda role, word: self._drawn(person, role, word))
        drawn = self._drawn(person, part.role, part.word)
        return nickname_of(drawn, self._deck, ()) if part.nickname and drawn is not None else drawn

    def _drawn(self, person: Person | None, role: Role, word: str) -> str | None:
        if role is Role.SURNAME:
            return self._surname(word)
        if person is None:
            return self._usual(word, None)
        surname = next(iter(person.surname), None)
        name = _name(surname, person.given, word)
        drawn = self._surname(surname) if surname is not None else None
        apart = self._apart(drawn) if drawn is not None else {}
        return apart.get(name) or self._usual(name.oldest, surname)

    def _surname_of(self, word: str) -> str | None:
        drawn = self._deck.draw(self._deck.pool(Kind.SURNAME, word), word, self._taken)
        if drawn is not None and self._deck.of_note:
            self._taken.add(letters(drawn))
        return drawn

    def _usual_of(self, given: str, surname: str | None) -> str | None:
        return self._given(given, surname, ())

    def _given(self, given: str, surname: str | None, taken: Iterable[str]) -> str | None:
        """The first given name that is not taken, nor the surname that it stands beside."""
        avoid = {*taken, surname} if surname is not None else {*taken}
        return self._deck.draw(self._deck.pool(Kind.GIVEN, given, beside=surname), given, avoid)

    def _apart_of(self, surname: str) -> Mapping[_Name, str]:
        """The given names of those providers with one surrogate of the surname who would have become another one."""
        moved: dict[_Name, str] = {}
        taken: set[str] = set()
        bearers = self._directory.bearers(self._alike.get(surname, ()))
        for name in dict.fromkeys(_name(word, given, next(iter(given))) for word, given in bearers if given):
            drawn = self._usual(name.oldest, name.surname)
            if drawn is not None and letters(drawn) in taken:
                drawn = self._given(name.oldest, name.surname, taken)
                if drawn is not None:
                    moved[name] = drawn
            if drawn is not None:
                taken.add(letters(drawn))
        return moved


class _Name(NamedTuple):
    """A given name with its surname; the oldest spelling decides what is drawn, so that a corrected name keeps it."""

    surname: str | None
    current: str
    oldest: str


def _name(surname: str | None, given: Mapping[str, int], word: str) -> _Name:
    return _Name(surname, *corrected_spellings(given, word))
