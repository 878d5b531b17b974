"""What one patient's notes have in common: the keyed orders of the scope, the names, where the patient lives.

Belongs here: a patient's scope, and what the topics say of numbers and places in it. Does not belong here: how names
are drawn (`household_names.py`), or how a surrogate is written into a text (`people.py`, `keyed.py`).

All but the key is worked out when a note first asks for it: most notes name nobody but in dates and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from deid_platform.notes import Patient
from deid_platform.surrogates import places
from deid_platform.surrogates.household_names import HouseholdNames
from deid_platform.surrogates.names import Deck
from deid_platform.surrogates.numbers import keyed_draw
from deid_platform.surrogates.pools import Share
from deid_platform.text.fold import fold_term

if TYPE_CHECKING:
    from deid_platform.surrogates.persons import Person


class Household:
    """A patient's scope.

    Args:
        key: The scope's own secret.
        family: Gives the people whom the topics know, the patient first; asked once, when a name is to be replaced.
        rows: What the topics say of the patient, the current row first.
        share: Draws names of people from this share alone.

    Attributes:
        deck: The keyed order of every pool.
        draw: The scope's keyed function.
    """

    def __init__(
        self, key: bytes, family: Callable[[], Sequence[Person]], rows: Sequence[Patient], share: Share | None = None
    ) -> None:
        self.deck = Deck(key, share)
        self.draw = keyed_draw(key)
        self._family = family
        self._rows = rows

    def __repr__(self) -> str:
        return "<Household>"

    def names_from(self, deck: Deck) -> HouseholdNames:
        """The surrogates of the family and of those whom the notes name: this scope's, or those of one of its notes."""
        lived = (field for row in self._rows for field in (row.street, row.city))
        return HouseholdNames(deck, self._family(), lived)

    @cached_property
    def cities(self) -> frozenset[str]:
        """Folded names of the cities where the patient lives or lived."""
        return frozenset(fold_term(row.city) for row in self._rows if row.city)

    @cached_property
    def streets(self) -> frozenset[str]:
        """Folded words of the streets where the patient lives or lived."""
        return frozenset(word for row in self._rows for word in places.street_words(row.street))

    @cached_property
    def area(self) -> str:
        """The area code of the place that stands in for where the patient lives."""
        state = next((places.home_state(row.city, row.state) for row in self._rows if row.state or row.city), None)
        city = next((row.city for row in self._rows if row.city), None)
        return places.place_for(self.deck, city, state, self.cities).area

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers of the topics, letters and digits alone, without leading zeros."""
        own = (field for row in self._rows for field in (row.mrn, row.ssn, row.phone, row.zip, row.patient_id))
        return frozenset("".join(filter(str.isalnum, field)).upper().lstrip("0") for field in own if field)

    @cached_property
    def lines(self) -> frozenset[str]:
        """The last four digits of the telephone numbers of the topics."""
        return frozenset("".join(filter(str.isdigit, row.phone))[-4:] for row in self._rows if row.phone)

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
