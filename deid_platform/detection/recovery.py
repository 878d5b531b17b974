"""Gives back what is clinical: eponyms, drugs, devices, tests, scores, genetic variants.

Belongs here: deciding that a span is no identifier. Does not belong here: finding spans.

After paper 001 (Methods, recovery of medically relevant terms; figure 3), but failing closed. A span is
given back only if a clinical term covers it whole, and never if

- the roster found it, or a check of its own proved it (an e-mail address, a checksum);
- a title stands before it: "Mr. Foley", "Dr. Wright's test";
- it is the whole term and names a person whom the note introduces: of "Foley" in the note of a Mr. Foley
  nobody knows which is meant, while "Foley catheter" remains clinical.

Terms that consist of people's or places' names alone ("Robert Jones", "Denver") are not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

import regex
import yaml
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.detector import word_list
from deid_platform.detection.reading import Reading, bounded, fold_term
from deid_platform.detection.roster import SOURCE as ROSTER
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Span

LISTS = ("eponyms", "drugs", "devices", "tests_and_scores", "clinical_names")
PROVEN_SCORE = 0.95
_TIMEOUT_S = 2.0
_REACH = 40  # code points around a span within which an expression may begin and end
_NAMES = ("given_names", "surnames", "cities", "countries")
_PERSONS = (Label.PATIENT, Label.DOCTOR)
_INTRODUCED_SCORE = 0.8
_TITLE = regex.compile(r"(?<![\p{L}])(?:mr|mrs|ms|miss|mx|drs?|doctor|prof|professor)\b\.?[ \t]*$", regex.IGNORECASE)
_WORD = regex.compile(r"\p{L}{2,}")


class Recovery:
    """Keeps identifiers and drops clinical terms from a note's spans.

    Args:
        terms: An institution's own clinical terms, beside the lists of this package.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._automaton = AhoCorasick(
            sorted({term for term, _ in clinical_terms(terms)}),
            matchkind=MatchKind.Standard,
            implementation=Implementation.ContiguousNFA,
        )

    def __repr__(self) -> str:
        return "<Recovery>"

    def keep(self, reading: Reading, spans: Sequence[Span]) -> list[Span]:
        """The spans that are identifiers, in the order given."""
        doubtful = {s for s in spans if s.source != ROSTER and s.score < PROVEN_SCORE}
        if not doubtful:
            return list(spans)
        clinical = self.clinical(reading, doubtful)
        if not clinical:
            return list(spans)
        people = _introduced(reading.text, spans)
        given_back = {s for s in doubtful if _is_clinical(reading.text, s, clinical, people)}
        return [s for s in spans if s not in given_back]

    def clinical(self, reading: Reading, spans: Iterable[Span]) -> list[tuple[int, int]]:
        """Where clinical terms and expressions stand around spans of a note: (start, end), possibly overlapping."""
        text = reading.folded.text
        found = []
        for _, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            if bounded(text, start, end) and (place := reading.interval(start, end)) is not None:
                found.append(place)
        windows = _windows(spans)
        for name, expression in _expressions():
            try:
                for start, end in windows:
                    matches = expression.finditer(reading.text, start, end, timeout=_TIMEOUT_S)
                    found.extend(m.span() for m in matches)
            except TimeoutError:
                raise DeidError(Code.DETECTOR_FAILED, f"recovery:{name}") from None
        return found


def clinical_terms(own: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """The folded terms that recovery looks for, each with the list that it comes from.

    Args:
        own: An institution's own terms; their list is called `site`.
    """
    names = frozenset[str]().union(*map(word_list, _NAMES))
    for source, terms in [*((name, word_list(name)) for name in LISTS), ("site", map(fold_term, own))]:
        for term in terms:
            if len(term) >= 2 and term not in names and not names.issuperset(term.split()):
                yield term, source


def _windows(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """The surroundings of spans, joined where they overlap, so that no stretch of a dense note is read twice."""
    windows: list[tuple[int, int]] = []
    for start, end in sorted((max(0, s.start - _REACH), s.end + _REACH) for s in spans):
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(windows[-1][1], end))
        else:
            windows.append((start, end))
    return windows


def _introduced(text: str, spans: Iterable[Span]) -> frozenset[str]:
    """The folded words of people whom the note names with some certainty."""
    sure = (s for s in spans if s.label in _PERSONS and s.score >= _INTRODUCED_SCORE)
    return frozenset(word for s in sure for word in _WORD.findall(fold_term(text[s.start : s.end])))


def _is_clinical(text: str, span: Span, clinical: Iterable[tuple[int, int]], people: frozenset[str]) -> bool:
    person = span.label in _PERSONS
    covering = [(a, b) for a, b in clinical if a <= span.start and span.end <= b]
    if not covering or (person and _TITLE.search(text, max(0, span.start - 12), span.start)):
        return False
    longest = max(b - a for a, b in covering)
    more_than_the_span = longest > span.end - span.start + len("'s")
    return more_than_the_span or not (
        person and people.intersection(_WORD.findall(fold_term(text[span.start : span.end])))
    )


@lru_cache(maxsize=1)
def _expressions() -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Clinical terms with a syntax, from `data/recovery_expressions.yaml`."""
    text = (files("deid_platform.detection") / "data" / "recovery_expressions.yaml").read_text("utf-8")
    return tuple(
        (name, regex.compile(pattern, regex.VERBOSE | regex.IGNORECASE))
        for name, pattern in yaml.safe_load(text).items()
    )
