"""Texts without any identifier, from which a model learns what to leave alone."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.labels import Label
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Note
from deid_platform.text.fold import fold_term
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import Mixture, labelled
from deid_platform.training.negatives import LANGUAGES, PATTERNS, negatives, pools
from deid_platform.training.plan import _BESIDE_GOLD

WORD = re.compile(r"[^\W\d_]+")


@pytest.fixture(scope="module")
def texts() -> list[Labelled]:
    return list(negatives(400, 3))


def test_no_text_has_an_identifier(texts):
    assert all(one.spans == () and one.corpus == "negatives" for one in texts)


def test_texts_are_as_long_as_parts_of_notes(texts):
    lengths = [len(one.text.split()) for one in texts]
    assert min(lengths) >= 50
    assert max(lengths) <= 300
    assert len({one.key for one in texts}) == len(texts)


def test_every_language_and_every_case_occurs(texts):
    assert {one.key[:2] for one in texts} == set(LANGUAGES)
    assert any(one.text.isupper() for one in texts)
    assert any(one.text.islower() for one in texts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_many_patterns_each_once(language):
    patterns = [pattern for kind in PATTERNS for pattern in pools(language)[kind]]
    assert len(patterns) >= 60
    assert len(set(patterns)) == len(patterns)


def test_the_same_seed_gives_the_same_texts(texts):
    assert list(islice(negatives(5, 3), 5)) == texts[:5]
    assert [one.text for one in negatives(5, 4)] != [one.text for one in texts[:5]]


def test_nothing_of_a_pattern_is_left(texts):
    assert not [one.key for one in texts if re.search(r"[{}]|\|\| |\\n", one.text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_pattern_names_anybody(language):
    """Given names that count alone are written in no pattern, but for words that read like them."""
    words = {
        "will",
        "may",
        "mark",
        "grace",
        "hope",
        "ava",
        "donna",
        "marie",
        "gabe",
    }  # AVA, Donna 61 aa, Marié, Gabe von
    written = " ".join(pattern for patterns in pools(language).values() for pattern in patterns)
    plain = re.sub(r"\{@\w+\}", " ", written)
    named = {fold_term(word) for word in WORD.findall(plain) if word[0].isupper()} & word_list("lone_given_names")
    assert named <= words


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_pattern_says_when_or_where(language):
    """Neither a month nor a day of one, nor the number of a room, a bed or a ward."""
    written = "\n".join(pattern for patterns in pools(language).values() for pattern in patterns)
    months = "january february march april june july august september october november december enero febrero marzo"
    months += " abril mayo junio julio agosto gennaio febbraio aprile maggio giugno luglio janvier février mars avril"
    assert not set(months.split()) & {word.lower() for word in WORD.findall(written)} - {"mars"}
    assert not re.search(
        r"(?i)\b(?:room|rm|bed|bay|ward|box|cama|letto|stanza|chambre|lit|zimmer|bett) \{?[n\d]", written
    )
    assert not re.search(r"\{[nz]:\d+-\d+\}[./]\{[nz]:\d+-\d+\}[./]\{[nz]:(?:19|20)", written)


def test_rules_find_no_contact_and_no_number_of_a_person(texts):
    spec = DetectorSpec("rules").build()
    kinds = {Label.EMAIL, Label.SSN, Label.MEDICALRECORD, Label.ZIP, Label.URL, Label.IPADDR}
    notes = [Note(one.key, one.text) for one in texts[:120]]
    wrong = [
        note.note_id for note, spans in zip(notes, spec.detect(notes), strict=True) if {s.label for s in spans} & kinds
    ]
    assert wrong == []


def test_a_mixture_has_them_and_the_notes_for_thresholds_have_none():
    mixture = Mixture(corpora=(), hospital=0, negatives=4)
    assert [one.corpus for one in labelled(mixture, None)] == ["negatives"] * 4
    assert list(labelled(mixture.tuning, None)) == []
    assert Mixture().with_library.negatives > 1000
    assert _BESIDE_GOLD.negatives == 0
