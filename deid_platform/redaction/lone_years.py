"""Years that stand alone in a text, which go as the dates around them go.

Belongs here: finding them where a policy moves or removes dates. Does not belong here: dates (`detection/`), to which a
year alone does not belong, since Safe Harbor leaves it. The year of a guideline is no date: it stays, true for all.

"MI in 2015" beside a shifted "MI, 11/3/2014" would tell how far the patient's dates were moved. So every number from
1900 to 2049 counts as a year, unless what stands around it makes it a dose, a result, a count, a time of day or a part
of a longer number. A year with a month and a day beside it is no year alone: were it moved by itself, they would stay,
so that it is left to the leak check. A year in words counts behind a word that calls for one. A quarter, a season
or a word as "early" goes with its year, since it tells when in the year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.redaction.parts_of_years import is_measured
from deid_platform.text.numerals import LANGUAGES, numerals

SOURCE = "lone-year"
_FIRST, _LAST = 1900, 2049
_REACH = 40
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"
# What a year starts with comes first, which lets `re` skip what has no digits.
_CANDIDATE = re.compile(r"[12](?<![0-9].)(?:(?<=1)9|(?<=2)0)[0-9]{2}(?![0-9])")
# "2018-19" and "2018/19" are two years where the second follows the first.
_SECOND_YEAR = re.compile(r"\s?[-–/]\s?([0-9]{2})(?![0-9]|[-/.][0-9]|\s?%)")
_FISCAL = re.compile(r"(?<![^\W_])[FCS]Y[\s'’/-]{0,2}\Z", re.IGNORECASE)
# "s/p fall 2015" is no season.
_PERIOD = re.compile(
    r"(?<![^\W_])(?:(?:Q[1-4]|[1-4]Q|H[12])[\s'’/-]{0,2}|(?:spring|summer|autumn|winter)\s(?:of\s)?|fall\sof\s"
    r"|(?:early|mid|late)[\s-](?:in\s|of\s)?(?:the\syear\s)?|(?:beginning|start|middle|end|half|part|turn)\sof\s(?:the\syear\s)?"
    r"|(?:début|fin|milieu|mi(?=-)|inizio|inizi|metà|fine|principios|mediados|finales|comienzos|fines|Anfang|Mitte|Ende)[\s-]"
    r"(?:del?\s|du\s|des\sJahres\s)?)\Z",
    re.IGNORECASE,
)
_PERIOD_BEHIND = re.compile(r"[\s/-]?(?:Q[1-4]|H[12])(?![^\W_])", re.IGNORECASE)
_MONTH_AND_DAY = re.compile(r"(?P<mark>[\s_.-])[0-9]{1,2}(?P=mark)[0-9]{1,2}(?![0-9])")
_MONTH_AND_DAY_BEFORE = re.compile(r"(?<![0-9])[0-9]{1,2}(?P<mark>[\s_.-])[0-9]{1,2}(?P=mark)\Z")
_IN_WORDS = re.compile(
    r"[NnTtDdMmZz](?<![^\W_].)(?:ineteen[\s-]|wenty[\s-]|wo\sthousand|os\smil(?!\w)|eux\smille(?!\w)|il\snovecientos|ille\s?nove|ille\sneuf"
    r"|uemila|eunzehnhundert|weitausend|ix-neuf\scent|iecinueve\s)"
)
_HOLD_YEARS = (
    "ineteen", "wenty", "thousand", "os mil", "eux mille", "novecientos", "nove", "uemila", "euf cent",
    "zehnhundert", "tausend", "iecinueve",
)  # fmt: skip
_CALLS_FOR_YEAR = re.compile(
    r"(?:(?<![^\W_])(?:in|since|until|till|during|circa|year|born|before|after|by|around|early|late"
    r"|mid|fall|summer|spring|winter|desde|hasta|en|del|(?:en|desde|hasta)\sel|año|nel|dal|fino al|anno|depuis|jusqu'en"
    r"|année|l'an|im jahre?|seit|bis|jahr|[^\W\d_]*(?:ary|rch|pril|may|june|july|gust|mber|tober)"
    r"|[^\W\d_]*(?:ary|rch|pril|may|june|july|gust|mber|tober|year|spring|summer|fall|autumn|winter)\sof"
    r"|[^\W\d_]*(?:ero|zo|ril|yo|nio|lio|sto|bre|año)\sde)"
    r"[\s,-]{1,3}|\(\s?)\Z",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[\s-]+(?:per\s?cent|min(?:ute)?s?|sec(?:ond)?s?|days?|weeks?|months?|years?|degrees|times|milli\w+|pounds|kilos?|minut[io]s?|días"
    r"|ans|anni|años|jahre|tage|giorni|jours|mois|mesi|meses|monate|por\sciento|pour\scent|per\scento|prozent|veces|volte|fois|mal)(?!\w)",
    re.IGNORECASE,
)
# Two digits are a year behind an apostrophe or as a fiscal one; "5'10" is a height and "the '90s" a decade. What it
# starts with comes first here too.
_SHORT = re.compile(
    r"[FC'’](?:(?<=['’])(?<![\w'’].)|(?<=[FC])(?<![^\W_].)Y[\s-]?['’]?)(?P<short>[0-9]{2})(?![0-9'’]|s\b|[.:,/-][0-9])"
)
_OF_NUMBER_BEFORE = re.compile(r"[^\W\d_]\Z|[<>≥≤=$€£#+×*^]\s?\Z|[0-9]{3}[-–]\Z|[0-9](?:\s?/\s?|[.:,])\Z")
_YEAR_BEFORE = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}\s?(?:[-–/,&]|to|and)\s?\Z")
# Whose guidelines and criteria bear the year of their publication, which is nobody's.
_BODIES = (
    r"(?:ACC|AHA|HRS|ESC|ESH|ACR|EULAR|ADA|EASD|ESMO|ASCO|NCCN|KDIGO|KDOQI|IDSA|ATS|ERS|AASLD|EASL|ACG|AGA|WHO|FIGO|AJCC"
    r"|UICC|SCAI|USPSTF|ACOG|AAP|AACE|ACE|ATA|SCCM|ISHLT|HFSA|STS|SVS|NIH|NINDS|ISCHD|ASA|AAN|EAN|EAU|AUA|ISN|RPS)"
)
_OF_A_GUIDELINE = re.compile(
    rf"\s{_BODIES}(?:/{_BODIES})+(?![^\W_])"
    r"|\s(?:[A-Z][\w/-]{1,20}\s){0,3}(?:[Gg]uidelines?|[Cc]riteria|[Cc]lassification|[Cc]onsensus|[Rr]ecommendations)"
    r"(?![^\W_])"
)
_TIME_OF_DAY = re.compile(r"(?:\bat|@|\btime:?)\s*\Z", re.IGNORECASE)
_NUMBER_BEFORE = re.compile(r"(?<![\w./-])(?P<number>[0-9]+(?:\.[0-9]+)?)\s+(?P<to>to\s+|[-–]\s+)?\Z")
_NUMBER_BEHIND = re.compile(r"[ \t]+[0-9]+(?:\.[0-9]+)?(?![\w/-])")
_BEHIND_DATE = re.compile(r"[\s,(]{1,3}")


def lone_years(text: str, ordered: Sequence[Span]) -> list[Span]:
    """Years alone that none of the spans holds.

    Args:
        text: The note's text.
        ordered: What was found in it, in order, without overlap.

    Returns:
        One DATE span for each, in order.
    """
    return list(_free(text, ordered))


def _free(text: str, ordered: Sequence[Span]) -> Iterator[Span]:
    waiting = iter(ordered)
    span = next(waiting, None)
    date_end = -1
    for start, year, end, certain in sorted((*_long(text, ordered), *_short(text), *_in_words(text))):
        while span is not None and span.end <= start:
            date_end = span.end if span.label is Label.DATE else date_end
            span = next(waiting, None)
        free = start if span is None or span.start >= end else year if span.end <= year else None
        if free is None:
            continue
        behind_date = date_end >= 0 and _BEHIND_DATE.fullmatch(text, date_end, year) is not None
        if certain or behind_date or _stands_as_year(text, year, end):
            yield Span(free, end, Label.DATE, source=SOURCE)
            date_end = end


def _long(text: str, ordered: Sequence[Span]) -> Iterator[tuple[int, int, int, bool]]:
    """Where a year of four digits may stand outside the spans: the start of its quarter or season, its own, the end,
    and whether nothing before it can make it something else."""
    place = 0
    for match in _CANDIDATE.finditer(text):
        start, end = match.span()
        while place < len(ordered) and ordered[place].end <= start:
            place += 1
        if place < len(ordered) and ordered[place].start < end:
            continue
        year = int(match.group())
        second = _SECOND_YEAR.match(text, end)
        if second is not None and int(second[1]) == (year + 1) % 100:
            end = second.end()
        before = max(0, start - _REACH)
        whole = _MONTH_AND_DAY.match(text, end) or _MONTH_AND_DAY_BEFORE.search(text, before, start)
        if year > _LAST or whole or _number_behind().match(text, end) or _OF_A_GUIDELINE.match(text, end):
            continue
        period = _PERIOD.search(text, before, start)
        behind = _PERIOD_BEHIND.match(text, end)
        certain = period is not None or behind is not None or _FISCAL.search(text, before, start) is not None
        yield period.start() if period else start, start, behind.end() if behind else end, certain


def _short(text: str) -> Iterator[tuple[int, int, int, bool]]:
    for match in _SHORT.finditer(text):
        if not _number_behind().match(text, match.end()):
            yield match.start("short"), *match.span("short"), True


def _in_words(text: str) -> Iterator[tuple[int, int, int, bool]]:
    for match in _IN_WORDS.finditer(text) if any(part in text for part in _HOLD_YEARS) else ():
        start = match.start()
        # Of several languages in which the words are a number, the one that reads most of them.
        read = (numerals(text[start : start + _REACH], language)[:1] for language in LANGUAGES)
        first = (numbers[0] for numbers in read if numbers and numbers[0].start == 0)
        year = max(first, key=lambda number: number.end, default=None)
        if year is None or len(year.digits) != 4 or not _FIRST <= int(year.digits) <= _LAST:
            continue
        end = start + year.end
        counts = _number_behind().match(text, end) or _COUNTED.match(text, end) or is_measured(text, start)
        if not counts and _CALLS_FOR_YEAR.search(text, max(0, start - _REACH), start):
            yield start, start, end, True


def _stands_as_year(text: str, start: int, end: int) -> bool:
    """Whether nothing before a number makes it something else than a year."""
    before = text[max(0, start - _REACH) : start]
    if _YEAR_BEFORE.search(before):
        return True
    if _TIME_OF_DAY.search(before):
        return int(text[start + 2 : start + 4]) > 59
    number = _NUMBER_BEFORE.search(before)
    # "from 1200 to 2000", and a row of results.
    in_row = number is not None and (number["to"] is not None or _NUMBER_BEHIND.match(text, end) is not None)
    if number is not None and in_row and not re.fullmatch(_YEAR, number["number"]):
        return False
    return _OF_NUMBER_BEFORE.search(before) is None and _measure_before().search(before) is None


@cache
def _number_behind() -> re.Pattern[str]:
    """What behind four digits makes them an amount, a time of day or a part of a longer number."""
    return re.compile(
        rf"[^\W\d_]|[.,:][0-9](?<!,[0-9])|,(?!{_YEAR})[0-9]|['’]?s\b|\s?%|\s?/\s?(?!{_YEAR})[0-9]|[-–](?!{_YEAR}(?!-))[0-9]"
        rf"|\s?[x×*^]\s?[0-9]|[\s-]{{0,3}}(?:{_words('unit_words')})(?![^\W_])",
        re.IGNORECASE,
    )


@cache
def _measure_before() -> re.Pattern[str]:
    """Words before four digits that make them a result, an amount, a place or a call number."""
    between = r"(?:\s*(?:[:=~]|of|was|is|to|at|up|down|count|level|about|around|approx\.?))"
    return re.compile(rf"(?<![^\W_])(?:{_words('measured_words')})\.?{between}{{0,3}}\s*\Z", re.IGNORECASE)


def _words(name: str) -> str:
    source = (resources.files("deid_platform.redaction") / "data" / f"{name}.txt").read_text(encoding="utf-8")
    words = (word for line in source.splitlines() if not line.startswith("#") for word in line.split())
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
