"""The recognizer: a scored pattern, words that must stand near it, and a check of what it matched.

Belongs here: reading the tables and running one entry on one note. Does not belong here: entries
(`data/*.yaml`) and what the checks do (`checks.py`).

A table is a YAML mapping with `fragments` (name: pattern, usable as <<name>> in any later pattern of any
table; `_fragments.yaml` is read first) and `recognizers`, a list of:

    name:    unique; spans carry it in their source as `patterns:<name>`
    score:   0 to 1
    pattern: `regex` syntax, verbose; each named group is a span and its name the label (LOCATION_OTHER
             with an underscore); further groups of that label are numbered by a suffix (DATE_2)
    needs:   optional; at least one of these folded strings must occur in the note, or the pattern is skipped
    when:    optional; a pattern that must occur in the note; recognizers that share one search for it once
    near:    optional; at least one of these words must stand within `window` code points
    window:  optional; 40 unless told
    check:   optional; a function of `checks.py`, which may narrow or refuse a group
    ignore_case: optional
    lists:   optional; word lists (`../data/<list>.txt`) that the pattern names as \\L<list>, as written or in capitals
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

import regex
import yaml
from ahocorasick_rs import AhoCorasick

from deid_platform.detection.detector import word_list, written_terms
from deid_platform.detection.patterns.checks import CHECKS, Check
from deid_platform.detection.reading import Reading
from deid_platform.detection.spans import trim
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Span

TIMEOUT_S = 2.0
_TABLES = ("dates", "ages", "contacts", "identifiers", "addresses", "people", "organizations")


@dataclass(frozen=True)
class Recognizer:
    """One entry of a table; compiled on first use."""

    name: str
    expression: str
    score: float
    needs: tuple[str, ...] = ()
    when: str | None = None
    near: tuple[str, ...] = ()
    window: int = 40
    check: Check | None = None
    ignore_case: bool = False
    lists: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> regex.Pattern[str]:
        flags = regex.VERBOSE | (regex.IGNORECASE if self.ignore_case else 0)
        lists = {name: [v for term in written_terms(name) for v in (term, term.upper())] for name in self.lists}
        return regex.compile(self.expression, flags, **lists)

    @cached_property
    def _listed(self) -> AhoCorasick | None:
        # Asks in microseconds whether any listed term occurs; the pattern itself takes a hundred times longer.
        terms = {term for name in self.lists for term in word_list(name)}
        return AhoCorasick(sorted(terms)) if terms else None

    @cached_property
    def _groups(self) -> tuple[tuple[str, Label], ...]:
        return tuple(
            (name, Label[regex.sub(r"_\d+$", "", name)]) for name in self._pattern.groupindex if name.isupper()
        )

    @cached_property
    def _near(self) -> regex.Pattern[str]:
        return regex.compile(r"(?<!\w)(?:" + "|".join(map(regex.escape, self.near)) + r")(?!\p{L})", regex.IGNORECASE)

    @cached_property
    def _source(self) -> str:
        return f"patterns:{self.name}"

    def find(self, reading: Reading, *, timeout_s: float = TIMEOUT_S) -> Iterator[Span]:
        """Spans in one note.

        Raises:
            DeidError: `detector-failed`, naming the recognizer, if the pattern ran out of time.
        """
        if self.needs and not any(need in reading.folded.text for need in self.needs):
            return
        if self.when is not None and not reading.holds(self.when):
            return
        if self._listed is not None and not self._listed.find_matches_as_indexes(reading.folded.text):
            return
        text = reading.text
        try:
            for match in self._pattern.finditer(text, timeout=timeout_s):
                if self.near and not self._in_context(text, match.start(), match.end()):
                    continue
                for group, label in self._groups:
                    start, end = match.span(group)
                    place = trim(text, start, end) if 0 <= start < end else None
                    if place is not None and self.check is not None:
                        place = self.check(text, *place)
                    if place is not None:
                        yield Span(*place, label, self.score, self._source)
        except TimeoutError:
            raise DeidError(Code.DETECTOR_FAILED, self._source) from None

    def _in_context(self, text: str, start: int, end: int) -> bool:
        before = max(0, start - self.window)
        return bool(self._near.search(text, before, start) or self._near.search(text, end, end + self.window))


@lru_cache(maxsize=1)
def load_recognizers() -> tuple[Recognizer, ...]:
    """Every recognizer of the shipped tables, in table order."""
    fragments: dict[str, str] = {}
    recognizers: list[Recognizer] = []
    for table in ("_fragments", *_TABLES):
        content = _read(table)
        for name, pattern in content.get("fragments", {}).items():
            fragments[name] = f"(?:{_expand(pattern, fragments)})"
        for entry in content.get("recognizers", ()):
            recognizers.append(_recognizer(entry, fragments))
    return tuple(recognizers)


def _read(table: str) -> dict[str, Any]:
    text = (files("deid_platform.detection.patterns") / "data" / f"{table}.yaml").read_text("utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return content


def _expand(pattern: str, fragments: dict[str, str]) -> str:
    expanded: str = regex.sub(r"<<(\w+)>>", lambda m: fragments[m[1]], pattern)
    return expanded


def _recognizer(entry: dict[str, Any], fragments: dict[str, str]) -> Recognizer:
    return Recognizer(
        name=entry["name"],
        expression=_expand(entry["pattern"], fragments),
        score=entry["score"],
        needs=tuple(map(str, entry.get("needs", ()))),
        when=entry.get("when"),
        near=tuple(map(str, entry.get("near", ()))),
        window=entry.get("window", 40),
        check=CHECKS[entry["check"]] if "check" in entry else None,
        ignore_case=entry.get("ignore_case", False),
        lists=tuple(entry.get("lists", ())),
    )
