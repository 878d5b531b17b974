"""The language models that the papers measured, known by the names under which they are served.

Belongs here: which of them a model's name means. Does not belong here: asking it (`api.py`), or the papers' figures
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


def known_model(name: str) -> str | None:
    """The word of `KNOWN` for a model's name or path ("meta-llama/Llama-3.3-70B-Instruct"); None for any other."""
    last = name.rstrip("/").rsplit("/", 1)[-1].lower()
    return next((word for word, pattern in _NAMES.items() if re.search(pattern, last)), None)
