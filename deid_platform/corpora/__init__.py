"""Where notes come from: what every corpus reader offers and how it refuses bad rows.

    source, single_files                the file or input that a command reads; files that a person names
    feeds, exclusions                   deliveries, as deid.toml describes them; what is never taken in
    files, folders, file_states         a feed of files: its folders, and how an unchanged file is known
    decoding, encodings                 from bytes to lines: compression, lengths, character sets
    tables, parquet                     rows of a file, whatever its kind; of a Parquet file
    formats/, sql/, scans/              files by format, databases, letters on paper
    office/                             documents, mails and workbooks
    column_names, columns               what columns are usually called; what an unknown one may be
    rows, reading                       from a row's cells to a record, the same for all readers
    structured, given_shifts            tables beside the notes; date offsets that somebody outside drew
    refusals, overview                  refused rows, and what is here of a corpus in counts, for a person to read
    written, archive                    a delivery written as files; a folder of tables split into deliveries
    gold, gold_sets, gold_words         gold spans of a file; gold at a path; what figures on a corpus are called
    schemes, annotations, placeholders  labels of gold; from a file's annotations to spans; MIMIC's placeholders
    given_spans, released_texts         spans of another detector; released texts of another system
    hospital/, library/                 the synthetic hospital; whole notes of many authors
    injection/, indirect/               published notes with surrogates; with planted indirect identifiers
    noise                               what a scanner or a hurried hand does to letters
    catalogue                           corpora known by name, published ones and the site's own

Belongs here: the contract that all formats share. Does not belong here: any one format (`formats/`) or what becomes of
the notes (`store/`, `detection/`).

A reader never lets one bad row, file or folder hide the good ones: it yields a `Rejection` in the
row's place, or beside a topic row that only loses a value. A rejection says where and why, never what:
not even a file's name, which may carry a patient's. The one exception is a note's id, which is never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

from deid_platform.errors import DeidError
from deid_platform.notes import Delivery, Note, Rejoining, Topics, Withdrawal

if TYPE_CHECKING:
    from deid_platform.corpora.file_states import FileStates
    from deid_platform.corpora.rows import Record
    from deid_platform.corpora.structured import StructuredRow


class Role(StrEnum):
    """What a file of a delivery holds."""

    NOTES = "notes"
    PATIENTS = "patients"
    PROVIDERS = "providers"
    FACILITIES = "facilities"
    WITHDRAWN = "withdrawn"
    REJOINED = "rejoined"


class Format(StrEnum):
    """How a file writes notes."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    XLSX = "xlsx"
    """A workbook with one sheet that has rows."""
    DOCUMENT = "document"
    """A letter or a mail: the whole file is one note."""
    TEXT = "text"
    """Plain text: the whole file is one note. No delivery has it."""


class Reason(StrEnum):
    """Why a row, what is left of a file, or one value of a topic row was refused."""

    # The row as its format writes it
    MALFORMED_ROW = "malformed_row"
    """Not a record of the format: broken JSON or quoting, a repeated key, too few or too many fields, a
    value of a type that the field cannot have (NaN, a list, a float as an id)."""
    UNKNOWN_COLUMN = "unknown_column"
    """A column that is no field of the role, is not mapped to one and is not ignored."""
    INVALID_UTF8 = "invalid_utf8"
    """Bytes that are none of the file's encoding, or UTF-8 where the feed says that it has another."""
    NUL_CHARACTER = "nul_character"
    LONE_SURROGATE = "lone_surrogate"
    # What the row says
    MISSING_WATERMARK = "missing_watermark"
    """A row of a database whose watermark is missing or no moment: of no period, and counted in the first delivery."""
    MISSING_ID = "missing_id"
    DUPLICATE_ID = "duplicate_id"
    MISSING_NOTE_ID = "missing_note_id"
    DUPLICATE_NOTE_ID = "duplicate_note_id"
    EMPTY_TEXT = "empty_text"
    TEXT_TOO_LONG = "text_too_long"
    IMPOSSIBLE_DATE = "impossible_date"
    """No day of the calendar or, as a note's date, before 1900 or more than a day in the future. It costs a
    note its row. A topic row stands without its date: the name in it must still be found in the notes."""
    UNKNOWN_PATIENT = "unknown_patient"
    UNKNOWN_NOTE = "unknown_note"
    # What never enters (`exclusions.py`): no faults, but counted with them
    EXCLUDED_TYPE = "excluded_type"
    MISSING_TYPE = "missing_type"
    """Nothing says that the note is of none of the excluded types."""
    OPTED_OUT = "opted_out"
    MISSING_PATIENT = "missing_patient"
    """Nothing says that the note is of none of the patients who opted out."""
    # What a document holds, in formats that are no tables
    BROKEN_ATTACHMENT = "broken_attachment"
    """The content cannot be decoded, or is not there."""
    UNSUPPORTED_CONTENT = "unsupported_content"
    """The content is of a kind that is not read: an image where no reader of images is installed, a sound."""
    LIMIT_EXCEEDED = "limit_exceeded"
    """More pages, pixels or time than one document may take."""
    ILLEGIBLE = "illegible"
    """Characters were recognised with so little confidence that identifiers may stand there as other letters."""
    # A workbook
    HIDDEN_CONTENT = "hidden_content"
    """A sheet, a row or a value of a workbook that is hidden in it: whoever made it did not show it."""
    NUMBER_CELL = "number_cell"
    """A number in a workbook's cell where an id, a name or a text belongs: its leading zeros may be lost."""
    SEVERAL_SHEETS = "several_sheets"
    """More than one sheet that is shown has rows: nobody says which one is the table."""
    # Gold
    MISSING_GOLD = "missing_gold"
    """Nothing says which spans the note has: it is a note, but no gold."""
    MISSING_TEXT = "missing_text"
    """Spans without the text that they are in."""
    UNKNOWN_LABEL = "unknown_label"
    """A label that the scheme has not: what it hides nobody can say, so the note is no gold."""
    SPAN_OUT_OF_RANGE = "span_out_of_range"
    SPAN_OVERLAP = "span_overlap"
    SPAN_MISMATCH = "span_mismatch"
    """The text at a span is not the one that the annotation says."""
    ABSENT_ENTITY = "absent_entity"
    """An entity that was marked without offsets is not in the text."""
    SEVERAL_LABELS = "several_labels"
    """One annotation of a span gives it more than one label."""
    SEVERAL_ANNOTATIONS = "several_annotations"
    """More people annotated the note than there may be, and no annotation is marked as the final one."""
    CHANGED_TEXT = "changed_text"
    """The text is not the one that was handed out to be annotated, or no longer that of the note."""
    HANDED_TO_ANOTHER = "handed_to_another"
    """The task says another round or annotator than whoever brings it."""
    # The file, from that row on
    LOCKED_FILE = "locked_file"
    """Protected by a password."""
    SPREADSHEET = "spreadsheet"
    """A workbook of a kind that is not read (.xls, .xlsb, .ods), or one that is called a text."""
    WRONG_ENCODING = "wrong_encoding"
    """UTF-16 that nothing says which half comes first of, or where the feed says another encoding."""
    LINK = "link"
    """A symbolic link, which could lead out of the feed's folder, where the feed may have none."""
    TRUNCATED_FILE = "truncated_file"
    """The compressed stream, or the document, ends early. The rows that were whole stand; the one it cuts does not."""
    UNREADABLE_FILE = "unreadable_file"
    """Not that format or compression, damaged, or not to be opened."""


_NO_HEADER = "the file may have no header line, or another separator than , ; | and tab"
NEVER_ENTERS = (Reason.EXCLUDED_TYPE, Reason.MISSING_TYPE, Reason.OPTED_OUT, Reason.MISSING_PATIENT)
"""Reasons that are no faults of a delivery."""


@dataclass(frozen=True, slots=True)
class UnknownColumns:
    """A row's columns that are no field of the role, are not mapped to one and are not ignored.

    Attributes:
        named: Those whose names may be shown, in their order.
        unnamed: How many others there are: what stands in the header's place may be values.
        fields: Pairs of a named column and the field that it probably is.
        header: Whether other columns prove that the file has a header.
        there: The fields that the row's other columns are.
    """

    named: tuple[str, ...] = ()
    unnamed: int = 0
    fields: tuple[tuple[str, str], ...] = ()
    header: bool = True
    there: frozenset[str] = frozenset()

    def __str__(self) -> str:
        more = [f"{self.unnamed} not shown" + ("" if self.header else f": {_NO_HEADER}")]
        return ", ".join((*self.named, *(more if self.unnamed else ())))


@dataclass(frozen=True, slots=True)
class Rejection:
    """One row, the rest of one file, or one value of a topic row, that was refused.

    Attributes:
        role: What the file holds.
        file: The role and the file's place among the delivery's files of that role, `notes[0]`.
        row: The line on which the row begins, from 1, or in Parquet the row's place; for the two reasons that concern
            a file, the one after the last row that was whole.
        reason: Why.
        note_id: Which note the row is about, where that can be read: an older version of it must not stand. For
            the intake's eyes alone, since it is an identifier; no `repr` shows it.
        unknown: The row's unknown columns, if any, whatever the reason.
    """

    role: Role
    file: str
    row: int
    reason: Reason
    note_id: str | None = field(default=None, repr=False)
    unknown: UnknownColumns | None = field(default=None, repr=False)

    @property
    def stands(self) -> bool:
        """Whether the row counts all the same: a topic's or a statement's, without its date or as a former one."""
        return self.role is not Role.NOTES and self.reason in (Reason.IMPOSSIBLE_DATE, Reason.DUPLICATE_ID)


class Reader(Protocol):
    """What every corpus format offers.

    The iterators stream: they hold one row, and the ids that a duplicate is known by. Reading twice
    gives equal results as long as the delivery's files do not change, but for a note from the future,
    which is refused until its day has come.

    Raises:
        DeidError: `feed-unreadable` if the feed's folder or the delivery is not there to be read.
    """

    overwrites: ClassVar[bool] = False
    """Whether the source writes over its rows: a changed row then leaves the delivery that it was in, and what it said
    before is known to whoever has read it alone."""

    @property
    def reading(self) -> str:
        """The settings by which rows become records: by others, the same files may say something else."""
        return ""

    def deliveries(self) -> list[Delivery]:
        """The deliveries that have arrived, oldest watermark first."""
        ...

    def refused(self) -> list[DeidError]:
        """One error for each thing in the feed's place that should be a delivery and is none."""
        ...

    def notes(self, delivery: Delivery) -> Iterator[Note | Rejection]:
        """New and changed notes; of two rows with one `note_id` the first good one stands."""
        ...

    def topics(self, delivery: Delivery) -> tuple[Topics, list[Rejection]]:
        """This delivery's upserts alone: whoever wants topics as of a delivery folds them.

        Two kinds of rows are in both, as a record and as a rejection: one with an impossible date, read
        without it, and the second row of one id, read as a former one, since its name may be in the notes.
        Every other rejection is a row, or the rest of a file, that was lost.
        """
        ...

    def withdrawals(
        self,
        delivery: Delivery,
        *,
        known_patients: Container[str] | None,
        known_notes: Container[str] | None,
    ) -> Iterator[Withdrawal | Rejection]:
        """What must leave research; an id that is not in its container is refused (None: not checked)."""
        ...

    def rejoinings(self, delivery: Delivery) -> Iterator[Rejoining | Rejection]:
        """Withdrawn patients who take part again. A row that is refused lets nobody back in."""
        ...

    def structured(self, delivery: Delivery) -> Iterator[StructuredRow | Rejection]:
        """Rows of the tables beside the notes that are mapped, each id once; none unless the source has such tables."""
        del delivery
        return iter(())

    def fingerprint(self, delivery: Delivery, *, unread: Callable[[], object] = lambda: None) -> str:
        """A digest of the delivery's content: it changes when any file's bytes do.

        It is a plain digest of PHI, so a short note could be guessed from it: sign it
        (`Keyring.digest`) before it leaves the PHI zone.

        Args:
            delivery: The delivery.
            unread: Called for each file that could not be read to its end, and counts as far as it could be.
        """
        ...

    def states(self, delivery: Delivery) -> FileStates | None:
        """What the file system says of the delivery's files, without reading any: the fingerprint is what it was as
        long as this is. None where nothing says it that could be believed.
        """
        del delivery
        return None

    def marker(self, delivery: Delivery, *roles: Role) -> str:
        """A mark that changes when any file of these roles (without any, of all) is added, removed, resized or touched:
        cheap enough to poll.

        No content is read and no name can be read from it, so it may leave the PHI zone. If it is empty, nothing of
        these roles is there. Whether the content is any other says the fingerprint alone.
        """
        ...

    def markers(self, deliveries: Sequence[Delivery], *roles: Role) -> dict[Delivery, str]:
        """The marker of each delivery that is still there, for the price of one where the source tells them together.

        An empty one says that nothing of these roles is there.
        """
        found = {}
        for delivery in deliveries:
            with suppress(DeidError):
                found[delivery] = self.marker(delivery, *roles)
        return found

    def inspect(
        self, delivery: Delivery, *, never: Callable[[Note], Reason | None] | None = None, head: int | None = None
    ) -> Iterator[Record | Rejection]:
        """Every row of a delivery, role by role, for whoever looks before it is taken in.

        Args:
            delivery: One that has arrived.
            never: Why a note never enters; None if it may.
            head: How many rows of each file are read; by default all.
        """
        ...
