"""Extracts as folders: the notes that a project may read as Parquet, a data dictionary, and a manifest.

Belongs here: writing such a folder so that it appears whole or not at all, and checking one. Does not belong here: who
may read which row and what the ledger keeps, which is the warehouse's (`warehouse/readers/extracts.py`).

Everything is done by descriptors of the folder that was opened first: whoever may change the folder above cannot lead a
file elsewhere by a link.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Engine

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.readers.dictionary import Relation, dictionary, dictionary_json
from deid_platform.warehouse.readers.extracts import BATCH, Extract, Reading, reading, row_digest, standing, unrecorded

NOTES = "notes.parquet"
DICTIONARY = "data-dictionary.json"
MANIFEST = "manifest.json"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TYPES = {"text": pa.string(), "integer": pa.int32(), "date": pa.date32()}
_LARGEST_MANIFEST = 1 << 20


def write_extract(
    login: Engine, project: str, target: Path, *, progress: Callable[[int], None] | None = None
) -> Extract:
    """Writes what a project may read now into a new folder, and records it.

    The ledger knows of the extract before the folder appears. What is hidden until then, this call sees and leaves no
    folder; what is hidden later finds the extract in the ledger.

    Args:
        login: The engine of a reader's own login.
        project: For which of its projects.
        target: The folder to be made.
        progress: Called with the number of notes of each batch.

    Raises:
        DeidError: `output-unusable` if there is something at that path, or it cannot be made; `output-full`;
            `extract-overtaken` with the extract's number; what `reading` raises.
    """
    with _made_whole(target) as folder:
        with reading(login, project) as source:
            relation = _relation(login, source.basis.relation)
            notes = _write_notes(folder, source, relation, progress)
            _write(folder, DICTIONARY, dictionary_json((relation,)))
            manifest = _manifest(folder, source, project, notes)
            _write(folder, MANIFEST, manifest)
            digest = hashlib.sha256(manifest.encode()).hexdigest()
            source.close(notes, digest)
        made = standing(login, digest)
        if made.faults:
            raise DeidError(Code.EXTRACT_OVERTAKEN, f"extract {made.number}: {', '.join(made.faults)}")
    return made


def check_files(path: Path) -> tuple[dict[str, Any], str]:
    """The manifest of an extract whose files are what it says, and its digest.

    Raises:
        DeidError: `extract-damaged` with the file's name.
    """
    try:
        folder = os.open(path, _FOLDER)
    except OSError:
        raise DeidError(Code.EXTRACT_DAMAGED, "no such folder") from None
    try:
        with _read(folder, MANIFEST) as stream:
            said = stream.read(_LARGEST_MANIFEST)
        try:
            manifest = json.loads(said)
            recorded = {name: manifest["files"][name]["sha256"] for name in (NOTES, DICTIONARY)}
        except (ValueError, KeyError, TypeError):
            raise DeidError(Code.EXTRACT_DAMAGED, MANIFEST) from None
        for name, digest in recorded.items():
            if _digest(folder, name)[0] != digest:
                raise DeidError(Code.EXTRACT_DAMAGED, name)
        if set(os.listdir(folder)) != {NOTES, DICTIONARY, MANIFEST}:  # noqa: PTH208 - by its descriptor
            raise DeidError(Code.EXTRACT_DAMAGED, "a file that is not in the manifest")
    finally:
        os.close(folder)
    return manifest, hashlib.sha256(said).hexdigest()


def check_extract(login: Engine, path: Path) -> Extract:
    """How the extract in a folder stands, once its files are what its manifest says and the ledger knows of.

    A login may record an extract of fewer notes than its file holds, or of today's for the texts of yesterday: what is
    hidden of the others would not be noticed.

    Raises:
        DeidError: `extract-damaged`, `extract-unknown`, `extract-stale` with the reasons.
    """
    manifest, digest = check_files(path)
    found = standing(login, digest)
    recorded = {"extract": found.number, "project": found.project, "notes": found.notes}
    if differing := [name for name, value in recorded.items() if manifest.get(name) != value]:
        raise DeidError(Code.EXTRACT_DAMAGED, f"{MANIFEST}: {', '.join(differing)} unlike what is recorded")
    keys: list[str] = []
    others = unrecorded(login, digest, _rows(path, keys))
    if others or not len(keys) == len({*keys}) == found.notes:
        said = f"{NOTES}: {len(keys):,} notes, {found.notes:,} recorded, {others:,} others"
        raise DeidError(Code.EXTRACT_DAMAGED, said)
    if found.faults:
        raise DeidError(Code.EXTRACT_STALE, f"extract {found.number}: {', '.join(found.faults)}")
    return found


def _rows(path: Path, keys: list[str]) -> Iterator[tuple[list[str], list[bytes]]]:
    """Batches of an extract's notes: the keys, which are also added to those given, and the digest of each row."""
    try:
        folder = os.open(path, _FOLDER)
        try:
            with _read(folder, NOTES) as stream, pq.ParquetFile(stream) as file:
                (dates,) = {"shifted_date", "note_date"} & {*file.schema_arrow.names}
                for batch in file.iter_batches(BATCH, columns=["note_key", dates, "text"]):
                    some = cast(list[str], batch["note_key"].to_pylist())
                    shown = zip(batch[dates].to_pylist(), batch["text"].to_pylist(), strict=True)
                    keys += some
                    yield some, [row_digest(*row) for row in shown]
        finally:
            os.close(folder)
    except (OSError, ValueError, KeyError, pa.ArrowException):
        raise DeidError(Code.EXTRACT_DAMAGED, NOTES) from None


def _relation(login: Engine, name: str) -> Relation:
    return next(relation for relation in dictionary(login) if relation.name == name)


def _write_notes(folder: int, source: Reading, relation: Relation, progress: Callable[[int], None] | None) -> int:
    """Writes the rows as they come, one batch in memory; returns how many."""
    columns = [column.name for column in relation.columns]
    schema = pa.schema([pa.field(c.name, _TYPES[c.type], metadata={"comment": c.meaning}) for c in relation.columns])
    notes = 0
    with (
        _create(folder, NOTES) as stream,
        pq.ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        for batch in source.batches(columns):
            values = zip(*batch, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            notes += len(batch)
            if progress is not None:
                progress(len(batch))
    return notes


def _manifest(folder: int, source: Reading, project: str, notes: int) -> str:
    """What the extract is and what it holds: names and digests as analysts see them, nothing of a note."""
    files = {name: dict(zip(("sha256", "bytes"), _digest(folder, name), strict=True)) for name in (NOTES, DICTIONARY)}
    basis = source.basis
    said = {
        "format": 1,
        "platform": f"deid-platform {version('deid-platform')}",
        "extract": basis.number,
        "made_at": basis.at.isoformat(timespec="seconds"),
        "project": project,
        "grants": basis.grants,
        "relation": basis.relation,
        "release": {
            "id": basis.release,
            "detector": basis.detector,
            "detector_digest": basis.detector_digest,
            "policy": basis.policy,
            "policy_digest": basis.policy_digest,
            "key_id": basis.key_id,
        },
        "notes": notes,
        "files": files,
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def _made_whole(target: Path) -> Iterator[int]:
    """A descriptor of a new folder that takes its name only when the block ends well; its owner alone may enter it."""
    target = target.absolute()
    name, temporary = target.name, f".{target.name}.{secrets.token_hex(4)}.tmp"
    try:
        above = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        raise DeidError(Code.OUTPUT_UNUSABLE, "no such folder") from None
    try:
        _refuse_taken(name, above)
        os.mkdir(temporary, 0o700, dir_fd=above)
        folder = os.open(temporary, _FOLDER, dir_fd=above)
        try:
            yield folder
            os.fsync(folder)
            _refuse_taken(name, above)
            # Never over another extract: where one came meanwhile, its folder is not empty.
            os.rename(temporary, name, src_dir_fd=above, dst_dir_fd=above)
            os.fsync(above)
        finally:
            _remove(folder, temporary, above)
    except OSError as error:
        code = Code.OUTPUT_FULL if error.errno in _FULL else Code.OUTPUT_UNUSABLE
        raise DeidError(code, None if code is Code.OUTPUT_FULL else "cannot be written") from None
    finally:
        os.close(above)


def _refuse_taken(name: str, above: int) -> None:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=above, follow_symlinks=False)
        raise DeidError(Code.OUTPUT_UNUSABLE, "there already")


def _remove(folder: int, temporary: str, above: int) -> None:
    """Removes what has not taken its name."""
    try:
        with suppress(FileNotFoundError):
            os.stat(temporary, dir_fd=above, follow_symlinks=False)
            for name in os.listdir(folder):
                os.unlink(name, dir_fd=folder)
            os.rmdir(temporary, dir_fd=above)
    finally:
        os.close(folder)


def _create(folder: int, name: str) -> BufferedWriter:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb")


def _write(folder: int, name: str, text: str) -> None:
    with _create(folder, name) as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


def _read(folder: int, name: str) -> BufferedReader:
    """A file of an extract, which is no link and no device.

    Raises:
        DeidError: `extract-damaged` with the file's name.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        raise DeidError(Code.EXTRACT_DAMAGED, name) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DeidError(Code.EXTRACT_DAMAGED, name)
    return os.fdopen(descriptor, "rb")


def _digest(folder: int, name: str) -> tuple[str, int]:
    """A file's SHA-256 and its size in bytes, once all of it is on the disk."""
    with _read(folder, name) as stream:
        os.fsync(stream.fileno())
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return digest, stream.tell()
