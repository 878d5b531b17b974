"""Hiding in plain sight: can a reader tell the identifiers that were missed from the surrogates around them?

Belongs here: a reader's rules, and how often they are right. Does not belong here: made-up records to compare ways of
choosing surrogates (`plain_sight_simulation.py`), or whom a name leads to (`linkage.py`).

With tags, what is missed is plain. With surrogates it hides among them (Carrell 2013, J Am Med Inform Assoc 20:342),
unless something gives it away. The reader here sees all notes of a patient together, knows by context which mentions
are of one person and one part of the name, and knows how the policy chooses surrogates. His rules, each by itself:

- ODD_IN_NOTE, ODD_IN_RECORD: where one surrogate recurs in a note, or in all notes of a patient, whatever else stands
  for the same person is true. Consistent surrogates make this rule sure.
- RETURNS: where surrogates change from note to note, what stands in two notes is true.
- REPEATS: where no surrogate is repeated more often than some number of times a note, what is repeated more is true.
  This is the leak that BRATsynthetic counts for its own surrogates (Osborne 2025, doi 10.3390/electronics14193945).
- UNMAKEABLE: what the maker of surrogates could not have made (a name on none of its lists, a number outside its
  ranges) is true. A rare name is told by this, whatever the policy.
- FORMAT: what is written in another shape than most mentions of the same person or number.

A rule that points at everything finds all. So each is shown beside chance, what one would find who points at as many at
random, and a rule counts as telling only where it is right at least as often as wrong. The best is the telling rule
that finds most: an upper bound for one reader with one rule, since it is chosen knowing the truth.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
import regex

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Resampling, column


@dataclass(frozen=True, slots=True, repr=False)
class ShownMention:
    """One place of a released record where an identifier stood.

    Attributes:
        note: Which note of the record.
        entity: Whose, and which part of the name or which number: what the reader knows to be one.
        shown: What stands there now.
        residual: Whether that is the true one.
    """

    note: int
    entity: Hashable
    shown: str
    residual: bool

    def __repr__(self) -> str:
        return "<ShownMention>"


Record = Sequence[ShownMention]
"""All mentions in the notes of one patient."""


@dataclass(frozen=True)
class Knowledge:
    """What the reader knows of how surrogates are made.

    Attributes:
        makeable: Whether something could be a surrogate; None if the reader cannot say.
        most_repeats: How often a surrogate may stand in one note; None without a limit.
    """

    makeable: Callable[[str], bool] | None = None
    most_repeats: int | None = None


class Rule(StrEnum):
    """By what the reader tells; the module says more."""

    ODD_IN_NOTE = "odd_in_note"
    ODD_IN_RECORD = "odd_in_record"
    RETURNS = "returns"
    REPEATS = "repeats"
    UNMAKEABLE = "unmakeable"
    FORMAT = "format"


@dataclass(frozen=True, slots=True)
class RuleScore:
    """How one rule does.

    Attributes:
        told: Share of residual identifiers that it points at.
        chance: The same of one who points at as many mentions at random.
        precision: Share of what it points at that is residual.
        notes: Share of notes with mentions in which it points at a residual identifier.
    """

    told: Estimate
    chance: Estimate
    precision: Estimate
    notes: Estimate

    @property
    def tells(self) -> bool:
        """Whether it is right at least as often as wrong."""
        return self.precision.value is not None and self.precision.value >= 0.5


@dataclass(frozen=True, slots=True)
class PlainSight:
    """What a reader can tell.

    Attributes:
        residual: Share of mentions that are residual.
        rules: How each rule does.
        best: The telling rule that finds most; None where no rule tells anything.
    """

    residual: Estimate
    rules: Mapping[Rule, RuleScore]
    best: Rule | None

    @property
    def told(self) -> float:
        """Share of residual identifiers that the best rule tells; 0 without one."""
        return (self.rules[self.best].told.value or 0.0) if self.best else 0.0

    @property
    def leaking_notes(self) -> float:
        """Share of notes in which the best rule tells one; 0 without one."""
        return (self.rules[self.best].notes.value or 0.0) if self.best else 0.0


def plain_sight(
    records: Iterable[Record],
    knowledge: Knowledge = Knowledge(),
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> PlainSight:
    """Measures the rules over records, with bootstrap intervals over patients."""
    rows: list[list[int]] = []
    for record in records:
        row = [len(record), sum(mention.residual for mention in record), len({mention.note for mention in record})]
        for rule in Rule:
            pointed = set(_pointed(rule, record, knowledge))
            right = {at for at in pointed if record[at].residual}
            row += [len(pointed), len(right), len({record[at].note for at in right})]
        rows.append(row)
    table = np.array(rows, dtype=np.float64).reshape(-1, 3 + 3 * len(Rule))
    share = Resampling(table, [None] * len(table), resamples=resamples, seed=seed).share
    mentions, residual, notes = map(column, range(3))
    rules: dict[Rule, RuleScore] = {}
    for number, rule in enumerate(Rule):
        pointed_at, right_of, leaking = (column(3 + 3 * number + offset) for offset in range(3))
        rules[rule] = RuleScore(
            told=share(right_of, residual),
            chance=share(pointed_at, mentions),
            precision=share(right_of, pointed_at),
            notes=share(leaking, notes),
        )
    telling = [rule for rule in Rule if rules[rule].tells]
    best = max(telling, key=lambda rule: rules[rule].told.hits, default=None)
    return PlainSight(share(residual, mentions), rules, best)


def _pointed(rule: Rule, record: Record, knowledge: Knowledge) -> Iterator[int]:
    """The mentions of a record that a rule points at."""
    if rule is Rule.UNMAKEABLE:
        if knowledge.makeable is not None:
            yield from (at for at, mention in enumerate(record) if not knowledge.makeable(mention.shown))
        return
    in_note = rule in (Rule.ODD_IN_NOTE, Rule.REPEATS)
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at, mention in enumerate(record):
        groups[(mention.entity, mention.note) if in_note else mention.entity].append(at)
    form = _shape if rule is Rule.FORMAT else str.casefold
    for places in groups.values():
        shown = [form(record[at].shown) for at in places]
        chosen = _chosen(rule, shown, [record[at].note for at in places], knowledge)
        yield from (at for at, what in zip(places, shown, strict=True) if what in chosen)


def _chosen(rule: Rule, shown: Sequence[str], notes: Sequence[int], knowledge: Knowledge) -> set[str]:
    """Which of the forms that stand for one entity a rule holds to be true."""
    counts = Counter(shown)
    if rule is Rule.REPEATS:
        limit = knowledge.most_repeats
        return set() if limit is None else {form for form, count in counts.items() if count > limit}
    if rule is Rule.RETURNS:
        return {form for form in counts if len({note for note, it in zip(notes, shown, strict=True) if it == form}) > 1}
    (usual, most), *others = counts.most_common()
    recurs = most > 1 and all(count < most for _, count in others)
    return set(counts) - {usual} if recurs else set()


@lru_cache(maxsize=4096)
def _shape(shown: str) -> str:
    """Capitals, small letters and digits as such, runs of letters as one."""
    shape = regex.sub(r"\p{Lu}+", "A", regex.sub(r"\p{Ll}+", "a", regex.sub(r"\d", "9", shown)))
    return str(shape)
