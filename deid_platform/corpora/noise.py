"""Noise on notes whose gold is known, so that the gold stays exact: what a scanner, a reader of scans or a hurried hand
does to letters.

Belongs here: which edits there are, and moving spans with them. Does not belong here: images (`scans/`), or what a
detector makes of it.

Aghakasiri 2025 (4.2) put swapped characters and digits into some of the surrogates of scanned letters, so that these
looked like the rest of what character recognition had read; into how many is not said. Here the share of identifiers is
one rate and that of the words around them another. An edit never reaches across the border of a span, so
`text[start:end]` stays the surface, however noisy.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from deid_platform.corpora.gold import Gold
from deid_platform.errors import Code, DeidError
from deid_platform.surrogates.dice import Dice


class Kind(StrEnum):
    """Kinds of edits."""

    CONFUSION = "confusion"
    """A character or two taken for what looks like them: `l` and `1`, `rn` and `m`."""
    ACCENT = "accent"
    """An accent lost."""
    SWAP = "swap"
    """Two neighbours that changed places."""
    SPLIT = "split"
    """A space inside a word or a number."""
    JOIN = "join"
    """A space lost."""
    HYPHEN = "hyphen"
    """A word broken at the end of a line."""
    CASE = "case"
    """The whole identifier, or the whole word outside, in small or in capital letters."""


# How often each kind is drawn where it can be. Recognition confuses more than it does anything else.
_WEIGHTS: Mapping[Kind, float] = {
    Kind.CONFUSION: 8,
    Kind.ACCENT: 3,
    Kind.SWAP: 3,
    Kind.SPLIT: 2,
    Kind.JOIN: 2,
    Kind.HYPHEN: 1,
    Kind.CASE: 1,
}
# What is read as what, one way; most have their way back beside them.
_CONFUSIONS = """
    l 1  1 l  l I  I l  1 I  I 1  i l  O 0  0 O  o 0  0 o  5 S  S 5  8 B  B 8  2 Z  Z 2  6 G  G 6  9 g  g 9  3 8  7 /
    / 1  / l  c e  e c  a o  n u  u n  h b  t f  f t  y v  g q  D O  U V  E F  . ,  , .
    rn m  m rn  cl d  d cl  vv w  w vv  nn m  ri n  li h  ii u
""".split()  # noqa: SIM905 - as a list literal it would fill a page
_BY_FIRST: dict[str, list[tuple[str, str]]] = {}
for _true, _read in zip(_CONFUSIONS[::2], _CONFUSIONS[1::2], strict=True):
    _BY_FIRST.setdefault(_true[0], []).append((_true, _read))
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class NoiseSpec:
    """How much noise, and of what kind.

    Attributes:
        identifiers: Share of the identifiers that get noise, 0 to 1.
        outside: Share of the words outside identifiers that get one edit, 0 to 1.
        density: Edits for each character of an identifier that gets noise; it gets at least one.
        kinds: Which kinds there are.
        seed: Names the draws. Those of the identifiers do not depend on `outside`.

    Raises:
        DeidError: `input-invalid` with the field if a share is none, or there is no kind.
    """

    identifiers: float = 0.3
    outside: float = 0.0
    density: float = 0.1
    kinds: tuple[Kind, ...] = tuple(Kind)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("identifiers", "outside", "density"):
            if not 0 <= getattr(self, name) <= 1:
                raise DeidError(Code.INPUT_INVALID, name)
        if not self.kinds:
            raise DeidError(Code.INPUT_INVALID, "kinds")


@dataclass(frozen=True, slots=True, repr=False)
class Noisy:
    """A note with noise, and what was done to it.

    Attributes:
        gold: The note and its gold, moved.
        touched: For each span, whether its surface is another than before.
        inside: Edits of identifiers by kind.
        outside: Edits of words outside by kind.
        words: How many words there were outside.
    """

    gold: Gold
    touched: tuple[bool, ...]
    inside: Mapping[Kind, int]
    outside: Mapping[Kind, int]
    words: int

    def __repr__(self) -> str:
        return "<Noisy>"


@dataclass(frozen=True)
class Distribution:
    """What noise did to a set of notes: counts.

    Attributes:
        notes: Notes.
        identifiers: Gold spans.
        touched: Those whose surface is another.
        inside: Edits of identifiers by kind.
        words: Words outside identifiers.
        outside: Edits of those by kind, one a word.
    """

    notes: int
    identifiers: int
    touched: int
    inside: Mapping[Kind, int]
    words: int
    outside: Mapping[Kind, int]

    @classmethod
    def of(cls, made: Iterable[Noisy]) -> Distribution:
        """The sum over notes."""
        notes = identifiers = touched = words = 0
        inside: Counter[Kind] = Counter()
        outside: Counter[Kind] = Counter()
        for each in made:
            notes += 1
            identifiers += len(each.touched)
            touched += sum(each.touched)
            words += each.words
            inside.update(each.inside)
            outside.update(each.outside)
        return cls(notes, identifiers, touched, dict(inside), words, dict(outside))


def noisy(gold: Gold, spec: NoiseSpec) -> Noisy:
    """A note with noise; the same one for the same note and spec on every machine.

    An identifier that no kind can change (a lone `X`) stays as it is. Where spans overlap, they count as one
    identifier, and both have their new surface.

    Args:
        gold: With its text.
        spec: How much noise.

    Raises:
        DeidError: `input-invalid` if the gold has no text.
    """
    if gold.note is None:
        raise DeidError(Code.INPUT_INVALID, "gold without a text")
    page = _Page(gold)
    inside: Counter[Kind] = Counter()
    for ordinal, (start, end) in enumerate(page.identifiers):
        dice = Dice("noise", spec.seed, gold.note_id, "identifier", ordinal)
        if dice.chance(spec.identifiers):
            inside.update(page.edited(start, end, _wanted(spec.density * (end - start), dice), spec.kinds, dice))
    outside: Counter[Kind] = Counter()
    words = 0
    dice = Dice("noise", spec.seed, gold.note_id, "outside")
    for start, end in page.words_outside():
        words += 1
        if dice.chance(spec.outside):
            outside.update(page.edited(start, end, 1, spec.kinds, dice))
    text, moved = page.written()
    spans = tuple(replace(span, start=moved[span.start], end=moved[span.end]) for span in gold.spans)
    surfaces = zip(gold.spans, spans, strict=True)
    touched = tuple(gold.note.text[was.start : was.end] != text[now.start : now.end] for was, now in surfaces)
    clinical = tuple((moved[start], moved[end]) for start, end in gold.clinical)
    changed = replace(gold, spans=spans, clinical=clinical, note=replace(gold.note, text=text))
    return Noisy(changed, touched, dict(inside), dict(outside), words)


def _wanted(edits: float, dice: Dice) -> int:
    return max(1, int(edits) + dice.chance(edits % 1))


@dataclass(frozen=True, slots=True)
class _Edit:
    """What the characters from `start` on become, one piece each."""

    start: int
    pieces: tuple[str, ...]


@dataclass(slots=True)
class _Page:
    """A text as one piece for each of its characters: a border between characters moves as its pieces grow."""

    gold: Gold
    text: str = field(init=False)
    pieces: list[str] = field(init=False)
    identifiers: list[tuple[int, int]] = field(init=False)
    """The spans in their order, those that overlap as one."""
    _borders: frozenset[int] = field(init=False)
    _taken: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.text = self.gold.note.text if self.gold.note else ""
        self.pieces = list(self.text)
        places = [(span.start, span.end) for span in self.gold.spans]
        self._borders = frozenset(at for place in (*places, *self.gold.clinical) for at in place)
        self.identifiers = []
        for start, end in sorted(places):
            if self.identifiers and start < self.identifiers[-1][1]:
                start, end = self.identifiers[-1][0], max(end, self.identifiers.pop()[1])
            self.identifiers.append((start, end))

    def words_outside(self) -> Iterator[tuple[int, int]]:
        """Each word that is in no identifier, with the space behind it, if one is there."""
        held = iter(self.identifiers)
        start, end = next(held, (len(self.text), len(self.text)))
        for word in _WORD.finditer(self.text):
            while end <= word.start():
                start, end = next(held, (len(self.text) + 1, len(self.text) + 2))
            if word.end() <= start:
                yield word.start(), word.end() + (self.text[word.end() : word.end() + 1] == " " and word.end() < start)

    def edited(self, start: int, end: int, count: int, kinds: Sequence[Kind], dice: Dice) -> Iterator[Kind]:
        """Puts up to `count` edits between two places and tells the kind of each."""
        left = list(dict.fromkeys(kinds))
        in_case: list[str] = []
        while count and left:
            kind = dice.weighted([(each, _WEIGHTS[each]) for each in left])
            if kind is Kind.CASE:
                left.remove(kind)  # once
                whole = self.text[start:end]
                in_case = [way for way in ("lower", "upper") if getattr(whole, way)() != whole]
                if not in_case:
                    continue
            elif places := list(self._places(kind, start, end)):
                edit = dice.pick(places)
                stretch = range(edit.start, edit.start + len(edit.pieces))
                self._taken.update(stretch)
                for at, piece in zip(stretch, edit.pieces, strict=True):
                    self.pieces[at] = piece
            else:
                left.remove(kind)
                continue
            count -= 1
            yield kind
        if in_case:
            way = dice.pick(in_case)
            self.pieces[start:end] = [getattr(piece, way)() for piece in self.pieces[start:end]]

    def written(self) -> tuple[str, list[int]]:
        """The text, and where each of the old places is in it now, the end included."""
        moved, at = [0], 0
        for piece in self.pieces:
            at += len(piece)
            moved.append(at)
        return "".join(self.pieces), moved

    def _places(self, kind: Kind, start: int, end: int) -> Iterator[_Edit]:
        for at in range(start, end):
            for pieces in _changes(kind, self.text, at, start, end):
                stretch = range(at, at + len(pieces))
                crosses = any(inner in self._borders for inner in stretch[1:])
                # A border may follow what grows at its end only where nothing of it is white space.
                grows = kind in (Kind.SPLIT, Kind.HYPHEN) and at + 1 in self._borders
                vanishes = kind is Kind.JOIN and not self._borders.isdisjoint((at, at + 1)) and self._held(at)
                if not (crosses or grows or vanishes) and self._taken.isdisjoint(stretch):
                    yield _Edit(at, pieces)

    def _held(self, at: int) -> bool:
        """Whether a place is in an identifier or a clinical term."""
        return any(start <= at < end for start, end in (*self.identifiers, *self.gold.clinical))


def _changes(kind: Kind, text: str, at: int, start: int, end: int) -> Iterator[tuple[str, ...]]:
    """What a kind can make of the characters from a place on, as pieces, one for each that it changes."""
    here, behind = text[at], text[at + 1] if at + 1 < end else ""
    match kind:
        case Kind.CONFUSION:
            for true, read in _BY_FIRST.get(here, ()):
                if at + len(true) <= end and text.startswith(true, at):
                    yield (read, *[""] * (len(true) - 1))
        case Kind.ACCENT:
            bare = unicodedata.normalize("NFD", here)[0]
            if bare != here and bare.isalpha():
                yield (bare,)
        case Kind.SWAP:
            if here != behind and here.isalnum() and behind.isalnum():
                yield (behind, here)
        case Kind.SPLIT:
            if here.isalnum() and behind.isalnum():
                yield (f"{here} ",)
        case Kind.JOIN:
            if here == " " and at and not text[at - 1].isspace() and at + 1 < len(text) and not text[at + 1].isspace():
                yield ("",)
        case Kind.HYPHEN:
            if at > start and at + 2 < end and text[at - 1 : at + 3].isalpha():
                yield (f"{here}-\n",)
