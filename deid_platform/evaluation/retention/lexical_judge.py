"""The judge that needs no model: clinical words, amounts, negations, sides and units that are lost or altered.

Belongs here: what a lost or an added word says. Does not belong here: how words are compared (`lexical_text.py`), or
what a word is by its neighbours (`lexical_context.py`).

Its retention is called lexical retention; it is no CIRE, which a chat model gives. It aligns the words of the two
chunks and weighs those that only one of them has. By its shape and its neighbours a lost word is a date, a number of a
record, an address, or a name, which is no change; a word in small letters that a placeholder hides is one, unless it is
an ordinary one, so that it does not depend on lists of clinical terms. Capitalised words do: the lists are those that
recovery keeps terms by, and what they lack, both miss.

It does not understand: it cannot see that a sentence says the same in other words beyond a list of synonyms, nor that a
replaced word of no list says something else. How often it errs is measured on pairs that it was not tuned on:

    python -m deid_platform.evaluation.retention.judge_validation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from importlib.resources import files

import regex
from rapidfuzz import fuzz

from deid_platform.evaluation.retention.alignment import align
from deid_platform.evaluation.retention.judges import ChunkPair, Identity, Kind, Verdict
from deid_platform.evaluation.retention.lexical_context import (
    LISTS,
    OCR,
    after_title,
    is_clinical,
    is_eponym,
    is_name,
    is_of_a_record,
    is_ordinary,
    is_small_name,
    is_surrounded_by_names,
    tells_history,
)
from deid_platform.evaluation.retention.lexical_shapes import words_of_class
from deid_platform.evaluation.retention.lexical_text import PLACEHOLDER, Word, opposites, words
from deid_platform.lexicon.lists import word_list

_NAME = "lexical-1"
_FILES = (
    "alignment.py",
    "lexical_context.py",
    "lexical_judge.py",
    "lexical_shapes.py",
    "lexical_text.py",
    "data/judge_opposites.tsv",
    "data/judge_synonyms.tsv",
    "data/judge_words.tsv",
)
_CLASSES = ("negation", "laterality", "severity", "frequency", "instruction", "kin")
_NEAR = 88  # similarity of two writings of one word, of 100
_LONG = 5  # code points from which on a word may differ a little and be the same
_BIRTH_REACH = 28  # code points between "born" and its date
_NINETY = regex.compile(r"90\s?\+|90 or|over (?:90|ninety)", regex.IGNORECASE)


class LexicalJudge:
    """Judges chunks by their words."""

    @cached_property
    def identity(self) -> Identity:
        """Which judge it is: the digest is of its code, its words and the word lists that it reads."""
        folder = files("deid_platform.evaluation.retention")
        digest = sha256(b"\0".join(folder.joinpath(name).read_bytes() for name in _FILES))
        for name in LISTS:
            digest.update("\0".join((name, *sorted(word_list(name)))).encode())
        return Identity(Kind.LEXICAL, _NAME, f"sha256:{digest.hexdigest()}")

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        """A verdict a pair, in their order."""
        verdicts = []
        for original, released in pairs:
            reasons = tuple(sorted(set(_Comparison(original, released).changes()) - {""}))
            verdicts.append(Verdict(bool(reasons), reasons))
        return verdicts


def judge_digest() -> str:
    """Digest of this judge, under which its quality is recorded."""
    return LexicalJudge().identity.digest.removeprefix("sha256:")


class _Comparison:
    """Two chunks, and what only one of them says."""

    def __init__(self, original: str, released: str) -> None:
        self._texts = (original, released)
        self._one, self._other = words(original), words(released)
        self._lost: list[int] = []
        self._added: list[int] = []
        self._hidden: set[int] = set()  # lost words beside a placeholder
        self._bare: set[int] = set()  # lost words in whose place nothing stands
        self._new: set[int] = set()  # added words that stand in place of nothing
        self._for_a_name: set[int] = set()  # added words in place of a name
        self._shaped: set[int] = set()  # bare numbers hidden with an address, a date or a number of a record
        self._opposed = False
        for lost, added in self._runs():
            self._weigh(lost, added)
        self._cancel()

    def _runs(self) -> Iterator[tuple[list[int], list[int]]]:
        """Indices of the words on both sides between two that are aligned and equal."""
        i = j = 0
        lost: list[int] = []
        added: list[int] = []
        for one, other in align([w.form for w in self._one], [w.form for w in self._other]):
            if one == other:
                yield lost, added
                lost, added = [], []
            else:
                lost += [i] * (one is not None)
                added += [j] * (other is not None)
            i += one is not None
            j += other is not None
        yield lost, added

    def _weigh(self, lost: list[int], added: list[int]) -> None:
        shown = [j for j in added if not self._other[j].is_placeholder]
        self._lost += [i for i in lost if not self._one[i].is_placeholder]
        self._added += shown
        if len(shown) < len(added):
            self._hidden.update(lost)
            if any(self._one[i].shape for i in lost):
                self._shaped.update(i for i in lost if self._one[i].form.isdecimal())
        elif not added:
            self._bare.update(lost)
        if not lost:
            self._new.update(shown)
        if any(is_name(self._one, i) for i in lost):
            self._for_a_name.update(added)
        self._opposed |= any(opposites(self._one[i].written, self._other[j].written) for i in lost for j in shown)

    def _cancel(self) -> None:
        """Takes out what both sides have elsewhere, or write otherwise."""
        for i in list(self._lost):
            twin = next((j for j in self._added if _same(self._one[i], self._other[j])), None)
            if twin is not None:
                self._lost.remove(i)
                self._added.remove(twin)

    def changes(self) -> Iterator[str]:
        """The kinds of change; "" for what differs and is none."""
        lost = Counter(_kind(self._one, i) for i in self._lost)
        added = Counter(_kind(self._other, j) for j in self._added)
        if lost["negation"] != added["negation"] or self._opposed:
            yield "negation"
        if self._birth_year_is_lost():
            yield "birth_year"
        for i in self._lost:
            yield self._of_lost(i)
        for j in self._added:
            yield self._of_added(j)

    def _of_lost(self, i: int) -> str:
        word, kind = self._one[i], _kind(self._one, i)
        if word.shape or kind == "negation":
            return ""
        if kind:
            return kind
        if word.is_number:
            hidden = is_of_a_record(self._one, i) or self._is_aggregated(i) or self._is_cut(i) or i in self._shaped
            return "" if hidden else "amount"
        if is_name(self._one, i):
            return "term" if is_eponym(self._one, i) or tells_history(self._one, i) else ""
        if i in self._hidden and not word.capital and is_small_name(self._one, i):
            return ""
        if is_clinical(word.written):
            return "term"
        told = i in self._hidden or i in self._bare
        return "term" if told and (word.is_code or not word.capital) and not is_ordinary(word.written) else ""

    def _of_added(self, j: int) -> str:
        word, kind = self._other[j], _kind(self._other, j)
        if word.shape or kind == "negation" or (word.capital and j in self._for_a_name):
            return ""
        if kind:
            return kind
        if word.is_number:
            aggregates = any(self._is_aggregated(i) for i in self._lost)
            return "" if is_of_a_record(self._other, j) or aggregates else "amount"
        if word.capital:
            return ""
        return "term" if is_clinical(word.written) or (j in self._new and not is_ordinary(word.written)) else ""

    def _is_cut(self, i: int) -> bool:
        """Whether a bare number is hidden at an end of the chunk, which may have cut an address or a date."""
        rest = self._one[i + 1 :]
        at_an_end = i == 0 or all(word.capital and not word.is_number for word in rest)
        return i in self._hidden and at_an_end and self._one[i].form.isdecimal()

    def _is_aggregated(self, i: int) -> bool:
        """Whether an age over 89 is released as 90 or older."""
        age = regex.match(r"\d+", self._one[i].form)
        return bool(age) and int(age[0]) >= 90 and bool(_NINETY.search(self._texts[1]))

    def _birth_year_is_lost(self) -> bool:
        for word in self._one:
            year = regex.search(r"(?:19|20)\d\d", word.written) if word.shape == "date" or word.is_number else None
            if year and year[0] not in self._texts[1] and self._follows_birth(word.start):
                return True
        return False

    def _follows_birth(self, start: int) -> bool:
        before = words(self._texts[0][max(0, start - _BIRTH_REACH) : start])
        return any(w.written in words_of_class("born") for w in before)


def _kind(found: Sequence[Word], at: int) -> str:
    """The class of a word, if it is not a name here."""
    word = found[at]
    kind = next((c for c in _CLASSES if word.written in words_of_class(c) or word.form in words_of_class(c)), "")
    if not kind or word.initial or (word.capital and after_title(found, at)):
        return ""
    of_a_name = kind == "kin" or len(word.written) == 1
    return "" if of_a_name and word.capital and is_surrounded_by_names(found, at) else kind


def _same(one: Word, other: Word) -> bool:
    """Whether two words that differ are writings of one: the same elsewhere, noise of OCR, or an ending."""
    if one.is_number or other.is_number or PLACEHOLDER in (one.form, other.form):
        return False  # an amount elsewhere is another's
    if one.form == other.form or _read(one.written) == _read(other.written):
        return True
    if (is_clinical(one.written) and is_clinical(other.written)) or opposites(one.written, other.written):
        return False
    return min(len(one.form), len(other.form)) >= _LONG and fuzz.ratio(one.form, other.form) >= _NEAR


def _read(written: str) -> str:
    """A word as it looks to OCR."""
    return written.translate(OCR).replace("rn", "m").replace("i", "l").replace("q", "g")
