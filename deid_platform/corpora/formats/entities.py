"""JSON lines with the identifiers of each note and their types, and no offsets, as Miranda 2025 marked its notes.

Belongs here: where such entities stand in their note. Does not belong here: what else a line may hold
(`corpora/gold.py`), or answers of a language model (`llm/extraction.py`), which are searched in more ways.

    {"note_id": ..., "lang": ..., "text": ..., "entities": [{"text": ..., "type": ...}, ...]}

Each occurrence of an entity is a span: at the edges of words, case as written, white space of any kind between its
words. Where longer entities stand, shorter ones within them are none, and of one that crosses a longer one the rest is.
So a number that is an age in one place and a dose in another is marked in both. An entity that is not in its note costs
the note: what else was marked in another text nobody can say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deid_platform.corpora import Format, Reason, Rejection
from deid_platform.corpora.annotations import GoldFaultError
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.gold_files import gold_files, read_lines
from deid_platform.corpora.formats.jsonl import is_json_lines
from deid_platform.corpora.gold import COMPRESSION, Gold
from deid_platform.corpora.schemes import scheme_of
from deid_platform.corpora.tables import table_rows
from deid_platform.errors import Code, DeidError

_INNER = re.compile(r"\w(?:.*\w)?", re.DOTALL)


@dataclass(frozen=True)
class EntityLines:
    """The format `entities`."""

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes, streamed; a line that cannot be used comes as a rejection with its number."""
        folder, names = gold_files(path, is_json_lines)
        yield from read_lines(folder, names, scheme_of(scheme), max_chars=MAX_CHARS, spans_in=spans_in)

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Never: a word may be an identifier in one place of a note alone.

        Raises:
            DeidError: `format-unknown`.
        """
        del notes, path
        raise DeidError(Code.FORMAT_UNKNOWN, "entities")


def has_entities(path: Path) -> bool:
    """Whether the first line of a file has entities and no spans."""
    try:
        rows = table_rows(path, Format.JSONL, COMPRESSION.get(path.suffix), max_chars=MAX_CHARS)
        first = next((cells for _, cells in rows), None)
    except BrokenFileError:  # whoever reads it says so
        return False
    return isinstance(first, Mapping) and "entities" in first and "spans" not in first


def spans_in(row: Mapping[str, Any], text: str | None) -> list[list[Any]] | None:
    """The places of a line's entities, as a line of `jsonl` has its spans; None where it has no entities.

    Args:
        row: The line.
        text: The note's.

    Raises:
        GoldFaultError: `absent_entity`; `malformed_row` for what is no list of texts with types.
    """
    entities = row.get("entities")
    if entities is None or text is None:
        return None
    if not isinstance(entities, list) or not all(map(_is_entity, entities)):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    types: dict[tuple[str, ...], str] = {}
    for entity in entities:
        types.setdefault(tuple(entity["text"].split()), entity["type"])
    covered = bytearray(len(text))
    spans: list[list[Any]] = []
    for words in sorted(types, key=lambda entity: (-sum(map(len, entity)), entity)):
        inner = r"\s+".join(map(re.escape, words))
        places = [match.span() for match in re.finditer(rf"(?<!\w){inner}(?!\w)", text)] if words else []
        if not places:
            raise GoldFaultError(Reason.ABSENT_ENTITY)
        for start, end in places:
            spans += ([*piece, types[words]] for piece in _uncovered(text, covered, start, end))
            covered[start:end] = b"\1" * (end - start)
    return sorted(spans)


def _uncovered(text: str, covered: bytearray, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The whole of a place that no other covers, else what is left of it from its first letter or digit to its last."""
    if not any(covered[start:end]):
        yield start, end
        return
    for gap in re.finditer(rb"\0+", covered[start:end]):
        if inner := _INNER.search(text, start + gap.start(), start + gap.end()):
            yield inner.span()


def _is_entity(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str) and isinstance(value.get("type"), str)


GOLD = EntityLines()
