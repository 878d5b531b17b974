"""A process that ends others when the one that started it has gone, however that ended.

Belongs here: that alone. vLLM's processes do not notice that whoever asks them was killed, and would keep the card.

The process runs this file by itself, without the platform, so it imports nothing else.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from types import TracebackType

_DONE = b"done"


class Guard:
    """The process, from entering to leaving. Without one on a system that cannot watch processes so (not Linux)."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Guard:
        if hasattr(os, "pidfd_open"):
            # In a session of its own, so that Ctrl-C does not end it before those that it watches.
            self._process = subprocess.Popen(  # noqa: S603 - this file
                [sys.executable, "-I", "-S", __file__, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it, and none of those that it watches."""
        if self._process is not None:
            self._say(_DONE)
            with suppress(OSError):
                self._process.stdin and self._process.stdin.close()
            self._process.wait()
            self._process = None

    def watch(self, pid: int) -> None:
        """Has a process end with this one."""
        self._say(str(pid).encode())

    def _say(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # it was killed
                self._process.stdin.write(line + b"\n")
                self._process.stdin.flush()


def _serve(owner: int) -> None:
    watched: list[int] = []
    poll, said, lives = select.poll(), b"", os.getppid() == owner
    os.set_blocking(0, False)
    poll.register(0, select.POLLIN)
    try:
        poll.register(os.pidfd_open(owner), select.POLLIN)
    except OSError:
        lives = False
    while True:
        # The pipe alone does not tell: a copy of the owner may have it open.
        lives = lives and [number for number, _ in poll.poll()] == [0]
        try:
            piece = os.read(0, 4096)
        except BlockingIOError:
            break  # the owner is gone, and all that it said is read
        *lines, said = (said + piece).split(b"\n")
        for line in lines:
            if line == _DONE:
                return
            # By a descriptor: another process that gets the number later is not meant.
            with suppress(OSError):
                watched.append(os.pidfd_open(int(line)))
        if not piece:
            break
    for process in watched:
        with suppress(OSError):
            signal.pidfd_send_signal(process, signal.SIGKILL)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
