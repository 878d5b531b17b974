"""What the doctor says of a language model: whether it is there, and fits the cards."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from deid_platform.doctor import models as doctor
from deid_platform.llm.vllm_engine import EngineSettings
from deid_platform.llm.weights import GIB

CONFIG = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 131072,
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EngineSettings:
    """A model of eight billion parameters, as far as headers go, and vLLM as if it were installed."""
    monkeypatch.setattr(doctor, "find_spec", lambda _: object())
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    tensor = {"dtype": "BF16", "shape": [8000, 10**6], "data_offsets": [0, 16 * 10**9]}
    said = json.dumps({"all": tensor}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(said).to_bytes(8, "little") + said)
    return EngineSettings(tmp_path, max_length=8192)


@pytest.mark.parametrize(
    ("cards", "cards_used", "good", "told"),
    [
        ([80 * GIB], 1, True, "the cache holds 451,"),
        ([24 * GIB], 1, True, "the cache holds 38,"),
        ([16 * GIB], 1, False, "give it more cards"),
        ([16 * GIB] * 2, 2, True, "the cache holds "),
        ([16 * GIB], 2, False, "cards are 1"),
        ([], 1, True, "on the processor"),
    ],
)
def test_weights_and_cache_are_held_against_the_cards(
    settings: EngineSettings, cards: list[int], cards_used: int, good: bool, told: str
) -> None:
    found = doctor._language_model(replace(settings, tensor_parallel=cards_used), cards)
    assert found.good is good
    assert told in found.detail
    assert "14.9 GiB, 128 KiB of cache a token" in found.detail


def test_a_model_that_is_not_there_is_named(settings: EngineSettings, tmp_path: Path) -> None:
    found = doctor._language_model(replace(settings, model=tmp_path / "none"), [80 * GIB])
    assert (found.good, "model-unusable [config.json]" in found.detail) == (False, True)
