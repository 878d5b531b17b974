"""Folders of deliveries: which files there are, and no way out of them by a link.

Belongs here: names, and opening what is in a folder that somebody else fills. Does not belong here: what a file holds
(`formats/`), or which folders are deliveries (`files.py`).

A link could lead to any file that the platform's user may read: the key secret, another feed's notes. So by default
neither a delivery's folder nor a file in it may be one. That is seen when the folder is listed and is enforced when a
file is opened, since a file may become a link in between. A hard link cannot be told from a file; the kernel of Linux
lets nobody make one of a file that they may not read and write (`fs.protected_hardlinks`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path, PosixPath
from typing import IO, Any

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.delimited import FEED as TABLES
from deid_platform.corpora.tables import is_spreadsheet
from deid_platform.errors import Code, DeidError

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe would wait for a writer
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Delivered(PosixPath):
    """A delivery's folder, or a file in it, that is never reached by a link: not its own, nor its folder's."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """What is there itself, be it a link."""
        del follow_symlinks
        return super().stat(follow_symlinks=False)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a plain file; a link to one is none."""
        del follow_symlinks
        return self._is(stat.S_ISREG)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a folder; a link to one is none."""
        del follow_symlinks
        return self._is(stat.S_ISDIR)

    def open(self, mode: str = "r", *_: Any, **__: Any) -> IO[Any]:  # type: ignore[override]
        """The bytes of a plain file.

        Raises:
            OSError: It is none, or its folder is a link.
        """
        if mode != "rb":
            raise OSError(errno.EROFS, "deliveries are read")
        folder = os.open(self.parent, _FOLDER)
        try:
            file = os.open(self.name, _FILE, dir_fd=folder)
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise OSError(errno.EINVAL, "no plain file")
        return os.fdopen(file, mode)

    def _is(self, kind: Any) -> bool:
        try:
            return bool(kind(self.stat().st_mode))
        except OSError:
            return False


def refuse_link(path: Path) -> None:
    """Raises if a delivered file is a link.

    Raises:
        BrokenFileError: `link`.
    """
    if isinstance(path, Delivered) and path.is_symlink():
        raise BrokenFileError(Reason.LINK)


def files_of(folder: Path, role: Role, ref: str, file_format: FileFormat) -> list[Path]:
    """The files of a folder that have rows of a role, by name.

    Raises:
        DeidError: As `names_in`.
    """
    return [folder / name for name in names_in(folder, ref) if role in roles_of(file_format, name)]


def names_in(folder: Path, ref: str) -> list[str]:
    """The names in a folder, but for what is still being written.

    Raises:
        DeidError: `feed-link` if it is a link and must not be; `feed-unreadable` if it cannot be listed.
    """
    if isinstance(folder, Delivered) and folder.is_symlink():
        raise DeidError(Code.FEED_LINK, ref)
    try:
        return sorted(p.name for p in folder.iterdir() if not is_unfinished(p.name))
    except OSError:
        raise DeidError(Code.FEED_UNREADABLE, ref) from None


def roles_of(file_format: FileFormat, name: str) -> tuple[Role, ...]:
    """The roles that a file of that name has rows of, in its own format or as a table beside those of the format."""
    return file_format.roles(name) or TABLES.roles(name)


def is_unfinished(name: str) -> bool:
    """Whether a file or folder of that name is still being written."""
    return name.startswith((".", "_")) or name.endswith(".tmp")


def passed_over(
    folder: Path, file_format: FileFormat = TABLES, claimed: Callable[[str], bool] = lambda _: False
) -> tuple[int, int]:
    """How many files of a folder have rows of no role and are not claimed, and how many of those are workbooks.

    Their names are not told: they may be anything.

    Raises:
        DeidError: As `names_in`.
    """
    names = [name for name in names_in(folder, "folder") if not roles_of(file_format, name) and not claimed(name)]
    return len(names), sum(map(is_spreadsheet, names))
