"""What an attacker is asked about a note, always with numbered choices.

Belongs here: the questions, their choices, and reading an answer. Does not belong here: asking, or counting
(`attack.py`).

The wrong choices are drawn from the same notes and topics: other patients, other identifiers of the same label that
stood in a masked place, other towns, other occupations. What is drawn depends on the note's id and the seed alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from random import Random

from deid_platform.evaluation.disclosure.attacker.profiles import BANDS, band, profile
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.llm.answer_documents import document
from deid_platform.llm.api import ChatRequest, Schema
from deid_platform.llm.prompts import Prompt, read_prompt
from deid_platform.notes import Note, Span, Topics
from deid_platform.text.fold import fold_term

_OPENS, _CLOSES = "⟦", "⟧"
"""Around the masked place that is asked about."""
_ANSWER_TOKENS = 64
_KEY = "choice"


class Aim(StrEnum):
    """What the attacker wants to know."""

    WHOSE = "whose note"
    """Which of some people the note is about."""
    MASKED = "masked place"
    """Which of some identifiers stood where one was replaced."""
    SEX = "sex"
    AGE = "age band"
    PLACE = "place"
    OCCUPATION = "occupation"


@dataclass(frozen=True, slots=True, repr=False)
class Target:
    """A note under attack.

    Attributes:
        note: The original, of which the attacker knows nothing but the language and whether it has a date.
        text: What is released of it, or the original to compare with.
        replaced: Where something was replaced, in the original, in order.
        replacements: What stands there in the release.
        gold: The note's identifiers.
    """

    note: Note
    text: str
    replaced: tuple[Span, ...] = ()
    replacements: tuple[str, ...] = ()
    gold: tuple[Span, ...] = ()

    def __repr__(self) -> str:
        return "<Target>"


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """One question and its true answer.

    Attributes:
        aim: What is asked.
        request: As a model is asked.
        choices: How many there are.
        true: The number of the true one, from 1.
        of: Whose the note is.
        same: Whether the choices are the same for every note, so that one of them may be the commonest.
    """

    aim: Aim
    request: ChatRequest
    choices: int
    true: int
    of: str | None
    same: bool = False

    def __repr__(self) -> str:
        return f"<Question: {self.aim}>"


@cache
def prompt_of(aim: Aim, language: str) -> Prompt:
    """The prompt of an aim, in Italian for Italian notes and in English for all others."""
    name = aim.value.replace(" ", "-") + ("-it" if language == "it" else "")
    return read_prompt((files(__package__) / "prompts" / f"{name}.yaml").read_bytes(), name)


class Questioner:
    """Makes the questions about some notes.

    Args:
        targets: All notes that are attacked, from which wrong choices are drawn.
        topics: What the attacker knows of everybody.
        choices: How many choices a question has at most, the true one among them.
        seed: Of what is drawn.
    """

    def __init__(self, targets: Sequence[Target], topics: Topics, *, choices: int = 10, seed: int = 0) -> None:
        self._topics = topics
        self._choices = choices
        self._seed = seed
        self._people = sorted(topics.patients)
        self._towns = _distinct(row.city for row in topics.patients.values() if row.city)
        self._jobs = _distinct(it for target in targets for it in _said(target.note, target.gold, Label.PROFESSION))
        masked = defaultdict(list)
        for target in targets:
            for span in target.replaced:
                masked[span.label].append(target.note.text[span.start : span.end])
        self._masked: Mapping[Label, Sequence[str]] = {label: _distinct(some) for label, some in masked.items()}

    def people(self, target: Target) -> list[str]:
        """Ids of the patients among whom the note's own is to be found, in the order of the choices."""
        dice = self._dice(Aim.WHOSE, target)
        true = str(target.note.patient_id)
        others = [it for it in self._people if it != true]
        chosen = [true, *dice.sample(others, min(self._choices - 1, len(others)))]
        dice.shuffle(chosen)
        return chosen

    def about(self, target: Target, aims: Iterable[Aim] = Aim) -> Iterator[Question]:
        """The questions about a note; none of an aim where nothing is known to be true, or there is no wrong choice."""
        for aim in aims:
            if (found := self._asked(aim, target)) is not None:
                yield found

    def _asked(self, aim: Aim, target: Target) -> Question | None:
        note, text = target.note, target.text
        who = self._topics.patients.get(note.patient_id or "")
        match aim:
            case Aim.WHOSE if who is not None:
                people = self.people(target)
                lines = [profile(self._topics.patients[it]) for it in people]
                return _question(aim, target, text, lines, people.index(who.patient_id))
            case Aim.MASKED:
                return self._masked_place(target)
            case Aim.SEX if who is not None and who.sex in ("F", "M"):
                return _question(aim, target, text, ["F", "M"], "FM".index(who.sex), same=True)
            case Aim.AGE if who is not None and who.birth_date is not None and note.note_date is not None:
                true = band(who.birth_date, note.note_date)
                shown = [f"{low}-{high}" for low, high in BANDS]
                return None if true is None else _question(aim, target, text, shown, true, same=True)
            case Aim.PLACE if who is not None and who.city:
                return self._drawn(aim, target, text, who.city, self._towns)
            case Aim.OCCUPATION:
                jobs = _said(note, target.gold, Label.PROFESSION)
                return self._drawn(aim, target, text, jobs[0], self._jobs, jobs[1:]) if jobs else None
        return None

    def _masked_place(self, target: Target) -> Question | None:
        dice = self._dice(Aim.MASKED, target)
        places = [at for at, span in enumerate(target.replaced) if len(self._masked[span.label]) > 1]
        if not places:
            return None
        at = dice.choice(places)
        span, moved = target.replaced[at], 0
        for before, replacement in zip(target.replaced[:at], target.replacements[:at], strict=True):
            moved += len(replacement) - (before.end - before.start)
        start, text = span.start + moved, target.text
        end = start + len(target.replacements[at])
        marked = f"{text[:start]}{_OPENS}{text[start:end]}{_CLOSES}{text[end:]}"
        return self._drawn(
            Aim.MASKED, target, marked, target.note.text[span.start : span.end], self._masked[span.label]
        )

    def _drawn(
        self, aim: Aim, target: Target, text: str, true: str, all_: Sequence[str], also_true: Sequence[str] = ()
    ) -> Question | None:
        dice = self._dice(aim, target)
        right = {fold_term(it) for it in (true, *also_true)}
        others = [it for it in all_ if fold_term(it) not in right]
        if not others:
            return None
        chosen = [true, *dice.sample(others, min(self._choices - 1, len(others)))]
        dice.shuffle(chosen)
        return _question(aim, target, text, chosen, chosen.index(true))

    def _dice(self, aim: Aim, target: Target) -> Random:
        return Random(plain_digest(str(self._seed), aim, target.note.note_id))  # noqa: S311 - no secret of anybody's


def chosen(answer: str, choices: int) -> int | None:
    """The number of the choice that an answer names; None where it names none that there is."""
    said = document(answer)
    number = said.get(_KEY) if isinstance(said, dict) else said
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if 1 <= number <= choices else None


def _question(aim: Aim, target: Target, text: str, shown: Sequence[str], true: int, *, same: bool = False) -> Question:
    numbered = "\n".join(f"{number}. {' '.join(each.split())}" for number, each in enumerate(shown, start=1))
    messages = prompt_of(aim, target.note.language).about(f"{numbered}\n\n{text}")
    form = Schema.of_json(
        {
            "type": "object",
            "properties": {_KEY: {"enum": list(range(1, len(shown) + 1))}},
            "required": [_KEY],
            "additionalProperties": False,
        }
    )
    request = ChatRequest(messages, max_tokens=_ANSWER_TOKENS, schema=form)
    return Question(aim, request, len(shown), true + 1, target.note.patient_id, same)


def _said(note: Note, spans: Iterable[Span], label: Label) -> list[str]:
    return [note.text[span.start : span.end] for span in spans if span.label is label]


def _distinct(values: Iterable[str]) -> list[str]:
    """Each once, however it is written, in an order that hangs on nothing but the values."""
    found: dict[str, str] = {}
    for value in sorted(values):
        found.setdefault(fold_term(value), value)
    return list(found.values())
