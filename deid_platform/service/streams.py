"""A stream of notes, one a line, and their answers in the same order.

Belongs here: order, how many lines are under way, back-pressure. Does not belong here: what a line says (`forms.py`).

At most two lines a worker process are under way. While the client takes no answer, or all processes are busy, no
further line is read, and the client's own connection fills up. A line that cannot be read, and a note that is withheld,
has a line of its own with the code; the stream goes on. One that ends early ends without HTTP's last chunk, so that no
client takes half the answers for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from starlette.types import Receive, Scope, Send

from deid_platform.errors import Code, DeidError, internal
from deid_platform.service.bodies import GoneError, lines
from deid_platform.service.forms import LineAnswer, LineForm, NoteAnswer, read, withheld

NDJSON = "application/x-ndjson"
Ask = Callable[[LineForm], Awaitable[NoteAnswer]]
T = TypeVar("T")
_END = None


class Stream:
    """One stream.

    Args:
        ask: Answers a note.
        told: Called with each answer that is sent.
        under_way: How many lines may be.
        most: Bytes of a line.
        seconds: How long the client may send nothing while nothing is under way, or take no answer.
    """

    def __init__(
        self, ask: Ask, told: Callable[[NoteAnswer], None], *, under_way: int, most: int, seconds: float
    ) -> None:
        self._ask, self._told = ask, told
        self._most, self._seconds = most, seconds
        self._lines: asyncio.Queue[asyncio.Task[LineAnswer] | None] = asyncio.Queue(under_way)
        self._asked: set[asyncio.Task[LineAnswer]] = set()
        self._gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers the lines of a request's body.

        Raises:
            DeidError: `request-slow`.
            GoneError: The client went.
        """
        del scope
        reading = asyncio.create_task(self._read(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", NDJSON.encode())]})
            async with aclosing(self._answers()) as answers:
                async for answer in answers:
                    line = answer.model_dump_json(exclude_none=True) + "\n"
                    await self._in_time(send({"type": "http.response.body", "body": line.encode(), "more_body": True}))
                    self._told(answer)
            if self._gone:
                raise GoneError
            await self._in_time(send({"type": "http.response.body", "body": b""}))
        finally:
            # What a process reads already it reads to the end: there is no other way to know when it is free.
            reading.cancel()

    async def _read(self, receive: Receive) -> None:
        """Begins lines as there is room for them."""
        number = 0
        try:
            async for line in lines(receive, most=self._most):
                number += 1
                task = asyncio.create_task(self._answer(number, line))
                self._asked.add(task)
                task.add_done_callback(self._asked.discard)
                await self._lines.put(task)
        except GoneError:
            self._gone = True
        await self._lines.put(_END)

    async def _answers(self) -> AsyncGenerator[LineAnswer, None]:
        while (task := await self._in_time(self._lines.get())) is not None:
            yield await task

    async def _in_time(self, awaited: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await awaited
        except TimeoutError:
            raise DeidError(Code.REQUEST_SLOW) from None

    def _short(self, line: bytes | None) -> bytes:
        if line is None:
            raise DeidError(Code.REQUEST_TOO_LARGE, f"{self._most} bytes")
        return line

    async def _answer(self, number: int, line: bytes | None) -> LineAnswer:
        """The answer to a line, which never raises: what it raised could quote the note."""
        note_id = None
        try:
            form = read(LineForm, self._short(line))
            note_id = form.note_id
            answer = await self._ask(form)
        except DeidError as error:
            answer = withheld(note_id, error)
        except Exception as error:
            answer = withheld(note_id, internal(error))
        return LineAnswer(line=number, **answer.model_dump())
