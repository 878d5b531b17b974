"""Rows of a Parquet file.

Belongs here: its types, and reading a compressed one. Does not belong here: the other formats (`tables.py`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.errors import Code, DeidError

_IN_MEMORY = 64 << 20  # bytes of a decompressed file before it goes to an unnamed temporary file
_BATCH = 256  # rows converted at once: about 1 MB of ordinary notes
_EPOCH = date(1970, 1, 1).toordinal()
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def parquet_rows(path: Path, compression: str | None, spool: Path | None) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Rows in batches of a row group; text is read as bytes, because Parquet does not promise UTF-8.

    Args:
        path: The file.
        compression: Around the file: `gz`, `zst` or None.
        spool: As `tables.table_rows` has it.

    Raises:
        DeidError: `store-write` if a temporary file cannot be written.
        BrokenFileError: The file can be read no further; the rows before have been yielded.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        source: Any = None
        if compression:
            # Parquet is read from its end, so a compressed file has to be laid out somewhere first.
            source = stack.enter_context(
                tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=None if spool is None else str(spool))
            )
            try:
                if spool is not None:
                    spool.mkdir(mode=0o700, parents=True, exist_ok=True)
                for chunk in chunks(path, compression):
                    source.write(chunk)
            except OSError:
                raise DeidError(Code.STORE_WRITE, "temporary file") from None
            source.seek(0)
        number = 0
        try:
            source = source or stack.enter_context(path.open("rb"))
            file = stack.enter_context(pq.ParquetFile(source, buffer_size=1 << 20, pre_buffer=False))
            names = file.schema_arrow.names
            if len(set(names)) != len(names):
                raise BrokenFileError(Reason.UNREADABLE_FILE)
            for batch in file.iter_batches(batch_size=_BATCH):
                columns = [_cells(column) for column in batch.columns]
                for index in range(batch.num_rows):
                    number += 1
                    yield number, {name: cells[index] for name, cells in zip(names, columns, strict=True)}
        except (pa.ArrowException, OSError, ValueError):
            raise BrokenFileError(Reason.UNREADABLE_FILE) from None


def _cells(column: Any) -> list[object]:
    """A Parquet column as cells: str, int, date, None, or the reason why there is none of these."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        column = column.cast(pa.large_binary())
        return [_text(raw) for raw in column.to_pylist()]
    if types.is_binary(kind) or types.is_large_binary(kind):
        return [_text(raw) for raw in column.to_pylist()]
    if types.is_integer(kind) or types.is_null(kind):
        return list(column.to_pylist())
    if types.is_decimal(kind) and kind.scale == 0:
        return [None if value is None else int(value) for value in column.to_pylist()]
    if types.is_date32(kind):
        return [_day(days) for days in column.cast(pa.int32()).to_pylist()]
    if types.is_date64(kind):
        return [_day(value, _PER_DAY["ms"]) for value in column.cast(pa.int64()).to_pylist()]
    if types.is_timestamp(kind):
        # The calendar date where the note was written, not in UTC.
        local = column if kind.tz is None else pc.local_timestamp(column)
        return [_day(value, _PER_DAY[kind.unit]) for value in local.cast(pa.int64()).to_pylist()]
    return [Reason.MALFORMED_ROW if value.is_valid else None for value in column]


def _text(raw: bytes | None) -> str | Reason | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return Reason.INVALID_UTF8


def _day(value: int | None, per_day: int = 1) -> date | Reason | None:
    try:
        return None if value is None else date.fromordinal(_EPOCH + value // per_day)
    except (ValueError, OverflowError):
        return Reason.IMPOSSIBLE_DATE
