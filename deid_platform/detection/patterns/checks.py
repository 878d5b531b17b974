"""Checks: what decides whether a pattern's match is an identifier, where the pattern alone cannot.

Belongs here: functions (text, start, end) -> the interval to tag, narrowed if need be, or None. Does not
belong here: patterns (`data/*.yaml`). `CHECKS` at the end is the registry that the tables refer to.
"""

from __future__ import annotations

import calendar
import ipaddress
from collections.abc import Callable

import regex

from deid_platform.detection.detector import word_list
from deid_platform.detection.naming import PARTICLES, is_common
from deid_platform.detection.reading import fold_term

Place = tuple[int, int]
Check = Callable[[str, int, int], Place | None]

_NUMBER = regex.compile(r"\d+")
_NAME_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}'’.\-]*")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _is_day(month: int, day: int, year: int | None = None) -> bool:
    """Whether the day exists in that month; in a leap year where the year is not known."""
    if not 1 <= month <= 12:
        return False
    full = 2000 if year is None else year
    return 1 <= day <= calendar.monthrange(full, month)[1]


def _is_month_day(a: int, b: int, year: int | None = None) -> bool:
    """Whether two numbers are a month and a day in either order."""
    return _is_day(a, b, year) or _is_day(b, a, year)


def numeric_date(text: str, start: int, end: int) -> Place | None:
    """Three numbers that name a day; with a four-digit year also one that does not exist (a typing error)."""
    a, b, year = (int(n) for n in _NUMBER.findall(text, start, end)[:3])
    if year >= 1000:
        return (start, end) if 1850 <= year <= 2150 else None
    return (start, end) if _is_month_day(a, b) or _is_month_day(b, year) else None


def iso_date(text: str, start: int, end: int) -> Place | None:
    """Year, month, day, of which the last two exist."""
    year, month, day = (int(n) for n in _NUMBER.findall(text, start, end)[:3])
    return (start, end) if 1850 <= year <= 2150 and _is_month_day(month, day) else None


def compact_date(text: str, start: int, end: int) -> Place | None:
    """Six or eight digits that name a day in one of the usual orders."""
    digits = "".join(_NUMBER.findall(text, start, end))
    pairs = [int(digits[i : i + 2]) for i in range(0, len(digits) - 1, 2)]
    if len(digits) == 8 and (_is_month_day(pairs[2], pairs[3]) or _is_month_day(pairs[0], pairs[1])):
        return start, end
    return (start, end) if len(digits) == 6 and _is_month_day(pairs[0], pairs[1]) else None


def month_day(text: str, start: int, end: int) -> Place | None:
    """Two numbers that are a month and a day, American order first."""
    a, b = (int(n) for n in _NUMBER.findall(text, start, end)[:2])
    return (start, end) if _is_month_day(a, b) else None


def plain_month_day(text: str, start: int, end: int) -> Place | None:
    """Month/day that nothing around it calls a date: not what scores, fractions and strengths look like."""
    a, b = (int(n) for n in _NUMBER.findall(text, start, end)[:2])
    if not _is_day(a, b):
        return None
    padded = text[start] == "0" or regex.search(r"[/\-]0\d", text[start:end]) is not None
    return (start, end) if padded or (b > 12 and b not in {15, 16, 20, 30} and a < b) else None


def month_year(text: str, start: int, end: int) -> Place | None:
    """Month and year as numbers, of which the month exists."""
    month = int(_NUMBER.findall(text, start, end)[0])
    return (start, end) if 1 <= month <= 12 else None


def day_range(text: str, start: int, end: int) -> Place | None:
    """Two month/day pairs that both exist and are no pair of scores over one maximum."""
    a, b, c, d = (int(n) for n in _NUMBER.findall(text, start, end)[:4])
    scores = b == d and b in {2, 3, 4, 5, 6, 8, 10}
    return (start, end) if _is_month_day(a, b) and _is_month_day(c, d) and not scores else None


def mistyped_date(text: str, start: int, end: int) -> Place | None:
    """Three digits, a slash and a year: a date that lost its first slash, unless it reads as a blood pressure."""
    first, second = (n for n in _NUMBER.findall(text, start, end)[:2])
    pressure = 70 <= int(first) <= 260 and 35 <= int(second) <= 140
    fits = _is_month_day(int(first[0]), int(first[1:])) or _is_month_day(int(first[:2]), int(first[2:]))
    return (start, end) if fits and not pressure else None


def old_age(text: str, start: int, end: int) -> Place | None:
    """A number of years over 89, which HIPAA counts among the identifiers."""
    return (start, end) if 90 <= int(_NUMBER.findall(text, start, end)[0]) <= 125 else None


def international_phone(text: str, start: int, end: int) -> Place | None:
    """A number that begins with + and has a possible length for its country."""
    import phonenumbers  # deferred: most notes never need it

    try:
        number = phonenumbers.parse(text[start:end])
    except phonenumbers.NumberParseException:
        return None
    return (start, end) if phonenumbers.is_possible_number(number) else None


def valid_phone(text: str, start: int, end: int) -> Place | None:
    """Ten digits without separators that are an assigned American number."""
    import phonenumbers  # deferred: most notes never need it

    try:
        number = phonenumbers.parse(text[start:end], "US")
    except phonenumbers.NumberParseException:
        return None
    return (start, end) if phonenumbers.is_valid_number(number) else None


def ip_address(text: str, start: int, end: int) -> Place | None:
    """An IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text[start:end])
    except ValueError:
        return None
    return start, end


def npi(text: str, start: int, end: int) -> Place | None:
    """Ten digits with the check digit of a National Provider Identifier (Luhn over 80840 and the number)."""
    from stdnum import luhn

    return (start, end) if luhn.is_valid("80840" + text[start:end]) else None


def dea(text: str, start: int, end: int) -> Place | None:
    """Two letters and seven digits with the check digit of a DEA registration."""
    d = [int(c) for c in text[start:end][-7:]]
    return (start, end) if (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6] else None


def vin(text: str, start: int, end: int) -> Place | None:
    """Seventeen characters with the check digit of a vehicle identification number (49 CFR 565.15)."""
    letters = dict(
        zip("ABCDEFGHJKLMNPRSTUVWXYZ", (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, *range(2, 10)), strict=True)
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    number = text[start:end].upper()
    total = sum(w * (int(c) if c.isdigit() else letters[c]) for w, c in zip(weights, number, strict=True))
    return (start, end) if number[8] == "0123456789X"[total % 11] else None


def code(text: str, start: int, end: int) -> Place | None:
    """A value of four or more characters, one a digit, without the punctuation that follows it."""
    while end > start and text[end - 1] in ".,;:)]-/":
        end -= 1
    return (start, end) if end - start >= 4 and any(c.isdigit() for c in text[start:end]) else None


def link(text: str, start: int, end: int) -> Place | None:
    """A web address without the punctuation of the sentence around it."""
    while end > start and text[end - 1] in ".,;:!?)]}>\"'":
        end -= 1
    return (start, end) if end - start > 3 else None


def _stops(folded: str) -> bool:
    return (
        is_common(folded)
        or folded in word_list("title_stopwords")
        or (folded[:3] in _MONTHS and folded in word_list("months"))
    )


def _never_a_name(word: str) -> bool:
    return word in word_list("title_stopwords") or (word in word_list("clinical_words") and not _may_be_name(word))


def _name(text: str, start: int, end: int, *, trust_first: bool) -> Place | None:
    """Narrows a run of words to the name in it: up to the first word that is no part of a name.

    A common word inside stands if a word that is not common follows it ("Sarah Young Ndiaye"), and after a
    title the first word stands whatever it is, unless no name is ever written so ("Dr. The").
    """
    tokens = list(_NAME_TOKEN.finditer(text, start, end))
    last = None
    named = False
    for position, token in enumerate(tokens):
        word = fold_term(token[0]).removesuffix("'s").strip(".'-")
        if len(word) <= 1:
            # An initial belongs to the name before it ("Anna S."); after a title it is all there is ("Dr. K").
            if word and token[0][0].isupper() and (named or (trust_first and len(tokens) == 1)):
                last, named = token, True
            continue
        if word in PARTICLES:
            continue
        trusted = trust_first and position == 0 and not _never_a_name(word)
        if _stops(word) and not trusted:
            if position == 0:
                if trust_first or word in word_list("title_stopwords"):
                    return None
                continue  # "Will Harmon": decided by what follows
            if named and position == len(tokens) - 1 and (_may_be_name(word) or _is_initial(tokens[position - 1])):
                last = token  # "Maria Green", "John Q. Public"
            break
        named = True
        last = token
    if last is None or not named:
        return None
    stop = last.end()
    surface = text[last.start() : stop]
    if surface.lower().endswith(("'s", "’s")):
        stop -= 2
    while stop > start and text[stop - 1] in ".'’-":
        stop -= 1
    return (start, stop) if stop > start else None


def _may_be_name(word: str) -> bool:
    return word in word_list("surnames") or word in word_list("given_names")


def _is_initial(token: regex.Match[str]) -> bool:
    return len(token[0].rstrip(".")) == 1


def person(text: str, start: int, end: int) -> Place | None:
    """A name where nothing but its place says so: it needs a word that is no common one."""
    return _name(text, start, end, trust_first=False)


def titled(text: str, start: int, end: int) -> Place | None:
    """A name after a title or a label, where "Green" is a name too."""
    return _name(text, start, end, trust_first=True)


def given(text: str, start: int, end: int) -> Place | None:
    """A name whose first word is a given name, in whatever case."""
    first = _NAME_TOKEN.match(text, start, end)
    known = first is not None and fold_term(first[0]).strip(".'-") in word_list("given_names")
    return _name(text, start, end, trust_first=False) if known else None


def organization(text: str, start: int, end: int) -> Place | None:
    """An institution's name with at least one word of its own: not "Primary Care" or "Emergency Department"."""
    tokens = list(_NAME_TOKEN.finditer(text, start, end))
    generic = word_list("generic_institution_words")
    while tokens and ((word := fold_term(tokens[0][0]).strip(".'-")) in word_list("title_stopwords") or len(word) == 1):
        tokens.pop(0)
    if not tokens or fold_term(text[tokens[0].start() : end]) in word_list("generic_phrases"):
        return None
    own = [
        t
        for t in tokens
        if (w := fold_term(t[0]).removesuffix("'s").strip(".'-")) not in generic
        and w not in word_list("clinical_words")
    ]
    return (tokens[0].start(), end) if own else None


def city(text: str, start: int, end: int) -> Place | None:
    """A place's name that is not made of common or clinical words alone, or that is a known city's."""
    words = [fold_term(t).strip(".'-") for t in _NAME_TOKEN.findall(text, start, end)]
    known = fold_term(text[start:end]) in word_list("cities")
    return (start, end) if known or (words and not all(map(is_common, words))) else None


def known_city(text: str, start: int, end: int) -> Place | None:
    """A city of the shipped list."""
    return (start, end) if fold_term(text[start:end]) in word_list("cities") else None


def street(text: str, start: int, end: int) -> Place | None:
    """A street whose name has a word of its own, if it is written without capitals."""
    surface = text[start:end]
    words = [w for t in _NAME_TOKEN.findall(surface) if len(w := fold_term(t).strip(".'-")) > 1]
    if words[0] in {"am", "pm", "mg", "ml", "cc", "mm", "cm"}:
        return None
    return (start, end) if any(c.isupper() for c in surface) or not all(map(is_common, words[:-1])) else None


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        numeric_date, iso_date, compact_date, month_day, plain_month_day, month_year, day_range, mistyped_date,
        old_age, international_phone, valid_phone, ip_address, npi, dea, vin, code, link, person, titled, given,
        organization, city, known_city, street,
    )
}  # fmt: skip
