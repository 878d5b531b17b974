"""Numbers of Spain, Italy and France.

Belongs here: what these three have. Does not belong here: plain patterns (data).

Sources: ARCEP, decision 2018-0881 on the numbering plan, which keeps blocks of numbers for works of fiction. Spain and
Italy keep none: their lines begin, after the area code, with 00 and with 1, which are no subscribers' there, and their
mobile numbers with 79 and 30, which no operator has.
"""

from __future__ import annotations

from datetime import date

import regex
from anyascii import anyascii

from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.numbers.country import Country
from deid_platform.surrogates.locales.patterns import luhn, pattern
from deid_platform.surrogates.locales.records import Person

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_MONTHS = "ABCDEHLMPRST"
_ODD = {
    c: v
    for chars in ("0123456789", "ABCDEFGHIJ")
    for c, v in zip(chars, (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True)
}
_ODD |= dict(zip("KLMNOPQRSTUVWXYZ", (2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23), strict=True))
_EVEN = {c: int(c) for c in "0123456789"} | {chr(65 + n): n for n in range(26)}
_CONSONANTS = regex.compile(r"[^AEIOU]")
_VOWELS = regex.compile(r"[AEIOU]")
_NO_LETTER = regex.compile(r"[^A-Z]")
# Area: what follows it in the numbers that ARCEP keeps for fiction.
_FICTION = {"01": "99 00", "02": "61 91", "03": "53 01", "04": "65 71", "05": "36 49"}


def spanish_phone(dice: Dice, area: str) -> str:
    """A line whose number, after the area code, begins with 00."""
    number = f"{area}00{dice.digits(7 - len(area))}"
    grouped = (
        f"{number[:3]} {number[3:5]} {number[5:7]} {number[7:]}",
        f"{number[:3]} {number[3:6]} {number[6:]}",
        number,
    )
    said = dice.pick(grouped)
    return f"+34 {said}" if dice.chance(0.1) else said


def spanish_mobile(dice: Dice) -> str:
    """A number that begins with 79, which no operator has."""
    return pattern(dice, dice.pick(("79# ### ###", "79# ## ## ##", "79#######", "+34 79# ### ###")))


def dni(dice: Dice, _person: Person, _birth: date) -> str:
    """A DNI over 99,000,000, where none is issued yet, or a foreigner's NIE of the letter Z and 99; with its letter."""
    if dice.chance(0.85):
        digits = "99" + dice.digits(6)
        letter = _DNI_LETTERS[int(digits) % 23]
        return digits + dice.pick(("", "", "-", " ")) + letter
    digits = "99" + dice.digits(5)
    letter = _DNI_LETTERS[int("2" + digits) % 23]
    return f"Z{digits}{letter}" if dice.chance(0.6) else f"Z-{digits}-{letter}"


def social_security(dice: Dice) -> str:
    """A Spanish social security number with its two check digits, of province 99, which is none."""
    digits = "99" + str(dice.between(10_000_000, 99_999_999))
    check = f"{int(digits) % 97:02d}"
    return dice.pick((f"{digits}{check}", f"{digits[:2]}/{digits[2:]}/{check}", f"{digits[:2]} {digits[2:]} {check}"))


def italian_phone(dice: Dice, area: str) -> str:
    """A line whose number, after the area code, begins with 1."""
    rest = "1" + dice.digits(max(9 - len(area), 5))
    return f"{area}{dice.pick((' ', '/', '-', ' '))}{rest}" if dice.chance(0.9) else f"+39 {area} {rest}"


def italian_mobile(dice: Dice) -> str:
    """A number that begins with 30, which no operator has."""
    return pattern(dice, dice.pick(("30# #######", "30#/#######", "30# ### ####", "+39 30# #######", "30########")))


def codice_fiscale(dice: Dice, person: Person, birth: date) -> str:
    """A tax code of this person and birth, of a town X000 to X999: codes of towns begin with A to M or Z."""
    day = birth.day + (40 if person.sex == "F" else 0)
    body = (
        f"{_letters_of(person.last, given=False)}{_letters_of(person.first, given=True)}"
        f"{birth.year % 100:02d}{_MONTHS[birth.month - 1]}{day:02d}X{dice.digits(3)}"
    )
    total = sum(_ODD[c] if at % 2 == 0 else _EVEN[c] for at, c in enumerate(body))
    return body + chr(65 + total % 26)


def _letters_of(name: str, *, given: bool) -> str:
    upper = _NO_LETTER.sub("", anyascii(name).upper())
    consonants = _CONSONANTS.findall(upper)
    if given and len(consonants) > 3:
        consonants = [consonants[0], consonants[2], consonants[3]]
    return "".join([*consonants, *_VOWELS.findall(upper), "X", "X", "X"][:3])


def french_phone(dice: Dice, area: str) -> str:
    """A number of those that ARCEP keeps for fiction in that area."""
    number = pattern(dice, f"{area} {_FICTION[area]} ## ##")
    way = dice.between(0, 9)
    return (
        number.replace(" ", ".")
        if way < 2
        else number.replace(" ", "")
        if way == 2
        else (f"+33 {number[1:]}" if way == 3 else number)
    )


def french_mobile(dice: Dice) -> str:
    """One of 06 39 98 00 00 to 06 39 98 99 99, which ARCEP keeps for fiction."""
    number = pattern(dice, "06 39 98 ## ##")
    return number if dice.chance(0.6) else number.replace(" ", dice.pick((".", "", "-")))


def nir(dice: Dice, person: Person, birth: date) -> str:
    """A NIR of this person and birth with its key, of department 00, which is none."""
    body = (
        f"{'1' if person.sex == 'M' else '2'}{birth.year % 100:02d}{birth.month:02d}00{dice.digits(3)}{dice.digits(3)}"
    )
    key = f"{97 - int(body) % 97:02d}"
    if dice.chance(0.3):
        return body + key
    return f"{body[0]} {body[1:3]} {body[3:5]} {body[5:7]} {body[7:10]} {body[10:]} {key}"


def rpps(dice: Dice) -> str:
    """A French doctor's number with its check digit; numbers that are issued begin with 1 or 8, these with 9."""
    body = "9" + dice.digits(9)
    return body + luhn(body)


def iban(country: str, account: str) -> str:
    """The IBAN of an account, in groups of four."""
    digits = "".join(str(int(c, 36)) for c in f"{account}{country}00")
    number = f"{country}{98 - int(digits) % 97:02d}{account}"
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4))


def spanish_account(dice: Dice) -> str:
    """An account at bank 9999, which is none."""
    bank, number = "9999" + dice.digits(4), dice.digits(10)
    return iban("ES", bank + _ccc("00" + bank) + _ccc(number) + number)


def _ccc(digits: str) -> str:
    check = 11 - sum(int(d) * w for d, w in zip(digits, (1, 2, 4, 8, 5, 10, 9, 7, 3, 6), strict=True)) % 11
    return str({10: 1, 11: 0}.get(check, check))


def italian_account(dice: Dice) -> str:
    """An account at bank 99999, which is none."""
    body = f"99999{dice.digits(5)}{dice.digits(12)}"
    check = sum(_ODD[c] if at % 2 == 0 else _EVEN[c] for at, c in enumerate(body)) % 26
    return iban("IT", chr(65 + check) + body)


def french_account(dice: Dice) -> str:
    """An account at bank 99999, which is none."""
    bank, counter, number = "99999", dice.digits(5), dice.digits(11)
    key = 97 - (89 * int(bank) + 15 * int(counter) + 3 * int(number)) % 97
    return iban("FR", f"{bank}{counter}{number}{key:02d}")


SPAIN = Country(spanish_phone, spanish_mobile, dni, Label.IDNUM, plan=social_security, account=spanish_account)
ITALY = Country(italian_phone, italian_mobile, codice_fiscale, Label.IDNUM, account=italian_account)
FRANCE = Country(french_phone, french_mobile, nir, Label.IDNUM, account=french_account, license=rpps)
