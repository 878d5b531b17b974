"""The network: a BERT encoder with an embedding of how words are set, and a classifier of pieces.

Belongs here: the torch module and its starting weights. Does not belong here: training it (`fine_tuning.py`).

The encoder is written out because it has to export with windows of any length; its parameters have the names of the
library `transformers`, whose weights it takes as they are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from deid_platform.detection.models.tokens import FEATURES
from deid_platform.training.examples import LABELS


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
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.encoder = Encoder(size)
        self.features = nn.Embedding(FEATURES, size.hidden_size)
        nn.init.zeros_(self.features.weight)
        self.dropout = nn.Dropout(size.hidden_dropout_prob)
        self.classifier = nn.Linear(size.hidden_size, len(LABELS))

    def forward(self, ids: Tensor, features: Tensor, mask: Tensor | None = None) -> Tensor:
        """Logits (windows, pieces, classes) of pieces and their features (windows, pieces); mask is 0 for padding."""
        kept = None if mask is None else mask[:, None, None, :].bool()
        hidden = self.encoder(ids, self.features(features), kept)
        return self.classifier(self.dropout(hidden))  # type: ignore[no-any-return]


def from_encoder(folder: Path) -> Network:
    """A network that starts from the weights of an encoder's folder, with a new classifier."""
    network = Network(Size.of(folder))
    weights = load_file(folder / "model.safetensors")
    weights = {name.removeprefix("bert."): value for name, value in weights.items()}
    parts = {name: value for name, value in weights.items() if "pooler" not in name and "position_ids" not in name}
    network.encoder.load_state_dict(parts)
    return network


def seeded(seed: int) -> torch.Generator:
    """Sets the seed of everything drawn, and returns a generator of its own for the order of examples."""
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)
