"""Engines of this process: each is loaded once, whoever asks, and stays until all are released.

Belongs here: which engines are loaded. Does not belong here: running one (`vllm_engine.py`), or when a run ends
(`resources/gpu.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from deid_platform.errors import Code, DeidError
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, ModelIdentity
from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine

if TYPE_CHECKING:
    from deid_platform.settings import Settings


class Engines:
    """Engines by what they load."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: dict[EngineSettings, VllmEngine] = {}
        self._owned = ExitStack()

    def engine(self, settings: EngineSettings) -> VllmEngine:
        """The engine that loads so, started if it is not there.

        Raises:
            DeidError: What an engine raises as it starts.
        """
        with self._lock:
            if settings not in self._loaded:
                self._loaded[settings] = self._owned.enter_context(VllmEngine(settings))
            return self._loaded[settings]

    def check(self, settings: EngineSettings) -> None:
        """Nothing, while the engine that loads so lives, or if there is none.

        Raises:
            DeidError: `device-lost`.
        """
        with self._lock:
            engine = self._loaded.get(settings)
        if engine is not None and engine.lost:
            raise DeidError(Code.DEVICE_LOST)

    def release(self) -> None:
        """Ends all of them; whoever asks later has them loaded anew."""
        with self._lock:
            self._loaded.clear()
            self._owned.close()


ENGINES = Engines()
"""Those of this process."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """A chat model of this process, as an `EndpointSpec` is one elsewhere.

    Another process would load the weights once more: where workers ask, the model is a server's.

    Attributes:
        settings: What is loaded.
        adapter: On top of it; None for the weights by themselves.
    """

    settings: EngineSettings
    adapter: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> EngineSpec | None:
        """As `[vllm]` of deid.toml says, not loaded; None without that section."""
        if (it := settings.vllm) is None:
            return None
        told = it.model_dump(exclude={"model", "adapters", "adapter", "template"})
        engine = EngineSettings(
            settings.path(it.model),
            adapters=tuple((name, settings.path(path)) for name, path in sorted(it.adapters.items())),
            template=tuple(sorted(it.template.items())),
            **told,
        )
        return cls(engine, it.adapter)

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is; nothing is loaded."""
        return self.settings.identity(self.adapter)

    @property
    def context_length(self) -> int:
        """The most tokens of a request and its answer together."""
        return self.settings.context_length

    def build(self) -> ChatModel:
        """The model, loaded unless it is there.

        Raises:
            DeidError: What `Engines.engine` raises.
        """
        return ENGINES.engine(self.settings).model(self.adapter)

    def check(self) -> None:
        """Nothing, unless its engine has ended while it was loaded.

        Raises:
            DeidError: `device-lost`.
        """
        ENGINES.check(self.settings)


@dataclass(frozen=True)
class WhenAsked:
    """An engine that is loaded when the first request comes (`ChatModel`): what is planned may be known already.

    Attributes:
        spec: Which one.
    """

    spec: EngineSpec

    @property
    def identity(self) -> ModelIdentity:
        """The engine's; nothing is loaded."""
        return self.spec.identity

    @property
    def context_length(self) -> int:
        """The engine's."""
        return self.spec.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order.

        Raises:
            DeidError: What `EngineSpec.build` raises; `device-lost`.
        """
        waiting = iter(requests)
        for first in waiting:
            yield from self.spec.build().answer(chain((first,), waiting))
