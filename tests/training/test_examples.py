"""Labels of pieces."""

from __future__ import annotations

import numpy as np

from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.training.examples import LABELS, examples, labels_of
from deid_platform.training.labelled import Labelled

TEXT = "saw Okonkwo 3/3 saw"
SPANS = (Span(4, 11, Label.PATIENT), Span(12, 15, Label.DATE))


def test_each_word_has_the_label_of_what_it_is_part_of(reader):
    told = labels_of(reader.read(TEXT), SPANS)
    assert [LABELS[number] for number in told] == ["O", "PATIENT", "DATE", "DATE", "DATE", "O"]


def test_a_part_of_a_word_is_the_whole_word(reader):
    told = labels_of(reader.read("Okonkwo saw"), (Span(0, 3, Label.PATIENT),))
    assert [LABELS[number] for number in told] == ["PATIENT", "O"]


def test_windows_carry_a_label_for_each_piece(reader):
    (example,) = examples([Labelled("1", "c", "", TEXT, SPANS)], reader)
    patient, day = LABELS.index("PATIENT"), LABELS.index("DATE")
    assert example.labels.tolist() == [-1, 0, patient, patient, day, day, day, 0, -1]
    assert example.ids.tolist() == [1, 3, 4, 5, 6, 7, 6, 3, 2]
    assert (example.features > 0).tolist() == (example.labels >= 0).tolist()


def test_every_piece_of_a_long_note_is_learned(reader):
    made = list(examples([Labelled("1", "c", "", "Okonkwo saw " * 200, ())], reader))
    assert all(len(example.ids) <= 128 for example in made)
    assert sum(int(np.sum(example.labels == 0)) for example in made) >= 600
    assert list(examples([Labelled("1", "c", "", "", ())], reader)) == []
