"""Encodings of tables: a file's bytes as UTF-8, whatever its feed or its own first bytes say that they are.

Belongs here: byte order marks, conversion, and which encoding a person may try. Does not belong here: compression and
lines (`decoding.py`), or which encoding a feed has (`settings/feeds.py`).

Nothing is guessed: a name that is read in a wrong encoding has other letters, and is not looked for in the notes. So
bytes that are none of the encoding refuse their row, and so does a line that is UTF-8 where the feed says that its
files are not. What is proposed is for a person to look at.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError

UTF8 = "utf-8"
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""How .xlsx and .ods files begin, which are archives, and .xls."""
_SAMPLE = 1 << 20
_LONGEST_PIECE = 1 << 20
_FEW = 4
_C1 = re.compile("[\x80-\x9f]")
_NOT_UTF8 = "\udcff"
"""Stands for bytes that are none of the encoding; as UTF-8 it is invalid, so that its row is refused."""
_USUAL = "windows-1252"
"""What a spreadsheet of Western Europe or America writes as CSV."""


def _mark(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - nothing is encoded with it
    return _NOT_UTF8, error.end


codecs.register_error("deid-mark", _mark)


def in_utf8(parts: Iterator[bytes], encoding: str = UTF8) -> Iterator[bytes]:
    """A file's bytes as UTF-8; bytes that are none of its encoding become such that are no UTF-8.

    Args:
        parts: The file, after decompression.
        encoding: What its feed says. A byte order mark stands before it.

    Raises:
        BrokenFileError: `spreadsheet`; `wrong_encoding` for UTF-16 without a byte order mark where the feed does not
            say which of the two it is; what reading the file raises.
    """
    head = b""
    for part in parts:
        head += part
        if len(head) >= _FEW * 16:
            break
    if head.startswith(_SPREADSHEETS):
        raise BrokenFileError(Reason.SPREADSHEET)
    marked = next((name for bom, name in _BOMS if head.startswith(bom)), None)
    if marked is None and (encoding == "utf-16" or (not encoding.startswith("utf-16") and _wide(head))):
        if head:
            raise BrokenFileError(Reason.WRONG_ENCODING)
        return
    rest = _again(head, parts)
    match marked or encoding:
        case "utf-8":
            yield from rest
        case "utf-16-le" | "utf-16-be" | "utf-32-le" | "utf-32-be" as wide:
            yield from _converted(rest, wide)
        case other:
            for piece in _pieces(rest):
                yield _line_in_utf8(piece, other)


def proposed(parts: Iterator[bytes]) -> str | None:
    """The encoding that a file may have which is not in its feed's, by its first mebibyte, for a person to look at.

    UTF-8 with letters beyond ASCII is nothing else. One byte a letter is said to be the usual encoding of that kind
    wherever it can be.
    """
    sample = b""
    for part in parts:
        sample += part
        if len(sample) >= _SAMPLE:
            break
    if wide := _wide(sample):
        return wide
    with suppress(UnicodeDecodeError):
        # The last letter may be cut in two.
        if len(codecs.getincrementaldecoder(UTF8)().decode(sample)) < len(sample):
            return UTF8
    try:
        sample.decode(_USUAL)
    except UnicodeDecodeError:
        return None
    return _USUAL


def _wide(head: bytes) -> str | None:
    """Which UTF-16 without a mark this is, by the NULs that it has instead of the first half of ASCII characters."""
    if len(head) < _FEW:
        return None
    low, high = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if max(low, high) < half / 4 or min(low, high) > half / 50:
        return None
    return "utf-16-le" if high > low else "utf-16-be"


def _again(head: bytes, parts: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from parts


def _converted(parts: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("deid-mark")
    for part in parts:
        yield decoder.decode(part).encode("utf-8", "surrogatepass")
    yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")


def _pieces(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Lines, or what is held of one that is too long; but in UTF-16, the byte of a line feed is nothing else."""
    held = b""
    for part in parts:
        *lines, held = (held + part).split(b"\n")
        yield from (line + b"\n" for line in lines)
        if len(held) > _LONGEST_PIECE:
            yield held
            held = b""
    if held:
        yield held


def _line_in_utf8(line: bytes, encoding: str) -> bytes:
    if line.isascii():
        return line
    try:
        line.decode()
    except UnicodeDecodeError:
        text = line.decode(encoding, "deid-mark")
        # Control characters that nobody writes: the bytes are letters of another encoding.
        return _C1.sub(_NOT_UTF8, text).encode("utf-8", "surrogatepass")
    return _NOT_UTF8.encode("utf-8", "surrogatepass") + line
