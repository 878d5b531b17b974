"""What a reader of released notes sees where names stood: the mentions that `plain_sight.py` judges.

Belongs here: bringing gold and replacements together, word by word. Does not belong here: a reader's rules
(`plain_sight.py`).

A reader knows by context which part of whose name a word stands for. Here two words are one entity if the original
words are the same, whatever their case, in all notes of the patient. A name that was replaced whole by as many words
gives a mention a word; one replaced by more or fewer gives one mention of the whole. A word that was left gives
a residual mention, in a name that was missed or covered in part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from deid_platform.evaluation.plain_sight import ShownMention
from deid_platform.evaluation.tokens import touched, word_offsets, words_between
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
    return [
        mention
        for number, note in enumerate(notes)
        for span in sorted(note.gold)
        if span.label in labels
        for mention in _of_span(number, note, span)
    ]


def _of_span(number: int, note: ReleasedNote, span: Span) -> Iterator[ShownMention]:
    words = word_offsets(note.text)
    first, last = words_between(words, span.start, span.end)
    hidden = touched(words, ((other.start, other.end) for other in note.applied))[first:last]
    originals = [note.text[start:end] for start, end in words[first:last]]
    if hidden.any():
        over = [new for other, new in zip(note.applied, note.replacements, strict=True) if other.overlaps(span)]
        if len(over) == 1 and hidden.all():
            shown = [over[0][start:end] for start, end in word_offsets(over[0])]
            if len(shown) != len(originals):
                yield ShownMention(number, fold_term(" ".join(originals)), over[0], residual=False)
                return
            for original, new in zip(originals, shown, strict=True):
                yield ShownMention(number, fold_term(original), new, residual=False)
            return
    for original, is_hidden in zip(originals, hidden, strict=True):
        if not is_hidden:
            yield ShownMention(number, fold_term(original), original, residual=True)
