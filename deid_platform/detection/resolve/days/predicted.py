"""Which part of what a model alone calls a date can be one, and the weekday beside a date.

Belongs here: the shapes of days. Does not belong here: whether two numbers are a month and a day (`writing.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import regex

from deid_platform.detection.api import Candidate
from deid_platform.detection.resolve.days.claims import KEPT_FROM, Verdict
from deid_platform.detection.rules.en.dates import is_day, is_month_day, is_year
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.month_names import LONG_WEEKDAY_WORDS, MONTH_WORDS
from deid_platform.text.compiled import compiled

_TOKEN = compiled(r"[\p{L}\p{M}\d]+(?:[/.\-'’ªº°][\p{L}\p{M}\d]+)*[ªº°]?")
_DIGITS = compiled(r"\d+")
_ORDINAL = compiled(r"(?:[12]?\d|3[01])(?:st|nd|rd|th|er|[ªº°])", regex.IGNORECASE)
_SPAN = compiled(r"\d{1,2}-\d{1,2}")
_DAY_CUE = compiled(r"(?i)\b(?:the|el|d[ií]a|il|giorno|le|du|au|del|al|dal|am|vom|on|since|until|till|by)[ ]\Z")
_COUNTED = compiled(
    r"(?i)[ ]?(?:%|mg|mcg|ml|g|kg|cm|mm|h|ore|hrs?|hours?|days?|d[ií]as|giorni|jours|tage|weeks?|wks?|mo|months?"
    r"|meses|mesi|mois|years?|yrs?|a[nñ]os|anni|ans"
    r"|x|times|tabs?|cp|u|ui|units?|min)(?!\p{L})|[ ]?[:/.]\d"
)
_MONTH = alternatives(MONTH_WORDS, any_writing=True)
# Two letters are a weekday of German with a capital alone: "do" and "so" are words of other languages.
_WEEKDAY = rf"(?:{alternatives(LONG_WEEKDAY_WORDS, any_writing=True)}|(?-i:Mo|Di|Mi|Do|Fr|Sa|So))"
_JOINING = (
    r"of|the|and|to|in|de|del|da|dal|al|a|y|e|di|il|la|le|el|du|au|et|der|den|des|und|bis|vom|am|pm|hs|mid|early|late|end"
    r"|noche|notte|nuit|night"
)
_NAME_OF_DAYS = compiled(
    rf"(?:{_MONTH}|{_WEEKDAY}|spring|summer|fall|autumn|winter|primavera|verano|oto[nñ]o|invierno|estate|autunno"
    rf"|inverno|printemps|[ée]t[ée]|automne|hiver"
    rf"|day|week|weekend|eve|sunday|st|san|santa|santo|saint|easter|christmas|xmas|lent|ramadan|eid|pasqua|pascua"
    rf"|natale|navidad|no[eë]l|p[âa]ques)",
    regex.IGNORECASE,
)
_WORD_OF_DAYS = compiled(rf"{_NAME_OF_DAYS.pattern}|{_JOINING}", regex.IGNORECASE)
_WITH_MONTH = compiled(
    rf"\d{{1,4}}[ .\-/'’]?(?:{_MONTH})(?:[ .\-/'’]?\d{{2,4}})?|(?:{_MONTH})[.\-/'’]?\d{{1,4}}"
    rf"|(?:{_WEEKDAY})\d{{1,2}}|\d{{1,2}}[\-/](?:I{{1,3}}|IV|VI{{0,3}}|IX|XI{{0,2}})",
    regex.IGNORECASE,
)
_MISREAD = str.maketrans("OolIZSB", "0011258")
_BEFORE_TIME = compiled(r"(?<=\d[/.\-]\d\d)-(?:[01]\d|2[0-3])[0-5]\d\Z")
_WEEKDAY_BEFORE = compiled(
    rf"(?<![\p{{L}}\d'’\-])(?:{_WEEKDAY})(?:\.,?|,)?[ \t]{{1,2}}(?:(?:the|el|le|den|der)[ ])?\Z", regex.IGNORECASE
)
_WEEKDAY_REACH = 18
_STARTS_WITH_DAY = compiled(r"\d|the\b|\p{L}{3,9}\.?[ ]\d", regex.IGNORECASE)


def days_of(text: str, start: int, end: int, verdicts: Mapping[tuple[int, int], Verdict]) -> Iterator[tuple[int, int]]:
    """The parts of a stretch that may be days; of one without a digit all, since days have names."""
    tokens = [match.span() for match in _TOKEN.finditer(text, start, end)]
    if not any(_DIGITS.search(text, *token) for token in tokens):
        yield start, end
        return
    run: list[tuple[int, int]] = []
    for token in tokens:
        belongs = _may_be(text[slice(*token)], verdicts.get(token))
        if run and (not belongs or "\n" in text[run[-1][1] : token[0]]):
            yield from _told(text, run, verdicts)
            run = []
        if belongs:
            run.append(token)
    yield from _told(text, run, verdicts)


def codes_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Numbers of a stretch that are no days and too long for a value: somebody's, whatever a model calls them."""
    for match in _TOKEN.finditer(text, start, end):
        if regex.search(r"\d{5}", match[0]) and not _is_day(match[0], None):
            yield match.span()


def _may_be(surface: str, verdict: Verdict | None) -> bool:
    """Whether a word or a number may belong to a day."""
    if not any(map(str.isdigit, surface)):
        return _WORD_OF_DAYS.fullmatch(surface) is not None
    return _is_day(surface, verdict) or _is_part(surface)


def _told(
    text: str, run: Sequence[tuple[int, int]], verdicts: Mapping[tuple[int, int], Verdict]
) -> Iterator[tuple[int, int]]:
    """A run of words and numbers, if one of them is a day, or a number of it stands beside a word."""
    if not run:
        return
    surfaces = [text[slice(*token)] for token in run]
    numbers = [s for s in surfaces if any(map(str.isdigit, s))]
    whole = any(_is_day(s, verdicts.get(t)) for s, t in zip(surfaces, run, strict=True))
    beside = len(numbers) < len(run) and any(_NAME_OF_DAYS.fullmatch(s) for s in surfaces)
    if whole or beside or _is_spaced(surfaces):
        yield run[0][0], run[-1][1]
    elif len(numbers) == 1:
        yield from (token for token in run if text[token[0]].isdigit() and _is_bare_day(text, *token))


def _is_spaced(surfaces: Sequence[str]) -> bool:
    """Whether three numbers are day, month and year: "30 01 25"."""
    if len(surfaces) != 3 or not all(map(str.isdigit, surfaces)):
        return False
    a, b, c = map(int, surfaces)
    return is_month_day(a, b) and len(surfaces[2]) in (2, 4) and (c < 40 or is_year(c))


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
        return 1 <= int(surface) <= 39 or (len(surface) == 4 and is_year(int(surface)))
    return bool(_SPAN.fullmatch(surface)) and all(1 <= int(n) <= 31 for n in _DIGITS.findall(surface))


def _is_day(surface: str, verdict: Verdict | None) -> bool:
    """Whether numbers name a day that the calendar has."""
    if verdict is not None:
        return verdict >= KEPT_FROM
    surface = _BEFORE_TIME.sub("", surface)
    if any(map(str.isalpha, surface)):
        read = surface.translate(_MISREAD)
        if read != surface and not any(map(str.isalpha, read)):
            return (
                is_month_day(*(int(n) for n in _DIGITS.findall(read)[:2])) if len(_DIGITS.findall(read)) > 1 else False
            )
        return _WITH_MONTH.fullmatch(surface) is not None
    numbers = [int(n) for n in _DIGITS.findall(surface)]
    if len(numbers) == 3:
        a, b, c = numbers
        return is_month_day(a, b) or (is_year(a) and is_month_day(b, c))
    if len(numbers) == 2:
        a, b = numbers
        return (is_year(b) and 1 <= a <= 12) or (is_year(a) and 1 <= b <= 12)
    return len(surface) in (6, 8, 12, 14) and surface.isdigit() and _is_compact(surface)


def _is_compact(surface: str) -> bool:
    pairs = [int(surface[i : i + 2]) for i in range(0, len(surface), 2)]
    if len(pairs) > 3:
        return is_day(pairs[2], pairs[3]) or (len(pairs) == 4 and is_month_day(pairs[0], pairs[1]))
    return is_month_day(pairs[0], pairs[1]) or is_day(pairs[1], pairs[2])


def with_weekday(text: str, candidate: Candidate) -> Candidate:
    """A date with the weekday before it."""
    if not _STARTS_WITH_DAY.match(text, candidate.start, candidate.end):
        return candidate
    weekday = _WEEKDAY_BEFORE.search(text, max(0, candidate.start - _WEEKDAY_REACH), candidate.start)
    return candidate if weekday is None else candidate._replace(start=weekday.start())
