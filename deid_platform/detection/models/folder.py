"""The folder of a model: its network, its vocabulary, and the card that says what they are.

Belongs here: reading and verifying them. Does not belong here: running a network (`onnx_network.py`,
`torch_network.py`).

What `deid train` writes holds `model.onnx`, `tokenizer.json` and `model.json`: labels, thresholds, the digest of the
other two. A token classifier as the library `transformers` saves it holds `config.json`, `model.safetensors` and
`tokenizer.json`, and may have a card with thresholds.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from deid_platform.detection.models.tags import Tags, read_tags
from deid_platform.detection.models.windows import LENGTH
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label

NETWORK, WEIGHTS, VOCABULARY = "model.onnx", "model.safetensors", "tokenizer.json"
CARD, CONFIG = "model.json", "config.json"


@dataclass(frozen=True)
class ModelFolder:
    """A model on disk.

    Args:
        path: Its folder.
    """

    path: Path

    @classmethod
    def shipped(cls, name: str) -> ModelFolder:
        """A model of the package, whether or not it is there."""
        return cls(Path(__file__).parent / "data" / name)

    @property
    def is_there(self) -> bool:
        """Whether a model is here at all: a card, or a configuration of `transformers`."""
        return (self.path / CARD).is_file() or self.is_transformers

    @property
    def is_transformers(self) -> bool:
        """Whether it is as the library `transformers` saves one, and runs with torch."""
        return not (self.path / NETWORK).exists() and (self.path / CONFIG).exists()

    @property
    def network(self) -> str:
        """The name of the network's file."""
        return WEIGHTS if self.is_transformers else NETWORK

    @cached_property
    def card(self) -> dict[str, Any]:
        """What `model.json` says, or for a model of `transformers` without one, what can be known of it.

        Raises:
            DeidError: `model-unusable` if it cannot be read, or does not say labels, thresholds and files.
        """
        card = self._read(CARD)
        if self.is_transformers and not card:
            named = self._read(CONFIG).get("id2label", {})
            labels = [named[number] for number in sorted(named, key=int)]
            files = {name: self._sha256(name) for name in (WEIGHTS, VOCABULARY)}
            card = {"labels": labels, "thresholds": {}, "files": files}
        if not {"labels", "thresholds", "files"} <= card.keys():
            raise DeidError(Code.MODEL_UNUSABLE, CARD)
        return card

    @cached_property
    def tags(self) -> Tags:
        """What the classes of the network stand for.

        Raises:
            DeidError: `model-unusable` with the tag that no label scheme knows.
        """
        return read_tags([str(name) for name in self.card["labels"]], CONFIG if self.is_transformers else CARD)

    @property
    def classes(self) -> tuple[Label | None, ...]:
        """The label of each class of the network, None for no identifier; raises what `tags` does."""
        return self.tags.labels

    @property
    def architecture(self) -> str:
        """What `transformers` calls the kind of network, "bert" for one; empty for one of ours."""
        return str(self._read(CONFIG).get("model_type", "")) if self.is_transformers else ""

    @property
    def length(self) -> int:
        """The most pieces of a window, without the marks at its ends."""
        return int(self.card.get("length", LENGTH))

    @property
    def digest(self) -> str:
        """Names weights, vocabulary, thresholds, runtime and precision: all that decides what it finds."""
        card = self.card
        said = json.dumps([card["files"], card["labels"], card["thresholds"]], sort_keys=True)
        runtimes = ("torch", "transformers") if self.is_transformers else ("onnxruntime",)
        return plain_digest(said, *(f"{name} {_version(name)}" for name in (*runtimes, "tokenizers")))

    def verified(self) -> ModelFolder:
        """This folder, if network and vocabulary are those that the card names.

        Raises:
            DeidError: `model-unusable` with the file that is another or is missing.
        """
        for name in (self.network, VOCABULARY):
            if not (found := self._sha256(name)) or found != self.card["files"].get(name):
                raise DeidError(Code.MODEL_UNUSABLE, name)
        return self

    def checked(self) -> ModelFolder:
        """This folder, if it can be run: its classes are read, its files are there, and so is what runs them.

        Raises:
            DeidError: `model-unusable` with the tag or the file; `extra-missing`.
        """
        _ = self.tags
        self.verified()
        if self.is_transformers and not (find_spec("torch") and find_spec("transformers")):
            raise DeidError(Code.EXTRA_MISSING, "ml")
        return self

    @property
    def runtime(self) -> str:
        """What runs it, on the processor."""
        return "torch" if self.is_transformers else "onnxruntime"

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self.path / name).read_bytes()))
        except (OSError, ValueError):
            return {}

    def _sha256(self, name: str) -> str:
        try:
            return hashlib.sha256((self.path / name).read_bytes()).hexdigest()
        except OSError:
            return ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
