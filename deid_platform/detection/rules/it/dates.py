"""Validators of Italian dates."""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.dates import is_day, numbers_in
from deid_platform.detection.rules.engine.validator import Interval, validator

_SHARE_NEXT = regex.compile(
    r"[ ](?i:medi[oa]|distal[ei]|prossimal[ei]|superior[ei]|inferior[ei]|estern[oai]|intern[oai]|lateral[ei]|medial[ei]"
    r"|anterior[ei]|posterior[ei]|central[ei]|sup|inf|dist|pross|ant|post|del|della|dell['’]|di|circa)\b"
)
_LARGEST_SHARE = 4  # thirds and quarters


@validator
def italian_day(text: str, start: int, end: int) -> Interval | None:
    """A day and its month, in this order, which are no share of something ("al 1/3 medio")."""
    day, month = numbers_in(text, start, end)[:2]
    share = day < month <= _LARGEST_SHARE and _SHARE_NEXT.match(text, end)
    return None if share or not is_day(month, day) else (start, end)
