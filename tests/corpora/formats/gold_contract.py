"""What every format of notes with gold promises: a round trip, and refusals that cost and tell nothing.

A format's test calls `check_round_trip` with notes that hypothesis drew from `golds()`, and `check_refusals` with a
file or folder in which some notes are broken. `MARKER` of reader_contract.py belongs into everything that is broken.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from hypothesis import strategies as st

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.formats import GoldFormat
from deid_platform.corpora.gold import Gold
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

SCHEME = "i2b2-2014"
_ID = st.text(string.ascii_letters + string.digits + "-.é", min_size=1, max_size=8).filter(
    lambda name: not name.startswith(".") and not name.endswith(".tmp")
)
# What formats stumble over: astral and combining characters, line ends of all kinds, mark-up, a byte order mark, NEL.
_PIECES = st.one_of(
    st.sampled_from(
        ["\r\n", "\n", "\r", "\t", " ", "  ", "\u00a0", "\u2028", "\u0085", "\ufeff", "]]>", "<a>", "&amp;", '"', "'"]
    ),
    st.sampled_from(
        ["-DOCSTART-", "I-PER", "O", "#", ";", "\U0001f600", "\U00020000", "e\u0301", "Ann", "Sr. Example"]
    ),
    st.text(
        st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="⟦⟧"), max_size=6
    ),
)


@st.composite
def _gold(draw: st.DrawFn, note_id: str) -> Gold:
    text = draw(st.lists(_PIECES, min_size=1, max_size=12).map("".join)) + draw(st.sampled_from(["x", "😀", "x\r\n"]))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    chosen = [(a, b) for a, b in pairwise(cuts) if draw(st.booleans()) and text[a:b].strip()]
    spans = tuple(Span(a, b, draw(st.sampled_from(list(Label))), source="gold") for a, b in chosen)
    return Gold(note_id, spans, (), Note(note_id, text))


@st.composite
def golds(draw: st.DrawFn) -> list[Gold]:
    """Some invented notes, with and without spans, which may touch but not overlap."""
    ids = draw(st.lists(_ID, max_size=4, unique_by=str.casefold))
    return [draw(_gold(note_id)) for note_id in ids]


def content(gold: Gold) -> tuple[str, str, list[tuple[int, int, Label]]]:
    """All of a note that every lossless format keeps."""
    assert gold.note is not None
    return gold.note_id, gold.note.text, [(span.start, span.end, span.label) for span in gold.spans]


def squeezed(gold: Gold) -> tuple[str, list[tuple[int, int, Label]]]:
    """A note without white space: what a format of tokens keeps, the place of every span included."""
    assert gold.note is not None
    text = gold.note.text

    def place(end: int) -> int:
        return len("".join(text[:end].split()))

    return "".join(text.split()), [(place(span.start), place(span.end), span.label) for span in gold.spans]


def check_round_trip(gold_format: GoldFormat, notes: Sequence[Gold], path: Path, *, lossless: bool = True) -> None:
    """Writing and reading gives the notes back; without `lossless` only in their order and but for white space."""
    assert gold_format.write(iter(notes), path) == len(notes)
    back = list(gold_format.read(path, scheme=SCHEME))
    assert not [item for item in back if isinstance(item, Rejection)]
    if lossless:
        assert sorted(map(content, back)) == sorted(map(content, notes))
    else:
        assert list(map(squeezed, back)) == list(map(squeezed, notes))
    for gold in back:
        for span in gold.spans:
            assert 0 <= span.start < span.end <= len(gold.note.text)


def check_refusals(
    gold_format: GoldFormat,
    path: Path,
    expected: Sequence[tuple[int, int, Reason]],
    good: Sequence[str],
    contract: ModuleType,
    *,
    scheme: str = SCHEME,
) -> None:
    """Exactly these refusals by file, line and reason, every other note stands, and nothing is told.

    Args:
        gold_format: The format.
        path: Of the broken set.
        expected: File ordinal, line and reason of each refusal, in order.
        good: Ids of the notes that stand, in order.
        contract: reader_contract.py.
        scheme: Of the labels.
    """
    found = list(gold_format.read(path, scheme=scheme))
    refused = [item for item in found if isinstance(item, Rejection)]
    assert [(item.file, item.row, item.reason) for item in refused] == [
        (f"{Role.NOTES}[{ordinal}]", row, reason) for ordinal, row, reason in expected
    ]
    assert [item.note_id for item in found if isinstance(item, Gold)] == list(good)
    for item in found:
        contract.assert_quiet(item)
