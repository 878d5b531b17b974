"""Pairs and lists of names: the second name of a pair, the further names of a list, names after a slash.

Belongs here: what a found name shows of the capitalised words beside it ("Ndoye/Quarmby", "Dr. Ndoye, Quarmby and
Osei", "Amara (asthma), Tolu (well)"). Does not belong here: repetitions of the same name
(`resolve/propagate/names.py`), pairs without a name found before (`en/messages.yaml`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import regex

from deid_platform.detection.api import Candidate, Evidence, Source, SourceKind
from deid_platform.detection.rules.en.messages import is_a_name, is_no_person
from deid_platform.detection.rules.en.people import bare
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.labels import PERSONS
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import written_terms

_SOURCE = Source(SourceKind.RULES, "name-in-list")
_SCORE = 0.75
_SURE = 0.7
_SHORTEST = 2
_LONGEST_LIST = 12
_WORD = r"\p{Lu}[\p{L}\p{M}'’\-]+"
_NAME = rf"{_WORD}(?:[ \t](?:\p{{Lu}}\.?[ \t])?{_WORD})?"
_TITLE = rf"(?:{alternatives(written_terms('credentials.sure'), any_writing=False)}\b\.?)"
_REMARK = r"[ \t]*\([^()\r\n]{1,40}\)"
_AND = r"(?:and|&|\+|or|y|e)"
_LAST_SIGN = regex.compile(rf"[,;][ \t]*{_AND}[ \t]")
_ANY_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’\-]*")
_NEXT = regex.compile(
    rf"(?:[ \t]*,?[ \t]*{_TITLE}){{0,2}}(?P<remark>{_REMARK})?"
    rf"(?P<sign>[ \t]*/[ \t]*|[ \t]*[,;][ \t]*(?:{_AND}[ \t]+)?|[ \t]+{_AND}[ \t]+)"
    rf"(?:(?i:drs?|mrs?|ms)\.?[ \t]+)?(?P<name>{_NAME})(?![\p{{L}}\p{{N}}])(?P<after>{_REMARK})?"
)
_BEFORE = regex.compile(rf"(?<![\p{{L}}\p{{M}}\p{{N}}'’.\-])(?P<name>{_WORD})(?:[ \t]*/[ \t]*|[ \t]+(?:and|&)[ \t]+)$")
_LAST_OF_LIST = regex.compile(rf"(?:{_REMARK})?[ \t]*,?[ \t]*{_AND}[ \t]+(?P<name>{_WORD})")
_SHORT = regex.compile(r"[ \t]*\([\p{Lu}\d\-]{2,6}\)")
_REACH = 60
_BEFORE_ENDS = ("/", "&", "and")


class _Taken:
    """The intervals in which names were found.

    Args:
        spans: The names found so far.
    """

    def __init__(self, spans: Iterable[Candidate]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in sorted(spans, key=lambda span: span.start):
            if self._ends and span.start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], span.end)
            else:
                self._starts.append(span.start)
                self._ends.append(span.end)

    def holds(self, position: int) -> bool:
        """Whether a position is inside a name."""
        before = bisect_right(self._starts, position) - 1
        return before >= 0 and position < self._ends[before]

    def add(self, start: int, end: int) -> None:
        """Adds a name that starts in none of the others."""
        place = bisect_right(self._starts, start)
        self._starts.insert(place, start)
        self._ends.insert(place, end)


def names_in_lists(text: str, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Names that stand beside one of those found, as in a pair or a list.

    Args:
        text: The paragraph.
        found: Spans found in it so far, of any label.
    """
    sure = [span for span in found if span.label in PERSONS and span.evidence >= Evidence.CONTEXT]
    if not sure:
        return
    taken = _Taken(span for span in found if span.label in PERSONS)
    for span in sure:
        if span.end - span.start <= _SHORTEST + 1 and text[span.start : span.end].isupper():
            continue  # initials
        yield from _after(text, span, taken)
        yield from _before(text, span, taken)


def _after(text: str, span: Candidate, taken: _Taken) -> Iterator[Candidate]:
    end = span.end
    for _ in range(_LONGEST_LIST):
        following = _NEXT.match(text, end, end + 3 * _REACH)
        if following is None:
            return
        start, stop = following.span("name")
        if taken.holds(start):
            return
        stop = _narrowed(text, start, stop, following, taken)
        if stop is None:
            return
        yield Candidate.by_rule(start, stop, span.label, _SCORE, _SOURCE)
        taken.add(start, stop)
        end = stop


def _narrowed(text: str, start: int, stop: int, following: regex.Match[str], taken: _Taken) -> int | None:
    """Where the name after a name ends; None if no name follows."""
    words = list(_ANY_WORD.finditer(text[start:stop]))
    listed = following["remark"] is not None and following["after"] is not None
    if "," in following["sign"] or ";" in following["sign"]:
        joined = _LAST_SIGN.search(following["sign"]) is not None
        if not listed and not joined and not _goes_on(text, stop, taken):
            return None
    first = words[0][0]
    if listed:
        fits = bool(word_class(first) & (WordClass.GIVEN | WordClass.SURNAME)) and not is_no_person(bare(first))
        # "Epstein Barr (EBV), Citomegalovirus (CMV)"
        short = _SHORT.fullmatch(following["after"]) is not None
        if not fits and (short or not is_a_name(first)):
            return None
    elif not is_a_name(first):
        return None
    last = words[0]
    for word in words[1:]:
        if len(word[0]) > 1 and not is_a_name(word[0], loose=True):
            break
        last = word
    end = start + last.end()
    if text[end - 2 : end] in ("'s", "’s"):
        end -= 2
    return None if names_a_thing(text, end) or text[end : end + 1].isdigit() else end


def _goes_on(text: str, stop: int, taken: _Taken) -> bool:
    """Whether a list continues and ends with "and" and a name."""
    last = _LAST_OF_LIST.match(text, stop, stop + _REACH)
    return last is not None and (taken.holds(last.start("name")) or is_a_name(last["name"]))


def _before(text: str, span: Candidate, taken: _Taken) -> Iterator[Candidate]:
    if names_a_thing(text, span.end):
        return
    start = span.start
    for _ in range(_LONGEST_LIST):
        if not text[max(0, start - _REACH) : start].rstrip().endswith(_BEFORE_ENDS):
            return  # as before most names
        before = _BEFORE.search(text, max(0, start - _REACH), start)
        if before is None or taken.holds(before.start("name")) or not is_a_name(before["name"]):
            return
        start, stop = before.span("name")
        taken.add(start, stop)
        yield Candidate.by_rule(start, stop, span.label, _SCORE, _SOURCE)
