"""Where a command writes what it was asked for: a file that appears whole or not at all, or a device as it is.

Belongs here: telling the two apart, and opening either. Does not belong here: what is written, or the note store, which
has its own way (`store/`).
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from deid_platform.errors import Code, DeidError

STANDARD_OUTPUT = Path("-")
_STDOUT = Path("/dev/stdout")
_MOST_LINKS = 40
_LIVE = ("/dev/", "/proc/")
"""Names of what is already open, which may be a file too: `/dev/stdout` after a shell's `>>` is added to."""


@dataclass(frozen=True, slots=True)
class Output:
    """One place to write to.

    Attributes:
        path: The file or the device, behind all links.
        temporary: What is written first and then takes the file's place, under a name that nobody can know before:
            another user of the folder could put a link or a file of their own there. None for what is written to as it
            is: devices, pipes and whatever this process has open.
    """

    path: Path
    temporary: Path | None

    @classmethod
    def at(cls, target: Path) -> Output:
        """The output that a path names; `-` is standard output. A link stays, and what it leads to is written.

        Raises:
            DeidError: `output-unusable` if it is a folder or lies in none, or its links lead nowhere.
        """
        if target == STANDARD_OUTPUT:
            return cls(_STDOUT, None)
        path = target.absolute()
        for _ in range(_MOST_LINKS):
            live = str(path).startswith(_LIVE)
            if live or not path.is_symlink():
                break
            path = path.parent / path.readlink()
        else:
            raise DeidError(Code.OUTPUT_UNUSABLE, "a circle of links")
        try:
            mode = path.stat().st_mode
        except OSError:
            mode = stat.S_IFREG  # a file that is yet to be made
        if stat.S_ISDIR(mode):
            raise DeidError(Code.OUTPUT_UNUSABLE, "a folder")
        if not path.parent.is_dir():
            raise DeidError(Code.OUTPUT_UNUSABLE, "no such folder")
        through = not stat.S_ISREG(mode) or (live and path.exists())
        return cls(path, None if through else path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp"))

    def apart_from(self, inputs: Iterable[Path | None]) -> Output:
        """This output, if writing it would change none of these files, through whatever link or path.

        Raises:
            DeidError: `input-invalid` if it would.
        """
        if any(_same_file(path, self.path) for path in inputs if path is not None):
            raise DeidError(Code.INPUT_INVALID, "output is the input")
        return self

    @property
    def folder(self) -> Path | None:
        """Where temporary files of the same confidence may lie; None beside a device."""
        return None if self.temporary is None else self.path.parent

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        """A text stream, UTF-8, readable by its owner alone where a file is made.

        Raises:
            DeidError: `output-unusable` if it cannot be opened, or its reader has gone.
        """
        try:
            lines = _stream(self.temporary or self.path, new=self.temporary is not None)
        except OSError:
            raise DeidError(Code.OUTPUT_UNUSABLE, "cannot be opened") from None
        try:
            with lines:
                yield lines
            if self.temporary is not None:
                self.temporary.replace(self.path)
        except BrokenPipeError:
            raise DeidError(Code.OUTPUT_UNUSABLE, "nobody reads the pipe") from None
        finally:
            if self.temporary is not None:
                self.temporary.unlink(missing_ok=True)


def _same_file(one: Path, other: Path) -> bool:
    try:
        # A terminal may well be input and output.
        return one.is_file() and one.samefile(other)
    except OSError:  # one of them is not there
        return False


def _stream(path: Path, *, new: bool) -> TextIO:
    flags = os.O_CREAT | os.O_EXCL if new else os.O_APPEND | os.O_NOCTTY
    # A socket, or another user's terminal, cannot be opened again by its name.
    descriptor = os.dup(1) if path == _STDOUT else os.open(path, os.O_WRONLY | flags, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")
