"""What people found by reading carriers: where their own identifiers stand.

Belongs here: `data/readings/<corpus>.tsv`, note ids and offsets without any text. Does not belong here: what replaces
them (`filling.py`).

    note_id <tab> read <tab> digest of the text    a carrier; its identifiers follow, if it has any
    note_id <tab> start <tab> end <tab> label      one of them; offsets are code points, end exclusive
    note_id <tab> left out                         read, and too doubtful to be gold

The list was made by reading, never by a detector.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note

Place = tuple[int, int, Label]
_DIGITS = 12


@dataclass(frozen=True, repr=False)
class Reading:
    """One corpus, as far as people have read it.

    Attributes:
        places: Note -> its identifiers in order, never overlapping.
        left_out: How many notes were left out.
        digests: Note that is a carrier -> the first digits of the digest of its text.
    """

    places: Mapping[str, tuple[Place, ...]]
    left_out: int
    digests: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<Reading of {len(self.digests)} notes>"

    def places_in(self, note: Note) -> tuple[Place, ...] | None:
        """The identifiers of a note; None if nobody has read it, or if it was left out.

        Raises:
            DeidError: `gold-invalid` if its text is another than the one that was read.
        """
        if note.note_id not in self.digests:
            return None
        if text_digest(note.text) != self.digests[note.note_id]:
            raise DeidError(Code.GOLD_INVALID, "a text is not the one that was read")
        return self.places.get(note.note_id, ())


def text_digest(text: str) -> str:
    """The first digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def has_reading(corpus: str) -> bool:
    """Whether anybody has read a corpus."""
    return _path(corpus).is_file()


@cache
def reading_of(corpus: str) -> Reading:
    """What was found in a corpus.

    Raises:
        DeidError: `gold-missing` if nobody has read it.
    """
    if not has_reading(corpus):
        raise DeidError(Code.GOLD_MISSING)
    places: dict[str, list[Place]] = {}
    digests: dict[str, str] = {}
    left_out = 0
    for line in _path(corpus).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        note_id, what, *rest = line.split("\t")
        if what == "left out":
            left_out += 1
        elif what == "read":
            digests[note_id] = rest[0]
        else:
            places.setdefault(note_id, []).append((int(what), int(rest[0]), Label(rest[1])))
    return Reading({k: tuple(sorted(v)) for k, v in places.items()}, left_out, digests)


def _path(corpus: str) -> Traversable:
    return resources.files("deid_platform.corpora.injection") / "data" / "readings" / f"{corpus}.tsv"
