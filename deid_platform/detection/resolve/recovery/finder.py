"""Where clinical terms and expressions stand in a note.

Belongs here: finding them, and how certain each kind is. Does not belong here: whether a span is recovered because of
one (`decision.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

import regex
import yaml
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.api import Document
from deid_platform.detection.resolve.recovery.codes import codes_in
from deid_platform.detection.resolve.recovery.number_labels import is_labelled
from deid_platform.detection.resolve.recovery.terms import (
    abbreviations,
    clinical_terms,
    eponym_heads,
    names_of_people_and_places,
    things,
)
from deid_platform.errors import Code, DeidError
from deid_platform.lexicon.lists import word_list
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold, fold_term
from deid_platform.text.offsets import bounded, trim

_TIMEOUT_S = 2.0
_REACH = 60  # code points around a span within which an expression may begin and end
_TITLE = compiled(
    # Not the milliseconds of "0.4 ms. Bosniak II cyst".
    r"(?<![\p{L}])(?<!\d[ \t]*(?=ms\b))"
    r"(?:(?:mr|mrs|ms|miss|mx|drs?|doctor|prof|professor|nurse|rev|sgt|capt|officer|judge"
    r"|dra|sra?|srta|do[nñ]a?|dña|dott|dott\.ssa|sig|sig\.ra|signora?|mme|mlle|madame|monsieur|herrn?|frau)\b\.?"
    # Behind the label of a name nobody writes a drug.
    r"|\b(?:patient|paziente|paciente|surname|last name|first name|cognome|apellidos?|pr[eé]nom|nachname|vorname)"
    r"[ \t]*[:=])[ \t]*$",
    regex.IGNORECASE,
)
_DRUG_DOSE = "drug-dose"  # any word before a dose, so that a name of the lists does not count as a drug
# What an eponym's possessive is followed by where its sign or test goes without saying: "Gaenslen's negative".
_FINDINGS = frozenset({"negative", "positive", "normal", "equivocal"})
_SHORT = 3  # "ED" and "ed" are a department and a disorder, "Ed" is a man
_DIGIT = compiled(r"\d")
_PART = compiled(r"\p{L}{2,}")
# An eponym before its noun: "Henoch-Schonlein purpura", "Bowen's disease", "Ivor Lewis esophagectomy". One
# of a few adjectives may stand between: "Salter-Harris type II fracture", "Greenfield caval filter".
_EPONYM = compiled(
    r"(?<![\p{L}\p{N}'’\-])"
    r"(?P<names>\p{Lu}[\p{L}\p{M}]+(?:(?:[\-–]|[ ]and[ ]|[ ])\p{Lu}[\p{L}\p{M}]+){0,3})(?P<own>['’]s?)?"
    r"(?:[ \t]+(?:type|stage|grade|class)[ \t]+[\dIVXab]{1,4}|[ \t]+(?:modified|muscular|hepatic|caval|venous|arterial"
    r"|mitral|aortic|valve|inguinal|distal|femoral|facial|wound|surgical|suction|soft|cervical|knee|spinal|gastric))?"
    r"[ \t]+(?P<head>\p{L}{3,20})\b"
    r"(?P<verb>(?i:[ \t]+(?:the|here|off|out|in|up|a|this|all|any|consent|form)\b))?"
)
# An eponym behind its noun, as the Romance languages write it, and before it, as German does: "Signe de Babinski",
# "maniobra de Kristeller", "Babinski-Zeichen". Behind some of the nouns a patient may stand as well.
_EPONYM_BEHIND = compiled(
    r"(?<![\p{L}])(?:(?P<sure>segno|signo|signe|manovra|maniobra|man(?:oe|œ)uvre|morbo|malattia|enfermedad|maladie|sindrome"
    r"|s[ií]ndrome|syndrome|sdr\.?|sd\.?|scala|escala|[eé]chelle|classificazione|clasificaci[oó]n|classification|criteri"
    r"|criterios|crit[eè]res|riflesso|reflejo|r[eé]flexe|tiroidite|tiroiditis|thyro[iï]dite|esofago|es[oó]fago"
    r"|oesophage)|test|prueba|prova|score|[ií]ndice|punto|point|[eé]preuve)"
    r"[ \t]+(?:di|de|del|d['’])[ \t]*(?P<names>\p{Lu}[\p{L}\p{M}]+(?:[\-–]\p{Lu}[\p{L}\p{M}]+){0,2})(?![\p{L}\-])"
    r"|(?<![\p{L}])(?P<names>\p{Lu}[\p{L}\p{M}]+(?:[\-–]\p{Lu}[\p{L}\p{M}]+){0,2})"
    r"-(?P<sure>Zeichen|Test|Syndrom|Krankheit|Manöver|Reflex|Score|Klassifikation|Skala|Index|Thyreoiditis|Ösophagus)\b",
    regex.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ClinicalTerm:
    """An interval of a note that a clinical term covers: code points, end exclusive.

    Attributes:
        start: First code point.
        end: One past the last.
        kind: `term`; `abbreviation`, a listed one in capitals; `expression`, by its writing; `composed`, an
            eponym by the noun after it; `allowed`, a phrase of the site's allow list.
        words: How many words of letters it has.
        is_thing: Whether it is a listed drug or device, by which nobody is called.
    """

    start: int
    end: int
    kind: str
    words: int
    is_thing: bool = False


class ClinicalTerms:
    """Places of one note in order, so that those at a span are found without looking at all of them."""

    def __init__(self, places: Iterable[ClinicalTerm]) -> None:
        self._places = sorted(places, key=lambda p: p.start)
        self._starts = [p.start for p in self._places]
        self._longest = max((p.end - p.start for p in self._places), default=0)

    def __repr__(self) -> str:
        return "<ClinicalTerms>"

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[ClinicalTerm]:
        return iter(self._places)

    def touching(self, start: int, end: int) -> list[ClinicalTerm]:
        """The places that share a code point with an interval."""
        first = bisect_left(self._starts, start - self._longest)
        last = bisect_left(self._starts, end, first)
        return [p for p in self._places[first:last] if p.end > start]


@cache
def _shipped() -> frozenset[str]:
    return frozenset(term for term, _ in clinical_terms())


@lru_cache(maxsize=1)
def _automaton(terms: frozenset[str]) -> AhoCorasick:
    """What finds them; kept, since detectors of one process look for the same."""
    return AhoCorasick(sorted(terms), matchkind=MatchKind.Standard, implementation=Implementation.ContiguousNFA)


class Finder:
    """Finds the places of clinical terms.

    Args:
        own: An institution's own clinical terms, beside the lists of this package.
        allowed: Folded phrases of its allow list.
    """

    def __init__(self, own: Iterable[str] = (), allowed: Iterable[str] = ()) -> None:
        own, self._allowed = tuple(own), frozenset(allowed)
        clinical = frozenset(term for term, _ in clinical_terms(own)) if own else _shipped()
        self._only_allowed = self._allowed - clinical
        self._automaton = _automaton(clinical | self._allowed if self._allowed else clinical)

    def __repr__(self) -> str:
        return "<Finder>"

    def places(self, document: Document, spans: Collection[tuple[int, int]]) -> ClinicalTerms:
        """Clinical places around the spans of a note that begin and end there; none in a term after a title.

        Raises:
            DeidError: `detector-failed`, naming the expression, if one ran out of time.
        """
        text = document.text
        ascending = sorted(spans)
        with_digits = {span for span in ascending if _DIGIT.search(text, *span)}
        words = _windows(span for span in ascending if span not in with_digits)
        numbers = _windows(span for span in ascending if span in with_digits)
        found = ClinicalTerms(
            [
                *self._terms(text, _windows(ascending)),
                *_composed(text, words),
                *_expressions_in(text, words, "words"),
                *_expressions_in(text, numbers, "numbers"),
                *_codes(text, numbers),
            ]
        )
        somebody = ClinicalTerms([p for p in found if _TITLE.search(text, max(0, p.start - 20), p.start)])
        return ClinicalTerms([p for p in found if not somebody.touching(p.start, p.end)]) if somebody else found

    def _terms(self, text: str, windows: Iterable[tuple[int, int]]) -> Iterator[ClinicalTerm]:
        # Around spans alone: in a whole note there are more terms than words.
        in_capitals, of_things = abbreviations(), things()
        for begin, stop in windows:
            begin, stop = _to_spaces(text, begin, stop)
            folded = fold(text[begin:stop])
            for _, start, end in self._automaton.find_matches_as_indexes(folded.text, overlapping=True):
                if not bounded(folded.text, start, end):
                    continue
                place = trim(text, begin + folded.origin(start), begin + folded.origin(end))
                if place is None:
                    continue
                term, surface = folded.text[start:end], text[place[0] : place[1]]
                if term in self._allowed:
                    yield ClinicalTerm(place[0], place[1], "allowed", _words(term))
                if term in self._only_allowed or (len(term) <= _SHORT and surface.istitle()):
                    continue
                if term not in in_capitals:
                    yield ClinicalTerm(place[0], place[1], "term", _words(term), term in of_things)
                elif surface.isupper():
                    yield ClinicalTerm(place[0], place[1], "abbreviation", 1)


def _to_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    """An interval widened to white space, or by as much as a long word may have."""
    least, most = max(0, start - _REACH), min(len(text), end + _REACH)
    while start > least and not text[start - 1].isspace():
        start -= 1
    while end < most and not text[end].isspace():
        end += 1
    return start, end


def _words(text: str) -> int:
    return len(_PART.findall(text))


def _windows(ascending: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The surroundings of spans, joined where they overlap, so that no stretch of a dense note is read twice."""
    windows: list[tuple[int, int]] = []
    opened, closed = 0, -1
    for start, end in ascending:
        if start - _REACH <= closed:
            closed = max(closed, end + _REACH)
            continue
        if closed >= 0:
            windows.append((opened, closed))
        opened, closed = max(0, start - _REACH), end + _REACH
    if closed >= 0:
        windows.append((opened, closed))
    return windows


def _expressions_in(text: str, windows: Sequence[tuple[int, int]], section: str) -> Iterator[ClinicalTerm]:
    if not windows:
        return
    expressions, automaton, needed_by = _expressions()[section]
    for start, end in windows:
        # Of the same letters whatever their case, "ſ" and "µ" included; offsets in it mean nothing.
        window = text[start:end].casefold()
        if not window.isascii():
            window = window.encode(errors="replace").decode()  # the automaton takes no lone surrogates
        met = {hit[0] for hit in automaton.find_matches_as_indexes(window, overlapping=True)}
        for number in sorted({number for need in met for number in needed_by[need]}):
            name, expression = expressions[number]
            try:
                for match in expression.finditer(text, start, end, timeout=_TIMEOUT_S):
                    labelled = section == "numbers" and is_labelled(text, match.start())
                    if not labelled and (name != _DRUG_DOSE or not _holds_a_name(match[0])):
                        yield ClinicalTerm(match.start(), match.end(), "expression", _words(match[0]))
            except TimeoutError:
                raise DeidError(Code.DETECTOR_FAILED, f"recovery:{name}") from None


def _codes(text: str, windows: Iterable[tuple[int, int]]) -> Iterator[ClinicalTerm]:
    for window in windows:
        for start, end in codes_in(text, *window):
            yield ClinicalTerm(start, end, "expression", 0)


def _holds_a_name(surface: str) -> bool:
    return not names_of_people_and_places().isdisjoint(map(fold_term, _PART.findall(surface)))


def _composed(text: str, windows: Iterable[tuple[int, int]]) -> Iterator[ClinicalTerm]:
    """Eponyms by the noun that follows them, or precedes them: "Bowen's disease", "morbo di Wilson"."""
    try:
        for start, end in windows:
            for match in _EPONYM_BEHIND.finditer(text, start, end, timeout=_TIMEOUT_S):
                parts = tuple(map(fold_term, _PART.findall(match["names"])))
                if word_list("eponym_names").issuperset(parts) and (match["sure"] or _surely_eponyms(parts)):
                    yield ClinicalTerm(match.start(), match.end(), "composed", _words(match[0]))
            for match in _EPONYM.finditer(text, start, end, overlapped=True, timeout=_TIMEOUT_S):
                if _reads_as_eponym(match):
                    yield ClinicalTerm(match.start(), match.end("head"), "composed", _words(match[0]))
    except TimeoutError:
        raise DeidError(Code.DETECTOR_FAILED, "recovery:eponym") from None


def _reads_as_eponym(match: regex.Match[str]) -> bool:
    head = fold_term(match["head"])
    if match["verb"] is not None and head == "sign":
        return False
    parts = [fold_term(part) for part in _PART.findall(match["names"]) if part != "and"]
    # A list of names cannot say whether "Jones" is the eponym or the patient: only a listed term can.
    if names_of_people_and_places().intersection(parts) and not _surely_eponyms(tuple(parts)):
        return False
    if (head in eponym_heads() or (match["own"] and head in _FINDINGS)) and _surely_eponyms(tuple(parts)):
        return True
    return (
        head in word_list("eponym_sure_nouns")
        and match["own"] is None
        and not any(part in _ordinary() for part in parts)
    )


@lru_cache(maxsize=4096)
def _surely_eponyms(parts: tuple[str, ...]) -> bool:
    """Whether all parts are names of eponyms, and one of them at least is not also anybody's on the lists of names."""
    return word_list("eponym_names").issuperset(parts) and not names_of_people_and_places().issuperset(parts)


@cache
def _ordinary() -> frozenset[str]:
    return word_list("title_stopwords")


_Section: TypeAlias = tuple[tuple[tuple[str, regex.Pattern[str]], ...], AhoCorasick, tuple[tuple[int, ...], ...]]


@cache
def _expressions() -> dict[str, _Section]:
    """Clinical terms with a syntax, from `expressions.yaml`, by what they may cover.

    With an automaton of what their matches need, and the numbers of the expressions that need each of it.
    """
    content = yaml.load(
        (files("deid_platform.detection.resolve.recovery") / "expressions.yaml").read_text("utf-8"),
        Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),  # noqa: S506
    )
    needs = content.pop("needs")
    sections: dict[str, _Section] = {}
    for section, entries in content.items():
        needed_by: dict[str, list[int]] = {}
        for number, name in enumerate(entries):
            for need in needs[name]:
                needed_by.setdefault(need.casefold(), []).append(number)
        sections[section] = (
            tuple((name, compiled(p, regex.VERBOSE | regex.IGNORECASE)) for name, p in entries.items()),
            AhoCorasick(list(needed_by), matchkind=MatchKind.Standard, implementation=Implementation.DFA),
            tuple(map(tuple, needed_by.values())),
        )
    return sections
