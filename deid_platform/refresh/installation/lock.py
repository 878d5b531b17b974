"""One refresh of an installation at a time, whoever started it.

Belongs here: the lock that the steps of a refresh hold. Does not belong here: what is done under it, or the locks
of the embedded server and of the database, which protect those alone.

The lock is the operating system's, on an open file: it ends with the process that holds it, however that ends, so
that it is never left behind and never broken by guessing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from deid_platform.errors import Code, DeidError

LOCK_NAME = "refresh.lock"


@contextmanager
def installation_lock(home: Path, *, wait: bool = False) -> Iterator[None]:
    """Keeps every other process from refreshing the same installation while the block runs.

    A process that holds the lock may take it again, so that a step takes it whether or not the whole refresh does.

    Args:
        home: The installation's home folder; made if need be.
        wait: Whether to wait for a refresh that is running.

    Raises:
        DeidError: `refresh-running` if another process holds it and `wait` is false; `store-write` if the file
            cannot be made or the file system has no locks.
    """
    with file_lock(home, LOCK_NAME, wait=wait):
        yield


@contextmanager
def file_lock(home: Path, name: str, *, wait: bool) -> Iterator[None]:
    """The lock of one file of an installation's home; see `installation_lock`, whose errors it raises."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(
            home / name,
            mode=0o600,
            # One lock a process, over all its threads: a second one of its own would wait for the first for ever.
            is_singleton=True,
            thread_local=False,
            # Where the kernel has no locks, a file that merely exists would outlive its process.
            fallback_to_soft=False,
        )
        lock.acquire(blocking=wait)
    except Timeout:
        raise DeidError(Code.REFRESH_RUNNING) from None
    except OSError:
        raise DeidError(Code.STORE_WRITE, name) from None
    try:
        yield
    finally:
        lock.release()
