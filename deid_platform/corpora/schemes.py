"""Label schemes as gold is read by them: the crosswalk, and what depends on the words at a span.

Belongs here: which annotations of a corpus are no identifiers, or known errors. Does not belong here: the crosswalks
(`labels.py`), or reading annotations (`annotations.py`, `formats/`).

Two schemes end in a suffix, since they leave annotations out that the corpus has:

- `i2b2-2014-without-weekdays`: dates that are a season or a day of the week and nothing else, which Murugadoss 2024
  leaves out of its scores on i2b2-2014 (supplementary information).
- `meddocan-corrected`: known errors of MEDDOCAN. An ID_SUJETO_ASISTENCIA without a digit is a word of the text that was
  marked by accident; a FECHAS with neither a digit nor a month is no date.

What is left out is counted in the `Gold`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deid_platform.errors import Code, DeidError
from deid_platform.labels import CROSSWALKS, Label

Applies = Callable[[str, str], bool]
"""Whether something holds of an annotation, by its label in the scheme and the words at it."""


def _never(label: str, words: str) -> bool:
    del label, words
    return False


@dataclass(frozen=True, slots=True)
class Scheme:
    """How the annotations of a corpus are read.

    Attributes:
        name: A key of `labels.CROSSWALKS`.
        labels: The corpus's label to ours, or to None for what is no identifier here.
        language: Of notes whose file does not say.
        no_identifier: Whether an annotation is none by its words.
        known_error: Whether it is a known error of the corpus.
    """

    name: str
    labels: Mapping[str, Label | None]
    language: str = "en"
    no_identifier: Applies = _never
    known_error: Applies = _never


_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_SEASON = r"(?:(?:early|late|mid)[ -])?(?:spring|summer|fall|autumn|winter)(?:time)?"
_DAY_OR_SEASON = rf"(?:{_DAY}|{_SEASON})(?:['’]?s)?\.?"
_BETWEEN = r"(?:\s*[,/&-]\s*|\s+)(?:(?:and|or|to|through|thru)\s+)?"
_DAYS_OR_SEASONS = re.compile(rf"\s*{_DAY_OR_SEASON}(?:{_BETWEEN}{_DAY_OR_SEASON})*\s*", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_DIGIT_OR_MONTH = re.compile(
    r"\d|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre",
    re.IGNORECASE,
)
_MUST_HOLD = {"ID_SUJETO_ASISTENCIA": _DIGIT, "FECHAS": _DIGIT_OR_MONTH}


def _day_or_season(label: str, words: str) -> bool:
    return label == Label.DATE and _DAYS_OR_SEASONS.fullmatch(words) is not None


def _error_of_meddocan(label: str, words: str) -> bool:
    return label in _MUST_HOLD and _MUST_HOLD[label].search(words) is None


_NO_IDENTIFIER: Mapping[str, Applies] = {"i2b2-2014-without-weekdays": _day_or_season}
_KNOWN_ERROR: Mapping[str, Applies] = {"meddocan-corrected": _error_of_meddocan}
_LANGUAGE = {"meddocan": "es", "meddocan-corrected": "es", "eds": "fr", "miranda-2025": "it"}


def scheme_of(name: str) -> Scheme:
    """A label scheme by its name.

    Raises:
        DeidError: `scheme-unknown` with the names that there are.
    """
    labels = CROSSWALKS.get(name)
    if labels is None:
        raise DeidError(Code.SCHEME_UNKNOWN, ", ".join(sorted(CROSSWALKS)))
    return Scheme(
        name,
        labels,
        language=_LANGUAGE.get(name, "en"),
        no_identifier=_NO_IDENTIFIER.get(name, _never),
        known_error=_KNOWN_ERROR.get(name, _never),
    )
