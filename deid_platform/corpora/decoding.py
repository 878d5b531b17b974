"""Bytes of a delivered file: compression, and lines of bounded length.

Belongs here: how a file becomes bytes and lines, and how that fails. Does not belong here: what a
line means (`tables.py`).

Whatever was readable before a file breaks has been yielded by then: a truncated file costs the rows
that are lost, no others.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deid_platform.corpora import Reason

_CHUNK = 1 << 16


class BrokenFileError(Exception):
    """A file can be read no further; carries the reason alone."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason.value)


@dataclass(frozen=True, slots=True)
class OverlongLine:
    """Stands for a line that was dropped because of its length.

    Attributes:
        quotes: How many double quotes it held, so that a CSV reader knows whether a field is still open.
    """

    quotes: int


def chunks(path: Path, compression: str | None) -> Iterator[bytes]:
    """A file's bytes after decompression.

    Args:
        path: The file.
        compression: `gz`, `zst` or None.

    Raises:
        BrokenFileError: `truncated_file` or `unreadable_file`, after all bytes that could be had.
    """
    try:
        if compression and not path.stat().st_size:
            raise BrokenFileError(Reason.TRUNCATED_FILE)
        match compression:
            case None:
                yield from _plain(path)
            case "gz":
                yield from _gzip(path)
            case "zst":
                yield from _zstd(path)
            case _:
                raise BrokenFileError(Reason.UNREADABLE_FILE)
    except OSError:
        raise BrokenFileError(Reason.UNREADABLE_FILE) from None


def _plain(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _gzip(path: Path) -> Iterator[bytes]:
    with path.open("rb") as raw, gzip.open(raw) as file:
        while True:
            try:
                chunk = file.read1(_CHUNK)
            except EOFError:
                raise BrokenFileError(Reason.TRUNCATED_FILE) from None
            except zlib.error:
                raise BrokenFileError(Reason.UNREADABLE_FILE) from None
            if not chunk:
                return
            yield chunk


def _zstd(path: Path) -> Iterator[bytes]:
    import pyarrow as pa  # 0.2 s, so only when a file needs it

    def opened() -> Any:
        return pa.CompressedInputStream(pa.PythonFile(path.open("rb"), "r"), "zstd")

    done = 0
    with opened() as file:
        while True:
            try:
                chunk = file.read(_CHUNK)
            except OSError as error:
                reason = Reason.TRUNCATED_FILE if "Truncated" in str(error) else Reason.UNREADABLE_FILE
                break
            if not chunk:
                return
            done += len(chunk)
            yield chunk
    # A read that fails takes along what it had already decompressed: fetch that byte by byte.
    with opened() as file:
        file.read(done)
        rescued = bytearray()
        try:
            while byte := file.read(1):
                rescued += byte
        except OSError:
            pass
    yield bytes(rescued)
    raise BrokenFileError(reason)


def lines(parts: Iterable[bytes], *, limit: int, carriage_returns: bool) -> Iterator[bytes | OverlongLine]:
    """Cuts a stream into lines, terminators kept, without ever holding more than `limit` bytes of one.

    Args:
        parts: The stream.
        limit: The longest line in bytes; a longer one becomes an `OverlongLine`.
        carriage_returns: Whether a CR ends a line as well as LF and CR LF.

    Raises:
        BrokenFileError: What the stream raises; the line it cuts is not yielded.
    """
    ends = (b"\n", b"\r") if carriage_returns else (b"\n",)
    held = b""
    pieces: list[bytes] = []
    size = quotes = 0
    for part in parts:
        part = held + part
        # A CR at the very end may be half of a CR LF.
        held = b"\r" if carriage_returns and part.endswith(b"\r") else b""
        part = part.removesuffix(held)
        for piece in part.splitlines(keepends=True) if carriage_returns else _split_at_lf(part):
            size += len(piece)
            pieces.append(piece)
            if size > limit:
                quotes += sum(p.count(b'"') for p in pieces)
                pieces.clear()
            if piece.endswith(ends):
                yield b"".join(pieces) if size <= limit else OverlongLine(quotes)
                pieces.clear()
                size = quotes = 0
    if size := size + len(held):
        last = b"".join(pieces) + held
        yield last if size <= limit else OverlongLine(quotes + last.count(b'"'))


def _split_at_lf(part: bytes) -> list[bytes]:
    *whole, rest = part.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])
