"""The addresses of the service.

Belongs here: which there are, and from a request to the queue and back. Does not belong here: what is around every
request (`watching.py`), streams (`streams.py`), or the process that serves (`server.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Patient
from deid_platform.service.access import Tokens
from deid_platform.service.bodies import check_kind, whole
from deid_platform.service.fhir import FHIR_JSON, Deidentification, outcome_of
from deid_platform.service.forms import (
    LineForm,
    NoteAnswer,
    NoteForm,
    NotesAnswer,
    NotesForm,
    answer_of,
    note_of,
    read,
    withheld,
)
from deid_platform.service.metrics import CONTENT_TYPE, Metrics
from deid_platform.service.openapi import document, page
from deid_platform.service.queue import Queue
from deid_platform.service.streams import NDJSON, Stream
from deid_platform.service.watching import RETRIED, Entry, Watched, status_of
from deid_platform.service.work import Asked

JSON = "application/json"
OPEN_TO_ALL = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})


@dataclass(frozen=True)
class Limits:
    """What a request may take.

    Attributes:
        bytes: The longest body, and the longest line of a stream.
        seconds: See `Queue`.
        streams: How many may be open at once.
    """

    bytes: int = 10_000_000
    seconds: float = 60.0
    streams: int = 8


@dataclass
class Service:
    """What answers the addresses.

    Attributes:
        queue: Before the worker processes.
        policies: Those of which a request may name one, the default first.
        limits: What a request may take.
        metrics: What was counted.
    """

    queue: Queue
    policies: tuple[str, ...]
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    _streams: int = 0

    async def health(self, _: Request) -> Response:
        """The process runs."""
        return JSONResponse({"status": "ok"})

    async def readiness(self, _: Request) -> Response:
        """The model is loaded."""
        if not self.queue.ready:
            raise DeidError(Code.SERVICE_STARTING)
        return JSONResponse({"status": "ready", "policies": list(self.policies)})

    async def counted(self, _: Request) -> Response:
        """What Prometheus reads."""
        return PlainTextResponse(self.metrics.text(self.queue), media_type=CONTENT_TYPE)

    async def openapi(self, _: Request) -> Response:
        """The OpenAPI document."""
        return JSONResponse(document(self.policies))

    async def docs(self, _: Request) -> Response:
        """The same as a page, which loads nothing from anywhere."""
        return HTMLResponse(page(document(self.policies)))

    async def redact(self, request: Request) -> Response:
        """Redacted texts with their spans."""
        return await self._notes(request, text=True)

    async def detect(self, request: Request) -> Response:
        """Spans of the originals."""
        return await self._notes(request, text=False)

    async def _notes(self, request: Request, *, text: bool) -> Response:
        check_kind(request.scope, JSON)
        form = read(NotesForm, await self._body(request))
        policy = self._policy(form.policy)
        answers = await self._answers(form.notes, policy, text=text)
        for answer in answers:
            self._told(request.scope, _code(answer))
        return _json(NotesAnswer(policy=policy, notes=answers))

    async def _answers(self, forms: list[NoteForm], policy: str, *, text: bool) -> list[NoteAnswer]:
        """The answers to notes that are read together; one that cannot be read is withheld by itself."""
        taken: list[tuple[Note, Patient | None] | DeidError] = []
        for form in forms:
            try:
                taken.append(note_of(form))
            except DeidError as error:
                taken.append(error)
        readable = [pair for pair in taken if not isinstance(pair, DeidError)]
        patients = tuple(row for _, row in readable if row is not None)
        outcomes = iter(
            await self.queue.ask(Asked(tuple(note for note, _ in readable), patients, policy)) if readable else ()
        )
        return [
            withheld(form.note_id, pair)
            if isinstance(pair, DeidError)
            else answer_of(form.note_id, next(outcomes), text=text)
            for form, pair in zip(forms, taken, strict=True)
        ]

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redacted texts of one note a line."""
        check_kind(scope, NDJSON)
        policy = self._policy(QueryParams(scope["query_string"]).get("policy"))
        if not self.queue.ready:
            raise DeidError(Code.SERVICE_STARTING)
        if self._streams >= self.limits.streams:
            raise DeidError(Code.SERVICE_BUSY)

        async def ask(form: LineForm) -> NoteAnswer:
            note, row = note_of(form)
            (outcome,) = await self.queue.ask(Asked((note,), (row,) if row else (), policy), stream=True)
            return answer_of(form.note_id, outcome, text=True)

        answering = Stream(
            ask,
            lambda answer: self._told(scope, _code(answer)),
            under_way=2 * self.queue.workers,
            most=self.limits.bytes,
            seconds=self.limits.seconds,
        )
        self._streams += 1
        try:
            await answering(scope, receive, send)
        finally:
            self._streams -= 1

    async def fhir(self, request: Request) -> Response:
        """A FHIR resource, or those of a Bundle; a failure is an OperationOutcome."""
        entry: Entry = request.scope["entry"]
        try:
            check_kind(request.scope, FHIR_JSON, JSON)
            asked = Deidentification.of(await self._body(request))
            policy = self._policy(request.query_params.get("policy"))
            outcomes = await self.queue.ask(Asked(asked.notes, asked.patients, policy)) if asked.notes else ()
        except DeidError as error:
            if error.code in RETRIED:
                raise
            entry.code = error.code.slug
            return JSONResponse(outcome_of(error), status_of(error), media_type=FHIR_JSON)
        for outcome in outcomes:
            self._told(request.scope, outcome.withheld.code.slug if outcome.withheld else None)
        try:
            return JSONResponse(asked.answer(outcomes), media_type=FHIR_JSON)
        except DeidError as error:
            entry.code = error.code.slug
            return JSONResponse(outcome_of(error), 422, media_type=FHIR_JSON)

    async def _body(self, request: Request) -> bytes:
        return await whole(request.scope, request.receive, most=self.limits.bytes, seconds=self.limits.seconds)

    def _policy(self, named: str | None) -> str:
        """The policy that a request names; the default if none.

        Raises:
            DeidError: `policy-unknown` with those that there are.
        """
        if named is None:
            return self.policies[0]
        if named not in self.policies:
            raise DeidError(Code.POLICY_UNKNOWN, f"known: {', '.join(self.policies)}")
        return named

    def _told(self, scope: Scope, withheld: str | None) -> None:
        """Counts a note that was answered: redacted, or withheld with a code."""
        entry: Entry = scope["entry"]
        entry.notes += 1
        entry.withheld += withheld is not None
        self.metrics.note(withheld or "redacted")


def app_of(service: Service, tokens: Tokens) -> ASGIApp:
    """The service as ASGI has it."""
    answers = {
        ("GET", "/healthz"): service.health,
        ("GET", "/readyz"): service.readiness,
        ("GET", "/metrics"): service.counted,
        ("GET", "/openapi.json"): service.openapi,
        ("GET", "/docs"): service.docs,
        ("POST", "/v1/redact"): service.redact,
        ("POST", "/v1/detect"): service.detect,
        ("POST", "/fhir/$de-identify"): service.fhir,
    }
    streams: Mapping[tuple[str, str], ASGIApp] = {("POST", "/v1/redact/stream"): service.stream}

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["method"], scope["path"]
        if asked in streams:
            await streams[asked](scope, receive, send)
            return
        response = await answers[asked](Request(scope, receive))
        await response(scope, receive, send)

    return Watched(
        routed,
        routes=frozenset((*answers, *streams)),
        open_to_all=OPEN_TO_ALL,
        tokens=tokens,
        queue=service.queue,
        metrics=service.metrics,
    )


def _code(answer: NoteAnswer) -> str | None:
    return None if answer.withheld is None else answer.withheld.code


def _json(form: BaseModel) -> Response:
    return Response(form.model_dump_json(exclude_none=True), media_type=JSON)
