"""A reader of a few words, by which pieces can be counted by hand."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer

from deid_platform.detection.models.tokens import Reader


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    words = ["[UNK]", "[CLS]", "[SEP]", "saw", "Oko", "##nkwo", "3", "/"]
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    path = tmp_path_factory.mktemp("reader") / "tokenizer.json"
    tokenizer.save(str(path))
    return Reader(path)
