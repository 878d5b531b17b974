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
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

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
            chdir(folder or Path.cwd()),
            redirect_stdout(shown),
            redirect_stderr(said),
        ):
            patched.setattr(sys, "argv", ["deid", *arguments])
            main()
    except SystemExit as ended:
        status = ended.code or 0
    finally:
        os.umask(umask)
        logging.captureWarnings(False)
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, shown.getvalue(), said.getvalue())
