"""Addresses and institutions: parts that agree, kinds that stay, the same names again."""

import re

import pytest

from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.names import Deck
from deid_platform.surrogates.numbers import keyed_draw
from deid_platform.surrogates.places import stand_in_street, stand_in_zip, street_words, us_places
from tests.surrogates.surrogate_scene import OTHER, TOPICS, replaced

BY_CITY = {(place.city, place.state): place for place in us_places()}


def test_city_state_zip_and_area_code_of_a_line_belong_together():
    city, state, code, phone = replaced("{CITY|Akron}, {STATE|OH} {ZIP|44308-1182}. Tel {PHONE|(330) 922-1188}")
    place = BY_CITY[city, state]
    assert re.fullmatch(place.zip3 + r"\d\d-[1-9]\d{3}", code)
    assert re.match(r"\(\d{3}\) 555-01", phone)
    assert place.state in {other.state for other in us_places() if other.area == phone[1:4]}
    assert (city, state) != ("Akron", "OH")


def test_a_place_is_the_same_again_whole_or_in_parts():
    line = replaced("{CITY|Akron}, {STATE|OH} {ZIP|44308}")
    assert replaced("from {CITY|Akron}; {STATE|OH}; {ZIP|44308}") == line
    (name,) = replaced("{STATE|Ohio}")
    assert len(name) > 2
    assert replaced("{CITY|AKRON}") == [line[0].upper()]


def test_nobody_elses_city_becomes_the_patients_own():
    cities = [place.city for place in us_places()]
    assert "Akron" not in replaced(" ".join(f"{{CITY|{city}}}" for city in cities))


def test_nobody_elses_street_or_zip_becomes_the_patients_own():
    deck, draw = Deck(b"k" * 32), keyed_draw(b"k" * 32)
    street, place = stand_in_street(deck, draw, "18 Teasel Row") or "", BY_CITY["Akron", "OH"]
    other = stand_in_street(deck, draw, "18 Teasel Row", set(street_words(street))) or ""
    assert set(street_words(other)).isdisjoint(street_words(street))
    code = stand_in_zip(draw, "10451", place, "en") or ""
    assert stand_in_zip(draw, "10451", place, "en", {code}) not in (code, "10451")


def test_two_states_are_never_one_and_none_stays():
    states = ["OH", "TX", "CA", "NY", "FL", "ME", "UT"]
    made = replaced(" and ".join(f"{{STATE|{s}}}" for s in states))
    assert len(set(made)) == len(states)
    assert not any(a == b for a, b in zip(states, made, strict=True))


def test_every_listed_place_is_in_the_listed_states_and_large_enough_for_its_zip_digits():
    from deid_platform.redaction.zips import zip3

    for place in us_places():
        assert zip3(place.zip3 + "01") == place.zip3, "an area that the dated list restricts"
        assert re.fullmatch(r"[2-9]\d\d", place.area)


@pytest.mark.parametrize(
    ("street", "expected"),
    [
        ("18 Teasel Row", r"[1-9]\d [A-Z][a-z]+ Row"),
        ("1234 N. Main St., Apt. 4B", r"[1-9]\d{3} N\. [A-Z][a-z]+ St\., Apt\. [1-9]B"),
        ("P.O. Box 123", r"P\.O\. Box [1-9]\d\d"),
        ("350 W 42nd St", r"[1-9]\d\d W \d\d(st|nd|rd|th) St"),
        ("123 MARTIN LUTHER KING BLVD", r"[1-9]\d\d [A-Z]+ BLVD"),
        ("12 rue de Rivoli", r"[1-9]\d rue de \p{L}+"),
        ("Via G. Verdi 3", r"Via \p{L}+ [1-9]"),
        ("Goethestraße 5", r"\p{L}+straße [1-9]"),
    ],
)
def test_a_street_keeps_its_kind_and_the_length_of_its_number(street: str, expected: str):
    import regex

    (made,) = replaced(f"{{STREET|{street}}}")
    assert regex.fullmatch(expected, made)
    assert made != street


def test_a_street_is_the_same_with_and_without_its_flat():
    plain, with_flat = replaced("{STREET|18 Teasel Row} {STREET|18 Teasel Row, Apt 4}")
    assert with_flat.startswith(plain)


@pytest.mark.parametrize(("city", "language"), [("Bologna", "it"), ("Leeds", "en"), ("Sevilla", "es"), ("Köln", "de")])
def test_a_city_abroad_becomes_another_one_of_its_country(city: str, language: str):
    (made,) = replaced(f"{{CITY|{city}}}", language=language)
    assert made != city
    assert made not in {place.city for place in us_places()} or made in {"Lincoln", "Toledo", "Worcester", "Salem"}


def test_a_foreign_postcode_keeps_its_shape():
    (made,) = replaced("{ZIP|SW1A 1AA}")
    assert re.fullmatch(r"[A-Z]{2}\d[A-Z] \d[A-Z]{2}", made)


def test_an_institution_keeps_what_it_is_and_its_abbreviation_follows_its_name():
    name, short, capitals, part = replaced(
        "{HOSPITAL|Larkmoor General Hospital} {HOSPITAL|LGH} {HOSPITAL|LARKMOOR GENERAL} {HOSPITAL|Larkmoor}"
    )
    word = name.removesuffix(" General Hospital")
    assert word != "Larkmoor"
    assert (short, capitals, part) == (f"{word[0]}GH", f"{word} GENERAL".upper(), word)
    assert replaced("{HOSPITAL|LGH}", patient_id="p2", note_id="n7") == [short]


def test_an_institution_that_the_topics_do_not_know_is_one_in_all_notes():
    here, short = replaced("{HOSPITAL|Quillon Valley Medical Center} ({HOSPITAL|QVMC})")
    assert replaced("{HOSPITAL|Quillon Valley}", patient_id="p2") == [here.removesuffix(" Medical Center")]
    assert short == "".join(word[0] for word in here.split())


def test_two_institutions_of_one_name_share_their_word():
    hospital, branch = replaced("{HOSPITAL|Quillon Community Hospital} {HOSPITAL|Quillon Family Medicine Teasel}")
    assert hospital.split()[0] == branch.split()[0]
    assert branch.split()[1:3] == ["Family", "Medicine"]


def test_a_name_that_says_only_what_an_institution_is_becomes_a_tag():
    assert replaced("{HOSPITAL|Medical Center} {HOSPITAL|the hospital}") == [None, None]


def test_firms_and_schools_keep_their_kind():
    freight, school = replaced("{ORGANIZATION|Quillon Freight} {ORGANIZATION|Teasel High School}")
    assert freight.endswith(" Freight")
    assert school.endswith(" High School")
    assert "Quillon" not in freight


def test_countries_professions_ages_and_other_places_become_tags():
    assert replaced("{COUNTRY|France} {PROFESSION|glazier} {LOCATION-OTHER|Teasel Bridge} {AGE|93}") == [None] * 4


def test_an_e_mail_address_carries_the_surrogates_of_the_family_and_a_domain_for_examples():
    full, mail, other = replaced("{PATIENT|John Smith} {EMAIL|john.smith7@quillon.com} {EMAIL|qv77@quillon.com}")
    given, surname = full.lower().split()
    assert re.fullmatch(rf"{given}\.{surname}[1-9]@example\.(org|com|net)", mail)
    assert re.fullmatch(r"[a-z]{2}[1-9]\d@example\.(org|com|net)", other)


def test_dates_move_with_the_patient_and_holidays_become_tags():
    first, second, holiday = replaced("{DATE|April 2, 2019} {DATE|April 9, 2019} {DATE|Christmas Eve}")
    assert first != "April 2, 2019"
    assert second != first
    assert holiday is None


def test_another_secret_moves_everybody_elsewhere():
    source = "{CITY|Akron}, {STATE|OH}; {STREET|18 Teasel Row}; {HOSPITAL|Larkmoor}; {USERNAME|imarch02}"
    assert not set(replaced(source)) & set(replaced(source, surrogates=Surrogates(OTHER, TOPICS)))
