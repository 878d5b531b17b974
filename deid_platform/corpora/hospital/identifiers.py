"""Numbers and addresses that look right and can belong to nobody.

Belongs here: shapes of identifiers from ranges that are reserved or never issued. Does not belong here:
who carries them (`institution`).

Telephone numbers are 555-01xx (reserved for fiction), e-mail and web addresses lie under example.com,
.org and .net (RFC 2606), IP addresses in the documentation blocks (RFC 5737, RFC 3849), social security numbers in
areas 9xx with groups that were issued neither as SSN nor as ITIN. NPIs pass their checksum (Luhn with
prefix 80840) but begin with 2, where none has been issued; DEA numbers pass theirs but begin with a
registrant code out of use.
"""

from __future__ import annotations

from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.numbers import DOCUMENTATION_NETS

_PLATE_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_PHONE_STYLES = ("({}) 555-01{}", "{}-555-01{}", "{}.555.01{}", "({})555-01{}", "{} 555 01{}")


def phone(dice: Dice, area_code: str, *, style: int | None = None) -> str:
    """A telephone number with area code."""
    pattern = dice.pick(_PHONE_STYLES) if style is None else _PHONE_STYLES[style]
    return pattern.format(area_code, dice.digits(2))


def ssn(dice: Dice) -> str:
    """A social security number that was never issued."""
    return f"9{dice.digits(2)}-{dice.between(1, 49):02d}-{dice.between(1, 9999):04d}"


def npi(dice: Dice) -> str:
    """A national provider identifier with its check digit (45 CFR 162.406: Luhn over 80840 and the number)."""
    body = "2" + dice.digits(8)
    return body + str(_luhn_check_digit("80840" + body))


def _luhn_check_digit(body: str) -> int:
    total = 0
    for place, digit in enumerate(reversed(body)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return -total % 10


def dea(dice: Dice, last_name: str) -> str:
    """A drug licence number: two letters, six digits, a check digit."""
    body = dice.digits(6)
    odd, even = sum(map(int, body[::2])), sum(map(int, body[1::2]))
    initial = next((c for c in last_name.upper() if "A" <= c <= "Z"), "A")
    return f"X{initial}{body}{(odd + 2 * even) % 10}"


def plate(dice: Dice) -> str:
    """A vehicle's plate."""
    letters = "".join(dice.pick(_PLATE_LETTERS) for _ in range(3))
    return f"{letters} {dice.digits(4)}" if dice.chance(0.5) else f"{letters}-{dice.digits(3)}"


def ip_address(dice: Dice) -> str:
    """An address from the documentation blocks."""
    return f"{dice.pick(DOCUMENTATION_NETS)}.{dice.between(1, 254)}"


def ip6_address(dice: Dice) -> str:
    """An address of the sixth version from the documentation block."""
    groups = (f"{dice.between(1, 0xFFFF):x}" for _ in range(2))
    return "2001:db8::" + ":".join(groups)


def vin(dice: Dice) -> str:
    """A vehicle identification number; no maker's begins with 0, and its check digit is left to chance."""
    return f"0{letters(dice, 2)}{dice.digits(2)}{letters(dice, 3)}{dice.digits(1)}{letters(dice, 2)}{dice.digits(6)}"


def letters(dice: Dice, count: int) -> str:
    """`count` capital letters."""
    return "".join(dice.pick(_PLATE_LETTERS) for _ in range(count))
