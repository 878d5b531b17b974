"""What may remain of an age: every shape of an age over 89 becomes 90+.

Belongs here: reading an age out of a span's own text. Does not belong here: finding ages (`detection/`).

Source: 45 CFR 164.514(b)(2)(i)(C), which lets ages over 89 be aggregated into one category of 90 or older.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from deid_platform.text.numerals import spoken

OVER_89 = "90+"
_OLDEST = 130
_UNITS_A_YEAR = {"year": 1, "month": 12, "week": 52, "day": 365, "hour": 8766}
_TOKEN = re.compile(r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|\d+(?:\.\d+)?)|(?P<word>[^\W\d_]+)")
# What belongs to the number itself, so that "95th", "90s" and "90's" all become 90+.
_SUFFIX = re.compile(r"(?:['’]?s|st|nd|rd|th|\+)(?![^\W_])", re.IGNORECASE)
_LONGEST = 120


@dataclass(slots=True)
class _Number:
    start: int
    end: int
    value: float
    unit: str = "year"


def age90(text: str) -> str | None:
    """An age with what exceeds 89 years aggregated.

    Args:
        text: The span's own text: "94", "94-year-old", "ninety-four", "92F", "in her nineties", "8 months".

    Returns:
        The text as it is where nothing in it is over 89; with "90+" in the number's place where one
        number is (and in its unit's, where that is no year); "90+" alone where several numbers are given; None where
        it is not understood.
    """
    if len(text) > _LONGEST:
        return None
    read = spoken(text)
    numbers: list[_Number] = []
    for match in _TOKEN.finditer(read):
        if match["digits"] is not None:
            digits = match["digits"].replace(",", "")
            if len(digits.partition(".")[0]) > 5:
                return None
            numbers.append(_Number(match.start(), match.end(), float(digits)))
            continue
        meaning = _words().get(match["word"].casefold())
        if meaning is None:
            return None
        if meaning == "old":
            return OVER_89
        if meaning.isdigit():
            numbers.append(_Number(match.start(), match.end(), float(meaning)))
        elif meaning in _UNITS_A_YEAR and numbers:
            numbers[-1].unit = meaning
            if meaning != "year":
                numbers[-1].end = match.end()
    aggregated = _aggregated(read, numbers)
    return text if aggregated == read else aggregated


def _aggregated(text: str, numbers: list[_Number]) -> str | None:
    years = [number.value / _UNITS_A_YEAR[number.unit] for number in numbers]
    if any(year > _OLDEST for year in years):
        return None
    if all(year < 90 for year in years):
        return text
    if len(numbers) > 1:
        return OVER_89
    suffix = _SUFFIX.match(text, numbers[0].end)
    end = suffix.end() if suffix else numbers[0].end
    return text[: numbers[0].start] + OVER_89 + text[end:]


@cache
def _words() -> dict[str, str]:
    source = (resources.files("deid_platform.redaction") / "data" / "age_words.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in source.splitlines() if line and not line.startswith("#"))
    return {word.casefold(): meaning for word, meaning in rows}
