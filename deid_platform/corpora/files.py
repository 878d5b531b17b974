"""Feeds of files: one folder a delivery, in whatever format its files are.

Belongs here: deliveries as folders. Does not belong here: which file holds what, and how (`formats/`), what only the
rows around a row can tell (`reading.py`), columns and values (`rows.py`).

A delivery's folder is named by its watermark. Folders and files whose name starts with "." or "_" or ends with ".tmp"
are still being written and are passed over; so are files of which the feed's format has no rows, and which are no
tables of a role either (`formats/delimited.py`). While an archive is being split, what is named as one of its
deliveries is passed over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.encodings import proposed
from deid_platform.corpora.file_states import FileStates, states_of
from deid_platform.corpora.folders import Delivered, files_of, is_unfinished, names_in, refuse_link, roles_of
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.delimited import FEED as TABLES
from deid_platform.corpora.formats.delimited import Tables
from deid_platform.corpora.reading import (
    MAX_CHARS as MAX_CHARS,
)
from deid_platform.corpora.reading import Objection, RowReader, inspected, read_rows
from deid_platform.corpora.refusals import Refused
from deid_platform.corpora.rows import Record, Shape, shapes
from deid_platform.corpora.structured import StructuredRow, StructuredTable, read_structured, table_of
from deid_platform.corpora.tables import Row
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note

_COMPRESSION = re.compile(r"\.(gz|zst)$")
SPLITTING = "_archive-"
"""How the folder begins in which an archive is split; the archive's watermark follows."""
_PART = re.compile(r"\d{8}T\d{4}")
"""How the deliveries of an archive are named; any other delivery of its day waits for no split."""
DAY = 1_000_000
"""From one day to the next in `Delivery.seq`."""


@dataclass(frozen=True)
class FilesFeed(RowReader):
    """One feed of delivery folders.

    Args:
        name: The feed's name, as deliveries carry it.
        root: The folder that holds a folder for each delivery.
        columns: Source column to field, see `rows.shapes`.
        ignore: Columns that are dropped unread.
        defaults: Note field to a constant for rows without a value there.
        max_chars: The longest note text, in code points.
        site: The institution, for notes that do not name theirs.
        spool: Folder of the PHI zone for temporary files; by default the system's own.
        file_format: What the files are; tables by role unless told.
        tables: What the tables beside them are.
        reading: As `Reader` has it.
        follow_links: Whether folders and files of deliveries may be links.
        structured_tables: Tables beside the notes that are released.

    Raises:
        DeidError: `feed-mapping` for columns or defaults that cannot be used, `delivery-name` for a name
            that no delivery could carry.
    """

    name: str
    root: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    ignore: Collection[str] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    max_chars: int = MAX_CHARS
    site: str | None = None
    spool: Path | None = None
    file_format: FileFormat = TABLES
    tables: Tables = TABLES
    reading: str = ""
    follow_links: bool = False
    structured_tables: tuple[StructuredTable, ...] = ()
    _shapes: Mapping[Role, Shape] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Delivery(self.name, "0")
        site = {} if self.site is None else {"site": self.site}
        object.__setattr__(self, "_shapes", shapes(self.columns, self.ignore, {**site, **self.defaults}))

    def deliveries(self) -> list[Delivery]:
        """The deliveries that have arrived, oldest watermark first."""
        return self._arrived()[0]

    def refused(self) -> list[DeidError]:
        """A `delivery-name` error for each folder that is no delivery, a `feed-link` error for each link to a folder.

        Its name is not a watermark, or is another spelling of one that is there (`2026-01-05` and
        `20260105`), so that the two have no order. The reference is the folder's place among the feed's
        folders by name, from 0: the name itself may be anything.
        """
        return self._arrived()[1]

    def shape(self, role: Role) -> Shape:
        """The columns that files of a role may have in this feed."""
        return self._shapes[role]

    def fingerprint(self, delivery: Delivery, *, unread: Callable[[], object] = lambda: None) -> str:
        """SHA-256 over place, format, size and bytes of every file that has a role; PHI zone only.

        Names count too where the format's rows follow from them. A file that cannot be read counts as far as it could
        be: reading it refuses it anyway.

        Args:
            delivery: The delivery.
            unread: Called for each file that could not be read to its end.
        """
        total = hashlib.sha256()
        for place, path, said in self._every_file(delivery):
            size, content = 0, hashlib.sha256()
            try:
                for chunk in _bytes_of(path):
                    size += len(chunk)
                    content.update(chunk)
            except BrokenFileError:
                unread()
            total.update(f"{place} {said} {size} {content.hexdigest()}\n".encode())
        return total.hexdigest()

    def structured(self, delivery: Delivery) -> Iterator[StructuredRow | Rejection]:
        """Rows of the tables beside the notes; see `Reader.structured`."""
        return self.structured_in(self._folder(delivery))

    def structured_in(self, folder: Path) -> Iterator[StructuredRow | Rejection]:
        """The same of a folder of any name."""
        yield from read_structured(self._structured_files(self.place(folder)), self.tables, self.spool)

    def kept_back(self, folder: Path) -> dict[str, list[str]]:
        """The columns of a folder's tables beside the notes that are not released, by table.

        They are named: what is mapped in the same file proves that it has a header.
        """
        found: dict[str, dict[str, None]] = {}
        for table, path in self._structured_files(self.place(folder)):
            with suppress(BrokenFileError):
                rows = self.tables.rows(path, Role.NOTES, max_chars=self.max_chars, spool=self.spool)
                for _, cells in islice(rows, 1):
                    if not isinstance(cells, Reason) and table.row in cells:
                        found.setdefault(table.name, {}).update(dict.fromkeys(table.kept_back(cells)))
        return {name: [*columns] for name, columns in found.items() if columns}

    def claims(self, file_name: str) -> bool:
        """Whether a file has rows of a table beside the notes."""
        return any(table.name == table_of(file_name) for table in self.structured_tables)

    def _structured_files(self, folder: Path) -> list[tuple[StructuredTable, Path]]:
        names = names_in(folder, self.name) if self.structured_tables else []
        tables = {table.name: table for table in self.structured_tables}
        return [(tables[table], folder / name) for name in names if (table := table_of(name)) in tables and table]

    def _every_file(self, delivery: Delivery, *roles: Role) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
        """The place, the path and what the name says of every file of these roles, by default of all that is read."""
        for role in roles or Role:
            for ordinal, path in enumerate(self.files(delivery, role)):
                said = (path.name,) if self._is_told_by_name(path, role) else _ending(path)
                yield f"{role}[{ordinal}]", path, said
        for ordinal, (table, path) in enumerate([] if roles else self._structured_files(self._folder(delivery))):
            yield f"structured-{table.name}[{ordinal}]", path, _ending(path)

    def _is_told_by_name(self, path: Path, role: Role) -> bool:
        return self.file_format.names_tell and role in self.file_format.roles(path.name)

    def states(self, delivery: Delivery) -> FileStates | None:
        """What the file system says of every file that has a role; None where it is not believed."""
        folder = self._folder(delivery)
        roles = {name: roles_of(self.file_format, name) for name in names_in(folder, delivery.key)}
        told = f" by name: {self.file_format.names_tell}"
        read = {name: " ".join(some) + told for name, some in roles.items() if some}
        return states_of(folder, read | {name: "structured" for name in roles if self.claims(name)})

    def marker(self, delivery: Delivery, *roles: Role) -> str:
        """SHA-256 over place, format, size and time of change of every file of these roles, by default of all."""
        total = hashlib.sha256()
        for place, path, _ in self._every_file(delivery, *roles):
            size = changed = -1
            # A file may go while the folder is read, and a link may lead nowhere.
            with suppress(OSError):
                found = path.stat()
                size, changed = found.st_size, found.st_mtime_ns
            total.update(f"{place} {_ending(path)} {size} {changed}\n".encode())
        return total.hexdigest()

    def inspect_folder(
        self, folder: Path, *, never: Callable[[Note], Reason | None] | None = None, head: int | None = None
    ) -> Iterator[Record | Rejection]:
        """Every row of a folder as it would be read if that were a delivery, role by role; its name may be any.

        Args:
            folder: Where the files are, as `place` says.
            never: Why a note never enters; None if it may.
            head: How many rows of each file are read; by default all.

        Raises:
            DeidError: `feed-unreadable` if the folder cannot be listed; `feed-link`.
        """
        folder = self.place(folder)
        for role in Role:
            yield from self._rows_of(
                files_of(folder, role, self.name, self.file_format), role, inspected(role, never), head
            )

    def proposed_encodings(self, folder: Path, refusals: Iterable[Refused]) -> dict[str, str | None]:
        """What files with bytes of another encoding than the feed's may be written in, for a person to look at.

        Args:
            folder: Where the files are.
            refusals: Of what was read of them.
        """
        folder = self.place(folder)
        wrong = (kind for kind in refusals if kind.reason in (Reason.INVALID_UTF8, Reason.WRONG_ENCODING))
        places = {kind.file: kind.role for kind in wrong}
        files = {
            f"{role}[{ordinal}]": path
            for role in {*places.values()}
            for ordinal, path in enumerate(files_of(folder, role, self.name, self.file_format))
        }
        return {file: _proposed(files[file]) for file in sorted(places) if file in files}

    def _records(
        self, delivery: Delivery, role: Role, objection: Objection, head: int | None = None
    ) -> Iterator[Record | Rejection]:
        return self._rows_of(self.files(delivery, role), role, objection, head)

    def _rows_of(
        self, files: Iterable[Path], role: Role, objection: Objection, head: int | None
    ) -> Iterator[Record | Rejection]:
        return read_files(
            files, self._shapes[role], self.max_chars, objection, self.spool, head, self.file_format, self.tables
        )

    def _arrived(self) -> tuple[list[Delivery], list[DeidError]]:
        # Before the folders and after them: a split may begin or end while they are listed.
        splitting = self._splitting()
        try:
            found = {p.name: p for p in self.root.iterdir() if p.is_dir() and not is_unfinished(p.name)}
        except OSError:
            raise DeidError(Code.FEED_UNREADABLE, self.name) from None
        by_seq: dict[int, Delivery] = {}
        refused: list[DeidError] = []
        splitting |= self._splitting()
        for ordinal, folder in enumerate(sorted(found)):
            if not self.follow_links and found[folder].is_symlink():
                refused.append(DeidError(Code.FEED_LINK, f"{self.name}[{ordinal}]"))
                continue
            try:
                delivery = Delivery(self.name, folder)
            except DeidError:
                delivery = None
            if delivery is None or delivery.seq in by_seq:
                refused.append(DeidError(Code.DELIVERY_NAME, f"{self.name}[{ordinal}]"))
            else:
                by_seq[delivery.seq] = delivery
        hidden = {each for each in by_seq.values() if each.seq // DAY in splitting and _PART.fullmatch(each.watermark)}
        return [by_seq[seq] for seq in sorted(by_seq) if by_seq[seq] not in hidden], refused

    def _splitting(self) -> set[int]:
        """Days whose archive is not split to its end: one of its folders alone may know no topics, or no withdrawal."""
        days = set()
        for path in self.root.glob(f"{SPLITTING}*"):
            with suppress(DeidError):
                days.add(Delivery(self.name, path.name.removeprefix(SPLITTING)).seq // DAY)
        return days

    def files(self, delivery: Delivery, role: Role) -> list[Path]:
        """The files of a delivery that have rows of a role, by name.

        Raises:
            DeidError: `feed-unreadable` if the delivery is not there, or is another feed's; `feed-link` if it has
                become a link.
        """
        return files_of(self._folder(delivery), role, delivery.key, self.file_format)

    def _folder(self, delivery: Delivery) -> Path:
        if delivery.feed != self.name:
            raise DeidError(Code.FEED_UNREADABLE, delivery.key)
        return self.place(self.root / delivery.watermark)

    def place(self, folder: Path) -> Path:
        """A folder of a delivery as it is to be read: through no link, unless the feed may have some."""
        return folder if self.follow_links else Delivered(folder)


def _bytes_of(path: Path) -> Iterator[bytes]:
    if not path.is_file():  # a pipe would wait for a writer
        raise BrokenFileError(Reason.UNREADABLE_FILE)
    yield from chunks(path, None)


def _proposed(path: Path) -> str | None:
    try:
        return proposed(chunks(path, compression_of(path)))
    except BrokenFileError:
        return None


def _ending(path: Path) -> tuple[str, ...]:
    """What a file's name says of its format; the rest of the name may be anything."""
    return tuple(path.suffixes[-2:])


def compression_of(path: Path) -> str | None:
    """What is around a file, as its name says: `gz`, `zst` or None."""
    match = _COMPRESSION.search(path.name)
    return match[1] if match else None


def read_files(
    files: Iterable[Path],
    shape: Shape,
    max_chars: int,
    objection: Objection,
    spool: Path | None = None,
    head: int | None = None,
    file_format: FileFormat = TABLES,
    tables: FileFormat = TABLES,
) -> Iterator[Record | Rejection]:
    """Every row of a role's files or the first of each, in order: the record it is, the rejection it earns, or both."""
    ordered = list(enumerate(files))
    lost: set[str] = set()

    def outdated(record: Record) -> Reason | None:
        known = isinstance(record, Note) and record.note_id in lost
        return Reason.DUPLICATE_NOTE_ID if known else objection(record)

    # Of two rows with one id the first that is read stands, and no older one for a newest that cannot be read.
    for ordinal, path in reversed(ordered) if file_format.last_stands else ordered:
        written = file_format if shape.role in file_format.roles(path.name) else tables
        rows = islice(_rows(written, path, shape.role, max_chars, spool), head)
        against = outdated if file_format.last_stands else objection
        for item in read_rows(rows, shape, against, ordinal=ordinal, max_chars=max_chars):
            if isinstance(item, Rejection) and item.note_id is not None:
                lost.add(item.note_id)
            yield item


def _rows(written: FileFormat, path: Path, role: Role, max_chars: int, spool: Path | None) -> Iterator[Row]:
    refuse_link(path)
    yield from written.rows(path, role, max_chars=max_chars, spool=spool)
