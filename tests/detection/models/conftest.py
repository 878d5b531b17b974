"""A model of a few words: a vocabulary, and a network that knows each piece by heart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
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


def _network(labels: Sequence[str], known: Mapping[str, str]) -> onnx.ModelProto:
    """Logits that depend on the piece alone: 4 for the class that it is known by."""
    table = np.zeros((len(WORDS), len(labels)), dtype=np.float32)
    for number, word in enumerate(WORDS):
        table[number, labels.index(known.get(word, "O"))] = 4
    size = ["window", "piece"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "ids"], ["logits"]), helper.make_node("Shape", ["features"], ["unused"])],
        "known",
        [helper.make_tensor_value_info(name, TensorProto.INT64, size) for name in ("ids", "features")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [*size, len(labels)])],
        [numpy_helper.from_array(table, "table")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def write_model(folder: Path, labels: Sequence[str], known: Mapping[str, str]) -> ModelFolder:
    """A model with these classes, which knows each piece by one of them."""
    folder.mkdir()
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    tokenizer.save(str(folder / VOCABULARY))
    onnx.save(_network(labels, known), folder / NETWORK)
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (NETWORK, VOCABULARY)}
    (folder / CARD).write_text(json.dumps({"labels": labels, "thresholds": {"DATE": 0.3}, "files": files}))
    return ModelFolder(folder)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    return write_model(tmp_path_factory.mktemp("made") / "tiny", LABELS, _KNOWN)


@pytest.fixture
def model_of(tmp_path: Path) -> Callable[[Mapping[str, str]], ModelFolder]:
    """A model whose classes are those by which it knows its pieces, in the order of their names, behind "O"."""

    def make(known: Mapping[str, str]) -> ModelFolder:
        return write_model(tmp_path / "of-others", ["O", *sorted(set(known.values()))], known)

    return make


@pytest.fixture(scope="session")
def reader(model_folder: ModelFolder) -> Reader:
    return Reader(model_folder.path / VOCABULARY)
