"""A port that nobody listens on.

Belongs here: finding one. Does not belong here: whatever is started on it.
"""

from __future__ import annotations

import socket


def free_port() -> int:
    """One of loopback that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
