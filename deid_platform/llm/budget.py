"""A chat model that may cost so many tokens and no more.

Belongs here: counting, across all processes that ask in a run. Does not belong here: which requests are worth it.

Before a request is sent, the most that it may take is set aside; what it did not take is given back. A request for
which too little is left fails (`Failure.BUDGET`), and so does whoever needed its answer.

What is spent stands in a file. Where the run says which, processes that are built anew, since one was killed, go on
where it ended. A number is all that the file holds.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, Failure, ModelIdentity

_BYTES_A_TOKEN = 2
"""Few texts have more tokens than one for two bytes of UTF-8."""


class Budgeted:
    """A model with a budget (`ChatModel`).

    Args:
        model: Asked while there are tokens left.
        tokens: Of prompts and answers together.
        spent: The file of a run; by default one that only forks of this process share.
    """

    def __init__(self, model: ChatModel, tokens: int, spent: Path | None = None) -> None:
        self._model = model
        self._tokens = tokens
        # Forks share it too, and a lock on it ends with the process that holds it.
        self._spent = tempfile.TemporaryFile() if spent is None else spent.open("r+b", buffering=0)  # noqa: SIM115

    def __repr__(self) -> str:
        return f"<Budgeted: {self._tokens} tokens>"

    @property
    def identity(self) -> ModelIdentity:
        """That of the model."""
        return self._model.identity

    @property
    def context_length(self) -> int:
        """That of the model."""
        return self._model.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order; see `ChatModel`."""
        set_aside: deque[int | None] = deque()

        def affordable() -> Iterator[ChatRequest]:
            for request in requests:
                most = _prompt_tokens(request) + request.max_tokens
                set_aside.append(most if self._take(most) else None)
                if set_aside[-1] is not None:
                    yield request

        for outcome in self._model.answer(affordable()):
            while (most := set_aside.popleft()) is None:
                yield Failed(Failure.BUDGET)
            self._take(min(0, _used(outcome, most) - most))
            yield outcome
        yield from (Failed(Failure.BUDGET) for _ in set_aside)

    def _take(self, tokens: int) -> bool:
        """Spends tokens, or gives back a negative number of them; False if there are not so many left."""
        number = self._spent.fileno()
        fcntl.lockf(number, fcntl.LOCK_EX)
        try:
            spent = int.from_bytes(os.pread(number, 8, 0)) + tokens
            if spent > self._tokens and tokens > 0:
                return False
            os.pwrite(number, max(0, spent).to_bytes(8), 0)
            return True
        finally:
            fcntl.lockf(number, fcntl.LOCK_UN)


def _prompt_tokens(request: ChatRequest) -> int:
    return sum(len(message.content.encode("utf-8", "replace")) for message in request.messages) // _BYTES_A_TOKEN + 1


def _used(outcome: ChatAnswer | Failed, most: int) -> int:
    """What a request took: all of what was set aside where nobody tells, as where the server died over it."""
    if isinstance(outcome, Failed) or outcome.prompt_tokens is None or outcome.completion_tokens is None:
        return most
    return outcome.prompt_tokens + outcome.completion_tokens
