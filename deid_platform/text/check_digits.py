"""Check digits: whether a number is one of its kind by arithmetic alone.

Belongs here: checksums by name, those of python-stdnum and four that it does not have. Does not belong here: where a
number stands in a text (`detection/rules/`), or what stands in for it (`surrogates/numbers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

import regex

CheckDigit = Callable[[str], bool]
"""Whether a number, as it is written, has the check digit of its kind."""

_SEPARATORS = regex.compile(r"[\s.\-/]")
_AU_MEDICARE = (1, 3, 7, 9, 1, 3, 7, 9)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_NOT_IN_VIN = frozenset("IOQ")
_VIN_LETTERS = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, *range(2, 10)), strict=True)
)


def by_stdnum(module: str) -> CheckDigit:
    """The check of one module of python-stdnum, imported when first a number asks for it."""

    def check(number: str) -> bool:
        return bool(import_module(f"stdnum.{module}").is_valid(number))

    return check


def card(number: str) -> bool:
    """Thirteen to nineteen digits with the check digit of payment cards (Luhn), not one digit over and over."""
    from stdnum import luhn

    digits = _SEPARATORS.sub("", number)
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def npi(number: str) -> bool:
    """Ten digits with the check digit of a National Provider Identifier (Luhn over 80840 and the number)."""
    from stdnum import luhn

    return bool(luhn.is_valid("80840" + number))


def dea(number: str) -> bool:
    """Two letters and seven digits with the check digit of a DEA registration."""
    d = [int(c) for c in number[-7:]]
    return (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6]


def vin(number: str) -> bool:
    """Seventeen characters with the check digit of a vehicle identification number (49 CFR 565.15)."""
    number = number.upper()
    if not _NOT_IN_VIN.isdisjoint(number):
        return False
    total = sum(w * (int(c) if c.isdigit() else _VIN_LETTERS[c]) for w, c in zip(_VIN_WEIGHTS, number, strict=True))
    return number[8] == "0123456789X"[total % 11]


def au_medicare(number: str) -> bool:
    """Ten or eleven digits with the check digit of an Australian Medicare card (weights 1, 3, 7, 9 over eight)."""
    d = [int(c) for c in _SEPARATORS.sub("", number)]
    return 2 <= d[0] <= 6 and sum(w * n for w, n in zip(_AU_MEDICARE, d[:8], strict=True)) % 10 == d[8]


CHECK_DIGITS: Mapping[str, CheckDigit] = {
    "sin": by_stdnum("ca.sin"),
    "nhs_number": by_stdnum("gb.nhs"),
    "tfn": by_stdnum("au.tfn"),
    "nir": by_stdnum("fr.nir"),
    "dni": by_stdnum("es.dni"),
    "nie": by_stdnum("es.nie"),
    "codice_fiscale": by_stdnum("it.codicefiscale"),
    "aadhaar": by_stdnum("in_.aadhaar"),
    "pan": by_stdnum("in_.pan"),
    "iban": by_stdnum("iban"),
    "imei": by_stdnum("imei"),
    "card": card,
    "npi": npi,
    "dea": dea,
    "vin": vin,
    "au_medicare": au_medicare,
}
"""By the name that tables of recognizers call them by."""
