"""Numbers of China, India, Bangladesh and Saudi Arabia.

Belongs here: what these four have. Does not belong here: plain patterns (data).

None of them keeps telephone numbers for fiction. Their lines begin, after the area code, with 1, which their numbering
plans leave to short numbers; their mobile numbers with what no operator has: 154 in China, 5 in India, 012 in
Bangladesh, 052 in Saudi Arabia.
"""

from __future__ import annotations

from datetime import date

from stdnum import verhoeff

from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.numbers.country import Country
from deid_platform.surrogates.locales.numbers.europe import iban
from deid_platform.surrogates.locales.patterns import luhn, pattern
from deid_platform.surrogates.locales.records import Person

# Districts that have had their code since before anybody alive was born, as registers write it.
_DISTRICTS = ("110105", "110106", "110108", "120101", "120102", "310104", "310105", "310110")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def chinese_phone(dice: Dice, area: str) -> str:
    """A line of eight digits in the largest towns, else of seven, that begins with 1."""
    line = pattern(dice, "1#######" if len(area) == 3 else "1######")
    return dice.pick((f"{area}-{line}", f"{area} {line}", f"({area}) {line}", f"+86 {area[1:]} {line}"))


def chinese_mobile(dice: Dice) -> str:
    """A number that begins with 154."""
    return pattern(dice, dice.pick(("154########", "154 #### ####", "154-####-####", "+86 154 #### ####")))


def resident_number(dice: Dice, person: Person, birth: date) -> str:
    """A resident number of this sex and birth with its check digit, of a day's last serial numbers (990 to 999)."""
    serial = 990 + 2 * dice.between(0, 4) + (person.sex == "M")
    body = f"{dice.pick(_DISTRICTS)}{birth:%Y%m%d}{serial}"
    rest = sum(int(d) * w for d, w in zip(body, _WEIGHTS, strict=True)) % 11
    return body + "10X98765432"[rest]


def indian_phone(dice: Dice, area: str) -> str:
    """A line that begins with 1; area code and line have ten digits together."""
    line = "1" + dice.digits(10 - len(area))
    return dice.pick((f"{area}-{line}", f"{area} {line}", f"+91-{area[1:]}-{line}", f"({area}) {line}"))


def indian_mobile(dice: Dice) -> str:
    """A number that begins with 5."""
    return pattern(dice, dice.pick(("5#########", "5#### #####", "+91 5#### #####", "+91-5#########")))


def aadhaar(dice: Dice, _person: Person, _birth: date) -> str:
    """An Aadhaar number with its check digit that begins with 9999, as those that are kept for tests do."""
    body = "9999" + dice.digits(7)
    number = body + str(verhoeff.calc_check_digit(body))
    return number if dice.chance(0.3) else f"{number[:4]} {number[4:8]} {number[8:]}"


def bangladeshi_phone(dice: Dice, area: str) -> str:
    """A line that begins with 1."""
    line = "1" + dice.digits(7 if area == "02" else 5)
    return dice.pick((f"{area}-{line}", f"{area} {line}", f"+880 {area[1:]} {line}"))


def bangladeshi_mobile(dice: Dice) -> str:
    """A number that begins with 012."""
    return pattern(dice, dice.pick(("012##-######", "012########", "012## ######", "+88012########")))


def bangladeshi_id(dice: Dice, _person: Person, birth: date) -> str:
    """A national identity number: ten digits, or the year of birth and thirteen; it has no check digit."""
    return "99" + dice.digits(8) if dice.chance(0.7) else f"{birth.year}99{dice.digits(11)}"


def saudi_phone(dice: Dice, area: str) -> str:
    """A line that begins with 1."""
    line = pattern(dice, dice.pick(("1######", "1## ####")))
    return dice.pick((f"{area} {line}", f"{area}-{line}", f"+966 {area[1:]} {line}"))


def saudi_mobile(dice: Dice) -> str:
    """A number that begins with 052."""
    return pattern(dice, dice.pick(("052#######", "052 ### ####", "+966 52 ### ####", "052-#######")))


def saudi_id(dice: Dice, _person: Person, _birth: date) -> str:
    """A number of a citizen (1) or a resident (2) with its check digit; no range is known to be kept free."""
    body = ("1" if dice.chance(0.7) else "2") + dice.digits(8)
    return body + luhn(body)


def saudi_account(dice: Dice) -> str:
    """An account at bank 99, which is none."""
    return iban("SA", "99" + dice.digits(18))


CHINA = Country(chinese_phone, chinese_mobile, resident_number, Label.IDNUM)
INDIA = Country(indian_phone, indian_mobile, aadhaar, Label.IDNUM)
BANGLADESH = Country(bangladeshi_phone, bangladeshi_mobile, bangladeshi_id, Label.IDNUM)
SAUDI_ARABIA = Country(saudi_phone, saudi_mobile, saudi_id, Label.IDNUM, account=saudi_account)
