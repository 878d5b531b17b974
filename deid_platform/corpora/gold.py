"""Gold spans from JSON lines, for the bench, for `deid evaluate` and as a format of gold.

Belongs here: reading gold that someone planted or annotated. Does not belong here: making it, or scoring
against it. Gold never comes from a detector's own output.

    {"note_id": ..., "spans": [[start, end, label], ...], "clinical": [[start, end], ...]?, "text": ...?}

Offsets are code points, end exclusive; a fourth member of a span, the surface, is checked when it is there.
`clinical` marks terms that must survive. `text` and the note's other fields may stand beside them, and `condition`,
which says what the note is mostly about.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

from deid_platform.corpora import Format, Reason
from deid_platform.corpora.annotations import Annotation, GoldFaultError, check_text, misplaced, spans_of
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.corpora.tables import table_rows
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Span

SCHEME = "i2b2-2014"
SpansIn = Callable[[Mapping[str, Any], str | None], Any]
"""From a line and its text to spans, each a list of start, end and label."""
COMPRESSION = {".gz": "gz", ".zst": "zst"}
"""Of gold files, by the ending of their names."""
_OPTIONAL = [f.name for f in fields(Note) if f.name not in ("note_id", "text", "note_date", "language")]


@dataclass(frozen=True, slots=True, repr=False)
class Gold:
    """One note's gold.

    Attributes:
        note_id: The note's.
        spans: In order.
        clinical: Start and end of terms that must survive.
        note: None where the file gives spans alone.
        no_identifiers: Annotations that are not among the spans because the scheme says that they are no identifiers.
        known_errors: Those that are not because they are known errors of the corpus (`schemes.py`).
        condition: What the note is mostly about; None where the file does not say.
        unknown_types: How many of the spans are placeholders of a type that nobody knows.
    """

    note_id: str
    spans: tuple[Span, ...]
    clinical: tuple[tuple[int, int], ...] = ()
    note: Note | None = None
    no_identifiers: int = 0
    known_errors: int = 0
    condition: str | None = None
    unknown_types: int = 0

    def __repr__(self) -> str:
        return "<Gold>"


@dataclass(frozen=True, slots=True, repr=False)
class Fault:
    """What stands in the place of a note that is no gold.

    Attributes:
        reason: Why.
        said: The same in words; no value of the note.
        note_id: Which note, where that can be read.
    """

    reason: Reason
    said: str
    note_id: str | None = None

    def __repr__(self) -> str:
        return f"<Fault {self.reason}>"


def read_gold(
    path: Path,
    *,
    scheme: str = SCHEME,
    columns: Mapping[str, str] | None = None,
    with_text: bool = False,
    note_ids: Collection[str] | None = None,
) -> Iterator[Gold]:
    """Reads a gold file, plain or compressed, line by line, up to the first line that cannot be used.

    Spans may overlap, and a note may have several lines: whoever planted them knows why.

    Args:
        path: JSON lines.
        scheme: Which label names it uses: a key of `labels.CROSSWALKS`.
        columns: Key to field of the note, as `rows.Shape.columns` has it; by default each key is its field's name.
        with_text: Whether a line without a text is a fault.
        note_ids: The only notes that are wanted: of a line that names another one, nothing is looked at but its JSON.

    Raises:
        DeidError: `gold-missing` if there is no such file, `feed-unreadable` if it cannot be read to its end,
            `scheme-unknown`, `label-unknown` with the line's number for a label that the scheme has not,
            `gold-invalid` with the line's number and the reason for anything else.
    """
    chosen = scheme_of(scheme)
    if not path.exists():
        raise DeidError(Code.GOLD_MISSING)
    try:
        for number, gold in gold_lines(path, chosen, columns=columns, with_text=with_text, note_ids=note_ids):
            yield gold if isinstance(gold, Gold) else _refuse(number, gold)
    except BrokenFileError:
        raise DeidError(Code.FEED_UNREADABLE, "gold") from None


def _refuse(number: int, fault: Fault) -> NoReturn:
    if fault.reason is Reason.INVALID_UTF8:
        raise DeidError(Code.FEED_UNREADABLE, "gold")
    if fault.reason is Reason.UNKNOWN_LABEL:
        raise DeidError(Code.LABEL_UNKNOWN, f"line {number}")
    raise DeidError(Code.GOLD_INVALID, f"line {number}: {fault.said}")


def given_spans(row: Mapping[str, Any], text: str | None) -> Any:
    """The spans of a line as it gives them."""
    del text
    return row.get("spans")


def gold_lines(
    path: Path,
    scheme: Scheme,
    *,
    columns: Mapping[str, str] | None = None,
    with_text: bool = True,
    overlaps: bool = True,
    max_chars: int | None = None,
    note_ids: Collection[str] | None = None,
    spans_in: SpansIn = given_spans,
) -> Iterator[tuple[int, Gold | Fault]]:
    """The lines of a gold file that are not blank, with their numbers, from 1.

    Args:
        path: JSON lines, plain or compressed.
        scheme: Of its labels.
        columns: Key to field of the note.
        with_text: Whether a line without a text is a fault.
        overlaps: Whether spans may overlap.
        max_chars: The longest text, in code points; texts are then checked as those of a feed are.
        note_ids: As `read_gold` has it.
        spans_in: The spans of a line, given its text; None where it has none, a `GoldFaultError` for what is wrong.

    Raises:
        BrokenFileError: The file can be read no further; the lines before have been yielded.
    """
    named = columns or {}
    longest = sys.maxsize if max_chars is None else max_chars
    for number, cells in table_rows(path, Format.JSONL, COMPRESSION.get(path.suffix), max_chars=longest):
        if isinstance(cells, Reason):
            yield number, Fault(cells, GoldFaultError(cells).said)
            continue
        row = {named.get(key, key): value for key, value in cells.items()}
        # A line of which nobody can tell whose it is may be of one that is wanted.
        if note_ids is not None and (of := _id_of(row)) is not None and of not in note_ids:
            continue
        try:
            text = _text(row, with_text, max_chars)
            yield number, _gold(row, text, spans_in(row, text), number, scheme, overlaps)
        except GoldFaultError as fault:
            yield number, Fault(fault.reason, fault.said, _id_of(row))


def _text(row: Mapping[str, Any], needed: bool, max_chars: int | None) -> str | None:
    text = row.get("text")
    if text is None:
        if needed:
            raise GoldFaultError(Reason.EMPTY_TEXT)
        return None
    if not isinstance(text, str):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    if max_chars is not None:
        check_text(text, max_chars)
    return text


def _gold(row: Mapping[str, Any], text: str | None, spans: Any, number: int, scheme: Scheme, overlaps: bool) -> Gold:
    note_id = _id_of(row)
    if note_id is None:
        raise GoldFaultError(Reason.MISSING_NOTE_ID if row.get("note_id") is None else Reason.MALFORMED_ROW)
    if spans is None:
        raise GoldFaultError(Reason.MISSING_GOLD)
    try:
        annotations = [_annotation(span, number) for span in spans]
        marked = spans_of(annotations, text, scheme, exact=True, overlaps=overlaps)
        clinical = tuple(_clinical(term, text) for term in row.get("clinical") or ())
        note = None if text is None else _note(note_id, text, row, scheme.language)
    except (ValueError, TypeError):
        raise GoldFaultError(Reason.MALFORMED_ROW) from None
    condition = row.get("condition")
    return Gold(
        *(note_id, marked.spans, clinical, note, marked.no_identifiers, marked.known_errors),
        condition=condition if isinstance(condition, str) else None,
    )


def _annotation(span: Any, number: int) -> Annotation:
    start, end, label, *surface = span
    if not isinstance(label, str):
        raise TypeError
    return Annotation(((start, end),), label, surface[0] if surface else None, number)


def _clinical(term: Any, text: str | None) -> tuple[int, int]:
    start, end = term
    if fault := misplaced(start, end, text):
        raise GoldFaultError(Reason.SPAN_OUT_OF_RANGE, said=f"a clinical term {fault}")
    return start, end


def _id_of(row: Mapping[str, Any]) -> str | None:
    value = row.get("note_id")
    text = str(value) if type(value) is int else value
    return (text.strip() or None) if isinstance(text, str) else None


def _note(note_id: str, text: str, row: Mapping[str, Any], language: str) -> Note:
    when = row.get("note_date")
    # A number is an id as a feed takes it; anything else has no place in a field.
    values = {name: str(row[name]) for name in _OPTIONAL if row.get(name) is not None}
    if any(not isinstance(row[name], str | int) for name in values):
        raise TypeError
    return Note(
        note_id,
        text,
        note_date=date.fromisoformat(when) if when else None,
        language=str(row.get("language") or row.get("lang") or language),
        **values,
    )
