"""Where a note leaks, and that nobody hides a part of such a place, by the page or past it."""

from __future__ import annotations

import hashlib
from datetime import date
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.detection import DetectorSpec
from deid_platform.detection.resolve.cross_note import Mentioned
from deid_platform.detection.two_pass import Detection, FirstPass
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.decision import Action, Ruling
from deid_platform.refresh.redact.leak_places import leak_places
from deid_platform.refresh.redact.row import LEFT_IN_PART, Item, Redacting, RedactionJob
from deid_platform.refresh.redact.whole_words import whole_places, widened

KEYS = Keyring(hashlib.sha256(b"leak places").hexdigest().encode(), site="north")
PATIENTS = [
    Patient(
        "p1", first_name="Thandiwe", last_name="Quillfeather", street="12 Baker Street", city="Fresno", state="CA",
        zip="93701", birth_date=date(1950, 3, 4), phone="559-555-0142", mrn="00-417-902",
    ),
    Patient("p2", first_name="Umberto", last_name="Brown"),
]  # fmt: skip


def redacting(policy: str = "safe_harbor_plus_providers") -> Redacting:
    spec = DetectorSpec("rules", topics=Topics.of(PATIENTS))
    return RedactionJob(Recipe(spec, load_policy(policy), KEYS)).build()


@pytest.fixture(scope="module")
def task() -> Redacting:
    return redacting()


def at(text: str, words: str, label: Label = Label.STREET) -> Span:
    start = text.index(words)
    return Span(start, start + len(words), label)


def item(text: str, *, found=(), added=(), removed=(), patient="p1") -> Item:
    note = Note("1", text, patient_id=patient, note_date=date(2020, 3, 14))
    mend = Ruling("f", "f@1", "1", Action.MEND, "leak-street", "c", "d", tuple(added), tuple(removed))
    return Item(FirstPass(note, Detection(0, tuple(found)), Mentioned()), "letter", mended=mend)


def told(task: Redacting, text: str, *touched: str, **given) -> list[str]:
    """What spans reach over that touch these words."""
    places = tuple(task.leak_places(item(text, **given)))
    return [text[s.start : s.end] for s in widened(text, [at(text, words) for words in touched], places)]


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(1, 4)), max_size=6))
def test_every_least_stretch_that_leaks_is_found_also_where_they_share_words(stretches):
    text = "ab " * 12
    known = {(first * 3, min(first + length, 12) * 3 - 1) for first, length in stretches}

    def reason_of(hidden):
        whole = (not any(s.start < end and start < s.end for s in hidden) for start, end in known)
        return "leak-street" if any(whole) else None

    least = {it for it in known if not any(it != other and it[0] <= other[0] and other[1] <= it[1] for other in known)}
    found = list(leak_places(text, (), load_policy("safe_harbor"), reason_of))
    assert found == sorted(least, reverse=True)


STREET = "Lives at 12 Baker Street, alone."
WIDENED = [
    # Two phrases of the leak check, which share a word: neither is left.
    (STREET, ["Baker"], ["12 Baker Street"]),
    (STREET, ["Street"], ["12 Baker Street"]),
    (STREET, ["12"], ["12 Baker Street"]),
    (STREET, ["12", "Street"], ["12 Baker Street"]),
    # What parts the words is part of the place too: a tag there would part them.
    ("Lives at 12, Baker, Street.", [", S"], ["12, Baker, Street"]),
    ("Lives at 12, Baker Street.", [","], ["12, Baker Street"]),
    ("Lives at 12 Baker\n  Street.", ["Str"], ["12 Baker\n  Street"]),
    ("Lives at 12 Baker&#32;Street.", ["12"], ["12 Baker&#32;Street"]),
    ("Lives at １２ BAKER st.", ["st"], ["１２ BAKER st"]),
    # Words by which others are known: without them the name is shown and nobody knows it for one.
    ("She came from Fresno yesterday.", ["from"], ["from Fresno"]),
    ("The last four of the SSN: 6789. Fresno, CA.", ["CA"], ["Fresno, CA"]),
    ("Seen ⓠⓤⓘⓛⓛⓕⓔⓐⓣⓗⓔⓡ today.", ["ⓤ"], ["ⓠⓤⓘⓛⓛⓕⓔⓐⓣⓗⓔⓡ"]),
    ("Seen Q u i l l f e a t h e r today.", ["f"], ["Q u i l l f e a t h e r"]),
    ("Born March 4, 1950 at home.", ["March"], ["March 4"]),
    # Twice: each place by itself.
    ("12 Baker Street. Later 12 Baker Street.", ["Baker"], ["12 Baker Street"]),
    # Near misses.
    (STREET, ["alone"], ["alone"]),
    ("Baker cyst on the 12th; street shoes.", ["Baker", "street"], ["Baker", "street"]),
    ("The clinic in Fresno Heart Hospital.", ["Heart"], ["Heart"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "touched", "whole"), WIDENED)
def test_a_span_reaches_over_the_whole_leak_that_it_touches(task, text, touched, whole):
    assert told(task, text, *touched) == whole


def test_a_note_without_words_leaks_nowhere(task):
    assert not [place for text in ("", " \n", "...") for place in task.leak_places(item(text))]


def test_an_ordinary_name_goes_with_the_word_that_shows_it_for_one(task):
    assert told(task, "Brown was seen.", "was", patient="p2") == ["Brown was"]
    assert told(task, "Brown stools were seen.", "stools", patient="p2") == ["stools"]


def test_what_was_found_and_is_shown_by_a_mend_leaks_as_a_whole_too(task):
    found = [at(STREET, "12 Baker Street")]
    assert not list(task.leak_places(item(STREET, found=found)))
    assert told(task, STREET, "12", found=found, removed=found) == ["12 Baker Street"]
    # What the detector hides of it is hidden: what is left tells nothing.
    assert told(task, STREET, "12", found=[at(STREET, "Baker")]) == ["12"]


@pytest.mark.parametrize("policy", ["safe_harbor", "surrogate", "gdpr_it", "limited_dataset", "patient_only"])
def test_so_it_is_under_every_policy(policy):
    assert told(redacting(policy), STREET, "Baker") == ["12 Baker Street"]


def test_a_mend_past_the_page_that_leaves_a_part_is_not_released(task):
    def made(*added, **given):
        (row,) = task([item(STREET, added=added, **given)])
        return row["reason"], row["text"]

    whole = "Lives at [STREET], alone."
    assert made(at(STREET, "12 Baker Street")) == (None, whole)
    assert made(at(STREET, "12"), at(STREET, "Baker"), at(STREET, "Street"))[0] is None
    found = [at(STREET, "12 Baker Street")]
    for words in (["Baker"], ["12", "Street"], ["Baker Street"], ["12 Baker"]):
        added = [at(STREET, each) for each in words]
        assert made(*added) == (LEFT_IN_PART, None), words
        assert made(*added, found=found, removed=found) == (LEFT_IN_PART, None), words
    # What people hide beside it makes no difference, nor what the detector finds by itself.
    assert made(at(STREET, "alone"), found=found) == (None, "Lives at [STREET], [STREET].")
    assert made(at(STREET, "alone"))[0] == "leak-street"


def test_whatever_two_words_are_hidden_no_leak_is_left_in_part(task):
    text = "Of 12 Baker Street, near Fresno, CA 93701, call 559-555-0142; née Quill-feather."
    places = tuple(task.leak_places(item(text)))
    words = whole_places(text)
    assert len(places) >= 4
    for pair in combinations(words, 2):
        added = widened(text, [Span(*each, Label.STREET) for each in pair], places)
        hidden = {n for span in added for n in range(span.start, span.end)}
        for start, end in places:
            assert hidden.isdisjoint(range(start, end)) or hidden.issuperset(range(start, end)), pair
        (row,) = task([item(text, added=added)])
        assert row["reason"] != LEFT_IN_PART, pair
