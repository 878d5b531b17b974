"""What a detector missed and what it hid wrongly, in context, for whoever may read notes.

Belongs here: the words behind the counts of `scores.py`. Does not belong here: the counts, or where the lines are
written.

Each word is in one line: the words that a span touches and the other side does not, in runs. Of spans that share a word
the first has it. So the words of all lines add up to what recall and precision of the whole count as missed and wrongly
hidden; a label's own count is higher where a word has two labels. A word that is half covered is found there and so in
no line here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from deid_platform.evaluation.scores.tokens import Marks, Offsets, touched, word_offsets, words_between
from deid_platform.notes import Note, Span

MISSED = "missed"
WRONGLY_HIDDEN = "wrongly hidden"
CONTEXT = 40
"""Code points before and after."""


def miss_lines(note: Note, gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[str]:
    """JSON lines, by place: note_id, kind, label, start, end, words (how many), before, text, after.

    Args:
        note: The note.
        gold: What is an identifier.
        predicted: What the detector says is one.
    """
    text, words = note.text, word_offsets(note.text)
    runs = [(MISSED, *run) for run in _runs(words, gold, predicted)]
    runs += [(WRONGLY_HIDDEN, *run) for run in _runs(words, predicted, gold)]
    for kind, label, first, last in sorted(runs, key=lambda run: run[2]):
        start, end = int(words[first, 0]), int(words[last - 1, 1])
        line = {
            "note_id": note.note_id,
            "kind": kind,
            "label": label,
            "start": start,
            "end": end,
            "words": last - first,
            "before": text[max(0, start - CONTEXT) : start],
            "text": text[start:end],
            "after": text[end : end + CONTEXT],
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _runs(words: Offsets, spans: Sequence[Span], others: Sequence[Span]) -> Iterator[tuple[str, int, int]]:
    """Label, first word and one past the last, of each run of words that a span touches and none of the others does."""
    alone: Marks = ~touched(words, ((span.start, span.end) for span in others))
    done = 0
    for span in sorted(spans):
        first, last = words_between(words, span.start, span.end)
        begin = first = max(first, done)
        for place in range(first, last):
            if not alone[place]:
                if begin < place:
                    yield span.label.value, begin, place
                begin = place + 1
        if begin < last:
            yield span.label.value, begin, last
        done = max(done, last)
