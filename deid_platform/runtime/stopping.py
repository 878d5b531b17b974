"""A stop request, SIGTERM or Ctrl-C, that cannot be lost.

Belongs here: noticing the request, and asking for it between two pieces of work. Does not belong here: what is undone
when work stops; each piece may be cut off anywhere, as by `kill -9`.

Python turns a signal into an exception at whatever the main thread is doing. If that is a weakref's callback, a
`__del__` or a callback of the garbage collector, Python prints the exception and goes on, and so does a library that
catches all there is; Dagster drops a signal that comes between two steps. A handler of our own that sets a flag would
not last either: Dagster replaces handlers as it enters and leaves each step.

Hence the wakeup descriptor (`signal.set_wakeup_fd`): below any handler, the interpreter itself writes each signal's
number there the moment it arrives. `check` looks there, before each step, transaction, commit, file and batch.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STOPS = (signal.SIGINT, signal.SIGTERM)


class _Watch:
    """The descriptor of this process, from when it is watched until it no longer is."""

    def __init__(self) -> None:
        self._read, self._written = socket.socketpair()
        self._written.setblocking(False)
        self._first: signal.Signals | None = None
        self._former = signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._listen, name="stop requests", daemon=True)
        self._thread.start()

    def requested(self) -> signal.Signals | None:
        if self._first is None:
            with suppress(BlockingIOError):
                # What the thread has not read yet.
                self._note(self._read.recv(4096, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        return self._first

    def close(self) -> None:
        signal.set_wakeup_fd(self._former)
        self._written.close()
        self._thread.join()
        self._read.close()

    def _note(self, signals: bytes) -> None:
        for number in signals:
            if number in STOPS and self._first is None:
                self._first = signal.Signals(number)

    def _listen(self) -> None:
        """Takes up what arrives; the second request ends the process at once, whatever it is doing."""
        requests = 0
        # Noted before it is taken away: at no moment is a request neither here nor there.
        while seen := self._read.recv(1, socket.MSG_PEEK):
            self._note(seen)
            self._read.recv(1)
            requests += seen[0] in STOPS
            if requests > 1:
                os._exit(128 + seen[0])


_watch: _Watch | None = None


@contextmanager
def watched() -> Iterator[None]:
    """Notices requests to stop while the block runs; within another such block, or in another thread, does nothing.

    SIGTERM raises KeyboardInterrupt, as Ctrl-C does, unless somebody handles it already.
    """
    global _watch
    if _watch is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    unhandled = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if unhandled:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    _watch = _Watch()
    try:
        yield
    finally:
        watch, _watch = _watch, None
        watch.close()
        if unhandled:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def requested() -> signal.Signals | None:
    """The signal that asked this process to stop since it is watched, if one did."""
    return _watch.requested() if _watch is not None else None


def check() -> None:
    """Stops here if the process was asked to, whatever became of the exception that said so.

    Raises:
        KeyboardInterrupt: It was.
    """
    if requested() is not None:
        raise KeyboardInterrupt
