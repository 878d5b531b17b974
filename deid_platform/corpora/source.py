"""Where a command on files reads its notes from: a file, texts and documents included, or standard input.

Belongs here: which format that is, and keeping standard input so that it can be read twice. Does not belong here:
reading any format (`files.py`, `tables.py`).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deid_platform.corpora import Format
from deid_platform.corpora.columns import is_header
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.encodings import in_utf8
from deid_platform.corpora.office.documents import OTHERS, READERS
from deid_platform.corpora.rows import Shape
from deid_platform.corpora.tables import header_cells
from deid_platform.errors import Code, DeidError

STANDARD_INPUT = Path("-")

_TEXT_FILE = re.compile(r"\.txt(?:\.(gz|zst))?$")
_JSON_OBJECT = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*["}]')
_BY_ENDING = {
    **dict.fromkeys((".xlsx", ".xlsm"), Format.XLSX),
    **dict.fromkeys((*READERS, *OTHERS), Format.DOCUMENT),
}
_CHUNK = 1 << 16
_DESCRIPTORS = Path("/proc/self/fd")


@contextmanager
def opened(
    source: Path, chosen: Format | None, shape: Shape, *, spool: Path | None = None
) -> Iterator[tuple[Path, Format | None]]:
    """A file that can be read as often as need be, and its format; None where it is a table as its name ends.

    Standard input, or a `.txt` file, that begins with a JSON object is JSON lines, one that begins with the header of a
    table is CSV, anything else plain text: a table read as a text would show every id and name in its columns. RTF,
    which begins with a brace too, is text.

    Args:
        source: A file, or `-` for standard input.
        chosen: The format, if somebody said it.
        shape: The columns of notes, by which a header is told.
        spool: Folder for a copy of standard input, readable by its owner alone; the system's own unless told.

    Raises:
        DeidError: `feed-unreadable` if standard input cannot be read, `store-write` if there is no room for its copy.
    """
    if source != STANDARD_INPUT:
        guessed = _guessed(source, shape) if _TEXT_FILE.search(source.name) else _BY_ENDING.get(source.suffix.lower())
        yield source, chosen or guessed
        return
    # Where a file can be opened again without a name it has none: nothing is left of it if this process is killed.
    nameless = _DESCRIPTORS.is_dir()
    with (tempfile.TemporaryFile if nameless else tempfile.NamedTemporaryFile)(dir=spool) as copy:
        try:
            for chunk in _standard_input():
                copy.write(chunk)
            copy.flush()
        except OSError:
            raise DeidError(Code.STORE_WRITE, "temporary file") from None
        path = _DESCRIPTORS / str(copy.fileno()) if nameless else Path(copy.name)
        yield path, chosen or _guessed(path, shape)


def _standard_input() -> Iterator[bytes]:
    try:
        with open(0, "rb", closefd=False) as stream:
            while chunk := stream.read1(_CHUNK):  # on a terminal, `read` asks for a second Ctrl-D
                yield chunk
    except OSError:
        raise DeidError(Code.FEED_UNREADABLE, "standard input") from None


def _guessed(path: Path, shape: Shape) -> Format:
    match = _TEXT_FILE.search(path.name)
    try:
        head = next(in_utf8(chunks(path, match[1] if match else None)), b"")
    except BrokenFileError:  # whoever reads it says so
        return Format.TEXT
    if _JSON_OBJECT.match(head):
        return Format.JSONL
    cells = header_cells(head.decode("utf-8-sig", errors="replace"))
    return Format.CSV if len(cells) > 1 and is_header(cells, shape) else Format.TEXT
