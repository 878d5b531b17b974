"""What may remain of a ZIP code: its first three digits, unless too few people live there.

Belongs here: reading a ZIP code out of a span's own text. Does not belong here: other countries'
postcodes, of which nothing remains.

Source: 45 CFR 164.514(b)(2)(i)(B). Shown are the areas in which more than 20,000 people live by the 2020 census
(data/zip3_population.tsv), but for those that HHS lists by the census of 2000 (data/restricted_zip3_2000.txt). So
whatever the census does not know becomes 000.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_MOST_RESTRICTED = 20_000  # people
_ZIP = re.compile(r"([0-9]{3})[0-9]{2}(?:[-\s]?[0-9]{4})?")


def zip3(text: str, *, language: str = "en") -> str | None:
    """The first three digits, "000" for a restricted or unknown area, None for what is not a US ZIP code.

    Args:
        text: The span's own text, "27701" or "27701-1234".
        language: The note's. Germany, Italy, France, Spain and Mexico write five digits too, so only a
            note in English is read as American.
    """
    match = _ZIP.fullmatch(text)
    if match is None or not language.casefold().startswith("en"):
        return None
    return match[1] if match[1] in _shown() else "000"


@cache
def _shown() -> frozenset[str]:
    areas = (line.split("\t") for line in _lines("zip3_population.tsv"))
    large = frozenset(area for area, people in areas if int(people) > _MOST_RESTRICTED)
    return large.difference(_lines("restricted_zip3_2000.txt"))


def _lines(name: str) -> list[str]:
    source = (resources.files("deid_platform.redaction") / "data" / name).read_text(encoding="utf-8")
    return [line for line in source.splitlines() if line and not line.startswith("#")]
