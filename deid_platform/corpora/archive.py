"""Splits a folder of tables into folders of a stated number of notes, patient by patient.

Belongs here: which row goes into which folder, and writing them. Does not belong here: when the folders become
deliveries (`refresh/intake/archive.py`), or what is wrong with a row: it is copied as it is, and the intake refuses it.

All notes of a patient go into one folder, chosen by a keyed digest of the patient's id. So the search in a patient's
other notes sees what it would see in one delivery; a split by date would hide later notes from it. Topics go into the
first folder, since a delivery knows those up to its own. Withdrawals and rejoinings go into the last one: they hold for
notes up to their own delivery.

Memory does not grow with the archive: rows are streamed twice, and ids are compared by their digests on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.encodings import UTF8
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.reading import TOPIC_ROLES
from deid_platform.corpora.rows import id_in
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery
from deid_platform.runtime.stopping import check

MOST_FOLDERS = 500
"""How many files are written at once; a system allows a process 1,024 by default."""
_UTF8 = "\ufeff"
"""Says what the notes of a delivery are written in where its feed says another encoding."""
_A_LOOK = 1_000  # rows between two looks at whether to stop


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a file of notes: its cells, and a digest of what keeps rows together, as of its note's id."""

    cells: Mapping[str, object] | Reason
    whose: str
    note: str | None


def folders_needed(
    archive: FilesFeed, delivery: Delivery, *, notes: int, keyring: Keyring, work: Path, progress: Callable[[int], None]
) -> int:
    """How many folders an archive takes, read through once.

    Args:
        archive: A feed whose only delivery of interest is the archive.
        delivery: The archive.
        notes: About how many notes a folder shall have.
        keyring: The site's keys.
        work: A folder of the PHI zone for digests of ids.
        progress: Called with numbers of rows.

    Raises:
        DeidError: `archive-broken` if a file of notes ends early, or a note's id stands under two patients;
            `archive-size` if there are no notes or too many folders.
    """
    rows = 0

    def ids() -> Iterator[tuple[bytes, bytes]]:
        nonlocal rows
        for row in _rows(archive, delivery, keyring, progress):
            rows += 1
            if row.note is not None:
                yield bytes.fromhex(row.note), bytes.fromhex(row.whose)

    path = work / "ids.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as seen:
        # Thrown away right after: a database that a crash spoils is made anew.
        seen.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE ids (note, whose)")
        seen.execute("BEGIN")
        seen.executemany("INSERT INTO ids VALUES (?, ?)", ids())
        # In two deliveries the later row would count as a correction of the other.
        twice = seen.execute("SELECT 1 FROM ids GROUP BY note HAVING min(whose) <> max(whose) LIMIT 1").fetchone()
    path.unlink()
    if twice:
        raise DeidError(Code.ARCHIVE_BROKEN, "one note_id, two patients")
    folders = -(-rows // notes)
    if not 0 < folders <= MOST_FOLDERS:
        raise DeidError(Code.ARCHIVE_SIZE, f"{rows} notes, {notes} a delivery")
    return folders


def split(
    archive: FilesFeed,
    delivery: Delivery,
    folders: Sequence[Path],
    *,
    keyring: Keyring,
    progress: Callable[[int], None],
) -> list[int]:
    """Writes the folders of an archive, and returns how many rows of notes each has.

    Args:
        archive: As for `folders_needed`.
        delivery: The archive.
        folders: Where to, in the order of their deliveries; made here.
        keyring: The site's keys.
        progress: Called with numbers of rows.

    Raises:
        DeidError: `archive-broken`.
    """
    written = [0] * len(folders)
    with ExitStack() as stack:
        files = []
        for folder in folders:
            folder.mkdir(mode=0o700)
            files.append(stack.enter_context((folder / "notes.jsonl").open("x", encoding="utf-8")))
            files[-1].write(_UTF8 * (archive.tables.encoding != UTF8))
        for row in _rows(archive, delivery, keyring, progress):
            at = int(row.whose, 16) % len(folders)
            files[at].write(_line(row.cells))
            written[at] += 1
    for roles, folder in ((TOPIC_ROLES.values(), folders[0]), ((Role.WITHDRAWN, Role.REJOINED), folders[-1])):
        for path in (path for role in roles for path in archive.files(delivery, role)):
            check()
            _copy(path, folder / path.name)
    os.sync()  # they must be on the disk before anybody is told of them
    return written


def _rows(archive: FilesFeed, delivery: Delivery, keyring: Keyring, progress: Callable[[int], None]) -> Iterator[_Row]:
    shape, number = archive.shape(Role.NOTES), 0
    for ordinal, path in enumerate(archive.files(delivery, Role.NOTES)):
        rows = archive.file_format.rows(path, Role.NOTES, max_chars=archive.max_chars, spool=archive.spool)
        try:
            for _, cells in rows:
                if (number := number + 1) % _A_LOOK == 0:
                    check()
                    progress(_A_LOOK)
                note, patient = (id_in(cells, shape, name) for name in ("note_id", "patient_id"))
                # A note of nobody goes by its own id, and a row without any to all others of that kind.
                whose = ("patient", patient) if patient else ("note", note or "")
                yield _Row(cells, keyring.digest("archive", *whose), note and keyring.digest("archive note", note))
        except BrokenFileError:
            raise DeidError(Code.ARCHIVE_BROKEN, f"notes[{ordinal}]") from None


def _copy(path: Path, to: Path) -> None:
    try:
        with path.open("rb") as source, to.open("xb") as target:  # never by a link to what is no part of the archive
            shutil.copyfileobj(source, target)
    except OSError:
        if path.is_file():
            raise
        raise DeidError(Code.ARCHIVE_BROKEN, to.name.partition(".")[0].partition("-")[0]) from None


def _line(cells: Mapping[str, object] | Reason) -> str:
    """A row as a line of JSON; one that could not be read becomes a line that is refused, so that it is counted."""
    return json.dumps(str(cells.value) if isinstance(cells, Reason) else {k: _cell(v) for k, v in cells.items()}) + "\n"


def _cell(value: object) -> object:
    if isinstance(value, Reason):
        return []  # no field's value
    return value.isoformat() if isinstance(value, date) else value
