"""Which of a note's dates are somebody's date of birth.

Belongs here: telling them from dates of care, by the words before them, by the topics, and by the name that they
stand behind. Does not belong here: what becomes of them (`redact.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.years import in_numbers, reveals_age, years_told
from deid_platform.surrogates.date_order import EITHER, DateOrder
from deid_platform.surrogates.date_shapes import Found, read_date

_CUE = re.compile(
    r"(?:\b(?:d\.?\s?o\.?\s?b|born|nat[oa]|nascita|nacid[oa]|nacimiento|née?|naissance|geboren|geb|geburtsdatum)"
    r"|birth(?:[\s_]?(?:day|date|time|year))?)\b[^\w]*(?:(?:on|in|is|was|the|date|value|il|el|le|am|a|en|es|est|ist|día|giorno)\b[^\w]*){0,3}$",
    re.IGNORECASE,
)
_CUE_REACH = 32
_OLDEST = 125
# Three numbers, of which a year of two digits may be the first or the last.
_SHORT = re.compile(
    r"(?<![0-9])(?:([0-9]{1,2})[^0-9]{1,3}([0-9]{1,2})[^0-9]{1,3}([0-9]{2})|([0-9]{2})([0-9]{2})([0-9]{2}))(?![0-9])"
)
# Between a name and the date of birth that stands behind it in a heading.
_BEHIND_NAME = re.compile(r"[\s,;|()\[\]/–-]{1,8}(?:(?:MRN|#|[FMfm])[\s,;|()-]{1,4})?")


def near_birth(text: str, start: int) -> bool:
    """Whether the words before a place speak of a birth."""
    return _CUE.search(text, max(0, start - _CUE_REACH), start) is not None


def births(note: Note, ordered: Sequence[Span], birth_date: date | None) -> frozenset[Span]:
    """The dates among a note's spans that are, or may be, a date of birth.

    Args:
        note: The note.
        ordered: Its spans in order.
        birth_date: The patient's, where the topics know it; where they do not, a date behind a patient's name is one.
    """
    found: set[Span] = set()
    named_until = -1
    for span in ordered:
        if span.label is Label.PATIENT:
            named_until = span.end
        if span.label is not Label.DATE:
            continue
        surface = note.text[span.start : span.end]
        told = read(note, surface)
        behind = named_until >= 0 and _BEHIND_NAME.fullmatch(note.text, named_until, span.start) is not None
        if (
            near_birth(note.text, span.start)
            or (birth_date is None and behind and told is not None and told.full)
            or (birth_date is not None and birth_date in _full_days(note, surface))
        ):
            found.add(span)
    return frozenset(found)


def kept_birth_year(note: Note, surface: str, birth_date: date | None) -> str | None:
    """The year of a date of birth as the text tells it; None where none can be read, or two digits could mean two."""
    told = read(note, surface)
    if told is None:
        return None
    if any(group == "year" for _, group in told.fields):
        return str(told.day.year)
    short = any(kind == "year" for kind, _ in told.fields)
    known = birth_date is not None and birth_date.year % 100 == told.day.year % 100
    return str(birth_date.year) if short and known and birth_date is not None else None


def tells_old_age(note: Note, span: Span, written: date, birth_date: date | None) -> bool:
    """Whether a date that is moved by less than a year still tells that somebody is over 89.

    Args:
        note: The note.
        span: The date.
        written: When the note was written, or today.
        birth_date: The patient's, where the topics know it.
    """
    surface, near = in_numbers(note.text[span.start : span.end]), near_birth(note.text, span.start)
    years = list(years_told(surface, near_birth=near))
    if any(reveals_age(year, written, None) for year in years):
        return True
    if years and not _SHORT.search(surface):
        return False
    told = read(note, surface)
    day = None if told is None or not any(group in ("short", "quoted") for _, group in told.fields) else told.day
    if birth_date is not None and any(_alike(birth_date, *reading) for reading in _readings(surface, day)):
        return reveals_age(birth_date.year, written, None)
    if day is None:
        return False
    if reveals_age(day.year, written, None):
        return True
    earlier = day.year - 100
    possible = written.year - earlier <= _OLDEST if near else birth_date is not None and birth_date.year == earlier
    return possible and reveals_age(earlier, written, None)


def _readings(surface: str, day: date | None) -> Iterator[tuple[int, int, int]]:
    """Year, month and day of a date with a year of two digits, whichever number is which."""
    if day is not None:
        yield day.year, day.month, day.day
    if match := _SHORT.search(surface):
        one, two, three = (int(number) for number in match.groups() if number is not None)
        yield from ((one, two, three), (three, one, two), (three, two, one))


def _alike(born: date, year: int, month: int, day: int) -> bool:
    return (born.year % 100, born.month, born.day) == (year % 100, month, day)


def _full_days(note: Note, surface: str) -> set[date]:
    """The days that a full date may name, whichever of its numbers is the day."""
    return {told.day for order in EITHER if (told := read(note, surface, order)) is not None and told.full}


def read(note: Note, surface: str, order: DateOrder | None = None) -> Found | None:
    """A date as the language of its note writes it, in words too, or in the order that is asked for."""
    for written in dict.fromkeys((surface.strip(), in_numbers(surface.strip()))):
        try:
            told = read_date(written, note.language.casefold(), note.note_date, order)
        except ValueError:  # no such day
            continue
        if told is not None:
            return told
    return None
