"""Which places of a note a released text hides, where the two texts are all that is known."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.evaluation.released.released import NoteRelease, hidden_places
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

TEXT = "Ms. Ann Quillfeather met Dr. Alan Reed on 03/04/2019. BP 120/80, no fever."


@pytest.mark.parametrize(
    ("released", "hidden"),
    [
        (TEXT, []),
        ("ms. ANN quillfeather  met Dr. Alan Reed on\n03/04/2019. BP 120/80, no fever.", []),  # hides nothing
        (
            "Ms. [PATIENT] met Dr. [DOCTOR] on [DATE 2019]. BP 120/80, no fever.",
            [("Ann Quillfeather", "[PATIENT]", Label.PATIENT), ("Alan Reed", "[DOCTOR]", Label.DOCTOR),
             ("03/04/2019", "[DATE 2019]", Label.DATE)],
        ),
        (
            "Ms. Jane Doe met Dr. Alan Reed on 03/11/2019. BP 120/80.",
            [("Ann Quillfeather", "Jane Doe", None), ("03/04/2019", "03/11/2019", None), (", no fever", "", None)],
        ),
        (
            "Ms. ***patient_Name*** met Dr. <PROVIDER> on {{date}}. BP 120/80, no fever.",
            [("Ann Quillfeather", "***patient_Name***", Label.PATIENT), ("Alan Reed", "<PROVIDER>", None),
             ("03/04/2019", "{{date}}", Label.DATE)],
        ),
        ("", [(TEXT, "", None)]),
        # Of a sentence that is left out the full stop before it stays: "2019." keeps its own.
        (TEXT.replace(" BP 120/80, no fever.", ""), [("BP 120/80, no fever.", "", None)]),
    ],
)  # fmt: skip
def test_places_by_two_texts(released: str, hidden: list[tuple[str, str, Label | None]]) -> None:
    places = hidden_places(TEXT, released)
    assert [(TEXT[it.start : it.end], it.put_in, it.label) for it in places] == hidden


WORDS = st.lists(st.sampled_from(["Ann", "met", "Bob", ".", "[NAME]", "3/4", "and", ","]), max_size=14)


@given(WORDS, WORDS)
def test_what_is_not_hidden_stands_in_the_release_in_the_same_order(ours: list[str], theirs: list[str]) -> None:
    original, released = " ".join(ours), " ".join(theirs)
    places = hidden_places(original, released)
    assert all(0 <= it.start < it.end <= len(original) for it in places)
    assert all(one.end <= other.start for one, other in pairwise(places))
    starts = accumulate((len(word) + 1 for word in ours), initial=0)
    shown = [word for word, at in zip(ours, starts, strict=False) if not any(it.start <= at < it.end for it in places)]
    rest = iter(theirs)
    assert all(word in rest for word in shown), "a subsequence of the release"
    assert not places or original != released


def test_a_place_without_a_tag_has_the_label_of_the_gold_in_it() -> None:
    (place,) = hidden_places("Seen by Ann Lee today.", "Seen by Jane Doe today.")
    gold = [Span(8, 11, Label.DOCTOR), Span(12, 15, Label.PATIENT)]
    assert place.span(gold) == Span(8, 15, Label.DOCTOR)
    assert place.span() == Span(8, 15, Label.IDNUM)


def test_known_spans_are_not_guessed() -> None:
    note = Note("n", TEXT)
    made = redact(note, [Span(4, 20, Label.PATIENT)], load_policy("safe_harbor"))
    (place,) = NoteRelease(note, made.text, redaction=made).places
    assert (place.start, place.end, place.put_in, place.label) == (4, 20, "[PATIENT]", Label.PATIENT)
    assert NoteRelease(note, made.text).places == [place], "and here both ways agree"
