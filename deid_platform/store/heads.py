"""The record of the newest sealed partitions, by which a partition that was rolled back is detected.

Belongs here: the file that holds the generation and the seal of each one's newest manifest.
Does not belong here: manifests (`manifests.py`).

A manifest names its generation, one more than that of the manifest before it. Sealing is two renames under a lock,
first the manifest, then the record; whoever is killed in between leaves a manifest one generation ahead of the
record, which is taken over. What is behind, or of the same generation under another seal, or further ahead than one
write can be, was put back. Whoever puts back the whole store, record and all, is not noticed.

The lock is one of the local file system: of a store elsewhere the record lies in a folder of the machine that writes
it, beside the home of its installation. One machine writes a store.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring

HEADS = "heads.json"


@dataclass(frozen=True, slots=True)
class Head:
    """What was sealed last: its generation, from 1, and its seal. Before there was a record, generations were 0."""

    generation: int = 0
    seal: str = ""


class Heads:
    """The record of one store.

    Args:
        root: The store's folder, or that of this machine for a store elsewhere.
        keyring: Seals the record.
        rings: All that may have sealed it, by their ids.
    """

    def __init__(self, root: Path, keyring: Keyring, rings: Mapping[str, Keyring]) -> None:
        self._root, self._path = root, root / HEADS
        self._keyring, self._rings = keyring, rings
        self._known: tuple[tuple[int, int, int], dict[str, Head]] | None = None

    def confirm(self, name: str, head: Head, again: Callable[[], Head]) -> None:
        """Accepts what a partition's manifest says of itself.

        Args:
            name: The partition, with its dataset.
            head: What its manifest says.
            again: Reads the manifest anew: another process may have sealed the next one in the meantime.

        Raises:
            DeidError: `store-rolled-back` if it is not what was sealed last.
        """
        if self._recorded(name) == head:
            return
        with self._locked():
            # Whatever was remembered: a file system may give two records in a row one number and one time.
            self._known = None
            head, recorded = again(), self._recorded(name)
            if head == recorded:
                return
            if recorded is None and head == Head():
                return
            if recorded is None or head.generation != recorded.generation + 1:
                raise DeidError(Code.STORE_ROLLED_BACK, name)
            self._take_over(name, head)

    def newest(self, name: str) -> Head:
        """What is recorded of a partition; `Head()` if nothing is.

        Raises:
            DeidError: `store-rolled-back` if the record is not what was sealed here.
        """
        return self._recorded(name) or Head()

    @contextmanager
    def sealing(
        self, name: str, present: Callable[[], Head], found: Callable[[], Mapping[str, Head]]
    ) -> Iterator[tuple[int, Callable[[str], None]]]:
        """The time in which a partition's next manifest is put in its place, and no other one of the store.

        Args:
            name: The partition, with its dataset.
            present: What the manifest in its place says of itself; `Head()` if there is none that was sealed here.
            found: What the manifests of all partitions say of themselves; asked for only where there is no record.

        Yields:
            The generation of the next manifest, and what prepares its record: to be called with its seal, before
            the manifest is moved. The record is put in its place at the end.

        Raises:
            DeidError: `store-rolled-back` if the record is gone although something was sealed under one, or is not
                what was sealed here.
        """
        with self._locked():
            self._known = None
            heads = self._load()
            if heads is None:
                if any(head.generation for head in found().values()):
                    raise DeidError(Code.STORE_ROLLED_BACK, HEADS)
                heads = {}
                self._put(heads)
            here = present()
            recorded = heads.get(name, Head())
            if here.generation > recorded.generation:
                # Of a write that was killed before its record: recorded now, the next one is one ahead again.
                heads[name] = recorded = here
                self._put(heads)
            generation = recorded.generation + 1
            prepared = self._root / f".{HEADS}"
            try:
                yield generation, lambda seal: self._prepare(prepared, {**heads, name: Head(generation, seal)})
                self._settle(prepared)
            finally:
                prepared.unlink(missing_ok=True)

    def accept(self, found: Callable[[], Mapping[str, Head]]) -> int:
        """Records what is there as what was sealed last.

        Returns:
            Of how many partitions.
        """
        with self._locked():
            heads = {name: head for name, head in found().items() if head.generation}
            self._put(heads)
        return len(heads)

    def _take_over(self, name: str, head: Head) -> None:
        try:
            self._put({**(self._load() or {}), name: head})
        except OSError:
            # A store that can be read alone is read; whoever writes next records it.
            return

    def _recorded(self, name: str) -> Head | None:
        """What is recorded of a partition, `Head()` if nothing is; None if there is no record at all."""
        heads = self._load()
        return None if heads is None else heads.get(name, Head())

    def _load(self) -> dict[str, Head] | None:
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                version = (status.st_ino, status.st_mtime_ns, status.st_size)
                if self._known is None or self._known[0] != version:
                    self._known = version, self._parsed(file.read())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, AttributeError):
            raise DeidError(Code.STORE_ROLLED_BACK, HEADS) from None
        return dict(self._known[1])

    def _parsed(self, raw: bytes) -> dict[str, Head]:
        document = json.loads(raw)
        ring = self._rings.get(document["key_id"]) if "key_id" in document else None
        if ring is None or not hmac.compare_digest(document.pop("seal", ""), _seal(document, ring)):
            raise ValueError
        return {name: Head(*head) for name, head in document["heads"].items()}

    def _put(self, heads: Mapping[str, Head]) -> None:
        prepared = self._root / f".{HEADS}"
        try:
            self._prepare(prepared, heads)
            self._settle(prepared)
        finally:
            prepared.unlink(missing_ok=True)

    def _settle(self, prepared: Path) -> None:
        prepared.replace(self._path)

    def _prepare(self, path: Path, heads: Mapping[str, Head]) -> None:
        document = {
            "key_id": self._keyring.key_id,
            "heads": {name: [head.generation, head.seal] for name, head in sorted(heads.items())},
        }
        raw = json.dumps({**document, "seal": _seal(document, self._keyring)}).encode()
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The folder locked: the end of a process, however it comes, unlocks it."""
        descriptor = os.open(self._root, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _seal(document: object, ring: Keyring) -> str:
    return ring.digest("heads", json.dumps(document, sort_keys=True))
