"""Which parts of a name stand in a note, and which of them make one mention of the patient.

Belongs here: the decision by case, context and neighbours, and the joining of parts with the initials between
and beside them. Does not belong here: which words are parts (`variants.py`, `misspelling.py`).

All positions are those of the line of words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import regex

from deid_platform.detection.context.names import (
    acts_as_person,
    after_doctor_title,
    after_label,
    after_title,
    is_abbreviation,
    reads_as_name,
    speaks,
)
from deid_platform.detection.topics.roster.initials import stand_as_initials
from deid_platform.detection.topics.roster.misspelling import Hit
from deid_platform.detection.topics.roster.variants import How
from deid_platform.lexicon.classes import is_common, ordinary_words
from deid_platform.lexicon.lists import word_list
from deid_platform.text.names import capitalised
from deid_platform.text.tokens import AFTER_INITIAL, Words

_BEFORE_INITIAL = regex.compile(r"[ \t]*,?[ \t]*")
# The dash at the end of a line within one word.
_HYPHENATED = regex.compile(r"[ \t]*[-‐\u00ad][ \t]*\r?\n[ \t]*|[-‐][ \t]+")
_LONG = 6

Interval = tuple[int, int]


class _Edges:
    """Where parts of the name begin and end, to see whether one stands beside another."""

    def __init__(self, words: Words, parts: Sequence[Hit]) -> None:
        self._words = words
        self._starts = {part.start: words.text[part.start : part.end] for part in parts}
        self._ends = {part.end: words.text[part.start : part.end] for part in parts}

    def beside(self, start: int, end: int) -> bool:
        """Whether another part ends right before a place or begins right after it, but for one initial."""
        words, line = self._words, self._words.text
        own = (None, line[start:end])  # "Max, Max" is no name
        if self._starts.get(end + 1) not in own and words.joins(end, end + 1):
            return True
        if self._starts.get(end + 3) not in own and _is_initial(line, end + 1) and words.joins(end, end + 1):
            return True
        if self._ends.get(start - 1) not in own and words.joins(start - 1, start):
            return True
        initial = start > 3 and _is_initial(line, start - 2)
        return initial and self._ends.get(start - 3) not in own and words.joins(start - 3, start - 2)


def _is_initial(line: str, start: int) -> bool:
    return line[start : start + 1].isalpha() and line[start + 1 : start + 2] == " " and line[start - 1] == " "


def standing(words: Words, candidates: Sequence[Hit], letters: Collection[str]) -> Iterator[Hit]:
    """Those candidates that stand as parts of the name."""
    parts = [c for c in candidates if c.how not in (How.BESIDE, How.SPLIT, How.INITIALS)]
    # Neighbours must agree in case: of "Zebulon Will" both may be names, of "Zebulon will" only the first.
    capital = [words.surface(c.start, c.end)[:1].isupper() for c in parts]
    edges = {
        case: _Edges(words, [c for c, upper in zip(parts, capital, strict=True) if upper is case])
        for case in (True, False)
    }
    accepted = [c for c, upper in zip(parts, capital, strict=True) if _stands(words, c, edges[upper], letters)]
    sure = _Edges(words, accepted)
    taken = set(accepted)
    for candidate in candidates:
        if candidate in taken:
            continue
        if candidate.how is How.INITIALS:
            if stand_as_initials(words, candidate.start, candidate.end):
                accepted.append(candidate)
        elif _stands_beside(words, candidate, sure):
            accepted.append(candidate)
    yield from accepted


def mentions(words: Words, parts: Sequence[Hit], letters: Collection[str]) -> Iterator[Interval]:
    """Parts as mentions: neighbours joined, with the patient's initials between and beside them."""
    current: Interval | None = None
    single = True  # as long as it is one part, a comma may turn its order: "Lopez, Ann"
    for part in sorted(parts, key=lambda p: (p.start, -p.end)):
        start, end = part.start, part.end
        if current is not None and start <= current[1]:
            current = (current[0], max(current[1], end))
        elif current is not None and _continues(words, current, start, end, single=single):
            current, single = (current[0], end), False
        else:
            if current is not None:
                yield _whole(words, current, letters, single=single)
            current, single = (start, end), True
    if current is not None:
        yield _whole(words, current, letters, single=single)


def _stands(words: Words, candidate: Hit, edges: _Edges, letters: Collection[str]) -> bool:
    start, end, how = candidate.start, candidate.end, candidate.how
    first, last = words.place(start, end)
    surface = words.note[first:last]
    if how in (How.SURE, How.CAPITAL) and is_abbreviation(words.note, first, last):
        how = How.CONTEXT
    if how is How.SURE:
        return True
    capital = surface[0].isupper()
    typed = words.note[last : last + 1] == "," and words.note[last + 1 : last + 2].isalpha()  # "green,w"
    if typed and _with_initials(words, (start, end), letters)[1] > end:
        return True
    if how is How.CAPITAL:
        return capital or after_title(words.note, first) or speaks(words.note, last)
    if how is How.SPELT:
        if after_doctor_title(words.note, first) and words.text[start:end] in word_list("surnames"):
            return False
        initial = surface.split()[-1][0]
        return initial.isupper() or initial.isdigit() or end - start >= _LONG or after_title(words.note, first)
    if edges.beside(start, end) or (capital and _with_initials(words, (start, end), letters) != (start, end)):
        return True
    return (" " in words.text[start:end] and capitalised(surface)) or reads_as_name(words.note, first, last)


def _stands_beside(words: Words, candidate: Hit, sure: _Edges) -> bool:
    start, end = candidate.start, candidate.end
    word = words.text[start:end]
    if candidate.how is How.SPLIT:
        cut = start + word.index(" ")
        gap = words.gap(cut, cut + 1)
        if _HYPHENATED.fullmatch(gap):
            return words.note[words.place(start, cut)[0]].isupper() or sure.beside(start, end)
        if gap.strip(" \t\r\n") or not (sure.beside(start, end) or after_title(words.note, words.place(start, end)[0])):
            return False
        return not all(half in ordinary_words() for half in word.split())
    if word in word_list("title_stopwords"):
        return False
    return sure.beside(start, end) or (candidate.how is How.BESIDE and _introduced(words, start, end))


def _introduced(words: Words, start: int, end: int) -> bool:
    """Whether a capitalised word stands after a title, or after a label and before what a person does."""
    first, last = words.place(start, end)
    capital = words.note[first].isupper()
    return after_title(words.note, first) or (
        capital and (after_label(words.note, first) or acts_as_person(words.note, last))
    )


def _continues(words: Words, current: Interval, start: int, end: int, *, single: bool) -> bool:
    """Whether a part goes on with a mention: right after it, or after one initial."""
    line = words.text
    last = current[1]
    if f" {line[start:end]} " in line[current[0] - 1 : last + 1]:
        return False
    if start == last + 1:
        return words.joins(last, start) and (single or "," not in words.gap(last, start))
    if start != last + 3 or not _is_initial(line, last + 1):
        return False
    return words.joins(last, last + 1) and words.joins(start - 1, start) and "," not in words.gap(last, start)


def _whole(words: Words, place: Interval, letters: Collection[str], *, single: bool) -> Interval:
    """A mention with the initials around it, or with the given name of a relative before a surname alone."""
    start, end = _with_initials(words, place, letters)
    before = words.before(start)
    word = words.text[before : start - 1]
    if (
        single
        and start == place[0]
        and word in word_list("given_names")
        and not words.gap(start - 1, start).strip(" \t")
    ):
        first, last = words.place(before, start - 1)
        if words.note[first].isupper() and (not is_common(word) or reads_as_name(words.note, first, last)):
            return before, end
    return start, end


def _with_initials(words: Words, place: Interval, letters: Collection[str]) -> Interval:
    """A mention with the patient's initials before and after it: "J. Smith", "Smith, JM"."""
    start, end = place
    line = words.text
    for _ in range(2):
        before = words.before(start)
        if not (line[before : start - 1] in letters and words.surface(before, start - 1).isupper()):
            break
        if not AFTER_INITIAL.fullmatch(words.gap(start - 1, start)):
            break
        start = before
    for count in range(2):
        after = words.after(end)
        # In small letters after a comma, as one types what is searched for: "smith,j".
        small = after == end + 2 and "," in words.gap(end, end + 1) and words.surface(start, end).islower()
        if not (line[end + 1 : after] in letters and (small or words.surface(end + 1, after).isupper())):
            break
        if not (AFTER_INITIAL if count else _BEFORE_INITIAL).fullmatch(words.gap(end, end + 1)):
            break
        end = after
    return start, end
