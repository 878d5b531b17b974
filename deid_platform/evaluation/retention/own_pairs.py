"""Pairs of chunks that one's own physicians labelled, and how far a judge agrees with them.

Belongs here: reading such pairs, and a judge beside several people. Does not belong here: the pairs that are shipped
(`pairs.py`), or measures of a judge against one label (`judge_validation.py`).

    {"original": ..., "released": ..., "changed": {"anna": true, "ben": false}, "note_id": ...?}

A line a pair, or a row of a table in CSV with a column for each physician, whose cells say yes, no or nothing. In JSON
lines `changed` is what each physician says, null where one did not read it, or a list of as many. After
Aghakasiri 2025: the label is what more than half of those say who read the pair (tables 7 and 8, and Cohen's kappa with
it); Pearson's and Spearman's correlations are with the mean of all of them, pair by pair and, where pairs name their
notes, note by note (table 4). Fleiss' kappa is over the pairs that every physician read (1971, Psychological Bulletin
76:378).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.judge_validation import (
    Correlation,
    Quality,
    correlation,
    fleiss_kappa,
    quality,
)
from deid_platform.evaluation.retention.judges import ChunkPair, Verdict

_OF_PAIR = ("original", "released", "note_id")
_SAID = {**dict.fromkeys(("true", "yes", "1"), True), **dict.fromkeys(("false", "no", "0"), False)}
MAJORITY = "majority of physicians"
"""The group of labels that more than half of the physicians give."""


@dataclass(frozen=True, slots=True, repr=False)
class OwnPair:
    """A pair of chunks and who calls it changed.

    Attributes:
        original: The chunk.
        released: What the released text has in its place.
        votes: Physician -> whether it was changed; without those who did not read it.
        note_id: The note that it is of, if the file says.
    """

    original: str
    released: str
    votes: Mapping[str, bool]
    note_id: str | None = None

    def __repr__(self) -> str:
        return f"<OwnPair: {len(self.votes)} votes>"

    @property
    def texts(self) -> ChunkPair:
        """What a judge sees."""
        return self.original, self.released

    @property
    def label(self) -> bool | None:
        """What more than half of the votes say; None where they are split."""
        yes = sum(self.votes.values())
        return None if 2 * yes == len(self.votes) else 2 * yes > len(self.votes)

    @property
    def mean(self) -> float:
        """The share of the votes that call it changed."""
        return sum(self.votes.values()) / len(self.votes)


@dataclass(frozen=True, slots=True)
class BesidePhysicians:
    """A judge beside physicians.

    Attributes:
        by: `MAJORITY` and each physician -> the judge against those labels, with Cohen's kappa.
        pairs: Verdicts with the physicians' mean, over the pairs that have an answer.
        notes: Shares of unchanged pairs of a note with the physicians' mean share; None where no pair names a note.
        fleiss: Fleiss' kappa of the physicians and the judge; None where chance alone would always agree.
    """

    by: Mapping[str, Quality]
    pairs: Correlation
    notes: Correlation | None
    fleiss: float | None


def own_pairs(path: Path) -> list[OwnPair]:
    """The pairs of a file of JSON lines, or of a table whose name ends in .csv.

    Raises:
        DeidError: `gold-missing` if there is no such file; `gold-invalid` with the line's number and what is wrong;
            `input-empty`.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError):
        raise DeidError(Code.GOLD_MISSING) from None
    if path.suffix.lower() == ".csv":
        pairs = list(_rows(text))
    else:
        pairs = [_pair(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not pairs:
        raise DeidError(Code.INPUT_EMPTY, "pairs")
    return pairs


def physicians(pairs: Sequence[OwnPair]) -> list[str]:
    """Who labelled, in the order in which they come."""
    return list(dict.fromkeys(name for pair in pairs for name in pair.votes))


def agreement_of(pairs: Sequence[OwnPair], verdicts: Sequence[Verdict] | None = None) -> tuple[float | None, int]:
    """Fleiss' kappa of the physicians, and of a judge as one more; and over how many pairs.

    Args:
        pairs: Of which those count that every physician read.
        verdicts: Of the judge, a pair; those without an answer leave their pair out.
    """
    everybody = len(physicians(pairs))
    counts = []
    for i, pair in enumerate(pairs):
        votes = list(pair.votes.values())
        if len(votes) < everybody or (verdicts is not None and verdicts[i].changed is None):
            continue
        votes += [] if verdicts is None else [bool(verdicts[i].changed)]
        counts.append([votes.count(False), votes.count(True)])
    if not counts or sum(counts[0]) < 2:
        return None, len(counts)
    return fleiss_kappa(counts), len(counts)


def beside_physicians(pairs: Sequence[OwnPair], verdicts: Sequence[Verdict]) -> BesidePhysicians:
    """How far a judge agrees with physicians.

    Args:
        pairs: What they labelled.
        verdicts: The judge's, a pair, in their order.
    """
    by = {MAJORITY: _against([pair.label for pair in pairs], verdicts)}
    for name in physicians(pairs):
        by[name] = _against([pair.votes.get(name) for pair in pairs], verdicts)
    said = [None if verdict.changed is None else float(verdict.changed) for verdict in verdicts]
    of_pairs = correlation(said, [pair.mean for pair in pairs])
    return BesidePhysicians(by, of_pairs, _of_notes(pairs, said), agreement_of(pairs, verdicts)[0])


def _against(labels: Sequence[bool | None], verdicts: Sequence[Verdict]) -> Quality:
    known = [(label, verdict) for label, verdict in zip(labels, verdicts, strict=True) if label is not None]
    return quality([label for label, _ in known], [verdict for _, verdict in known])


def _of_notes(pairs: Sequence[OwnPair], said: Sequence[float | None]) -> Correlation | None:
    notes: dict[str, list[tuple[float, float]]] = {}
    for pair, changed in zip(pairs, said, strict=True):
        if pair.note_id is not None and changed is not None:
            notes.setdefault(pair.note_id, []).append((1 - changed, 1 - pair.mean))
    if not notes:
        return None
    by_judge, by_people = zip(*(map(_mean, zip(*of_note, strict=True)) for of_note in notes.values()), strict=True)
    return correlation(by_judge, by_people)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _pair(number: int, line: str) -> OwnPair:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise DeidError(Code.GOLD_INVALID, f"line {number}: not a JSON object")
    for key in ("original", "released"):
        if not isinstance(row.get(key), str):
            raise DeidError(Code.GOLD_INVALID, f"line {number}: {key} is no text")
    votes = _votes(row.get("changed"))
    if not votes:
        raise DeidError(Code.GOLD_INVALID, f"line {number}: changed is no vote of anybody")
    note = row.get("note_id")
    if note is not None and not isinstance(note, str | int):
        raise DeidError(Code.GOLD_INVALID, f"line {number}: note_id is neither text nor number")
    return OwnPair(row["original"], row["released"], votes, None if note is None else str(note))


def _rows(text: str) -> Iterator[OwnPair]:
    table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in table:
            yield _of_row(table.line_num, row)
    except csv.Error:
        raise DeidError(Code.GOLD_INVALID, f"line {table.line_num + 1}: not CSV") from None


def _of_row(number: int, row: dict[Any, Any]) -> OwnPair:
    if None in row or None in row.values():
        raise DeidError(Code.GOLD_INVALID, f"line {number}: more or fewer cells than the first line")
    for key in ("original", "released"):
        if key not in row:
            raise DeidError(Code.GOLD_INVALID, f"line {number}: {key} is no text")
    said = {name: cell.strip().casefold() for name, cell in row.items() if name not in _OF_PAIR}
    votes = {name: _SAID[word] for name, word in said.items() if word in _SAID}
    if not votes or any(word and word not in _SAID for word in said.values()):
        raise DeidError(Code.GOLD_INVALID, f"line {number}: changed is no vote of anybody")
    return OwnPair(row["original"], row["released"], votes, row.get("note_id") or None)


def _votes(said: Any) -> dict[str, bool]:
    """Who says what; empty where it is of another form."""
    if isinstance(said, bool):
        said = [said]
    if isinstance(said, list):
        said = {f"physician {number}": vote for number, vote in enumerate(said, start=1)}
    if not isinstance(said, dict) or not all(vote is None or isinstance(vote, bool) for vote in said.values()):
        return {}
    return {name: vote for name, vote in said.items() if vote is not None}
