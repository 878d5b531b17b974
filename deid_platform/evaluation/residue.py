"""What of a patient's row in the topics is left in a text.

Belongs here: looking for one known person's identifiers, each in the ways it is commonly written. Does
not belong here: looking for identifiers in general (`detection/`, of which nothing is used here), or the
verdict on a note (`leaks.py`).

Names are compared by whole words without case, accents and apostrophes; parts shorter than three letters
are left out, as no word list could tell them from abbreviations. A name that is also a common word
(data/common_words.txt) counts where it is written as a name is. Numbers are compared by their digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from enum import StrEnum
from functools import cache
from importlib import resources

import regex

from deid_platform.notes import Patient

SHORTEST_NAME = 3
# Stand for a removed patient name and for any other removed text: no letters, and visible to `_fold`, so
# that they part the words around them.
NAME_GAP = "\ufffe"
GAP = "\ufffc"

_LOCAL_NUMBER = 7
_NATIONAL_NUMBER = 10
_LONG_NUMBER = 6
_POSSESSIVE = re.compile(r"['’]s(?![^\W_])")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’`ʼ](?=[^\W\d_])")
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_ALNUM = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_DIGIT_GROUPS = re.compile(r"\d+(?:[\s().\-‐–/+]{1,3}\d+)*")
_DATE_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_DATE_LENGTH = 24
_CONTEXT = 80
_NAME_BEFORE = re.compile(rf"(?:\b(?:name|patient|pt|mr|mrs|ms|miss|master|dear)\b[.:]?|{NAME_GAP})\s*$", re.IGNORECASE)
_NAME_AFTER = re.compile(
    rf"['’]s\b|,?\s*{NAME_GAP}|,?\s+(?:is|was|has|had|denies|denied|reports|reported|states|stated|presents|presented"
    r"|feels|felt|complains|complained|lives|returns|returned)\b"
)
_SENTENCE_END = ".!?:;•*-–—"
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS = {name: i for i, month in enumerate(_MONTH_NAMES, 1) for name in (month, month[:3], month[:4])}
_NOT_IN_DATES = frozenset(("st", "nd", "rd", "th", "of"))


class LeakKind(StrEnum):
    """What is left."""

    MISALIGNED = "misaligned"
    FIRST_NAME = "first-name"
    MIDDLE_NAME = "middle-name"
    LAST_NAME = "last-name"
    PHONE = "phone"
    SSN = "ssn"
    MRN = "mrn"
    EMAIL = "email"
    STREET = "street"
    BIRTH_DATE = "birth-date"
    EMAIL_SHAPE = "email-shape"
    SSN_SHAPE = "ssn-shape"
    PHONE_SHAPE = "phone-shape"
    URL_SHAPE = "url-shape"


def roster_residue(text: str, patient: Patient) -> Iterator[LeakKind]:
    """The kinds of the patient's identifiers that a text still shows, possibly repeated.

    Args:
        text: With `GAP` or `NAME_GAP` in place of tags, whose words are nobody's name.
        patient: The note's own.
    """
    folded = _fold(text)
    words = _words_of(folded)
    for kind, name in (
        (LeakKind.FIRST_NAME, patient.first_name),
        (LeakKind.MIDDLE_NAME, patient.middle_name),
        (LeakKind.LAST_NAME, patient.last_name),
    ):
        if name and any(_name_left(part, text, folded, words) for part in _name_parts(name)):
            yield kind
    run_together = _run_together(patient)
    if run_together and any(pair in word for word in words for pair in run_together):
        yield LeakKind.LAST_NAME
    groups = [re.findall(r"\d+", match.group()) for match in _DIGIT_GROUPS.finditer(folded)]
    if patient.phone and _phone_left(_digits(patient.phone), groups):
        yield LeakKind.PHONE
    if patient.ssn and _number_left(_digits(patient.ssn), groups):
        yield LeakKind.SSN
    if patient.mrn and _mrn_left(patient.mrn, folded, groups):
        yield LeakKind.MRN
    if patient.email and (email := _fold(patient.email).strip()) and email in folded:
        yield LeakKind.EMAIL
    if patient.street and _street_left(patient.street, folded):
        yield LeakKind.STREET
    if patient.birth_date and _birth_date_left(patient.birth_date, folded):
        yield LeakKind.BIRTH_DATE


def _fold(text: str) -> str:
    """Without case, accents, compatibility forms and characters that nobody sees (soft hyphens, joiners)."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    return plain.casefold()


def _words_of(folded: str) -> frozenset[str]:
    """The runs of letters of a folded text, "O'Brien's" as "obrien"."""
    return frozenset(_LETTERS.findall(_APOSTROPHE.sub("", _POSSESSIVE.sub("", folded))))


def _name_parts(name: str) -> list[str]:
    """The parts of a name that are long enough to tell: three letters, or any in a script without case."""
    parts = _LETTERS.findall(_APOSTROPHE.sub("", _fold(name)))
    return [part for part in parts if len(part) >= SHORTEST_NAME or (len(part) > 1 and not part.isascii())]


def _name_left(part: str, text: str, folded: str, words: frozenset[str]) -> bool:
    if part in _common_words():
        return part in words and _written_as_name(part, text)
    if part in words or f"{part}s" in words:
        return True
    # Scripts without case write no spaces either.
    return part.upper() == part and part in folded


def _written_as_name(part: str, text: str) -> bool:
    """Whether a common word is somewhere written with a capital that no sentence, line or heading explains."""
    for match in _LETTERS.finditer(text):
        word = match.group()
        if not word[0].isupper() or _fold(word) != part:
            continue
        before = text[max(0, match.start() - _CONTEXT) : match.start()].rpartition("\n")[2]
        after = text[match.end() : match.end() + _CONTEXT].partition("\n")[0]
        if _NAME_BEFORE.search(before) or _NAME_AFTER.match(after):
            return True
        starts = not before.strip() or before.rstrip()[-1] in _SENTENCE_END
        heading = len(word) > 1 and word.isupper() and not any(c.islower() for c in before + after)
        if not starts and not heading:
            return True
    return False


def _run_together(patient: Patient) -> tuple[str, ...]:
    """First and last name without a space, as "JohnSmith" and "smithjohn" show them."""
    first, last = ("".join(_name_parts(name)) if name else "" for name in (patient.first_name, patient.last_name))
    return (first + last, last + first) if first and last else ()


def _digits(value: str) -> str:
    return "".join(str(unicodedata.digit(c)) for c in value if c.isdecimal())


def _number_left(number: str, groups: Sequence[Sequence[str]], *, shortest: int = _LONG_NUMBER) -> bool:
    """Whether neighbouring groups of digits make up a number, leading zeros and a country code aside."""
    wanted = number.lstrip("0")
    if len(wanted) < shortest:
        return False
    whole = {wanted, f"1{wanted}", f"001{wanted}"} if len(wanted) >= _NATIONAL_NUMBER else {wanted}
    longest = len(number) + 3
    for run in groups:
        for first in range(len(run)):
            joined = ""
            for place in range(first, len(run)):
                joined += run[place]
                if len(joined) > longest:
                    break
                if joined.lstrip("0") in whole or joined in whole:
                    return True
    return False


def _phone_left(number: str, groups: Sequence[Sequence[str]]) -> bool:
    """The whole number, or its last seven digits, which a local call writes alone."""
    national = number[-_NATIONAL_NUMBER:]
    return (
        _number_left(number, groups)
        or _number_left(national, groups)
        or _number_left(national[-_LOCAL_NUMBER:], groups)
    )


def _mrn_left(mrn: str, folded: str, groups: Sequence[Sequence[str]]) -> bool:
    """By digits where there are enough of them to tell, else by the whole identifier as one word."""
    digits = _digits(mrn)
    whole = "".join(_ALNUM.findall(_fold(mrn)))
    if whole.isdigit():
        return _number_left(digits, groups, shortest=4)
    parts = [re.escape(part) for part in _ALNUM.findall(_fold(mrn))]
    spaced = r"(?<![^\W_])" + r"[\s./-]?".join(parts) + r"(?![^\W_])"
    return _number_left(digits, groups) or (
        len(whole) >= 4 and re.search(f"{spaced}|(?<![^\\W_]){whole}(?![^\\W_])", folded) is not None
    )


def _street_left(street: str, folded: str) -> bool:
    """House number and the first word of the street together; a street without a number as a whole."""
    tokens = _ALNUM.findall(_fold(street))
    wanted = tokens[:2] if len(tokens) > 1 and tokens[0][0].isdigit() else tokens
    if len("".join(wanted)) < 5:
        wanted = tokens[:3]
    if not wanted:
        return False
    return re.search(r"(?<![^\W_])" + r"[\W_]{1,3}".join(map(re.escape, wanted)) + r"(?![^\W_])", folded) is not None


def _birth_date_left(born: date, folded: str) -> bool:
    """The date of birth in numbers or words, in the usual orders and with a two-digit year."""
    long_year, short_year = f"{born.year:04d}", f"{born.year % 100:02d}"
    if long_year not in folded and short_year not in folded:
        return False
    month, day = f"{born.month:02d}", f"{born.day:02d}"
    compact = {long_year + month + day, month + day + long_year, day + month + long_year}
    tokens = [(m.group(), m.start(), m.end()) for m in _DATE_TOKEN.finditer(folded)]
    tokens = [token for token in tokens if token[0] not in _NOT_IN_DATES]
    for place, (token, _, _) in enumerate(tokens):
        if token in compact:
            return True
        if token not in (long_year, short_year):
            continue
        for window, orders in (
            (tokens[place : place + 3], ((born.year, born.month, born.day),)),
            (
                tokens[max(0, place - 2) : place + 1],
                ((born.month, born.day, born.year), (born.day, born.month, born.year)),
            ),
        ):
            if len(window) == 3 and _is_date(window, orders, folded, short=token == short_year):
                return True
    return False


def _is_date(
    window: Sequence[tuple[str, int, int]], orders: Sequence[tuple[int, int, int]], folded: str, *, short: bool
) -> bool:
    """Whether three neighbouring tokens are a date in one of the orders."""
    if window[2][2] - window[0][1] > _DATE_LENGTH:
        return False
    values = tuple(_date_value(token) for token, _, _ in window)
    if not any(all(a in (b, b % 100 if b > 99 else b) for a, b in zip(values, o, strict=True)) for o in orders):
        return False
    between = folded[window[0][2] : window[1][1]] + folded[window[1][2] : window[2][1]]
    # Three small numbers in a row are a table unless a separator or a month's name makes them a date.
    return not short or any(token in _MONTHS for token, _, _ in window) or re.search("[/.-]", between) is not None


def _date_value(token: str) -> int:
    return _MONTHS.get(token) or (int(token) if token.isdecimal() and len(token) <= 4 else -1)


@cache
def _common_words() -> frozenset[str]:
    source = (resources.files("deid_platform.evaluation") / "data" / "common_words.txt").read_text(encoding="utf-8")
    return frozenset(line for line in source.splitlines() if line and not line.startswith("#"))
