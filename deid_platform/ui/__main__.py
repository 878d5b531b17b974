"""One webserver of a production installation, as deploy/start starts it: `python -m deid_platform.ui`.

Belongs here: its arguments and the environment. Does not belong here: any other part of an installation.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

import dagster as dg

from deid_platform.ui.guard import Login
from deid_platform.ui.server import webserver


def main() -> None:
    """Serves until it is stopped. DEID_UI_HOSTS names the hosts, separated by spaces, that a proxy serves it under."""
    parser = argparse.ArgumentParser(prog="python -m deid_platform.ui", description=main.__doc__)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--read-only", action="store_true", help="refuse every mutation, and ask nobody for a link")
    asked = parser.parse_args()
    # The proxy before the read-only one asks who is there.
    login = None if asked.read_only else Login(asked.port)
    if login is not None:
        sys.stderr.write(f"http://127.0.0.1:{asked.port}{login.path}\n")
    with (
        dg.DagsterInstance.get() as instance,
        webserver(
            instance,
            asked.workspace,
            address=asked.address,
            port=asked.port,
            hosts=tuple(os.environ.get("DEID_UI_HOSTS", "").split()),
            login=login,
            read_only=asked.read_only,
        ) as server,
        suppress(KeyboardInterrupt),
    ):
        server.run()


if __name__ == "__main__":
    main()
