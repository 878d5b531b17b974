"""The languages that the shipped detector was measured in, with its figures.

Belongs here: what `shipped.tsv` says. Does not belong here: what a site measures itself
(`refresh/recipe/languages.py`).
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class ShippedFigures(NamedTuple):
    """What was measured of the shipped detector in one language, on text alone: the lower of both inputs.

    Attributes:
        language: ISO 639-1.
        recall: By words.
        recall_low: Lower end of its 95% interval.
        precision: By words.
        source: Where the figures stand.
    """

    language: str
    recall: float
    recall_low: float
    precision: float
    source: str


def _read() -> dict[str, ShippedFigures]:
    _, *lines = (files(__package__) / "shipped.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {it[0]: ShippedFigures(it[0], float(it[1]), float(it[2]), float(it[3]), it[4]) for it in rows}


SHIPPED = _read()
"""ISO 639-1 -> figures, in the order of the file."""
