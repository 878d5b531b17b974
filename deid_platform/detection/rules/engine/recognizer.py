"""The recognizer: a pattern with a confidence, words that must stand near it, and a validator of its matches.

Belongs here: running one entry of a table on stretches of text. Does not belong here: reading the tables
(`rules/catalogue.py`), entries and their validators (`en/`, `it/`, `es/`), which stretches to search (`anchors.py`).

A table is a YAML mapping with `fragments` (name: pattern, usable as <<name>> in any later pattern of any
table; `rules/fragments.yaml` is read first) and `recognizers`, a list of the entries below. <<list.mark>> is any term
of a list with columns (`lexicon/lists.py`), in any case where all its terms are in small letters.

    name:    unique; candidates have it in their source as `rules:<name>`
    confidence: 0 to 1, set by hand; `Evidence.of_rule` says what it decides
    pattern: `regex` syntax, verbose; each named group is a span and its name the label (LOCATION_OTHER
             with an underscore); further groups of that label are numbered by a suffix (DATE_2)
    anchors: what every match contains: folded words (`*` at an end lets it lie inside a word), or `digits` for
             every chain of digit groups, `capitals` for every run of capitalised words, `lists` for the terms
             of the entry's own lists, `<list.mark>` for those of a list with columns, each with what stands before
             and after it; the pattern is run only in windows around them, never beyond a paragraph, and may name
             them as <<anchors>>, in small letters and without those with `*`
    reach:   optional; code points before and after the anchor that a match may touch; [40, 80] by default
    when:    optional, with `digits`; a pattern that the chain must hold, where each digit is written as 0
    beside:  optional, likewise; the same of the chain with the character before and after it, letters written as A
    near:    optional; at least one of these words must stand within `window` code points
    window:  optional; 40 by default
    validator: optional; the name of a validator, which may narrow or refuse a group
    ignore_case: optional
    lists:   optional; word lists (`lexicon/data/<list>.txt`) that the pattern names as \\L<list>, as written or in
             capitals; with `ignore_case` in any case, and with the end of a line for the space between two words
    any_age: optional; whether it finds ages at any value, so that it runs only where a policy hides those under 90

For a pattern, the end of a window is the end of the text; lookbehinds see the text before the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import regex

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.rules.engine.anchors import Anchors, Window
from deid_platform.detection.rules.engine.validator import Validator
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import written_terms
from deid_platform.text.compiled import Key, pattern
from deid_platform.text.offsets import trim

TIMEOUT_S = 2.0
_LABEL = regex.compile(r"\(\?P<([A-Z]+(?:_[A-Z]+)*)(?:_\d+)?>")
_SHORT = 300  # code points
_WORD = 3  # code points; a shorter remainder that a validator cuts off is not searched again
_BEYOND = 40  # code points behind a match that are read again with it


@dataclass(frozen=True)
class Recognizer:
    """One entry of a table; compiled on first use, unless a compiled one is kept."""

    name: str
    expression: str
    confidence: float
    anchors: Anchors = field(default_factory=Anchors)
    near: tuple[str, ...] = ()
    window: int = 40
    validator: Validator | None = None
    ignore_case: bool = False
    lists: tuple[str, ...] = ()
    of_site: bool = False
    """Whether a site wrote it: its pattern is not verbose, and may linger on short stretches too."""
    any_age: bool = False
    """Whether it finds ages under 90 too, which few policies hide."""

    @cached_property
    def key(self) -> Key:
        """What its pattern is kept by."""
        flags = (0 if self.of_site else regex.VERBOSE) | (regex.IGNORECASE if self.ignore_case else 0)
        expression = self.expression
        for name in self.lists:
            expression = expression.replace(f"\\L<{name}>", _any_of(name, any_writing=self.ignore_case))
        return expression, int(flags)

    @cached_property
    def _pattern(self) -> regex.Pattern[str]:
        return pattern(self.key)

    @cached_property
    def _groups(self) -> tuple[tuple[str, Label], ...]:
        return tuple(
            (name, Label[regex.sub(r"_\d+$", "", name)]) for name in self._pattern.groupindex if name.isupper()
        )

    @property
    def labels(self) -> frozenset[Label]:
        """The labels that it may find, known without compiling it."""
        return frozenset(Label[name] for name in _LABEL.findall(self.expression))

    @cached_property
    def _near(self) -> regex.Pattern[str]:
        return regex.compile(r"(?<!\w)(?:" + "|".join(map(regex.escape, self.near)) + r")(?!\p{L})", regex.IGNORECASE)

    @cached_property
    def _source(self) -> Source:
        return Source(SourceKind.RULES, self.name, self.of_site)

    def find(self, document: Document, *, timeout_s: float = TIMEOUT_S) -> Iterator[Candidate]:
        """Spans in one note, read from end to end as one paragraph; see `search`."""
        whole = (0, 0, len(document.text))
        return (span for _, span in self.search([document.text], [whole], timeout_s=timeout_s))

    def search(
        self, texts: Sequence[str], windows: Iterable[Window], *, timeout_s: float = TIMEOUT_S
    ) -> Iterator[tuple[int, Candidate]]:
        """Spans in windows of some texts, each with the number of its text.

        Raises:
            DeidError: `detector-failed`, naming the recognizer, if the pattern ran out of time.
        """
        cut: list[Window] = []
        yield from self._search(texts, windows, cut, timeout_s)
        if cut:
            yield from self._search(texts, cut, [], timeout_s)

    def _search(
        self, texts: Sequence[str], windows: Iterable[Window], cut: list[Window], timeout_s: float
    ) -> Iterator[tuple[int, Candidate]]:
        """As `search`; what a validator cut off after a span is added to `cut`, since another match may begin there.

        As in "DR. HASSON AND DR. MERCADO": the first match covers everything, and the validator narrows it to one name.
        """
        finditer, near, validator = self._pattern.finditer, self.near, self.validator
        source, evidence, confidence = self._source, Evidence.of_rule(self.confidence), self.confidence
        groups = self._groups
        # Asking for the time costs as much as reading a short window, on which no shipped pattern can linger.
        longest = -1 if self.of_site or timeout_s < TIMEOUT_S else _SHORT
        try:
            for number, start, end in windows:
                text = texts[number]
                timed = end - start > longest
                for match in finditer(text, start, end, timeout=timeout_s) if timed else finditer(text, start, end):
                    if near and not self._in_context(text, match.start(), match.end()):
                        continue
                    for group, label in groups:
                        first, last = match.span(group)
                        place = trim(text, first, last) if 0 <= first < last else None
                        if place is not None and validator is not None:
                            place = validator(text, *place)
                        if place is not None:
                            yield number, Candidate(*place, label, source, evidence, confidence)
                            if last - place[1] > _WORD:
                                cut.append((number, place[1], min(end, match.end() + _BEYOND)))
        except TimeoutError:
            raise DeidError(Code.DETECTOR_FAILED, str(self._source)) from None

    def _in_context(self, text: str, start: int, end: int) -> bool:
        before = max(0, start - self.window)
        return bool(self._near.search(text, before, start) or self._near.search(text, end, end + self.window))


@cache
def _any_of(name: str, *, any_writing: bool) -> str:
    """An expression of any term of a word list."""
    written = written_terms(name)
    forms = written if any_writing else [form for term in written for form in (term, term.upper())]
    return alternatives(forms, any_writing=any_writing)
