"""People's surrogates written into a text: every part of a name replaced, what stands between them left.

Belongs here: one set of surrogates, a patient's household and the site's staff, for as long as it stands, and rendering
a span by it. Does not belong here: whom a span means (`identity.py`), what is drawn (`household_names.py`,
`site_names.py`), or which set a mention has (`keyed.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import regex
from anyascii import anyascii

from deid_platform.surrogates.household_names import HouseholdNames
from deid_platform.surrogates.names import Deck, letters
from deid_platform.surrogates.numbers import Draw, scrambled
from deid_platform.surrogates.site_names import SiteNames
from deid_platform.surrogates.written_names import Role

if TYPE_CHECKING:
    from deid_platform.surrogates.identity import Mention

_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’ʼ]\p{L}+)*")


class People:
    """One set of surrogates of people.

    Args:
        names: Makes those of the household; asked once, when somebody is to be replaced.
        site_names: The same for staff.
        deck: The keyed orders of the household.
        draw: The keyed function for what is drawn for the patient, names and places aside.
        site_draw: The same for what is drawn for staff.

    Attributes:
        number: The household's keyed numbers.
        draw, site_draw: As given.
        said: Names already rendered, by their text and who is meant.
    """

    def __init__(
        self,
        names: Callable[[], HouseholdNames],
        site_names: Callable[[], SiteNames],
        deck: Deck,
        draw: Draw,
        site_draw: Draw,
    ) -> None:
        self._names, self._site_names = names, site_names
        self.number = deck.number
        self.draw, self.site_draw = draw, site_draw
        self.said: dict[Hashable, str | None] = {}

    def __repr__(self) -> str:
        return "<People>"

    @cached_property
    def names(self) -> HouseholdNames:
        """The surrogates of the family and of those around it."""
        return self._names()

    @cached_property
    def site_names(self) -> SiteNames:
        """The surrogates of staff."""
        return self._site_names()


Told: TypeAlias = "Sequence[tuple[Mention, People]]"
"""Who is meant by a span, each with the set that holds for this mention."""


def written(surface: str, told: Told) -> str | None:
    """A span's names with every part replaced; what stands between them stays. None where a tag has to stand."""
    if len({id(people) for _, people in told}) > 1:
        return _render(surface, told)
    said = told[0][1].said
    key = (surface, *((m.token, m.site, m.parts, m.person.middle if m.person else ()) for m, _ in told))
    if key not in said:
        said[key] = _render(surface, told)
    return said[key]


def _render(surface: str, told: Told) -> str | None:
    pieces: list[str] = []
    kept: list[str] = []
    position = 0
    for mention, people in told:
        names = people.names
        here: dict[Role, str] = {}
        for part in mention.parts:
            drawn = people.site_names.word(mention, part) if mention.site else names.word(mention, part)
            if drawn is None:
                return None
            here[part.role] = letters(drawn)
            kept.append(surface[position : part.start])
            pieces += (kept[-1], dressed(drawn, surface[part.start : part.end]))
            position = part.end
        if mention.site and (here.get(Role.GIVEN), here.get(Role.SURNAME)) in names.people:
            return None
    kept.append(surface[position:])
    pieces.append(kept[-1])
    # Titles and particles stay, but never a word that is a name in this family.
    if any(letters(word) in told[0][1].names.known for word in _WORD.findall("\n".join(kept))):
        return None
    made = "".join(pieces)
    if made == surface:
        people = told[0][1]
        return _other_initials(people.site_draw if all(m.site for m, _ in told) else people.draw, surface)
    return made


def dressed(drawn: str, surface: str) -> str:
    """A name in the case of the original, and without accents where that has none."""
    if surface.isascii() and not drawn.isascii():
        drawn = anyascii(drawn)
    if surface.isupper() and (len(surface) > 1 or len(drawn) == 1):
        return drawn.upper()
    return drawn.lower() if surface.islower() else drawn


def _other_initials(draw: Draw, surface: str) -> str | None:
    """Other letters, for initials that came out as they were."""
    return scrambled(draw, surface) if surface.isascii() and len(surface) <= 8 else None
