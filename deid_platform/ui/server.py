"""The guarded webserver on one Dagster instance.

Belongs here: Dagster's app, the guard around it, and the server that both run on. Does not belong here: the daemon,
the code server, or what the guard lets through.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import uvicorn
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._utils.interrupts import setup_interrupt_handlers
from dagster._utils.log import configure_loggers
from dagster_webserver.app import create_app_from_workspace_process_context
from dagster_webserver.cli import DEFAULT_DB_STATEMENT_TIMEOUT, DEFAULT_POOL_MAX_OVERFLOW, DEFAULT_POOL_RECYCLE

from deid_platform import __version__
from deid_platform.ui.guard import Guard, Login, loopback_hosts

# A page that is open holds a websocket; it must not hold up the end.
_GOODBYE_SECONDS = 5


@contextmanager
def webserver(
    instance: dg.DagsterInstance,
    workspace: Path,
    *,
    address: str = "127.0.0.1",
    port: int,
    hosts: tuple[str, ...] = (),
    login: Login | None,
    read_only: bool = False,
) -> Iterator[uvicorn.Server]:
    """A webserver, ready to run; SIGTERM and Ctrl-C end its run with a KeyboardInterrupt.

    Args:
        instance: What it shows.
        workspace: The workspace.yaml that says where the platform's definitions are served.
        address: What it listens on.
        port: The port.
        hosts: The public names by which it is reached, besides those of the loopback address.
        login: Who is let in; see `Guard`.
        read_only: Whether every mutation is refused.
    """
    configure_loggers(log_level="WARNING")
    # uvicorn raises the signal that ended it once more.
    setup_interrupt_handlers()
    instance.optimize_for_webserver(DEFAULT_DB_STATEMENT_TIMEOUT, DEFAULT_POOL_RECYCLE, DEFAULT_POOL_MAX_OVERFLOW)
    target = WorkspaceFileTarget([str(workspace)])
    with WorkspaceProcessContext(instance, target, version=__version__, read_only=read_only) as context:
        guarded = Guard(
            create_app_from_workspace_process_context(context), hosts=[*loopback_hosts(port), *hosts], login=login
        )
        yield uvicorn.Server(
            uvicorn.Config(
                guarded,
                host=address,
                port=port,
                log_level="warning",
                proxy_headers=False,
                timeout_graceful_shutdown=_GOODBYE_SECONDS,
            )
        )
