"""Experiments: which models they train, on what, and what they show. Training itself: `tests/ml`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from deid_platform.bench.leaderboard.experiments import Result, Size, results, unseen
from deid_platform.corpora.catalogue import PUBLISHED
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.hospital.spec import Part
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.scores import NoteCounts, summarise
from deid_platform.reports.experiment_figure import experiment_figure
from deid_platform.settings import ExperimentSettings
from deid_platform.surrogates.locales import LOCALES
from deid_platform.training.experiments import (
    ALL_LOCALES,
    CROSS_FORMAT,
    CURVE,
    EXPERIMENTS,
    LEARNING_CURVE,
    LEAVE_ONE_OUT,
    ONE_LOCALE,
    Arm,
    arms,
    notes_of,
)
from deid_platform.training.mixture import Mixture
from deid_platform.warehouse.quality.lab import ARMS


def test_each_locale_is_left_out_once_and_measured_with_and_without() -> None:
    whole, *without = arms(LEAVE_ONE_OUT, notes=700, locales=LOCALES)
    assert whole.tests == tuple(LOCALES) == tuple(test for arm in without for test in arm.tests)
    for arm in without:
        assert set(LOCALES) - set(arm.mixture.locales) == set(arm.tests)
        assert (arm.notes, arm.mixture.ways, arm.mixture.seed) == (700, whole.mixture.ways, whole.mixture.seed)


def test_one_culture_is_learned_and_all_are_measured() -> None:
    american, kinds = arms(ONE_LOCALE, notes=700, locales=("zh", "hi"))
    assert american.tests == ("en_US", "zh", "hi")
    assert american.mixture.locales == kinds.mixture.locales == ("en_US",)
    # Neither the hospital's names, which are of many origins, nor notes in other languages.
    assert american.mixture.hospital == 0
    assert {PUBLISHED[name].language for name, _ in american.mixture.corpora} == {"en"}
    assert set(american.carriers) == {name for name, _ in american.mixture.corpora}
    assert (american.binary, kinds.binary, kinds.tests) == (True, False, ("en_US",))


def test_every_arm_of_a_table_has_a_word_that_the_warehouse_knows() -> None:
    words = {it.word for name in EXPERIMENTS for it in arms(name, notes=700, locales=LOCALES)}
    assert words == {"", *ARMS}


def test_formats_are_crossed() -> None:
    hospital, reports = arms(CROSS_FORMAT, notes=700, locales=())
    assert hospital.tests == reports.tests == ("hospital", "mtsamples")
    assert (hospital.mixture.corpora, reports.mixture.hospital) == ((), 0)
    assert [name for name, _ in reports.mixture.corpora] == ["mtsamples"]


def test_the_curve_changes_the_number_of_notes_alone() -> None:
    curve = arms(LEARNING_CURVE, notes=700, locales=())
    assert [arm.notes for arm in curve] == list(CURVE)
    assert len({(arm.mixture, arm.tests) for arm in curve}) == 1


def test_an_arm_has_as_many_notes_as_asked_for_and_always_the_same() -> None:
    arm = Arm("hospital", Mixture(corpora=(), plain=0), 25, ("hospital",))
    notes = notes_of(arm, None)
    assert len(notes) == 25
    assert [it.text for it in notes] == [it.text for it in notes_of(arm, None)]
    held_out = {
        note.text
        for delivery in generate(HospitalSpec(notes=44, part=Part.HELD_OUT))
        for note in delivery.notes
    }  # fmt: skip
    assert held_out.isdisjoint(it.text for it in notes)


@pytest.mark.skipif(find_spec("torch") is not None, reason="tests/ml trains with torch")
def test_an_experiment_asks_for_the_extra(tmp_path: Path) -> None:
    with pytest.raises(DeidError) as raised:
        next(results(LEARNING_CURVE, tmp_path, None))
    assert raised.value.code is Code.EXTRA_MISSING


def test_the_section_says_what_an_experiment_costs_by_default() -> None:
    asked, size = ExperimentSettings(), Size()
    assert (asked.notes, asked.epochs, asked.test_notes) == (size.notes, size.epochs, size.test_notes)
    assert asked.start is None


def test_the_figure_has_a_row_for_each_model_and_set() -> None:
    counts = [NoteCounts(100, 9, 1, 1, 5, 4, cluster=str(number)) for number in range(5)]
    rows = [(f"{size}_notes on all", summarise(counts, resamples=20)) for size in CURVE]
    assert experiment_figure(rows, "learning curve").startswith(b"\x89PNG")


def test_what_a_locale_costs_that_a_model_has_not_seen() -> None:
    def result(arm: str, test: str, found: int) -> Result:
        return Result(arm, 700, test, (NoteCounts(20, found, 0, 10 - found, 1, 1, cluster=test),) * 2)

    found = [
        *(result(ALL_LOCALES, test, 10) for test in ("zh", "hi")),
        result("without_zh", "zh", 8),
        result("without_hi", "hi", 9),
    ]
    less = {name: it.value for name, it in unseen(found)}
    assert less == pytest.approx({"zh": -0.2, "hi": -0.1, "together": -0.15})
