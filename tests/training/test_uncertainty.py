"""Which notes teach a model most, by what a made-up model says."""

from __future__ import annotations

import numpy as np
import pytest

from deid_platform.detection.models.decoding import Thresholds
from deid_platform.labels import Label
from deid_platform.training.examples import LABELS
from deid_platform.training.uncertainty import SHARES, Drawable, Part, drawn, part_of, uncertainty

PATIENT = LABELS.index("PATIENT")


class Saying:
    """A model that says of each word of a text how likely it is a patient's name."""

    def __init__(self, reader, *likely):
        self.reader, self.likely = reader, likely

    thresholds = Thresholds.of(tuple(map(Label, LABELS[1:])), {"PATIENT": 0.5})

    def probabilities(self, text):
        tokens = self.reader.read(text)
        said = np.zeros((len(tokens.starts), len(LABELS)), dtype=np.float32)
        said[:, PATIENT] = np.resize(self.likely, len(said))
        said[:, 0] = 1 - said[:, PATIENT]
        return tokens, said


def unsure(reader, text, *likely):
    return uncertainty(Saying(reader, *likely), text)


def test_a_word_counts_most_at_its_threshold_and_less_on_both_sides(reader):
    at, below, above, surely, never = (unsure(reader, "Oko", p) for p in (0.5, 0.1, 0.9, 0.999, 0.001))
    assert at == pytest.approx(1)
    assert below == pytest.approx(above, abs=1e-6)
    assert 0 < below < at
    assert surely == never == 0


def test_a_longer_note_counts_more_but_not_by_its_length(reader):
    one, four = (unsure(reader, text, 0.5) for text in ("Oko", "Oko Oko Oko Oko"))
    assert four == pytest.approx(2 * one)
    assert unsure(reader, "Oko" + " saw" * 8, 0.5, *[0.0001] * 8) < one


def test_signs_and_empty_texts_count_nothing(reader):
    assert unsure(reader, "", 0.5) == unsure(reader, "/ / /", 0.5) == 0


def note(key, unsure, kind="letter", patient=None):
    return Drawable(key, patient or key, kind, unsure)


@pytest.mark.parametrize(
    ("notes", "most", "keys"),
    [
        ([note("a", 1), note("b", 3), note("c", 2)], 2, "bc"),
        ([note("a", 9), note("b", 8), note("c", 1, "sheet")], 2, "ac"),  # of each kind one
        ([note("a", 9), note("b", 8), note("c", 1, "sheet")], 3, "acb"),
        ([note("a", 9, patient="p"), note("b", 8, patient="p"), note("c", 1)], 2, "ac"),  # of each patient one
        ([note("b", 1), note("a", 1)], 2, "ab"),
        ([], 2, ""),
    ],
)
def test_the_least_sure_are_drawn_of_each_kind_and_patient_in_turn(notes, most, keys):
    assert [it.key for it in drawn(notes, most)] == list(keys)


def test_all_notes_of_a_patient_serve_the_same_and_parts_have_their_shares():
    parts = [part_of(f"p{number}") for number in range(3000)]
    assert parts == [part_of(f"p{number}") for number in range(3000)]
    assert {part: parts.count(part) / 3000 for part in Part} == pytest.approx(SHARES, abs=0.03)
    assert sum(SHARES.values()) == pytest.approx(1)


def test_what_is_drawn_shows_no_id():
    assert "Quill" not in repr(note("Quill", 1))
