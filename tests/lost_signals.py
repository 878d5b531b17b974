"""Requests to stop whose exception Python loses, since it is raised where nobody can catch it."""

from __future__ import annotations

import signal
import weakref


class _Referred:
    """Something that goes away."""


def lose(what: signal.Signals = signal.SIGTERM) -> None:
    """Sends a signal to this process while a weakref's callback runs; Python prints what the handler raises."""

    def called_back(_: weakref.ref[_Referred]) -> None:
        signal.raise_signal(what)

    gone = _Referred()
    reference = weakref.ref(gone, called_back)
    del gone
    assert reference() is None
