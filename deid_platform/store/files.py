"""Files under one root, wherever that is.

Belongs here: what differs between a folder of this machine and a store elsewhere. Does not belong here: what any file
holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs

from deid_platform.errors import Code, DeidError
from deid_platform.runtime.stopping import check
from deid_platform.store.location import Location

_OBJECTS = ("s3", "gcs")
_SAID = re.compile(r"AWS Error ([A-Z_]+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a folder: its path below the root, and when a file was written."""

    path: str
    is_file: bool
    written: datetime | None

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


class Files:
    """Paths are below the root and never absolute; on a folder of this machine, all are its owner's alone.

    A store elsewhere that does not answer, or refuses, raises `store-unreachable` instead of an OSError; what is not
    there is a `FileNotFoundError` in both.

    Args:
        location: Where the root is.
    """

    def __init__(self, location: Location) -> None:
        self._location = location
        self._fs, self._root = location.opened()
        self.folder = Path(self._root) if isinstance(self._fs, pafs.LocalFileSystem) else None
        """The root, if it is a folder of this machine."""

    def read(self, path: str) -> bytes:
        """A whole file.

        Raises:
            OSError: If it cannot be read; `FileNotFoundError` if there is none.
        """
        with self._answered(), self._fs.open_input_stream(self._at(path)) as stream:
            raw: bytes = stream.read()
        return raw

    def write(self, path: str, raw: bytes | memoryview) -> None:
        """Writes a whole file, in a folder that was made.

        Raises:
            OSError: If it cannot be written.
        """
        check()
        if self.folder is not None:
            # Private from its first byte: a mode set after writing would leave a window.
            (self.folder / path).touch(mode=0o600)
        with self._answered(), self._fs.open_output_stream(self._at(path)) as stream:
            stream.write(raw)

    def move(self, path: str, place: str) -> None:
        """Puts a file in another's place: atomic on a local file system; object stores put a whole object or none."""
        with self._answered():
            self._fs.move(self._at(path), self._at(place))

    def discard(self, path: str) -> None:
        """Deletes a file, if that can be done: nobody sees an orphan, and the next write sweeps it."""
        with suppress(OSError, DeidError), self._answered():
            self._fs.delete_file(self._at(path))

    def make_folder(self, path: str) -> None:
        """Makes a folder and those above it, up to the root."""
        if self.folder is None:
            if self._fs.type_name not in _OBJECTS:  # where a folder is only the beginning of names
                with self._answered():
                    self._fs.create_dir(self._at(path), recursive=True)
            return
        folder = self.folder / path
        for each in reversed([folder, *folder.parents]):
            if each == self.folder or self.folder in each.parents:
                each.mkdir(mode=0o700, exist_ok=True, parents=True)
                each.chmod(0o700)

    def present(self, paths: list[str]) -> list[str]:
        """Those that are files; asked for at once."""
        with self._answered():
            found = self._fs.get_file_info([self._at(path) for path in paths])
        return [path for path, info in zip(paths, found, strict=True) if info.type == pafs.FileType.File]

    def listed(self, folder: str, *, deep: bool = False) -> list[Entry]:
        """What is in a folder, or below it too; nothing where there is no such folder."""
        with self._answered():
            found = self._fs.get_file_info(pafs.FileSelector(self._at(folder), recursive=deep, allow_not_found=True))
        return [
            Entry(info.path[len(self._root) :].strip("/"), info.type == pafs.FileType.File, info.mtime)
            for info in found
        ]

    def readable_by_anybody(self, path: str) -> bool:
        """Whether a file of a store elsewhere can be read, or found in a list, without credentials."""
        files, _ = self._location.opened(anonymous=True)
        with suppress(OSError, pa.ArrowException):
            files.open_input_stream(self._at(path)).read()
            return True
        with suppress(OSError, pa.ArrowException):
            files.get_file_info(pafs.FileSelector(self._root))
            return True
        return False

    @contextmanager
    def _answered(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:
            if self.folder is not None:
                raise
            said = _SAID.search(str(error))
            raise DeidError(Code.STORE_UNREACHABLE, said[1] if said else None) from None

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root
