"""Anchors: rare words or digits that every match of a pattern contains, and the windows around their occurrences.

Belongs here: finding the anchors of all recognizers in one pass over a text, and merging their neighbourhoods into
windows. Does not belong here: what a recognizer looks for in a window (`recognizer.py`).

One automaton finds every literal anchor of every table; one scan finds the chains of digit groups. Chains are indexed
by their shape, the chain with each digit written as 0: clinical text has few shapes, and no recognizer needs most of
them ("00", "000/00"). Recognizers with the same anchors and reach share their windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.api import Document
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold_term

DEFAULT_REACH = (40, 80)
# Windows this close are read as one: a call of the pattern costs as much as so many code points.
_NEAR = 40
_SHAPES = str.maketrans("123456789", "000000000")
_LETTERS = {point: " " if not chr(point).isalpha() else chr(point) for point in range(128)}
_NO_LETTER = compiled(r"\P{L}")
_LONGEST_SHAPE = 24  # code points; a longer chain is classified each time it comes
_MAX_SHAPES = 10_000
_CAPITALS = compiled(r"(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ \t]+\p{Lu}[\p{L}\p{M}'’.\-]*)*")


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


Place = tuple[int, int, int]
"""A stretch to look at: the number of the document that it lies in, and offsets within it."""
Window = tuple[int, int, int]
"""A stretch to search: the number of the place that it lies in, and offsets within that place."""
_Hit = tuple[int, int, tuple[int, ...]]
_Inside = Callable[[str], bool] | None


class AnchorIndex:
    """Finds the windows of many recognizers at once.

    Args:
        wanted: The anchors of each recognizer.
    """

    def __init__(self, wanted: Sequence[Anchors]) -> None:
        # What is looked for, whatever its reach; and of each what windows of which recognizers are around it.
        sources: dict[Anchors, int] = {}
        around: dict[tuple[int, int, int], list[int]] = {}
        for i, anchors in enumerate(wanted):
            source = sources.setdefault(replace(anchors, reach=DEFAULT_REACH), len(sources))
            around.setdefault((source, *anchors.reach), []).append(i)
        self._around = [(*key, tuple(members)) for key, members in around.items()]
        self._count = len(sources)
        self._shapes = [
            (i, compiled(a.shape or ""), compiled(a.beside) if a.beside else None)
            for a, i in sources.items()
            if a.digits
        ]
        self._by_chain: dict[str, list[tuple[int, regex.Pattern[str] | None]]] = {}
        self._capitals = tuple(i for a, i in sources.items() if a.capitals)
        self._by_shape: dict[str, tuple[int, ...]] = {}
        self._terms = _Terms((word, i) for a, i in sources.items() for word in a.words)

    def windows(self, documents: Sequence[Document], places: Sequence[Place]) -> list[tuple[int, list[Window]]]:
        """The windows of the recognizers that have any, in some places of some texts.

        Args:
            documents: The texts.
            places: Stretches of them, ascending and disjoint. No window reaches out of its own.

        Returns:
            The number of a recognizer, in their order, and its windows, ascending and disjoint.
        """
        found: list[list[Window]] = [[] for _ in range(self._count)]
        texts = [documents[number].text[start:end] for number, start, end in places]
        first = 0
        while first < len(places):
            number = places[first][0]
            last = first + 1
            while last < len(places) and places[last][0] == number:
                last += 1
            self._place(documents[number], places, first, last, found)
            first = last
        by_recognizer: dict[int, list[Window]] = {}
        for source, before, after, members in self._around:
            if found[source]:
                windows = _joined(texts, found[source], before, after)
                for recognizer in members:
                    by_recognizer[recognizer] = windows
        return sorted(by_recognizer.items())

    def _place(
        self, document: Document, places: Sequence[Place], first: int, last: int, found: list[list[Window]]
    ) -> None:
        """Adds the anchors in some places of one document to those found of each source, as offsets in their places."""
        for hits in (
            self._terms.words_in(document),
            self._terms.others_in(document),
            self._chains_in(document),
            self._capitals_in(document, places[first:last]),
        ):
            current = first
            _, left, right = places[current]
            for start, end, sources in hits:
                while end > right and current + 1 < last:
                    current += 1
                    _, left, right = places[current]
                if start < left or end > right:
                    continue  # in a place that is not asked for, or across two
                hit = (current, start - left, end - left)
                for source in sources:
                    found[source].append(hit)

    def _chains_in(self, document: Document) -> Iterator[_Hit]:
        if not self._shapes:
            return
        text, by_shape = document.text, self._by_shape
        for start, end in document.chains:
            before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
            shape = text[start:end].translate(_SHAPES)
            framed = f"{'A' if before.isalpha() else before}{shape}{'A' if after.isalpha() else after}"
            sources = by_shape.get(framed)
            if sources is None:
                sources = tuple(i for i, beside in self._of_shape(shape) if beside is None or beside.search(framed))
                if len(framed) <= _LONGEST_SHAPE and len(by_shape) < _MAX_SHAPES:
                    by_shape[framed] = sources
            if sources:
                yield start, end, sources

    def _of_shape(self, shape: str) -> list[tuple[int, regex.Pattern[str] | None]]:
        """The sources that a chain of some shape interests, and what must stand beside it."""
        sources = self._by_chain.get(shape)
        if sources is None:
            sources = [(i, beside) for i, chain, beside in self._shapes if chain.search(shape)]
            if len(shape) <= _LONGEST_SHAPE and len(self._by_chain) < _MAX_SHAPES:
                self._by_chain[shape] = sources
        return sources

    def _capitals_in(self, document: Document, places: Sequence[Place]) -> Iterator[_Hit]:
        if self._capitals:
            for _, first, last in places:
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
        text, cuts, origin = document.folded.text, document.folded.cuts, document.folded.origin
        line = f" {text.translate(_LETTERS) if text.isascii() else _NO_LETTER.sub(' ', text)} "
        groups_of = self._word_groups
        for index, start, end in self._words.find_matches_as_indexes(line, overlapping=True):
            before, after, groups = groups_of[index]
            # The line is one ahead of the text.
            if cuts:
                yield origin(start - 1 + before), origin(end - 2 - after) + 1, groups
            else:
                yield start - 1 + before, end - 1 - after, groups

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


def _joined(texts: Sequence[str], hits: list[Window], before: int, after: int) -> list[Window]:
    """The surroundings of hits, in order, joined where they nearly touch; none ends inside a word."""
    hits.sort()
    windows: list[Window] = []
    place, opened, closed, text, length = -1, 0, 0, "", 0  # the window that may still grow, and its text
    for current, start, end in hits:
        if current == place:
            if start - before <= closed + _NEAR:
                if end + after > closed:
                    closed = end + after
                continue
            # No window ends inside a word, unless it is a very long one.
            space = text.find(" ", closed, closed + _NEAR)
            closed = space if space >= 0 else min(closed + _NEAR, length)
            if start - before <= closed + _NEAR:
                if end + after > closed:
                    closed = end + after
                continue
        elif place >= 0 and closed < length:
            space = text.find(" ", closed, closed + _NEAR)
            closed = space if space >= 0 else closed + _NEAR
        if place >= 0:
            windows.append((place, opened, closed if closed < length else length))
        if current != place:
            place, text = current, texts[current]
            length = len(text)
        opened, closed = start - before if start > before else 0, end + after
    if closed < length:
        space = text.find(" ", closed, closed + _NEAR)
        closed = space if space >= 0 else closed + _NEAR
    windows.append((place, opened, closed if closed < length else length))
    return windows
