"""Pools of names: many locales, both sexes, three shares that have no name in common."""

import pickle

import pytest

from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.pools import Share, cities, given_names, locales, share_of, surnames
from tests.surrogates.surrogate_scene import KEYRING, TOPICS, replaced


def test_at_least_ten_locales_have_names_of_both_sexes():
    assert len(locales()) >= 10
    assert locales()[0] == "en_US"
    for locale in locales():
        assert min(len(given_names(locale, "F")), len(given_names(locale, "M")), len(surnames(locale))) >= 15


@pytest.mark.parametrize("locale", ["en_US", "it_IT", "de_DE"])
def test_the_three_shares_have_no_name_in_common_and_together_are_the_whole_pool(locale: str):
    for pool in (surnames, lambda locale, share=None: given_names(locale, "F", share)):
        shares = [set(pool(locale, share)) for share in Share]
        assert set.union(*shares) == set(pool(locale))
        assert sum(map(len, shares)) == len(pool(locale))
        assert min(map(len, shares)) > len(pool(locale)) / 5


@pytest.mark.parametrize("other", ["GARCIA", "García", " garcia ", "garcia"])
def test_the_share_of_a_name_is_the_same_however_it_is_written(other: str):
    assert share_of(other) is share_of("Garcia")


@pytest.mark.parametrize(("name", "share"), [("Smith", Share.TRAINING), ("Rossi", Share.HOSPITAL)])
def test_the_share_of_a_name_never_changes(name: str, share: Share):
    assert share_of(name) is share


def test_names_are_latin_words_with_capitals_each_once_and_sorted():
    for locale in locales():
        for names in (given_names(locale, None), surnames(locale)):
            assert list(names) == sorted(set(names))
            assert all(name[0].isupper() and not any(c.isdigit() or c == "." for c in name) for name in names)


@pytest.mark.parametrize(("sex", "same_as"), [("female", "F"), ("M", "male"), ("unknown", None), ("", None)])
def test_a_sex_is_read_as_topics_write_it(sex: str, same_as: str | None):
    assert given_names("en_US", sex) == given_names("en_US", same_as)


def test_countries_have_towns_where_they_are_listed():
    assert "Roma" in cities("IT")
    assert cities("XX") == ()


@pytest.mark.parametrize("share", Share)
def test_surrogates_can_be_drawn_from_one_share_alone(share: Share):
    surrogates = pickle.loads(pickle.dumps(Surrogates(KEYRING, TOPICS, share=share)))
    source = (
        "{PATIENT|John Michael Smith}, wife {PATIENT|Mary}, friend {PATIENT|Zora Quill}, {PATIENT|Johnny Smith}, "
        "{PATIENT|Jack}, {PATIENT|Giulia Ferrari}; "
        "{DOCTOR|Ann Zeller}, {DOCTOR|Dr. Marchetti}, {DOCTOR|Oskar Vantongeren}"
    )
    made = replaced(source, surrogates)
    drawn = [word for text in made for word in text.removeprefix("Dr. ").split()]
    assert len(drawn) == 16
    assert {share_of(word) for word in drawn} == {share}
