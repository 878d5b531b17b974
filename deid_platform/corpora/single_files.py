"""Files that a person names: notes, topics and lists of patients that belong to no delivery.

Belongs here: reading them under the rules of a feed, through whatever link. Does not belong here: deliveries
(`files.py`), or where a command's input comes from (`source.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from deid_platform.corpora import Format, Rejection, Role
from deid_platform.corpora.files import compression_of, read_files
from deid_platform.corpora.folders import files_of
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.delimited import FEED as TABLES
from deid_platform.corpora.reading import MAX_CHARS, repeated, topics_of
from deid_platform.corpora.rows import shapes
from deid_platform.corpora.tables import Row, table_rows
from deid_platform.notes import Note, Rejoining, Topics


def read_notes(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    defaults: Mapping[str, str] | None = None,
    max_chars: int = MAX_CHARS,
    strict: bool = True,
    spool: Path | None = None,
    table_format: Format | None = None,
) -> Iterator[Note | Rejection]:
    """The notes of one file, under the rules of a feed.

    Args:
        path: The file.
        columns: Source column to field, see `rows.shapes`.
        ignore: Columns that are dropped unread.
        defaults: Field to a constant for rows without a value there.
        max_chars: The longest text, in code points.
        strict: Whether an unknown column refuses its row, as in a feed; else it is ignored, and a
            note with an impossible date stands without it.
        spool: Folder for temporary files; by default the system's own.
        table_format: How the file writes its notes; by default as its name ends, which plain text needs to have said.

    Raises:
        DeidError: `feed-mapping`, at once; `document-reader-missing`; what is wrong with the file itself comes as
            rejections.
    """
    if table_format in (Format.TEXT, Format.DOCUMENT):
        columns, ignore = None, ()  # a text has no columns
    shape = replace(shapes(columns, ignore, defaults)[Role.NOTES], strict=strict)
    written = TABLES if table_format is None else _OneTable(table_format)
    found = read_files([path], shape, max_chars, repeated(Role.NOTES), spool, file_format=written)
    return cast(Iterator[Note | Rejection], found)


def read_folder(
    path: Path,
    file_format: FileFormat,
    *,
    defaults: Mapping[str, str] | None = None,
    max_chars: int = MAX_CHARS,
    spool: Path | None = None,
) -> Iterator[Note | Rejection]:
    """The notes of a folder, or of one file of it, as a feed of that format reads those of a delivery.

    Unknown columns are ignored, and a note with an impossible date stands without it.

    Args:
        path: The folder or the file.
        file_format: What the files are.
        defaults: Field to a constant for rows without a value there.
        max_chars: The longest text, in code points.
        spool: Folder for temporary files; by default the system's own.

    Raises:
        DeidError: `feed-unreadable` if the folder cannot be listed; what is wrong with a file comes as rejections.
    """
    files = files_of(path, Role.NOTES, "folder", file_format) if path.is_dir() else [path]
    shape = replace(shapes(None, (), defaults)[Role.NOTES], strict=False)
    found = read_files(files, shape, max_chars, repeated(Role.NOTES), spool, file_format=file_format)
    return cast(Iterator[Note | Rejection], found)


def read_topic(
    path: Path,
    role: Role,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
) -> tuple[Topics, list[Rejection]]:
    """One topic's file as topics that hold nothing else; `folded` joins them.

    As in `FilesFeed.topics`, a row with an impossible date and the second row of one id are both read and told.

    Raises:
        DeidError: `feed-mapping`; what is wrong with the file itself comes as rejections.
    """
    return topics_of(read_files([path], shapes(columns, ignore)[role], MAX_CHARS, repeated(role)))


def read_patient_ids(path: Path) -> Iterator[str | Rejection]:
    """The patients that a list of them names: column `patient_id`, read as a note's; other columns are left aside.

    Whatever is wrong with a row or with the file comes as a rejection, so that a caller can refuse the list.
    """
    role = Role.REJOINED  # whose rows are a patient's id and nothing else
    shape = replace(shapes()[role], strict=False)
    for item in read_files([path], shape, MAX_CHARS, repeated(role)):
        yield item if isinstance(item, Rejection) else cast(Rejoining, item).patient_id


@dataclass(frozen=True)
class _OneTable(FileFormat):
    """A table of a format that its name does not say."""

    table_format: Format

    def roles(self, file_name: str) -> tuple[Role, ...]:
        del file_name
        return (Role.NOTES,)

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        del role
        # The id of a note may have lost its zeros: nothing is looked up by it.
        compression = compression_of(path)
        return table_rows(path, self.table_format, compression, max_chars=max_chars, spool=spool, numbers=True)
