"""What a locale hands out: people and addresses.

Belongs here: the records. Does not belong here: drawing them (`locale.py`) or how a note writes them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, repr=False, slots=True)
class Person:
    """Somebody with a name.

    Attributes:
        first: Given name; two where that is one name ("María Teresa", "Jean-Pierre").
        middle: Second given name or father's name; empty for most.
        last: Surname; two in Spain.
        nickname: What people call them; empty where none is known.
        sex: F or M.
    """

    first: str
    middle: str
    last: str
    nickname: str
    sex: str


@dataclass(frozen=True, repr=False, slots=True)
class Address:
    """An address whose parts belong together.

    Attributes:
        street: Street and number, as people of the country write them.
        city: City, town or municipality.
        state: State, province, county or region as people write it; empty where they write none.
        postcode: As written; it lies in the city.
        country: The country's own name for itself in Latin letters, or its English one.
        area: Area code of the city's telephones, as dialled within the country.
        code: What official numbers call the state or province by, where they have it: two digits or letters.
    """

    street: str
    city: str
    state: str
    postcode: str
    country: str
    area: str
    code: str
