"""Reading and writing partitions.

Belongs here: in which order the files of a partition are written, replaced, read and swept. Does not belong here: what
a manifest, a part or a record holds (`manifests.py`, `parts.py`, `heads.py`), or where files lie (`files.py`).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.store.files import Files
from deid_platform.store.heads import HEADS, Head, Heads
from deid_platform.store.location import Location
from deid_platform.store.manifests import MANIFEST, Manifest
from deid_platform.store.owner import Owner
from deid_platform.store.parts import UNFINISHED, Part, Unfinished

SETTLED = timedelta(minutes=15)
"""How long a part outlives the manifest that named it."""
_NAME = re.compile(r"[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*)*")
_PARTITION = re.compile(r"[A-Za-z0-9@._-]{1,80}")


class NoteStore:
    """Reads and writes partitions under one root.

    Args:
        location: Where the root is; a path or a URI will do.
        keyring: Seals manifests and parts.
        former: What sealed some of them before the secret was changed; read by, never sealed with.
        record: Folder of this machine for `heads.json` and temporary files, where the root is on another file system.

    Raises:
        DeidError: `settings-invalid` for a root on another file system without such a folder; `store-write` if that
            cannot be made.
    """

    def __init__(
        self, location: Location | str | Path, keyring: Keyring, *former: Keyring, record: Path | None = None
    ) -> None:
        self._files = Files(location if isinstance(location, Location) else Location(str(location)))
        self._keyring = keyring
        self._rings = {ring.key_id: ring for ring in (*former, keyring)}
        if self._files.folder is not None:
            record = self._files.folder
        elif record is None:
            raise DeidError(Code.SETTINGS_INVALID, f"store: no folder for {HEADS}")
        else:
            try:
                record.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError:
                raise DeidError(Code.STORE_WRITE, HEADS) from None
        self._heads = Heads(record, keyring, self._rings)
        self._owner = Owner(self._files, record) if self._files.folder is None else None
        self._here = record

    @property
    def spool(self) -> Path:
        """A folder of this machine for temporary files of notes: the store's own, or that of its record."""
        return self._here

    def write(
        self,
        dataset: str,
        partition: str,
        tables: Iterable[pa.Table],
        *,
        meta: Callable[[], Mapping[str, Any]] | None = None,
        resumable: bool = False,
    ) -> Manifest:
        """Replaces a partition: parts first, then the manifest in one atomic step; parts of earlier
        writes go once no reader can still be at them.

        Args:
            dataset: Lower-case path of the dataset, such as `source/raw_notes`.
            partition: Partition key, such as `hospital@2026-01-05`, or `all`.
            tables: One table a part; all of one schema.
            meta: Gives counts and digests to keep beside the parts, never a value from a note. Called once
                the tables are through, so that it can say what was counted on the way.
            resumable: Whether each part is listed as soon as it is whole, for `unfinished`, should the write not come
                to its end. Each such write has to give its rows in the same order, from the first on.

        Raises:
            DeidError: `store-write` if anything cannot be written, of a store elsewhere `store-unreachable`,
                `store-taken` or `store-public`; the partition is then as it was.
        """
        folder = self._folder(dataset, partition)
        self._confirm_owner()
        begun: list[str] = []
        try:
            self._files.make_folder(folder)
            before = self._unfinished(dataset, partition) if resumable else None
            parts: list[Part] = []
            for table in tables:
                begun.append(f"{folder}/part-{secrets.token_hex(8)}.parquet")
                parts.append(self._write_part(begun[-1], table))
                if before is not None:
                    before = self._list_part(begun, before, parts)
            manifest = Manifest(dataset, partition, self._keyring.key_id, tuple(parts), dict(meta() if meta else {}))
            begun.append(f"{folder}/.{MANIFEST}.{secrets.token_hex(4)}")
            manifest = self._seal_manifest(begun, manifest)
        except Exception as error:
            # Half a part is notes all the same, and on a full disk it is also what fills it.
            for path in begun:
                self._files.discard(path)
            if isinstance(error, (OSError, pa.ArrowException)):
                raise DeidError(Code.STORE_WRITE, dataset) from None
            raise
        if resumable:
            self._files.discard(f"{folder}/{UNFINISHED}")
        self._sweep(folder, keep={part.name for part in parts})
        return manifest

    def sweep(self) -> None:
        """Deletes what no manifest names any more and no reader can still be at, also where nothing is written again.

        Only while nobody writes. A partition whose manifest is not the newest that was sealed here is left as it is.

        Raises:
            DeidError: Of a store elsewhere, `store-unreachable` or `store-taken`.
        """
        self._confirm_owner()
        for name in self._every_head():
            dataset, _, partition = name.rpartition("/")
            with suppress(DeidError):
                listed = self._unfinished(dataset, partition).parts
                kept = {part.name for part in (*self.required(dataset, partition).parts, *listed)}
                self._sweep(self._folder(dataset, partition), keep=kept | ({UNFINISHED} if listed else set()))

    def unfinished(self, dataset: str, partition: str) -> Iterator[pa.Table]:
        """What the last write of a partition had written, if it was to be resumed and did not come to its end.

        What is not as it was sealed is left out. What still holds of the rows is for the caller to say: a write of
        another day made them, maybe of other notes and by other rules.
        """
        for part in self._unfinished(dataset, partition).parts:
            with suppress(DeidError):
                yield self._read_part(dataset, partition, part, self._keyring)

    def _unfinished(self, dataset: str, partition: str) -> Unfinished:
        """The list of the write that did not come to its end; without parts if there is none that can be trusted."""
        name = f"{dataset}/{partition}"
        # By the record and not by the manifest, which may be one that was put back, or be gone.
        expected = Unfinished(name, self._heads.newest(name).seal)
        try:
            raw = self._files.read(f"{self._folder(dataset, partition)}/{UNFINISHED}")
        except OSError:
            return expected
        return Unfinished.opened(raw, expected, self._keyring)

    def _list_part(self, begun: list[str], before: Unfinished, parts: list[Part]) -> Unfinished:
        """Lists the parts so far; from then on none is begun, and those go that they stand for."""
        folder = begun[-1].rpartition("/")[0]
        after = before.with_parts(parts)
        begun.append(f"{folder}/.{UNFINISHED}.{secrets.token_hex(4)}")
        self._files.write(begun[-1], after.sealed(self._keyring))
        self._files.move(begun[-1], f"{folder}/{UNFINISHED}")
        begun.clear()
        for part in set(before.parts) - set(after.parts):
            self._files.discard(f"{folder}/{part.name}")
        return after

    def _seal_manifest(self, begun: list[str], manifest: Manifest) -> Manifest:
        """Writes a manifest to the last of the begun files and puts it in its place: from then on none is begun."""
        path = begun[-1]
        place = f"{self._folder(manifest.dataset, manifest.partition)}/{MANIFEST}"
        name = f"{manifest.dataset}/{manifest.partition}"
        present = partial(self._head, manifest.dataset, manifest.partition)
        with self._heads.sealing(name, present, self._every_head) as (generation, record):
            manifest = replace(manifest, generation=generation)
            record(self._write_manifest(path, manifest))
            self._confirm_owner()
            self._files.move(path, place)
            begun.clear()
        return manifest

    def accept(self) -> int:
        """Takes every sealed partition as it is for the newest one, as after a restore from a backup.

        Of a store elsewhere, this installation is the one that writes it from now on.

        Returns:
            How many there are.

        Raises:
            DeidError: Of a store elsewhere, `store-unreachable` or `store-public`.
        """
        if self._owner is not None:
            self._owner.take()
        return self._heads.accept(self._every_head)

    def _every_head(self) -> dict[str, Head]:
        """What the manifest of each partition says of itself."""
        found = self._files.listed("", deep=True)
        folders = [PurePosixPath(entry.path).parent for entry in found if entry.name == MANIFEST]
        named = [f for f in folders if _NAME.fullmatch(str(f.parent)) and _PARTITION.fullmatch(f.name)]
        return {str(folder): self._head(str(folder.parent), folder.name) for folder in named}

    def _head(self, dataset: str, partition: str) -> Head:
        """What a partition's manifest says of itself; `Head()` where none is that was sealed here."""
        try:
            found = self._sealed(dataset, partition)
        except DeidError as error:
            if error.code is not Code.STORE_TORN:
                raise
            return Head()
        return Head() if found is None or not found[0].generation else Head(found[0].generation, found[1])

    def manifest(self, dataset: str, partition: str) -> Manifest | None:
        """The partition's manifest, or None if it was never written.

        Raises:
            DeidError: `store-torn` if it is not one that this store sealed, `store-rolled-back` if it is not the
                newest one.
        """
        found = self._sealed(dataset, partition)
        if found is None:
            return None
        manifest, seal = found
        head = Head(manifest.generation, seal) if manifest.generation else Head()
        self._heads.confirm(f"{dataset}/{partition}", head, lambda: self._head(dataset, partition))
        return manifest

    def _sealed(self, dataset: str, partition: str) -> tuple[Manifest, str] | None:
        """A manifest that was sealed here, be it the newest one or not, and its seal."""
        try:
            raw = self._files.read(f"{self._folder(dataset, partition)}/{MANIFEST}")
        except FileNotFoundError:
            return None
        except OSError:
            raise DeidError(Code.STORE_TORN, f"{dataset}/{partition}") from None
        return Manifest.opened(raw, dataset, partition, self._rings)

    def required(self, dataset: str, partition: str) -> Manifest:
        """The partition's manifest.

        Raises:
            DeidError: `not-materialized` if it was never written, `store-torn` if it is not sealed,
                `store-rolled-back` if it is not the newest one.
        """
        manifest = self.manifest(dataset, partition)
        if manifest is None:
            raise DeidError(Code.NOT_MATERIALIZED, f"{dataset}/{partition}")
        return manifest

    def read(self, dataset: str, partition: str) -> Iterator[pa.Table]:
        """The partition's parts in order, each checked against its digest before a row is seen.

        Raises:
            DeidError: `not-materialized` if the partition was never written; `store-torn` if a part is not
                what was sealed.
        """
        manifest = self.required(dataset, partition)
        for part in manifest.parts:
            yield self._read_part(dataset, partition, part, self._rings[manifest.key_id])

    def _read_part(self, dataset: str, partition: str, part: Part, ring: Keyring) -> pa.Table:
        try:
            raw = self._files.read(f"{self._folder(dataset, partition)}/{part.name}")
            if ring.digest(raw) != part.digest:
                raise DeidError(Code.STORE_TORN, f"{dataset}/{partition}")
            return pq.read_table(pa.BufferReader(raw))
        except (OSError, pa.ArrowException):
            raise DeidError(Code.STORE_TORN, f"{dataset}/{partition}") from None

    def stream(self, dataset: str, partition: str) -> Iterator[dict[str, Any]]:
        """The rows of a partition as dictionaries, in order, one part in memory at a time."""
        for table in self.read(dataset, partition):
            yield from table.to_pylist()

    def rows(self, dataset: str, partition: str) -> list[dict[str, Any]]:
        """All rows of a partition as dictionaries, in order. For small partitions and tests."""
        return list(self.stream(dataset, partition))

    def partitions(self, dataset: str) -> list[str]:
        """Partition keys of a dataset that hold a manifest, sorted."""
        folders = [entry.name for entry in self._files.listed(self._checked(dataset)) if not entry.is_file]
        manifests = self._files.present([f"{self._folder(dataset, name)}/{MANIFEST}" for name in folders])
        return sorted(PurePosixPath(path).parent.name for path in manifests)

    def probe(self) -> None:
        """Looks whether a store elsewhere can be written, and cannot be read by anybody; see `Owner.probe`.

        Raises:
            DeidError: `store-unreachable`, `store-taken`, `store-public`.
        """
        if self._owner is not None:
            self._owner.probe()

    def _confirm_owner(self) -> None:
        if self._owner is not None:
            self._owner.confirm()

    def _folder(self, dataset: str, partition: str) -> str:
        if not _PARTITION.fullmatch(partition) or set(partition) <= {"."}:
            raise DeidError(Code.STORE_WRITE, dataset)
        return f"{self._checked(dataset)}/{partition}"

    def _checked(self, dataset: str) -> str:
        if not _NAME.fullmatch(dataset):
            raise DeidError(Code.STORE_WRITE)
        return dataset

    def _write_part(self, path: str, table: pa.Table) -> Part:
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        raw = sink.getvalue()
        self._files.write(path, memoryview(raw))
        return Part(path.rpartition("/")[2], table.num_rows, raw.size, self._keyring.digest(raw.to_pybytes()))

    def _write_manifest(self, path: str, manifest: Manifest) -> str:
        """Writes and seals a manifest; returns its seal."""
        raw, seal = manifest.sealed(self._keyring)
        self._files.write(path, raw)
        return seal

    def _sweep(self, folder: str, *, keep: set[str]) -> None:
        # Not what is young: another process may be reading by the manifest of a moment ago, or writing.
        settled = datetime.now(tz=UTC) - SETTLED
        for entry in self._files.listed(folder):
            if entry.name not in keep | {MANIFEST} and entry.written is not None and entry.written < settled:
                self._files.discard(entry.path)
