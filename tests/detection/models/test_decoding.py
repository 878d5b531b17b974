"""From probabilities to candidates."""

from __future__ import annotations

import numpy as np
import pytest

from deid_platform.detection.api import Evidence, Source, SourceKind
from deid_platform.detection.models.decoding import ARGMAX, Thresholds, by_word, candidates
from deid_platform.labels import Label

SOURCE = Source(SourceKind.MODEL, "tiny")
THRESHOLDS = Thresholds((Label.PATIENT, Label.DATE, Label.DOCTOR), (0.5, 0.2, 0.5))


def found(reader, text, rows):
    """Candidates of a text whose words have these probabilities: of nothing, of a patient, of a date, of a doctor."""
    made = candidates(reader.read(text), np.array(rows, dtype=np.float32), THRESHOLDS, SOURCE)
    assert all(c.evidence is Evidence.PREDICTED and c.source is SOURCE for c in made)
    return [(text[c.start : c.end], c.label.value, round(c.confidence, 2)) for c in made]


NONE, P, D = (1, 0, 0, 0), (0.1, 0.9, 0, 0), (0.1, 0, 0.9, 0)


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        pytest.param("saw x x", [NONE, P, P], [("x x", "PATIENT", 0.9)], id="neighbours"),
        pytest.param("x\nx", [P, P], [("x", "PATIENT", 0.9), ("x", "PATIENT", 0.9)], id="two lines"),
        pytest.param("3/14", [D, NONE, D], [("3/14", "DATE", 0.9)], id="a sign between"),
        pytest.param("3 / 14", [D, NONE, D], [("3", "DATE", 0.9), ("14", "DATE", 0.9)], id="a sign with spaces"),
        pytest.param("x/3", [P, NONE, D], [("x", "PATIENT", 0.9), ("3", "DATE", 0.9)], id="a sign between two labels"),
        pytest.param("x x", [(0.6, 0.4, 0, 0), (0.4, 0.35, 0.25, 0)], [("x", "PATIENT", 0.6)], id="any label counts"),
        pytest.param("3", [(0.75, 0.05, 0.2, 0)], [("3", "DATE", 0.25)], id="a threshold for each label"),
        pytest.param("2019/3", [D, D, D], [("2019/3", "DATE", 0.9)], id="a year with a month"),
        pytest.param("oko x", [P, (0.1, 0.2, 0, 0.7)], [("oko x", "PATIENT", 0.9)], id="one name, one label"),
        pytest.param("x", [(0, 0.04, 0, 0.96)], [("x", "DOCTOR", 1.0)], id="a clinician"),
        pytest.param("x", [(0, 0.06, 0, 0.94)], [("x", "PATIENT", 1.0)], id="a patient unless surely a clinician"),
        pytest.param("x", [(0.6, 0.01, 0, 0.39)], [], id="whose name it is does not make it one"),
        pytest.param("x", [(0.4, 0.01, 0, 0.59)], [("x", "DOCTOR", 0.6)], id="of the two alone"),
        pytest.param("", np.empty((0, 4)), [], id="nothing"),
    ],
)
def test_candidates(reader, text, rows, expected):
    assert found(reader, text, rows) == expected


def test_a_model_that_knows_no_patients_finds_clinicians(reader):
    alone = Thresholds((Label.DOCTOR,), (0.5,))
    (one,) = candidates(reader.read("x"), np.array([(0.4, 0.6)], dtype=np.float32), alone, SOURCE)
    assert one.label is Label.DOCTOR


def test_a_word_is_the_mean_of_its_pieces():
    pieces = np.array([[1, 0], [0, 1], [0.2, 0.8]], dtype=np.float32)
    assert by_word(pieces, np.array([0, 0, 1])).tolist() == [[0.5, 0.5], pytest.approx([0.2, 0.8])]


def test_thresholds_by_name():
    told = Thresholds.of([Label.PATIENT, Label.DATE], {"DATE": 0.1})
    assert told == Thresholds((Label.PATIENT, Label.DATE), (0.5, 0.1))


def test_without_thresholds_the_likeliest_class_decides():
    told = Thresholds.of([Label.PATIENT, Label.DATE], ARGMAX)
    rows = np.array([(0.4, 0.35, 0.25), (0.35, 0.25, 0.4), (0.2, 0.5, 0.3)], dtype=np.float32)
    assert told.taken(rows).tolist() == [-1, 1, 0]  # more likely some identifier than none, and yet none
    assert Thresholds.of([Label.PATIENT, Label.DATE], {}).taken(rows).tolist() == [0, 1, 0]
