"""The patient's date of birth in every format.

Belongs here: the one known date in its many forms. Does not belong here: dates in general (`rules/en/dates.py`).

Full dates count everywhere. A day without its year, or a month with its year, counts beside a word for birth: "DOB
3/4", "born in March 1950", "her birthday is March 4".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from itertools import islice

import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.api import Document
from deid_platform.text.fold import fold_term
from deid_platform.text.offsets import bounded

_CACHED_DATES = 256
_REACH = 32
_MANY = 1000  # places of the year beyond which to search at once costs less
_BIRTH = (
    "birth",
    " born",
    "dob",
    "d.o.b",
    "turned ",
    "nacid",
    "nacimiento",
    "nascita",
    " nata ",
    " nato ",
    "naissance",
)
_WORDS_OF_BIRTH = (
    r"\b(?:d\.?o\.?b\b\.?|(?:date of )?birth[ ]?(?:day|date)?|born|turn(?:s|ed|ing) \d+|nacid[oa]|nacimiento|nat[oa]|"
    r"nascita|naissance)\b"
)
_WORD_OF_BIRTH = regex.compile(_WORDS_OF_BIRTH)
_BEFORE = regex.compile(rf"{_WORDS_OF_BIRTH}[^.;]{{0,24}}$")
_NUMBER = regex.compile(r"(?<!\d)\d{1,4}(?!\d)")
_AFTER = regex.compile(
    r",? (?:is|was|being) (?:his|her|their|the) (?:birthday|date of birth|dob)|[ ,(]{1,3}(?:dob|birthday)\b"
)
_MONTHS = {
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
}


def date_forms(day: date) -> tuple[str, ...]:
    """A date in the writings that notes use: numeric in both orders, ISO, compact, with the month's name."""
    y, m, d = day.year, day.month, day.day
    forms = [day.isoformat(), *_compact(day)]
    for sep in "/-. ":
        forms += [f"{y}{sep}{m:02}{sep}{d:02}", f"{y}{sep}{m}{sep}{d}"]
        for year in (f"{y}", f"{y % 100:02}", f"'{y % 100:02}"):
            for first, second in ((m, d), (d, m)):
                for a in {f"{first}", f"{first:02}"}:
                    forms += [f"{a}{sep}{b}{sep}{year}" for b in {f"{second}", f"{second:02}"}]
    for name in _english_months(day):
        for number in {f"{d}", f"{d:02}", f"{d}{_ordinal(d)}"}:
            forms += [f"{name} {number}, {y}", f"{name} {number} {y}", f"{name} {number},{y}", f"{number} {name} {y}"]
            forms += [f"{number} {name}, {y}", f"{number} of {name} {y}", f"{number} of {name}, {y}"]
            forms += [f"{number}{sep}{name}{sep}{year}" for sep in "-/ ." for year in (f"{y}", f"{y % 100:02}")]
            forms += [f"{name} {number}, '{y % 100:02}", f"{name} {number} '{y % 100:02}", f"{number}{name}{y}"]
        forms += [f"{y} {name} {d}", f"{y}-{name}-{d:02}"]
    for names in _MONTHS.values():
        name = names.split()[m - 1]
        forms += [f"{d} {name} {y}", f"{d} de {name} de {y}", f"{d} de {name} del {y}", f"{d}. {name} {y}"]
    return tuple(dict.fromkeys(forms))


def births_in(document: Document, days: Iterable[date]) -> Iterator[tuple[int, int]]:
    """Where a note tells one of these dates of birth: (start, end) in the note."""
    text = document.folded.text
    births = [m.span() for m in _WORD_OF_BIRTH.finditer(text)] if any(word in text for word in _BIRTH) else []
    for day in days:
        # To write a date in all its forms costs more than to see that it is none of the note's.
        years = list(islice(_year_places(text, day), _MANY))
        looks = len(years) == _MANY or any(_near(text, a, b, day) for a, b in years)
        if looks or any(form in text for form in _compact(day)):
            yield from _found(document, _full(day)).values()
        if any(_near(text, a, b, day) for a, b in births):
            for (start, end), place in _found(document, _partial(day)).items():
                if _BEFORE.search(text, max(0, start - _REACH), start) or _AFTER.match(text, end):
                    yield place


def _year_places(text: str, day: date) -> Iterator[tuple[int, int]]:
    """Where the year of a date may stand: in full, or its last two digits after a separator."""
    for year in (str(day.year), *(f"{sep}{day.year % 100:02}" for sep in "/-.' ")):
        start = text.find(year)
        while start >= 0:
            if bounded(text, start, start + len(year)):
                yield start, start + len(year)
            start = text.find(year, start + 1)


def _near(text: str, start: int, end: int, day: date) -> bool:
    """Whether the month, and the day or the year, of a date stand around a place."""
    around = text[max(0, start - _REACH) : end + _REACH]
    numbers = {int(number) for number in _NUMBER.findall(around)}
    month = day.month in numbers or any(name in around for name in _month_beginnings(day.month))
    return month and (day.day in numbers or day.year in numbers)


def _found(document: Document, automaton: AhoCorasick) -> dict[tuple[int, int], tuple[int, int]]:
    """Places of forms in the note, by their places in the folded text."""
    text = document.folded.text
    places = (
        (start, end)
        for _, start, end in automaton.find_matches_as_indexes(text, overlapping=True)
        if bounded(text, start, end)
    )
    return {(a, b): place for a, b in places if (place := document.interval(a, b)) is not None}


def _compact(day: date) -> tuple[str, ...]:
    y, m, d = day.year, day.month, day.day
    return f"{y}{m:02}{d:02}", f"{m:02}{d:02}{y}", f"{d:02}{m:02}{y}"


@lru_cache(maxsize=12)
def _month_beginnings(month: int) -> frozenset[str]:
    names = (date(2000, month, 1).strftime("%B").lower(), *(names.split()[month - 1] for names in _MONTHS.values()))
    return frozenset(name[:3] for name in names)


@lru_cache(maxsize=_CACHED_DATES)
def _full(day: date) -> AhoCorasick:
    return _automaton(date_forms(day))


@lru_cache(maxsize=_CACHED_DATES)
def _partial(day: date) -> AhoCorasick:
    y, m, d = day.year, day.month, day.day
    forms = [
        f"{a}{sep}{b}" for sep in "/-" for a, b in ((m, d), (f"{m:02}", f"{d:02}"), (d, m), (f"{d:02}", f"{m:02}"))
    ]
    forms += [f"{m}/{y}", f"{m:02}/{y}", f"{m}-{y}", f"{m:02}-{y}"]
    for name in _english_months(day):
        forms += [f"{name} {y}", f"{name}, {y}", f"{name} of {y}"]
        for number in (f"{d}", f"{d:02}", f"{d}{_ordinal(d)}"):
            forms += [f"{name} {number}", f"{number} {name}", f"{number} of {name}", f"{name} the {number}"]
    for names in _MONTHS.values():
        name = names.split()[m - 1]
        forms += [f"{d} {name}", f"{d} de {name}", f"{name} {y}", f"{name} de {y}"]
    return _automaton(forms)


def _automaton(forms: Iterable[str]) -> AhoCorasick:
    return AhoCorasick(
        sorted({fold_term(form) for form in forms}),
        matchkind=MatchKind.Standard,
        implementation=Implementation.NoncontiguousNFA,
    )


def _english_months(day: date) -> tuple[str, ...]:
    month = day.strftime("%B")
    return tuple(dict.fromkeys((month, month[:3], f"{month[:3]}.", *(("Sept", "Sept.") if day.month == 9 else ()))))


def _ordinal(number: int) -> str:
    return "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
