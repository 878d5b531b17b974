"""One contract for all locales: what each can draw, and that it belongs together."""

import time
from datetime import date

import pytest
import regex

from deid_platform.errors import Code, DeidError
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import INSTITUTIONS, LOCALES, catalogue, locale
from deid_platform.surrogates.locales.institutions import abbreviation
from deid_platform.surrogates.locales.places import towns
from deid_platform.surrogates.pools import Share

EVERY = pytest.mark.parametrize("name", LOCALES)
BORN = date(1961, 11, 30)
POSTCODES = {
    "en_US": r"\d{5}",
    "en_GB": r"[A-Z]{1,2}\d{1,2} \d[A-Z]{2}",
    "en_AU": r"\d{4}",
    "en_CA": r"[A-Z]\d[A-Z] \d[A-Z]\d",
    "es_ES": r"\d{5}",
    "it_IT": r"\d{5}",
    "fr_FR": r"\d{5}",
    "zh": r"\d{6}",
    "hi": r"[1-9]\d{5}",
    "bn": r"\d{4}",
    "ar": r"\d{5}",
}


def everything(name: str, seed: int, share: Share = Share.HELD_OUT) -> dict[str, str]:
    """All that a locale draws, by what it is."""
    dice, here = Dice("all", name, seed), locale(name)
    person, place = here.person(dice, None, share), here.address(dice, share)
    hospital, short = here.hospital(dice, place, share)
    found = {"first": person.first, "last": person.last, "sex": person.sex, "hospital": hospital, "short": short}
    found |= {"street": place.street, "city": place.city, "postcode": place.postcode, "country": place.country}
    found |= {"phone": here.phone(dice, place), "mobile": here.mobile(dice), "area": place.area}
    found |= {"id": here.national_id(dice, person, BORN), "email": here.email(dice, person)}
    found |= {"user": here.user_name(dice, person), "url": here.url(dice, hospital), "town": here.town(dice, share)}
    found |= {what: getattr(here, what)(dice) for what in ("health_plan", "mrn", "license", "plate", "account")}
    found |= {what: getattr(here, what)(dice, place, share) for what in INSTITUTIONS if what != "hospital"}
    return found | {"profession": here.profession(dice)}


@EVERY
def test_every_type_has_a_value(name: str):
    for seed in range(60):
        drawn = everything(name, seed)
        assert all(drawn.values()), [what for what, value in drawn.items() if not value]
        assert not any(c in value for what, value in drawn.items() for c in "{}")
        assert not any("  " in value or value != value.strip() for value in drawn.values())


@EVERY
def test_the_same_dice_draw_the_same_and_others_something_else(name: str):
    assert [everything(name, seed) for seed in range(20)] == [everything(name, seed) for seed in range(20)]
    assert len({tuple(everything(name, seed).values()) for seed in range(200)}) == 200


@EVERY
def test_postcode_state_and_area_are_those_of_the_city(name: str):
    rows = {}
    for town in towns(name):
        rows.setdefault((town.city, town.state), []).append(town)
    for i in range(300):
        place = locale(name).address(Dice("place", i))
        assert regex.fullmatch(POSTCODES[name], place.postcode)
        assert any(
            place.area == town.area and any(matches(place.postcode, stem) for stem in town.postcodes)
            for town in rows[place.city, place.state]
        )


def matches(postcode: str, stem: str) -> bool:
    return regex.match(stem.replace("#", r"\d"), postcode) is not None


@pytest.mark.parametrize(
    ("name", "city", "state", "postcode", "area"),
    [
        ("en_GB", "Leeds", "West Yorkshire", "LS", "0113"),
        ("en_AU", "Hobart", "TAS", "7000", "03"),
        ("en_CA", "Calgary", "AB", "T", "403"),
        ("es_ES", "Sevilla", "Sevilla", "41", "954"),
        ("it_IT", "Bologna", "BO", "40", "051"),
        ("fr_FR", "Lyon", "", "690", "04"),
        ("zh", "Xi'an", "Shaanxi", "7100", "029"),
        ("hi", "Jaipur", "Rajasthan", "3020", "0141"),
        ("bn", "Sylhet", "Sylhet", "3100", "0821"),
        ("ar", "Abha", "Asir Province", "62", "017"),
    ],
)
def test_towns_are_where_they_are(name: str, city: str, state: str, postcode: str, area: str):
    town = next(town for town in towns(name) if town.city == city)
    assert (town.state, town.area) == (state, area)
    assert all(stem.startswith(postcode) for stem in town.postcodes)


def test_italian_towns_have_the_postcodes_and_provinces_that_faker_lists():
    from faker.providers.address.it_IT import Provider

    known = {cap: {city.casefold() for city, _ in cities} for cap, cities in Provider.cap_city_province.items()}
    rows = towns("it_IT")
    assert len(rows) > 2500
    right = sum(any(town.city.casefold() in known.get(cap, ()) for cap in town.postcodes) for town in rows)
    assert right > 0.95 * len(rows)


@EVERY
@pytest.mark.parametrize("what", ["city", *INSTITUTIONS])
def test_what_institutions_and_towns_are_called_is_split_by_share_too(name: str, what: str):
    counts = [locale(name).counts(share) for share in Share]
    whole = locale(name).counts()
    if what == "city":
        drawn = [{everything(name, seed, share)["city"] for seed in range(80)} for share in Share]
        assert not drawn[0] & drawn[1] and not drawn[1] & drawn[2] and not drawn[0] & drawn[2]
        assert sum(c["cities"] for c in counts) == whole["cities"]
    else:
        assert max(c[what] for c in counts) < whole[what]


@EVERY
@pytest.mark.parametrize("what", ["hospital", "school", "insurer"])
def test_no_institution_of_a_test_set_stands_in_training(name: str, what: str):
    def drawn(share: Share) -> set[object]:
        return {getattr(locale(name), what)(Dice(what, i), None, share) for i in range(300)}

    assert not drawn(Share.TRAINING) & drawn(Share.HELD_OUT)


@EVERY
def test_a_hospital_has_the_abbreviation_of_its_name(name: str):
    for i in range(60):
        hospital, short = locale(name).hospital(Dice(i))
        assert short == abbreviation(hospital)
        assert 1 < len(short) < 14


@pytest.mark.parametrize(
    ("hospital", "short"),
    [
        ("Alderbrook Memorial Hospital", "AMH"),
        ("Hospital General Universitario San Telmo", "HGUST"),
        ("Clínica Nuestra Señora de la Luz", "CNSL"),
        ("CHU Saint-Brice", "CHU SB"),
        ("St Hilda's Hospital", "SHH"),
    ],
)
def test_initials(hospital: str, short: str):
    assert abbreviation(hospital) == short


@EVERY
def test_addresses_of_the_network_lie_under_domains_kept_for_examples(name: str):
    for seed in range(60):
        drawn = everything(name, seed)
        assert regex.fullmatch(r"[a-z0-9._]+@example\.(org|com|net)", drawn["email"])
        assert regex.fullmatch(r"(https?://)?(www\.)?[a-z0-9]+\.example\.(org|com|net)(/|/info)?", drawn["url"])
        assert regex.fullmatch(r"[a-z0-9.]{3,}", drawn["user"])


@pytest.mark.parametrize("language", ["en", "es", "it", "fr"])
def test_professions_are_of_the_language_that_is_asked(language: str):
    drawn = {locale("zh").profession(Dice(i), language) for i in range(300)}
    assert len(drawn) > 80
    assert {"en": "baker", "es": "fontanero", "it": "idraulico", "fr": "plombier"}[language] in drawn
    assert all(trade[0].islower() for trade in drawn)


def test_a_language_without_a_list_of_professions_has_the_english_one():
    assert locale("fr_FR").profession(Dice(1), "de") == locale("en_US").profession(Dice(1), "en")


def test_an_unknown_locale_is_refused_with_the_nearest_one():
    with pytest.raises(DeidError) as refused:
        locale("en_UK")
    assert refused.value.code is Code.LOCALE_UNKNOWN
    assert "did you mean en_U" in str(refused.value) or "did you mean en_" in str(refused.value)


def test_nothing_of_a_person_shows_in_a_repr():
    person, place = locale("it_IT").person(Dice(1), None, Share.TRAINING), locale("it_IT").address(Dice(1))
    shown = repr((person, place, locale("it_IT"), locale("it_IT")._words))
    assert person.last not in shown and place.street not in shown


def test_the_catalogue_has_a_row_for_every_locale_and_type():
    rows = catalogue()
    assert {row.locale for row in rows} == set(LOCALES)
    assert {row.kind for row in rows} >= {
        "given_F",
        "given_M",
        "surnames",
        "cities",
        "postcodes",
        "streets",
        "hospital",
    }
    assert all(row.values > 0 for row in rows)


@EVERY
def test_a_person_with_all_numbers_is_drawn_in_a_moment(name: str):
    here = locale(name)
    here.person(Dice(0), None, Share.TRAINING), here.address(Dice(0), Share.TRAINING)
    began = time.perf_counter()
    for i in range(300):
        dice = Dice("speed", i)
        person, place = here.person(dice, None, Share.TRAINING), here.address(dice, Share.TRAINING)
        _ = here.phone(dice, place), here.mobile(dice), here.national_id(dice, person, BORN), here.mrn(dice)
        _ = here.health_plan(dice), here.license(dice), here.plate(dice), here.account(dice)
    # 150 microseconds on an idle core; twenty times that here, so that a busy machine fails nothing.
    assert (time.perf_counter() - began) / 300 < 0.003
