"""The stand-ins of one patient and those around the patient.

Belongs here: what is drawn within the patient's own scope, for people, and what the topics say of where they live.
Does not belong here: providers (`site_names.py`), or how a stand-in is written into a text (`stand_in.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from deid_platform.detection.naming import name_parts
from deid_platform.detection.reading import fold_term
from deid_platform.notes import Patient
from deid_platform.surrogates import places
from deid_platform.surrogates.names import Deck, Kind, letters, pool_for
from deid_platform.surrogates.numbers import keyed_draw
from deid_platform.surrogates.written_names import Part, Role, nicknames

if TYPE_CHECKING:
    from deid_platform.surrogates.identity import Mention
    from deid_platform.surrogates.persons import Person

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Household:
    """A patient's scope: the keyed order of every pool of names, and what may not be drawn from them.

    Args:
        key: The scope's own secret.
        scope: What it belongs to, a patient or a note without one.
        family: The people whom the topics know, the patient first.
        rows: What the topics say of the patient, the current row first.

    Attributes:
        names: Every folded word of the family's names, with their nicknames.
        avoid: Folded words that nobody's stand-in may be in this patient's notes.
        cities: Folded names of the cities where the patient lives or lived.
        area: The area code of the place that stands in for it.
        numbers: The numbers of the topics, letters and digits alone, without leading zeros.
        lines: The last four digits of the telephone numbers of the topics.
        said: Names already rendered, by their text and who is meant.
    """

    def __init__(self, key: bytes, scope: tuple[str, str], family: Sequence[Person], rows: Sequence[Patient]) -> None:
        self.deck = Deck(key)
        self.draw = keyed_draw(key)
        self.said: dict[Hashable, str | None] = {}
        self._rows = rows
        self._own = scope[1]
        self._state = next((places.home_state(row.city, row.state) for row in rows if row.state or row.city), None)
        city = next((row.city for row in rows if row.city), None)
        self.cities = frozenset(fold_term(row.city) for row in rows if row.city)
        self.area = places.place_for(self.deck, city, self._state, self.cities).area
        own = (field for row in rows for field in (row.mrn, row.ssn, row.phone, row.zip, row.patient_id))
        self.numbers = frozenset("".join(filter(str.isalnum, field)).upper().lstrip("0") for field in own if field)
        phones = ("".join(filter(str.isdigit, row.phone)) for row in rows if row.phone)
        self.lines = frozenset(digits[-4:] for digits in phones)
        self.names = frozenset(
            word
            for person in family
            for own in (*person.given, *person.middle, *person.surname)
            for word in (own, *nicknames(own))
        )
        lived = {letters(word) for row in rows for field in (row.street, row.city) for word in name_parts(field)}
        self.avoid: set[str] = {*self.names, *lived}
        # The family is drawn for first and in the order of the topics, so that no two of it share a stand-in and
        # nobody else's can be one of theirs.
        self._given: dict[tuple[str, ...], str | None] = {}
        self._surnames: dict[str, str | None] = {}
        self._family_words: dict[str, str] = {}
        for person in family:
            self._introduce(person)

    def __repr__(self) -> str:
        return "<Household>"

    def word(self, mention: Mention, part: Part) -> str | None:
        """What stands for one part of a name: a word, or the letter of an initial."""
        person = mention.person
        if part.initial:
            return initial_of(person, part, self.deck, lambda role, word: self.word_of(person, role, word))
        if part.role is Role.SURNAME:
            return self.surname(part.word)
        drawn = self._given_of(person, part)
        if part.nickname and drawn is not None:
            called = (name for name in nicknames(letters(drawn)) if name not in self.avoid)
            return next((name.title() for name in called), drawn)
        return drawn

    def surname(self, word: str) -> str | None:
        """The stand-in of a folded word of a surname, whoever bears it."""
        if word not in self._surnames:
            self._surnames[word] = self.deck.draw(pool_for(Kind.SURNAME, word), word, self.avoid)
        return self._surnames[word]

    def given(self, word: str, sex: str | None = None) -> str | None:
        """The stand-in of a folded given name of somebody whom the topics do not know by an id."""
        key = ("named", word)
        if key not in self._given:
            self._given[key] = self.deck.draw(pool_for(Kind.GIVEN, word, sex), word, self.avoid)
        return self._given[key]

    def plain_word(self, run: str) -> str | None:
        """The stand-in of a word of the family's names inside an address; None for any other word."""
        word = run.lower()
        if word not in self.names:
            return None
        drawn = self._family_words.get(word) or self.surname(word)
        return letters(drawn) if drawn and letters(drawn).isascii() else None

    def state_of(self, city: str | None, zip_code: str | None) -> str | None:
        """The state in which the topics say that a city or a ZIP code of this patient's lies."""
        for row in self._rows:
            same_city = city is not None and row.city is not None and fold_term(row.city) == fold_term(city)
            same_zip = zip_code is not None and row.zip is not None and row.zip[:5] == zip_code[:5]
            if same_city or same_zip:
                return places.home_state(row.city, row.state)
        return None

    def city_of(self, zip_code: str) -> str | None:
        """The city of a ZIP code of this patient's, where the topics know it."""
        return next((row.city for row in self._rows if row.city and row.zip and row.zip[:5] == zip_code[:5]), None)

    def _introduce(self, person: Person) -> None:
        roles = ((Role.SURNAME, person.surname), (Role.GIVEN, person.given), (Role.MIDDLE, person.middle))
        for role, words in roles:
            for word in words:
                drawn = self.word_of(person, role, word)
                if drawn is not None:
                    self.avoid.add(letters(drawn))
                    self._family_words.setdefault(word, drawn)

    def _given_of(self, person: Person | None, part: Part) -> str | None:
        if part.role is not Role.GIVEN or person is None or person.token[0] != "patient":
            return self.given(part.word, person.sex if person is not None else None)
        place = person.given.get(part.word, 0)
        key = (*person.token, str(place))
        if key not in self._given:
            current = next(word for word, where in person.given.items() if where == place)
            pool = pool_for(Kind.GIVEN, current, person.sex, beside=next(iter(person.surname), None))
            # The id decides, not the spelling: a corrected name keeps its stand-in.
            ident = f"{person.token[1]}/{place}"
            self._given[key] = self.deck.draw(pool, current, self.avoid, ident=ident)
        return self._given[key]

    def word_of(self, person: Person | None, role: Role, word: str) -> str | None:
        """The stand-in of a known person's word in a role."""
        if role is Role.SURNAME:
            return self.surname(word)
        return self._given_of(person, Part(0, 1, role, word))


def initial_of(person: Person | None, part: Part, deck: Deck, drawn_for: Callable[[Role, str], str | None]) -> str:
    """The initial of what stands for a person's word; of nobody known, a letter that depends on the original one.

    Args:
        person: Whose initial it is.
        part: The initial as written.
        deck: The scope's.
        drawn_for: The stand-in of a word of this person in a role.
    """
    if person is not None:
        words = {Role.GIVEN: tuple(person.given), Role.MIDDLE: person.middle, Role.SURNAME: person.surname}
        meant = next((word for word in words[part.role] if word[0] == part.word), None)
        if meant is not None and (drawn := drawn_for(part.role, meant)):
            return drawn[0]
    letter = _LETTERS[deck.number("letter", part.role, part.word) % 25]
    return ("z" if letter == part.word else letter).upper()
