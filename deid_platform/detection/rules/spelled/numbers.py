"""Validators of numbers in words: where one ends, and whether it is a date, an age or a number of somebody.

Belongs here: the validators that `numbers.yaml` names. Its patterns give the place at which a number may begin; what
is read there decides how far it goes, so that these validators may return more than was matched. Does not belong here:
reading number words (`text/numerals.py`).
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import regex

from deid_platform.detection.rules.en.ages import birth_year_of, is_measured
from deid_platform.detection.rules.en.dates import is_month_day, is_year
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.text.compiled import compiled
from deid_platform.text.numerals import LANGUAGES, Numeral, numerals

_REACH = 160  # code points of the longest number in words
_BEFORE = 48
_FULL = 3  # numbers of a full date
_GROUP_OF_DIGITS = compiled(r"\d+")
_COMPACT = 8  # digits of one
_YOUNGEST, _OLDEST = 90, 125
_MONTHS_OF_90, _WEEKS_OF_90 = 1080, 4696
# What may be said between the parts of a dictated number or date.
_FILLERS = (
    r"um+|uh+|like|i\s+mean|rather|er+m?|hm+|wait|sorry|correction|make\s+that|scratch\s+that|no|perdón|digo|corrección|scusi|anzi|correzione"
    r"|pardon|non|ähm?|moment|korrektur|eh+m?|euh"
)
_JOINT = compiled(
    rf"(?:[\s,;…\-–—/]|\.{{2,3}})*(?:(?:[.;:…]+\s*)?(?:(?:the\s+)?last\s+(?:three|four)(?:\s+digits)?(?:\s+(?:are|is|being))?|{_FILLERS}"
    r"|and then|then|followed by|dash|hyphen|slash|stroke|space|luego|después|guion|guión|barra|espacio"
    r"|poi|trattino|spazio|puis|ensuite|tiret|barre|espace|dann|strich|bindestrich|extension|ext\.?)(?:[\s,:;]|[.…-]+\s)+){0,3}",
    regex.IGNORECASE,
)
_DATE_JOINT = compiled(
    rf"[\s,\-–/]*(?:(?:the|of|slash|dash|stroke|day(?:\s+of)?|month|de|del|des|di|du|barra|guion|guión|barre|tiret|trattino|in|im"
    r"|jahr|jahre|year|año|anno|année|l['’]an|den|der|día|mes|giorno|mese|jour|mois|tag|monats?|dell['’]anno|de\s+l['’]année"
    rf"|{_FILLERS})[\s,]+){{0,4}}",
    regex.IGNORECASE,
)
_DAY_THEN_MONTH = compiled(
    r"\s+(?:(?:day\s+)?of\s+|días?\s+(?:del\s+mes\s+)?de\s+|de\s+|del\s+mese\s+di\s+|du\s+mois\s+de\s+)?\Z", regex.I
)
_ENGLISH = frozenset(
    form for month in calendar.month_name[1:] for form in (month.casefold(), month[:3].casefold(), month[:4].casefold())
)
_ITALIAN = frozenset(
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split()  # noqa: SIM905
)
_ARTICLES = frozenset(("un", "una", "une", "ein", "eine"))
_UNIT = compiled(
    r"[\s-]{0,2}(?:%|percent|per\s?cent|por ciento|pour cent|prozent|mg|mcg|ml|milli\p{L}+|grams?|kilos?|units?"
    r"|tab(?:let)?s?|caps?(?:ules?)?|pills?|drops?|puffs?"
    r"|doses?|days?|weeks?|months?|hours?|hrs?|minutes?|mins?|seconds?|times|degrees|inches|feet|cm|mm|cc|liters?|litros?|litri"
    r"|patients?|of\b|out\b|over\b|point\b|to\b|or\b|years?|días|semanas|meses|horas|veces|años|giorni|settimane|mesi|ore|volte"
    r"|anni|compresse|jours|semaines|mois|heures|fois|ans|tage|wochen|monate|stunden|mal|jahre)(?!\p{L})",
    regex.IGNORECASE,
)
# Numbers that a patient said, or that somebody counted or measured.
_EXERCISE = compiled(
    r"\b(?:digits?|span|repeat\w*|recall\w*|forwards?|backwards?|count\w*|serial|sevens|numbers|cuenta|contar|dígitos|restas?|conta\w*"
    r"|cifre|compte\w*|chiffres|zähl\w*|zahlen|scor\w+|items?|responses?|answers?|apgars?|nihss|phq|gad|strength|motor|power"
    r"|reflex\w*|pulses|audio\w+|thresholds?|sensation|puntuaci\w+|puntajes?|ítems?|respuestas?|fuerza|reflejos|pulsos|punteggi\w*|risposte"
    r"|forza|riflessi|polsi|scores?|réponses?|force|réflexes|testing|kraft\w*|reflexe|antworten)\b[^.\n]{0,60}\Z",
    regex.IGNORECASE,
)
# How telephones fall into groups, and the highest grade of what is graded part by part.
_GROUPS = {
    *((3, 3, 4), (3, 4), (1, 3, 3, 4), (1, 3, 7), (3, 7), (6, 4), (3, 5, 2), (2, 2, 2, 2, 2), (3, 2, 2, 2), (3, 3, 3)),
    *((2, 4, 4), (3, 4, 4), (5, 6), (4, 3, 3), (4, 3, 4), (2, 3, 2, 2), (3, 2, 2, 3)),
}
_PARTING = compiled(r"[,;.]")
_AMERICAN = 10
_HIGHEST_GRADE = "5"
_AGE_BEHIND = compiled(
    r"(?:\s(?:y|e|et|und)\s(?:tant[oia]s?|pico|rotti|quelques|algo))?[\s\-'’]{0,3}(?:(?:years?|yrs?)(?:,?\s(?:and\s)?\p{L}{1,8}\smonths?)?[\s\-]{1,3}(?:old|of\s+age|young)\b|y\.?\s?/?\s?o\b|(?:anni|ans|años|jahren?|jahre|jährige[nr]?)\b(?!\s+(?:fa|or\s+sono|dopo|prima"
    r"|avant|après|plus\s+tard|später|atrás|después|antes|di\s+(?!età)|de\s+(?!edad)|lang|solitude|soledad|solitudine)\b))",
    regex.IGNORECASE,
)
_YEAR_OF_LIFE = compiled(
    r"\s+(?:year\s+of\s+(?:(?:his|her|their|my)\s+)?(?:life|age)\b|lebensjahr|geburtstag|cumpleaños|compleanno|anniversaire|b-?day|birthday"
    r"|año\s+de\s+(?:vida|edad)|anno\s+di\s+(?:vita|età)|année\s+de\s+(?:sa\s+)?vie)",
    regex.IGNORECASE,
)
_OWN_YEAR = compiled(
    r"\b(?:his|her|their|my|patient['’]s|\p{Lu}\p{L}+['’]s|dans\s+sa|en\s+su|nel\s+suo|in\s+(?:ihrem|seinem))\s+\Z"
)
_YEAR_BEHIND = compiled(
    r"\s+(?:année|año|anno|Jahr|year)(?!\p{L}|[\s-]+(?:of\s+(?!life|age|his|her|their)|as|in|at|with|anniversary|working|teaching))"
)
_AGE_BEFORE = compiled(
    r"\b(?:aged?|age\s+(?:of|is)|edad(?:\s+de)?|età(?:\s+di)?|âgée?s?\s+de|âge|alter|turn(?:ed|ing|s)|(?:died|dead|passed\s+away)\s+at|lived\s+to(?:\s+be)?"
    r"|cumplirá|cumplió|compirà|fêtera\s+ses|ha\s+compiuto|compiuti)[\s:]{1,3}(?:(?:about|almost|nearly|over|casi|quasi|presque|fast)\s+)?\Z",
    regex.IGNORECASE,
)
_DURATION_BEFORE = compiled(
    r"\b(?:da|per|dopo|entro|ultimi|hace|durante|por|desde|pendant|depuis|il\s+y\s+a|seit|vor|for|since|every|last|past)\s+(?:(?:oltre|circa|quasi|más\s+de|plus\s+de"
    r"|über|over|about|the|gli|los|les|almost)\s+)?\Z",
    regex.IGNORECASE,
)
_OF_MONTHS = compiled(r"[\s-]{1,2}(?:months?|mesi|meses|mois|monaten?)(?!\p{L})", regex.IGNORECASE)
_OF_WEEKS = compiled(r"[\s-]{1,2}(?:weeks?|settimane|semanas|semaines|wochen)(?!\p{L})", regex.IGNORECASE)


@lru_cache(maxsize=256)
def _read(stretch: str) -> tuple[tuple[Numeral, ...], ...]:
    return tuple(numerals(stretch, language) for language in LANGUAGES)


def _runs(text: str, start: int, joint: regex.Pattern[str]) -> Iterator[tuple[Numeral, ...]]:
    """The numbers that stand one after another from a place on, as each language reads them; the longest first."""
    stretch = text[start : start + _REACH].partition("\n\n")[0]
    runs = {tuple(_row(stretch, read, joint)) for read in _read(stretch)}
    return iter(sorted(runs, key=lambda run: -run[-1].end if run else 0))


def _row(stretch: str, read: Sequence[Numeral], joint: regex.Pattern[str]) -> Iterator[Numeral]:
    place = 0
    for number in read:
        if place and (gap := joint.match(stretch, place)) and gap.end() > number.start:
            continue  # "the last four digits"
        if number.start != place and (number.start < place or not joint.fullmatch(stretch, place, number.start)):
            return
        if place == 0 and number.start:
            return
        yield number
        place = number.end


def _year_like(number: Numeral) -> bool:
    return len(number.digits) == 4 and is_year(int(number.value))


def _short_year(number: Numeral) -> bool:
    return len(number.digits) == 2 and "." not in number.digits


@validator
def month_in_words(text: str, start: int, end: int) -> Interval | None:
    """A month's name with its day, its year or both in words."""
    first, last, spelled, told, counts = start, end, False, 0, False
    before = text[max(0, start - _BEFORE) : start]
    gap = _DAY_THEN_MONTH.search(before)
    days = [
        read[-1]
        for read in _read(before[: gap.start()] if gap else "")
        if gap and read and read[-1].end == gap.start() and 1 <= read[-1].value <= 31
    ]
    if before[: gap.start() if gap else 0].casefold().endswith("due") and text[start:end].casefold() not in _ITALIAN:
        days = []  # "Next due March 2020"
    if days:
        day = min(days, key=lambda number: number.start)
        first, spelled, told = start - len(before) + day.start, day.spelled, 1
        # "Una OCT", "the first week or two of June".
        counts = not day.ordinal and (
            text[start:end].casefold() in _ENGLISH or before[day.start : day.end] in _ARTICLES
        )
    behind = _DATE_JOINT.match(text, end)
    place = behind.end() if behind else end
    for run in _runs(text, place, _DATE_JOINT) if place > end else ():
        numbers = list(run[:_FULL])
        if not numbers:
            continue
        if not told and not _year_like(numbers[0]) and not 1 <= numbers[0].value <= 31:
            continue
        if not told and not _year_like(numbers[0]) and text[start:end].casefold() not in _ENGLISH:
            continue  # "En junio tres ciclos": elsewhere than in English the day stands before the month
        if told and not (_year_like(numbers[0]) or _short_year(numbers[0])):
            continue
        while numbers and _UNIT.match(text, place + numbers[-1].end):
            numbers.pop()
        if numbers:
            plain_day = not told and len(numbers) == 1 and not _year_like(numbers[0]) and not numbers[0].ordinal
            if plain_day and text[start:end].casefold() in ("may", "march", "mar", "mars", "mai"):
                continue
            last, told = place + numbers[-1].end, told + len(numbers)
            spelled, counts = spelled or any(number.spelled for number in numbers), False
            break
    return (first, last) if told and spelled and not counts else None


@validator
def birth_in_words(text: str, start: int, end: int) -> Interval | None:  # noqa: ARG001 - it reads on from the start
    """A date of birth as it is dictated; or the year of one that gives away an age over 89."""
    for run in _runs(text, start, _DATE_JOINT):
        if not any(number.spelled for number in run):
            continue
        if (date := _dated(run, short=True)) is not None:
            return start, start + date
        if len(run) == 1 and _year_like(run[0]) and birth_year_of(int(run[0].value)):
            return start, start + run[0].end
    return None


@validator
def birth_spaced(text: str, start: int, end: int) -> Interval | None:
    """A date of birth of which each digit stands by itself."""
    digits = "".join(character for character in text[start:end] if character.isdigit())
    single = all(len(group) == 1 for group in _GROUP_OF_DIGITS.findall(text, start, end))
    if len(digits) == _COMPACT:
        return (start, end) if _compact(digits) else None
    return (start, end) if single and len(digits) >= _COMPACT - 2 and _short_compact(digits) else None


def _dated(run: Sequence[Numeral], *, short: bool) -> int | None:
    """Where a date ends that begins a run of numbers; None where none does."""
    if any("." in number.digits for number in run) or _counts(run):
        return None
    # Digits said one by one: "zero three zero nine one nine three one".
    joined = ""
    for number in run:
        joined += number.digits
        if len(joined) == _COMPACT and _compact(joined) and len(run) > _FULL:
            return number.end
    for size in (_FULL, _FULL + 1, _FULL + 2):
        part = run[:size]
        if len(part) < size:
            break
        values = [int(number.value) for number in part]
        year = "".join(number.digits for number in part[2:])
        if len(year) == 4 and is_year(int(year)) and is_month_day(*values[:2]):
            return part[-1].end
        if size == _FULL and _year_like(part[0]) and is_month_day(*values[1:]):
            return part[-1].end
    part = run[:_FULL]
    if short and len(part) == _FULL and _short_year(part[2]) and is_month_day(*(int(n.value) for n in part[:2])):
        return part[-1].end
    # "three nine three one": the year's two digits by themselves.
    part = run[: _FULL + 1]
    if short and len(run) == _FULL + 1 and all(len(number.digits) == 1 for number in part[2:]):
        return part[-1].end if is_month_day(*(int(n.value) for n in part[:2])) else None
    return None


def _compact(digits: str) -> bool:
    month_first = is_month_day(int(digits[:2]), int(digits[2:4])) and is_year(int(digits[4:]))
    return month_first or (is_year(int(digits[:4])) and is_month_day(int(digits[4:6]), int(digits[6:])))


def _short_compact(digits: str) -> bool:
    """Whether six digits or seven are a date: with a year of two digits, or with a day and a month of one."""
    if len(digits) == _COMPACT - 2:
        pairs = int(digits[:2]), int(digits[2:4]), int(digits[4:])
        if is_month_day(*pairs[:2]) or is_month_day(*pairs[1:]):
            return True
    front, back = digits[:-4], digits[4:]
    return any(
        is_year(int(year)) and any(is_month_day(int(rest[:cut]), int(rest[cut:])) for cut in range(1, len(rest)))
        for rest, year in ((front, digits[-4:]), (back, digits[:4]))
    )


def _counts(run: Sequence[Numeral]) -> bool:
    """Whether numbers go up or down by the same step, as when somebody counts."""
    values = [float(part) for number in run for part in _halves(number)]
    steps = {two - one for one, two in pairwise(values)}
    return len(values) > _FULL and len(steps) == 1


def _halves(number: Numeral) -> tuple[str, ...]:
    return (number.digits[:2], number.digits[2:]) if _year_like(number) else (number.digits,)


@validator
def age_in_words(text: str, start: int, end: int) -> Interval | None:  # noqa: ARG001 - it reads on from the start
    """An age over 89 in words, with what makes one of a number beside it."""
    before = text[max(0, start - _BEFORE) : start]
    for run in _runs(text, start, _NO_JOINT):
        number = run[0] if run else None
        if number is None:
            continue
        place = start + number.end
        for least, unit in ((_MONTHS_OF_90, _OF_MONTHS), (_WEEKS_OF_90, _OF_WEEKS)):
            if least <= number.value <= least * 1.4 and (match := unit.match(text, place)):
                return start, match.end()
        if not number.spelled or not _YOUNGEST <= number.value <= _OLDEST:
            continue
        if number.ordinal:
            own = _OWN_YEAR.search(before) and _YEAR_BEHIND.match(text, place)
            if own or _YEAR_OF_LIFE.match(text, place):
                return start, place
            continue
        if _DURATION_BEFORE.search(before):
            continue
        if _AGE_BEHIND.match(text, place):
            return start, place
        if _AGE_BEFORE.search(before) and not _UNIT.match(text, place) and not is_measured(text, start):
            return start, place
    return None


_NO_JOINT = compiled(r"(?!)")


def _said(least: int, *, cued: bool) -> Callable[[str, int, int], Interval | None]:
    def check(text: str, start: int, end: int) -> Interval | None:  # noqa: ARG001 - it reads on from the start
        for run in _runs(text, start, _JOINT):
            numbers = _digits_of(text, start, run)
            if sum(len(number.digits) for number in numbers) < least or not any(n.spelled for n in numbers):
                continue
            if not cued and (
                _counts(numbers)
                or not _by_digits(numbers)
                or not _grouped(text, start, numbers)
                or _EXERCISE.search(text, max(0, start - 80), start)
            ):
                continue
            return start, start + numbers[-1].end
        return None

    return check


def _digits_of(text: str, start: int, run: Sequence[Numeral]) -> list[Numeral]:
    """The numbers of a run that are read as digits: up to a decimal or an ordinal one, or what has a unit behind it."""
    numbers = []
    for number in run:
        if number.ordinal or "." in number.digits:
            break
        numbers.append(number)
    while numbers and _UNIT.match(text, start + numbers[-1].end):
        numbers.pop()
    return numbers


def _by_digits(numbers: Sequence[Numeral]) -> bool:
    """Whether most of a number is said digit by digit, or in pairs behind a zero, as telephones are."""
    single = sum(len(number.digits) for number in numbers if len(number.digits) == 1 or number.digits[0] == "0")
    total = sum(len(number.digits) for number in numbers)
    pairs = numbers[0].digits[0] == "0" and total == 10 and all(len(n.digits) == 2 for n in numbers)
    return pairs or (single >= 6 and single / total > 0.7)


def _grouped(text: str, start: int, numbers: Sequence[Numeral]) -> bool:
    """Whether digits with no label stand as a telephone is said: in a row, or parted as one is."""
    groups = [numbers[0].digits]
    for one, two in pairwise(numbers):
        if _PARTING.search(text, start + one.end, start + two.start):
            groups.append(two.digits)
        else:
            groups[-1] += two.digits
    if len(groups) > 1:
        return tuple(map(len, groups)) in _GROUPS
    (digits,) = groups
    american = len(digits) == _AMERICAN and digits[0] > "1" and digits[3] > "1"
    return american or digits[0] == "0" or max(digits) > _HIGHEST_GRADE


@validator
def said_number(text: str, start: int, end: int) -> Interval | None:
    """Seven digits or more that are said one by one, with nothing before them that calls them an exercise."""
    return _said(7, cued=False)(text, start, end)


@validator
def said_phone(text: str, start: int, end: int) -> Interval | None:
    """Seven digits or more behind a word for a telephone."""
    return _said(7, cued=True)(text, start, end)


@validator
def said_label(text: str, start: int, end: int) -> Interval | None:
    """Four digits or more behind a word for a number of somebody."""
    return _said(4, cued=True)(text, start, end)
