r"""brat standoff: a note is a `.txt` file with its text and an `.ann` file with its annotations.

Belongs here: that pair, as notes of a feed (the `.txt` alone) and as notes with gold. Does not belong here: what its
labels are (`labels.py`), or bounds and overlaps (`corpora/annotations.py`).

    T1\tNOMBRE_SUJETO_ASISTENCIA 8 19\tAna Example
    T2\tCALLE 40 46;52 60\tdiscontinuous text

- T lines are spans; relations, events, attributes, normalisations and notes (R E A M N # *) are left aside.
- Offsets count code points of the file, so CR LF counts as two and a byte order mark as one.
- A discontinuous annotation is one span where its pieces are parted by white space alone, as brat writes one that runs
  over a line's end, and else a span for each piece: every piece is hidden, and nothing that was not annotated.
- A surface is compared by its words, since a line of the file can hold neither line breaks nor tabs.
- An empty `.ann` says that the note has no identifier. Without an `.ann` the note is no gold (`missing_gold`), though a
  feed has it; an `.ann` without its `.txt` is refused (`missing_text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.annotations import Annotation, GoldFaultError, check_text, spans_of
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.gold_files import (
    FileNames,
    content,
    gold_files,
    refused,
    writable,
    written_folder,
)
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.corpora.tables import Row
from deid_platform.notes import Note

_TEXT, _ANNOTATIONS = ".txt", ".ann"
_SPAN = re.compile(r"T[^\t]+\t([^\t ]+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)\t(.*)", re.DOTALL)
_LEFT_ASIDE = ("R", "E", "A", "M", "N", "#", "*")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True)
class Brat(FileFormat):
    """The format `brat`, of feeds and of gold."""

    names_tell: ClassVar[bool] = True
    called: ClassVar[str] = "end in .txt"

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Notes, in files that end in `.txt`."""
        return (Role.NOTES,) if file_name.endswith(_TEXT) else ()

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The one note of a file; annotations are not looked at."""
        del role, spool
        cells: dict[str, object] = {"note_id": path.stem}
        try:
            cells["text"] = content(path, max_chars)
        except GoldFaultError as fault:
            cells["text"] = fault.reason
        yield 1, cells

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes of a folder, or of the pair to which a file belongs; rejections tell the line of the .ann.

        The ordinal in a rejection is the note's place among the names without their endings.
        """
        chosen = scheme_of(scheme)
        folder, files = gold_files(path, lambda name: name.endswith((_TEXT, _ANNOTATIONS)))
        for ordinal, note_id in enumerate(sorted({name.rpartition(".")[0] for name in files})):
            try:
                yield _gold(folder, note_id, chosen)
            except (GoldFaultError, BrokenFileError) as fault:
                place = fault.place if isinstance(fault, GoldFaultError) else None
                yield refused(ordinal, place or 1, fault.reason, note_id)

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes a folder of pairs that are called by the ids of their notes. Clinical terms have no place in them."""
        count = 0
        names = FileNames()
        with written_folder(path) as write:
            for count, gold, note in writable(notes):
                name = names.of(gold.note_id, count)
                write(name + _TEXT, note.text)
                write(name + _ANNOTATIONS, "".join(_lines(gold, note.text)))
        return count


def _gold(folder: Path, note_id: str, scheme: Scheme) -> Gold:
    text_file, annotations_file = folder / (note_id + _TEXT), folder / (note_id + _ANNOTATIONS)
    if not text_file.exists():
        raise GoldFaultError(Reason.MISSING_TEXT)
    text = content(text_file)
    check_text(text, MAX_CHARS)
    if not annotations_file.exists():
        raise GoldFaultError(Reason.MISSING_GOLD)
    marked = spans_of(_annotations(content(annotations_file)), text, scheme, exact=False)
    read = Note(note_id, text, language=scheme.language)
    return Gold(note_id, marked.spans, (), read, marked.no_identifiers, marked.known_errors)


def _annotations(text: str) -> Iterator[Annotation]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip() or line.startswith(_LEFT_ASIDE):
            continue
        match = _SPAN.fullmatch(line)
        if match is None:
            raise GoldFaultError(Reason.MALFORMED_ROW, number)
        pieces = [piece.split(" ") for piece in match[2].split(";")]
        yield Annotation(tuple((int(start), int(end)) for start, end in pieces), match[1], match[3], number)


def _lines(gold: Gold, text: str) -> Iterator[str]:
    for number, span in enumerate(sorted(gold.spans), start=1):
        surface = _SPACE.sub(" ", text[span.start : span.end])
        yield f"T{number}\t{span.label.value} {span.start} {span.end}\t{surface}\n"


FEED = GOLD = Brat()
