"""Gold of which every number is known, and figures over it, as the bench and the laboratory record them.

Belongs here: what was counted, and somebody who has all marts and tries to learn a number that they hide. Does not
belong here: what the marts say (`warehouse/readers/test_marts.py`).
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from looks import looked

from deid_platform.keys import plain_digest
from deid_platform.warehouse.gate.ledger import Score, record_scores
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role

HIDDEN = range(20)
"""What a hidden number may be: the marts hide those under 20."""
Cell = tuple[str, str, str]
"""A number of words: the detector's digest, what the words are split by, which part; ALL of ALL is all of them."""


@dataclass
class World:
    """A site's gold: how many words of identifiers each part of it has, and how many of them a detector hides."""

    detector: str
    parts: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return plain_digest(self.detector)

    def all(self) -> tuple[int, int]:
        """Of any split: each has all words."""
        first = next(iter(self.parts.values()))
        return sum(n for n, _ in first.values()), sum(hits for _, hits in first.values())

    def cells(self) -> Iterator[tuple[Cell, int]]:
        yield (self.digest, "ALL", "ALL"), self.all()[0]
        for split, parts in self.parts.items():
            for part, (n, _) in parts.items():
                yield (self.digest, split, part), n


def share(label: str, n: int, hits: int, measure: str = "recall") -> Score:
    spread = 2 * math.sqrt(max(hits * (n - hits), 1) / n**3)
    value = hits / n
    return Score(label, measure, value, max(0.0, value - spread), min(1.0, value + spread), n)


def record(scene: Any, world: World, *, name: str = "ensemble", in_lab: bool = False) -> None:
    """Records recall of all and of each part, exact, as whoever measures does."""
    gatekeeper = scene.warehouse.engine(Role.GATEKEEPER)
    whole = share("ALL", *world.all())
    labels = [share(label, *counts) for label, counts in world.parts.get("label", {}).items()]
    look = looked(gatekeeper, world.digest, gold="site")
    on = MeasuredOn(name, world.digest, "site", Inputs.TOPICS.value, look=look)
    groups = [
        share(f"{split} {part}", *counts)
        for split, parts in world.parts.items()
        if split != "label"
        for part, counts in parts.items()
    ]
    if not in_lab:
        record_scores(
            gatekeeper, [whole, *labels], detector_digest=world.digest, gold="site", inputs=Inputs.TOPICS, look=look
        )
    lab = [*([whole, *labels] if in_lab else []), *groups]
    record_lab_scores(gatekeeper, on, [LabScore("words", s.measure, s.value, s.low, s.high, s.n, s.label) for s in lab])


def worlds(count: int, seed: int) -> list[World]:
    """Gold of many shapes: few parts and many, at the edges of what is shown, one or two of them of fewer than 11."""
    draw = random.Random(seed)
    labels = ["PATIENT", "DATE", "PHONE", "AGE", "CITY", "STREET", "DOCTOR", "ZIP", "HOSPITAL", "IDNUM"]
    made = []
    for number in range(count):
        edge = draw.choice((None, 11, 19, 20, 29))
        shown = labels[: draw.randint(1, len(labels))]
        parts = {label: edge or draw.randint(11, draw.choice((30, 90, 400))) for label in shown}
        parts |= {label: draw.randint(1, 10) for label in ("SSN", "FAX")[: draw.randint(1, 2)]}
        counted = {label: (n, n - min(n, draw.choice((0, 0, 1, n // 10)))) for label, n in parts.items()}
        n, hits = (sum(column) for column in zip(*counted.values(), strict=True))
        few = draw.randint(1, 10)
        sexes = {"F": (n - few, hits - few), "M": (few, few)} if n - few >= 11 and hits - few > 0 else {}
        made.append(World(f"detector {number}", {"label": counted, **({"sex": sexes} if sexes else {})}))
    return made


class Reader:
    """Somebody who has every mart: what each cell's number may be, as far as they tell.

    A shown number may be any that its rounding stands for, as far as over it some count yields every share that is
    shown; a hidden one any of `HIDDEN`. Then all less the parts, again and again.
    """

    def __init__(self, *, rounded: bool) -> None:
        self._rounded = rounded
        self._may = defaultdict[Cell, set[int]](lambda: set(HIDDEN))

    def reads(self, cell: Cell, n: int | None, values: Iterable[float | None]) -> None:
        """A row of a mart: the number of cases of a cell, and shares of it."""
        if n is None:
            return
        width = 10 if self._rounded else 1
        possible = {it for it in range(n, n + width) if all(v is None or self._yields(v, it, n) for v in values)}
        known = self._may.get(cell)
        self._may[cell] = possible if known is None else known & possible

    def _yields(self, value: float, n: int, shown: int) -> bool:
        """Whether some count over `n` has this share, as many digits of which are shown as `shown` bears, or four."""
        digits = min(len(str(shown)) - 1, 4) if self._rounded else 4
        half = 10.0**-digits / 2 + 1e-9
        return math.floor((value + half) * n) >= math.ceil((value - half) * n)

    def candidates(self, cells: Iterable[Cell]) -> dict[Cell, set[int]]:
        """What each number may be after all is subtracted from all, again and again."""
        splits = defaultdict[tuple[str, str], list[Cell]](list)
        for digest, split, part in cells:
            self._may[digest, split, part]  # hidden ones too
            if split != "ALL":
                splits[digest, split].append((digest, split, part))
        before = None
        while before != (now := {cell: frozenset(may) for cell, may in self._may.items()}):
            before = now
            for (digest, _), parts in splits.items():
                whole = (digest, "ALL", "ALL")
                sums = self._sums(self._may[part] for part in parts)
                self._may[whole] &= sums
                for part in parts:
                    others = self._sums(self._may[other] for other in parts if other != part)
                    self._may[part] = {
                        n for n in self._may[part] if any(total - n in others for total in self._may[whole])
                    }
        return dict(self._may)

    @staticmethod
    def _sums(of: Iterable[set[int]]) -> set[int]:
        total = {0}
        for numbers in of:
            total = {a + b for a in total for b in numbers}
        return total


def of_marts(marts: Mapping[str, Sequence[Mapping[str, object]]]) -> Reader:
    """A reader of every mart that shows a number of words: board, labels, groups, history."""
    reader = Reader(rounded=True)

    def read(cell: Cell, row: Mapping[str, object], n: str, *values: str) -> None:
        if row["gold"] == "site":
            reader.reads(cell, row[n], [row[value] for value in values])  # type: ignore[arg-type]  # numbers

    for row in marts["leaderboard"]:
        read((str(row["detector_digest"]), "ALL", "ALL"), row, "words", "recall")
    for row in marts["scores_by_label"]:
        split = "ALL" if row["label"] == "ALL" else "label"
        read((str(row["detector_digest"]), split, str(row["label"])), row, "n", "value")
    for row in marts["scores_by_group"]:
        read((str(row["detector_digest"]), str(row["grouped_by"]), str(row["group_name"])), row, "n", "value")
    for row in marts["score_history"]:
        if row["family"] != "words":
            continue  # over something else than words of identifiers
        subject = str(row["subject"])
        split, _, part = subject.rpartition(" ")
        split = split or ("ALL" if part == "ALL" else "label")
        read((f"{row['detector_digest']}", split, part), row, "n", "value")
    return reader
