"""Ages over 89 that a text still shows, in digits and in words.

Belongs here: what makes an age of a number, in each language whose numbers `text/numerals.py` reads. Does not belong
here: years that tell an age (`check.py`), or the date of birth (`births.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deid_platform.leakcheck.comparable import ComparableText
from deid_platform.leakcheck.said import MONTHS
from deid_platform.text.numerals import NUMBER_WORDS, in_digits

_OLD = (
    r"[\s-]{0,2}(?:y/?o\b|y\.\s?o\.|(?:years?|yrs?)(?:,?\s(?:and\s)?\w{1,8}\smonths?)?[\s-]{1,2}(?:old|of age)\b"
    r"|(?:y|yrs?|years?)\.?[\s/-]{0,2}(?:m|f|male|female|man|woman|lady|gentleman)\b)"
)
_PERCENTILE = r"(?:st|nd|rd|th|e|eme|[oa.])?[\s-]?(?:%-?\s?ile|(?:per)?[cz]entil)"
_OVER_89 = re.compile(r"(?:9[0-9]|1[0-2][0-9])(?![0-9])")
_AGE_AFTER = re.compile(_OLD)
_TELLS_AGE = (
    r"\b(?:(?:age|aged|ages)(?:\s?/\s?(?:sex|gender))?(?:\s?\((?:yrs?|years|y)\))?|age of|age is|turned|turning"
    r"|died at|dead at|passed away at|lived to(?: be)?|cumplira|cumplio|compira|ha compiuto|fetera ses|edad(?: de)?"
    r"|eta(?: di)?|alter)[\s:=|-]{1,3}(?:a )?"
)
_AGE_BEFORE = re.compile(rf"{_TELLS_AGE}$")
_NO_AGE_AFTER = re.compile(
    rf"{_PERCENTILE}|\s?(?:[-+%]|/(?!\s?[mf]\b))|\.[0-9]"
    r"|\s?(?:days?|weeks?|months?|min|minutes?|hours?|percent|per cent|degrees|dias|semanas|meses|giorni|settimane|mesi"
    r"|jours|semaines|mois|tage|wochen|monate)\b"
)
# Years in other languages than English; what lasts or lies back is no age.
_YEARS_ABROAD = re.compile(
    r"(?:\s(?:y|e|et|und) (?:tant[oia]s?|pico|rotti|quelques))?[\s'-]{0,2}"
    r"(?:anni|ans|anos|jahren?|jahre|jahrige[nr]?|enn[ei])\b(?!\s(?:fa|or sono|dopo|prima|avant|apres"
    r"|plus tard|spater|atras|despues|antes|di (?!eta)|de (?!edad)|lang|solitude|soledad|solitudine|in\b)\b)"
)
_LASTS = re.compile(
    r"(?:\b(?:da|per|dopo|entro|ultimi|ogni|hace|durante|por|desde|pendant|depuis|il y a|guerre de|letzten|seit"
    r"|vor|nach|fur|uber|gli|negli|los|les|tras)\s"
    r"(?:(?:oltre|circa|quasi|mas de|plus de|gli|los|les|unos)\s)?|[=<>.,/-])$"
)
_OWN_YEAR = re.compile(r"\b(?:his|her|their|my|patient's)\s$")
_YEAR_AFTER = re.compile(
    r"(?:st|nd|rd|th)?\syear\b(?!\s(?:of (?!life|age|his|her|their)|as|in|at|with|anniversary|working))"
)
_YEAR_OF_LIFE = re.compile(
    r"(?:st|nd|rd|th|\.|o|a|eme|ieme|e)?\s(?:(?:year of (?:(?:his|her|their) )?(?:life|age)|birthday|lebensjahr"
    r"|geburtstag|cumpleanos|compleanno|anniversaire|ano de vida|anno di vita|annee de (?:sa )?vie)\b)"
)
_OWN_YEAR_ABROAD = re.compile(r"\b(?:dans sa|en su|nel suo|in (?:ihrem|seinem))\s$")
_YEAR_AFTER_ABROAD = re.compile(r"(?:\.|o|e|er|eme|ieme)?\s(?:annee|ano|anno|jahr)\b")
# What makes an age of a number only together: words before it and words behind.
_MONTH_NAME = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
_AROUND = tuple(
    (re.compile(before), re.compile(behind))
    for before, behind in (
        (r"(?:^|[.!?\n]\s?)at\s$", r",?\s(?:s?he|they)\b"),
        (
            r"(?:^|[.!?\n]\s?|\b(?:an?|pt|patient)\s)$",
            r"\s(?:male|female|man|woman|lady|gentleman)\b(?!-|\s(?:patients|subjects|participants|residents))",
        ),
        (
            r"\b(?:will be|turns)\s$",
            rf"\s(?:(?:in|on) {_MONTH_NAME}|(?:this|next) (?:year|month|week|{_MONTH_NAME}))\b",
        ),
        (r"\b(?:s?he|patient|pt) has\s$", r"\syears(?=[.,;)]|\s?$| and\b)"),
        (r"\bborn (?:(?:about|almost|nearly|over|some|around) )?$", r"\syears? ago\b"),
        (
            r"(?<!for )(?<!of )(?<!over )(?<!past )(?<!last )(?<!every )(?<!lived )(?<!worked )(?<![=<>.,/+-])$",
            r"\s?(?:y|yrs?\.?) (?:with|who|presents?|presenting|presented|admitted|s/p|c/o)\b",
        ),
    )
)
_SEX = re.compile(
    r"(?:^|\n)\s?(?:9[0-9]|10[0-9])\s?[mf](?![\w/%°])(?=\s?(?:$|\n|\.\s|(?:with|who|admitted|presents?|presenting|s/p|c/o|here)\b))"
)
_WARM = re.compile(r"\b(?:t|tm|tmax|temps?|temperatures?|fever|febrile|afebrile|vitals?)\b|\d\.\df\b")
_FRACTION = re.compile(r"(?<![\d.,/-])(?:9[0-9]|1[01][0-9])\s?(?:1⁄2|1⁄4|3⁄4)\s(?:years?|yrs?)\b(?! of\b)")
_DECADE = re.compile(
    r"\b(?:(?:tenth|eleventh|10th|11th) decade(?! of (?!life))"
    r"|decima decada de la vida|decimo decennio di vita|dixieme decennie de (?:sa )?vie)"
)
_NINETIES = re.compile(r"\bin (?:her|his|their) (?:early |mid |mid-|late )?(?:90'?s|nineties)\b")
_NOUNS = re.compile(
    r"\b(?:(?:non|cent)agenarian|centenarian|nonagenari[oa]|nonagenaire|(?:ultra)?novant[a-z]{0,12}enn[ei]|centenne|noventona?"
    r"|[a-z]{0,12}(?:neunzig|hundert)[a-z]{0,12}jahrige"
    r"|(?:una?|la|il|mujer|paciente|homme|femme|patiente?) centen(?:ari[oa]|aire))"
)
_NOUN_PARTS = ("enari", "enair", "enne", "enni", "noventon", "jahrige")
_CODED = re.compile(r"[01](?<![\w.].)(?:(?<=0)9|(?<=1)[01])[0-9]y(?![\w/])")
_CODED_DURATION = re.compile(r"(?<!\w)(?:p(?:9[0-9]|1[01][0-9])y(?:\d{1,2}m)?|(?:9[0-9]|1[01][0-9])y\d{1,2}m)(?!\w)")
_DAYS_OF_90 = re.compile(
    r"(?<![\d.,/-])(?:32,?(?:8[5-9]|9[0-9])[0-9]|(?:3[3-9]|4[0-5]),?[0-9]{3})[\s-]?days?[\s-](?:old|of age)\b"
)
_UNITS = frozenset(
    """
    month months mo mos mesi meses mois monate monaten week weeks settimane semanas semaines wochen
    """.split()  # noqa: SIM905 - as long as a list literal
)
_IN_UNITS = re.compile(
    r"[1456](?<![\d.,/-].)(?:(?<=1),?(?:0[89]|[1-4][0-9])[0-9][\s-]?(?:months?|mos?|mesi|meses|mois|monaten?)"
    r"|(?:(?<=4),?(?:69[6-9]|[7-9][0-9]{2})|(?<=5),?[0-9]{3}|(?<=6),?[0-4][0-9]{2})"
    r"[\s-]?(?:weeks?|settimane|semanas|semaines|wochen))\b"
)
# The words of which an age over 89 has one, and where it begins.
_HIGH = {
    "en": re.compile(r"\b(?:ninet[yi]|hundred|thousand)"),
    "es": re.compile(r"\b(?:noventa(?:[iy][a-z]{2,6})?|nonagesim[oa]|cien|ciento|mil)\b"),
    "it": re.compile(r"\b(?:novant|cento|mille)"),
    "fr": re.compile(r"\b(?:quatre[\s-]vingt|cent\b|nonante|mille\b)"),
    "de": re.compile(r"neunzig|hundert|tausend"),
}
_HIGH_WORDS = {
    language: frozenset(word for word in NUMBER_WORDS if begins.search(word.replace("vingt", "quatre vingt")))
    for language, begins in _HIGH.items()
}
_ANY_HIGH: frozenset[str] = frozenset().union(*_HIGH_WORDS.values())
_REACH = (40, 80)


def age_left(reading: ComparableText) -> bool:
    """Whether a text shows an age of 90 years or more, which "90+" is not."""
    folded = reading.folded
    if _in_digits(folded):
        return True
    if ("90" in folded or "nineties" in folded) and _NINETIES.search(folded):
        return True
    if any(part in folded for part in _NOUN_PARTS) and _NOUNS.search(folded):
        return True
    if "y" in reading.words and (_CODED.search(folded) or _CODED_DURATION.search(folded)):
        return True
    if "⁄" in folded and _FRACTION.search(folded):
        return True
    if ("deca" in folded or "decen" in folded) and _DECADE.search(folded):
        return True
    if _sex_behind(folded):
        return True
    if "days" in reading.words and _DAYS_OF_90.search(folded):
        return True
    if not _UNITS.isdisjoint(reading.words) and _IN_UNITS.search(folded):
        return True
    return any(_in_digits(said) or _IN_UNITS.search(said) for said in _said(reading))


def _in_digits(folded: str) -> bool:
    for match in _OVER_89.finditer(folded):
        before, end = folded[max(0, match.start() - 24) : match.start()], match.end()
        if before[-1:].isdigit() or before[-1:] in ("/", "."):
            continue
        if _AGE_AFTER.match(folded, end) or (_AGE_BEFORE.search(before) and not _NO_AGE_AFTER.match(folded, end)):
            return True
        if _YEARS_ABROAD.match(folded, end) and not _LASTS.search(before):
            return True
        if _YEAR_OF_LIFE.match(folded, end) or (_YEAR_AFTER.match(folded, end) and _OWN_YEAR.search(before)):
            return True
        if _YEAR_AFTER_ABROAD.match(folded, end) and _OWN_YEAR_ABROAD.search(before):
            return True
        if any(behind.match(folded, end) and one.search(before) for one, behind in _AROUND):
            return True
    return False


def _sex_behind(folded: str) -> bool:
    """Whether a line begins with an age and a sex, "94F", where nothing near speaks of heat."""
    return any(not _WARM.search(folded, max(0, m.start() - 80), m.end() + 40) for m in _SEX.finditer(folded))


def _said(reading: ComparableText) -> Iterator[str]:
    """The stretches around words of high numbers, in digits."""
    if "'anni" in reading.folded:  # whose number is no word by itself
        yield from _stretches(reading.folded, "it", _HIGH["it"])
    if _ANY_HIGH.isdisjoint(reading.words):
        return
    for language, begins in _HIGH.items():
        if not _HIGH_WORDS[language].isdisjoint(reading.words):
            yield from _stretches(reading.folded, language, begins)


def _stretches(folded: str, language: str, begins: re.Pattern[str]) -> Iterator[str]:
    start, end = 0, -1
    for match in (*begins.finditer(folded), None):
        if match is not None and end >= 0 and match.start() - _REACH[0] <= end:
            end = match.end() + _REACH[1]
            continue
        if end >= 0:
            yield in_digits(folded[start:end], language)
        if match is not None:
            start, end = max(0, match.start() - _REACH[0]), match.end() + _REACH[1]
