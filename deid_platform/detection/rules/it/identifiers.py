"""Validators of Italian telephone and record numbers."""

from __future__ import annotations

from deid_platform.detection.rules.engine.validator import Interval, validator

_PHONE_DIGITS = {"0": range(6, 13), "3": range(9, 12), "8": range(6, 11)}
_FEWEST_DIGITS = 4


@validator
def italian_phone(text: str, start: int, end: int) -> Interval | None:
    """Digits after a word such as "tel.", of the length of a telephone number of their kind: not "numero 350.000"."""
    digits = "".join(c for c in text[start:end] if c.isdigit())
    digits = digits.removeprefix("0039") if text[start] != "+" else digits[2:]
    return (start, end) if len(digits) in _PHONE_DIGITS[digits[0]] else None


@validator
def italian_number(text: str, start: int, end: int) -> Interval | None:
    """A record's number after its label: four digits at least."""
    return (start, end) if sum(c.isdigit() for c in text[start:end]) >= _FEWEST_DIGITS else None
