"""What readers reported as leaked, sought in a text.

Belongs here: strings, each by its words or its digits. Does not belong here: in which notes one is sought (`check.py`),
or where they are kept (`refresh/installation/reported.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from deid_platform.leakcheck.comparable import ComparableText, fold, line_of, tokens_of
from deid_platform.leakcheck.roster import LONG_NUMBER
from deid_platform.leakcheck.strangers import Phrases


@dataclass(frozen=True, repr=False)
class Reported:
    """Strings that were reported as leaked; made by `of`."""

    phrases: Phrases
    numbers: frozenset[str]

    def __repr__(self) -> str:
        return "<Reported>"

    @classmethod
    def of(cls, strings: Iterable[str], tag: re.Pattern[str]) -> Reported:
        """Looks for strings by their words and, where they are numbers, by their digits.

        Args:
            strings: As they were marked in redacted texts.
            tag: Of the policies by which those were redacted; nobody reports a tag.
        """
        texts = tuple(piece for text in strings for piece in tag.sub("\n", text).split("\n"))
        lines = (tokens_of(fold(text)) for text in texts)
        numbers = ("".join(c for c in fold(text) if c.isdigit()).lstrip("0") for text in texts if _is_number(text))
        return cls(
            Phrases(line_of(tokens) for tokens in lines if tokens),
            frozenset(number for number in numbers if len(number) >= LONG_NUMBER),
        )

    def stands_in(self, read: Iterable[ComparableText]) -> bool:
        """Whether any of them stands in a text, read in any of these ways."""
        return any(self.phrases.found(reading.line) or not self.numbers.isdisjoint(reading.numbers) for reading in read)


def _is_number(text: str) -> bool:
    return any(c.isdigit() for c in text) and not any(c.isalpha() for c in text)
