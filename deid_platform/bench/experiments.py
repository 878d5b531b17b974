"""Experiments: training their models, and measuring each on notes of the test parts.

Belongs here: one experiment from its arms to its results. Does not belong here: what the arms are
(`training/experiments.py`) or how a model is trained (`training/`), which needs torch.

A model that is there already is not trained anew, so an experiment that stopped goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.bench.corpora import CorpusKey, counted, notes_of_test
from deid_platform.corpora.catalogue import PUBLISHED, is_carrier
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.hospital.spec import Part as HospitalPart
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.loading import Models
from deid_platform.engine import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.ablation import ablations
from deid_platform.evaluation.bootstrap import RESAMPLES
from deid_platform.evaluation.paired import Difference, difference
from deid_platform.evaluation.scores import NoteCounts, Scores, summarise
from deid_platform.keys import plain_digest
from deid_platform.notes import Note, Span
from deid_platform.refresh.site import Site
from deid_platform.settings import Settings
from deid_platform.surrogates.locales import LOCALES
from deid_platform.training.experiments import ALL_LOCALES, EVERYTHING, HOSPITAL, REPORTS, Arm, arms, notes_of
from deid_platform.training.presets import PRESETS

if TYPE_CHECKING:
    from deid_platform.training.starting import Starting

_BACK = 12  # one note in so many is kept back for the thresholds


@dataclass(frozen=True)
class Size:
    """What an experiment may cost: seven hundred notes take about eight minutes on two cores.

    Attributes:
        notes: On which each model is trained, but for the learning curve.
        epochs: Passes over them.
        test_notes: Of each corpus and locale on which a model is measured.
        locales: Those that are left out, one after the other.
    """

    notes: int = 700
    epochs: float = 4
    test_notes: int = 4
    locales: tuple[str, ...] = LOCALES


@dataclass(frozen=True)
class Result:
    """What one model scores on one set of notes, by itself and on the text alone.

    Attributes:
        arm: The model.
        trained_on: Notes.
        test: The set.
        counts: Of each note of the set, in an order that is the same for all models.
    """

    arm: str
    trained_on: int
    test: str
    counts: tuple[NoteCounts, ...]

    @property
    def scores(self) -> Scores:
        """Over all notes of the set."""
        return summarise(self.counts, resamples=RESAMPLES)


def experiment(
    site: Site, name: str, *, starting: Starting | None = None, told: Callable[[str], object] = lambda _: None
) -> list[Result]:
    """An experiment under an installation, in its folder `models/experiments`, as `[experiments]` says.

    Args:
        site: The installation.
        name: One of `training.experiments.EXPERIMENTS`.
        starting: Loads what its models start from; `training.starting.start_of` unless given.
        told: Of each model and set before its turn.

    Raises:
        DeidError: What `results` raises.
    """
    asked = site.settings.experiments
    size = Size(asked.notes, asked.epochs, asked.test_notes, asked.locales or LOCALES)
    folder = site.settings.path(Path("models/experiments")) / name
    engine = LocalEngine(workers=site.settings.detection.workers, models=site.models)
    return list(results(name, folder, site.settings, size=size, engine=engine, starting=starting, told=told))


def results(
    experiment: str,
    folder: Path,
    settings: Settings | None,
    *,
    size: Size | None = None,
    start: str | None = None,
    engine: LocalEngine | None = None,
    starting: Starting | None = None,
    told: Callable[[str], object] = lambda _: None,
) -> Iterator[Result]:
    """Trains and measures the models of an experiment, one after the other.

    Args:
        experiment: One of `training.experiments.EXPERIMENTS`.
        folder: Holds a folder for each model.
        settings: Say where published corpora lie.
        size: What it may cost.
        start: An encoder's folder; the default encoder unless given.
        engine: Where models are measured, with what loads them; this process unless given.
        starting: Loads the encoder; `training.starting.start_of` unless given.
        told: Of each model and set before its turn.

    Raises:
        DeidError: `extra-missing` without torch; `corpus-missing`; what `train` raises.
    """
    if find_spec("torch") is None:
        raise DeidError(Code.EXTRA_MISSING, "ml")
    size, engine = size or Size(), engine or LocalEngine()
    for arm in arms(experiment, notes=size.notes, locales=size.locales):
        told(f"model {arm.name}")
        model, trained_on = _trained(arm, folder / arm.name, settings, size, start, engine.models, starting)
        for test in arm.tests:
            told(f"{arm.name} on {test}")
            yield Result(arm.name, trained_on, test, _counts(model, test, settings, size, engine))


def _trained(
    arm: Arm,
    folder: Path,
    settings: Settings | None,
    size: Size,
    start: str | None,
    models: Models,
    starting: Starting | None,
) -> tuple[ModelFolder, int]:
    from deid_platform.training.run import train
    from deid_platform.training.starting import start_of

    told: dict[str, object] = {"experiment": plain_digest(repr(arm), repr(size.epochs), str(start))}
    model = ModelFolder(folder)
    if model.is_there and model.card.get("experiment") == told["experiment"] and "kept_back" in model.card:
        return model, int(model.card["notes"])
    notes = notes_of(arm, settings, models)
    preset = replace(PRESETS["default"], epochs=size.epochs)
    learned, back = [it for i, it in enumerate(notes) if i % _BACK], notes[::_BACK]
    begun = (starting or start_of)(start, preset)
    return train(learned, back, begun, preset, folder, about=told, models=models).model, len(learned)


def unseen(found: Sequence[Result]) -> Iterator[tuple[str, Difference]]:
    """What recall loses on the names of a locale that a model has not seen, each locale and all together.

    Args:
        found: Of the experiment `leave_one_locale_out`.
    """
    seen = {it.test: it for it in found if it.arm == ALL_LOCALES}
    without = [it for it in found if it.arm != ALL_LOCALES]
    for it in without:
        yield it.test, difference(it.counts, seen[it.test].counts, "recall")
    pooled = [count for it in without for count in it.counts]
    yield "together", difference(pooled, [count for it in without for count in seen[it.test].counts], "recall")


def _counts(
    model: ModelFolder, test: str, settings: Settings | None, size: Size, engine: LocalEngine
) -> tuple[NoteCounts, ...]:
    spec = DetectorSpec("ensemble", professions=True, models=(str(model.path),))
    alone = replace(spec, without=dict(ablations(spec.stages, topics=False))["model"])
    notes, gold = zip(*_test_notes(test, settings, size), strict=True)
    return tuple(counted(list(notes), list(gold), alone, engine))


def _test_notes(test: str, settings: Settings | None, size: Size) -> Iterator[tuple[Note, tuple[Span, ...]]]:
    """Notes of the test parts: ways, names and carriers that no model is trained on."""
    if test == HOSPITAL:
        spec = HospitalSpec(notes=size.test_notes * len(LOCALES), deliveries=1, part=HospitalPart.HELD_OUT)
        for delivery in generate(spec):
            yield from ((note, tuple(delivery.gold[note.note_id])) for note in delivery.notes)
        return
    carriers = (name for name, corpus in PUBLISHED.items() if is_carrier(corpus, settings))
    for name in (REPORTS,) if test == REPORTS else carriers:
        for locale in LOCALES if test in (REPORTS, EVERYTHING) else (test,):
            made, _ = notes_of_test(settings, CorpusKey(name, locale), most=size.test_notes)
            for one in made:
                whose = f"{name}/{locale}/{one.note.note_id}"
                yield replace(one.note, note_id=whose, patient_id=f"{name}/{locale}/{one.note.patient_id}"), one.gold
