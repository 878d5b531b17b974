"""Numbers of the locales: check digits that hold, and ranges in which nobody is."""

from datetime import date

import pytest
import regex
from stdnum import iban, luhn
from stdnum.ca import sin
from stdnum.cn import ric
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.in_ import aadhaar
from stdnum.it import codicefiscale
from stdnum.us import ssn

from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import LOCALES, Person, locale
from deid_platform.surrogates.pools import Share

WOMAN, MAN = Person("Ada", "", "Bianchi", "", "F"), Person("Bruno", "", "Fo", "", "M")
BORN = date(1957, 3, 9)
MEDICARE_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9)


def ids(name: str, person: Person = WOMAN, born: date = BORN) -> list[str]:
    return [locale(name).national_id(Dice("id", name, i), person, born) for i in range(200)]


def digits(written: str) -> str:
    return "".join(c for c in written if c.isdigit())


def medicare_holds(number: str) -> bool:
    total = sum(int(d) * w for d, w in zip(number[:8], MEDICARE_WEIGHTS, strict=True))
    return len(number) == 10 and total % 10 == int(number[8])


CHECKS = {
    "en_US": lambda n: digits(n)[0] == "9" and not ssn.is_valid(n),  # areas 9xx are never a social security number
    "en_GB": lambda n: nhs.is_valid(n) and digits(n).startswith("999"),
    "en_AU": lambda n: medicare_holds(digits(n)),
    "en_CA": lambda n: luhn.is_valid(digits(n)) and n[0] == "0" and not sin.is_valid(n),  # 0 is not assigned
    "es_ES": lambda n: (dni.is_valid(n) or nie.is_valid(n)) and digits(n).startswith("99"),
    "it_IT": lambda n: codicefiscale.is_valid(n) and n[11] == "X",
    "fr_FR": lambda n: nir.is_valid(n) and digits(n)[5:7] == "00",
    "zh": lambda n: ric.is_valid(n) and n[14:16] == "99",
    "hi": lambda n: aadhaar.is_valid(n) and n.startswith("9999"),
    "bn": lambda n: (n.startswith("99") and len(n) == 10) or (n.startswith("195799") and len(n) == 17),
    "ar": lambda n: luhn.is_valid(n) and n[0] in "12" and len(n) == 10,
}


@pytest.mark.parametrize("name", LOCALES)
def test_national_identifiers_carry_their_check_digits_and_are_of_ranges_that_are_not_assigned(name: str):
    for number in ids(name):
        assert CHECKS[name](number), name


@pytest.mark.parametrize(("name", "label"), [("en_US", Label.SSN), ("en_GB", Label.HEALTHPLAN), ("it_IT", Label.IDNUM)])
def test_national_identifiers_have_the_label_of_what_they_are(name: str, label: Label):
    assert locale(name).national_id_label is label


def test_a_tax_code_a_nir_and_a_resident_number_tell_person_and_birth():
    assert all(n.startswith("BNCDAA57C49X") for n in ids("it_IT"))
    assert all(n.startswith("FOXBRN57C09X") for n in ids("it_IT", MAN))
    assert all(digits(n).startswith("25703") for n in ids("fr_FR"))
    assert all(digits(n).startswith("15703") for n in ids("fr_FR", MAN))
    assert all(n[6:14] == "19570309" and int(n[16]) % 2 == 0 for n in ids("zh"))
    assert all(int(n[16]) % 2 == 1 for n in ids("zh", MAN))


@pytest.mark.parametrize(
    ("first", "code"),
    [("Maria", "MRA"), ("Gianfranco", "GFR"), ("Io", "IOX"), ("Alessandra", "LSN"), ("Niccolò", "NCL")],
)
def test_the_letters_of_a_given_name_in_a_tax_code(first: str, code: str):
    # Agenzia delle Entrate: of four consonants and more the first, third and fourth.
    assert ids("it_IT", Person(first, "", "Rossi", "", "F"))[0][3:6] == code


PHONES = {
    "en_US": r"\D*\d{3}\D*555\D*01\d\d|\+1 \d{3}-555-01\d\d",
    "en_CA": r"\D*\d{3}\D*555\D*01\d\d|\+1 \d{3}-555-01\d\d",
    "en_GB": r".*(496 0\d{3}|498 0\d{3}|7946 0\d{3}|9649 6\d{3}|2018 0\d{3}|1632\)? 960\d{3})",
    "en_AU": r"\(?0[2378]\)? (5550|7010) \d{4}",
    "fr_FR": r"(0|\+33 )(199|261|353|465|536)(00|91|01|71|49)\d{4}",
    "es_ES": r"(\+34)?(9\d|9\d\d)00\d+",
    "it_IT": r"(\+39)?0\d{1,3}1\d{5,}",
    "zh": r"(\+86|0)\d{2,3}1\d{6,7}",
    "hi": r"(\+91|0)\d{2,4}1\d{5,7}",
    "bn": r"(\+880|0)\d{1,4}1\d{5,7}",
    "ar": r"(\+966|0)1\d1\d{6}",
}
MOBILES = {
    "en_US": PHONES["en_US"],
    "en_CA": PHONES["en_CA"],
    "en_GB": r"(0|\+44)7700900\d{3}",
    "en_AU": r"049157\d{4}",
    "fr_FR": r"063998\d{4}",
    "es_ES": r"(\+34)?79\d{7}",
    "it_IT": r"(\+39)?30\d{8}",
    "zh": r"(\+86)?154\d{8}",
    "hi": r"(\+91)?5\d{9}",
    "bn": r"(\+88)?012\d{8}",
    "ar": r"(\+966|0)52\d{7}",
}


@pytest.mark.parametrize("name", LOCALES)
def test_telephones_are_of_ranges_kept_for_fiction_or_that_no_operator_has(name: str):
    spaced = name in ("en_US", "en_CA", "en_GB", "en_AU")
    for i in range(150):
        dice = Dice("phone", name, i)
        place = locale(name).address(dice)
        for written, shape in (
            (locale(name).phone(dice, place), PHONES[name]),
            (locale(name).phone(dice), PHONES[name]),
            (locale(name).mobile(dice), MOBILES[name]),
        ):
            bare = written if spaced and shape == PHONES[name] else regex.sub(r"[ ()./-]", "", written)
            assert regex.fullmatch(shape.replace("+33 ", "+33"), bare), f"{name} {bare}"


@pytest.mark.parametrize("name", [n for n in LOCALES if n != "en_GB"])
def test_a_telephone_has_the_area_code_of_its_place(name: str):
    for i in range(100):
        dice = Dice("area", name, i)
        place = locale(name).address(dice)
        written = digits(locale(name).phone(dice, place))
        assert written.startswith(place.area) or place.area.lstrip("0") in written[:7]


@pytest.mark.parametrize("city", ["Leeds", "London", "Belfast", "Truro"])
def test_a_british_number_is_of_the_area_if_there_is_drama_there(city: str):
    british = locale("en_GB")
    place = next(a for a in (british.address(Dice(city, i)) for i in range(5000)) if a.city == city)
    area = {"Leeds": "0113", "London": "020", "Belfast": "028", "Truro": "01632"}[city]
    for i in range(30):
        assert digits(british.phone(Dice(i), place)).replace("440", "0", 1).startswith(area)


@pytest.mark.parametrize("name", ["es_ES", "it_IT", "fr_FR", "ar"])
def test_bank_accounts_carry_their_check_digits_and_are_at_no_bank(name: str):
    for i in range(100):
        assert iban.is_valid(locale(name).account(Dice(i)))


def test_a_spanish_social_security_number_carries_its_check_digits():
    for i in range(100):
        number = digits(locale("es_ES").health_plan(Dice(i)))
        assert len(number) == 12 and int(number[:10]) % 97 == int(number[10:])


def test_a_french_doctors_number_carries_its_check_digit():
    assert all(luhn.is_valid(locale("fr_FR").license(Dice(i))) for i in range(100))


@pytest.mark.parametrize("name", LOCALES)
def test_every_plain_number_is_filled_in_and_hardly_ever_the_same(name: str):
    for draw in ("mrn", "health_plan", "license", "plate", "account"):
        numbers = [getattr(locale(name), draw)(Dice(draw, i)) for i in range(200)]
        assert not any(c in number for number in numbers for c in "#?{}")
        assert len(set(numbers)) > 180, draw
        assert all(any(c.isdigit() for c in number) for number in numbers)


def test_people_of_one_birth_have_different_numbers():
    people = [locale("it_IT").person(Dice(i), None, Share.TRAINING) for i in range(50)]
    assert len({locale("it_IT").national_id(Dice(i), person, BORN) for i, person in enumerate(people)}) == 50
