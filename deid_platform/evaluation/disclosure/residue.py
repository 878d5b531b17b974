"""What is left of each identifier in the released text: ALID, LR, LRDI and LRQI of Pissarra 2024 (arXiv 2406.00062).

Belongs here: edit distances between gold identifiers and a released text. Does not belong here: offsets of a detector
(`evaluation/scores/scores.py`), or who could be found by what is left (`linkage.py`).

These need no spans of a detector, so a language model that rewrites the whole note is measured as a rule is. By the
paper: ALID is the mean Levenshtein index of dissimilarity, how far each gold identifier is from the released text; LR
the share of identifiers that no window of it comes closer to than a similarity of 0.85; LRDI asks that of all direct
identifiers of a note or of none; LRQI takes quasi-identifiers in proportion. Decided here, where that leaves a choice:

- A window is any substring, of any length, so that a letter put in or left out is one edit and not a shift of the rest.
  Its distance is divided by the identifier's length and lies in [0, 1]: the empty window is at 1.
- A similarity of exactly 0.85 is a residue.
- Case does not count, nor which white space, nor how much.
- LRDI and LRQI are means over the notes that have such identifiers. Direct are `labels.DIRECT_IDENTIFIERS`, quasi all
  others, clinicians and hospitals too.
- Each mention counts, as often as it is gold.

Whatever happens to stand elsewhere in the note counts as left: "61" in "161 mg", the "Boston" of a criterion. With
`whole_words` a window begins and ends where words do, which takes the first of the two away; and it misses a name that
was glued to another word, so it stands beside the default, not in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Ratio, Resampling, column
from deid_platform.labels import DIRECT_IDENTIFIERS, Label
from deid_platform.notes import Span

CLOSE = 0.85
"""The similarity from which on a window is a residue of the identifier."""
_FAR = 1 << 20


@dataclass(frozen=True, slots=True)
class NoteResidue:
    """How far each gold identifier of one note is from the released text.

    Attributes:
        distances: Label and distance of each, 0 where it stands there as it was and 1 where nothing is like it.
        cluster: Whose note it is, for resampling; None makes it a cluster of its own.
    """

    distances: tuple[tuple[Label, float], ...]
    cluster: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Residue:
    """Measures over many notes; more is safer.

    Attributes:
        alid: Mean distance of an identifier to the released text.
        lr: Share of identifiers of which nothing similar is left.
        lrdi: Share of the notes with direct identifiers in which nothing similar to any of them is left.
        lrqi: Mean over the notes with quasi-identifiers of the share of them of which nothing similar is left.
    """

    alid: Ratio
    lr: Estimate
    lrdi: Estimate
    lrqi: Ratio


def note_residue(
    text: str, gold: Sequence[Span], released: str, *, whole_words: bool = False, cluster: str | None = None
) -> NoteResidue:
    """Measure one note.

    Args:
        text: The original text.
        gold: What is an identifier, in code points of the original.
        released: What was made of it.
        whole_words: Whether a window begins and ends where words of the released text do.
        cluster: The patient, for resampling.
    """
    shown = _plain(released)
    known: dict[str, float] = {}
    found: list[tuple[Label, float]] = []
    for span in gold:
        identifier = _plain(text[span.start : span.end])
        if identifier:
            if identifier not in known:
                known[identifier] = distance(identifier, shown, whole_words=whole_words)
            found.append((span.label, known[identifier]))
    return NoteResidue(tuple(found), cluster)


def residue(notes: Iterable[NoteResidue], *, resamples: int = RESAMPLES, seed: int = 0) -> Residue:
    """ALID, LR, LRDI and LRQI with bootstrap intervals over patients."""
    measured = list(notes)
    rows = np.array([_row(note) for note in measured], dtype=np.float64).reshape(-1, 7)
    found = Resampling(rows, [note.cluster for note in measured], resamples=resamples, seed=seed)
    return Residue(
        alid=found.ratio(column(1), column(0), int(rows[:, 0].sum())),
        lr=found.share(column(2), column(0)),
        lrdi=found.share(column(4), column(3)),
        lrqi=found.ratio(column(6), column(5), int(rows[:, 5].sum())),
    )


def distance(identifier: str, text: str, *, whole_words: bool = False) -> float:
    """The least Levenshtein distance from an identifier to any substring, by the identifier's length.

    The dynamic programme of Sellers 1980 (J Algorithms 1:359), a row of it at a time: 15 letters in a note of 5,000
    take less than a millisecond.
    """
    if not whole_words and identifier in text:
        return 0.0
    points = np.array([ord(character) for character in text], dtype=np.int32)
    at = np.arange(len(points) + 1, dtype=np.int32)
    begins, ends = _edges(text) if whole_words else (at >= 0, at >= 0)
    # What a window passes over before the identifier begins costs one a character; without a limit it begins anywhere.
    row = np.minimum.accumulate(np.where(begins, 0, _FAR) - at) + at
    for character in identifier:
        below = row + 1
        below[1:] = np.minimum(below[1:], row[:-1] + (points != ord(character)))
        # Characters of the text that are passed over: each costs one more than the best place before it.
        row = np.minimum.accumulate(below - at) + at
    return min(1.0, float(row[ends].min()) / len(identifier))


def _row(note: NoteResidue) -> tuple[float, ...]:
    gone = [(label, far > 1 - CLOSE + 1e-9) for label, far in note.distances]
    direct = [is_gone for label, is_gone in gone if label in DIRECT_IDENTIFIERS]
    quasi = [is_gone for label, is_gone in gone if label not in DIRECT_IDENTIFIERS]
    return (
        len(gone),
        sum(far for _, far in note.distances),
        sum(is_gone for _, is_gone in gone),
        bool(direct),
        bool(direct) and all(direct),
        bool(quasi),
        sum(quasi) / len(quasi) if quasi else 0.0,
    )


def _edges(text: str) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Where a word may begin, and where it may end: not between two letters or digits."""
    inside = np.array([False, *(character.isalnum() for character in text), False])
    between = ~(inside[:-1] & inside[1:])
    return between, between


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
