"""Numbers that a text says in words, one beside another, as a dictation leaves them.

Belongs here: the rows of numbers and months' names of a text. Does not belong here: whose date (`births.py`) or number
(`roster.py`) a row is, or what is an age (`ages.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from deid_platform.text.numerals import LANGUAGES, NUMBER_WORDS, numerals

_MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan febr mar apr may june july aug sept oct nov dec",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "gen febb mar apr mag giu lug ago sett ott nov dic",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz april mai juni juli august september okt november dez",
    "ene feb mar abr may jun jul ago set oct nov dic",
)
MONTHS = {name: month for names in _MONTH_NAMES for month, name in enumerate(names.split(), 1)}
"""The months' names and what they are shortened to, without accents."""
_BETWEEN = frozenset(
    """
    of the and day in year slash dash hyphen stroke then followed by space st nd rd th
    de del dia ano y el en barra guion di il nel anno le du l an et annee tiret barre
    der den am im jahr jahre und strich er
    dellanno lannee monats like mean rather month mes mese mois monat giorno jour tag luego poi puis dann dash space
    um umm uh uhh erm hm wait sorry correction no eh ehm euh ah ahm perdon digo correccion scusi anzi correzione pardon
    """.split()  # noqa: SIM905 - a list literal would fill a screen
)
_LAST = "last"
_LEAST = 3
_SEVEN = ("sept", "fr")
_LONGEST = 40  # tokens of a row that are read together


class Item(NamedTuple):
    """A number in digits, or a month.

    Attributes:
        digits: The number; of a month its own.
        month: Whether it is a month's name.
        spelled: Whether it is a number in words.
    """

    digits: str
    month: bool = False
    spelled: bool = False


Row = tuple[Item, ...]


def said_rows(tokens: Sequence[str]) -> tuple[Row, ...]:
    """The rows of three numbers or months and more, at least one of them in words, as each language reads them.

    Args:
        tokens: The tokens of a folded text.
    """
    if _LAST in tokens:
        tokens = _without_lengths(tokens)
    rows: dict[Row, None] = {}
    for row in _stretches(tokens):
        for language in LANGUAGES:
            rows[tuple(_items(row, language))] = None
    return tuple(row for row in rows if len(row) >= _LEAST and any(item.spelled for item in row))


def _without_lengths(tokens: Sequence[str]) -> Sequence[str]:
    """The tokens but for "the last four digits", which says how many digits of the same number follow."""
    kept: list[str] = []
    for place, word in enumerate(tokens):
        if word in (_LAST, "digits") or (word in ("three", "four") and place and tokens[place - 1] == _LAST):
            continue
        kept.append(word)
    return kept


def _stretches(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """Tokens that may be a row, around each word for a number, from the first number or month to the last."""
    reached = 0
    for place in compress(range(len(tokens)), map(NUMBER_WORDS.__contains__, tokens)):
        if place < reached:
            continue
        first = last = place
        before, behind = place - 1, place + 1
        while before >= reached and _belongs(tokens[before]):
            first = first if tokens[before] in _BETWEEN else before
            before -= 1
        while behind < len(tokens) and behind - first < _LONGEST and _belongs(tokens[behind]):
            last = last if tokens[behind] in _BETWEEN else behind
            behind += 1
        reached = behind
        if last - first + 1 >= _LEAST:
            yield tokens[first : last + 1]


def _belongs(token: str) -> bool:
    return token in NUMBER_WORDS or token in MONTHS or token in _BETWEEN or token.isdecimal()


def _items(row: Sequence[str], language: str) -> Iterator[Item]:
    numbers: list[str] = []
    for token in (*row, ""):
        if token and (token not in MONTHS or (token, language) == _SEVEN):
            numbers.append(token)
            continue
        for number in numerals(" ".join(numbers), language):
            yield Item(number.digits, spelled=number.spelled)
        numbers.clear()
        if token:
            yield Item(str(MONTHS[token]), month=True)
