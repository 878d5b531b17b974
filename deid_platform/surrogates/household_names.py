"""The surrogates of the names of one patient and of those around the patient.

Belongs here: what is drawn within the patient's own scope for people. Does not belong here: providers
(`site_names.py`), where the patient lives (`household.py`), or how a surrogate is written into a text (`keyed.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING

from deid_platform.surrogates.names import Deck, Kind, letters
from deid_platform.surrogates.written_names import NamePart, Role, nicknames
from deid_platform.text.names import name_parts

if TYPE_CHECKING:
    from deid_platform.surrogates.identity import Mention
    from deid_platform.surrogates.persons import Person


class HouseholdNames:
    """Draws for a patient's scope.

    Args:
        deck: The scope's keyed orders.
        family: The people whom the topics know, the patient first.
        lived: Streets and cities where the patient lives or lived.

    Attributes:
        known: Every folded word of the family's names, with their nicknames.
        avoid: Folded words that no surrogate drawn here may be: of the family's names, of where they live, and the
            family's surrogates; within one note, everybody's.
        people: Folded given names and surnames of the family's surrogates, as they may stand together.
    """

    def __init__(self, deck: Deck, family: Sequence[Person], lived: Iterable[str | None]) -> None:
        self._deck = deck
        self.known = frozenset(
            word
            for person in family
            for own in (*person.given, *person.middle, *person.surname)
            for word in (own, *nicknames(own))
        )
        self.avoid = {*self.known, *(letters(word) for field in lived for word in name_parts(field))}
        # The family is drawn for first and in the order of the topics, so that no two of it share a surrogate and
        # nobody else's can be one of theirs.
        self._given: dict[tuple[str, ...], str | None] = {}
        self._surnames: dict[str, str | None] = {}
        self._family_words: dict[str, str] = {}
        self.people: set[tuple[str, str]] = set()
        for person in family:
            self._introduce(person)

    def __repr__(self) -> str:
        return "<HouseholdNames>"

    def word(self, mention: Mention, part: NamePart) -> str | None:
        """What stands for one part of a name: a word, or the letter of an initial."""
        person = mention.person
        if part.initial:
            return initial_of(person, part, self._deck, lambda role, word: self._word_of(person, role, word))
        if part.role is Role.SURNAME:
            return self._surname(part.word)
        drawn = self._given_of(person, part.role, part.word)
        return nickname_of(drawn, self._deck, self.avoid) if part.nickname and drawn is not None else drawn

    def plain_word(self, run: str) -> str | None:
        """The surrogate of a word of the family's names inside an address; None for any other word."""
        word = run.lower()
        if word not in self.known:
            return None
        drawn = self._family_words.get(word) or self._surname(word)
        return letters(drawn) if drawn and letters(drawn).isascii() else None

    def _introduce(self, person: Person) -> None:
        roles = ((Role.SURNAME, person.surname), (Role.GIVEN, person.given), (Role.MIDDLE, person.middle))
        made: list[list[str]] = []
        for role, words in roles:
            made.append([])
            for word in words:
                drawn = self._word_of(person, role, word)
                if drawn is not None:
                    made[-1].append(folded := letters(drawn))
                    self.avoid.add(folded)
                    self._family_words.setdefault(word, drawn)
        surnames, given, _ = made
        self.people.update((one, two) for one in given for two in surnames)

    def _surname(self, word: str) -> str | None:
        """The surrogate of a folded word of a surname, whoever bears it."""
        if word not in self._surnames:
            self._surnames[word] = self._deck.draw(self._deck.pool(Kind.SURNAME, word), word, self.avoid)
            self._take(self._surnames[word])
        return self._surnames[word]

    def _named(self, word: str, sex: str | None) -> str | None:
        """The surrogate of a folded given name of somebody whom the topics do not know by an id."""
        key = ("named", word)
        if key not in self._given:
            self._given[key] = self._deck.draw(self._deck.pool(Kind.GIVEN, word, sex), word, self.avoid)
            self._take(self._given[key])
        return self._given[key]

    def _take(self, drawn: str | None) -> None:
        """Keeps a drawn name from anybody else, where that is asked for one note: elsewhere what a name has must not
        hang on which came first."""
        if drawn is not None and self._deck.of_note:
            self.avoid.add(letters(drawn))

    def _given_of(self, person: Person | None, role: Role, word: str) -> str | None:
        if role is not Role.GIVEN or person is None or person.token[0] != "patient":
            return self._named(word, person.sex if person is not None else None)
        place = person.given.get(word, 0)
        key = (*person.token, str(place))
        if key not in self._given:
            current = next(word for word, where in person.given.items() if where == place)
            pool = self._deck.pool(Kind.GIVEN, current, person.sex, beside=next(iter(person.surname), None))
            # The id decides, not the spelling: a corrected name keeps its surrogate.
            ident = f"{person.token[1]}/{place}"
            self._given[key] = self._deck.draw(pool, current, self.avoid, ident=ident)
        return self._given[key]

    def _word_of(self, person: Person | None, role: Role, word: str) -> str | None:
        """The surrogate of a known person's word in a role."""
        if role is Role.SURNAME:
            return self._surname(word)
        return self._given_of(person, role, word)


def nickname_of(drawn: str, deck: Deck, avoid: Container[str]) -> str:
    """What somebody with a drawn given name is called; the given name where there is no nickname to be had."""
    called = (name for name in nicknames(letters(drawn)) if name not in avoid and deck.holds(name))
    return next((name.title() for name in called), drawn)


def initial_of(person: Person | None, part: NamePart, deck: Deck, drawn_for: Callable[[Role, str], str | None]) -> str:
    """The initial of what stands for a person's word; of nobody known, a letter that depends on the original one.

    Args:
        person: Whose initial it is.
        part: The initial as written.
        deck: The scope's.
        drawn_for: The surrogate of a word of this person in a role.
    """
    if person is not None:
        words = {Role.GIVEN: tuple(person.given), Role.MIDDLE: person.middle, Role.SURNAME: person.surname}
        meant = next((word for word in words[part.role] if word[0] == part.word), None)
        if meant is not None and (drawn := drawn_for(part.role, meant)):
            return drawn[0]
    return deck.letter(part.role, part.word).upper()
