"""True dates beside shifted ones: any of them tells how far a patient's dates were moved.

Belongs here: the shapes that are doubtful among tags and a leak under a shift, since a detector passes over them: in
file names and numbers, with dots, without a year. Does not belong here: dates that leak under every policy
(`shapes.py`), or the patient's birth (`births.py`).

What could be an ordinary number counts by where it lies in the calendar: a reading within two weeks of the note's own
date is taken for a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from deid_platform.leakcheck.comparable import GAP, ComparableText
from deid_platform.text.numerals import LANGUAGES, NUMBER_WORDS, numerals

NEAR_NOTE = timedelta(days=14)
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12][0-9]|3[01])"
_YEAR = r"(?:19|20)[0-9]{2}"
# In a longer number too: unique ids, accession numbers and names of files are made of dates.
_COMPACT = re.compile(rf"[12](?:(?<=1)9|(?<=2)0)[0-9]{{2}}{_MONTH}{_DAY}")
_COMPACT_YEAR_LAST = re.compile(rf"[0-3](?<![0-9].)(?:[0-9]{_DAY}|[0-9]{_MONTH}){_YEAR}(?![0-9])")
_PARTED = re.compile(
    rf"[12](?<![0-9].)(?:(?<=1)9|(?<=2)0)[0-9]{{2}}(?:(?P<mark>[_.-])0?(?P<one>[0-9]{{1,2}})(?P=mark)0?(?P<two>[0-9]{{1,2}})"
    rf"|\s{_MONTH}\s{_DAY}|-?(?P<ordinal>[0-3][0-9]{{2}}))(?![0-9])"
)
_PARTED_YEAR_LAST = re.compile(
    rf"[0-9](?<![0-9.].)[0-9]?(?P<mark>[\s_.-])[0-9]{{1,2}}(?P=mark){_YEAR}(?![0-9])",
)
# The week or the day of a year that was moved.
_OF_YEAR = re.compile(rf"(?:week|wk|day)\s[0-9]{{1,3}},?\s(?:of\s|in\s)?{GAP}|{GAP}-?w[0-5][0-9](?![0-9])")
_DOTTED = re.compile(r"[0-9](?<![0-9.].)[0-9]?\.[0-9]{1,2}\.[0-9]{2}(?![0-9]|\.[0-9])")
_NO_DATE_BEFORE = re.compile(r"(?:\bv|version|release|section|sec|chapter|fig(?:ure)?|table|step|item|§)\.?\s?$")
_SLASHED = re.compile(r"[0-9](?<![0-9/.,-].)[0-9]?/[0-9]{1,2}(?![0-9/%]|[.-][0-9])")
_CUE = re.compile(
    r"(?<![^\W_])(?:(?:wk|week|weekend|as)\s(?:of|ending)|dated?|dos|admit(?:ted)?|d/c(?:'?d)?|discharged?|due|edc|edd|lmp"
    r"|since|until|till|appt|appointment|scheduled(?:\sfor)?|seen|visit|collected|drawn|dob|born|last|next"
    r"|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6})[.,:]?\s{1,2}(?:on\s)?(?:the\s)?$"
)
_DASHED = re.compile(r"[0-9](?<![0-9/.,-].)[0-9]?-[0-9]{1,2}(?:-[0-9]{2})?(?![0-9/-]|\.[0-9]|\s?%)")
_SIX = re.compile(r"[0-9](?<![0-9.].)[0-9]{5}(?![0-9]|\.[0-9])")
_DAY_AND_MONTH = re.compile(r"[0-9](?<![0-9.].)[0-9]?\.\s?[0-9]{1,2}\.(?![0-9])")
_NTH = re.compile(
    r"\b(?:on|since|until|till|by|from|before|after)\sthe\s[0-3]?[0-9](?:st|nd|rd|th)(?=\s*(?:[.,;)\n]|$|(?:and|for|at|to"
    r"|with|she|he|they|pt|patient|in|when|because)\b))"
)
_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_SHORT_YEAR = re.compile(
    r"(?<![^\W_])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s?'[0-9]{2}(?![0-9])"
)
_UNIT = re.compile(
    r"\s?(?:mg|mcg|ml|cc|cm|mm|units?|tabs?|tablets?|caps?|drops?|doses?|days?|weeks?|wks?|months?|x|strength)\b|\s?[\"”]|\s?inch"
)
# What scores are out of, and "3/7" and "3/12" for days and months: behind a word for a date alone are these a day.
_OUT_OF = frozenset((2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 18, 21, 24, 27, 28, 30))
_THIRDS = frozenset(((1, 3), (2, 3)))

# What closes the phrase behind a year leaves no room for a unit.
_YEAR_ALONE = re.compile(
    r"[12](?<![0-9.].)(?:(?<=1)9[0-9]|(?<=2)0[0-4])[0-9](?=\s{0,3}(?:[,;)]|\.?(?:\s|\Z)))(?!\s{1,3}[^\W_]|[^\n]{0,3}[:%/])"
)
_YEAR_CUE = re.compile(
    r"(?:(?<![^\W_])(?:in|since|until|till|during|circa|year|dx'?d|born|s/p|before|after)\s{1,3}|\(\s?"
    rf"|{GAP}[\s,]{{1,3}}|(?<![^\W_])(?:[fc]y|q[1-4])[\s'/-]{{0,2}}|(?<![0-9]){_YEAR}-)\Z"
)


_YEAR_WORDS = frozenset(("nineteen", "twenty", "thousand", "mil", "mille", "cent")) | {
    word for word in NUMBER_WORDS if word.startswith(("millenovecento", "duemila", "neunzehnhundert", "zweitausend"))
}
_SAID_YEAR = re.compile(
    r"(?<![^\W_])(?:in|since|until|till|during|circa|year|born|before|after|desde|hasta|en|ano|nel|dal|anno|depuis|annee"
    r"|jahr|seit|bis)\s{1,3}(?P<phrase>[^\W\d_]{3,}(?:[\s-][^\W\d_]{1,20}){0,7})(?=\s{0,3}(?:[,;.)]|\Z))"
)
_CENTURY = re.compile(r"19\d\d|20[0-4]\d")
# Written in one word it is a year, whatever stands before it.
_YEARS_IN_ONE_WORD = frozenset(
    word for word in NUMBER_WORDS if re.fullmatch(r"(?:neunzehnhundert|zweitausend(?:und)?)[a-z]{4,}", word)
)


def year_left(reading: ComparableText) -> bool:
    """Whether a text shows a year that stands alone, where nothing but a year can be meant."""
    text = reading.folded
    return any(
        _YEAR_CUE.search(text, max(0, m.start() - 12), m.start()) for m in _YEAR_ALONE.finditer(text)
    ) or _year_said(reading)


def _year_said(reading: ComparableText) -> bool:
    """The same of a year in words."""
    if _YEAR_WORDS.isdisjoint(reading.words):
        return False
    if not _YEARS_IN_ONE_WORD.isdisjoint(reading.words):
        return True
    for match in _SAID_YEAR.finditer(reading.folded):
        phrase = match["phrase"]
        for language in LANGUAGES:
            year = next(iter(numerals(phrase, language)), None)
            if year is not None and (year.start, year.end) == (0, len(phrase)) and _CENTURY.fullmatch(year.digits):
                return True
    return False


def dates_left(reading: ComparableText, written: date | None, *, language: str = "en") -> bool:
    """Whether a text still shows a date that tells the shift.

    Args:
        reading: The text, a gap in the place of what was removed.
        written: The note's own date; without it nothing is near.
        language: The note's; others than English write "14.3." for a day.
    """
    text = reading.folded
    return (
        _COMPACT.search(text) is not None
        or _COMPACT_YEAR_LAST.search(text) is not None
        or any(map(_is_parted, _PARTED.finditer(text)))
        or any(_possible(*map(int, re.findall("[0-9]+", m.group())[:2])) for m in _PARTED_YEAR_LAST.finditer(text))
        or (GAP in text and _OF_YEAR.search(text) is not None)
        or any(map(_is_dotted, _DOTTED.finditer(text)))
        or (not _ENDINGS.isdisjoint(reading.words) and _NTH.search(text) is not None)
        or ("'" in text and _SHORT_YEAR.search(text) is not None)
        or _slashed(text, written)
        or (written is not None and _near(text, written, language))
    )


def _is_parted(match: re.Match[str]) -> bool:
    if match["ordinal"]:
        return 1 <= int(match["ordinal"]) <= 366
    return match["mark"] is None or _possible(int(match["one"]), int(match["two"]))


def _is_dotted(match: re.Match[str]) -> bool:
    one, two, _ = map(int, match.group().split("."))
    return (
        _possible(one, two) and _NO_DATE_BEFORE.search(match.string[max(0, match.start() - 12) : match.start()]) is None
    )


def _slashed(text: str, written: date | None) -> bool:
    """A day and a month with a slash: behind a word for a date, or near the note's own date."""
    for match in _SLASHED.finditer(text):
        one, two = map(int, match.group().split("/"))
        if not _possible(one, two) or _UNIT.match(text, match.end()) or (one, two) == (2, 2):
            continue
        if _CUE.search(text, max(0, match.start() - 24), match.start()):
            return True
        score = two in _OUT_OF or (one, two) in _THIRDS or one == two
        if written is not None and not score and _is_near(written, one, two):
            return True
    return False


def _near(text: str, written: date, language: str) -> bool:
    """A reading of a number as a day near the note's own, where the shape alone tells too little."""
    for match in _DASHED.finditer(text):
        numbers = match.group().split("-")
        # "10-12" are more often two numbers than a day.
        if len(numbers) == 2 and not (len(match.group()) == 5 and "0" in (numbers[0][0], numbers[1][0])):
            continue
        year = 2000 + int(numbers[2]) if len(numbers) == 3 else None
        if not _UNIT.match(text, match.end()) and _is_near(written, int(numbers[0]), int(numbers[1]), year):
            return True
    for match in _SIX.finditer(text):
        one, two, three = (int(match.group()[i : i + 2]) for i in (0, 2, 4))
        if _is_near(written, one, two, 2000 + three) or _is_near(written, two, three, 2000 + one):
            return True
    if language.casefold().startswith("en"):
        return False
    return any(_is_near(written, *map(int, m.group().split(".")[:2])) for m in _DAY_AND_MONTH.finditer(text))


def _possible(one: int, two: int) -> bool:
    """Whether two numbers can be a month and a day, in either order."""
    return 0 < min(one, two) <= 12 and 0 < max(one, two) <= 31


def _is_near(written: date, one: int, two: int, year: int | None = None) -> bool:
    """Whether two numbers, in either order, are a day within two weeks of the note's own."""
    return any(abs(day - written) <= NEAR_NOTE for day in _days(written, one, two, year))


def _days(written: date, one: int, two: int, year: int | None) -> Iterator[date]:
    years = (year,) if year is not None else (written.year - 1, written.year, written.year + 1)
    for month, day in ((one, two), (two, one)):
        for in_year in years:
            try:
                yield date(in_year, month, day)
            except ValueError:  # no such day
                continue
