"""Chat models as the panel of judges on identifiers: what each is asked of a release, and what it says.

Belongs here: releases to questions, answers to votes, and the truth that is known of them. Does not belong here:
counting votes (`panel.py`), which models (`judge_plan.py`), or the prompts (`llm/prompts/judges/`).

After Miranda 2025 (3.3.1), with prompts of our own. A judge is asked for one label of a note at a time, and for all
gold entities of it by number: an answer with more or fewer words than there are entities is no answer. What it calls
wrongly hidden it has to write out. Spans say what a release truly hides, or where it is a text alone whether an
entity's text stands in it; each judge and the majority stand beside that (`evaluation/retention/judge_validation.py`):
an entity that is left is a positive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.panel.occurrence_counts import left
from deid_platform.evaluation.panel.panel import Answer, Counts, Outcome, Verdicts, vote
from deid_platform.evaluation.released.released import NoteRelease
from deid_platform.evaluation.retention.judges import Verdict
from deid_platform.labels import Label
from deid_platform.llm.api import Schema
from deid_platform.llm.prompts import Task
from deid_platform.llm.questions import Asked, NoAnswer, Question
from deid_platform.notes import Span

_OUTCOMES = {"hidden": Outcome.TP, "left": Outcome.FN}
_MAX_TOKENS = 2048
_WRONG = 100
"""The most entries of `wrongly_hidden`."""


@dataclass(frozen=True, slots=True, repr=False)
class JudgedRelease:
    """A release as a panel sees it, and what is known of it.

    Attributes:
        key: Of the note.
        original: Its text.
        released: Its release.
        gold: The texts of its gold entities by label, repeated ones repeated.
        left: Those of them that are not hidden wherever gold marks them.
        wrong: Texts that are hidden where gold marks nothing, by label.
    """

    key: str
    original: str
    released: str
    gold: Mapping[Label, tuple[str, ...]]
    left: frozenset[tuple[Label, str]]
    wrong: Mapping[Label, tuple[str, ...]]

    def __repr__(self) -> str:
        return "<JudgedRelease>"

    @classmethod
    def of(
        cls, key: str, original: str, released: str, gold: Iterable[Span], hidden: Sequence[Span], labels: set[Label]
    ) -> JudgedRelease:
        """A release of which the spans are known.

        Args:
            key: Of the note.
            original: Its text.
            released: Its release.
            gold: Its identifiers.
            hidden: The spans that were replaced.
            labels: Those that the policy hides; of others nobody is asked.
        """
        marked = [span for span in gold if span.label in labels]
        covered = bytearray(len(original))
        for span in hidden:
            covered[span.start : span.end] = b"\1" * (span.end - span.start)
        of_gold = bytearray(len(original))
        for span in gold:
            of_gold[span.start : span.end] = b"\1" * (span.end - span.start)

        def text(span: Span) -> str:
            return " ".join(original[span.start : span.end].split())

        def shown(span: Span) -> bool:
            return any(original[at].isalnum() and not covered[at] for at in range(span.start, span.end))

        wrong = [span for span in hidden if span.label in labels and not any(of_gold[span.start : span.end])]
        return cls(
            *(key, original, released),
            {label: tuple(text(it) for it in marked if it.label is label) for label in _labels(marked)},
            frozenset((span.label, text(span)) for span in marked if shown(span)),
            {label: tuple({text(it): None for it in wrong if it.label is label}) for label in _labels(wrong)},
        )

    @classmethod
    def of_release(cls, release: NoteRelease, labels: set[Label]) -> JudgedRelease:
        """A release of gold: by its spans where they are known, else by its text.

        Of a text, a gold text that stands in it as whole words is left (Miranda 2025, 3.3.3), and what a tag of a known
        label replaced where gold marks nothing is wrongly hidden; what was replaced without one is under no label.
        """
        note, gold = release.note, release.gold or ()
        if release.redaction is not None:
            return cls.of(note.note_id, note.text, release.shown, gold, release.redaction.applied, labels)
        tagged = [place.span() for place in release.places if place.label is not None]
        found = cls.of(note.note_id, note.text, release.shown, gold, tagged, labels)
        entities = [(label, text) for label, texts in found.gold.items() for text in texts]
        remaining = left(release.shown, [text for _, text in entities])
        return replace(found, left=frozenset((label, text) for label, text in entities if remaining[text]))

    def entities(self, label: Label) -> list[str]:
        """The different gold entities of a label."""
        return list(dict.fromkeys(self.gold.get(label, ())))

    @property
    def labels(self) -> list[Label]:
        """What a judge is asked for."""
        return [label for label in Label if label in self.gold or label in self.wrong]


@dataclass(frozen=True, slots=True)
class Heard:
    """What one judge says of some releases.

    Attributes:
        answers: One a note and label.
        verdicts: On each gold entity, in the order of `entities_of`: whether it is left.
        failures: How often each failure was why there is no answer.
    """

    answers: list[Answer]
    verdicts: list[Verdict]
    failures: Mapping[str, int] = field(default_factory=dict)


def entities_of(releases: Iterable[JudgedRelease]) -> list[tuple[Label, bool]]:
    """Each gold entity with its label and whether it is left, in the order in which judges say it."""
    return [
        (label, (label, text) in release.left)
        for release in releases
        for label in release.labels
        for text in release.entities(label)
    ]


def questions_of(releases: Iterable[JudgedRelease]) -> int:
    """How many questions a judge is asked."""
    return sum(len(release.labels) for release in releases)


def hear(asked: Asked, releases: Sequence[JudgedRelease]) -> Iterator[tuple[Answer, NoAnswer | None]]:
    """What a judge says, question by question, and why it says nothing.

    Raises:
        DeidError: `settings-invalid` if the prompt asks for something else.
    """
    if asked.prompt.task is not Task.PANEL:
        raise DeidError(Code.SETTINGS_INVALID, f"{asked.prompt.name} is no prompt of a panel")
    cases = [(release, label) for release in releases for label in release.labels]
    said = asked.answers(_question(release, label) for release, label in cases)
    for (release, label), found in zip(cases, said, strict=True):
        if isinstance(found, NoAnswer):
            yield Answer(asked.name, release.key, label, None), found
        else:
            yield Answer(asked.name, release.key, label, tuple(_repeated(found, release.gold.get(label, ())))), None


def heard(said: Iterable[tuple[Answer, NoAnswer | None]], releases: Sequence[JudgedRelease]) -> Heard:
    """All that a judge says."""
    both = list(said)
    verdicts: list[Verdict] = []
    cases = ((release, label) for release in releases for label in release.labels)
    for (release, label), (answer, failed) in zip(cases, both, strict=True):
        outcomes = dict(answer.entries or ())
        for text in release.entities(label):
            changed = outcomes[text] is Outcome.FN if answer.entries is not None else None
            verdicts.append(Verdict(changed, failure=failed.why if failed else None))
    failures = Counter(failed.why.value for _, failed in both if failed)
    return Heard([answer for answer, _ in both], verdicts, dict(failures))


def voted(panel: Sequence[Heard], releases: Sequence[JudgedRelease]) -> Verdicts:
    """What more than half of the panel says."""
    gold = {(it.key, label): texts for it in releases for label, texts in it.gold.items()}
    return vote((answer for judge in panel for answer in judge.answers), gold, panel=len(panel))


def known(releases: Iterable[JudgedRelease]) -> Verdicts:
    """What spans say of the same, or where none are known the texts."""
    labels: dict[Label, Counts] = {}
    for it in releases:
        for label in it.labels:
            texts = it.entities(label)
            left = sum((label, text) in it.left for text in texts)
            wrong = len(set(it.wrong.get(label, ())) - set(texts))
            labels[label] = labels.get(label, Counts()) + Counts(len(texts) - left, wrong, left)
    return Verdicts(sum(labels.values(), Counts()), labels)


def _question(release: JudgedRelease, label: Label) -> Question[tuple[tuple[str, Outcome], ...]]:
    entities = release.entities(label)
    about = {"kind": label.value, "original": release.original, "released": release.released, "entities": entities}
    return Question(about, _schema(len(entities)), lambda said: _entries(said, entities), _MAX_TOKENS)


def _schema(entities: int) -> Schema:
    numbered = {"type": "array", "items": {"enum": list(_OUTCOMES)}, "minItems": entities, "maxItems": entities}
    return Schema.of_json(
        {
            "type": "object",
            "properties": {
                "entities": numbered,
                "wrongly_hidden": {"type": "array", "items": {"type": "string"}, "maxItems": _WRONG},
            },
            "required": ["entities", "wrongly_hidden"],
            "additionalProperties": False,
        }
    )


def _entries(said: Any, entities: Sequence[str]) -> tuple[tuple[str, Outcome], ...] | None:
    if not isinstance(said, dict) or set(said) != {"entities", "wrongly_hidden"}:
        return None
    words, wrong = said["entities"], said["wrongly_hidden"]
    if not isinstance(words, list) or len(words) != len(entities) or not isinstance(wrong, list):
        return None
    if not all(isinstance(it, str) and it in _OUTCOMES for it in words) or not all(isinstance(it, str) for it in wrong):
        return None
    texts = {" ".join(text.split()): None for text in wrong[:_WRONG] if text.strip()}
    return (
        *((text, _OUTCOMES[word]) for text, word in zip(entities, words, strict=True)),
        *((text, Outcome.FP) for text in texts if text not in entities),
    )


def _repeated(entries: Iterable[tuple[str, Outcome]], gold: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
    """As many entries as gold has entities: one that it has several times was asked for once."""
    times = Counter(gold)
    for text, outcome in entries:
        yield from [(text, outcome)] * max(1, times[text])


def _labels(spans: Iterable[Span]) -> list[Label]:
    return list(dict.fromkeys(span.label for span in spans))
