"""`deid ui`: the code server, the daemon and the guarded webserver of one person's installation.

Belongs here: starting them together and ending them together. Does not belong here: a production installation, where
each is a service of its own (deploy/).

`dagster dev` would do the same with a webserver that answers anybody.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import socket
from subprocess import Popen, TimeoutExpired
from typing import Any

import dagster as dg
import uvicorn
import yaml
from dagster._cli.proxy_server_manager import ProxyServerManager
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster_shared.ipc import open_ipc_subprocess

from deid_platform.ui.guard import Login
from deid_platform.ui.server import webserver

_GOODBYE_SECONDS = 60


def run(workspace: Path, *, listening: socket, login: Login) -> int:
    """Serves the UI until it is stopped, or until the daemon has ended.

    Args:
        workspace: The workspace.yaml that names the platform's definitions.
        listening: A socket of the loopback address.
        login: Who is let in.

    Returns:
        The exit status: 0 if somebody stopped it.
    """
    with (
        _private_temporary_folder() as folder,
        dg.DagsterInstance.get() as instance,
        ProxyServerManager(instance, WorkspaceFileTarget([str(workspace)]), "warning") as code,
    ):
        served = folder / "workspace.yaml"
        served.write_text(yaml.safe_dump({"load_from": list(code.get_code_server_specs())}))
        port = listening.getsockname()[1]
        with webserver(instance, served, port=port, login=login) as server, _daemon(served) as daemon:
            threading.Thread(target=_follow, args=(daemon, server), daemon=True).start()
            try:
                server.run([listening])
            except KeyboardInterrupt:
                return 0
            return 1


@contextmanager
def _private_temporary_folder() -> Iterator[Path]:
    """Where temporary files of this process and its children lie: the code server's socket, which launches runs."""
    with tempfile.TemporaryDirectory(prefix="deid-ui-") as folder:  # 0700
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = None
            del os.environ["TMPDIR"]


@contextmanager
def _daemon(workspace: Path) -> Iterator[Popen[Any]]:
    command = [sys.executable, "-m", "dagster._daemon", "run", "--log-level", "warning", "--workspace", str(workspace)]
    process = open_ipc_subprocess(command)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_GOODBYE_SECONDS)
        except TimeoutExpired:
            process.kill()


def _follow(daemon: Popen[Any], server: uvicorn.Server) -> None:
    """Ends the webserver once the daemon has ended: a UI whose buttons start nothing would mislead."""
    with suppress(ChildProcessError):
        daemon.wait()
    server.should_exit = True
