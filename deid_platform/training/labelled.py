"""A text with its identifiers, as a model is trained on it.

Belongs here: that record. Does not belong here: which texts there are (`mixture.py`), or their windows (`examples.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from deid_platform.notes import Span


@dataclass(frozen=True, slots=True, repr=False)
class Labelled:
    """A text with its identifiers.

    Attributes:
        key: Names the carrier: the same in all locales.
        corpus: Where the text is from.
        locale: Whose names it has; empty for the hospital.
        text: The text.
        spans: Its identifiers, in order, never overlapping.
    """

    key: str
    corpus: str
    locale: str
    text: str
    spans: tuple[Span, ...]

    def __repr__(self) -> str:
        return "<Labelled>"
