"""The library as gold of the bench: which of its notes, and how they are sealed.

Belongs here: whose notes an installation measures on, and how many. Does not belong here: the notes
(`corpora/library`), or scoring them (`scoring.py`).

It is the notes of authors for tests. Those of sealed authors are never part of what an installation measures by itself:
whoever builds the platform would see their figures at each refresh, and they would be sealed no longer. Where no test
author's notes are at hand, those on which thresholds are chosen stand in: nothing learned from them either.
"""

from __future__ import annotations

from itertools import chain, islice, zip_longest

from deid_platform.corpora.formats.marked import MarkedNote
from deid_platform.corpora.library.authors import Author, Use, authors, notes_by, topics_of
from deid_platform.keys import plain_digest
from deid_platform.notes import Topics


def measured_authors() -> tuple[Author, ...]:
    """The authors on whose notes an installation measures."""
    for use in (Use.TEST, Use.THRESHOLDS):
        if here := tuple(one for one in authors(use) if one.folder.is_dir()):
            return here
    return ()


def library_gold(most: int) -> tuple[list[MarkedNote], Topics, int]:
    """Notes of the library to measure on, as many of each author as far as they go; their topics; how many authors.

    Args:
        most: The most notes of all authors together.

    Raises:
        DeidError: `gold-invalid` if a note cannot be read.
    """
    by_author = [sorted(notes_by(one), key=lambda it: plain_digest(it.gold.note_id)) for one in measured_authors()]
    in_turns = (it for it in chain.from_iterable(zip_longest(*by_author)) if it is not None)
    chosen = sorted(islice(in_turns, most), key=lambda it: it.gold.note_id)
    return chosen, topics_of(chosen), len({it.gold.note_id.partition("/")[0] for it in chosen})
