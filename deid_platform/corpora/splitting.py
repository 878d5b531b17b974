"""An archive, cut into deliveries of a stated size before a feed takes it in.

Belongs here: which note goes into which delivery, and writing them as folders of a `files` feed. Does not belong here:
reading rows (`files.py`), or running anything on them (`main_job.py`).

All notes of a patient go into one delivery, drawn by a digest of the patient's id: what one note of a patient gives
away is looked for in the patient's other notes, and these are best found together. The topics go whole into the first
delivery, so that every later one knows everybody.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TextIO

from deid_platform.corpora import Rejection, Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats.delimited import FEED as TABLES
from deid_platform.corpora.refusals import Refusals
from deid_platform.corpora.written import gzip_text, note_line, write_table
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note, Rejoining, Withdrawal

MOST_DELIVERIES = 500
"""Each is a file that is open while notes are dealt out."""
Statement = Withdrawal | Rejoining
_DEALT = (Role.NOTES, Role.WITHDRAWN, Role.REJOINED)
_ROWS_A_STEP = 256


@dataclass
class Archive:
    """What an archive holds, read once before anything is written; ids are for the split alone.

    Attributes:
        notes: How many there are.
        refusals: Rows that would be lost, by file and reason.
        statements: Who leaves and who comes back.
    """

    notes: int = 0
    refusals: Refusals = field(default_factory=Refusals)
    statements: list[Statement] = field(default_factory=list, repr=False)

    @property
    def statements_lost(self) -> int:
        """Rows that say who leaves or comes back, and cannot be read."""
        return sum(kind.rows for kind in self.refusals if kind.role is not Role.NOTES)


def survey(reader: FilesFeed, source: Path, *, progress: Callable[[int], None]) -> Archive:
    """Reads an archive as a delivery of a feed, and counts.

    Args:
        reader: The feed's.
        source: The archive's folder.
        progress: Called with the number of rows read since the last call.

    Raises:
        DeidError: `input-invalid` if the feed's files are no tables, or if the archive lies where the feed would take
            it in whole; `feed-unreadable` if it cannot be listed.
    """
    if reader.file_format is not TABLES:
        raise DeidError(Code.INPUT_INVALID, f"{reader.name}: its format is not files")
    if source.resolve().parent == reader.root.resolve():
        raise DeidError(Code.INPUT_INVALID, "the archive is itself a delivery of the feed: move it elsewhere")
    archive = Archive()
    for number, item in enumerate(reader.inspect_folder(source), start=1):
        if number % _ROWS_A_STEP == 0:
            progress(_ROWS_A_STEP)
        if isinstance(item, Rejection):
            if item.role in _DEALT and not item.stands:
                archive.refusals.add(item)
        elif isinstance(item, Note):
            archive.notes += 1
        elif isinstance(item, Statement):
            archive.statements.append(item)
    return archive


def split(
    reader: FilesFeed, source: Path, archive: Archive, *, notes: int, day: date, progress: Callable[[int], None]
) -> list[Delivery]:
    """Writes an archive as deliveries of its feed: all of them, or none.

    Args:
        reader: The feed's; the deliveries go into its folder.
        source: The archive's folder.
        archive: What `survey` found in it.
        notes: About how many notes a delivery gets: patients are not divided.
        day: The deliveries' day, before that of every delivery that has arrived.
        progress: Called with the number of notes written since the last call.

    Returns:
        The deliveries, oldest first.

    Raises:
        DeidError: `input-invalid` if there would be too many, if the day is not before that of other deliveries, or if
            the archive changed meanwhile; `output-full`; `store-write` if they cannot be written.
    """
    count = max(1, -(-archive.notes // notes))
    if count > MOST_DELIVERIES:
        least = -(-archive.notes // MOST_DELIVERIES)
        raise DeidError(Code.INPUT_INVALID, f"notes: {count:,} deliveries; at least {least:,} notes each")
    deliveries = [Delivery(reader.name, f"{day:%Y%m%d}T{n // 60:02}{n % 60:02}") for n in range(count)]
    if any(arrived.seq <= deliveries[-1].seq for arrived in reader.deliveries()):
        raise DeidError(Code.INPUT_INVALID, "day: a delivery of that day or before has arrived")
    folders = [reader.root / f"{delivery.watermark}.tmp" for delivery in deliveries]
    with _whole_or_none(folders):
        _deal(reader, source, archive, folders, progress)
    # The first one, which has the topics, appears last: whoever looks in between finds nothing to begin with.
    for folder, delivery in reversed(list(zip(folders, deliveries, strict=True))):
        folder.rename(reader.root / delivery.watermark)
    return deliveries


def _deal(
    reader: FilesFeed, source: Path, archive: Archive, folders: list[Path], progress: Callable[[int], None]
) -> None:
    columns = reader.names_of(Role.NOTES)
    withdrawn = {statement.note_id for statement in archive.statements if isinstance(statement, Withdrawal)}
    places: dict[str | None, int] = {}
    written = 0
    with ExitStack() as opened:
        files: list[TextIO] = [opened.enter_context(gzip_text(folder / "notes.jsonl.gz")) for folder in folders]
        for note in (item for item in reader.inspect_folder(source) if isinstance(item, Note)):
            place = _place(note.patient_id or note.note_id, len(folders))
            files[place].write(note_line(note, names=columns))
            if note.note_id in withdrawn:
                places[note.note_id] = place
            written += 1
            if written % _ROWS_A_STEP == 0:
                progress(_ROWS_A_STEP)
    if written != archive.notes:
        raise DeidError(Code.INPUT_INVALID, "the archive changed while it was read")
    for (place, kind), rows in _by_place(archive.statements, places, len(folders)).items():
        role = Role.WITHDRAWN if kind is Withdrawal else Role.REJOINED
        write_table(folders[place] / f"{role}.csv", kind, rows, names=reader.names_of(role))
    for role in (Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES):
        for path in reader.files_in(source, role):
            shutil.copyfile(path, folders[0] / path.name)


def _by_place(
    statements: Sequence[Statement], places: Mapping[str | None, int], count: int
) -> dict[tuple[int, type[Statement]], list[Statement]]:
    """Who leaves and who comes back, beside the notes that it is about; of unknown notes, in the first delivery."""
    found: dict[tuple[int, type[Statement]], list[Statement]] = {}
    for statement in statements:
        if statement.patient_id is not None:
            place = _place(statement.patient_id, count)
        else:
            place = places.get(getattr(statement, "note_id", None), 0)
        found.setdefault((place, type(statement)), []).append(statement)
    return found


def _place(identity: str, count: int) -> int:
    """The same for all notes of a patient, and evenly spread."""
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "big") % count


@contextmanager
def _whole_or_none(folders: Sequence[Path]) -> Iterator[None]:
    """Makes folders for their owner alone, and removes them again if what is written into them does not get whole."""
    try:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
        yield
    except BaseException as error:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise DeidError(Code.OUTPUT_FULL if full else Code.STORE_WRITE, "the feed's folder") from None
        raise
