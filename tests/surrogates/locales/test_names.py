"""Names of the locales: whose, of which share, and how many detection has never seen."""

from itertools import combinations

import pytest

from deid_platform.lexicon.lists import word_list
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import LOCALES, THIN, catalogue, is_listed, locale
from deid_platform.surrogates.locales.name_pools import in_share, names_of, own_words
from deid_platform.surrogates.pools import Share, share_of
from deid_platform.text.fold import fold_term

THIN_ONES = {("zh", "surnames"): 400}
"""Parts of names with fewer than a thousand values, and how many they have at least: pinyin has few syllables."""
PAIRS = tuple(combinations(Share, 2))


def parts(person) -> tuple[str, ...]:
    return tuple(part for part in (person.first, person.middle, person.last, person.nickname) if part)


@pytest.fixture(scope="module")
def drawn() -> dict[tuple[str, Share], list]:
    return {
        (name, share): [locale(name).person(Dice("names", name, share, i), None, share) for i in range(600)]
        for name in LOCALES
        for share in Share
    }


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_name_of_a_pool_is_of_two_shares_whatever_its_locale(one: Share, other: Share):
    seen = [{fold_term(n) for name in LOCALES for pool in pools(name, share) for n in pool} for share in (one, other)]
    assert len(seen[0]) > 10_000
    assert not seen[0] & seen[1]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_no_name_nor_word_of_a_name_that_is_drawn_for_one_share_is_drawn_for_another(one: Share, other: Share, drawn):
    def written(share: Share) -> set[str]:
        names = [part for name in LOCALES for person in drawn[name, share] for part in parts(person)]
        return {fold_term(name) for name in names} | {fold_term(w) for name in names for w in own_words(name)}

    assert not written(one) & written(other)


@pytest.mark.parametrize("share", Share)
@pytest.mark.parametrize("name", LOCALES)
def test_every_name_of_a_pool_is_where_its_hash_and_the_lists_say(name: str, share: Share):
    names = names_of(name, share)
    for pool in (names.given["F"], names.given["M"], names.surnames):
        assert all(in_share(written, share) for written in everything(pool))
        assert all(map(is_listed, pool.listed)) and not any(map(is_listed, pool.unlisted))


@pytest.mark.parametrize("name", ["De Luca", "Al-Hashimi", "El Hashimi", "O'Brien", "Marie-Claude"])
def test_a_name_is_of_a_share_only_if_its_words_are(name: str):
    shares = [share for share in Share if in_share(name, share)]
    words = {share_of(word) for word in own_words(name)}
    assert len(shares) <= 1
    assert not shares or words == set(shares)


@pytest.mark.parametrize("name", LOCALES)
def test_at_least_half_of_the_people_of_a_test_set_have_names_on_no_list(name: str):
    people = [locale(name).person(Dice("unlisted", name, i), None, Share.HELD_OUT) for i in range(2000)]
    names = [part for person in people for part in (person.first, person.last)]
    assert sum(not is_listed(part) for part in names) >= 0.5 * len(names)


@pytest.mark.parametrize("name", LOCALES)
@pytest.mark.parametrize("sex", ["F", "M"])
def test_names_can_be_asked_for_that_stand_on_a_list_or_on_none(name: str, sex: str):
    for i in range(60):
        known = locale(name).person(Dice("known", i), sex, Share.TRAINING, listed=True)
        unknown = locale(name).person(Dice("unknown", i), sex, Share.TRAINING, listed=False)
        assert is_listed(known.first) and is_listed(known.last)
        assert not is_listed(unknown.first) and not is_listed(unknown.last)
        assert known.sex == unknown.sex == sex


@pytest.mark.parametrize("name", LOCALES)
def test_the_share_of_unlisted_names_follows_what_is_asked(name: str):
    def share(unlisted: float) -> float:
        people = [
            locale(name).person(Dice(i), "M", Share.TRAINING, unlisted=unlisted, surname="Doe") for i in range(300)
        ]
        return sum(not is_listed(person.first) for person in people) / len(people)

    assert share(0.0) == 0.0
    assert share(1.0) == 1.0
    assert 0.3 < share(0.5) < 0.7


def test_listed_means_listed_by_detection():
    assert is_listed("Maria") and is_listed("GARCÍA") and is_listed("Maria Teresa") and is_listed("Al-Hassan")
    assert not is_listed("Zyxwvut")
    assert "garcia" in word_list("surnames")


@pytest.mark.parametrize("name", LOCALES)
@pytest.mark.parametrize("sex", ["F", "M"])
def test_given_names_follow_the_sex(name: str, sex: str):
    own = set(everything(names_of(name, Share.TRAINING).given[sex]))
    for i in range(80):
        person = locale(name).person(Dice("sex", i), sex, Share.TRAINING)
        assert person.sex == sex
        assert person.first in own or set(person.first.split(" ")) <= own


@pytest.mark.parametrize(
    ("name", "women", "men"),
    [
        ("en_US", ("Elizabeth", "Ashley"), ("William", "Justin")),
        ("en_GB", ("Angharad", "Niamh"), ("Llewelyn", "Hamish")),
        ("es_ES", ("Fuensanta", "Aránzazu"), ("Hermenegildo", "Baldomero")),
        ("it_IT", ("Mariagrazia", "Ermenegilda"), ("Pierluigi", "Calogero")),
        ("fr_FR", ("Marie-Claude", "Radegonde"), ("Jean-Pierre", "Enguerrand")),
        ("zh", ("Meiling", "Xiaohua"), ("Jianguo", "Zhiqiang")),
        ("hi", ("Shakuntala", "Phoolmati"), ("Ramcharan", "Jitendra")),
        ("bn", ("Kamrunnahar", "Rokeya"), ("Mostafizur", "Ashraful")),
        ("ar", ("Buthaina", "Ruqayya"), ("Abdulrahman", "Muhannad")),
    ],
)
def test_a_locale_holds_the_names_of_its_country_by_sex(name: str, women: tuple[str, ...], men: tuple[str, ...]):
    given = {sex: set(everything(names_of(name, None).given[sex])) for sex in "FM"}
    assert set(women) <= given["F"]
    assert set(men) <= given["M"]
    assert not set(women) & given["M"] - {"Xiaohua", "Meiling"}
    assert not set(men) & given["F"]


def test_names_are_put_together_as_people_of_the_country_do():
    spaniards = [locale("es_ES").person(Dice(i), None, Share.TRAINING) for i in range(200)]
    assert 0.6 < sum(" " in person.last for person in spaniards) / 200 < 0.98
    assert any(" " in person.first for person in spaniards)
    arabs = [locale("ar").person(Dice(i), "F", Share.TRAINING) for i in range(200)]
    fathers = set(everything(names_of("ar", Share.TRAINING).given["M"]))
    assert {person.middle for person in arabs if person.middle} <= fathers
    assert any(person.last.startswith("Al-") for person in arabs)
    assert any(person.middle for person in (locale("en_US").person(Dice(i), None, Share.TRAINING) for i in range(20)))
    assert not any(person.middle for person in (locale("zh").person(Dice(i), None, Share.TRAINING) for i in range(50)))


def test_relatives_can_share_a_surname():
    assert locale("fr_FR").person(Dice(1), "F", Share.TRAINING, surname="Dupuis-Test").last == "Dupuis-Test"


def test_some_people_are_called_by_a_nickname_of_their_own():
    people = [locale("en_US").person(Dice(i), None, Share.TRAINING, unlisted=0.0) for i in range(400)]
    assert any(person.nickname for person in people)
    assert all(in_share(person.nickname, Share.TRAINING) for person in people if person.nickname)


@pytest.mark.parametrize(
    "row", [row for row in catalogue() if row.unlisted is not None], ids=lambda r: f"{r[0]}-{r[1]}"
)
def test_no_part_of_a_name_is_thin_but_those_that_are_known_to_be(row):
    least = THIN_ONES.get((row.locale, row.kind))
    assert row.thin == (least is not None)
    assert row.values >= (least or THIN)
    assert row.unlisted >= 120


@pytest.mark.parametrize("name", LOCALES)
def test_names_are_written_as_names(name: str):
    names = names_of(name, None)
    for pool in (names.given["F"], names.given["M"], names.surnames):
        for written in everything(pool):
            assert written == written.strip() and "  " not in written
            assert written[0].isupper() or written[:2] in ("d'", "de"), written
            assert all(c.isalpha() or c in " '’-·." for c in written), written
            assert 2 <= len(written) <= 30


def pools(name: str, share: Share):
    names = names_of(name, share)
    return [everything(pool) for pool in (names.given["F"], names.given["M"], names.surnames)] + [
        [short for shorts in names.called.values() for short in shorts]
    ]


def everything(pool) -> tuple[str, ...]:
    return (*pool.listed, *pool.unlisted)
