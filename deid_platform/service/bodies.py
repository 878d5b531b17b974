"""The body of a request, within limits of size and time.

Belongs here: reading it whole or line by line. Does not belong here: what it says (`forms.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from deid_platform.errors import Code, DeidError


class GoneError(Exception):
    """The client has ended the connection."""


def check_kind(scope: Scope, *kinds: str) -> None:
    """Refuses a body of another kind; a form of another site's page can send none of these.

    Raises:
        DeidError: `request-invalid`.
    """
    headers = Headers(scope=scope)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in kinds or headers.get("content-encoding", "identity").lower() != "identity":
        raise DeidError(Code.REQUEST_INVALID, "content type")


async def whole(scope: Scope, receive: Receive, *, most: int, seconds: float) -> bytes:
    """A body.

    Args:
        scope, receive: Of the request.
        most: Bytes.
        seconds: Until all of it must have come.

    Raises:
        DeidError: `request-too-large`, `request-slow`.
        GoneError: The client went.
    """
    announced = Headers(scope=scope).get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise DeidError(Code.REQUEST_TOO_LARGE, f"{most} bytes")
    body = bytearray()
    try:
        with anyio.fail_after(seconds):
            async for part in _parts(receive):
                body += part
                if len(body) > most:
                    raise DeidError(Code.REQUEST_TOO_LARGE, f"{most} bytes")
    except TimeoutError:
        raise DeidError(Code.REQUEST_SLOW) from None
    return bytes(body)


async def lines(receive: Receive, *, most: int) -> AsyncIterator[bytes | None]:
    """The lines of a body as they come, without empty ones; None for one that is too long.

    Args:
        receive: Of the request.
        most: Bytes of a line.

    Raises:
        GoneError: The client went.
    """
    held, too_long = bytearray(), False
    async for part in _parts(receive):
        *ended, rest = part.split(b"\n")
        for piece in ended:
            held += piece
            if too_long or len(held) > most:
                yield None
            elif held.strip():
                yield bytes(held)
            held.clear()
            too_long = False
        held += rest
        if len(held) > most:
            held.clear()
            too_long = True
    if too_long:
        yield None
    elif held.strip():
        yield bytes(held)


async def _parts(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return
