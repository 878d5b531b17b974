"""How often an attacker who reads is right, beside chance and beside the attack by counting.

Belongs here: asking the questions about some notes, and counting what came back. Does not belong here: the questions
(`questions.py`).

Success is over all questions that were asked: no answer is a wrong one, and is counted as a failure too, so that a
server that does not answer is not taken for a release that is safe. Chance is that of a guess; where the choices are
the same for all notes, that of whoever always names the commonest, if it is more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.disclosure.attacker.questions import Aim, Question, Questioner, Target, chosen
from deid_platform.evaluation.disclosure.linkage import AttackedNote, link
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Ratio, Resampling, column
from deid_platform.llm.answered import Unusable, Why, unusable
from deid_platform.llm.api import ChatAnswer, ChatModel, Failed
from deid_platform.notes import Topics


@dataclass(frozen=True, slots=True)
class Success:
    """How an attack with one aim goes.

    Attributes:
        right: Share of the questions whose answer is the true choice.
        chance: The same of one who guesses; None where nothing was asked.
        failures: Why there was no answer that could be read, and how often.
        linked: The share of the same notes that the attack by counting finds among the same people, in expectation;
            None of other aims than whose note it is.
    """

    right: Estimate
    chance: float | None
    failures: Mapping[Why, int]
    linked: Ratio | None = None

    @property
    def failed(self) -> int:
        """How many questions had no answer that could be read."""
        return sum(self.failures.values())


def attack(
    model: ChatModel,
    targets: Sequence[Target],
    topics: Topics,
    *,
    aims: Sequence[Aim] = tuple(Aim),
    choices: int = 10,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[Aim, Success]:
    """Attacks notes with every aim of which something is known to be true.

    Args:
        model: The attacker.
        targets: The notes.
        topics: What the attacker knows of everybody: current rows.
        aims: What it wants to know.
        choices: How many choices a question has at most.
        resamples: Bootstrap resamples over patients.
        seed: Of wrong choices and of the resampling.
    """
    asking = Questioner(targets, topics, choices=choices, seed=seed)
    # Aim by aim, so that what a server keeps of a prompt serves the next request.
    asked = [question for aim in aims for target in targets for question in asking.about(target, [aim])]
    found: dict[Aim, list[tuple[Question, Why | bool]]] = {aim: [] for aim in aims}
    for question, outcome in zip(asked, model.answer(question.request for question in asked), strict=True):
        found[question.aim].append((question, _verdict(question, outcome)))
    linked = _linked(asking, targets, topics, resamples, seed) if found.get(Aim.WHOSE) else None
    return {
        aim: _success(verdicts, linked if aim is Aim.WHOSE else None, resamples, seed)
        for aim, verdicts in found.items()
    }


def _verdict(question: Question, outcome: ChatAnswer | Failed) -> Why | bool:
    """Whether the answer is the true one, or why there is none."""
    if why := unusable(outcome):
        return why
    assert isinstance(outcome, ChatAnswer)  # noqa: S101 - a failure is unusable
    number = chosen(outcome.text, question.choices)
    return Unusable.FORM if number is None else number == question.true


def _success(
    verdicts: Sequence[tuple[Question, Why | bool]], linked: Ratio | None, resamples: int, seed: int
) -> Success:
    table = np.array([(verdict is True, 1) for _, verdict in verdicts], dtype=np.float64).reshape(-1, 2)
    resampled = Resampling(table, [question.of for question, _ in verdicts], resamples=resamples, seed=seed)
    failures = Counter(verdict for _, verdict in verdicts if not isinstance(verdict, bool))
    return Success(resampled.share(column(0), column(1)), _chance([it for it, _ in verdicts]), failures, linked)


def _chance(questions: Sequence[Question]) -> float | None:
    if not questions:
        return None
    guessed = sum(1 / question.choices for question in questions) / len(questions)
    if not all(question.same for question in questions):
        return guessed
    commonest = max(Counter(question.true for question in questions).values())
    return max(guessed, commonest / len(questions))


def _linked(asking: Questioner, targets: Iterable[Target], topics: Topics, resamples: int, seed: int) -> Ratio:
    known = [target for target in targets if target.note.patient_id in topics.patients]
    notes = [
        AttackedNote(
            target.text,
            str(target.note.patient_id),
            target.note.note_date.year if target.note.note_date else None,
            target.note.language,
        )
        for target in known
    ]
    return link(notes, topics, among=[asking.people(it) for it in known], resamples=resamples, seed=seed).first
