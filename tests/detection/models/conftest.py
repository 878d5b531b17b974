"""A model of a few words: a vocabulary, and a network that knows each piece by heart."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from deid_platform.detection.models.folder import CARD, NETWORK, VOCABULARY, ModelFolder
from deid_platform.detection.models.tokens import Reader
from deid_platform.labels import Label

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ndoye", "oko", "##nkwo", "3", "14", "/", "2019", "saw", "x", "baker"]
LABELS = ["O", *(label.value for label in Label)]
_KNOWN = {"ndoye": "DOCTOR", "oko": "PATIENT", "##nkwo": "PATIENT", "3": "DATE", "14": "DATE", "2019": "DATE",
          "baker": "PROFESSION"}  # fmt: skip


def _network() -> onnx.ModelProto:
    """Logits that depend on the piece alone: 4 for the label that it is known by."""
    table = np.zeros((len(WORDS), len(LABELS)), dtype=np.float32)
    for number, word in enumerate(WORDS):
        table[number, LABELS.index(_KNOWN.get(word, "O"))] = 4
    size = ["window", "piece"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["logits"]), helper.make_node("Shape", ["features"], ["unused"])],
        "known",
        [helper.make_tensor_value_info(name, TensorProto.INT64, size) for name in ("ids", "features")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*size, len(LABELS)])],
        [numpy_helper.from_array(table, "table")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    folder: Path = tmp_path_factory.mktemp("made") / "tiny"
    folder.mkdir()
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    tokenizer.save(str(folder / VOCABULARY))
    onnx.save(_network(), folder / NETWORK)
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (NETWORK, VOCABULARY)}
    (folder / CARD).write_text(json.dumps({"labels": LABELS, "thresholds": {"DATE": 0.3}, "files": files}))
    return ModelFolder(folder)


@pytest.fixture(scope="session")
def reader(model_folder: ModelFolder) -> Reader:
    return Reader(model_folder.path / VOCABULARY)
