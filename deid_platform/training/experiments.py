"""Experiments on what a model learns: whose names, which format, how many notes.

Belongs here: which models an experiment trains, on what, and on what each is measured. Does not belong here: training
(`run.py`) or measuring them (`bench/leaderboard/experiments.py`).

After Zambare 2026: experiment 2.2 (trained on the names of one locale, measured on all), experiment 3 (trained on all
but one) and its learning curve; all models of an experiment have the same preset and seed, and as many notes, unless
their number is what is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deid_platform.corpora.catalogue import PUBLISHED
from deid_platform.detection.models.loading import Models
from deid_platform.settings import Settings
from deid_platform.surrogates.dice import Dice
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import Mixture, labelled

LEAVE_ONE_OUT = "leave_one_locale_out"
CROSS_FORMAT = "cross_format"
LEARNING_CURVE = "learning_curve"
ONE_LOCALE = "one_locale"
EXPERIMENTS = (LEAVE_ONE_OUT, ONE_LOCALE, CROSS_FORMAT, LEARNING_CURVE)
AMERICAN = "en_US"
"""The locale that the models of `ONE_LOCALE` learn from."""
ALL_LOCALES = "all_locales"
CURVE = (250, 500, 1000, 2000)
"""Notes of the models of the learning curve."""
HOSPITAL, REPORTS, EVERYTHING = "hospital", "mtsamples", "all"
"""Sets of test notes: the synthetic hospital's held-out part, transcribed reports, all corpora; else one locale."""


@dataclass(frozen=True)
class Arm:
    """One model of an experiment.

    Attributes:
        name: Names it and its folder.
        mixture: What its notes are drawn from.
        notes: How many it is trained on, at most.
        tests: What it is measured on.
        carriers: Corpora of a locale that it is measured on; all unless given.
        binary: Whether it only tells identifiers from other words.
        word: What the leaderboard calls it, one of `warehouse.lab.ARMS`; empty for what no table of a paper has.
    """

    name: str
    mixture: Mixture
    notes: int
    tests: tuple[str, ...]
    carriers: tuple[str, ...] = ()
    binary: bool = False
    word: str = ""


def arms(experiment: str, *, notes: int, locales: Sequence[str]) -> tuple[Arm, ...]:
    """The models of an experiment.

    Args:
        experiment: One of `EXPERIMENTS`.
        notes: On which each is trained, but for the learning curve.
        locales: Those that are left out, one after the other; those that models of one locale are measured on.
    """
    whole = Mixture()
    if experiment == LEAVE_ONE_OUT:
        without = (
            Arm(
                *(f"without_{it}", replace(whole, locales=tuple(x for x in whole.locales if x != it)), notes, (it,)),
                word="trained-without-this-locale",
            )
            for it in locales
        )
        return Arm(ALL_LOCALES, whole, notes, tuple(locales), word="trained-all-locales"), *without
    if experiment == ONE_LOCALE:
        # The hospital has names of many origins, and notes in other languages would give theirs away.
        english = tuple((name, most) for name, most in whole.corpora if PUBLISHED[name].language == "en")
        american = replace(whole, corpora=english, locales=(AMERICAN,), hospital=0)
        carriers, tests = tuple(name for name, _ in english), tuple(dict.fromkeys((AMERICAN, *locales)))
        return (
            Arm(AMERICAN, american, notes, tests, carriers, binary=True, word="trained-en_US"),
            Arm(f"{AMERICAN}_kinds", american, notes, (AMERICAN,), carriers, word="trained-en_US-kinds"),
        )
    if experiment == CROSS_FORMAT:
        reports = tuple((name, most) for name, most in whole.corpora if name == REPORTS)
        both = (HOSPITAL, REPORTS)
        return (
            Arm(HOSPITAL, replace(whole, corpora=(), plain=0), notes, both),
            Arm(REPORTS, replace(whole, corpora=reports, hospital=0), notes, both),
        )
    return tuple(Arm(f"{size}_notes", whole, size, (EVERYTHING,), word=f"trained-{size}-notes") for size in CURVE)


def notes_of(arm: Arm, settings: Settings | None, models: Models | None = None) -> list[Labelled]:
    """The notes that an arm is trained on: drawn from its mixture, the same each time.

    The order depends on the mixture's seed alone, so that arms of the same corpora share what they can.

    Args:
        arm: Of an experiment.
        settings: Say where published corpora lie.
        models: See `labelled`.

    Raises:
        DeidError: What `labelled` raises.
    """
    mixture = arm.mixture
    expected = mixture.hospital + sum(most * len(mixture.locales) + mixture.plain for _, most in mixture.corpora)
    share = min(1.0, 1.5 * arm.notes / expected)  # a corpus may be smaller than what is asked of it
    smaller = replace(
        mixture,
        corpora=tuple((name, math.ceil(most * share)) for name, most in mixture.corpora),
        hospital=math.ceil(mixture.hospital * share),
        plain=math.ceil(mixture.plain * share),
    )
    drawn = labelled(smaller, settings, models)
    return sorted(drawn, key=lambda it: Dice(mixture.seed, it.corpus, it.locale, it.key).between(0, 1 << 30))[
        : arm.notes
    ]
