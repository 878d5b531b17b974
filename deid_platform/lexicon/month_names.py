"""Months, days of the week and ordinal numbers in the languages in which notes write dates.

Belongs here: the calendar's words, how a text writes one, and another one written the same way. Does not belong
here: dates (`surrogates/written_dates.py`).

Source: the calendar; abbreviations as common dictionaries of each language give them.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

_FULL = {
    "en": "January February March April May June July August September October November December",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
}
_SHORT = {
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "de": "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
}
# Spellings that are read, and written like the ordinary ones.
_ALSO_FULL = {"es": {"setiembre": 9}, "de": {"Jänner": 1, "Maerz": 3}}
_ALSO_SHORT = {
    "en": {"Sept": 9},
    "it": {"genn": 1, "febb": 2, "sett": 9},
    "es": {"sept": 9, "set": 9},
    "fr": {"jan": 1, "fév": 2, "juill": 7, "sep": 9},
    "de": {"Jän": 1, "Febr": 2, "Mrz": 3, "Sept": 9},
}
_WEEKDAYS = {
    "en": "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed weds thu thur thurs fri sat sun",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica lun mar mer gio ven sab dom",
    "es": "lunes martes miércoles jueves viernes sábado domingo lun mar mié jue vie sáb dom",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonnabend Sonntag Mo Di Mi Do Fr Sa So",
}
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)  # fmt: skip
_ORDINAL_WORDS = _ORDINALS.split()


class MonthName(NamedTuple):
    """A month as some text writes it.

    Attributes:
        language: Whose word it is.
        month: 1 to 12.
        short: Whether it is an abbreviation.
    """

    language: str
    month: int
    short: bool


@lru_cache(maxsize=1024)
def plain(word: str) -> str:
    """A word without case and accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if unicodedata.category(c) != "Mn")


def _readings() -> dict[str, list[MonthName]]:
    found: dict[str, list[MonthName]] = {}
    for language in _FULL:
        for short, names, also in (
            (False, _FULL[language], _ALSO_FULL.get(language, {})),
            (True, _SHORT[language], _ALSO_SHORT.get(language, {})),
        ):
            for month, name in (*enumerate(names.split(), 1), *((number, name) for name, number in also.items())):
                reading = MonthName(language, month, short)
                if reading not in found.setdefault(plain(name), []):
                    found[plain(name)].append(reading)
    return found


_READINGS = _readings()
LANGUAGES = tuple(_FULL)
MONTH_WORDS = tuple(
    sorted({*_READINGS, *(w.casefold() for w in " ".join((*_FULL.values(), *_SHORT.values())).split())})
)
"""Every spelling of a month in small letters, with accents and without."""
WEEKDAY_WORDS = tuple(
    sorted(
        {form for word in " ".join(_WEEKDAYS.values()).split() for form in (word.casefold(), plain(word))}
        - {*MONTH_WORDS}
    )
)
"""Every spelling of a day of the week in small letters, with accents and without; but "mar" is March."""
LONG_WEEKDAY_WORDS = (*(word for word in WEEKDAY_WORDS if len(word) > 2), "mar")
"""Those of more than two letters, and "mar", which is Tuesday too."""
ORDINAL_WORDS = tuple(sorted({form for word in _ORDINAL_WORDS for form in (word, word.replace("-", " "))}))
"""Ordinal numbers in words, first to thirty-first."""


def month_words(language: str, *, short: bool) -> tuple[str, ...]:
    """The twelve months of a language, in full or abbreviated."""
    return tuple((_SHORT if short else _FULL)[language].split())


def read_month(word: str, *, language: str, hyphened: bool = False, linked: bool = False) -> MonthName | None:
    """A month's name as it is written; None if it is no month.

    Args:
        word: The name alone, without a full stop.
        language: The note's; of two languages that share a word, it decides, then English.
        hyphened: Whether it stands between hyphens, where "May" is an abbreviation as "Mar" is.
        linked: Whether a "de" stands beside it, as in Spanish: "marzo" is Italian too.
    """
    readings = _READINGS.get(plain(word))
    if not readings:
        return None
    tongues = (language[:2], "en", *(("es",) if linked else ()))
    mine = next((own for tongue in tongues if (own := [r for r in readings if r.language == tongue])), readings)
    fitting = [r for r in mine if r.short is hyphened]
    return (fitting or mine)[0]


def months_of(word: str) -> frozenset[int]:
    """The months that a word names in any language, in full or abbreviated."""
    return frozenset(reading.month for reading in _READINGS.get(plain(word), ()))


def lengths_of(word: str) -> frozenset[bool]:
    """Whether a word is an abbreviated month, a full one, or as "May" both; empty if it is none."""
    return frozenset(reading.short for reading in _READINGS.get(plain(word), ()))


def write_month(month: int, like: str, name: MonthName) -> str:
    """Another month in the language, length, case and accents of one that was read.

    Of several usual spellings there is one alone: that a "Sept" stayed one would tell that the month is the same.
    """
    word = (_SHORT if name.short else _FULL)[name.language].split()[month - 1]
    if like.isascii() and plain(_own_spelling(name)) != _own_spelling(name).casefold():
        word = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")
    return in_case(word, like)


def _own_spelling(name: MonthName) -> str:
    return (_SHORT if name.short else _FULL)[name.language].split()[name.month - 1]


def in_case(word: str, like: str) -> str:
    """A word in capitals, with a capital, or in small letters, as another one is."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word[0].upper() + word[1:].lower() if like[0].isupper() else word.lower()


def ordinal(day: int) -> str:
    """A day of the month in digits as English writes it: 4th."""
    return f"{day}{'th' if 11 <= day <= 13 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def read_ordinal(word: str) -> int | None:
    """The day that an ordinal number in words names, 1 to 31."""
    spelled = "-".join(word.casefold().replace("-", " ").split())
    return _ORDINAL_WORDS.index(spelled) + 1 if spelled in _ORDINAL_WORDS else None


def write_ordinal(day: int, like: str) -> str:
    """Another day in words, in the case of one that was read."""
    word = _ORDINAL_WORDS[day - 1]
    return in_case(word if "-" in like or " " not in like else word.replace("-", " "), like)
