"""The reviewer's desk: a page of the loopback address that shows the removals of a round and keeps each decision.

Belongs here: the page's few addresses and the headers that keep it to itself. Does not belong here: what a decision is
(`review/decisions.py`), or who is let in (`guard.py`).

A reader is sent nothing that the other said. The page shows PHI: nothing of it may be cached, stored or sent elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from socket import socket

import jinja2
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import ANNOTATORS, Role
from deid_platform.review.decisions import Category, Decision, decide, decisions_of, enter, offered
from deid_platform.review.missed import Mark, Missed, mark, marks_of, shown
from deid_platform.review.rounds import Removal, removals_of_round
from deid_platform.ui.guard import Guard, Login, loopback_hosts

FILES = Path(__file__).with_name("desk_files")
DECIDE = "/decide"
MOST_BYTES = 1_000_000
_GOODBYE_SECONDS = 3
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

CATEGORIES = {
    Category.RELEVANT: ("Clinically relevant", "a drug, a dose, a finding, or a word that turns the meaning"),
    Category.IRRELEVANT: ("Clinically irrelevant", "nothing that changes how the note is understood"),
    Category.PROVIDER: ("Provider or clinic", "a clinician, a clinic, their address or number"),
    Category.INSENSITIVE: ("Insensitive identifier", "a number of a document or a visit, not of a person"),
    Category.MISSED_BY_GOLD: ("Rightly removed", "an identifier of the patient, whether or not gold marks it"),
}
"""What the page calls each category, and what belongs to it; in the order of its keys."""


def desk(site: Site, number: int, role: Role, *, hosts: list[str], login: Login, ledger: bool = False) -> ASGIApp:
    """The guarded app of one round and role; with `ledger`, each decision enters that of the warehouse too."""

    async def page(_: Request) -> Response:
        environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FILES), autoescape=True)
        template = environment.get_template("desk.html.j2")
        labels = [label.value for label in Label if site.policy.hidden(label)]
        return HTMLResponse(template.render(number=number, role=role.value, categories=CATEGORIES, labels=labels))

    async def items(_: Request) -> Response:
        return JSONResponse(await run_in_threadpool(_items, site, number, role))

    async def take(request: Request) -> Response:
        try:
            said = _said(await request.body())
            await run_in_threadpool(decide, site, number, role, said)
        except DeidError as error:
            return refused(error)
        return JSONResponse({"kept": sorted(said), "entered": await run_in_threadpool(entered)})

    async def take_marks(request: Request) -> Response:
        try:
            marks = _marks(await request.body())
            await run_in_threadpool(mark, site, number, role, marks)
            missed = await run_in_threadpool(_marked, site, number, role)
        except DeidError as error:
            return refused(error)
        return JSONResponse({"missed": missed, "entered": await run_in_threadpool(entered)})

    def refused(error: DeidError) -> Response:
        # What cannot be read will not be readable later; what could not be written may be.
        invalid = error.code in (Code.DECISION_INVALID, Code.MARK_INVALID)
        return JSONResponse({"error": error.code.slug}, 400 if invalid else 503)

    def entered() -> bool:
        """Whether the ledger has all that was decided; if not, a later decision or the report enters it."""
        with suppress(DeidError):
            if ledger:
                enter(site, number)
            return True
        return False

    routes = [
        Route("/", page),
        Route("/items", items),
        Route(DECIDE, take, methods=["POST"]),
        Route(f"{DECIDE}/missed", take_marks, methods=["POST"]),
        Route("/desk.js", file_route("desk.js", "text/javascript")),
        Route("/desk.css", file_route("desk.css", "text/css")),
    ]
    return Unstored(Guard(Starlette(routes=routes), hosts=hosts, login=login, asked_by_post=DECIDE))


def serve(site: Site, number: int, role: Role, *, listening: socket, login: Login) -> None:
    """Serves the desk until it is stopped."""
    run(desk(site, number, role, hosts=loopback_hosts(listening.getsockname()[1]), login=login, ledger=True), listening)


def run(app: ASGIApp, listening: socket) -> None:
    """Serves a page until it is stopped."""
    with suppress(KeyboardInterrupt):
        server(app).run([listening])


def server(app: ASGIApp) -> uvicorn.Server:
    """What runs the desk; it logs no request."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=_GOODBYE_SECONDS,
        )
    )


class Unstored:
    """Adds the headers to every answer, the guard's too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers as ASGI has it."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers)


def _items(site: Site, number: int, role: Role) -> list[dict[str, object]]:
    """What the page shows: the removals, what this role said, and for the adjudicator what the readers did."""
    members = removals_of_round(site, number)
    decides = set(offered(site, number, role))
    mine = decisions_of(site.store, number, role)
    seen = ANNOTATORS if role is Role.ADJUDICATOR else ()
    readers = {who.value: decisions_of(site.store, number, who) for who in seen}
    missed = _marked(site, number, role)
    theirs = {who.value: _marked(site, number, who) for who in seen}
    return [
        {
            "removal": key,
            "label": members[key].label,
            "type": members[key].note_type,
            "before": members[key].before,
            "removed": members[key].removed,
            "after": members[key].after,
            "hidden": [
                [s.start - members[key].origin, s.end - members[key].origin, s.label.value] for s in members[key].hidden
            ],
            "asks": key in decides,
            "decision": _shown(mine.get(key)),
            "missed": missed.get(key, []),
            "readers": {
                who: {"decision": _shown(said.get(key)), "missed": theirs[who].get(key, [])}
                for who, said in readers.items()
            },
        }
        for key in shown(site, number, role)
    ]


def _marked(site: Site, number: int, role: Role) -> dict[str, list[dict[str, object]]]:
    """What a role marked as missed, in the offsets of each text that shows it."""
    members = removals_of_round(site, number)
    by_note: dict[str, list[Missed]] = {}
    for it in marks_of(site.store, number, role).values():
        if it.removal in members:
            by_note.setdefault(members[it.removal].note_id, []).append(it)
    return {
        key: _within(member, by_note[member.note_id]) for key, member in members.items() if member.note_id in by_note
    }


def _within(member: Removal, marks: Collection[Missed]) -> list[dict[str, object]]:
    low, high = member.origin, member.origin + len(member.text)
    return [
        {
            "start": max(it.span.start, low) - low,
            "end": min(it.span.end, high) - low,
            "label": it.span.label.value,
            "severity": it.severity.value,
        }
        for it in sorted(marks, key=lambda it: it.span.start)
        if it.span.start < high and low < it.span.end
    ]


def _shown(decision: Decision | None) -> Mapping[str, str | None] | None:
    return None if decision is None else {"category": decision.category.value, "severity": decision.severity}


def _said(body: bytes) -> dict[str, Decision | None]:
    """The decisions that a page sends: a list, of which the last one on a removal counts."""
    try:
        given = json.loads(body) if len(body) <= MOST_BYTES else None
        if not isinstance(given, list):
            raise DeidError(Code.DECISION_INVALID, "not a list")
        pairs = [(row["removal"], row["category"], row.get("severity")) for row in given]
        known = {str(key): Decision.parse(c, s) if c is not None else None for key, c, s in pairs}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DeidError(Code.DECISION_INVALID, "not as the page sends it") from None
    return known


def _marks(body: bytes) -> list[Mark]:
    """The marks that a page sends, in order."""
    try:
        given = json.loads(body) if len(body) <= MOST_BYTES else None
        if not isinstance(given, list):
            raise DeidError(Code.MARK_INVALID, "not a list")
        return [Mark.parse(*(row[name] for name in ("removal", "start", "end", "label", "severity"))) for row in given]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DeidError(Code.MARK_INVALID, "not as the page sends it") from None


def file_route(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """Answers with a file of the desk."""
    content = (FILES / name).read_bytes()

    async def answer(_: Request) -> Response:
        return Response(content, media_type=kind)

    return answer
