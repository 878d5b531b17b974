"""Anchors: rare words or digits that every match of a pattern contains, and the windows around their occurrences.

Belongs here: finding the anchors of all recognizers in one pass over a text, and merging their neighbourhoods into
windows. Does not belong here: what a recognizer looks for in a window (`recognizer.py`).

One automaton finds every literal anchor of every table; one scan finds the chains of digit groups. Chains are indexed
by their shape, the chain with each digit written as 0: clinical text has few shapes, and no recognizer needs most of
them ("00", "000/00"). Recognizers with the same anchors and reach share their windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.api import Document
from deid_platform.text.fold import fold_term

DEFAULT_REACH = (40, 80)
# Windows this close are read as one: a call of the pattern costs as much as so many code points.
_NEAR = 40
_SHAPES = str.maketrans("123456789", "000000000")
_LETTERS = {point: " " if not chr(point).isalpha() else chr(point) for point in range(128)}
_NO_LETTER = regex.compile(r"\P{L}")
_LONGEST_SHAPE = 24  # code points; a longer chain is classified each time it comes
_MAX_SHAPES = 10_000
_CAPITALS = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ \t]+\p{Lu}[\p{L}\p{M}'’.\-]*)*")


@dataclass(frozen=True, slots=True)
class Anchors:
    """What to look for and how far from it a match may reach.

    Attributes:
        words: Folded literals; `*` at an end lets that end lie inside a word.
        digits: Whether every chain of digit groups is an anchor.
        shape: A pattern that the shape of a chain must hold to be an anchor.
        beside: A pattern that its shape with the characters beside it must hold, letters written as A.
        capitals: Whether every run of capitalised words is an anchor.
        reach: Code points before and after the anchor that a match may touch.
    """

    words: frozenset[str] = frozenset()
    digits: bool = False
    shape: str | None = None
    beside: str | None = None
    capitals: bool = False
    reach: tuple[int, int] = DEFAULT_REACH


Window = tuple[int, int, int]
"""A stretch to search: the number of the place that it lies in, and offsets within that place."""
_Hit = tuple[int, int, tuple[int, ...]]
_Found = dict[int, list[list[int]]]  # the windows of each group so far
_Inside = Callable[[str], bool] | None


class AnchorIndex:
    """Finds the windows of many recognizers at once.

    Args:
        wanted: The anchors of each recognizer.
    """

    def __init__(self, wanted: Sequence[Anchors]) -> None:
        members: dict[Anchors, list[int]] = {}
        for i, anchors in enumerate(wanted):
            members.setdefault(anchors, []).append(i)
        groups = list(members)
        self._members = list(members.values())
        self._reach = [anchors.reach for anchors in groups]
        self._shapes = [
            (i, regex.compile(a.shape or ""), regex.compile(a.beside or "")) for i, a in enumerate(groups) if a.digits
        ]
        self._capitals = tuple(i for i, a in enumerate(groups) if a.capitals)
        self._by_shape: dict[str, tuple[int, ...]] = {}
        self._terms = _Terms((word, i) for i, a in enumerate(groups) for word in a.words)

    def windows(self, document: Document, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[Window]]]:
        """The windows of the recognizers that have any, in some places of a text.

        Args:
            reading: The text.
            places: Stretches (start, end), ascending and disjoint. No window reaches out of its own.

        Yields:
            The number of a recognizer, in their order, and its windows, ascending and disjoint.
        """
        if not places:
            return
        found: _Found = {}
        for hits in (
            self._terms.words_in(document),
            self._terms.others_in(document),
            self._chains_in(document),
            self._capitals_in(document, places),
        ):
            self._place(hits, places, found)
        by_recognizer: dict[int, list[Window]] = {}
        for group, windows in found.items():
            joined = _joined(document.text, windows, places)
            for recognizer in self._members[group]:
                by_recognizer[recognizer] = joined
        yield from sorted(by_recognizer.items())

    def _place(self, hits: Iterable[_Hit], places: Sequence[tuple[int, int]], found: _Found) -> None:
        """Adds the surroundings of ascending hits to the windows of their groups."""
        reach = self._reach
        current, (left, right) = 0, places[0]
        for start, end, groups in hits:
            while end > right and current + 1 < len(places):
                current += 1
                left, right = places[current]
            if start < left or end > right:
                continue  # in a place that is not asked for, or across two
            for group in groups:
                before, after = reach[group]
                first = start - before if start - before > left else left
                last = end + after if end + after < right else right
                windows = found.get(group)
                if windows is None:
                    found[group] = [[current, first, last]]
                    continue
                known = windows[-1]
                if known[0] == current and first <= known[2] + _NEAR:
                    if first < known[1]:
                        known[1] = first
                    if last > known[2]:
                        known[2] = last
                else:
                    windows.append([current, first, last])

    def _chains_in(self, document: Document) -> Iterator[_Hit]:
        if not self._shapes:
            return
        text = document.text
        for start, end in document.chains:
            before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
            shape = text[start:end].translate(_SHAPES)
            framed = f"{'A' if before.isalpha() else before}{shape}{'A' if after.isalpha() else after}"
            groups = self._by_shape.get(framed)
            if groups is None:
                groups = tuple(i for i, chain, beside in self._shapes if chain.search(shape) and beside.search(framed))
                if len(framed) <= _LONGEST_SHAPE and len(self._by_shape) < _MAX_SHAPES:
                    self._by_shape[framed] = groups
            if groups:
                yield start, end, groups

    def _capitals_in(self, document: Document, places: Sequence[tuple[int, int]]) -> Iterator[_Hit]:
        if self._capitals:
            for first, last in places:
                for run in _CAPITALS.finditer(document.text, first, last):
                    yield run.start(), run.end(), self._capitals


class _Terms:
    """The literal anchors of all groups.

    Terms of letters alone are looked up with a space at each closed end, in a line in which all but letters
    is a space: hits inside words, of which there are many, do not arise. The others are checked hit by hit.

    Args:
        wanted: Each term with the group that it is an anchor of.
    """

    def __init__(self, wanted: Iterable[tuple[str, int]]) -> None:
        groups: dict[tuple[str, bool, bool], list[int]] = {}
        for word, group in wanted:
            # Stars alone are what a masked number shows.
            term = fold_term(word.strip("*")) or word
            groups.setdefault((term, not word.startswith("*"), not word.endswith("*")), []).append(group)
        ordered = sorted(groups.items())
        words = [item for item in ordered if _is_words(item[0][0])]
        others = [item for item in ordered if not _is_words(item[0][0])]
        self._word_groups = [(before, after, tuple(of)) for (_, before, after), of in words]
        self._words = _automaton(f"{' ' * before}{term}{' ' * after}" for (term, before, after), _ in words)
        self._other_groups = [
            (_inside(term[0]) if before else None, _inside(term[-1]) if after else None, tuple(of))
            for (term, before, after), of in others
        ]
        self._others = _automaton(term for (term, _, _), _ in others)

    def words_in(self, document: Document) -> Iterator[_Hit]:
        """Terms of letters alone."""
        text, origin = document.folded.text, document.folded.origin
        line = f" {text.translate(_LETTERS) if text.isascii() else _NO_LETTER.sub(' ', text)} "
        for index, start, end in self._words.find_matches_as_indexes(line, overlapping=True):
            before, after, groups = self._word_groups[index]
            # The line is one ahead of the text.
            yield origin(start - 1 + before), origin(end - 2 - after) + 1, groups

    def others_in(self, document: Document) -> Iterator[_Hit]:
        """Terms with a digit or a sign in them."""
        text, origin = document.folded.text, document.folded.origin
        for index, start, end in self._others.find_matches_as_indexes(text, overlapping=True):
            inside_before, inside_after, groups = self._other_groups[index]
            if inside_before is not None and start and inside_before(text[start - 1]):
                continue
            if inside_after is not None and end < len(text) and inside_after(text[end]):
                continue
            yield origin(start), origin(end - 1) + 1, groups


def _automaton(terms: Iterable[str]) -> AhoCorasick:
    return AhoCorasick(
        list(terms), matchkind=MatchKind.Standard, implementation=Implementation.DFA, store_patterns=False
    )


def _is_words(term: str) -> bool:
    return term.replace(" ", "").isalpha()


def _inside(edge: str) -> _Inside:
    """What a neighbour of a term's edge must not be: a letter of a letter, a digit of a digit."""
    return str.isalpha if edge.isalpha() else str.isdigit if edge.isdigit() else None


def _joined(text: str, found: list[list[int]], places: Sequence[tuple[int, int]]) -> list[Window]:
    """Windows in order, joined where they nearly touch, none of which ends inside a word; offsets within places."""
    if len(found) > 1:
        found.sort()
    windows: list[Window] = []
    current, opened, closed = -1, 0, 0  # the window that may still grow
    for place, start, end in found:
        left, right = places[place]
        if end < right:
            most = end + _NEAR if end + _NEAR < right else right
            space = text.find(" ", end, most)
            end = space if space >= 0 else most
        if place == current and start <= closed + _NEAR:
            if end > closed:
                closed = end
            windows[-1] = (place, opened - left, closed - left)
        else:
            current, opened, closed = place, start, end
            windows.append((place, start - left, end - left))
    return windows
