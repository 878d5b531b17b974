"""A trained model made a site's own with a few of its notes.

Belongs here: the order of the steps. Does not belong here: what is learned beside them (`mixture.py`), which notes
people mark (`uncertainty.py`), or whether the new model is better (`review/annotation/adaptation`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.registry import MODELS
from deid_platform.errors import Code, DeidError
from deid_platform.training.labelled import Labelled
from deid_platform.training.mixture import Mixture, beside, labelled
from deid_platform.training.presets import PRESETS, Preset

if TYPE_CHECKING:
    from deid_platform.training.fine_tuning import Progress
    from deid_platform.training.run import Trained


def adapted(
    learn: Sequence[Labelled],
    tuning: Sequence[Labelled],
    folder: Path,
    *,
    start: str,
    preset: Preset = PRESETS["site"],
    mixture: Mixture | None = None,
    told: Callable[[Progress], object] = lambda _: None,
) -> Trained:
    """Goes on from a trained model with notes of a site.

    Where the notes would allow a threshold higher than the former model has it, the former one stays: a few notes show
    too few identifiers to say what may be let through, and what a site never writes is forgotten first.

    Args:
        learn: The site's notes to learn from.
        tuning: Other notes of the site, for the thresholds; the library's threshold authors stand beside them.
        folder: Becomes the new model's.
        start: A shipped model or a model's folder.
        preset: How to train.
        mixture: What is learned beside; `beside()` unless given.
        told: Of the progress.

    Raises:
        DeidError: `extra-missing` without torch; what `start_of` and `train` raise.
    """
    if find_spec("torch") is None:
        raise DeidError(Code.EXTRA_MISSING, "ml")
    from deid_platform.training.run import train
    from deid_platform.training.starting import start_of

    mixture = beside() if mixture is None else mixture
    former = ModelFolder.shipped(start) if start in MODELS else ModelFolder(Path(start))
    others = Mixture(corpora=(), hospital=0, library=1, plain=0, without=mixture.without, kept_back=True)
    return train(
        [*learn, *labelled(mixture, None)],
        [*tuning, *labelled(others, None)],
        start_of(start, preset),
        preset,
        folder,
        at_most=former if former.is_there else None,
        about={"data": {"own_gold": len(learn) + len(tuning), **asdict(mixture)}},
        told=told,
    )
