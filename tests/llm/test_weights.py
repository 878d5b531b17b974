"""A folder of weights: what it needs of a card's memory, what names it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.llm.weights import GIB, WeightsFolder, fit, largest

# As Llama 3.1 8B publishes it.
CONFIG = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 131072,
}
CARD = 80 * GIB


def folder(path: Path, tensors: dict[str, tuple[str, list[int]]], **config: object) -> WeightsFolder:
    """A model whose weights are a header without numbers, which is all that is read."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps({**CONFIG, **config}))
    sizes = {"F32": 4, "BF16": 2, "U8": 1}
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (kind, shape) in tensors.items():
        end = at + sizes[kind] * shape[0] * shape[1]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, end]}
        at = end
    said = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(len(said).to_bytes(8, "little") + said)
    return WeightsFolder(path)


def test_a_token_takes_what_the_arithmetic_says(tmp_path: Path) -> None:
    # 2 (key, value) x 32 layers x 8 heads x 128 numbers x 2 bytes: the 128 KiB that are published for this shape
    assert folder(tmp_path, {}).shape.token_bytes == 128 * 1024


@pytest.mark.parametrize(
    ("config", "token_bytes"),
    [
        ({"num_key_value_heads": None}, 512 * 1024),  # a key for each query
        ({"head_dim": 64}, 64 * 1024),  # a size of its own
        ({"text_config": {"num_hidden_layers": 16}}, 64 * 1024),  # the part of a model that reads text
    ],
)
def test_shapes_are_told_in_more_than_one_way(tmp_path: Path, config: dict[str, object], token_bytes: int) -> None:
    assert folder(tmp_path, {}, **config).shape.token_bytes == token_bytes


def test_weights_count_with_two_bytes_a_number_and_quantised_ones_as_they_are(tmp_path: Path) -> None:
    found = folder(tmp_path, {"full": ("F32", [10, 10]), "half": ("BF16", [10, 10]), "packed": ("U8", [10, 10])})
    assert found.bytes == 200 + 200 + 100


def test_what_fits_a_card(tmp_path: Path) -> None:
    eight = folder(tmp_path / "8b", {"all": ("BF16", [8030, 10**6])})
    seventy = folder(tmp_path / "70b", {"all": ("BF16", [70600, 10**6])}, num_hidden_layers=80, hidden_size=8192)
    one = fit(eight, CARD, fraction=0.9, context=8192)
    # 72 GiB, less 15 GiB of weights and 2 GiB to work with
    assert (one.fits, one.tokens // 1000) == (True, (72 * GIB - 16_060_000_000 - 2 * GIB) // (128 * 1024) // 1000)
    assert not fit(seventy, CARD, fraction=0.9, context=8192).fits
    assert fit(seventy, CARD, fraction=0.9, cards=4, context=8192).fits
    assert fit(seventy, CARD, fraction=0.9).tokens == 0


def test_the_largest_model_is_what_memory_leaves_beside_the_cache() -> None:
    assert largest(CARD, fraction=0.9, cache=8 * GIB) == pytest.approx((72 - 2 - 8) * GIB / 2e9)
    assert largest(4 * GIB, fraction=0.9, cache=8 * GIB) == 0


@pytest.mark.parametrize("broken", ["config.json", "model.safetensors"])
def test_a_broken_folder_is_named_by_its_file(tmp_path: Path, broken: str) -> None:
    found = folder(tmp_path, {"all": ("BF16", [2, 2])})
    (tmp_path / broken).write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00not JSON")
    with pytest.raises(DeidError) as raised:
        fit(found, CARD, fraction=0.9)
    assert (raised.value.code, raised.value.ref) == (Code.MODEL_UNUSABLE, broken)


def test_every_byte_that_decides_an_answer_is_in_the_digest(tmp_path: Path) -> None:
    found = {folder(tmp_path, {"all": ("BF16", [2, 2])}).digest}
    (tmp_path / "README.md").write_text("about")
    found.add(WeightsFolder(tmp_path).digest)
    assert len(found) == 1
    for name in ("config.json", "model.safetensors", "chat_template.jinja", "tokenizer.json"):
        (tmp_path / name).write_text("another")
        found.add(WeightsFolder(tmp_path).digest)
    assert len(found) == 5
