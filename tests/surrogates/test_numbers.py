"""Numbers: same shape, same checks passed, one surrogate however they are written, from ranges nobody can have."""

import random
import re
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stdnum import iban, imei, luhn
from stdnum.au import tfn
from stdnum.ca import sin
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.in_ import aadhaar, pan
from stdnum.it import codicefiscale

from deid_platform.surrogates.numbers import (
    keyed_draw,
    stand_in_address,
    stand_in_number,
    stand_in_phone,
    stand_in_ssn,
    stand_in_url,
)

DRAW = keyed_draw(b"k" * 32)
OTHER = keyed_draw(b"o" * 32)


def is_npi(number: str) -> bool:
    return luhn.is_valid("80840" + number)


def is_dea(number: str) -> bool:
    digits = list(map(int, number[2:]))
    return (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]


def is_au_medicare(number: str) -> bool:
    a, b, c, d, e, f, g, h, check = map(int, number[:9])
    return number[0] in "23456" and (a + e + 3 * (b + f) + 7 * (c + g) + 9 * (d + h)) % 10 == check


def is_vin(number: str) -> bool:
    values = [int(c) if c.isdigit() else "ABCDEFGH JKLMN P R STUVWXYZ".find(c) % 9 + 1 for c in number]
    total = sum(v * w for v, w in zip(values, (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2), strict=True))
    return set("IOQ").isdisjoint(number) and number[8] == "0123456789X"[total % 11]


CHECKED = [
    (is_npi, "1234567893", "1234567890"),
    (nhs.is_valid, "9434765919", "9434765918"),
    (is_dea, "AB1234563", "AB1234564"),
    (dni.is_valid, "54362315K", "54362315A"),
    (nie.is_valid, "X2482300W", "X2482300A"),
    (codicefiscale.is_valid, "RCCMNL83S18D969H", "RCCMNL83S18D969A"),
    (pan.is_valid, "ACUPA7085R", "ACUQA7085R"),
    (aadhaar.is_valid, "234123412346", "234123412347"),
    (iban.is_valid, "GB82WEST12345698765432", "GB83WEST12345698765432"),
    (luhn.is_valid, "4111111111111111", "4111111111111112"),
    (sin.is_valid, "123456782", "123456789"),
    (tfn.is_valid, "123456782", "123456789"),
    (tfn.is_valid, "81854414", "81854415"),
    (nir.is_valid, "295109912611193", "295109912611194"),
    (nir.is_valid, "295102A12611122", "295102A12611123"),
    (imei.is_valid, "490154203237518", "490154203237519"),
    (is_vin, "1M8GDM9AXKP042788", "1M8GDM9A1KP042788"),
    (is_au_medicare, "2123456701", "2123456711"),
    (is_au_medicare, "21234567011", "21234567111"),
]


@pytest.mark.parametrize(("check", "right", "wrong"), CHECKED, ids=[str(i) for i in range(len(CHECKED))])
def test_a_number_passes_its_checksum_exactly_if_the_original_did(check, right: str, wrong: str):
    assert check(right)
    assert not check(wrong)
    for number, passes in ((right, True), (wrong, False)):
        made = stand_in_number(DRAW, number)
        assert made is not None
        assert made != number
        assert check(made) is passes
        assert len(made) == len(number)


@pytest.mark.parametrize(
    ("check", "drawn"),
    [
        (sin.is_valid, [string.digits] * 9),
        (tfn.is_valid, [string.digits] * 9),
        (nir.is_valid, ["12", *[string.digits] * 2, "0", "123456789", *[string.digits] * 10]),
        (imei.is_valid, [string.digits] * 15),
        (is_au_medicare, [string.digits] * 10),
        (aadhaar.is_valid, [string.digits] * 12),
        (is_vin, [string.ascii_uppercase] * 3 + [string.digits, "ABC", *[string.digits] * 12]),
    ],
    ids=["sin", "tfn", "nir", "imei", "au medicare", "aadhaar", "vin"],
)
def test_every_number_of_a_kind_does_so_and_not_one_by_chance(check, drawn: list[str]):
    rng = random.Random(7)
    found: dict[bool, list[str]] = {True: [], False: []}
    while min(map(len, found.values())) < 12:
        number = "".join(rng.choice(alphabet) for alphabet in drawn)
        found[bool(check(number))].append(number)
    for passes, numbers in found.items():
        made = [stand_in_number(DRAW, number) for number in numbers[:12]]
        assert {bool(check(number)) for number in made if number} == {passes}
        assert None not in made


def test_a_canadian_number_is_no_american_one_and_a_french_one_keeps_sex_and_month():
    made = stand_in_ssn(DRAW, "123 456 782") or ""
    assert re.fullmatch(r"\d{3} \d{3} \d{3}", made)
    assert sin.is_valid(made)
    assert re.fullmatch(
        r"2 \d\d (0[1-9]|1[0-2]) [01]\d \d{3} \d{3} \d\d", stand_in_ssn(DRAW, "2 95 10 99 126 111 93") or ""
    )


@example("00000000")
@example("000000000")
@example("0000000000")
@settings(max_examples=60)
@given(st.from_regex(r"[A-Z]{0,3}-?[0-9]{1,10}(?:[-/ .][0-9]{1,4})?[a-z]?", fullmatch=True))
def test_an_identifier_keeps_its_shape_and_is_never_the_same(number: str):
    made = stand_in_number(DRAW, number)
    assert made is not None
    shape = re.compile(r"[0-9]"), re.compile(r"[a-z]"), re.compile(r"[A-Z]")
    for kind in shape:
        assert [m.start() for m in kind.finditer(made)] == [m.start() for m in kind.finditer(number)]
    assert made.upper() != number.upper()
    assert made == stand_in_number(DRAW, number)


@pytest.mark.parametrize(
    ("one", "two"), [("123-456-789", "123456789"), ("00718822", "718822"), ("AB 12 34 56 C", "AB123456C")]
)
def test_one_number_has_one_stand_in_however_it_is_written(one: str, two: str):
    made = [re.sub(r"[^0-9A-Z]", "", stand_in_number(DRAW, text) or "").lstrip("0") for text in (one, two)]
    assert made[0] == made[1]


def test_leading_zeros_and_what_says_which_number_it_is_stay():
    assert re.fullmatch(r"00[1-9][0-9]{5}", stand_in_number(DRAW, "00718822") or "")
    assert re.fullmatch(r"MRN: [1-9][0-9]{5}", stand_in_number(DRAW, "MRN: 718822") or "")


@pytest.mark.parametrize("text", ["ABCDE", "", "--", "no. ٣٤٥", "№ 5ж"])
def test_what_is_no_number_becomes_a_tag(text: str):
    assert stand_in_number(DRAW, text) is None


@pytest.mark.parametrize("text", ["123-45-6789", "123456789", "123 45 6789"])
def test_a_social_security_number_is_one_that_was_never_issued(text: str):
    made = stand_in_ssn(DRAW, text) or ""
    digits = re.sub(r"\D", "", made)
    assert digits[0] == "9"
    assert 1 <= int(digits[3:5]) <= 49  # 50 and above are taxpayer numbers
    assert re.sub(r"\d", "0", made) == re.sub(r"\d", "0", text)
    assert digits == re.sub(r"\D", "", stand_in_ssn(DRAW, "123-45-6789") or "")


def test_the_last_four_digits_alone_agree_with_the_whole_number():
    whole = stand_in_ssn(DRAW, "123-45-6789") or ""
    assert stand_in_ssn(DRAW, "6789") == whole[-4:]
    assert stand_in_ssn(DRAW, "xxx-xx-6789") == f"xxx-xx-{whole[-4:]}"
    assert stand_in_ssn(DRAW, "no number") is None


@pytest.mark.parametrize(("text", "left"), [("ABCPD1234F", "ABCPD"), ("RCCMNL83S18D969H", "RCCMNL")])
def test_another_countrys_number_under_the_label_is_replaced_whole(text: str, left: str):
    made = stand_in_ssn(DRAW, text) or ""
    assert len(made) == len(text)
    assert left not in made


def test_words_in_a_telephone_number_do_not_stay():
    assert "QUILLON" not in (stand_in_phone(DRAW, "1-800-QUILLON", "330") or "")
    assert re.fullmatch(r"tel\. 330-555-01\d\d", stand_in_phone(DRAW, "tel. 617-922-1234", "330") or "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(617) 922-1234", r"\(330\) 555-01\d\d"),
        ("617.922.1234", r"330\.555\.01\d\d"),
        ("+1 617 922 1234", r"\+1 330 555 01\d\d"),
        ("1-800-922-1234 ext. 4421", r"1-330-555-01\d\d ext\. [1-9]\d{3}"),
        ("617-922-1234 x12", r"330-555-01\d\d x[1-9]\d"),
        ("922-1234", r"555-01\d\d"),
        ("x5-1234", r"x[1-9]-\d{4}"),
        ("p12345", r"p[1-9]\d{4}"),
        ("+44 7911 123456", r"\+44 7700 900\d{3}"),
        ("+39 02 1234567", r"\+39 \d\d \d{7}"),
    ],
)
def test_a_telephone_number_keeps_its_writing_and_rings_nowhere(text: str, expected: str):
    made = stand_in_phone(DRAW, text, "330") or ""
    assert re.fullmatch(expected, made)
    assert made != text


def test_one_telephone_number_has_one_stand_in_and_never_its_own():
    assert (stand_in_phone(DRAW, "617-922-1234", "330") or "")[-4:] == (stand_in_phone(DRAW, "922 1234", "330") or "")[
        -4:
    ]
    for last in range(100, 200):
        assert stand_in_phone(DRAW, f"330-555-0{last}", "330") != f"330-555-0{last}"


def test_no_number_of_the_patients_own_is_drawn():
    made = stand_in_number(DRAW, "718822") or ""
    assert stand_in_number(DRAW, "718822", avoid={made}) != made
    line = (stand_in_phone(DRAW, "922-1234", "330") or "")[-4:]
    assert not (stand_in_phone(DRAW, "922-1234", "330", avoid={line}) or "").endswith(line)
    assert stand_in_phone(DRAW, "922-1234", "330", avoid={f"01{n:02}" for n in range(100)}) is None


def test_networks_and_domains_are_those_kept_for_documentation():
    assert re.fullmatch(
        r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+:8080", stand_in_address(DRAW, "10.1.2.3:8080") or ""
    )
    assert (stand_in_address(DRAW, "fe80::1") or "").startswith("2001:db8::")
    assert stand_in_address(DRAW, "somewhere") is None
    url = stand_in_url(DRAW, "https://www.quillon-clinic.com/pt/mary-holt?id=12") or ""
    assert re.fullmatch(r"https://www\.example\.(org|com|net)/[a-z]{2}/[a-z]{4}-[a-z]{4}\?[a-z]{2}=\d\d", url)
    assert stand_in_url(DRAW, "example.org") != "example.org"


def test_another_secret_gives_other_numbers():
    numbers = [f"{n:08}" for n in range(10_000_000, 10_000_200)]
    assert sum(stand_in_number(DRAW, n) == stand_in_number(OTHER, n) for n in numbers) <= 1
