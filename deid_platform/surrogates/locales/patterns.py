"""Numbers and names by pattern: "##-???" and "Hospital {honour} of {city}".

Belongs here: reading a pattern once and filling it fast. Does not belong here: the patterns, which are data or stand
with the numbers of a country.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import regex

from deid_platform.surrogates.dice import Dice

_PIECE = regex.compile(r"#+|\?+|[^#?]+")
_SLOT = regex.compile(r"\{(\w+)\}")
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"  # without I, O and Q, which plates and numbers avoid

Filler = Callable[[str], str]


def pattern(dice: Dice, written: str) -> str:
    """The pattern with a digit for each `#` and a capital letter for each `?`."""
    return "".join(
        dice.digits(len(piece))
        if piece[0] == "#"
        else "".join([dice.pick(_LETTERS) for _ in piece])
        if piece[0] == "?"
        else piece
        for piece in _pieces(written)
    )


@lru_cache(maxsize=8192)
def _pieces(written: str) -> tuple[str, ...]:
    return tuple(_PIECE.findall(written))


def fill(template: str, filler: Filler) -> str:
    """The template with what the filler says for each `{slot}`."""
    return "".join([filler(piece) if slot else piece for piece, slot in _slots(template)])


@lru_cache(maxsize=4096)
def _slots(template: str) -> tuple[tuple[str, bool], ...]:
    # A split by one group alternates between what stands and what the group took.
    return tuple((piece, bool(at % 2)) for at, piece in enumerate(_SLOT.split(template)) if piece)


def luhn(digits: str) -> str:
    """The check digit after these digits (ISO/IEC 7812)."""
    total = sum(_LUHN[int(d)] if at % 2 == 0 else int(d) for at, d in enumerate(reversed(digits)))
    return str(-total % 10)


_LUHN = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
