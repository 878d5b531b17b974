"""What is here of a corpus, in counts.

Belongs here: counting a corpus's notes by what they serve. Does not belong here: reading them (`catalogue.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from deid_platform.corpora.catalogue import Corpus, paths_of, read_corpus
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.corpus import Part, part_of
from deid_platform.corpora.injection.near_copies import near_copies_of
from deid_platform.corpora.injection.readings import has_reading, reading_of
from deid_platform.settings import Settings


@dataclass(frozen=True)
class Overview:
    """What is here of a corpus.

    Attributes:
        readable: Whether its files are here.
        notes: Part -> notes that can be read.
        carriers: Part -> those of them that have gold once they are filled.
        left_out: Other notes: nobody has read them, or nobody could list their own identifiers for sure.
        near_copies: Still others, of the test part, whose prose stands in a training part of any corpus.
        unknown_types: Placeholders of a type that nobody knows, which are filled by a number.
    """

    readable: bool
    notes: Mapping[Part, int] = field(default_factory=dict)
    carriers: Mapping[Part, int] = field(default_factory=dict)
    left_out: int | None = None
    near_copies: int | None = None
    unknown_types: int = 0


def overview(corpus: Corpus, settings: Settings | None) -> Overview:
    """Counts of a corpus; reads it whole."""
    if not paths_of(corpus, settings):
        return Overview(readable=False)
    whole = corpus.slots != "reading" and not has_reading(corpus.name)
    read = reading_of(corpus.name).digests if has_reading(corpus.name) else {}
    near = near_copies_of(corpus.name)
    left_out = copies = unknown = 0
    notes, found = dict.fromkeys(Part, 0), dict.fromkeys(Part, 0)
    for part, gold in _parted(corpus, settings):
        note_id = gold.note_id
        notes[part] += 1
        unknown += gold.unknown_types
        if not whole and note_id not in read:
            left_out += 1
        elif part is Part.TEST and note_id in near:
            copies += 1
        else:
            found[part] += 1
    return Overview(True, notes, found, left_out, copies, unknown)


def _parted(corpus: Corpus, settings: Settings | None) -> Iterator[tuple[Part, Gold]]:
    """Each note and the part that it is of."""
    for part in corpus.parts if corpus.test else (None,):
        for gold in read_corpus(corpus, settings, part, refused=lambda _: None):
            yield part or part_of(gold.note_id), gold
