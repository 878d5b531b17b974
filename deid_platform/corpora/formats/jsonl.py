"""JSON lines with gold spans, a line a note; what `corpora/gold.py` parses, as a format that refuses line by line.

Belongs here: files of such lines, and writing them. Does not belong here: what a line may hold (`corpora/gold.py`), or
JSON lines of a feed, which are tables (`delimited.py`).

    {"note_id": ..., "lang": ..., "text": ..., "spans": [[start, end, label, surface], ...]}

A folder holds `.jsonl` files, plain, `.gz` or `.zst`. All fields of a note are kept, and the clinical terms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.gold_files import gold_files, read_lines, writable, written_file
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.schemes import scheme_of
from deid_platform.notes import Note

_ENDING = re.compile(r"\.jsonl(?:\.(?:gz|zst))?$")
_NAMED = {"language": "lang"}
_LAST = ("text", "spans", "clinical")


def is_json_lines(file_name: str) -> bool:
    """Whether a file of a folder is of the format, by its name."""
    return _ENDING.search(file_name) is not None


@dataclass(frozen=True)
class JsonLines:
    """The format `jsonl`.

    Attributes:
        language: Of notes whose lines say none; that of the scheme unless given.
    """

    language: str | None = None

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes, streamed; a line that cannot be used comes as a rejection with its number."""
        chosen = scheme_of(scheme)
        if self.language is not None:
            chosen = replace(chosen, language=self.language)
        folder, names = gold_files(path, is_json_lines)
        yield from read_lines(folder, names, chosen, max_chars=MAX_CHARS)

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes one file, gzipped if its name ends in `.gz`."""
        count = 0
        with written_file(path) as lines:
            for count, gold, note in writable(notes):  # noqa: B007 - the last one is how many
                lines.write(json.dumps(_row(gold, note), ensure_ascii=False) + "\n")
        return count


def _row(gold: Gold, note: Note) -> dict[str, object]:
    row: dict[str, object] = {}
    for f in fields(note):
        value = getattr(note, f.name)
        if value is not None and f.name not in _LAST:
            row[_NAMED.get(f.name, f.name)] = value if isinstance(value, str) else value.isoformat()
    row["text"] = note.text
    row["spans"] = [[s.start, s.end, s.label.value, note.text[s.start : s.end]] for s in sorted(gold.spans)]
    if gold.clinical:
        row["clinical"] = [list(term) for term in gold.clinical]
    return row


GOLD = JsonLines()
