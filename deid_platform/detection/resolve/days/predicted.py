"""Which part of what a model alone calls a date can be one, and the weekday beside a date.

Belongs here: the shapes of days. Does not belong here: whether two numbers are a month and a day (`writing.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import regex

from deid_platform.detection.api import Candidate
from deid_platform.detection.resolve.days.claims import KEPT_FROM, Verdict
from deid_platform.detection.rules.en.dates import is_day, is_month_day, is_year

_TOKEN = regex.compile(r"[\p{L}\p{M}\d]+(?:[/.\-'’ªº°][\p{L}\p{M}\d]+)*[ªº°]?")
_DIGITS = regex.compile(r"\d+")
_ORDINAL = regex.compile(r"(?:[12]?\d|3[01])(?:st|nd|rd|th|er|[ªº°])", regex.IGNORECASE)
_SPAN = regex.compile(r"\d{1,2}-\d{1,2}")
_DAY_CUE = regex.compile(r"(?i)\b(?:the|el|d[ií]a|il|giorno|le|du|au|del|al|dal|am|vom|on|since|until|till|by)[ ]\Z")
_COUNTED = regex.compile(
    r"(?i)[ ]?(?:%|mg|mcg|ml|g|kg|cm|mm|h|ore|hrs?|hours?|days?|d[ií]as|giorni|jours|tage|weeks?|wks?|mo|months?|meses|mesi|mois|years?|yrs?|a[nñ]os|anni|ans"
    r"|x|times|tabs?|cp|u|ui|units?|min)(?!\p{L})|[ ]?[:/.]\d"
)
_WEEKDAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|weds?|thurs?|thu|fri|sat|sun"
    r"|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|lun|mar|mi[eé]|jue|vie|s[aá]b|dom"
    r"|luned[iì]|marted[iì]|mercoled[iì]|gioved[iì]|venerd[iì]|sabato|domenica|mer|gio|ven|sab"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|jeu|sam|dim"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|mo|di|mi|do|fr|sa|so"
)
_WEEKDAY_BEFORE = regex.compile(rf"(?<![\p{{L}}\d'’\-])(?:{_WEEKDAY})(?:\.,?|,)?[ \t]{{1,2}}(?:(?:the|el|le|den|der)[ ])?\Z", regex.IGNORECASE)
_WEEKDAY_REACH = 18
_STARTS_WITH_DAY = regex.compile(r"\d|the\b|\p{L}{3,9}\.?[ ]\d", regex.IGNORECASE)


def days_of(
    text: str, start: int, end: int, verdicts: Mapping[tuple[int, int], Verdict]
) -> Iterator[tuple[int, int]]:
    """The parts of a stretch that may be days; of one without a digit all, since days have names."""
    tokens = [match.span() for match in _TOKEN.finditer(text, start, end)]
    if not any(_DIGITS.search(text, *token) for token in tokens):
        yield start, end
        return
    run: list[tuple[int, int]] = []
    for token in tokens:
        if run and ("\n" in text[run[-1][1] : token[0]] or not _may_be(text, token, verdicts)):
            yield from _told(text, run, verdicts)
            run = []
        if _may_be(text, token, verdicts):
            run.append(token)
    yield from _told(text, run, verdicts)


def _may_be(text: str, token: tuple[int, int], verdicts: Mapping[tuple[int, int], Verdict]) -> bool:
    """Whether a word or a number may belong to a day."""
    surface = text[slice(*token)]
    if not any(map(str.isdigit, surface)):
        return True
    return _is_day(surface, verdicts.get(token)) or _is_part(surface)


def _told(
    text: str, run: list[tuple[int, int]], verdicts: Mapping[tuple[int, int], Verdict]
) -> Iterator[tuple[int, int]]:
    """A run of words and numbers, if one of them is a day, or a number of it stands beside a word."""
    if not run:
        return
    surfaces = [text[slice(*token)] for token in run]
    whole = any(_is_day(s, verdicts.get(t)) for s, t in zip(surfaces, run, strict=True))
    words = [s for s in surfaces if not any(map(str.isdigit, s))]
    if whole or words or (len(run) == 1 and _is_bare_day(text, *run[0])):
        yield run[0][0], run[-1][1]


def _is_bare_day(text: str, start: int, end: int) -> bool:
    """Whether a number by itself is the day of a month: "el 9"."""
    cued = _DAY_CUE.search(text, max(0, start - 12), start) is not None
    surface = text[start:end]
    return bool(_ORDINAL.fullmatch(surface)) or (cued and surface.isdigit() and _COUNTED.match(text, end) is None)


def _is_part(surface: str) -> bool:
    """Whether a number may be the day or the year of a date whose month is a word."""
    if _ORDINAL.fullmatch(surface):
        return True
    if surface.isdigit():
        return 1 <= int(surface) <= 31 or (len(surface) == 4 and is_year(int(surface)))
    return bool(_SPAN.fullmatch(surface)) and all(1 <= int(n) <= 31 for n in _DIGITS.findall(surface))


def _is_day(surface: str, verdict: Verdict | None) -> bool:
    """Whether numbers name a day that the calendar has."""
    if verdict is not None:
        return verdict >= KEPT_FROM
    numbers = [int(n) for n in _DIGITS.findall(surface)]
    if any(map(str.isalpha, surface)):
        return len(numbers) in (1, 2) and bool(regex.search(r"\p{L}{3}", surface)) and 1 <= numbers[0] <= 31
    if len(numbers) == 3:
        a, b, c = numbers
        return is_month_day(a, b) or (is_year(a) and is_month_day(b, c)) or is_month_day(b, c)
    if len(numbers) == 2:
        a, b = numbers
        return (is_year(b) and 1 <= a <= 12) or (is_year(a) and 1 <= b <= 12)
    return len(surface) in (6, 8) and surface.isdigit() and _is_compact(surface)


def _is_compact(surface: str) -> bool:
    pairs = [int(surface[i : i + 2]) for i in range(0, len(surface), 2)]
    if len(pairs) == 4:
        return is_day(pairs[2], pairs[3]) or is_month_day(pairs[0], pairs[1])
    return is_month_day(pairs[0], pairs[1]) or is_day(pairs[1], pairs[2])


def with_weekday(text: str, candidate: Candidate) -> Candidate:
    """A date with the weekday before it."""
    if not _STARTS_WITH_DAY.match(text, candidate.start, candidate.end):
        return candidate
    weekday = _WEEKDAY_BEFORE.search(text, max(0, candidate.start - _WEEKDAY_REACH), candidate.start)
    return candidate if weekday is None else candidate._replace(start=weekday.start())
