"""The stand-ins of providers, the same in every patient's notes.

Belongs here: what is drawn within the site's scope for people. Does not belong here: patients and those around them
(`household_names.py`).

A provider's surname is drawn by the name, so that a bare mention agrees with a full one; of several providers with
one surname only the first is, the others by their ids, and the surname alone, which is none of them, by itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from deid_platform.surrogates.household_names import HouseholdNames, initial_of, nickname_of
from deid_platform.surrogates.names import Deck, Kind, Pool, letters
from deid_platform.surrogates.written_names import Part, Role

if TYPE_CHECKING:
    from deid_platform.surrogates.identity import Directory, Mention
    from deid_platform.surrogates.persons import Person


class SiteNames:
    """Draws for the site.

    Args:
        deck: The site's keyed orders.
        directory: Who shares a surname with whom.
    """

    def __init__(self, deck: Deck, directory: Directory) -> None:
        self._deck = deck
        self._directory = directory
        self._usual = lru_cache(maxsize=16384)(self._usual_of)
        self._namesakes: dict[str, dict[str, str]] = {}

    def __repr__(self) -> str:
        return "<SiteNames>"

    def word(self, mention: Mention, part: Part, household: HouseholdNames) -> str | None:
        """What stands for one part of a name in a patient's notes: a word, or the letter of an initial.

        Args:
            mention: Who is meant.
            part: The part as written.
            household: The patient's names: nothing of the family's may be drawn, nor what stands in for it.
        """
        person = mention.person
        if part.initial:
            return initial_of(person, part, self._deck, lambda role, word: self._drawn(person, role, word, household))
        drawn = self._drawn(person, part.role, part.word, household)
        return nickname_of(drawn, self._deck, household.avoid) if part.nickname and drawn is not None else drawn

    def _drawn(self, person: Person | None, role: Role, word: str, household: HouseholdNames) -> str | None:
        if role is Role.SURNAME:
            return self._surname(person, word, household)
        return self._given(person, word, household)

    def _given(self, person: Person | None, word: str, household: HouseholdNames) -> str | None:
        ident = None
        if person is not None and person.token[0] == "provider":
            ident = f"{person.token[1]}/{person.given.get(word, 0)}"
        beside = next(iter(person.surname), None) if person is not None else None
        return self._draw(self._deck.pool(Kind.GIVEN, word, beside=beside), word, ident, household)

    def _surname(self, person: Person | None, word: str, household: HouseholdNames) -> str | None:
        pool = self._deck.pool(Kind.SURNAME, word)
        table = self._table(word)
        if not table:
            return self._draw(pool, word, None, household)
        known = table.get(person.token[-1]) if person is not None and person.token[0] == "provider" else None
        if known is not None and letters(known) not in household.avoid:
            return known
        ident = "/".join(person.token) if person is not None else f"alone/{word}"
        taken = {letters(drawn) for drawn in table.values()}
        return self._deck.draw(pool, word, household.avoid | taken, ident=ident)

    def _usual_of(self, pool: Pool, word: str, ident: str | None) -> str | None:
        return self._deck.draw(pool, word, (), ident=ident)

    def _draw(self, pool: Pool, word: str, ident: str | None, household: HouseholdNames) -> str | None:
        """The usual stand-in, or the next one where the family has that name."""
        usual = self._usual(pool, word, ident)
        if usual is None or letters(usual) not in household.avoid:
            return usual
        return self._deck.draw(pool, word, household.avoid, ident=ident)

    def _table(self, word: str) -> dict[str, str]:
        """The stand-in of a surname for each provider who bears it, no two the same."""
        table = self._namesakes.get(word)
        if table is None:
            table = self._namesakes[word] = {}
            pool = self._deck.pool(Kind.SURNAME, word)
            taken: set[str] = set()
            for place, provider_id in enumerate(self._directory.namesakes(word)):
                ident = None if place == 0 else f"provider/{provider_id}"
                drawn = self._deck.draw(pool, word, taken, ident=ident)
                if drawn is not None:
                    table[provider_id] = drawn
                    taken.add(letters(drawn))
        return table
