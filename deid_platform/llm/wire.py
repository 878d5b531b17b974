"""The OpenAI-compatible interface of chat completions: a request as JSON, and an answer from it.

Belongs here: what is on the wire, as vLLM, llama.cpp, Ollama, LM Studio and others speak it. Does not belong here:
sending it (`endpoint.py`).
"""

from __future__ import annotations

import json
from typing import Any

from deid_platform.llm.api import ChatAnswer, ChatRequest, Failed, Failure, Finish, SchemaKind

_FINISHES = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
}
_TOO_LONG = ("context_length_exceeded", "context length", "context size", "context window", "maximum input length")


def body(request: ChatRequest, model: str, *, structured: bool = True) -> dict[str, Any]:
    """A request as it is sent.

    Args:
        request: What is asked.
        model: The model's name at the endpoint.
        structured: Whether the server can be given the form of an answer. JSON schemas go by `response_format`, which
            servers share; expressions and grammars by `structured_outputs`, which is vLLM's.
    """
    sent: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": _sendable(message.content)} for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "n": 1,
        "stream": False,
    }
    if request.seed is not None:
        sent["seed"] = request.seed
    if structured and request.schema is not None:
        if request.schema.kind is SchemaKind.JSON:
            schema = {"name": "answer", "schema": json.loads(request.schema.source), "strict": True}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        else:
            sent["structured_outputs"] = {request.schema.kind.value: request.schema.source}
    return sent


def answered(raw: bytes, seconds: float) -> ChatAnswer | Failed:
    """The answer in the body of a response of status 200; `malformed` where there is none."""
    try:
        document = json.loads(raw)
        (choice, *_) = document["choices"]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        finish = _FINISHES.get(str(choice.get("finish_reason")), Finish.OTHER)
        usage = document.get("usage") or {}
        read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Failed(Failure.MALFORMED)
    if refusal:
        text, finish = text or "", Finish.REFUSED
    if text is None and finish is not Finish.STOP:
        text = ""  # cut off or refused before a word was said
    if not isinstance(text, str):
        return Failed(Failure.MALFORMED)
    return ChatAnswer(text, finish, read, written, seconds)


def refused(status: int, raw: bytes) -> Failure:
    """What a response of another status than 200 means. Its words are read and dropped: they may quote the note."""
    if 300 <= status < 400:
        return Failure.REDIRECT
    if status == 429:
        return Failure.BUSY
    if status == 408 or status >= 500:
        return Failure.SERVER
    said = raw[:10_000].decode("utf-8", "replace").lower()
    return Failure.TOO_LONG if status == 413 or any(words in said for words in _TOO_LONG) else Failure.REQUEST


def _sendable(text: str) -> str:
    # Half of a surrogate pair is no character that JSON in UTF-8 could have; in its place one stands, so that no
    # offset moves.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
