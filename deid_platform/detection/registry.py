"""Which detectors, stages, models and judges exist.

Belongs here: their names, in tables. Does not belong here: a detector's description and how it is built (`spec.py`), or
how any of them works. A new model is one entry of `MODELS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from deid_platform.detection.api import Detector
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.loading import Models
from deid_platform.detection.models.network_server import Served
from deid_platform.detection.resolve.judgement import Judge
from deid_platform.detection.resolve.vocabulary_judge import VocabularyJudge
from deid_platform.detection.rules import RULE_STEPS
from deid_platform.errors import Code, DeidError, did_you_mean


class ModelOptions(Protocol):
    """What a detector's description says to each of its models; see `DetectorSpec`."""

    @property
    def professions(self) -> bool:
        """Whether professions are searched for."""
        ...

    @property
    def device(self) -> str:
        """Where networks run."""
        ...

    @property
    def served(self) -> Served | None:
        """The process that runs them for all workers, if there is one."""
        ...


class Model(NamedTuple):
    """How a model is built in a worker, and what names it.

    Attributes:
        build: Makes the detector, with what loads models.
        digest: Names all that decides what it finds: weights, runtime, precision, thresholds. The bench approves that.
        folder: Where it lies, if a process of its own may run its network.
    """

    build: Callable[[ModelOptions, Models], Detector]
    digest: Callable[[], str]
    folder: ModelFolder | None = None

    @classmethod
    def of(cls, folder: ModelFolder) -> Model:
        """A token classifier on disk."""

        def build(options: ModelOptions, models: Models) -> Detector:
            return models.token_classifier(
                folder, professions=options.professions, device=options.device, served=options.served
            )

        return cls(build, lambda: folder.digest, folder)


SHIPPED = "minilm"
"""The model that runs unless another is asked for."""
MODELS: dict[str, Model] = {SHIPPED: Model.of(ModelFolder.shipped(SHIPPED))}
"""Models by name. Their candidates join those of rules and topics before any is recovered or merged."""

JUDGES: dict[str, Callable[[], Judge]] = {"vocabulary": VocabularyJudge}
"""Judges by name; none weighs anything unless it is asked for. A chat model is one by `DetectorSpec.chat_judge`."""

DEFAULT = "ensemble"
"""What detects unless another detector is asked for: the model finds names that nothing introduces, rules and topics
find what has a form or is known."""

_RULES = (*RULE_STEPS, "propagation", "staff_initials")
_LAST = ("relatives", "cross_note_mentions")
DETECTORS: Mapping[str, tuple[str, ...]] = {
    DEFAULT: (
        *_RULES,
        "gazetteer",
        "roster",
        "models",
        "chat",
        "days",
        "ends",
        "doubt",
        "local_words",
        "recovery",
        "judge",
        "clinicians",
        *_LAST,
    ),
    "rules": (*_RULES, "gazetteer", "roster", "days", "ends", "recovery", *_LAST),
    "patterns": (*_RULES, *_LAST),
    "gazetteer": ("gazetteer", *_LAST),
    "roster": ("roster", *_LAST),
}
"""The stages of each detector, in their order; the default first."""


def model_named(name: str) -> Model:
    """A registered model, or the one in a folder.

    Raises:
        DeidError: `detector-unknown`.
    """
    if name in MODELS:
        return MODELS[name]
    if (folder := ModelFolder(Path(name))).is_there:
        return Model.of(folder)
    raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(name, MODELS))


def is_shipped(detector: str, models: Sequence[str] | None) -> bool:
    """Whether the shipped figures (`languages/shipped.py`) are its own: with the shipped model and no other."""
    return detector == DEFAULT and (models is None or list(models) == [SHIPPED])


def detector_names() -> tuple[str, ...]:
    """The registered detectors, the default first."""
    return tuple(DETECTORS)


def stage_names(detector: str) -> tuple[str, ...]:
    """The stages of a detector, in their order.

    Raises:
        DeidError: `detector-unknown`.
    """
    if detector not in DETECTORS:
        raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(detector, DETECTORS))
    return DETECTORS[detector]
