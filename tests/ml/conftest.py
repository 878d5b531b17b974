"""Training, with torch: what `make test-ml` runs in an environment of its own, and nothing else collects."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

if find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import torch

    torch.set_num_threads(1)  # what is trained here is so small that threads would only wait for each other

SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two thin layers with drawn weights, as the library `transformers` writes it."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("encoder")
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *signs, *(f"##{sign}" for sign in signs)]
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    tokenizer.save(str(folder / "tokenizer.json"))
    model = BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=256, **SIZE))
    model.save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == SIZE["hidden_size"]
    return folder
