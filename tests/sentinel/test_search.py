"""The sentinel's own proof: it finds a planted marker in every place and encoding, and nothing where there is none."""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import json
import os
import random
import sqlite3
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.append(str(Path(__file__).parent))

from sentinel_search import Marker, Search

NAME = "Zuxaqué-Vozhqua"
NUMBER = "539-81-6274"
PROSE = "krovuzexi"
SEARCH = Search([Marker("name", NAME), Marker("number", NUMBER), Marker("prose", PROSE, prose=True)])
AROUND = f"Seen today: {NAME}, by phone."


def png(text: bytes, *, compressed: bool) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    said = chunk(b"zTXt", b"Title\0\0" + zlib.compress(text)) if compressed else chunk(b"tEXt", b"Title\0" + text)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + said + chunk(b"IEND", b"")


def zipped(name: str, text: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text * 20)
    return whole.getvalue()


def parquet(text: str) -> bytes:
    whole = io.BytesIO()
    pq.write_table(pa.table({"text": [text] * 50}), whole, compression="zstd")
    return whole.getvalue()


def zstd(text: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write((text * 20).encode())
    return sink.getvalue().to_pybytes()


def sqlite(path: Path, text: str, *, page: int = 512) -> bytes:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA page_size = {page}")
        connection.execute("CREATE TABLE event (body TEXT)")
        # Long enough that the marker lies where one page ends and the next begins.
        connection.executemany("INSERT INTO event VALUES (?)", [("x" * n + text,) for n in range(400, 520)])
    connection.close()
    return path.read_bytes()


PLACES = {
    "as written": AROUND.encode(),
    "in capitals": AROUND.upper().encode(),
    "decomposed": "Zuxaque\u0301-Vozhqua".encode(),
    "without its accents": b"zuxaque-vozhqua",
    "UTF-16, little end first": AROUND.encode("utf-16-le"),
    "UTF-16, big end first, off the even": b"x" + AROUND.encode("utf-16-be"),
    "Latin-1 as Python shows it": repr(AROUND.encode("latin-1")).encode(),
    "JSON": json.dumps({"text": AROUND}).encode(),
    "JSON in JSON": json.dumps(json.dumps({"text": AROUND})).encode(),
    "Python's ascii": ascii(AROUND).encode(),
    "a URL": f"/?q={quote(AROUND)}".encode(),
    "hexadecimal": binascii.hexlify(AROUND.encode()),
    "hexadecimal in capitals": AROUND.encode().hex().upper().encode(),
    "bytea": b"\\x" + AROUND.encode().hex().encode(),
    "base64 at its beginning": base64.b64encode(NAME.encode()),
    "base64, one byte in": base64.b64encode(b"." + AROUND.encode()),
    "base64, two bytes in": base64.b64encode(b".." + AROUND.encode()),
    "base64 of UTF-16": base64.b64encode(AROUND.encode("utf-16-le")),
    "zlib": b"...." + zlib.compress(AROUND.encode()),
    "zlib in base64": b'"' + base64.b64encode(zlib.compress(AROUND.encode() * 3)) + b'"',
    "gzip": gzip.compress(AROUND.encode()),
    "gzip cut short": gzip.compress(AROUND.encode() + os.urandom(4_000))[:1_000],
    "zip": zipped("notes.txt", AROUND),
    "zip within gzip": gzip.compress(zipped("notes.txt", AROUND)),
    "zstd": zstd(AROUND),
    "Parquet": parquet(AROUND),
    "PNG": png("Zuxaqué-Vozhqua".encode(), compressed=False),
    "PNG, compressed": png(AROUND.encode(), compressed=True),
    "PNG inside Markdown": b"![x](data:image/png;base64,"
    + base64.b64encode(png(AROUND.encode(), compressed=True))
    + b")",
}


@pytest.mark.parametrize("data", PLACES.values(), ids=PLACES)
def test_a_marker_is_found_in_every_encoding(data: bytes) -> None:
    assert {find.marker for find in SEARCH.in_bytes(data, "here")} == {"name"}


@pytest.mark.parametrize(
    "written", ["539-81-6274", "539816274", "id_539816274", "539-81-6274".encode("utf-16-le").decode("latin-1")]
)
def test_a_number_is_found_with_and_without_its_hyphens(written: str) -> None:
    assert {find.marker for find in SEARCH.in_bytes(f"no. {written}.".encode("latin-1"), "here")} == {"number"}


def test_a_marker_is_found_where_a_database_broke_it_over_two_pages(tmp_path: Path) -> None:
    assert {find.marker for find in SEARCH.in_bytes(sqlite(tmp_path / "events.db", NAME), "here")} == {"name"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Zuxaqua-Vozhque",
        b"539-81-6247",
        b"ended at 1795398.5398162746, digest e539816274c0",
        base64.b64encode(b"Zuxaqua Vozhque"),
        zlib.compress(b"no marker" * 50),
        b"\x78\x9c\x78\x01\x1f\x8b\x08PK\x03\x04\x28\xb5\x2f\xfd" * 100,
        random.Random(0).randbytes(1 << 20),
    ],
)
def test_nothing_is_found_where_nothing_is(data: bytes) -> None:
    assert SEARCH.in_bytes(data, "here") == set()


def test_files_their_names_folders_and_links_are_searched_and_the_phi_zone_is_not(tmp_path: Path) -> None:
    for folder in ("store", "logs/deep", f"of {NAME}"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "store" / "notes").write_text(AROUND)
    (tmp_path / "logs" / "deep" / "run.log").write_text(AROUND)
    (tmp_path / "logs" / f"{NAME}.log").touch()
    (tmp_path / "logs" / "link").symlink_to(f"/nowhere/{NAME}")
    found = SEARCH.in_tree(tmp_path, leave_out={tmp_path / "store"})
    assert {find.where.removeprefix(f"{tmp_path}/") for find in found if find.encoding == "utf-8"} == {
        "logs/deep/run.log",
        f"name of {tmp_path}/logs/{NAME}.log",
        f"name of {tmp_path}/of {NAME}",
        f"target of {tmp_path}/logs/link",
    }


def test_prose_may_lie_in_the_database_and_nowhere_else(tmp_path: Path) -> None:
    for folder in ("postgres", "logs"):
        (tmp_path / folder / "base").mkdir(parents=True)
        (tmp_path / folder / "base" / "1").write_text(PROSE)
    (tmp_path / "postgres" / "2").write_text(NAME)
    found = SEARCH.in_tree(tmp_path, database={tmp_path / "postgres"})
    assert {(Path(find.where).parent.parent.name, find.marker) for find in found} == {("logs", "prose")} | {
        (tmp_path.name, "name")
    }


def test_a_marker_shows_no_value() -> None:
    assert NAME not in repr(Marker("name", NAME))
