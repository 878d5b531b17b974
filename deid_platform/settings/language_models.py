"""Sections about language models: `[llm]`, `[vllm]`, `[judges]`.

Belongs here: keys, defaults, and which keys go together. Does not belong here: asking a model (`llm/`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from deid_platform.settings.section import Identifier, Section


class LlmSettings(Section):
    """The language model that prompts go to (docs/language-models.md)."""

    url: str
    """Where its interface lies, up to `/v1`."""
    model: str = Field(min_length=1)
    revision: str = ""
    """What the site calls the weights behind that name."""
    context_length: int = Field(default=8192, gt=0)
    """Tokens of a request and its answer together."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts beside this machine that are trusted with notes."""
    api_key_file: Path | None = None
    ca_file: Path | None = None
    concurrency: int = Field(default=8, ge=1)
    deadline: float = Field(default=300, gt=0)
    """Seconds that a request may take, all tries together."""
    temperature: float = Field(default=0, ge=0, le=2)
    seed: int = 0
    structured: bool = True
    """Whether the server can be given the form of an answer."""


class JudgeSettings(Section):
    """The panels of chat models that judge releases (docs/retention.md): models once each, or several seeds of some."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Their names at the endpoint of `[llm]`; its model unless told."""
    size: int | None = Field(default=None, ge=1)
    """How many judges; every model with every seed where seeds are told, else three, or each model once if those are
    more (Miranda 2025, 4.2.1)."""
    seeds: tuple[int, ...] | None = Field(default=None, min_length=1)
    """For sampling; 1, 2 and so on, as many as the size takes, unless told."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    """Above 0, so that seeds make a difference (Miranda 2025, 4.2.1)."""


class VllmSettings(Section):
    """A language model whose weights lie on this machine; see `llm.vllm_engine.EngineSettings`."""

    model: Path
    """A folder as the library `transformers` saves it."""
    adapters: dict[Identifier, Path] = {}
    """LoRA adapters, folders as `peft` saves them."""
    adapter: Identifier | None = None
    """The one that answers; the weights by themselves unless told."""
    tensor_parallel: int = Field(default=1, ge=1)
    memory_fraction: float = Field(default=0.9, gt=0, le=1)
    cache_gib: float | None = Field(default=None, gt=0)
    max_length: int | None = Field(default=None, ge=128)
    at_once: int = Field(default=64, ge=1)
    structured_outputs: Literal["guidance", "xgrammar"] = "guidance"
    prefix_caching: bool = True
    compiled: bool = True
    precision: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    seed: int = Field(default=0, ge=0)
    template: dict[str, bool | str] = {}
    """What the chat template is told beside the messages."""
