"""Numbers of the United States, Great Britain, Australia and Canada.

Belongs here: what these four have. Does not belong here: plain patterns (data).

Sources: 555-0100 to 555-0199 (North American Numbering Plan, kept for fiction); Ofcom, "Telephone numbers for use in TV
and radio drama programmes"; ACMA, "Phone numbers for use in TV shows, films and creative works".
"""

from __future__ import annotations

from datetime import date

from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.numbers.country import Country
from deid_platform.surrogates.locales.patterns import luhn, pattern
from deid_platform.surrogates.locales.records import Person

_AMERICAN = ("({}) 555-01##", "{}-555-01##", "{}.555.01##", "({})555-01##", "{} 555 01##", "+1 {}-555-01##")

# Area: the block of numbers that Ofcom keeps for drama there.
_DRAMA = {
    **{f"011{n}": "496 0###" for n in "345678"},
    **{f"01{n}1": "496 0###" for n in "23456"},
    "0191": "498 0###",
    "020": "7946 0###",
    "028": "9649 6###",
    "029": "2018 0###",
}
_DRAMA_ELSEWHERE = "01632"  # an area code that is no town's
_DRAMA_ELSEWHERE_LINES = "960###"
# ACMA lists these mobile numbers one by one.
_AUSTRALIAN_MOBILES = (
    *("0491 570 006", "0491 570 156", "0491 570 157", "0491 570 158", "0491 570 159", "0491 570 110"),
    *("0491 570 313", "0491 570 737", "0491 571 266", "0491 571 491", "0491 571 804", "0491 572 549"),
    *("0491 572 665", "0491 572 983", "0491 573 770", "0491 573 087", "0491 574 118", "0491 574 632"),
    *("0491 575 254", "0491 575 789", "0491 576 398", "0491 576 801", "0491 577 426", "0491 577 644"),
    *("0491 578 957", "0491 578 148", "0491 578 888", "0491 579 212", "0491 579 760", "0491 579 455"),
)


def american_phone(dice: Dice, area: str) -> str:
    """A line 555-01xx of an area."""
    return pattern(dice, dice.pick(_AMERICAN).format(area))


def american_mobile(dice: Dice) -> str:
    """A line 555-01xx of some area; mobile telephones have no areas of their own."""
    return american_phone(dice, dice.pick(("213", "305", "312", "404", "503", "602", "617", "713", "814", "917")))


def canadian_mobile(dice: Dice) -> str:
    """A line 555-01xx of some area of Canada."""
    return american_phone(dice, dice.pick(("204", "306", "403", "416", "418", "506", "514", "604", "613", "902")))


def ssn(dice: Dice, _person: Person, _birth: date) -> str:
    """A social security number of an area 9xx with a group that was issued neither as SSN nor as ITIN."""
    return f"9{dice.digits(2)}-{dice.between(1, 49):02d}-{dice.between(1, 9999):04d}"


def british_phone(dice: Dice, area: str) -> str:
    """A number of Ofcom's for drama: of the area where it keeps some there, else of 01632, which is nowhere."""
    lines = _DRAMA.get(area)
    if lines is None:
        area, lines = _DRAMA_ELSEWHERE, _DRAMA_ELSEWHERE_LINES
    return pattern(dice, dice.pick(("{} {}", "({}) {}", "{} {}", "+44 (0){} {}")).format(area, lines)).replace(
        "+44 (0)0", "+44 (0)"
    )


def british_mobile(dice: Dice) -> str:
    """One of 07700 900000 to 900999, which Ofcom keeps for drama."""
    return pattern(dice, dice.pick(("07700 900###", "07700900###", "07700 900 ###", "+44 7700 900###")))


def nhs_number(dice: Dice, _person: Person, _birth: date) -> str:
    """An NHS number that begins with 999, where none is issued: kept for tests."""
    while True:
        body = "999" + dice.digits(6)
        check = -sum(int(d) * w for d, w in zip(body, range(10, 1, -1), strict=True)) % 11
        if check < 10:
            number = f"{body}{check}"
            return f"{number[:3]} {number[3:6]} {number[6:]}" if dice.chance(0.7) else number


def australian_phone(dice: Dice, area: str) -> str:
    """A number of a block 5550 or 7010, which ACMA keeps for fiction in each area."""
    return pattern(dice, dice.pick(("({}) 5550 ####", "({}) 7010 ####", "{} 5550 ####", "{} 7010 ####")).format(area))


def australian_mobile(dice: Dice) -> str:
    """One of the mobile numbers that ACMA lists for fiction."""
    number = dice.pick(_AUSTRALIAN_MOBILES)
    return number if dice.chance(0.8) else number.replace(" ", "")


def medicare(dice: Dice, _person: Person, _birth: date) -> str:
    """A Medicare number with its check digit and the place on the card; no range is known to be kept free."""
    body = str(dice.between(2, 6)) + dice.digits(7)
    check = sum(int(d) * w for d, w in zip(body, (1, 3, 7, 9, 1, 3, 7, 9), strict=True)) % 10
    number = f"{body}{check}{dice.between(1, 3)}"
    return f"{number[:4]} {number[4:9]} {number[9:]}" if dice.chance(0.7) else number


def sin(dice: Dice, _person: Person, _birth: date) -> str:
    """A social insurance number with its check digit that begins with 0, where none is assigned."""
    body = "0" + dice.digits(7)
    number = body + luhn(body)
    return (
        f"{number[:3]}-{number[3:6]}-{number[6:]}" if dice.chance(0.5) else f"{number[:3]} {number[3:6]} {number[6:]}"
    )


UNITED_STATES = Country(american_phone, american_mobile, ssn, Label.SSN)
GREAT_BRITAIN = Country(british_phone, british_mobile, nhs_number, Label.HEALTHPLAN)
AUSTRALIA = Country(australian_phone, australian_mobile, medicare, Label.HEALTHPLAN)
CANADA = Country(american_phone, canadian_mobile, sin, Label.IDNUM)
