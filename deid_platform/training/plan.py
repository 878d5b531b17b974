"""What a training is of, as `deid train` and the asset `models/trained` are told it.

Belongs here: choosing notes, start and preset. Does not belong here: training (`run.py`), which needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from deid_platform.corpora import Rejection
from deid_platform.corpora.gold_sets import GoldSet
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.settings import Settings
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import Mixture, beside, labelled
from deid_platform.training.parted_encoder import NAME as PARTED
from deid_platform.training.parted_encoder import joined
from deid_platform.training.presets import PRESETS, Preset

if TYPE_CHECKING:
    from deid_platform.detection.models.loading import Models
    from deid_platform.training.fine_tuning import Progress
    from deid_platform.training.run import Trained
    from deid_platform.training.starting import Starting

SEED = 5
_BESIDE_GOLD = beside(200, hospital=200)


@dataclass(frozen=True)
class Plan:
    """What to train.

    Attributes:
        folder: Becomes the model's; a training that stopped there goes on.
        gold: Files of a site's own adjudicated notes; without any, the surrogate corpora.
        scheme: Label scheme of the gold; by default that of its format.
        start: A shipped model, a model's folder or an encoder's; unless given, what the preset starts from, with gold
            the shipped model.
        epochs: Passes over the notes; those of the preset unless given.
        seed: The same seed gives the same model on the same machine.
        preset: One of `PRESETS`; with gold "site" unless given, else "default".
    """

    folder: Path
    gold: tuple[Path, ...] = ()
    scheme: str | None = None
    start: str | None = None
    epochs: float | None = None
    seed: int = SEED
    preset: str | None = None


def carried_out(
    plan: Plan,
    settings: Settings | None,
    *,
    measured: Collection[str] = (),
    models: Models | None = None,
    starting: Starting | None = None,
    told: Callable[[Progress], object] = lambda _: None,
) -> Trained:
    """Trains as planned.

    Args:
        plan: What to train.
        settings: Say where published corpora lie.
        measured: Digests (`text_digest`) of the notes on which detectors are measured, none of which may be trained on.
        models: Load what was trained and what screens notes; some of their own unless given.
        starting: Loads what it starts from; `start_of` unless given.
        told: Of the progress.

    Raises:
        DeidError: `extra-missing` without torch; `training-on-test` if a note of the gold is measured on;
            `gold-invalid` if one cannot be used; what `GoldSet`, `labelled`, `start_of` and `train` raise.
    """
    own = [note for path in plan.gold for note in _gold_notes(path, plan.scheme)]
    if seen := sum(text_digest(note.text) in measured for note in own):
        raise DeidError(Code.TRAINING_ON_TEST, f"{seen:,} of {len(own):,} notes")
    if find_spec("torch") is None:
        raise DeidError(Code.EXTRA_MISSING, "ml")
    from deid_platform.training.run import train
    from deid_platform.training.starting import start_of

    preset = replace(PRESETS[plan.preset or ("site" if plan.gold else "default")], seed=plan.seed)
    start = plan.start or preset.start or ("minilm" if plan.gold else None)
    if preset.transformers:
        start, preset = _of_transformers(plan, preset)
    preset = replace(preset, epochs=plan.epochs or preset.epochs)
    mixture = _BESIDE_GOLD if plan.gold else Mixture().with_library if preset.library else Mixture()
    learned = mixture.more(preset.woven)
    if own and preset.gold_alone:
        learned, notes, tuning = beside(0), own, list[Labelled]()
    else:
        notes, tuning = (
            [*(note for note in own if some.takes(note.corpus, note.key)), *labelled(some, settings, models)]
            for some in (learned, mixture.tuning)
        )
    return train(
        notes,
        tuning,
        (starting or start_of)(start, preset),
        preset,
        plan.folder,
        about={"data": {"own_gold": len(own), **asdict(learned)}},
        models=models,
        told=told,
    )


def _of_transformers(plan: Plan, preset: Preset) -> tuple[str, Preset]:
    """The encoder's folder, and the preset with what its architecture settles."""
    from deid_platform.training.transformers_start import settled

    if plan.start is None and preset.start == PARTED:
        return str(joined(plan.folder)), preset
    if plan.start is None or not Path(plan.start).is_dir():
        raise DeidError(Code.MODEL_UNUSABLE, plan.start or "--start names no folder of weights")
    return plan.start, preset if preset.start else settled(preset, Path(plan.start))


def text_digest(text: str) -> str:
    """Names a note's text, by which a note that is measured on is known."""
    return plain_digest(text)


def _refuse(rejection: Rejection) -> NoReturn:
    """A training never goes on without a note that somebody meant it to have."""
    raise DeidError(Code.GOLD_INVALID, f"{rejection.file}, line {rejection.row}: {rejection.reason}")


def _gold_notes(path: Path, scheme: str | None) -> list[Labelled]:
    return [
        Labelled(gold.note.patient_id or gold.note_id, path.stem, "", gold.note.text, gold.spans)
        for gold in GoldSet(path, scheme=scheme, refused=_refuse)
        if gold.note is not None
    ]
