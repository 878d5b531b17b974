"""Looks for markers in bytes: as written, encoded, and inside what is compressed or a container.

Belongs here: needles, layers, and the walk over a folder. Does not belong here: what the markers are
(`sentinel_markers.py`) or how they come into the platform (`test_sentinel.py`).

What it cannot see: pixels of a picture, and a dead row that Postgres compressed. The texts of the figures and a
dump of the database are searched instead.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import sqlite3
import unicodedata
import zlib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from ahocorasick_rs import BytesAhoCorasick

_DEEPEST = 3
_LARGEST = 64 << 20  # bytes of one decompressed layer
_HEAD = 64
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{48,}={0,2}")
_DEFLATED = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08|PK\x03\x04", re.DOTALL)
_ZSTD = b"\x28\xb5\x2f\xfd"
_SHORTEST = 6  # bytes of a needle: a shorter one would be found by chance
_FEW_DIGITS = 9  # at most as many are found by chance within what is longer: times with fractions, digests


@dataclass(frozen=True)
class Marker:
    """A value that must not be found, and a name for it that may be shown.

    `prose` marks words of a note that research may hold: they are looked for outside the database alone.
    """

    name: str
    value: str = field(repr=False)
    prose: bool = False


@dataclass(frozen=True, order=True)
class Find:
    """Where a marker was found, and in which encoding."""

    where: str
    marker: str
    encoding: str


def needles(value: str) -> Iterator[tuple[str, bytes]]:
    """The shapes in which a value may lie about, each with the encoding's name.

    Those whose name starts with `base64` depend on case; all others are looked for in lower-case bytes.
    """
    digits = re.sub(r"\D", "", value)
    plain = unicodedata.normalize("NFKD", value).encode("ascii", "ignore").decode()
    forms = {value, unicodedata.normalize("NFC", value), unicodedata.normalize("NFD", value)}
    forms |= {form for form in (digits, plain) if len(form) >= 2 * _SHORTEST - 4}
    for form in forms:
        low = form.lower()
        # Bytes are made lower-case letter by ASCII letter, so an accented capital stays one.
        for cased in {low, form.upper()}:
            yield "utf-8", cased.encode().lower()
            yield "utf-16-le", cased.encode("utf-16-le").lower()
            yield "utf-16-be", cased.encode("utf-16-be").lower()
            yield "url", quote(cased).lower().encode()
            escaped = json.dumps(cased)[1:-1].lower()
            yield "json", escaped.encode()
            yield "json in json", json.dumps(escaped)[1:-1].encode()
            yield "ascii", ascii(cased)[1:-1].lower().encode()
        for cased in {form, low, form.upper()}:
            yield "hex", cased.encode().hex().encode()
            for encoding in ("utf-8", "utf-16-le"):
                for shift in range(3):
                    yield f"base64 {encoding}", _base64(cased.encode(encoding), shift)


def _base64(raw: bytes, shift: int) -> bytes:
    """What base64 writes of `raw` whatever stands around it, if it begins `shift` bytes into a group of three."""
    whole = base64.b64encode(bytes(shift) + raw)
    return whole[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]


def layers(data: bytes, *, deepest: int = _DEEPEST) -> Iterator[tuple[str, bytes]]:
    """The bytes themselves, and whatever can be unpacked of them, each with how it was reached."""
    yield "", data
    if deepest:
        for kind, inner in _unpacked(data):
            for path, layer in layers(inner, deepest=deepest - 1):
                yield f" > {kind}{path}", layer


def _unpacked(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data.startswith(b"SQLite format 3\0"):
        yield "sqlite", _sqlite(data)
    if data.startswith(b"PAR1"):
        yield "parquet", _parquet(data)
    view = memoryview(data)
    for match in _DEFLATED.finditer(data):
        if inner := _inflated(view[match.start() :]):
            yield "deflate", inner
    place = data.find(_ZSTD)
    while place >= 0:
        if inner := _zstd(view[place:]):
            yield "zstd", inner
        place = data.find(_ZSTD, place + 1)
    for match in _BASE64.finditer(data):
        run = match[0].rstrip(b"=")
        try:
            yield "base64", base64.b64decode(run[: len(run) // 4 * 4])
        except binascii.Error:
            continue


def _inflated(view: memoryview) -> bytes:
    """As much as can be inflated of what starts like a zlib or gzip stream or a member of a zip file."""
    start, bits = 0, 47  # zlib or gzip, told by the header
    if view[:4] == b"PK\x03\x04":
        start, bits = 30 + int.from_bytes(view[26:28], "little") + int.from_bytes(view[28:30], "little"), -15
    inflater = zlib.decompressobj(bits)
    found = bytearray()
    try:
        found += inflater.decompress(view[start : start + _HEAD])
        while not inflater.eof and start + _HEAD < len(view) and len(found) < _LARGEST:
            start += _HEAD
            found += inflater.decompress(view[start : start + _HEAD])
    except zlib.error:
        pass  # by chance two bytes look like a header; what came before the fault counts
    return bytes(found) if len(found) >= _SHORTEST else b""


def _zstd(view: memoryview) -> bytes:
    found = bytearray()
    try:
        with pa.input_stream(pa.BufferReader(pa.py_buffer(view)), compression="zstd") as stream:
            while (chunk := stream.read(1 << 16)) and len(found) < _LARGEST:
                found += chunk
    except (OSError, pa.ArrowException):
        pass
    return bytes(found)


def _sqlite(data: bytes) -> bytes:
    """A database as SQL: in its own pages, a value may lie in two pieces."""
    with sqlite3.connect(":memory:") as connection:
        # A journal beside the file is a file of its own, searched by itself.
        connection.deserialize(data[:18] + b"\1\1" + data[20:])
        try:
            return "\n".join(connection.iterdump()).encode(errors="surrogatepass")
        except sqlite3.DatabaseError:
            return b""


def _parquet(data: bytes) -> bytes:
    try:
        rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    except (OSError, pa.ArrowException):
        return b""
    return json.dumps(rows, default=str, ensure_ascii=False).encode(errors="surrogatepass")


class Search:
    """Looks for many markers at once.

    Args:
        markers: What must not be found.
    """

    def __init__(self, markers: Iterable[Marker]) -> None:
        self._needles: dict[bool, list[tuple[Marker, str]]] = {False: [], True: []}
        patterns: dict[bool, list[bytes]] = {False: [], True: []}
        for marker in markers:
            for encoding, needle in dict.fromkeys(needles(marker.value)):
                if len(needle) >= _SHORTEST:
                    cased = encoding.startswith("base64")
                    patterns[cased].append(needle)
                    self._needles[cased].append((marker, encoding))
        self._automata = {cased: BytesAhoCorasick(found) for cased, found in patterns.items()}

    def in_bytes(self, data: bytes, where: str, *, prose: bool = True) -> set[Find]:
        """What is found in some bytes, at any depth."""
        found = set()
        for path, layer in layers(data):
            for cased, text in ((False, layer.lower()), (True, layer)):
                for index, start, end in self._automata[cased].find_matches_as_indexes(text, overlapping=True):
                    marker, encoding = self._needles[cased][index]
                    if (prose or not marker.prose) and not _by_chance(text, start, end):
                        found.add(Find(where + path, marker.name, encoding))
        return found

    def in_tree(self, root: Path, *, leave_out: Container[Path] = (), database: Container[Path] = ()) -> set[Find]:
        """What is found in the files of a folder and in their names.

        Args:
            root: The folder.
            leave_out: Folders that are the PHI zone.
            database: Folders in which prose may lie.
        """
        found = set()
        for path, in_database in _files(root, leave_out, database):
            found |= self.in_bytes(os.fsencode(path.name), f"name of {path}")
            if path.is_symlink():
                found |= self.in_bytes(os.fsencode(path.readlink()), f"target of {path}")
            elif path.is_file():
                found |= self.in_bytes(path.read_bytes(), str(path), prose=not in_database)
        return found


def _by_chance(text: bytes, start: int, end: int) -> bool:
    """Whether a few digits are the middle of a longer number or word: a date is 8 of them."""
    beside = text[max(start - 1, 0) : start], text[end : end + 1]
    return end - start <= _FEW_DIGITS and text[start:end].isdigit() and any(byte.isalnum() for byte in beside)


def _files(
    folder: Path, leave_out: Container[Path], database: Container[Path], within: bool = False
) -> Iterator[tuple[Path, bool]]:
    """Everything below a folder, folders too, and whether it is the database's."""
    for path in sorted(folder.iterdir()):
        if path in leave_out:
            continue
        inside = within or path in database
        yield path, inside
        if path.is_dir() and not path.is_symlink():
            yield from _files(path, leave_out, database, inside)
