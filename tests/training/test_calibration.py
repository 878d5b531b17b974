"""Thresholds by label, on what a made-up model says."""

from __future__ import annotations

import numpy as np
import pytest

from deid_platform.detection.models.decoding import Thresholds
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.training.calibration import HIGHEST, LOWEST, calibrated, line
from deid_platform.training.examples import LABELS
from deid_platform.training.labelled import Labelled


class Sure:
    """A model that says of the words of a text, one by one, how likely they are of a label."""

    def __init__(self, reader, label, likely):
        self.reader, self.label, self.likely = reader, LABELS.index(label), likely
        self.thresholds = Thresholds.of(tuple(map(Label, LABELS[1:])), {})

    def probabilities(self, text):
        tokens = self.reader.read(text)
        said = np.zeros((len(tokens.starts), len(LABELS)), dtype=np.float32)
        said[:, self.label] = self.likely
        said[:, 0] = 1 - said[:, self.label]
        return tokens, said


def notes(label, right):
    spans = tuple(Span(4 * at, 4 * at + 3, Label(label)) for at in np.flatnonzero(right))
    return [Labelled("1", "c", "", "Oko " * len(right), spans)]


def drawn_as(slope, intercept, words=2000):
    """Probabilities, and which of them are right where their log odds have that line."""
    said = np.random.default_rng(3).uniform(0.02, 0.98, words)
    odds = slope * np.log(said / (1 - said)) + intercept
    return said, np.random.default_rng(4).uniform(size=words) < 1 / (1 + np.exp(-odds))


@pytest.mark.parametrize(("label", "worth"), [("HOSPITAL", 0.15), ("PATIENT", 0.05)])
@pytest.mark.parametrize(("slope", "intercept"), [(1, 0), (0.5, -1)])
def test_a_word_in_seven_is_worth_it_and_of_direct_identifiers_one_in_twenty(reader, label, worth, slope, intercept):
    said, right = drawn_as(slope, intercept)
    least = calibrated(Sure(reader, label, said), notes(label, right))[label]
    expected = 1 / (1 + np.exp(-(np.log(worth / (1 - worth)) - intercept) / slope))
    assert least == pytest.approx(expected, rel=0.35)


def test_thresholds_stay_within_bounds(reader):
    surely = calibrated(Sure(reader, "DATE", np.linspace(0.01, 1, 200)), notes("DATE", np.ones(200)))
    never = calibrated(Sure(reader, "DATE", np.linspace(0.01, 1, 200)), notes("DATE", np.zeros(200)))
    assert (surely["DATE"], never["DATE"]) == (LOWEST, HIGHEST)
    assert set(surely) == set(LABELS[1:])


def test_a_label_of_which_nothing_is_known_has_the_line_of_all(reader):
    said, right = drawn_as(0.5, -1)
    least = calibrated(Sure(reader, "DATE", said), notes("DATE", right))
    assert least["ZIP"] == least["CITY"] == pytest.approx(least["DATE"], rel=0.1)


def test_without_any_word_the_model_is_believed(reader):
    assert calibrated(Sure(reader, "DATE", [0.0]), [])["DATE"] == 0.15


def test_few_words_move_the_line_a_little_and_many_move_it(reader):
    prior = np.array([1.0, 0.0])
    few, many = (line(np.zeros(n), np.ones(n), prior, 5.0)[1] for n in (2, 2000))
    assert 0 < few < 0.5 < 3 < many


def test_a_line_through_what_signs_cannot_part_stays_finite(reader):
    odds = np.array([-9.0, -8, 8, 9] * 100)
    assert np.isfinite(line(odds, (odds > 0) * 1.0, np.array([1.0, 0.0]), 1.0)).all()
