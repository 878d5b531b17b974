"""How long a person keeps a surrogate: in all notes, in one note, or for some mentions of one.

Belongs here: the choice, and within a note who has come to which surrogate. Does not belong here: what is drawn
(`household_names.py`, `site_names.py`), or what a reader tells from each choice
(`evaluation/disclosure/plain_sight.py`).

Names of people and numbers follow the choice. Places, institutions and dates do not: an address agrees with its area
code in every note, dates keep their intervals, and a state has 49 others, so that the one that never comes would be the
true one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

MOST_REPEATS = 3
"""How many mentions in a row of one person have one surrogate at the most, where it varies."""


class Consistency(StrEnum):
    """Where a person has one surrogate.

    CONSISTENT: in all notes of a patient and, for staff, of the site. PER_NOTE: in one note; another one in the next.
    VARIED: for some mentions. At each one the last surrogate stays with a chance of a half, and for no more than
    `MOST_REPEATS`: the Markov chain of BRATsynthetic (Osborne 2025, doi 10.3390/electronics14193945), which knows no
    such limit.
    """

    CONSISTENT = "consistent"
    PER_NOTE = "per_note"
    VARIED = "varied"


class Chain:
    """Which surrogate in a row each person of one note has come to, mention by mention.

    Args:
        number: The note's own keyed numbers: the same note gives the same chain.
    """

    def __init__(self, number: Callable[..., int]) -> None:
        self._number = number
        # Of each person: the mentions so far, the surrogate in a row, and its mentions.
        self._at: dict[tuple[str, ...], tuple[int, int, int]] = {}

    def __repr__(self) -> str:
        return "<Chain>"

    def next(self, who: Sequence[str]) -> int:
        """The surrogate of a person's next mention, from 0."""
        whom = tuple(who)
        mentions, link, repeats = self._at.get(whom, (0, 0, 0))
        if mentions and (repeats == MOST_REPEATS or self._number("stays", *whom, str(mentions)) % 2):
            link, repeats = link + 1, 0
        self._at[whom] = mentions + 1, link, repeats + 1
        return link
