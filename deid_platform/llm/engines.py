"""Chat models that are loaded: each engine once, however many ask, until all are released.

Belongs here: which engines are loaded. Does not belong here: running one (`vllm_engine.py`), token classifiers
(`detection/models/loading.py`), or when a run ends (`resources/gpu.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Self

from deid_platform.errors import Code, DeidError
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, ModelIdentity
from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine
from deid_platform.runtime.model_seconds import ModelSeconds

if TYPE_CHECKING:
    from types import TracebackType

    from deid_platform.llm.endpoint import EndpointSpec
    from deid_platform.settings import Settings


class Engines:
    """Engines by what they load; nothing is loaded before it is asked for.

    What is pickled is empty: another process has its own, and no weights travel.

    Attributes:
        seconds: In which models ran that came from here.
    """

    def __init__(self) -> None:
        self.seconds = ModelSeconds()
        self._lock = threading.Lock()
        self._loaded: dict[EngineSettings, VllmEngine] = {}
        self._owned = ExitStack()

    def __reduce__(self) -> tuple[type[Engines], tuple[()]]:
        return type(self), ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def chat_model(self, spec: EndpointSpec | EngineSpec) -> ChatModel:
        """A chat model: of this process, loaded unless it is there, or a client of one elsewhere.

        Raises:
            DeidError: What an engine raises as it starts; what `EndpointSpec.build` raises.
        """
        return self._engine(spec.settings).model(spec.adapter) if isinstance(spec, EngineSpec) else spec.build()

    def _engine(self, settings: EngineSettings) -> VllmEngine:
        with self._lock:
            if settings not in self._loaded:
                engine = self._loaded[settings] = self._owned.enter_context(VllmEngine(settings))
                engine.seconds = self.seconds
            return self._loaded[settings]

    def check(self, spec: EndpointSpec | EngineSpec) -> None:
        """Nothing, unless it is a model of this process that was loaded and has ended.

        Raises:
            DeidError: `device-lost`.
        """
        if not isinstance(spec, EngineSpec):
            return
        with self._lock:
            engine = self._loaded.get(spec.settings)
        if engine is not None and engine.lost:
            raise DeidError(Code.DEVICE_LOST)

    def release(self) -> None:
        """Ends all of them; whoever asks later has them loaded anew."""
        with self._lock:
            self._loaded.clear()
            self._owned.close()


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """A chat model of this process, as an `EndpointSpec` is one elsewhere; `Engines.chat_model` loads it.

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


@dataclass(frozen=True)
class WhenAsked:
    """A model as far as it is known without it, loaded when the first request comes (`ChatModel`).

    Attributes:
        spec: Which one.
        models: Load it.
    """

    spec: EndpointSpec | EngineSpec
    models: Engines = field(default_factory=Engines, compare=False, repr=False)

    @property
    def identity(self) -> ModelIdentity:
        """The model's; nothing is loaded."""
        return self.spec.identity

    @property
    def context_length(self) -> int:
        """The model's."""
        return self.spec.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order.

        Raises:
            DeidError: What `Engines.chat_model` raises; `device-lost`.
        """
        waiting = iter(requests)
        for first in waiting:
            yield from self.models.chat_model(self.spec).answer(chain((first,), waiting))
