"""Keeps what is loaded for long work out of the way of Python's collector of cycles.

Belongs here: that alone. Topics, automata and pools of names are millions of objects that live as long as the work
does, and each full collection looks at all of them: with the topics of 100,000 patients, half the time of redaction.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def freeze_gc() -> Iterator[None]:
    """While it lasts, collections leave alone whatever existed before; nothing else changes."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
