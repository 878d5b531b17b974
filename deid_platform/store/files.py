"""Files under one root, wherever that is.

Belongs here: what differs between a folder of this machine and a store elsewhere. Does not belong here: what any file
holds.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow.fs as pafs

from deid_platform.stopping import check


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

    Args:
        uri: A local path or any URI that `pyarrow.fs.FileSystem.from_uri` understands.
    """

    def __init__(self, uri: str | Path) -> None:
        text = str(uri)
        if "://" in text:
            self._fs, self._root = pafs.FileSystem.from_uri(text)
        else:
            self._fs, self._root = pafs.LocalFileSystem(), str(Path(text).absolute())
        self.folder = Path(self._root) if isinstance(self._fs, pafs.LocalFileSystem) else None
        """The root, if it is a folder of this machine."""

    def read(self, path: str) -> bytes:
        """A whole file.

        Raises:
            OSError: If it cannot be read; `FileNotFoundError` if there is none.
        """
        with self._fs.open_input_stream(self._at(path)) as stream:
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
        with self._fs.open_output_stream(self._at(path)) as stream:
            stream.write(raw)

    def move(self, path: str, place: str) -> None:
        """Puts a file in another's place: atomic on a local file system; object stores put a whole object or none."""
        self._fs.move(self._at(path), self._at(place))

    def discard(self, path: str) -> None:
        """Deletes a file, if that can be done: nobody sees an orphan, and the next write sweeps it."""
        with suppress(OSError):
            self._fs.delete_file(self._at(path))

    def make_folder(self, path: str) -> None:
        """Makes a folder and those above it, up to the root."""
        if self.folder is None:
            self._fs.create_dir(self._at(path), recursive=True)
            return
        folder = self.folder / path
        for each in reversed([folder, *folder.parents]):
            if each == self.folder or self.folder in each.parents:
                each.mkdir(mode=0o700, exist_ok=True, parents=True)
                each.chmod(0o700)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return bool(self._fs.get_file_info(self._at(path)).type == pafs.FileType.File)

    def listed(self, folder: str, *, deep: bool = False) -> list[Entry]:
        """What is in a folder, or below it too; nothing where there is no such folder."""
        found = self._fs.get_file_info(pafs.FileSelector(self._at(folder), recursive=deep, allow_not_found=True))
        return [
            Entry(info.path[len(self._root) :].strip("/"), info.type == pafs.FileType.File, info.mtime)
            for info in found
        ]

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root
