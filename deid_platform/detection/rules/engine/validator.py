"""Validators: functions that accept, narrow or refuse a pattern's match.

Belongs here: what a validator is, and the registry of the names that tables refer to. Does not belong here: any of
them; they stand beside the tables (`en/`, `it/`, `es/`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deid_platform.text.check_digits import CheckDigit

Interval = tuple[int, int]
Validator = Callable[[str, int, int], Interval | None]
"""Takes a text and the interval that a pattern matched in it; returns the interval that is an identifier, which may be
narrower, or None if there is none. Intervals are code points, end exclusive."""

_REGISTERED: dict[str, Validator] = {}


def validator(function: Validator) -> Validator:
    """Makes a function known to tables under its own name."""
    register({function.__name__: function})
    return function


def register(validators: Mapping[str, Validator]) -> Mapping[str, Validator]:
    """Makes validators known to tables under the given names, of which none may be taken."""
    if taken := _REGISTERED.keys() & validators.keys():
        raise ValueError(f"validators registered twice: {sorted(taken)}")
    _REGISTERED.update(validators)
    return validators


def validator_named(name: str) -> Validator:
    """The validator that tables call by a name.

    Raises:
        KeyError: If there is none of that name.
    """
    return _REGISTERED[name]


def has_check_digit(check: CheckDigit) -> Validator:
    """A validator of which a check digit is the whole."""
    return lambda text, start, end: (start, end) if check(text[start:end]) else None
