"""What may remain of a ZIP code: its first three digits, unless too few people live there.

Belongs here: reading a ZIP code out of a span's own text. Does not belong here: other countries'
postcodes, of which nothing remains.

Source: 45 CFR 164.514(b)(2)(i)(B); the list of small areas is data/restricted_zip3.txt.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_ZIP = re.compile(r"([0-9]{3})[0-9]{2}(?:[-\s]?[0-9]{4})?")


def zip3(text: str, *, language: str = "en") -> str | None:
    """The first three digits, "000" for a restricted area, None for what is not a US ZIP code.

    Args:
        text: The span's own text, "27701" or "27701-1234".
        language: The note's. Germany, Italy, France, Spain and Mexico write five digits too, so only a
            note in English is read as American.
    """
    match = _ZIP.fullmatch(text)
    if match is None or not language.casefold().startswith("en"):
        return None
    return "000" if match[1] in _restricted() else match[1]


@cache
def _restricted() -> frozenset[str]:
    source = (resources.files("deid_platform.redaction") / "data" / "restricted_zip3.txt").read_text(encoding="utf-8")
    return frozenset(line for line in source.splitlines() if line and not line.startswith("#"))
