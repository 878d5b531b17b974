"""Numbers in words, read as digits: "nineteen ninety-eight", "novantaquattro", "six one four oh double five".

Belongs here: which words of a text are a number, of which value, in each language that notes are shipped in and in
German. Does not belong here: what a number means (a date, an age, a telephone), which detection and the leak check each
settle for themselves.

The library text2num knows the numbers of each language. Around it are what it leaves: spoken digits ("oh", "double
five"), years said in two halves, and words without their accents or umlauts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from text_to_num import find_numbers

LANGUAGES = ("en", "es", "it", "fr", "de")
"""Whose numbers are read."""
_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPACE = re.compile(r"[\s\-‐‑–'’]*")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)?")
_CENTURIES = frozenset(("18", "19", "20"))
_OF_CENTURY = re.compile(r"0\d|[1-9]\d")
_TIMES = {"double": 2, "triple": 3, "treble": 3, "doble": 2, "doppio": 2, "triplo": 3, "doppel": 2, "dreifach": 3}
_ZEROS = frozenset(("oh", "o", "naught"))
_PLAIN = {
    "en": """
    zero oh o double triple one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand first
    second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth
    ninetieth hundredth
    """,
    "es": """
    cero un uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis
    diecisiete dieciocho diecinueve veinte veintiuno veintiun veintidos veintitres veinticuatro veinticinco veintiseis
    veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento
    doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos mil primero doble
    nonagesimo nonagesima centesimo centesima
    """,
    "it": "zero un una cento mille millenovecento milleottocento duemila primo doppio",
    "fr": """
    zero un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt vingts
    trente quarante cinquante soixante septante octante huitante nonante cent cents mille premier double
    """,
    "de": """
    null ein hundert tausend zweitausend neunzehnhundert achtzehnhundert doppel ersten dritten siebten achten siebenten
    """,
}
_ITALIAN_ONES = """
    uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette
    diciotto diciannove
"""
_ITALIAN_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"
_SPANISH_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa"
_SPANISH_ONES = "un uno una dos tres cuatro cinco seis siete ocho nueve"
_GERMAN_ONES = "ein zwei drei vier funf fuenf sechs sieben acht neun"
_GERMAN_TEENS = """
    eins zwei drei vier funf fuenf sechs sieben acht neun zehn elf zwolf zwoelf dreizehn vierzehn funfzehn fuenfzehn
    sechzehn siebzehn achtzehn neunzehn
"""
_GERMAN_TENS = "zwanzig dreissig vierzig funfzig fuenfzig sechzig siebzig achtzig neunzig"


def _italian() -> Iterator[str]:
    """The numbers of Italian that are one word."""
    ones, tens = _ITALIAN_ONES.split(), _ITALIAN_TENS.split()
    small = [*ones, *tens, *(ten[:-1] + one if one[0] in "uo" else ten + one for ten in tens for one in ones[:9])]
    yield from small
    stems = (number if number.endswith(("tre", "sei")) else number[:-1] for number in small[19:])
    yield from (f"{stem}esim{ending}" for stem in stems for ending in "oa")
    yield from (head + tail for head in ("cento", "millenovecento", "milleottocento", "duemila") for tail in small)


def _german() -> Iterator[str]:
    """The numbers of German that are one word."""
    teens, tens = _GERMAN_TEENS.split(), _GERMAN_TENS.split()
    high = [*tens, *(f"{one}und{ten}" for one in _GERMAN_ONES.split() for ten in tens)]
    yield from (*teens, *high, *(f"{number}ten" for number in teens), *(f"{number}sten" for number in high))
    for head in ("hundert", "einhundert", "neunzehnhundert", "achtzehnhundert", "zweitausend", "zweitausendund"):
        yield from (head + tail for tail in (*teens, *high))


# "Ventun marzo", "novantaquattr'anni".
_ITALIAN_STEMS = tuple(ten[:-1] for ten in _ITALIAN_TENS.split())
_ELIDED = {
    number[:-1]: number
    for number in _italian()
    if number.startswith(_ITALIAN_STEMS) and number[-1] == "o" and not number.endswith("esimo")
}
# "Noventaicuatro", in one word.
_FUSED = {
    f"{ten}{link}{one}": f"{3 + tens}{max(1, ones - 1)}"
    for tens, ten in enumerate(_SPANISH_TENS.split())
    for ones, one in enumerate(_SPANISH_ONES.split())
    for link in "iy"
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _PLAIN.items()}
_WORDS_OF["it"] |= frozenset(_italian())
_WORDS_OF["it"] |= _ELIDED.keys()
_WORDS_OF["es"] |= _FUSED.keys()
_WORDS_OF["de"] |= frozenset(_german())
_ALONE = frozenset(("o", "une"))
NUMBER_WORDS: frozenset[str] = frozenset().union(*_WORDS_OF.values()) - _ALONE
"""The words of all languages by which numbers are written, without accents and umlauts."""
# Words as they are written without accents and umlauts.
_SPELLINGS = {"veintidos": "veintidós", "veintitres": "veintitrés", "veintiun": "veintiuno", "veintiún": "veintiuno"}
_SPELLINGS |= {f"{stem}esim{ending}": f"{stem}ésim{ending}" for stem in ("nonag", "cent") for ending in "oa"}
_GERMAN = re.compile(r"f(?:u|ue)nf|zw(?:o|oe)lf")


class Numeral(NamedTuple):
    """A number of a text.

    Attributes:
        start: Where it begins.
        end: Where it ends, exclusive.
        digits: It in digits; with a zero before it where one is said ("oh four").
        spelled: Whether it is in words.
        ordinal: Whether it is one like "fourth".
    """

    start: int
    end: int
    digits: str
    spelled: bool = True
    ordinal: bool = False

    @property
    def value(self) -> float:
        """What it counts."""
        return float(self.digits.replace(",", "."))


class _Word:
    """A word as the library wants it."""

    __slots__ = ("apart", "number", "written")

    def __init__(self, written: str, *, apart: bool, number: bool) -> None:
        self.written, self.apart, self.number = written, apart, number

    def text(self) -> str:
        return self.written

    def nt_separated(self, previous: _Word) -> bool:  # noqa: ARG002 - as the library calls it
        return self.apart

    def not_a_number_part(self) -> bool:
        return self.number


def numerals(text: str, language: str) -> tuple[Numeral, ...]:
    """The numbers of a text in order, in words and in digits; a year said in two halves is one.

    Args:
        text: As it is written, or folded. Short: each word of it costs some microseconds.
        language: One of `LANGUAGES`.
    """
    places = [match.span() for match in _TOKEN.finditer(text)]
    spelled = not text.isascii() or not _WORDS_OF[language].isdisjoint(_LETTERS.findall(text.casefold()))
    if not spelled:
        return tuple(
            Numeral(*place, text[slice(*place)], spelled=False) for place in places if text[place[0]].isdigit()
        )
    words: list[_Word] = []
    last = 0
    for start, end in places:
        apart = _SPACE.fullmatch(text, last, start) is None
        written = text[start:end]
        spelling = _spelling(written.casefold(), language)
        words.append(_Word(spelling, apart=apart, number=spelling[0].isdigit()))
        last = end
    numbers = [
        Numeral(places[place][0], places[place][1], word.written, spelled=text[places[place][0]].isalpha())
        for place, word in enumerate(words)
        if word.number
    ]
    for occurrence in find_numbers(words, language, 0.0):
        digits = _DIGITS.match(occurrence.text)
        if digits is None:
            continue
        first, end = occurrence.start, occurrence.end
        if all(_is_zero(text[slice(*place)]) for place in places[first:end]):
            continue  # "oh" alone
        read = digits.group()
        times = _TIMES.get(words[first - 1].written) if first and not words[first].apart else None
        if times is not None and len(read) == 1:
            read, first = read * times, first - 1
        numbers.append(Numeral(places[first][0], places[end - 1][1], read, ordinal=occurrence.is_ordinal))
    numbers.sort()
    return tuple(_with_years(text, numbers))


def in_digits(text: str, language: str) -> str:
    """A text with the numbers in words written in digits, ordinal ones without their endings."""
    return _written(text, numerals(text, language))


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """A short text in digits, in the language of which it holds most words for numbers; itself where it holds none."""
    if text.isascii() and NUMBER_WORDS.isdisjoint(_LETTERS.findall(text.casefold())):
        return text
    read = [[n for n in numerals(text, language) if n.spelled] for language in LANGUAGES]
    best = max(read, key=lambda numbers: sum(n.end - n.start for n in numbers) - len(numbers))
    return _written(text, best)


def _written(text: str, numbers: Iterable[Numeral]) -> str:
    pieces: list[str] = []
    position = 0
    for number in numbers:
        if number.spelled:
            pieces += (text[position : number.start], number.digits)
            position = number.end
    return "".join((*pieces, text[position:]))


def _spelling(word: str, language: str) -> str:
    if language == "de":
        word = "siebten" if word == "siebenten" else word
        return _GERMAN.sub(lambda m: "fünf" if m[0][0] == "f" else "zwölf", word)
    if language == "es" and word in _FUSED:
        return _FUSED[word]
    if language == "fr" and word.endswith("ieme"):
        return f"{word[:-4]}ième"
    if language == "en" and _is_zero(word):
        return "zero"
    return _ELIDED.get(word, word) if language == "it" else _SPELLINGS.get(word, word)


def _is_zero(word: str) -> bool:
    return word.casefold() in _ZEROS


def _with_years(text: str, numbers: list[Numeral]) -> Iterator[Numeral]:
    """The same numbers, but the two halves of a year as one: the last two of "three nineteen nineteen thirty-one"."""
    place = 0
    while place < len(numbers):
        one = numbers[place]
        if _halves(text, numbers, place) and not _halves(text, numbers, place + 1):
            two = numbers[place + 1]
            yield Numeral(one.start, two.end, one.digits + two.digits)
            place += 1
        else:
            yield one
        place += 1


def _halves(text: str, numbers: list[Numeral], place: int) -> bool:
    """Whether a number and the next are the halves of a year."""
    if place + 1 >= len(numbers):
        return False
    one, two = numbers[place : place + 2]
    if not (one.spelled and two.spelled) or one.ordinal or one.digits not in _CENTURIES:
        return False
    return _OF_CENTURY.fullmatch(two.digits) is not None and _SPACE.fullmatch(text, one.end, two.start) is not None
