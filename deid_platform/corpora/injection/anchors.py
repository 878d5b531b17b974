"""Where a carrier can take an identifier, and what it tells of its patient.

Belongs here: reading a carrier's text by the expressions of `data/anchors.yaml`. Does not belong here: what is woven in
(`weaving.py`). Nothing here looks for identifiers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from deid_platform.text.strict_yaml import read_yaml

# A sentence ends, and another begins with a capital, on the same line.
_END = re.compile(r"(?<=[\w)%\]])[.!?](?=[ \t]{1,3}(?:[^\W\d_a-zà-ÿ]|\Z))")
_LAST_WORD = re.compile(r"[\w.]+\Z")
_OPENING = re.compile(r"[ \t]{1,3}([^\W\d_]+) [a-zà-ÿ]")
_LINE = re.compile(r"(?<=[.:])[ \t]*\n+(?=[^\W\d_])")
_AGES = (18, 89)
_MOST_READ = 4000  # code points that tell who the patient is


@dataclass(frozen=True)
class Anchors:
    """The expressions of one language; see the file."""

    sexed: re.Pattern[str]
    """Words for a woman in the first group, for a man in the second. As `age`, for a text in lower case: thrice as fast
    as ignoring case."""
    age: re.Pattern[str]
    subject: re.Pattern[str]
    possessive: re.Pattern[str] | None
    event: re.Pattern[str]
    taken: re.Pattern[str]
    lower: frozenset[str]
    abbreviations: frozenset[str]


class Sentence(NamedTuple):
    """The end of a sentence, with another one after it on its line.

    Attributes:
        stop: The place of its full stop.
        opening: Where the next sentence begins if its first word can go on in lower case; -1 if it cannot.
    """

    stop: int
    opening: int


@cache
def anchors(language: str) -> Anchors:
    """The expressions of a language: `en`, `es`, `it` or `fr`."""
    row = _rows()[language]
    possessive = row.get("possessive")
    return Anchors(
        sexed=re.compile(rf"\b(?:({row['female']})|({row['male']}))\b"),
        age=re.compile(row["age"]),
        subject=re.compile(row["subject"]),
        possessive=None if possessive is None else re.compile(possessive),
        event=re.compile(row["event"]),
        taken=re.compile(row["taken"]),
        lower=frozenset(row["lower"]),
        abbreviations=frozenset(row["abbreviations"]),
    )


@cache
def _rows() -> dict[str, dict[str, str]]:
    path = resources.files("deid_platform.corpora.injection") / "data" / "anchors.yaml"
    return read_yaml(path.read_bytes())  # type: ignore[return-value]


def sex_of(text: str, language: str) -> str | None:
    """F or M by the words that tell it; None where they do not."""
    found = [match.lastindex for match in anchors(language).sexed.finditer(text[:_MOST_READ].lower())]
    women, men = found.count(1), found.count(2)
    return None if women == men else "F" if women > men else "M"


def age_of(text: str, language: str) -> int | None:
    """The first age that the text gives in years, of an adult."""
    for match in anchors(language).age.finditer(text[:_MOST_READ].lower()):
        if _AGES[0] <= int(match[1]) <= _AGES[1]:
            return int(match[1])
    return None


def sentences(text: str, language: str) -> list[Sentence]:
    """Where sentences end and another one follows."""
    it = anchors(language)
    found: list[Sentence] = []
    for match in _END.finditer(text):
        stop = match.start()
        word = _LAST_WORD.search(text, max(0, stop - 24), stop)
        last = word[0] if word else ""
        # An initial, a numbered item and an abbreviation end no sentence.
        if len(last) < 3 or last.lower() in it.abbreviations or "." in last:
            continue
        opening = _OPENING.match(text, stop + 1)
        begins = opening.start(1) if opening and opening[1] in it.lower else -1
        found.append(Sentence(stop, begins))
    return found


def paragraphs(text: str) -> list[int]:
    """Where a line begins after one that ends a sentence or a heading."""
    return [match.end() for match in _LINE.finditer(text)]
