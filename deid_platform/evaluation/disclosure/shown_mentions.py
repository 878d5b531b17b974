"""What a reader of released notes sees where names stood: the mentions that `plain_sight.py` judges.

Belongs here: bringing gold and replacements together, word by word. Does not belong here: a reader's rules
(`plain_sight.py`).

A reader knows by context which part of whose name a word stands for. Here two words are one entity if the original
words are the same, whatever their case, under the same label, in all notes of the patient. What was replaced by as many
words gives a mention a word, by more or fewer one mention of the whole. A word that no replaced span touches gives a
residual mention.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from deid_platform.evaluation.disclosure.plain_sight import ShownMention
from deid_platform.evaluation.scores.tokens import Offsets, word_offsets, words_between
from deid_platform.labels import PERSONS, Label
from deid_platform.notes import Span
from deid_platform.text.fold import fold_term


@dataclass(frozen=True, slots=True, repr=False)
class ReleasedNote:
    """One note of a patient, before and after.

    Attributes:
        text: The original.
        gold: What is an identifier in it.
        applied: The spans that were replaced, as `Redaction.applied`.
        replacements: What stands in place of each.
    """

    text: str
    gold: Sequence[Span]
    applied: Sequence[Span]
    replacements: Sequence[str]

    def __repr__(self) -> str:
        return "<ReleasedNote>"


def shown_mentions(notes: Sequence[ReleasedNote], labels: Collection[Label] = PERSONS) -> list[ShownMention]:
    """All mentions in the released notes of one patient.

    Args:
        notes: Of the patient.
        labels: Whose mentions.
    """
    return [mention for number, note in enumerate(notes) for mention in _of_note(number, note, labels)]


def _of_note(number: int, note: ReleasedNote, labels: Collection[Label]) -> Iterator[ShownMention]:
    words = word_offsets(note.text)
    stands = _in_place(note, words)
    for span in sorted(note.gold):
        if span.label in labels:
            yield from _of_span(number, note, span, words, stands)


def _of_span(
    number: int, note: ReleasedNote, span: Span, words: Offsets, stands: dict[int, str | None]
) -> Iterator[ShownMention]:
    places = range(*words_between(words, span.start, span.end))
    originals = [fold_term(note.text[start:end]) for start, end in words[places.start : places.stop]]
    uneven = False
    for place, original in zip(places, originals, strict=True):
        shown = stands.get(place, note.text[words[place, 0] : words[place, 1]])
        if shown is None:
            uneven = True
        else:
            yield ShownMention(number, (span.label, original), shown, residual=place not in stands)
    if uneven:
        new = next(n for s, n in zip(note.applied, note.replacements, strict=True) if s.overlaps(span))
        yield ShownMention(number, (span.label, " ".join(originals)), new, residual=False)


def _in_place(note: ReleasedNote, words: Offsets) -> dict[int, str | None]:
    """What stands in place of each word that was replaced; None where as many words did not replace as many."""
    found: dict[int, str | None] = {}
    for span, new in zip(note.applied, note.replacements, strict=True):
        places = range(*words_between(words, span.start, span.end))
        shown = [new[start:end] for start, end in word_offsets(new)]
        found |= zip(places, shown, strict=True) if len(shown) == len(places) else dict.fromkeys(places)
    return found
