"""The adapter of OpenAI's privacy filter on the network that `transformers` has of it, with drawn weights."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast
from transformers.models.openai_privacy_filter import (
    OpenAIPrivacyFilterConfig,
    OpenAIPrivacyFilterForTokenClassification,
)

from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import Peer, PeerProcess
from deid_platform.errors import Code, DeidError

KINDS = CLAIMS["privacy-filter"]["transformers"]
SIZE = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
}

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the library saves one: a vocabulary of bytes, and a class for each kind and place."""
    folder = tmp_path_factory.mktemp("privacy-filter")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({sign: at for at, sign in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="!").save_pretrained(folder)
    names = dict(enumerate(["O", *(f"{mark}-{kind}" for kind in KINDS for mark in "BIES")]))
    marks = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 0)
    config = OpenAIPrivacyFilterConfig(vocab_size=len(alphabet), id2label=names, **marks, **SIZE)
    torch.manual_seed(1)
    OpenAIPrivacyFilterForTokenClassification(config).save_pretrained(folder)
    return folder


def test_it_reads_notes_in_its_own_process(weights: Path) -> None:
    text = "Seen: Ann Roe, born 3/4/1990, by nobody."
    with PeerProcess(Peer.parse(f"privacy-filter:transformers:{weights}={sys.executable}")) as peer:
        assert peer.version.startswith("transformers 5")
        found, none = peer.find([text, ""])
    assert found and none == []
    assert all(span.kind in KINDS for span in found)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert not any(text[span.start].isspace() for span in found)


def test_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(DeidError) as error:
        PeerProcess(Peer.parse(f"privacy-filter:transformers:{tmp_path / 'weights'}={sys.executable}"))
    assert (error.value.code, error.value.ref) == (Code.PEER_MISSING, "privacy-filter: weights")
