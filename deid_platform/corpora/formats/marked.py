r"""Marked text: a file a note, in which identifiers are marked where they stand, below a header.

Belongs here: that notation, read and written. Does not belong here: which notes are so written (`corpora/library`), or
bounds and overlaps (`corpora/annotations.py`).

    kind: dialysis run sheet
    style: tables with pipes
    language: en
    date: 2024-11-03
    patient: first=Ann; last=Example; birth_date=1961-04-07; mrn=00482931
    provider: first=Lee; last=Example; title=RN

    Tx # ⟦00482931|MEDICALRECORD⟧  chair ⟦12|HOSPITAL⟧
    husb ⟦Bo|PATIENT relative⟧ called

The header ends at the first empty line. `patient`, and as many lines `provider` and `facility` as are wanted, hold what
the master index knows of the note, in fields of the topics: `field=value`, parted by semicolons. Behind a label may
stand who is meant, a word of `WHOM`. A note's id is the name of its file, without the ending. A text that holds a
bracket of a mark cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import TypeVar

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.annotations import Annotation, GoldFaultError, check_text, spans_of
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.gold_files import (
    FileNames,
    content,
    gold_files,
    refused,
    unwritable,
    writable,
    written_folder,
)
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.notes import Facility, Note, Patient, Provider

ENDING = ".txt"
WHOM = ("patient", "relative", "staff", "other", "institution")
"""Who may be meant by an identifier; `other` is everybody who is neither family nor staff."""
_MARK = re.compile(r"⟦([^⟦⟧]*)\|([A-Z-]+)(?: ([a-z]+))?⟧")
_BRACKET = re.compile(r"[⟦⟧]")
_HEADER = re.compile(r"(kind|style|language|date|patient|provider|facility):(?: (.*))?")
_SHORT = {"first": "first_name", "middle": "middle_name", "last": "last_name"}
_Row = TypeVar("_Row", Patient, Provider, Facility)


@dataclass(frozen=True, slots=True, repr=False)
class MarkedNote:
    """One file.

    Attributes:
        gold: The note, without its marks, and its spans.
        whom: Who is meant by each span; `patient` where the mark does not say.
        style: How it is written, in the author's words.
        patient: What the master index knows of the patient; None where it knows nothing.
        providers: What it knows of the staff.
        facilities: What it knows of institutions.
        begins: The line of the file on which the text begins, from 1.
    """

    gold: Gold
    whom: tuple[str, ...]
    style: str
    patient: Patient | None
    providers: tuple[Provider, ...]
    facilities: tuple[Facility, ...]
    begins: int = 1

    def __repr__(self) -> str:
        return "<MarkedNote>"


@dataclass(frozen=True)
class MarkedText:
    """The format `marked`, of gold alone."""

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes of a folder, or the one of a file; rejections tell the line."""
        for note in marked_notes(path, scheme=scheme):
            yield note if isinstance(note, Rejection) else note.gold

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes a folder of files that are called by the ids of their notes. Clinical terms have no place in them."""
        count, names = 0, FileNames()
        with written_folder(path) as write:
            for count, gold, note in writable(notes):
                if _BRACKET.search(note.text):
                    raise unwritable(count)
                write(
                    names.of(gold.note_id, count) + ENDING, _header(note, count) + "\n" + _with_marks(gold, note.text)
                )
        return count


def marked_notes(path: Path, *, scheme: str) -> Iterator[MarkedNote | Rejection]:
    """The notes of a folder, or the one of a file, with all that their headers say.

    Raises:
        DeidError: `scheme-unknown`; `gold-missing` if there is nothing at that path.
    """
    chosen = scheme_of(scheme)
    folder, names = gold_files(path, lambda name: name.endswith(ENDING))
    for ordinal, name in enumerate(names):
        note_id = name.removesuffix(ENDING)
        try:
            yield marked_note(content(folder / name), note_id, chosen)
        except (GoldFaultError, BrokenFileError) as fault:
            place = fault.place if isinstance(fault, GoldFaultError) else None
            yield refused(ordinal, place or 1, fault.reason, note_id)


def marked_note(written: str, note_id: str, scheme: Scheme) -> MarkedNote:
    """One note as its file has it.

    Raises:
        GoldFaultError: What is wrong with it.
    """
    header, empty, body = written.partition("\n\n")
    if not empty:
        raise GoldFaultError(Reason.MALFORMED_ROW)
    values = _values(header)
    begins = header.count("\n") + 3
    text, annotations, whom = _without_marks(body, begins)
    check_text(text, MAX_CHARS)
    marked = spans_of(annotations, text, scheme, exact=True)
    if marked.no_identifiers or marked.known_errors or len(marked.spans) != len(whom):
        whom = ["patient"] * len(marked.spans)  # of a scheme that leaves annotations out; ours leaves none
    patients = _rows(values, "patient", Patient, note_id)
    if len(patients) > 1:
        raise GoldFaultError(Reason.MALFORMED_ROW)
    patient = patients[0] if patients else None
    note = Note(
        note_id,
        text,
        patient_id=patient.patient_id if patient else None,
        note_type=_one(values, "kind"),
        note_date=_day(_one(values, "date")),
        language=_one(values, "language") or scheme.language,
    )
    gold = Gold(note_id, marked.spans, (), note, marked.no_identifiers, marked.known_errors)
    providers = _rows(values, "provider", Provider, note_id)
    facilities = _rows(values, "facility", Facility, note_id)
    return MarkedNote(gold, tuple(whom), _one(values, "style") or "", patient, providers, facilities, begins)


def _values(header: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for number, line in enumerate(header.split("\n"), start=1):
        match = _HEADER.fullmatch(line)
        if match is None:
            raise GoldFaultError(Reason.MALFORMED_ROW, number)
        values.setdefault(match[1], []).append((match[2] or "").strip())
    return values


def _one(values: Mapping[str, list[str]], key: str) -> str | None:
    said = values.get(key, [])
    if len(said) > 1:
        raise GoldFaultError(Reason.MALFORMED_ROW)
    return (said[0] or None) if said else None


def _day(said: str | None) -> date | None:
    try:
        return date.fromisoformat(said) if said else None
    except ValueError:
        raise GoldFaultError(Reason.IMPOSSIBLE_DATE) from None


def _rows(values: Mapping[str, list[str]], kind: str, row: type[_Row], note_id: str) -> tuple[_Row, ...]:
    """The topics' rows of one kind; their ids are made of the note's where the header has none."""
    key, known = f"{kind}_id", {field.name for field in fields(row)}
    rows = []
    for number, line in enumerate(values.get(kind, ()), start=1):
        cells: dict[str, str | date | None] = {key: f"{note_id}.{number}" if kind != "patient" else note_id}
        for cell in filter(None, (part.strip() for part in line.split(";"))):
            name, equals, value = (part.strip() for part in cell.partition("="))
            name = key if name == "id" else _SHORT.get(name, name)
            if not equals or name not in known:
                raise GoldFaultError(Reason.MALFORMED_ROW)
            if value:
                cells[name] = _day(value) if name == "birth_date" else value
        if relatives := cells.get("relatives"):
            cells["relatives"] = ";".join(one.strip() for one in str(relatives).split(","))
        rows.append(row(**cells))  # type: ignore[arg-type]
    return tuple(rows)


def _without_marks(body: str, line: int) -> tuple[str, list[Annotation], list[str]]:
    """The text, its annotations, and who is meant by each; `line` is that on which the body begins."""
    parts: list[str] = []
    annotations: list[Annotation] = []
    whom: list[str] = []
    done = length = 0

    def add(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    for match in _MARK.finditer(body):
        add(body[done : match.start()])
        place = line + body.count("\n", 0, match.start())
        if (match[3] or "patient") not in WHOM:
            raise GoldFaultError(Reason.UNKNOWN_LABEL, place)
        annotations.append(Annotation(((length, length + len(match[1])),), match[2], match[1], place))
        whom.append(match[3] or "patient")
        add(match[1])
        done = match.end()
    add(body[done:])
    text = "".join(parts)
    if stray := _BRACKET.search(text):
        raise GoldFaultError(Reason.MALFORMED_ROW, line + text.count("\n", 0, stray.start()))
    return text, annotations, whom


def _with_marks(gold: Gold, text: str) -> str:
    parts, done = [], 0
    for span in sorted(gold.spans):
        parts += [text[done : span.start], f"⟦{text[span.start : span.end]}|{span.label.value}⟧"]
        done = span.end
    return "".join([*parts, text[done:]])


def _header(note: Note, number: int) -> str:
    said = {"kind": note.note_type, "language": note.language, "date": note.note_date and note.note_date.isoformat()}
    lines = [f"{key}: {value}" for key, value in said.items() if value]
    if any("\n" in line or "\r" in line for line in lines):
        raise unwritable(number)
    return "".join(f"{line}\n" for line in lines)


GOLD = MarkedText()
