"""The process that serves: one that talks HTTP, and the worker processes behind it.

Belongs here: starting and ending them together. Does not belong here: arguments (`cli/serve.py`) or addresses
(`app.py`).

The model is loaded once, in the process from which the workers are forked; they share its memory. The process that
talks HTTP has neither the model nor the topics.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from contextlib import suppress
from socket import socket

import uvicorn

from deid_platform.errors import DeidError
from deid_platform.service.access import Tokens
from deid_platform.service.app import Service, app_of
from deid_platform.service.watching import LOG

_GOODBYE_SECONDS = 30
_MOST_CONNECTIONS = 1024


def run(service: Service, tokens: Tokens, *, listening: socket) -> None:
    """Serves until it is stopped: requests that are being answered are, for half a minute at the most.

    Raises:
        DeidError: If the model cannot be loaded.
    """
    _log_to_stderr()
    server = uvicorn.Server(
        uvicorn.Config(
            app_of(service, tokens),
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws="none",
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_GOODBYE_SECONDS,
        )
    )
    # uvicorn raises the signal that ended it once more, when it has ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(service, server, listening))
    finally:
        service.queue.kill()
        service.queue.close()


async def _serve(service: Service, server: uvicorn.Server, listening: socket) -> None:
    failed: list[DeidError] = []

    async def load() -> None:
        try:
            await service.queue.load()
        except* DeidError as group:
            failed.extend(error for error in group.exceptions if isinstance(error, DeidError))
            server.should_exit = True
        else:
            LOG.info('{"ready": true}')

    loading = asyncio.create_task(load())
    try:
        await server.serve([listening])
    finally:
        if failed:
            raise failed[0]
        loading.cancel()


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in (LOG.name, "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
    LOG.setLevel(logging.INFO)
