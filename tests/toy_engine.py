"""Stands for vLLM in this process: a folder that looks like weights, and an engine that says what a test tells it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from deid_platform.llm import engines
from deid_platform.llm.api import ChatAnswer, ChatRequest, Finish, ModelIdentity
from deid_platform.llm.vllm_engine import EngineSettings
from deid_platform.runtime.model_seconds import ModelSeconds

Says = Callable[[ChatRequest], str]


class ToyEngine:
    """An engine as `Engines` starts and ends it, and its model (`ChatModel`)."""

    says: ClassVar[Says]
    loaded: ClassVar[int] = 0
    lost = False

    def __init__(self, settings: EngineSettings) -> None:
        self.identity, self.context_length = ModelIdentity(settings.model.name, "f" * 32), settings.context_length
        self.seconds = ModelSeconds()

    def __enter__(self) -> ToyEngine:
        ToyEngine.loaded += 1
        return self

    def __exit__(self, *_: object) -> None:
        return

    def model(self, _: str | None) -> ToyEngine:
        return self

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer]:
        for request in requests:
            yield ChatAnswer(ToyEngine.says(request), Finish.STOP)


def weights(folder: Path) -> Path:
    """A folder of which the platform can tell which model it is."""
    folder.mkdir()
    sizes: dict[str, Any] = {"hidden_size": 64, "num_attention_heads": 1, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(sizes | {"max_position_embeddings": 8192}))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@contextmanager
def engine(says: Says) -> Iterator[type[ToyEngine]]:
    """Engines of this process are such ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "VllmEngine", ToyEngine)
        patch.setattr(ToyEngine, "says", staticmethod(says), raising=False)
        patch.setattr(ToyEngine, "loaded", 0)
        yield ToyEngine
