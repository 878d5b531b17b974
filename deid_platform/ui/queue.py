"""The desk's page of the quarantine queue: a note with its spans, and what somebody decides about it.

Belongs here: the page's few addresses. Does not belong here: what a decision is (`review/quarantine.py`), or who is
let in (`guard.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from socket import socket
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decision import Action
from deid_platform.review.quarantine import Queue
from deid_platform.ui.desk import DECIDE, FILES, MOST_BYTES, Unstored, file_route, run
from deid_platform.ui.guard import Guard, Login, loopback_hosts

_REFUSED = (Code.RULING_REFUSED, Code.SECOND_PERSON, Code.WAIVER_INVALID, Code.SPAN_BOUNDS)


def queue_desk(site: Site, who: str, *, hosts: list[str], login: Login) -> ASGIApp:
    """The guarded app of the queue, for one person."""
    queue = Queue(site)

    async def page(_: Request) -> Response:
        environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FILES), autoescape=True)
        labels = [label.value for label in Label if site.policy.hidden(label)]
        return HTMLResponse(environment.get_template("queue.html.j2").render(who=who, labels=labels))

    async def items(_: Request) -> Response:
        return await _answered(lambda: [_waiting(it) for it in queue.waiting()])

    async def note(request: Request) -> Response:
        key = request.query_params.get("key", "")
        return await _answered(lambda: _shown(site, queue, key))

    async def try_out(request: Request) -> Response:
        body = await request.body()

        def tried() -> Mapping[str, object]:
            said = _said(body)
            found = queue.tried(said["key"], _spans(said, "added"), _spans(said, "removed"))
            return {"reason": found.reason, "text": found.text, "added": _rows(found.added), "places": found.places}

        return await _answered(tried)

    async def decide(request: Request) -> Response:
        body = await request.body()

        def decided() -> Mapping[str, object]:
            said = _said(body)
            if said["action"] not in tuple(Action):
                raise DeidError(Code.RULING_REFUSED, "action")
            counts = queue.decide(
                said["key"],
                Action(said["action"]),
                added=_spans(said, "added"),
                removed=_spans(said, "removed"),
                who=who,
                reason=str(said["reason"]),
                seen=str(said["seen"]),
            )
            return {"counts": counts}

        return await _answered(decided)

    routes = [
        Route("/", page),
        Route("/items", items),
        Route("/note", note),
        Route(DECIDE, decide, methods=["POST"]),
        Route(f"{DECIDE}/try", try_out, methods=["POST"]),
        Route("/queue.js", file_route("queue.js", "text/javascript")),
        Route("/desk.css", file_route("desk.css", "text/css")),
    ]
    return Unstored(Guard(Starlette(routes=routes), hosts=hosts, login=login, asked_by_post=DECIDE))


def serve_queue(site: Site, who: str, *, listening: socket, login: Login) -> None:
    """Serves the queue until it is stopped."""
    run(queue_desk(site, who, hosts=loopback_hosts(listening.getsockname()[1]), login=login), listening)


async def _answered(work: Callable[[], object]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work))
    except DeidError as error:
        refused = error.code in _REFUSED
        return JSONResponse({"error": error.code.slug, "ref": str(error.ref or "")}, 400 if refused else 503)


def _waiting(it: Any) -> Mapping[str, object]:
    proposed = None
    if it.proposed is not None:
        proposed = {"action": it.proposed.action, "who": it.proposed.who, "reason": it.proposed.reason}
    return {"key": it.key, "delivery": it.delivery, "reason": it.reason, "decided": it.decided, "proposed": proposed}


def _shown(site: Site, queue: Queue, key: str) -> Mapping[str, object]:
    held, last = queue.held(key)
    return {
        "key": held.key,
        "text": held.note.text,
        "type": held.note.note_type,
        "held_for": held.held_for,
        "failed": held.failed,
        "names": held.names,
        "seen": held.seen,
        "spans": _rows(s for s in held.spans if site.policy.hidden(s.label)),
        "added": _rows(last.added) if last else [],
        "removed": _rows(last.removed) if last else [],
    }


def _rows(spans: Any) -> list[dict[str, object]]:
    return [{"start": s.start, "end": s.end, "label": s.label.value} for s in spans]


def _said(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body) if len(body) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not {"key", "action", "added", "removed", "reason", "seen"} <= said.keys():
        raise DeidError(Code.RULING_REFUSED, "not as the page sends it")
    return said


def _spans(said: Mapping[str, Any], name: str) -> list[Span]:
    try:
        return [Span(int(row["start"]), int(row["end"]), Label(row["label"])) for row in said[name]]
    except (ValueError, TypeError, KeyError):
        raise DeidError(Code.RULING_REFUSED, "span") from None
