"""Models of the papers by the names under which they are served, and near misses."""

from __future__ import annotations

import pytest

from deid_platform.llm.known_models import KNOWN, KNOWN_STARTS, known_model, known_start


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
        ("/models/Llama-3.3-70B-Instruct-AWQ/", "llama-3.3-70b"),
        ("llama3.3:70b", "llama-3.3-70b"),
        ("Meta-Llama-3-8B-Instruct", "llama-3-8b"),
        ("Meta-Llama-3-70B-Instruct", "llama-3-70b"),
        ("Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("llama3.2:3b", "llama-3.2-3b"),
        ("Qwen/Qwen2.5-72B-Instruct", "qwen-2.5-72b"),
        ("Qwen2.5-32B-Instruct", "qwen-2.5-32b"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("mistral:7b", "mistral-7b"),
        ("google/gemma-3-12b-it", "gemma-3-12b"),
        ("gemma3:1b", "gemma-3-1b"),
        ("gemma3:4b", "gemma-3-4b"),
        ("microsoft/phi-4", "phi-4-14b"),
        ("gpt-3.5-turbo", "gpt-3.5"),
        ("gpt-4", "gpt-4"),
    ],
)
def test_a_model_of_a_paper_is_known_by_its_name(name: str, word: str) -> None:
    assert known_model(name) == word
    assert word in KNOWN


@pytest.mark.parametrize(
    "name", ["llama-3.1-70b", "gpt-4o", "gpt-4.1", "phi-4-mini-instruct", "Qwen3-32B", "SmolLM2-135M", "llama-3.2-1b"]
)
def test_another_version_or_size_is_another_model(name: str) -> None:
    assert known_model(name) is None


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("bert-base-cased", "bert"),
        ("/weights/Bio_ClinicalBERT", "clinicalbert"),
        ("ModernBERT-base", "modernbert"),
        ("Llama-3.2-1B", "llama-1b"),
        ("Llama-3.2-3B", "llama-3b"),
        ("Llama-3.1-8B", "llama-8b"),
        ("Qwen2.5-1.5B", "qwen-1.5b"),
        ("Qwen2.5-3B", "qwen-3b"),
        ("Qwen2.5-7B", "qwen-7b"),
        ("roberta-base", None),
        ("distilbert-base-cased", None),
        ("Qwen3-8B", None),
    ],
)
def test_what_a_paper_trains_from_is_known_by_the_folders_name(name: str, word: str | None) -> None:
    assert known_start(name) == word
    assert word is None or word in KNOWN_STARTS
