"""vLLM on the processor: what `make test-llm` runs, and nothing else collects.

The model is a Llama of two thin layers with drawn weights: what it says means nothing, and is the same at each run.
Heads of 64 numbers are the smallest that vLLM's kernels for the processor take.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine

sys.path.append(str(Path(__file__).parent))

if find_spec("vllm") is None:
    collect_ignore_glob = ["test_*.py"]

# The model is so small that threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

CONTEXT = 2048
"""Tokens, which are bytes: the tokenizer has no merges."""
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKS = ("<|im_start|>", "<|im_end|>", "<|pad|>")


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, as the library `transformers` writes it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("chat")
    write_tokenizer(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=256 + len(MARKS),
        hidden_size=128,
        num_attention_heads=2,
        num_key_value_heads=1,
        num_hidden_layers=2,
        intermediate_size=256,
        max_position_embeddings=CONTEXT,
        initializer_range=0.5,  # far enough apart that rounding decides nothing
        bos_token_id=None,
        eos_token_id=257,
        pad_token_id=258,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


def write_tokenizer(folder: Path) -> None:
    """A piece for each byte, so that any text and any schema can be said."""
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({sign: number for number, sign in enumerate(signs)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in MARKS])
    tokenizer.save(str(folder / "tokenizer.json"))
    beside: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": MARKS[1],
        "pad_token": MARKS[2],
        "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(beside))


@pytest.fixture(scope="session")
def adapter_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA adapter of that model with drawn weights, as the library `peft` writes it."""
    import torch
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("adapter")
    torch.manual_seed(8)
    weights = {}
    for layer in range(2):
        at = f"base_model.model.model.layers.{layer}.self_attn"
        for part, rows in (("q_proj", 128), ("v_proj", 64)):
            weights[f"{at}.{part}.lora_A.weight"] = torch.randn(4, 128)
            weights[f"{at}.{part}.lora_B.weight"] = torch.randn(rows, 4)
    save_file(weights, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="session")
def engine_settings(chat_folder: Path, adapter_folder: Path) -> EngineSettings:
    return EngineSettings(
        chat_folder, adapters=(("house", adapter_folder),), cache_gib=0.25, at_once=4, compiled=False, seed=3
    )


@pytest.fixture(scope="session")
def engine(engine_settings: EngineSettings) -> Iterator[VllmEngine]:
    """Started once for all tests that do not break it."""
    with VllmEngine(engine_settings) as started:
        yield started
