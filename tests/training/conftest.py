"""A reader of a few words, by which pieces can be counted by hand."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from deid_platform.detection.models.tokens import Reader


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    words = ["[UNK]", "[CLS]", "[SEP]", "saw", "Oko", "##nkwo", "3", "/"]
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    path = tmp_path_factory.mktemp("reader") / "tokenizer.json"
    tokenizer.save(str(path))
    return Reader(path)
