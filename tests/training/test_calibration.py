"""Thresholds by label, on what a made-up model says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deid_platform.detection.models.decoding import Thresholds
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.training.calibration import HIGHEST, LOWEST, calibrated, isotonic, no_higher
from deid_platform.training.examples import LABELS
from deid_platform.training.labelled import Labelled

TEXT = "Oko " * 200


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
    return [Labelled("1", "c", "", TEXT, spans)]


@pytest.mark.parametrize(("label", "least"), [("HOSPITAL", 0.2501), ("PATIENT", 0.1001)])
def test_a_word_in_seven_is_worth_it_and_of_direct_identifiers_one_in_twenty(reader, label, least):
    # Of fifty words each: none, one in eight, one in three, all.
    likely = np.repeat([0.1, 0.25, 0.5, 0.95], 50)
    right = np.concatenate([np.arange(50) % n == 0 for n in (99, 8, 3, 1)])
    right[0] = False
    thresholds, _ = calibrated(Sure(reader, label, likely), notes(label, right))
    assert thresholds[label] == least


def test_thresholds_stay_within_bounds(reader):
    surely, _ = calibrated(Sure(reader, "DATE", np.linspace(0.01, 1, 200)), notes("DATE", np.ones(200)))
    never, _ = calibrated(Sure(reader, "DATE", np.linspace(0.01, 1, 200)), notes("DATE", np.zeros(200)))
    assert (pytest.approx(surely["DATE"], abs=0.01), never["DATE"]) == (LOWEST, HIGHEST)
    assert set(surely) == set(LABELS[1:])
    assert surely["ZIP"] == 0.15  # nothing is known of it


def test_a_language_has_thresholds_of_its_own_where_it_has_enough_words(reader):
    likely = np.linspace(0.01, 1, 200)
    surely = [replace(note, language="it") for note in notes("DATE", np.ones(200))]
    never = [replace(note, language="fr") for note in notes("DATE", np.zeros(200))]
    thresholds, by_language = calibrated(Sure(reader, "DATE", likely), [*surely, *never])
    assert by_language == {"it": {"DATE": pytest.approx(LOWEST, abs=0.01)}, "fr": {"DATE": HIGHEST}}
    assert LOWEST <= thresholds["DATE"] < HIGHEST


def test_isotonic_regression_pools_what_falls():
    ones = np.ones(5, dtype=np.int64)
    assert isotonic(np.array([0.0, 1, 0, 1, 1]), ones).tolist() == [0, 0.5, 0.5, 1, 1]
    assert isotonic(np.array([1.0, 0, 0, 0]), ones[:4]).tolist() == [0.25] * 4
    assert isotonic(np.array([1.0, 0]), np.array([3, 1])).tolist() == [0.75] * 2
    assert isotonic(np.array([]), ones[:0]).tolist() == []


@pytest.mark.parametrize(
    ("language", "label", "least"),
    [
        ("", "DATE", 0.1),  # lower than before
        ("", "ZIP", 0.02),  # not higher
        ("", "BIOID", 0.15),  # the other model does not have it
        ("it", "DATE", 0.05),  # lower than that of all languages
        ("it", "ZIP", 0.02),  # not higher than that of all languages of the other model
        ("fr", "DATE", 0.01),  # the other model's of a language of which nothing is known here
        ("fr", "ZIP", None),  # that of all languages counts
    ],
)
def test_thresholds_are_no_higher_than_another_model_s(language, label, least):
    chosen = {"DATE": 0.1, "ZIP": 0.15, "BIOID": 0.15}, {"it": {"DATE": 0.05, "ZIP": 0.3}}
    whole, by_language = no_higher(chosen, {"DATE": 0.2, "ZIP": 0.02}, {"fr": {"DATE": 0.01}})
    assert (by_language.get(language, {}) if language else whole).get(label) == least
