"""Where a note leaks, as far as trying tells, and whether a mend hides these places whole.

Belongs here: the least stretches of a text that leak, and comparing them with what people hide. Does not belong here:
what a leak is (`leakcheck/`), or how far words reach (`whole_words.py`).

The leak check looks for the whole of what it knows, such as a street with its number. Whoever hides one word of that
ends the leak, and the others are shown beside the tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.redaction.policy import Action, Policy
from deid_platform.refresh.redact.whole_words import whole_places

Place = tuple[int, int]


def leak_places(
    text: str, hidden: Iterable[Span], policy: Policy, reason_of: Callable[[Sequence[Span]], str | None]
) -> Iterator[Place]:
    """The stretches of a text that leak where all around them is hidden too, and no part of which does.

    They come from the last to the first and may overlap. Hiding more makes no such stretch, so that their ends are
    found by halving.

    Args:
        text: The note's.
        hidden: What is hidden of it.
        policy: By which it is.
        reason_of: Why the note would be withheld if these spans, in order, were hidden as well.
    """
    words = in_sight(whole_places(text), hidden)
    if not words:
        return
    label = _tagged(policy)
    anyway = reason_of([Span(0, len(text), label)])

    def leaks(first: int, last: int) -> bool:
        around = [Span(0, words[first - 1][1], label)] if first else []
        around += [Span(words[last][0], len(text), label)] if last < len(words) else []
        reason = reason_of(around)
        return reason is not None and reason.startswith("leak-") and reason != anyway

    def gone(last: int, first: int) -> bool:
        return not leaks(first, last)

    last = len(words)
    while (first := _reached(last, leaks)) is not None:
        start = _least(first + 1, last, partial(gone, last)) - 1
        end = _least(start + 1, last, partial(leaks, start))
        yield words[start][0], words[end - 1][1]
        last = end - 1


def hidden_in_part(places: Iterable[Place], added: Sequence[Span], words: Sequence[Place]) -> bool:
    """Whether something that people added lies in a place of which they left words in sight.

    Args:
        places: Where the note leaks without what they added.
        added: What they did.
        words: What is left in sight.
    """
    return any(
        any(span.start < end and start < span.end for span in added)
        and any(word[0] < end and start < word[1] for word in words)
        for start, end in places
    )


def in_sight(words: Iterable[Place], hidden: Iterable[Span]) -> list[Place]:
    """Words that spans do not hide whole."""
    spans = list(hidden)
    return [
        (start, end)
        for start, end in words
        if end - start > sum(max(0, min(end, s.end) - max(start, s.start)) for s in spans)
    ]


def _tagged(policy: Policy) -> Label:
    """A label in whose place nothing stands that could leak; beside a patient's name, ordinary words count as names."""
    others = [label for label in Label if label is not Label.PATIENT]
    return max(others, key=lambda label: (policy.labels[label] is Action.TAG, policy.hidden(label)))


def _reached(last: int, leaks: Callable[[int, int], bool]) -> int | None:
    """A word from which on it leaks until `last`, found by ever longer steps: a short stretch is read at once."""
    step = 1
    while step < 2 * last:
        if leaks(max(0, last - step), last):
            return max(0, last - step)
        step *= 2
    return None


def _least(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least number from `low` to `high` for which it holds, where it holds for all above."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
