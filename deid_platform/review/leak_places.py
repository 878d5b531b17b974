"""Where a note leaks, as far as trying tells.

Belongs here: looking for the words without which there is another leak or none. Does not belong here: what a leak is
(`leakcheck/`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from deid_platform.evaluation.tokens import word_offsets
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.redaction.policy import Policy
from deid_platform.refresh.ruling import Action, Ruling
from deid_platform.review.held import Held

_MOST = 3
"""At most so many places of a leak are shown at once."""


def leak_places(
    held: Held, ruling: Ruling, policy: Policy, reason_under: Callable[[Ruling], str | None]
) -> tuple[tuple[int, int], ...]:
    """Where a note leaks under a decision, from the last place to the first; empty if it does not.

    Hiding more never makes a leak, so the ends of a place are found by halving.
    """
    reason = reason_under(ruling)
    if reason is None or not reason.startswith("leak-"):
        return ()
    hidden = [s for s in ruling.mended(held.spans, held.note.text, policy) if policy.hidden(s.label)]
    words = [
        (start, end)
        for start, end in word_offsets(held.note.text).tolist()
        if not any(s.start < end and start < s.end for s in hidden)
    ]

    def leaks(*covered: tuple[int, int]) -> bool:
        chosen = {n for first, last in covered for n in range(first, last)}
        spans = [Span(*words[n], Label.PATIENT) for n in sorted(chosen)]
        more = held.ruling(Action.MEND, (*ruling.added, *spans), ruling.removed)
        return reason_under(more) == reason

    def gone_before(also: list[tuple[int, int]], first: int) -> bool:
        return not leaks((0, first), *also)

    def left_until(also: list[tuple[int, int]], last: int) -> bool:
        return leaks((last, len(words)), *also)

    places: list[tuple[int, int]] = []
    known: list[tuple[int, int]] = []
    while len(places) < _MOST and leaks(*known) and not leaks((0, len(words))):
        # The first word of the last place is the last to be hidden from the front, and the other way round.
        start = _least(len(words), partial(gone_before, known)) - 1
        end = _least(len(words), partial(left_until, [(0, max(start, 0)), *known]))
        if not 0 <= start < end:
            break
        known.append((start, end))
        places.append((words[start][0], words[end - 1][1]))
    return tuple(places)


def _least(most: int, holds: Callable[[int], bool]) -> int:
    """The least number up to `most` for which it holds, where it holds for all above."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
