"""The word lists behind the patterns: what is on them, and what is on none."""

from __future__ import annotations

import pytest

from deid_platform.detection.rules.it.words import is_italian_word
from deid_platform.detection.rules.names.eponyms import is_eponym_s_name
from deid_platform.lexicon.classes import word_class
from deid_platform.lexicon.lists import word_list

UNKNOWN = ("Ottavine", "Swindrel", "Doveka", "Vollmir", "Marlune", "Besfatta", "Katrune", "Osagwe", "Iurune")


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_list_knows_the_invented_names_of_the_cases(name: str) -> None:
    assert not word_class(name)


def test_no_relative_is_a_service() -> None:
    assert not {term for term in word_list("kin.weak") if " " in term} & word_list("services")


def test_services_are_single_words() -> None:
    assert not [term for term in word_list("services") if " " in term]


def test_no_state_and_no_role_of_a_care_team_is_a_profession() -> None:
    states = {"retired", "unemployed", "disabled", "student", "homemaker", "casalinga", "pensionato"}
    roles = {"nurse", "physician", "surgeon", "therapist", "pharmacist", "paramedic", "medico", "infermiere", "aide"}
    assert not word_list("professions") & (states | roles)


@pytest.mark.parametrize("name", ["Babinski", "Kocher", "Valsalva", "Lasix", "Coumadin", "Xarelto"])
def test_the_lists_of_names_hold_no_word_that_is_only_clinical(name: str) -> None:
    folded = name.lower()
    assert folded not in word_list("lone_given_names") | word_list("surnames")


def test_a_name_that_counts_alone_is_a_listed_given_name_and_no_common_word() -> None:
    alone = word_list("lone_given_names")
    assert alone <= word_list("given_names")
    assert not alone & (word_list("clinical_words") | word_list("cities") | word_list("title_stopwords"))


def test_the_things_of_an_eponym_are_listed_with_its_names() -> None:
    persons = word_list("eponym_persons")
    things = {term for term in persons if is_eponym_s_name(term.rsplit(" ", 1)[0])}
    assert "robert jones bandage" in things
    assert "robert jones" in persons - things
    assert all(len(term.split()) in (2, 3) for term in persons - things)


def test_a_substance_is_nobody_s_name() -> None:
    names = word_list("given_names") | word_list("surnames")
    assert not word_list("substances") & names


def test_the_nouns_of_eponyms_stand_in_one_list_each() -> None:
    nouns, things, conditions = (word_list(f"eponym_{name}") for name in ("nouns", "things", "conditions"))
    assert not nouns & things
    assert not nouns & conditions
    assert not things & conditions


@pytest.mark.parametrize("name", ["Costa", "Testa", "Grasso", "Gamba", "Leone", "Rosa", "Norma", "Marina"])
def test_the_list_of_italian_words_holds_no_common_surname_or_given_name(name: str) -> None:
    assert name.lower() not in word_list("italian_words")


@pytest.mark.parametrize(
    "word", ["mesotelioma", "ecocardiografia", "successivamente", "ipertrofia", "marzo", "diagnosi"]
)
def test_italian_words_of_medicine_are_known_by_list_or_ending(word: str) -> None:
    assert is_italian_word(word)


@pytest.mark.parametrize("name", ["margherita", "ambrosi", "liguria", "benedetta", "bellomunno"])
def test_no_name_is_taken_for_an_italian_word_by_its_ending(name: str) -> None:
    assert not is_italian_word(name)
