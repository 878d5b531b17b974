"""vLLM in this process: chat models whose weights lie on this machine.

Belongs here: starting an engine, asking it as many requests together as it can hold, ending it. Does not belong here:
models behind an endpoint, what is asked of them, or whether a model fits a card (`weights.py`).

Needs the extra `llm`. vLLM is loaded when an engine starts, and runs the weights in processes of its own, which end
with the engine or with this process. What a note says is in requests alone: vLLM is told to be silent, and of what it
raises only a code is kept.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count, islice
from multiprocessing import active_children, connection
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.llm.api import ChatAnswer, ChatRequest, Failed, Failure, Finish, ModelIdentity, Schema, SchemaKind
from deid_platform.llm.guard import Guard
from deid_platform.llm.weights import GIB, WeightsFolder, runtime
from deid_platform.runtime.model_seconds import ModelSeconds
from deid_platform.runtime.silence import mute_children, silent_vllm
from deid_platform.runtime.stopping import check

_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks for which vLLM sets memory aside; an adapter takes the next one up."""
_AHEAD = 4
"""How many times as many requests are read as run at once, so that a long answer does not hold up the others."""
_NO_MARK = "\u2039"
"""Stands for the first sign of a turn's mark that a note holds: it looks like that of most, and makes none of them."""
_FORMS = {SchemaKind.JSON: "json", SchemaKind.REGEX: "regex", SchemaKind.GRAMMAR: "grammar"}
_FINISHES = {"stop": Finish.STOP, "length": Finish.LENGTH}


@dataclass(frozen=True)
class EngineSettings:
    """What is loaded, and how much of the machine it may take.

    Attributes:
        model: A folder as the library `transformers` saves it, with a chat template.
        adapters: LoRA adapters, each a name and a folder as `peft` saves it; `VllmEngine.model` takes one by name.
        tensor_parallel: Cards over which each layer is divided.
        memory_fraction: How much of a card's memory weights and cache may take together.
        cache_gib: Memory of the cache of keys and values, in GiB, instead of what `memory_fraction` leaves; on the
            processor it should be given.
        max_length: The most tokens of a request and its answer; the model's own unless given.
        at_once: The most requests that are worked on together.
        structured_outputs: What keeps answers to a schema. Both write JSON without white space, so that a model
            cannot go on with that for ever.
        prefix_caching: Whether what requests begin with in common (instructions, examples) is read once.
        compiled: Whether the model is compiled and captured in graphs: a slower start, faster answers.
        precision: Of weights and arithmetic.
        seed: For requests that bring none.
        template: What the chat template is told beside the messages, such as `("enable_thinking", False)`.
    """

    model: Path
    adapters: tuple[tuple[str, Path], ...] = ()
    tensor_parallel: int = 1
    memory_fraction: float = 0.9
    cache_gib: float | None = None
    max_length: int | None = None
    at_once: int = 64
    structured_outputs: Literal["guidance", "xgrammar"] = "guidance"
    prefix_caching: bool = True
    compiled: bool = True
    precision: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    seed: int = 0
    template: tuple[tuple[str, str | bool], ...] = ()

    @property
    def context_length(self) -> int:
        """The most tokens of a request and its answer together."""
        own = WeightsFolder(self.model).shape.positions
        return min(own, self.max_length or own)

    def identity(self, adapter: str | None = None) -> ModelIdentity:
        """Names weights, adapter, runtime, precision and all else that decides an answer; nothing is loaded.

        Raises:
            DeidError: `model-unusable` if a folder has no weights or there is no such adapter.
        """
        folders = [WeightsFolder(self.model)]
        if adapter is not None:
            folders.append(WeightsFolder(self.adapter(adapter)))
        told = (self.tensor_parallel, self.context_length, self.structured_outputs, self.precision, self.seed)
        said = json.dumps([*told, *sorted(self.template)])
        name = self.model.name if adapter is None else f"{self.model.name}+{adapter}"
        return ModelIdentity(name, plain_digest(said, *runtime(), *(folder.digest for folder in folders)))

    def adapter(self, name: str) -> Path:
        """The folder of an adapter.

        Raises:
            DeidError: `model-unusable` if there is none of that name.
        """
        folders = dict(self.adapters)
        if name not in folders:
            raise DeidError(Code.MODEL_UNUSABLE, f"adapter {name}")
        return folders[name]


@dataclass
class TokenCounts:
    """What an engine has read and written since it started.

    Attributes:
        prompt: Tokens of requests.
        cached: Those of them that a request before it had in common with it.
        written: Tokens of answers.
    """

    prompt: int = 0
    cached: int = 0
    written: int = 0


class VllmEngine:
    """Weights that are loaded while a block runs.

    Several threads may ask at the same time; the engine works on what all of them ask together.

    Args:
        settings: What is loaded.

    Attributes:
        counts: Tokens.
        seconds: In which it computes; whoever loads it may put a count of several models in this place.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.counts = TokenCounts()
        self.seconds = ModelSeconds()
        self._cards = settings.tensor_parallel
        self._llm: Any = None
        self._lost = False
        self._ended = False
        self._owned = ExitStack()
        self._lock = threading.Lock()
        self._numbers = count()
        self._asked: dict[str, _Asked] = {}
        self._outcomes: dict[str, ChatAnswer | Failed] = {}

    def __enter__(self) -> VllmEngine:
        """Loads the weights.

        Raises:
            DeidError: `device-missing` without the extra `llm`; `model-unusable` if a folder holds no model or its
                tokenizer has no chat template; `device-lost` if vLLM does not start, for example for want of memory.
        """
        if find_spec("vllm") is None:
            raise DeidError(Code.DEVICE_MISSING, "the extra llm")
        WeightsFolder(self.settings.model).check()
        arguments = self._arguments()
        with ExitStack() as stack:
            guard = stack.enter_context(Guard())
            stack.callback(self._stop)
            self._start(arguments, guard)
            self._owned = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends its processes, which frees the card."""
        self._owned.close()

    def _start(self, arguments: dict[str, Any], guard: Guard) -> None:
        vllm = silent_vllm()
        # On the processor vLLM has its processes load other libraries first; later ones of this process should not.
        preloaded = os.environ.get("LD_PRELOAD")
        try:
            with mute_children(), _watched(guard):
                self._llm = vllm.LLM(**arguments)
        except Exception:
            raise DeidError(Code.DEVICE_LOST, "vLLM did not start; DEID_DEBUG=1 shows why") from None
        finally:
            os.environ.pop("LD_PRELOAD", None)
            if preloaded is not None:
                os.environ["LD_PRELOAD"] = preloaded
        self._lost = self._ended = False
        self._cards = _cards(self.settings)
        threading.Thread(target=self._tell_of_end, args=(self._llm,), daemon=True).start()
        self._tokenizer = self._llm.get_tokenizer()
        # With these a note could end its own turn and speak for the model.
        self._marks = sorted(filter(None, self._tokenizer.all_special_tokens), key=len, reverse=True)
        if not self._tokenizer.chat_template:
            raise DeidError(Code.MODEL_UNUSABLE, "chat_template")

    def _tell_of_end(self, llm: Any) -> None:
        """Tells whoever waits for the next tokens when vLLM's process is killed: of itself it would let them wait for
        ever. After what was answered before, so that nothing of that is lost.
        """
        core = llm.llm_engine.engine_core
        connection.wait([process.sentinel for process in core.resources.engine_manager.processes])
        self._ended = self._llm is llm  # else it was stopped
        core.outputs_queue.put_nowait(DeidError(Code.DEVICE_LOST))

    def _stop(self) -> None:
        llm, self._llm = self._llm, None
        if llm is not None:
            with suppress(Exception):  # it may have ended on its own
                llm.llm_engine.engine_core.shutdown()

    def model(self, adapter: str | None = None) -> VllmModel:
        """The weights as a chat model, by themselves or with an adapter.

        Raises:
            DeidError: `model-unusable` if there is no such adapter.
        """
        return VllmModel(self, adapter, self.settings.identity(adapter))

    @property
    def lost(self) -> bool:
        """Whether it has ended by itself, so that it answers nothing any more."""
        return self._lost or self._ended

    @property
    def unfinished(self) -> int:
        """Requests that are worked on."""
        return len(self._asked)

    def ask(self, request: ChatRequest, adapter: str | None) -> str:
        """Takes a request in.

        Returns:
            What `outcome` is asked with.

        Raises:
            DeidError: `device-lost` if the engine has ended.
        """
        number = str(next(self._numbers))
        tokens = self._tokens(request)
        if tokens is None:
            self._outcomes[number] = Failed(Failure.REQUEST)
        elif len(tokens) >= self.settings.context_length:
            self._outcomes[number] = Failed(Failure.TOO_LONG)
        else:
            self._add(number, tokens, request, adapter)
        return number

    def outcome(self, number: str) -> ChatAnswer | Failed | None:
        """What came of a request, once; None while it is worked on."""
        return self._outcomes.pop(number, None)

    def step(self) -> None:
        """Works on, by at most one token of each answer.

        Raises:
            DeidError: `device-lost` if the engine has ended.
        """
        with self._lock:
            engine = self._engine()
            outputs = self._outputs(engine) if self._asked else ()
            for output in outputs:
                if output.finished:
                    self._finish(output)

    def _outputs(self, engine: Any) -> Any:
        try:
            with self.seconds.running(self._cards):
                return engine.step()
        except Exception:
            raise self._end() from None

    def forget(self, numbers: Iterable[str]) -> None:
        """Drops requests of which nobody will ask what came of them."""
        for number in numbers:
            self._outcomes.pop(number, None)
            with self._lock, suppress(Exception):
                if (asked := self._asked.pop(number, None)) and self._llm is not None:
                    self._llm.llm_engine.abort_request([asked.key], internal=True)

    def _engine(self) -> Any:
        if self._llm is None or self._lost:
            raise DeidError(Code.DEVICE_LOST)
        return self._llm.llm_engine

    def _end(self) -> DeidError:
        self._lost = True
        return DeidError(Code.DEVICE_LOST)

    def _add(self, number: str, tokens: list[int], request: ChatRequest, adapter: str | None) -> None:
        with self._lock:
            engine = self._engine()
            try:
                key = engine.add_request(
                    number,
                    {"type": "token", "prompt_token_ids": tokens},
                    _sampling(request),
                    lora_request=self._lora(adapter),
                )
            except Exception as error:
                if type(error).__name__ == "EngineDeadError":
                    raise self._end() from None
                self._outcomes[number] = Failed(Failure.REQUEST)
            else:
                self._asked[number] = _Asked(key, time.monotonic())

    def _finish(self, output: Any) -> None:
        asked = self._asked.pop(output.request_id, None)
        if asked is None:
            return
        (said,) = output.outputs
        read, wrote = len(output.prompt_token_ids), len(said.token_ids)
        self.counts.prompt += read
        self.counts.cached += output.num_cached_tokens or 0
        self.counts.written += wrote
        seconds = time.monotonic() - asked.at
        finish = _FINISHES.get(said.finish_reason, Finish.OTHER)
        self._outcomes[output.request_id] = ChatAnswer(said.text, finish, read, wrote, seconds)

    def _tokens(self, request: ChatRequest) -> list[int] | None:
        """The conversation as the model reads it; None if its template does not take such a one."""
        messages = [{"role": it.role, "content": self._readable(it.content)} for it in request.messages]
        try:
            said = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **dict(self.settings.template)
            )
            # Templates write the mark of a beginning themselves.
            return list(self._tokenizer.encode(said, add_special_tokens=False))
        except Exception:
            return None

    def _readable(self, text: str) -> str:
        """A text without what is no text, each sign by another, so that no offset moves."""
        # Half of a surrogate pair is no character that a tokenizer takes.
        text = text if text.isascii() else text.encode("utf-8", "replace").decode()
        for mark in self._marks:
            if mark in text:
                text = text.replace(mark, _NO_MARK + mark[1:])
        return text

    def _lora(self, adapter: str | None) -> Any:
        if adapter is None:
            return None
        from vllm.lora.request import LoRARequest

        names = [name for name, _ in self.settings.adapters]
        return LoRARequest(adapter, names.index(adapter) + 1, str(self.settings.adapter(adapter)))

    def _arguments(self) -> dict[str, Any]:
        it = self.settings
        arguments: dict[str, Any] = {
            "model": str(it.model),
            "dtype": it.precision,
            "seed": it.seed,
            "tensor_parallel_size": it.tensor_parallel,
            "gpu_memory_utilization": it.memory_fraction,
            "max_model_len": it.context_length,
            "max_num_seqs": it.at_once,
            "enable_prefix_caching": it.prefix_caching,
            "enforce_eager": not it.compiled,
            "structured_outputs_config": {"backend": it.structured_outputs, "disable_any_whitespace": True},
            # What a model's authors recommend for conversation would be another detector.
            "generation_config": "vllm",
            "use_tqdm_on_load": False,
        }
        if it.cache_gib is not None:
            arguments["kv_cache_memory_bytes"] = int(it.cache_gib * GIB)
        if it.adapters:
            ranks = [WeightsFolder(path).rank for _, path in it.adapters]
            rank = next((rank for rank in _RANKS if rank >= max(ranks)), max(ranks))
            arguments |= {"enable_lora": True, "max_loras": len(ranks), "max_lora_rank": rank}
        return arguments


class VllmModel:
    """A chat model (`ChatModel`) of an engine.

    Args:
        engine: That runs its weights.
        adapter: On top of them; None for the weights by themselves.
        identity: Which model it is.
    """

    def __init__(self, engine: VllmEngine, adapter: str | None, identity: ModelIdentity) -> None:
        self._engine = engine
        self._adapter = adapter
        self.identity = identity

    @property
    def context_length(self) -> int:
        """The most tokens of a request and its answer together."""
        return self._engine.settings.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order.

        Raises:
            DeidError: `device-lost` if the engine has ended; what was not answered before is asked again by whoever
                runs anew.
            KeyboardInterrupt: Between two tokens, if the process was asked to stop.
        """
        engine, ahead = self._engine, _AHEAD * self._engine.settings.at_once
        source, waiting = iter(requests), deque[str]()
        try:
            while True:
                check()
                for request in islice(source, ahead - len(waiting)):
                    waiting.append(engine.ask(request, self._adapter))
                if not waiting:
                    return
                if (outcome := engine.outcome(waiting[0])) is not None:
                    waiting.popleft()
                    yield outcome
                else:
                    engine.step()
        finally:
            engine.forget(waiting)


def _cards(settings: EngineSettings) -> int:
    """How many cards an engine computes on; 0 for the processor."""
    from vllm.platforms import current_platform

    return 0 if current_platform.is_cpu() else settings.tensor_parallel


@dataclass(frozen=True, slots=True)
class _Asked:
    key: str  # as vLLM calls it
    at: float


@contextmanager
def _watched(guard: Guard) -> Iterator[None]:
    """Processes that are started meanwhile end with this one, from their first moment on: loading takes minutes."""
    known, ended = {child.pid for child in active_children()}, threading.Event()

    def look() -> None:
        for child in active_children():
            if child.pid is not None and child.pid not in known:
                known.add(child.pid)
                guard.watch(child.pid)

    def keep_looking() -> None:
        while not ended.wait(0.2):
            look()

    thread = threading.Thread(target=keep_looking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        look()


def _sampling(request: ChatRequest) -> Any:
    from vllm import SamplingParams

    return SamplingParams(
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.max_tokens,
        structured_outputs=_form(request.schema) if request.schema else None,
        output_kind=_final(),
    )


def _form(schema: Schema) -> Any:
    from vllm.sampling_params import StructuredOutputsParams

    return StructuredOutputsParams(**{_FORMS[schema.kind]: schema.source})


def _final() -> Any:
    from vllm.sampling_params import RequestOutputKind

    return RequestOutputKind.FINAL_ONLY
