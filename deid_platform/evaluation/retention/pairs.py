"""Chunk pairs labelled by hand, to validate judges on (`data/pairs.tsv`).

Belongs here: reading them. Does not belong here: how good a judge is on them (`judge_validation.py`).

The texts are invented and written for this project, one by one. The labels follow the instructions of Aghakasiri 2025,
figure 6: a lost or altered drug, diagnosis, procedure, result, instruction or item of history is a change, and so is an
altered age or a lost year of birth; a masked or replaced name, place, provider, number or other date is none. What the
paper leaves open: an age over 89 that becomes "90 or older" is no change, as the law asks for it and nothing else tells
these ages apart; a masked weekday or holiday is a date, a masked "for three weeks" is a duration and a change;
paraphrase and noise of OCR that still say the same are none.

Half of the pairs are hard: what is lost looks like an identifier, or an identifier like medicine. Half are held out:
the judge of this package is tuned on the others. Both halves have one author, who also wrote that judge, so its figures
on the held-out half still flatter it. Half of the pairs are changed; of the chunks of a real release few are, where
precision is lower (`judge_validation.precision_at`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from deid_platform.evaluation.retention.judges import ChunkPair

_COLUMNS = ("id", "split", "changed", "kind", "difficulty", "language", "original", "released")


class Split(StrEnum):
    """What a pair is for."""

    DEVELOP = "develop"
    HELD_OUT = "held_out"


@dataclass(frozen=True, slots=True, repr=False)
class LabelledPair:
    """A chunk pair and whether it was changed.

    Attributes:
        name: Of the pair.
        split: What it is for.
        changed: Whether clinical content was lost or altered.
        kind: What was lost or altered; of an unchanged one, what was hidden or differs.
        hard: Whether it looks like the other.
        language: ISO 639-1.
        original: The chunk.
        released: What the released text has in its place.
    """

    name: str
    split: Split
    changed: bool
    kind: str
    hard: bool
    language: str
    original: str
    released: str

    @property
    def texts(self) -> ChunkPair:
        """What a judge sees."""
        return self.original, self.released


@cache
def labelled_pairs(split: Split | None = None) -> Sequence[LabelledPair]:
    """The pairs in the order of the file; those of one split if one is named."""
    text = (files("deid_platform.evaluation.retention") / "data" / "pairs.tsv").read_text("utf-8")
    head, *lines = (line for line in text.splitlines() if not line.startswith("#"))
    if tuple(head.split("\t")) != _COLUMNS:
        raise LookupError("columns of pairs.tsv")
    pairs = (_pair(*line.split("\t")) for line in lines)
    return tuple(pair for pair in pairs if split is None or pair.split is split)


def _pair(
    name: str, split: str, changed: str, kind: str, difficulty: str, language: str, original: str, released: str
) -> LabelledPair:
    return LabelledPair(name, Split(split), changed == "yes", kind, difficulty == "hard", language, original, released)
