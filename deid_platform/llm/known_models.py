"""The models that the papers measured, known by the names under which they are served or lie in folders.

Belongs here: which of them a name means. Does not belong here: asking it (`api.py`), or the papers' figures
(`dbt/seeds`).

A figure of ours stands beside a published one only where the same model was asked (docs/papers.md).
"""

from __future__ import annotations

import re

_NAMES: dict[str, str] = {
    "llama-3.3-70b": r"llama-?3\.3.*70b|llama-?3\.3(:latest)?$",
    "llama-3.1-8b": r"llama-?3\.1.*8b",
    "llama-3-8b": r"llama-?3[-:].*8b",
    "llama-3-70b": r"llama-?3[-:].*70b",
    "llama-3.2-3b": r"llama-?3\.2.*3b",
    "qwen-2.5-72b": r"qwen-?2\.5.*72b",
    "qwen-2.5-32b": r"qwen-?2\.5.*32b",
    "mixtral-8x7b": r"mixtral.*8x7b",
    "mistral-7b": r"mistral.*7b",
    "gemma-3-1b": r"gemma-?3.*\b1b",
    "gemma-3-4b": r"gemma-?3.*\b4b",
    "gemma-3-12b": r"gemma-?3.*\b12b",
    "phi-4-14b": r"phi-?4(:14b|:latest)?$",
    "gpt-3.5": r"gpt-?3\.5",
    "gpt-4": r"gpt-?4(-\d+|-turbo.*)?$",
}
KNOWN = tuple(_NAMES)
"""Words for them: maker, version and size."""
_STARTS: dict[str, str] = {
    "clinicalbert": r"clinical.?bert|deid_bert",
    "modernbert": r"modernbert",
    "bert": r"^bert\b",
    "llama-1b": r"llama-?3\.2.*\b1b",
    "llama-3b": r"llama-?3\.2.*\b3b",
    "llama-8b": r"llama-?3(\.1)?\b.*8b",
    "qwen-1.5b": r"qwen-?2\.5.*1\.5b",
    "qwen-3b": r"qwen-?2\.5.*\b3b",
    "qwen-7b": r"qwen-?2\.5.*\b7b",
}
KNOWN_STARTS = tuple(_STARTS)
"""Architectures that Zambare 2026 fine-tunes."""


def known_model(name: str) -> str | None:
    """The word of `KNOWN` for a model's name or path ("meta-llama/Llama-3.3-70B-Instruct"); None for any other."""
    return _word(name, _NAMES)


def known_start(name: str) -> str | None:
    """The word of `KNOWN_STARTS` for the name or the folder of weights to train from; None for any other."""
    return _word(name, _STARTS)


def _word(name: str, patterns: dict[str, str]) -> str | None:
    last = name.rstrip("/").rsplit("/", 1)[-1].lower()
    return next((word for word, pattern in patterns.items() if re.search(pattern, last)), None)
