"""A panel of judges on identifiers: votes, discards, and what the majority counts.

Belongs here: votes to counts. Does not belong here: prompts and models, or a judge of clinical content (`retention/`).

After Miranda 2025 ("Mamma Mia!", 3.3.1, 3.3.2, 4.2.2). A judge is asked for one category of a note and calls each
entity TP (gold and hidden), FN (gold and left) or FP (hidden and not gold). Each entity, known by its note, its text
and its type, gets one vote a judge; what more than half of the panel says counts, and an entity without such a majority
is discarded and counted as discarded.

Settled here, since the paper leaves it open: half is of the whole panel, so a judge that says nothing of an entity
votes for nothing; a judge must return at least as many entries as the category has gold entities, else its answer for
that note and category is a failure and none of its entries vote; a refusal or an answer that does not parse is a
failure too. Failures are reported, never taken for agreement.

The paper asks for a category of the whole document at once. A judge can also be asked for one entity at a time
(`Answer.entity`): a refusal then costs one entity and not the category, but what was hidden without being gold is never
asked for, so there are no false positives. An entity that gold holds several times has one verdict, which counts once
(`Unit.ENTITY`) or as often as the document has it (`Unit.DOCUMENT`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from deid_platform.labels import Label

Entity = tuple[str, str, Label]
"""The key of a note, the entity's text, its type."""


class Outcome(StrEnum):
    """What a judge calls an entity."""

    TP = "TP"
    FP = "FP"
    FN = "FN"


class Unit(StrEnum):
    """What is counted."""

    ENTITY = "entity"
    """Each different text of a note once."""
    DOCUMENT = "document"
    """Each as often as the whole note's gold has it."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What a judge says of one category of a note.

    Attributes:
        judge: Its name.
        note: The note's key.
        label: The category.
        entries: Texts with what it calls them; None for a refusal, or where the answer does not parse.
        entity: The gold entity that alone was asked for; None where the whole document was.
    """

    judge: str
    note: str
    label: Label
    entries: tuple[tuple[str, Outcome], ...] | None
    entity: str | None = None

    def __repr__(self) -> str:
        return f"<Answer of {self.judge}>"


@dataclass(frozen=True, slots=True)
class Counts:
    """What the panel counts; shares are None where they are of nothing."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP)."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else None

    @property
    def recall(self) -> float | None:
        """TP / (TP + FN)."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else None

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN)."""
        below = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / below if below else None

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The panel's counts.

    Attributes:
        all: Over all categories.
        labels: By category.
        discarded: Entities without a majority, by category.
        failures: Answers that did not count, by judge: refusals, what does not parse, too few entries.
        answers: Answers asked for, by judge.
    """

    all: Counts
    labels: Mapping[Label, Counts] = field(default_factory=dict)
    discarded: Mapping[Label, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)


def vote(
    answers: Iterable[Answer],
    gold: Mapping[tuple[str, Label], Sequence[str]],
    *,
    panel: int,
    threshold: float = 0.5,
    unit: Unit = Unit.ENTITY,
) -> Verdicts:
    """Counts what more than a share of the panel says.

    Args:
        answers: One a judge, note and category.
        gold: The texts of the gold entities of each note and category, repeated ones repeated.
        panel: How many judges there are.
        threshold: The share that a verdict must exceed; at least one half, so that there is one at most.
        unit: What is counted.

    Raises:
        ValueError: Fewer judges than answered, a threshold below one half, or two answers to one question.
    """
    votes: dict[Entity, Counter[Outcome]] = {}
    failures: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    seen: set[tuple[str, str, Label, str | None]] = set()
    for answer in answers:
        question = (answer.judge, answer.note, answer.label, answer.entity)
        if question in seen:
            raise ValueError("two answers to one question")
        seen.add(question)
        asked[answer.judge] += 1
        least = len(gold.get((answer.note, answer.label), ())) if answer.entity is None else 1
        if answer.entries is None or len(answer.entries) < least:
            failures[answer.judge] += 1
            continue
        for text, outcome in _once(answer.entries):
            votes.setdefault((answer.note, text, answer.label), Counter())[outcome] += 1
    if len(asked) > panel or not 0.5 <= threshold < 1:
        raise ValueError("panel or threshold")
    for (note, label), texts in gold.items():
        for text in texts:
            votes.setdefault((note, text, label), Counter())  # what no judge speaks of is discarded too
    return _counted(votes, gold, panel * threshold, unit, failures, asked)


def _once(entries: Iterable[tuple[str, Outcome]]) -> Iterable[tuple[str, Outcome]]:
    """One verdict an entity: what a judge says of it most often; nothing where it contradicts itself."""
    said: dict[str, Counter[Outcome]] = {}
    for text, outcome in entries:
        said.setdefault(text, Counter())[outcome] += 1
    for text, outcomes in said.items():
        (first, most), *rest = outcomes.most_common(2)
        if not rest or rest[0][1] < most:
            yield text, first


def _counted(
    votes: Mapping[Entity, Counter[Outcome]],
    gold: Mapping[tuple[str, Label], Sequence[str]],
    needed: float,
    unit: Unit,
    failures: Counter[str],
    asked: Counter[str],
) -> Verdicts:
    labels: dict[Label, Counts] = {}
    discarded: Counter[Label] = Counter()
    for (note, text, label), outcomes in votes.items():
        outcome = next((it for it, n in outcomes.items() if n > needed), None)
        if outcome is None:
            discarded[label] += 1
            continue
        times = 1
        if unit is Unit.DOCUMENT and outcome is not Outcome.FP:
            times = max(1, list(gold.get((note, label), ())).count(text))
        labels[label] = labels.get(label, Counts()) + Counts(**{outcome.lower(): times})
    return Verdicts(sum(labels.values(), Counts()), labels, dict(discarded), dict(failures), dict(asked))
