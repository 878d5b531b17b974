"""How to train: what can be chosen by name.

Belongs here: the numbers. Does not belong here: the loop (`fine_tuning.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Preset:
    """How to train.

    Attributes:
        epochs: Passes over the examples.
        rate: The highest learning rate.
        decay: Weight decay.
        tokens: Pieces in a batch, padding included.
        warmup: Share of the steps until the rate is highest.
        seed: Order, dropout and the classifier's first weights.
        length: The most pieces of a window, the marks at its ends included; None for that of the shipped model.
        adapters: Whether only low-rank adapters are trained, and the classifier.
        binary: Whether only identifiers and other words are told apart; what is found then has the label IDNUM.
        transformers: Whether the network is as the library `transformers` has it, not the one that is shipped.
        layers: Which layers of the encoder that it starts from are kept; the whole network teaches them. None for all.
        frozen: How many of the first layers stay as they are, with the embeddings; None for none of either.
        former: Share that the weights it starts from have in the mean that the model's weights are.
        woven: How many times as many woven notes and notes of the hospital are made as by default.
        library: Whether the library's notes and texts without identifiers are learned from too.
        start: The shipped model that it starts from unless another is named, or the encoder of `transformers`; None for
            the default encoder. For one of `transformers` without it, the architecture settles what else it can.
        gold_alone: Whether nothing is learned beside a site's own gold, and none of that is kept back.
        argmax: Whether a word has its likeliest class, instead of thresholds that are chosen on notes kept back.
    """

    epochs: float = 1.5
    rate: float = 2.5e-4
    decay: float = 0.01
    tokens: int = 4096
    warmup: float = 0.06
    seed: int = 5
    length: int | None = None
    adapters: bool = False
    binary: bool = False
    transformers: bool = False
    layers: tuple[int, ...] | None = None
    frozen: int | None = None
    former: float = 0
    woven: float = 1
    library: bool = True
    start: str | None = None
    gold_alone: bool = False
    argmax: bool = False


_PAPER = Preset(epochs=10, rate=2e-5, decay=0.01, transformers=True, gold_alone=True, argmax=True)
PRESETS: Mapping[str, Preset] = {
    "default": Preset(),
    "woven": Preset(epochs=3, woven=3, library=False),
    "library": Preset(epochs=1, rate=2e-4, former=0.2, woven=0.5, start="minilm"),
    "fast": Preset(epochs=1, rate=3e-4, woven=0.5, layers=(0, 2, 5), start="minilm"),
    "site": Preset(epochs=3, rate=5e-5, start="minilm"),
    "large": Preset(epochs=2, rate=5e-5, tokens=16_384, transformers=True, start="all-mpnet-base-v2"),
    "paper004": _PAPER,
    "paper004-binary": replace(_PAPER, binary=True),
}
"""All notes at once, from the encoder; the two steps of the shipped model (`make model`), of which the first wants a
card; a student of the shipped model, with half its layers; a site's own notes, which are few; all notes at once, from
an encoder five times as large, on a card; and as Zambare 2026 trains, by architecture."""
