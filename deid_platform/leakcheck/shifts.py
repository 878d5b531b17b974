"""True dates beside shifted ones: any of them tells how far a patient's dates were moved.

Belongs here: the shapes that are doubtful among tags and a leak under a shift, since a detector passes over them: in
file names and numbers, with dots, without a year. Does not belong here: dates that leak under every policy
(`shapes.py`), or the patient's birth (`births.py`).

What could be an ordinary number counts by where it lies in the calendar: a reading within two weeks of the note's own
date is taken for a date.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
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
_OF_YEAR = re.compile(
    rf"(?:week|wk)\s[0-9]{{1,3}},?\s(?:of\s|in\s)?{GAP}|{GAP}-?w[0-5][0-9](?![0-9])"
    # "Day 6 3/8" is a day of a stay and its date.
    rf"|day\s(?:[0-9]{{1,3}},?\s(?:of|in)|(?:3[2-9]|[4-9][0-9]|[1-3][0-9]{{2}}),?)\s{GAP}"
)
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
    r"\s?(?:k|mg|mcg|ml|cc|cm|mm|units?|tabs?|tablets?|caps?|drops?|doses?|days?|weeks?|wks?|months?|x|strength)\b|\s?[\"”]|\s?inch"
)
# What scores are out of, and "3/7" and "3/12" for days and months: behind a word for a date alone are these a day.
_OUT_OF = frozenset((2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 18, 21, 24, 27, 28, 30))
_THIRDS = frozenset(((1, 3), (2, 3)))
_FRACTIONS = _THIRDS | {(1, 2), *((n, d) for d in (4, 8, 16) for n in range(1, d, 2))}
# What makes a score, a share or a size of such a pair near the note's own date, on the same line.
_SCORED = re.compile(
    r"(?<![^\W_])(?:strengths?|motor|muscles?|power|weak(?:ness)?|murmurs?|sem|pains?|scales?|scor(?:es?|ed|ing)|rated"
    r"|rates|rating|grades?|graded|gleason'?s?|apgars?|pupils?|reflex(?:es)?|dtrs?|patella(?:r|e)?|jerks?|achilles|pulses"
    r"|acuity|vision|gcs|nihss|mmse|moca|phq-?[0-9]*|gad-?[0-9]*|audit(?:-c)?|epds|gds|ess|epworth|stop-?bang|curb-?65"
    r"|centor|wells|recall|ratios?|mixture|trocars?|cannula|gauge|inch(?:es)?|flexion|extens(?:ion|ors?)|flexors?|biceps"
    r"|triceps|quads?|quadriceps|delts?|deltoids?|hamstrings?|iliopsoas|grip|intensity|severity|anxiety|depression|mood"
    r"|nausea|fatigue|dyspnea|itch|gestation(?:al)?|ega|iup|bristol|mallampati|ecog|visual|snellen|criteria|sirs"
    r"|questions|points?|mrc|dorsiflexion|abduction|adduction|brachioradialis|gastroc(?:nemius)?|bicipital|bue|ble|rue"
    r"|settings?|pressures?|bi-?pap|c-?pap|[ie]pap|weaned|readings|averag(?:es?|ed)|flacc|ciwa|cows|rass|braden|nrs|vas"
    r"|ipss|tug|bdi|hgb/hct|h&h|lue|rle|lle|ranges?|effaced|dilated|sets?|reps?|trials?|balance|gait|orientation|lymph|nodes?|cores?)(?![^\W_])"
)
_SCORED_BEHIND = re.compile(
    r"\s?(?:st|nd|rd|th)s?\b|\s?\+|[\s,-]{0,2}(?:(?:out )?of|(?:an?|the) |x(?![^\W_])|to [0-9]|inch|mile|lb|pound|cup"
    r"|pill|pack|ppd|bottle|glass|pint|ns(?![^\W_])|normal saline|way|time|hour|hr|day|dose|course|liter|gallon|mixture"
    r"|pos(?:itive)?(?![^\W_])|neg(?:ative)?(?![^\W_])|words?|objects?|items?|cores?|nodes?|quadrant|sets?|reps?|steps?|stairs|classes|sessions|meals|attempts|tasks|goals|mm|gr)"
)
_SCORED_AT = re.compile(
    r"(?:(?<![^\W_])(?:an?|day|dose|cycle|session|visit|box|page|part|step|stage|course|bottle|vial|unit"
    r"|(?:in|for|x)(?=\s[0-9]{1,2}/(?:7|12)\Z))[\s#:]{1,2}|[a-z=+<>~]|(?<![0-9])[1-4][0-9]\s(?:and\s)?(?=[0-6]/7\Z))"
    r"[0-9]{1,2}/[0-9]{1,2}\Z"
)
# "5 1/2" is a mixed number; "140 1/4" and "4.2 1/4" are a result and its day.
_RESULT = re.compile(r"(?:[0-9]{3}|\.[0-9]{1,2})\s\Z")
_SCORED_REACH = 56

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


def dates_left(
    reading: ComparableText, written: date | None, *, language: str = "en", others: Collection[date] = ()
) -> bool:
    """Whether a text still shows a date that tells the shift.

    Args:
        reading: The text, a gap in the place of what was removed.
        written: The note's own date; without it nothing is near.
        language: The note's; others than English write "14.3." for a day.
        others: Further days that the original tells: a day and a month with a slash near them is a date too.
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
        or _slashed(text, [*others] if written is None else [written, *others])
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


def _slashed(text: str, written: Collection[date]) -> bool:
    """A day and a month with a slash: behind a word for a date, or near one of the dates that are known of a note."""
    for match in _SLASHED.finditer(text):
        one, two = map(int, match.group().split("/"))
        if not _possible(one, two) or _UNIT.match(text, match.end()) or (one, two) in ((2, 2), (24, 7)):
            continue
        if _CUE.search(text, max(0, match.start() - 24), match.start()):
            return True
        if any(_is_near(day, one, two) for day in written) and not (
            (two in _OUT_OF or (one, two) in _THIRDS or one == two) and _scored(match, one, two)
        ):
            return True
    return False


def _scored(match: re.Match[str], one: int, two: int) -> bool:
    """Whether a pair that could be a score or a share is one, by what stands around it on its line."""
    text, start, end = match.string, match.start(), match.end()
    result = _RESULT.search(text, max(0, start - 8), start) or (text[start - 1 : start], text[end : end + 1]) == (
        "(",
        ")",
    )
    if one == two or ((one, two) in _FRACTIONS and not result) or _SCORED_BEHIND.match(text, end):
        return True
    before = text[max(0, start - _SCORED_REACH) : start].rpartition("\n\n")[2]
    behind = text[end : end + _SCORED_REACH // 2].partition("\n\n")[0]
    return any(map(_SCORED.search, (before, behind))) or _SCORED_AT.search(text, max(0, start - 16), end) is not None


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
