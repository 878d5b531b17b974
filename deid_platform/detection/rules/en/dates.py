"""Validators of dates: whether numbers name a day or a month.

Belongs here: the validators that `dates.yaml` names. Does not belong here: dates with a typing error
(`mistyped_dates.py`), holidays (`holidays.py`), or what remains of a date (`redaction/`).
"""

from __future__ import annotations

import calendar

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.text.compiled import compiled

NUMBER = compiled(r"\d+")
_LATEST_SHORT_YEAR = 39  # of a date that begins with its year: "40/10/25" are strengths
# The denominators of kitchens, rulers and needles.
_FRACTIONS = {2, 3, 4, 8, 16, 32, 64}

_AFTER_ORDINAL = compiled(
    r"""
    (?:[ \t]*(?:,|-|–|\band\b|\bor\b|\bto\b|\bthrough\b|\buntil\b|&)?[ \t]*(?:\bthe[ ])?\d{1,2}(?:st|nd|rd|th)\b){0,4}
    (?: [ \t]*(?:[.;:()\]?!\r\n]|$|,(?![ ]\d))
    | [ \t]+(?: of[ ](?:the|this|last|next)[ ](?:month|year)
      | of[ ](?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\p{L}*
      | at | and[ ](?!\d) | with | for | when | while | he | she
      | they | we | i | the[ ](?!\d) | patient | pt | because | but | in | on | was | were | is | are | has | had | will
      | would | from | by | after | before | who | which | due | per | as | if | then | afternoon | morning | evening
      | night | around | about | without | via | so | since | until | prior | secondary | it
      | his | her | their | no )\b )
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_SECONDARY_TO = compiled(r"[ \t]+(?!(?:at|and|with|for|by|in|am|pm|he|she|to|the|was|via|after|labs?)\b)\p{L}")
_NUMBERED = compiled(r"\b(?i:v|ver|version|release|build|rev|edition|i/?o|in/out|intake|output)\b[ .:]{0,2}$")
_DATE_WORD = compiled(
    r"\b(?:on|since|from|until|till|by|before|after|of|in|dated?|seen|due|born|dob|the|il|dal|al|nel|del|el|le|am)"
    r"[ :]{1,2}(?:the[ ])?$",
    regex.IGNORECASE,
)
_APGAR = compiled(r"\bapgars?\b[^\d\n]{0,20}$", regex.IGNORECASE)
# Letters and proportions read from a chart, keratins, durations in British shorthand ("1/52" is a week).
_DAYS_IN_A_ROW = compiled(r"(?<![\d/])\d{1,2}/\d{1,2}(?:(?:,[ ]?|,?[ ](?:&|and)[ ])\d{1,2}/\d{1,2})+(?![\d/])")
_LONGEST_ROW = 60
_PADDED = compiled(r"[/\-]0\d")
_LARGEST_SCORE = 10
_LARGEST_STRENGTH = 6  # 5 of strength, 6 of a murmur
_NO_DAY_BEFORE = compiled(
    r"\b(?:acuity|vision|va|snellen|ck|cytokeratin|keratin|od|os|ou|score[ds]?|phq-?\d{1,2}|gad-?7|mmse|moca|epds|gds|nihss|kps|epworth|stop-?bang|ess|ipss|braden|barthel|morse|audit|dast|bdi|madrs|tjc|sjc|tinetti|act|mdq|vent|cpap|readings|hgb/hct|h/h|h&h)\b[^\n]{0,14}$",
    regex.I,
)
# "Weight is at the 25th": a percentile.
_GROWTH = compiled(r"\b(?:weight|height|length|bmi|head|plots?|growth|ofc)\b[^.\n]{0,30}$", regex.I)
_GRADES = {"0/5", "1/5", "2/5", "3/5", "4/5", "5/5", "1/4", "2/4", "3/4", "4/4"}
_DICTATED = compiled(r"\b(?:dictated|transcribed|signed)\b", regex.I)
_NAME_LABEL = compiled(
    r"(?:^|[ \t(])(?i:name|pt|patient|client|subject|re|in[ ]re|last,[ ]first(?:,[ ]middle)?\)?|label[ ]reads|resident)"
    r"(?:[ \t]*:[ \t]*|[ \t]+)[\"“]?"
    r"\p{Lu}[\p{L}'’\-]+[,/^]?[ \t]?\p{Lu}?[\p{L}'’.\-]*(?:[ ]\p{Lu}[\p{L}.]*){0,2}[\"”]?$"
)
_LAST_NAMES = compiled(
    r"(\p{Lu}[\p{L}'’\-]+)(?:,[ ]?|[/^]|[ ])(\p{Lu}[\p{L}'’\-]+)(?:[ ]\p{Lu}\.?)?[\"”]?(?:[ ]\([MF]\))?$"
)
_SHARES = {"1/2", "1/3", "2/3", "1/4", "3/4"}
_SHARE_CUE = compiled(r"\b(?:by|about|around|approximately|in|for|at|dose|given|cut|the)[ ~]{1,2}$", regex.I)
_DURATION = compiled(
    r"\b(?:repeat|review|recheck|return|follow|see|rv|fu|f/u|tca)\b[^.\n]{0,30}\bin[ ]\d{1,2}/(?:7|12|52)$", regex.I
)
_NO_DAY_AFTER = compiled(
    r"[ ,]{1,2}(?:in[ ](?:the|his|her)[ ])?(?:right|left|both|each|od|os|ou|unaided|corrected)\b", regex.I
)


def numbers_in(text: str, start: int, end: int) -> list[int]:
    """The numbers in an interval."""
    return [int(n) for n in NUMBER.findall(text, start, end)]


def is_day(month: int, day: int, year: int | None = None) -> bool:
    """Whether the day exists in that month; in a leap year where the year is not known."""
    if not 1 <= month <= 12:
        return False
    return 1 <= day <= calendar.monthrange(2000 if year is None else year, month)[1]


def is_month_day(a: int, b: int) -> bool:
    """Whether two numbers are a month and a day in either order."""
    return is_day(a, b) or is_day(b, a)


def is_year(year: int) -> bool:
    """Whether a number is a plausible year in notes."""
    return 1850 <= year <= 2150


def is_numbered(text: str, start: int) -> bool:
    """Whether a word before that place has numbers of its own: a version, a fluid balance."""
    return _NUMBERED.search(text, max(0, start - 12), start) is not None


def is_cued(text: str, start: int) -> bool:
    """Whether a word that precedes dates stands before the position."""
    return _DATE_WORD.search(text, max(0, start - 16), start) is not None


@validator
def numeric_date(text: str, start: int, end: int) -> Interval | None:
    """Three numbers that name a day; with a four-digit year also one that does not exist (a typing error)."""
    numbers = numbers_in(text, start, end)
    if len(numbers) != 3 or _APGAR.search(text, max(0, start - 30), start):
        return None
    a, b, year = numbers
    if year >= 1000:
        return (start, end) if is_year(year) and a <= 99 and b <= 99 else None
    if is_month_day(a, b) or (is_month_day(b, year) and (a <= _LATEST_SHORT_YEAR or is_cued(text, start))):
        return start, end
    # "2/30/19", and "13/14/19" after a word of dates.
    meant = min(a, b) <= 12 or is_cued(text, start)
    return (start, end) if meant and min(a, b) >= 1 and max(a, b) <= 31 else None


@validator
def iso_date(text: str, start: int, end: int) -> Interval | None:
    """Year, month, day, of which the last two exist."""
    year, month, day = numbers_in(text, start, end)[:3]
    numbered = "." in text[start:end] and is_numbered(text, start)
    return (start, end) if is_year(year) and is_month_day(month, day) and not numbered else None


@validator
def compact_date(text: str, start: int, end: int) -> Interval | None:
    """Six or eight digits that name a day in one of the usual orders; twelve or fourteen with a time of day."""
    digits = "".join(NUMBER.findall(text, start, end))
    pairs = [int(digits[i : i + 2]) for i in range(0, len(digits) - 1, 2)]
    if len(digits) in (12, 14):
        hour, minute, second = (*pairs[4:], 0)[:3]
        in_day = hour < 24 and minute < 60 and second < 60
        return (start, end) if in_day and is_day(pairs[2], pairs[3]) and pairs[0] in (19, 20) else None
    if len(digits) == 8 and (is_month_day(pairs[2], pairs[3]) or is_month_day(pairs[0], pairs[1])):
        return start, end
    return (start, end) if len(digits) == 6 and is_month_day(pairs[0], pairs[1]) else None


@validator
def month_day(text: str, start: int, end: int) -> Interval | None:
    """A month and a day, or a month and a two-digit year, where the words around already speak of a date."""
    a, b = numbers_in(text, start, end)[:2]
    surface = text[start:end]
    if surface in _SHARES and _SHARE_CUE.search(text, max(0, start - 20), start):
        return None
    if (
        surface == "24/7"
        or surface.endswith("/52")
        or _DURATION.search(text, max(0, start - 40), end)
        or (surface == "2/2" and _SECONDARY_TO.match(text, end))
    ):
        return None
    return (start, end) if is_month_day(a, b) or (1 <= a <= 12 and len(surface.rpartition("/")[2]) == 2) else None


@validator
def dictated_day(text: str, start: int, end: int) -> Interval | None:
    """The day after "D:" or "T:" below a dictation, which never has grades of strength ("D: 5/5")."""
    grade = text[start:end] in _GRADES and _DICTATED.search(text, max(0, start - 120), start) is None
    return None if grade else month_day(text, start, end)


@validator
def header_day(text: str, start: int, end: int) -> Interval | None:
    """A month and a day that end a line which a label of a name or a listed person's name begins."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    before = text[line:start].strip(" \t")
    if "^" in before or _NAME_LABEL.search(before):
        return month_day(text, start, end)
    words = _LAST_NAMES.search(before)
    kinds = [word_class(words[group]) for group in (1, 2)] if words else []
    medical = WordClass.CLINICAL | WordClass.ORDINARY
    person = any(k & WordClass.GIVEN for k in kinds) and not any(
        k & medical and not k & WordClass.SURNAME for k in kinds
    )
    return month_day(text, start, end) if person and text[start:end] not in _GRADES else None


@validator
def plain_month_day(text: str, start: int, end: int) -> Interval | None:
    """Month/day that nothing around it calls a date: not what scores, fractions and strengths look like."""
    a, b = numbers_in(text, start, end)[:2]
    chart = _NO_DAY_BEFORE.search(text, max(0, start - 40), start) or _NO_DAY_AFTER.match(text, end)
    if not is_day(a, b) or chart:
        return None
    padded = text[start] == "0" or _PADDED.search(text, start, end) is not None
    return (start, end) if padded or (b > 12 and b not in {15, 16, 20, 30} and a < b) else None


@validator
def listed_day(text: str, start: int, end: int) -> Interval | None:
    """One of several months and days in a row: they ascend within a month, or one is no score."""
    whole = _DAYS_IN_A_ROW.search(text, max(0, start - _LONGEST_ROW), start + _LONGEST_ROW)
    while whole is not None and whole.end() < end:
        whole = _DAYS_IN_A_ROW.search(text, whole.end(), start + _LONGEST_ROW)
    if whole is None or not whole.start() <= start < whole.end():
        return None
    numbers = numbers_in(text, *whole.span())
    days = list(zip(numbers[::2], numbers[1::2], strict=False))
    chart = _NO_DAY_BEFORE.search(text, max(0, whole.start() - 40), whole.start()) or _NO_DAY_AFTER.match(
        text, whole.end()
    )
    if chart or not all(is_day(a, b) for a, b in days) or len({b for _, b in days}) == 1:
        return None
    ascend = days == sorted(set(days)) and (len(days) > 2 or max(b for _, b in days) > _LARGEST_SCORE)
    return (start, end) if ascend and max(max(day) for day in days) > _LARGEST_STRENGTH else None


@validator
def month_year(text: str, start: int, end: int) -> Interval | None:
    """Month and year as numbers, or a range of two such pairs, of which the months exist."""
    return (start, end) if all(1 <= month <= 12 for month in numbers_in(text, start, end)[::2]) else None


@validator
def day_range(text: str, start: int, end: int) -> Interval | None:
    """Two month/day pairs that both exist and are neither scores over one maximum nor fractions of an inch."""
    numbers = numbers_in(text, start, end)
    half = len(numbers) // 2
    if len(numbers) in (4, 6):
        (a, b), (c, d) = numbers[:2], numbers[half : half + 2]
    elif len(numbers) == 5:  # "2/14-2/17/19", "2/14/19-2/17"
        pairs = [regex.findall(r"\d+", part) for part in regex.split(r"[^\d/]+", text[start:end])]
        (a, b), (c, d) = (tuple(map(int, pair[:2])) for pair in pairs[:2])
    else:
        return None
    if len(numbers) == 4:
        scores = b == d and b in {2, 3, 4, 5, 6, 8, 10}
        fractions = b in _FRACTIONS and d in _FRACTIONS and a < b and c < d
        if scores or fractions:
            return None
    return (start, end) if is_month_day(a, b) and is_month_day(c, d) else None


@validator
def bare_day(text: str, start: int, end: int) -> Interval | None:
    """An ordinal that is a day of the month: nothing follows that it could count ("the 5th rib")."""
    day = numbers_in(text, start, end)[0]
    if _GROWTH.search(text, max(0, start - 40), start):
        return None
    return (start, end) if 1 <= day <= 31 and _AFTER_ORDINAL.match(text, end, end + 60) else None
