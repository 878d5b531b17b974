"""Searches a note for one patient: one pass over the line of words, then what resembles a name, dates and numbers.

Belongs here: how the matches of the roster's parts become candidates. Does not belong here: any rule about names.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.api import Candidate, Document, Source, SourceKind
from deid_platform.detection.topics.roster.births import births_in
from deid_platform.detection.topics.roster.mentions import mentions, standing
from deid_platform.detection.topics.roster.misspelling import Hit, misspelt
from deid_platform.detection.topics.roster.unspaced import unspaced
from deid_platform.detection.topics.roster.variants import How, Variants
from deid_platform.labels import Label
from deid_platform.notes import Patient
from deid_platform.text.names import after_unit, capitalised
from deid_platform.text.tokens import Words

SOURCE = Source(SourceKind.ROSTER)
_HOST = regex.compile(r"[\w.+\-]*@[\w.\-]+\w")
_LONGEST_HOST = 320
_HANDLE = regex.compile(r"[\p{Ll}\d]+(?:[._][\p{Ll}\d]+)+")
_HOME = regex.compile(
    r"(?:\b(?:liv(?:es?|ed|ing)|resid(?:es?|ed|ing|ent)|dwell(?:s|ing)|mov(?:e[sd]?|ing)|born|home|house|grew up"
    r"|stay(?:s|ed|ing)?|hails?)(?: back| out| over)? (?:in|at|on|to|from|near|outside|around|of)"
    r"|\b(?:town|city|address)(?: of| is)?:?) $",
    regex.IGNORECASE,
)
_HOME_BEFORE = 30
_INITIAL_DOT = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}$")


class Entry:
    """One patient's variants, of the current and all former rows, ready to search for.

    Args:
        rows: The patient's rows, the current one first.
    """

    def __init__(self, rows: tuple[Patient, ...]) -> None:
        self._variants = Variants.of(rows)
        self._unspaced = unspaced(rows)
        self._kinds = tuple(self._variants.terms.values())
        # A patient may have one note only: what is quick to build counts, not what is quickest to search.
        self._automaton = AhoCorasick(
            [f" {term} " for term in self._variants.terms],
            matchkind=MatchKind.Standard,
            implementation=Implementation.NoncontiguousNFA,
        )

    def __repr__(self) -> str:
        return "<Entry>"

    def find(self, document: Document) -> list[Candidate]:
        """Occurrences of the patient in a note; spans may overlap."""
        words = document.words
        names: list[Hit] = []
        spans: list[Candidate] = []
        candidates = [
            *(Hit(start + 1, end - 1, *self._kinds[term]) for term, start, end in self._hits(words)),
            *misspelt(words, self._variants),
        ]
        for candidate in candidates:
            if candidate.label is Label.PATIENT:
                names.append(candidate)
            elif (span := _span(words, candidate)) is not None:
                spans.append(span)
        letters = self._variants.letters
        for start, end in mentions(words, tuple(standing(words, names, letters)), letters):
            spans.append(_mention(words.note, *words.place(start, end)))
        if self._unspaced is not None:
            found = self._unspaced.finditer(words.note)
            spans.extend(Candidate.by_rule(match.start(), match.end(), Label.PATIENT, 1.0, SOURCE) for match in found)
        spans.extend(self._numbers(document))
        spans.extend(
            Candidate.by_rule(*place, Label.DATE, 1.0, SOURCE) for place in births_in(document, self._variants.births)
        )
        return spans

    def _hits(self, words: Words) -> list[tuple[int, int, int]]:
        return self._automaton.find_matches_as_indexes(words.text, overlapping=True)

    def _numbers(self, document: Document) -> Iterator[Candidate]:
        numbers = self._variants.numbers
        if not numbers:
            return
        for start, end, digits in document.numbers:
            known = numbers.get(digits) or numbers.get(digits.lstrip("0"))
            if known is not None:
                yield Candidate.by_rule(start, end, known, 1.0, SOURCE)


def _span(words: Words, candidate: Hit) -> Candidate | None:
    """The span of what is no name, if it stands."""
    start, end = words.place(candidate.start, candidate.end)
    if candidate.how in (How.CAPITAL, How.DWELLING) and not capitalised(words.note[start:end]):
        before = words.note[max(0, start - _HOME_BEFORE) : start]
        if candidate.how is How.CAPITAL or not _HOME.search(before):
            return None
    if candidate.label is Label.STREET:
        end = after_unit(words.note, end)
    if candidate.label is Label.USERNAME:
        return _with_host(words.note, start, end, Label.USERNAME)
    return Candidate.by_rule(start, end, candidate.label, 1.0, SOURCE)


def _mention(text: str, start: int, end: int) -> Candidate:
    """The span of a mention: with the dot of its last initial, or the rest of an address that begins with it."""
    if text[end : end + 1] == "." and _INITIAL_DOT.search(text, max(start, end - 2), end):
        end += 1
    return _with_host(text, start, end, Label.USERNAME if _HANDLE.fullmatch(text, start, end) else Label.PATIENT)


def _with_host(text: str, start: int, end: int, label: Label) -> Candidate:
    host = (
        _HOST.match(text, end, end + _LONGEST_HOST)
        if text[end : end + 1] in ("@", ".", "+", "_") or text[end : end + 1].isalnum()
        else None
    )
    return (
        Candidate.by_rule(start, host.end(), Label.EMAIL, 1.0, SOURCE)
        if host
        else Candidate.by_rule(start, end, label, 1.0, SOURCE)
    )
