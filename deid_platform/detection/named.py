"""Detectors as command lines and plans name them: those of the platform, and a model joined with a peer.

Belongs here: what `model:FOLDER`, `ensemble:FOLDER`, `ensemble-unrecovered` and `model:FOLDER+PEER` stand for. Does not
belong here: the names of peers (`peers/process.py`), prompts to a chat model (`llm/`), or running any of them
(`evaluation/comparison/side_by_side.py`, `bench/`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from deid_platform.detection.combination import UNITED
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import VARIANT, Peer
from deid_platform.detection.registry import DEFAULT, DETECTORS, SHIPPED, model_named, stage_names
from deid_platform.detection.spec import DetectorSpec
from deid_platform.errors import Code, DeidError, did_you_mean

MODEL = "model"
"""Before a model's name or folder: the token classifier alone."""
UNRECOVERED = f"{DEFAULT}-unrecovered"
"""The ensemble without recovery of clinical terms and without keep list: lines of Murugadoss 2024, table 1."""
_RECOVERY = "recovery"
_AND = re.compile(rf"\+(?=(?:{VARIANT})?(?:{'|'.join(CLAIMS)})(?:[:=]|$))")


@dataclass(frozen=True)
class Own:
    """A detector of the platform, under the name by which it was asked for.

    Attributes:
        name: As it was asked for.
        spec: The detector.
        variant: Whether what it finds is varied as Aghakasiri 2025, section 5.6, varies what is off the shelf.
    """

    name: str
    spec: DetectorSpec
    variant: bool = False

    @property
    def kind(self) -> str:
        """What the leaderboard calls it, whichever its model is: the digest tells that.

        `bert` is the ClinicalBERT that Aghakasiri 2025 took off the shelf: a BERT with the classes of obi's.
        """
        detector, _, model = self.name.removeprefix(VARIANT).partition(":")
        variant = VARIANT if self.variant else ""
        if detector != MODEL:
            return f"{variant}{detector}{'-own' if model else ''}"
        chosen = self.spec.models[0] if self.spec.models else SHIPPED
        if chosen == SHIPPED:
            return f"{variant}model-shipped"
        folder = model_named(chosen).folder
        is_obis = folder is not None and (folder.architecture, folder.tags.scheme) == ("bert", "obi")
        return f"{variant}{'bert' if is_obis else 'model-own'}"


@dataclass(frozen=True)
class Joined:
    """A token classifier alone and a peer, as Aghakasiri 2025, section 5.5, joins them: what either finds is hidden."""

    name: str
    model: Own
    peer: Peer


def parted(written: str) -> tuple[str, str] | None:
    """The names of two detectors, of which the second is a peer, that are joined; None for a name of one."""
    one, *peer = _AND.split(written, maxsplit=1)
    return (one, peer[0]) if peer else None


def is_model(written: str) -> bool:
    """Whether it has the form of a token classifier alone, in its variant too."""
    detector, colon, model = written.removeprefix(VARIANT).partition(":")
    return detector == MODEL and bool(model) == bool(colon) and parted(written) is None


def is_own(written: str) -> bool:
    """Whether it has the form of a detector of the platform, whatever its model."""
    detector, colon, model = written.partition(":")
    if is_model(written) or written == UNRECOVERED:
        return True
    return detector in DETECTORS and bool(model) == bool(colon) and parted(written) is None


def own(written: str, base: DetectorSpec, folder: Callable[[str], str] = str) -> Own:
    """A detector of the platform by its name.

    Args:
        written: A registered detector; `model:MODEL`, a token classifier alone; `modified-model:MODEL`, its variant;
            `DETECTOR:MODEL`, a detector with that model in the place of the shipped one; or `UNRECOVERED`.
        base: What all have in common. A detector without the stage that uses a part of it goes without that.
        folder: Where the folder of a model is that is named by a relative path.

    Raises:
        DeidError: `detector-unknown` for a detector or a model that is none, `settings-invalid` for a model of a
            detector that has none.
    """
    name, _, model = written.removeprefix(VARIANT).partition(":")
    alone = name == MODEL
    if not is_own(written):
        raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(name, (*DETECTORS, MODEL)))
    detector = DEFAULT if alone or name == UNRECOVERED else name
    stages = stage_names(detector)
    without = tuple(stage for stage in stages if stage != "models") if alone else ()
    if name == UNRECOVERED:
        without = (*base.without, _RECOVERY)
    spec = replace(
        base,
        name=detector,
        models=(folder(model),) if model else None if alone else base.models if "models" in stages else None,
        without=without,
        recognizers=base.recognizers if "recognizers" in stages and not alone else None,
        keep=base.keep if _RECOVERY in stages and _RECOVERY not in without else None,
    )
    if alone or "models" not in stages:
        spec = replace(spec, combination=UNITED, chat=None, chat_judge=None, indirect=None if alone else spec.indirect)
    spec.chosen_models()  # is refused here where there is none of that name
    return Own(written, spec, variant=written.startswith(VARIANT))
