"""A command line of `deid` without a process of its own, whose start takes most of a short command's time.

Belongs here: the platform's own `main` with everything that a shell would show of it. Does not belong here: commands
whose process is what is tested (devices, signals, terminals, what is imported).
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from deid_platform.cli import main


def deid(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a command prints and how it exits, run in a folder, by default in this one."""
    shown, said = io.StringIO(), io.StringIO()
    status: object = 0
    umask = os.umask(0o077)
    try:
        with (
            pytest.MonkeyPatch.context() as patched,
            patch.dict(os.environ),  # a command that prepares the instance sets some of it
            chdir(folder or Path.cwd()),
            redirect_stdout(shown),
            redirect_stderr(said),
        ):
            patched.setattr(sys, "argv", ["deid", *arguments])
            # It would become that program, and the tests would be over.
            patched.setattr(os, "execvpe", lambda program, *_: pytest.fail(f"{program} needs a process of its own"))
            main()
    except SystemExit as ended:
        status = ended.code or 0
    finally:
        os.umask(umask)
        logging.captureWarnings(False)
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, shown.getvalue(), said.getvalue())


def deid_in_a_pipe(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command between two pipes, as a shell would put it."""
    shown: list[bytes] = []
    (given_to, theirs), (ours, written) = os.pipe(), os.pipe()
    threads = [
        threading.Thread(target=_write, args=(theirs, given)),
        threading.Thread(target=lambda: shown.append(_read(ours))),
    ]
    for thread in threads:
        thread.start()
    try:
        with _in_place_of(0, given_to), _in_place_of(1, written):
            done = deid(*arguments)
    finally:
        for thread in threads:
            thread.join()
    return done.returncode, shown[0].decode() + done.stdout, done.stderr


def _write(pipe: int, given: bytes) -> None:
    # Whoever has read enough goes, and the rest is no longer wanted.
    with suppress(BrokenPipeError), open(pipe, "wb") as stream:
        stream.write(given)


def _read(pipe: int) -> bytes:
    with open(pipe, "rb") as stream:
        return stream.read()


@contextmanager
def _in_place_of(standard: int, descriptor: int) -> Iterator[None]:
    """Lets a standard descriptor be another one, which is closed with it."""
    before = os.dup(standard)
    os.dup2(descriptor, standard)
    os.close(descriptor)
    try:
        yield
    finally:
        os.dup2(before, standard)
        os.close(before)
