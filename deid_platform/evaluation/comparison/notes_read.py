"""Notes of a command's argument, with gold or without: what `deid compare` and every measure of a release read.

Belongs here: whether a file is gold, and holding its notes beside it. Does not belong here: reading formats
(`corpora/`), or what is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from deid_platform.corpora import Format, Reason, Rejection, Role
from deid_platform.corpora.columns import ColumnMapping
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.delimited import written_as
from deid_platform.corpora.gold import COMPRESSION, Gold
from deid_platform.corpora.gold_sets import JSON_LINES, GoldSet, form_of
from deid_platform.corpora.placeholders import has_brackets
from deid_platform.corpora.refusals import Refusals
from deid_platform.corpora.single_files import read_notes
from deid_platform.corpora.source import STANDARD_INPUT, opened
from deid_platform.corpora.tables import table_rows
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.comparison.comparison import ComparedNote, Hidden
from deid_platform.notes import Note


@dataclass(repr=False)
class NotesRead:
    """The notes of a command.

    Attributes:
        notes: In the order of the file.
        gold: Of each note; None if the file is no gold.
        refusals: Rows that were refused.
        read_as: How the notes are written, where it is not the input's name that says so.
        unfilled: How many have placeholders in brackets, as MIMIC-III writes, in place of identifiers.
    """

    notes: list[Note] = field(default_factory=list)
    gold: list[Gold] | None = None
    refusals: Refusals = field(default_factory=Refusals)
    read_as: Format | None = None
    unfilled: int = 0

    def __repr__(self) -> str:
        return "<NotesRead>"

    def with_hidden(self, hidden: Sequence[Sequence[Sequence[Hidden]]]) -> list[ComparedNote]:
        """The notes with what each detector hides in them.

        Args:
            hidden: By detector, then by note.
        """
        golds: Sequence[Gold | None] = self.gold or [None] * len(self.notes)
        return [
            ComparedNote(
                note.text,
                places,
                gold=None if gold is None else gold.spans,
                clinical=() if gold is None else gold.clinical,
                cluster=note.patient_id,
            )
            for note, gold, *places in zip(self.notes, golds, *hidden, strict=True)
        ]


def read(
    source: Path,
    *,
    mapping: ColumnMapping | None = None,
    table_format: Format | None = None,
    scheme: str | None = None,
    as_gold: bool | None = None,
    gold_form: str | None = None,
) -> NotesRead:
    """The notes of a file as `deid redact` reads them, or of gold as `deid evaluate` does.

    Args:
        source: A file, or `-` for standard input.
        mapping: How the notes' columns become fields.
        table_format: How they are written; by default what the name or, of standard input, the beginning says.
        scheme: Which label names the gold uses; by default those of its format.
        as_gold: Whether it is gold; by default JSON lines whose first has `spans` are, and what other formats of gold
            write.
        gold_form: Format of the gold; by default its files tell.

    Raises:
        DeidError: `input-empty` if there is no note, or gold without a span; `placeholders-unfilled`; what
            `source.opened` and `GoldSet` raise. Rows of other notes are refused one by one.
    """
    mapping = mapping or ColumnMapping({})
    shape = mapping.shapes()[Role.NOTES]
    if as_gold is not False and (gold_form or (source != STANDARD_INPUT and form_of(source) != JSON_LINES)):
        return _gold_of(GoldSet(source, gold_form, scheme, shape.columns), None)
    with opened(source, table_format, shape) as (path, read_as):
        if as_gold is None:
            as_gold = (read_as or written_as(path)[0]) == Format.JSONL and _has_spans(path, shape.columns)
        if not as_gold:
            return _notes_of(path, mapping, read_as)
        return _gold_of(GoldSet(path, JSON_LINES, scheme, shape.columns), read_as)


def _gold_of(gold_set: GoldSet, read_as: Format | None) -> NotesRead:
    refusals = Refusals()
    gold = [one for one in replace(gold_set, refused=refusals.add) if one.note is not None]
    if not any(one.spans for one in gold):
        raise DeidError(Code.INPUT_EMPTY, "gold: no span" if gold else "gold: no note")
    return NotesRead([one.note for one in gold if one.note is not None], gold, refusals, read_as)


def _has_spans(path: Path, columns: Mapping[str, str]) -> bool:
    with suppress(BrokenFileError):  # whoever reads it says so
        for _, cells in table_rows(path, Format.JSONL, COMPRESSION.get(path.suffix), max_chars=MAX_CHARS):
            return not isinstance(cells, Reason) and any(columns.get(key, key) == "spans" for key in cells)
    return False


def _notes_of(path: Path, mapping: ColumnMapping, read_as: Format | None) -> NotesRead:
    found = NotesRead(read_as=read_as)
    for item in read_notes(
        path,
        columns=mapping.columns,
        ignore=mapping.ignore,
        defaults=mapping.defaults,
        strict=False,
        table_format=read_as,
    ):
        if not isinstance(item, Rejection):
            found.notes.append(item)
            found.unfilled += has_brackets(item.text)
        elif item.reason is not Reason.IMPOSSIBLE_DATE:  # such a note stands, and its date is of no use here
            found.refusals.add(item)
    if not found.notes and not found.refusals.lost:
        raise DeidError(Code.INPUT_EMPTY, "notes")
    return found
