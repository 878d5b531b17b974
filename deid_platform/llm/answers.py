"""Answers that are kept, so that a run that died goes on without asking again.

Belongs here: one file of answers in the PHI zone, and a model that looks there before it asks. Does not belong here:
asking (`endpoint.py`), or what an answer means.

An answer is known by a keyed digest of all that it depends on: the model's identity, the conversation and the
parameters. What was asked is not in the file, and a digest tells nothing of a short note to who does not hold the key
secret; the answers themselves quote notes, so the file belongs to its owner alone. Each is sealed with the same key:
one that was changed is asked for again. Failures are not kept.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.llm.api import ChatAnswer, ChatModel, ChatRequest, Failed, Finish, ModelIdentity

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, seal TEXT NOT NULL)"
_BUSY_SECONDS = 60.0
"""How long one process waits for another that writes."""
_RUN = 256
"""Requests that are looked up before those among them that are new are asked."""


@dataclass(frozen=True, slots=True)
class AnswersAt:
    """Where answers are kept; small enough to send to a worker.

    Attributes:
        path: The file, in the PHI zone.
        keyring: The site's keys.
    """

    path: Path
    keyring: Keyring


class KeptAnswers:
    """A model whose answers are kept (`ChatModel`).

    Args:
        model: Asked for what is not known.
        at: Where its answers are kept.

    Raises:
        DeidError: `store-write` if the file cannot be used.
    """

    def __init__(self, model: ChatModel, at: AnswersAt) -> None:
        self._model = model
        self._at = at
        self.asked = 0
        self.known = 0
        self._make()

    def __repr__(self) -> str:
        return f"<KeptAnswers of {self._model.identity.name}>"

    @property
    def identity(self) -> ModelIdentity:
        """That of the model."""
        return self._model.identity

    @property
    def context_length(self) -> int:
        """That of the model."""
        return self._model.context_length

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        """One outcome a request, in their order; each new answer is kept as it comes, before any is handed on."""
        source = iter(requests)
        while some := list(islice(source, _RUN)):
            keys = [self._key(request) for request in some]
            known = self._read(keys)
            new = {key: request for key, request in zip(keys, some, strict=True) if key not in known}
            self.asked, self.known = self.asked + len(new), self.known + len(some) - len(new)
            for key, outcome in zip(new, self._model.answer(new.values()), strict=True):
                known[key] = outcome
                if isinstance(outcome, ChatAnswer):
                    self._keep(key, outcome)
            yield from map(known.__getitem__, keys)

    def _key(self, request: ChatRequest) -> str:
        said = chain.from_iterable((message.role, message.content) for message in request.messages)
        model = self._model.identity
        return self._at.keyring.digest("chat", model.name, model.digest, *request.parameters, *said)

    def _seal(self, key: str, answer: str) -> str:
        return self._at.keyring.digest("chat-answer", key, answer)

    def _make(self) -> None:
        path = self._at.path
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Private from its first byte; SQLite gives its other files the same mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            path.chmod(0o600)
            with closing(self._opened()) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(_TABLE)
        except (OSError, sqlite3.Error):
            raise DeidError(Code.STORE_WRITE, path.name) from None

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self._at.path, timeout=_BUSY_SECONDS, isolation_level=None)

    def _read(self, keys: list[str]) -> dict[str, ChatAnswer | Failed]:
        found: dict[str, ChatAnswer | Failed] = {}
        try:
            with closing(self._opened()) as connection:
                for key in keys:
                    row = connection.execute("SELECT answer, seal FROM answers WHERE key = ?", (key,)).fetchone()
                    if row and hmac.compare_digest(str(row[1]), self._seal(key, str(row[0]))):
                        found[key] = _answer(row[0])
        except sqlite3.Error:
            raise DeidError(Code.STORE_WRITE, self._at.path.name) from None
        return found

    def _keep(self, key: str, answer: ChatAnswer) -> None:
        written = json.dumps(asdict(answer), ensure_ascii=True)
        try:
            with closing(self._opened()) as connection:
                row = (key, written, self._seal(key, written))
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
        except sqlite3.Error:
            raise DeidError(Code.STORE_WRITE, self._at.path.name) from None


def _answer(written: str) -> ChatAnswer:
    fields = json.loads(written)
    return ChatAnswer(**{**fields, "finish": Finish(fields["finish"])})
