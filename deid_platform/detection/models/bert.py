"""The network in torch: a BERT encoder with an embedding of how words are set, and a classifier of pieces.

Belongs here: the module, and reading its weights back from an exported graph. Does not belong here: training it
(`deid_platform/training`), or running it on windows (`torch_network.py`). Needs the extra `ml`.

The encoder is written out because it has to export with windows of any length; its parameters have the names of the
library `transformers`, whose weights it takes as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from deid_platform.detection.models.folder import NETWORK, ModelFolder
from deid_platform.detection.models.tokens import FEATURES
from deid_platform.errors import Code, DeidError

_MATRICES = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
             "intermediate.dense", "output.dense")  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Of an encoder; the names are those of its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_dropout_prob: float = 0.1

    @classmethod
    def of(cls, folder: Path) -> Size:
        """That of an encoder's folder."""
        told = json.loads((folder / "config.json").read_bytes())
        return cls(**{name: told[name] for name in cls.__dataclass_fields__ if name in told})


class _Embeddings(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(size.vocab_size, size.hidden_size)
        self.position_embeddings = nn.Embedding(size.max_position_embeddings, size.hidden_size)
        self.token_type_embeddings = nn.Embedding(size.type_vocab_size, size.hidden_size)
        self.LayerNorm = nn.LayerNorm(size.hidden_size, eps=size.layer_norm_eps)
        self.dropout = nn.Dropout(size.hidden_dropout_prob)

    def forward(self, ids: Tensor, more: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: ids.shape[1]]
        whole = self.word_embeddings(ids) + more + places + self.token_type_embeddings.weight[0]
        return self.dropout(self.LayerNorm(whole))  # type: ignore[no-any-return]

    def fold(self) -> None:
        """Moves the only type of pieces that is used into the places; all sums stay as they are."""
        with torch.no_grad():
            self.position_embeddings.weight += self.token_type_embeddings.weight[0]
            self.token_type_embeddings.weight.zero_()


class _Attending(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.num_attention_heads
        self.query, self.key, self.value = (nn.Linear(size.hidden_size, size.hidden_size) for _ in range(3))

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (
            made(hidden).unflatten(-1, (self.heads, -1)).transpose(1, 2) for made in (self.query, self.key, self.value)
        )
        return scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2).flatten(2)


class _Added(nn.Module):
    """A layer whose result is added to what it was given from before."""

    def __init__(self, taken: int, size: Size) -> None:
        super().__init__()
        self.dense = nn.Linear(taken, size.hidden_size)
        self.LayerNorm = nn.LayerNorm(size.hidden_size, eps=size.layer_norm_eps)
        self.dropout = nn.Dropout(size.hidden_dropout_prob)

    def forward(self, hidden: Tensor, before: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(hidden)) + before)  # type: ignore[no-any-return]


class _Layer(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        attention = {"self": _Attending(size), "output": _Added(size.hidden_size, size)}
        self.attention = nn.ModuleDict(attention)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size.hidden_size, size.intermediate_size)})
        self.output = _Added(size.intermediate_size, size)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        hidden = self.attention["output"](self.attention["self"](hidden, mask), hidden)
        return self.output(gelu(self.intermediate["dense"](hidden)), hidden)  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """BERT without its pooler (Devlin 2019)."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.embeddings = _Embeddings(size)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(size) for _ in range(size.num_hidden_layers))})

    def forward(self, ids: Tensor, more: Tensor, mask: Tensor | None) -> Tensor:
        """The last hidden states; `more` is added to the embedding of each piece."""
        hidden = self.embeddings(ids, more)
        for layer in self.encoder["layer"]:  # type: ignore[union-attr]
            hidden = layer(hidden, mask)
        return hidden  # type: ignore[no-any-return]


class Network(nn.Module):
    """Logits for each piece.

    Args:
        size: Of the encoder.
        classes: How many there are.
    """

    def __init__(self, size: Size, classes: int) -> None:
        super().__init__()
        self.size = size
        self.encoder = Encoder(size)
        self.features = nn.Embedding(FEATURES, size.hidden_size)
        nn.init.zeros_(self.features.weight)
        self.dropout = nn.Dropout(size.hidden_dropout_prob)
        self.classifier = nn.Linear(size.hidden_size, classes)

    def keep_layers(self, layers: Sequence[int]) -> None:
        """Drops all layers of the encoder but these."""
        held = self.encoder.encoder["layer"]
        self.encoder.encoder["layer"] = nn.ModuleList(held[n] for n in layers)  # type: ignore[index]
        self.size = replace(self.size, num_hidden_layers=len(layers))

    def forward(self, ids: Tensor, features: Tensor, mask: Tensor | None = None) -> Tensor:
        """Logits (windows, pieces, classes) of pieces and their features (windows, pieces); mask is 0 for padding."""
        kept = None if mask is None else mask[:, None, None, :].bool()
        hidden = self.encoder(ids, self.features(features), kept)
        return self.classifier(self.dropout(hidden))  # type: ignore[no-any-return]


def exported(folder: ModelFolder) -> Network:
    """The network of a folder's graph, whose int8 weights are made numbers again.

    Raises:
        DeidError: `model-unusable` for a graph of another architecture.
    """
    try:
        network = Network(Size(**folder.card["size"]), len(folder.classes))
        weights = dict(_weights(onnx.load(folder.path / NETWORK).graph, network))
        network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    except (KeyError, TypeError, ValueError, RuntimeError):
        raise DeidError(Code.MODEL_UNUSABLE, NETWORK) from None
    return network


def _weights(graph: onnx.GraphProto, network: Network) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Names of the network's parameters and their values, from an exported graph.

    Matrices have no names of their own there, but the order in which the layers use them.
    """
    held = {it.name: numpy_helper.to_array(it) for it in graph.initializer}
    used = [it.input[1].removesuffix("_quantized") for it in graph.node if it.op_type == "MatMulInteger"]
    layers = len(network.encoder.encoder["layer"])  # type: ignore[arg-type]
    named = [f"encoder.encoder.layer.{n}.{part}.weight" for n in range(layers) for part in _MATRICES]
    of_graph = dict(zip([*named, "classifier.weight"], used, strict=True))
    for name, shape in ((name, tuple(value.shape)) for name, value in network.state_dict().items()):
        if "token_type" in name:  # folded into the places
            yield name, np.zeros(shape, dtype=np.float32)
            continue
        source = of_graph.get(name, name)
        value = held[source] if source in held else _whole(held, source)
        value = value.T if name in of_graph else value
        yield name, value.reshape(shape).astype(np.float32)


def _whole(held: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    quantized, zero = held[f"{name}_quantized"].astype(np.float32), held[f"{name}_zero_point"].astype(np.float32)
    return np.asarray((quantized - zero) * held[f"{name}_scale"])
