"""Bytes and lines: what survives compression, chunking and a file that breaks off."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError, OverlongLine, chunks, lines

_RANDOM = random.Random(7)
CONTENT = b"".join(b"%d %s\n" % (i, _RANDOM.randbytes(150).hex().encode()) for i in range(3000))


def _zstd(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


def _read(path: Path, compression: str | None) -> tuple[bytes, Reason | None]:
    got = []
    try:
        for chunk in chunks(path, compression):
            got.append(chunk)
    except BrokenFileError as error:
        return b"".join(got), error.reason
    return b"".join(got), None


@pytest.mark.parametrize(("compression", "pack"), [(None, bytes), ("gz", gzip.compress), ("zst", _zstd)])
def test_whole_files_come_out_as_they_went_in(tmp_path, compression, pack):
    path = tmp_path / "f"
    path.write_bytes(pack(CONTENT))
    assert _read(path, compression) == (CONTENT, None)


@pytest.mark.parametrize(("compression", "pack"), [("gz", gzip.compress), ("zst", _zstd)])
def test_members_that_were_appended_are_read_on(tmp_path, compression, pack):
    path = tmp_path / "f"
    path.write_bytes(pack(b"one\n") + pack(b"two\n"))
    assert _read(path, compression) == (b"one\ntwo\n", None)


@pytest.mark.parametrize(("compression", "pack"), [("gz", gzip.compress), ("zst", _zstd)])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.999])
def test_a_truncated_file_gives_what_it_still_holds(tmp_path, compression, pack, share):
    packed = pack(CONTENT)
    path = tmp_path / "f"
    path.write_bytes(packed[: int(len(packed) * share)])
    got, reason = _read(path, compression)
    assert reason is Reason.TRUNCATED_FILE
    assert CONTENT.startswith(got)
    assert len(got) > (share - 0.2) * len(CONTENT)  # zstd gives whole blocks of 128 KiB


def test_a_small_zstd_file_gives_up_the_blocks_before_the_cut(tmp_path):
    first, second = _zstd(b"first\n"), _zstd(b"second\n")
    path = tmp_path / "f"
    path.write_bytes(first + second[:-2])
    got, reason = _read(path, "zst")
    assert reason is Reason.TRUNCATED_FILE
    assert got.startswith(b"first\n")


@pytest.mark.parametrize("compression", ["gz", "zst"])
@pytest.mark.parametrize(
    ("content", "reason"), [(b"", Reason.TRUNCATED_FILE), (b"not compressed at all", Reason.UNREADABLE_FILE)]
)
def test_what_is_no_compressed_file(tmp_path, compression, content, reason):
    path = tmp_path / "f"
    path.write_bytes(content)
    assert _read(path, compression) == (b"", reason)


def test_an_absent_file_and_an_unknown_compression(tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    assert _read(tmp_path / "absent", None) == (b"", Reason.UNREADABLE_FILE)
    assert _read(tmp_path / "f", "bz2") == (b"", Reason.UNREADABLE_FILE)


_bytes_with_newlines = st.text(alphabet='a"\r\n\x0b\x85\u2028é', max_size=60).map(str.encode)


@given(_bytes_with_newlines, st.integers(1, 4), st.booleans())
@example(b"a\r\nb\rc\n\rd\r", 1, True)
@example(b"a\r\nb\rc\n\rd\r", 2, True)
def test_lines_are_those_of_the_whole_wherever_the_chunks_are_cut(content, step, carriage_returns):
    parts = [content[i : i + step] for i in range(0, len(content), step)]
    cut = list(lines(parts, limit=1000, carriage_returns=carriage_returns))
    assert cut == list(lines([content], limit=1000, carriage_returns=carriage_returns))
    assert b"".join(cut) == content
    if carriage_returns:
        assert cut == content.splitlines(keepends=True)
    else:
        assert all(b"\n" not in line[:-1] for line in cut)


@given(_bytes_with_newlines, st.integers(1, 10), st.booleans())
def test_a_line_over_the_limit_leaves_a_mark_and_its_quotes(content, limit, carriage_returns):
    whole = lines([content], limit=1000, carriage_returns=carriage_returns)
    expected = [line if len(line) <= limit else OverlongLine(line.count(b'"')) for line in whole]
    parts = [content[i : i + 3] for i in range(0, len(content), 3)]
    assert list(lines(parts, limit=limit, carriage_returns=carriage_returns)) == expected


def test_the_line_that_a_broken_stream_cuts_is_not_yielded():
    def broken():
        yield b"whole\nhal"
        raise BrokenFileError(Reason.TRUNCATED_FILE)

    stream = lines(broken(), limit=100, carriage_returns=False)
    assert next(stream) == b"whole\n"
    with pytest.raises(BrokenFileError):
        next(stream)
