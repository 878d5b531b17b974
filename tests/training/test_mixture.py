"""The notes that models are trained on, and their windows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import Mixture, _varied, labelled, screened

LINE = "The abdomen was soft and the patient went home on the same day in good condition, walking well. "


def test_lines_on_which_something_is_found_are_left_out():
    kept = [LINE * 3, LINE]
    left = ["Seen on 3/14/2019.", "Call 617-555-0123.", "Referred by Dr. X.", "Mr. ____ agreed.", "Dictated at XYZ."]
    (note,) = screened([Note("1", "\n".join([kept[0], *left, kept[1]]))])
    assert note.text == "\n".join(kept).strip()


def test_a_note_of_which_little_is_left_is_none():
    assert list(screened([Note("1", f"{LINE}\nSeen on 3/14/2019.")])) == []


@pytest.fixture(scope="module")
def of_hospital() -> list[Labelled]:
    return list(labelled(Mixture(corpora=(), hospital=60, noisy=0.5, lower=0.2, upper=0.1), None))


def test_the_hospital_serves_without_any_published_corpus(of_hospital):
    assert {note.corpus for note in of_hospital} == {"hospital"}
    assert sum(len(note.spans) for note in of_hospital) > 500
    for note in of_hospital:
        assert all(0 <= span.start < span.end <= len(note.text) for span in note.spans)


def test_some_notes_are_in_one_case_and_some_are_noisy(of_hospital):
    assert any(note.text.islower() for note in of_hospital)
    assert any(note.text.isupper() for note in of_hospital)
    keys = [note.key for note in of_hospital]
    assert len(keys) > len(set(keys))


def test_case_keeps_every_character_in_its_place():
    text = "Straße İ ŉ ﬁn Okonkwo"
    one = Labelled("1", "c", "l", text, (Span(len(text) - 7, len(text), Label.PATIENT),))
    for number in range(50):
        for note in _varied(replace(one, key=str(number)), Mixture(noisy=0, lower=0.5, upper=0.5)):
            assert len(note.text) == len(text)
            assert note.text[-7:].lower() == "okonkwo"


def test_the_same_seed_gives_the_same_notes():
    mixture = Mixture(corpora=(), hospital=20)
    assert list(labelled(mixture, None)) == list(labelled(mixture, None))
    assert list(labelled(mixture, None)) != list(labelled(replace(mixture, seed=12), None))


def test_more_notes_are_more_of_each_corpus():
    few = Mixture(corpora=(("mtsamples", 4),), hospital=20)
    assert few.more(3).corpora == (("mtsamples", 12),)
    few, more = (list(labelled(replace(it, corpora=()), None)) for it in (few, few.more(3)))
    assert len({note.key for note in more}) > 2 * len({note.key for note in few})
