"""Which installation writes a store that is elsewhere.

Belongs here: the mark at the store's root, by which a second installation is refused. Does not belong here: two
processes of one installation (`refresh/installation/lock.py`), or what was put back by whoever keeps the store
(`heads.py`).

The mark is made before anything else, where nothing lies yet, and is looked at again before each manifest. pyarrow has
no conditional writes: of two installations that make it in the same second, the one whose mark was replaced is refused
at its next manifest. A copy of the home folder is the same installation.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from deid_platform.errors import Code, DeidError
from deid_platform.store.files import Files

OWNER = "owner.json"
PROBE = ".probe-"
_INSTALLATION = "installation"


class Owner:
    """The mark of one store.

    Args:
        files: The store.
        record: Folder of this machine, which holds the installation's own name, a random one.
    """

    def __init__(self, files: Files, record: Path) -> None:
        self._files, self._record = files, record

    def confirm(self, *, mark: bool = True) -> None:
        """Refuses to write where another installation does.

        Args:
            mark: Whether a store that is empty is marked as this installation's.

        Raises:
            DeidError: `store-taken`, `store-public`, `store-unreachable`; `store-write` of the record's folder.
        """
        there, ours = self._marked(), self._name()
        if there is None and all(entry.name.startswith(PROBE) for entry in self._files.listed("")):
            there = self.take() if mark else ours
        if there != ours:
            raise DeidError(Code.STORE_TAKEN)

    def take(self) -> str | None:
        """Marks the store as this installation's, whoever's it was; returns what the mark says then.

        Raises:
            DeidError: `store-public` if anybody could read it, `store-unreachable`.
        """
        self._files.write(OWNER, json.dumps({"installation": self._name()}).encode())
        if self._files.readable_by_anybody(OWNER):
            self._files.discard(OWNER)
            raise DeidError(Code.STORE_PUBLIC)
        return self._marked()

    def probe(self) -> None:
        """Writes, reads and deletes a file without notes, and looks whether anybody else could read it.

        Raises:
            DeidError: `store-taken`, `store-public`; `store-unreachable`, also if nothing can be deleted.
        """
        self.confirm(mark=False)
        path = f"{PROBE}{secrets.token_hex(8)}"
        self._files.write(path, b"probe")
        try:
            self._files.read(path)
            if self._files.readable_by_anybody(path):
                raise DeidError(Code.STORE_PUBLIC)
        finally:
            self._files.discard(path)
        if self._files.present([path]):
            raise DeidError(Code.STORE_UNREACHABLE, "nothing can be deleted")

    def _marked(self) -> str | None:
        try:
            document = json.loads(self._files.read(OWNER))
        except FileNotFoundError:
            return None
        except ValueError:
            return ""
        return str(document.get("installation")) if isinstance(document, dict) else ""

    def _name(self) -> str:
        """The installation's own name, made once."""
        path = self._record / _INSTALLATION
        try:
            if not path.exists():
                self._make_name(path)
            return path.read_text()
        except OSError:
            raise DeidError(Code.STORE_WRITE, _INSTALLATION) from None

    def _make_name(self, path: Path) -> None:
        beside = path.with_name(f".{_INSTALLATION}-{secrets.token_hex(4)}")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(16))
        # Whole or not at all, and never over one that another process has made meanwhile.
        with suppress(FileExistsError):
            os.link(beside, path)
        beside.unlink()
