"""The gazetteer: finds the people, facilities, addresses, numbers and ids of the institution's topics.

Belongs here: where the terms of the topics stand in any patient's note. Does not belong here: which
terms there are (`terms.py`), or the note's own patient, whose single names count as well (`roster/`).

A person is found by a word of the surname with a given name on either side of it. A surname without one counts where
the context shows a person: a title, a credential, a word for a relative, an initial, a row of a list of patients. A
provider's surname also counts alone, if it is capitalised and seldom means anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.detection.api import Candidate, Document, Source, SourceKind
from deid_platform.detection.topics.list_rows import begins_row
from deid_platform.detection.topics.terms import Case, Terms
from deid_platform.labels import Label
from deid_platform.large_tables.hashed_table import HashedTable
from deid_platform.lexicon.classes import is_common, ordinary_words
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Topics
from deid_platform.text.names import PARTICLES, after_unit, capitalised
from deid_platform.text.tokens import Words

_SOURCE = Source(SourceKind.GAZETTEER)
_SCORE = 0.9
_LIKELY = 0.8
_PARTIAL = 0.7  # below what introduces a person to the clinical recovery
_MOST_PARTICLES = 4
_ADDRESS = regex.compile(r"(?<![\w.+\-])[\w.+\-]{1,64}@[\w.\-]{1,255}\w")
_WITH_DIGIT = regex.compile(r"(?<= )[^ ]*\d[^ ]*")
_LOCAL_NUMBER = regex.compile(r"\d{3}[ .\-–]\d{4}")
# Before a surname within one name, as single letters of the line: O'Brien, D'Angelo.
_APOSTROPHISED = frozenset({"o", "d", "l"})
_TITLES = frozenset(
    {
        *("mr", "mrs", "ms", "miss", "mx", "dr", "drs", "doctor", "prof", "professor", "nurse", "rev", "sr", "sra"),
        *("srta", "sig", "dott", "mme", "mlle", "herr", "frau"),
    }
)
_DOCTORS = frozenset({"dr", "drs", "doctor", "prof", "professor", "nurse", "dott"})
_KIN = word_list("kin.sure.one") | {"law"}
_MODALS = frozenset({"will", "may", "can", "did", "has"})  # "dr will see her"
# What stands before and after a colleague's bare surname.
_STAFF_BEFORE = regex.compile(
    r"(?:\b(?:pcp|attending|surgeon|consultant|hospitalist|resident|fellow|intensivist|paged|notified|d/w|"
    r"(?:spoke|spoken|discussed|reviewed|staffed)[ \t]+with|"
    r"(?:asked|seen|called|requested|referred|ordered|read|signed|paged|evaluated|examined|placed|done)[ \t]+by)"
    r"[ \t:]+|^[ \t]*ref(?:erral)?\b[^\n]{0,30}[-–:][ \t]*)$",
    regex.IGNORECASE | regex.MULTILINE,
)
_STAFF_AFTER = regex.compile(r"[ \t]+(?:paged|notified|aware|informed|updated|agrees|at[ \t]+bedside)\b")
_STAFF_REACH = 40
# Where a colleague goes by a given name.
_TOLD = regex.compile(r"\b(?i:report|hand-?(?:ed )?off|handover)[ \t]+(?i:given[ \t]+)?to[ \t]+$")
_SIGNED = regex.compile(r"(?:\A|\n)[ \t]*[-–—~]{1,2}[ \t]*$")
_LINE_END = regex.compile(r"[ \t]*(?:\r?\n|$)")
_FROM_WARD = regex.compile(
    r"[ \t]+from[ \t]+(?:the[ \t]+)?(?:nursing|pharmacy|lab|radiology|scheduling|dietary|billing|triage|"
    r"(?:case|bed)[ ]management|social[ ]work|registration|front[ \t]+desk)\b"
)
_CREDENTIALS = word_list("credentials.sure")


class Gazetteer:
    """Finds the terms of the topics, whole words only, whatever their case, accents and spacing.

    Args:
        topics: Patients, providers and facilities of the institution.
    """

    def __init__(self, topics: Topics) -> None:
        terms = Terms[HashedTable[Label]](topics, HashedTable)
        self._phrases = tuple(terms.phrases.values())
        self._ids = terms.ids
        self._id_shapes = terms.id_shapes
        self._streets = terms.streets
        self._street_heads = terms.street_heads
        self._street_numbers = terms.street_numbers
        self._longest_street = terms.longest_street
        self._emails = terms.emails
        self._pairs = terms.pairs
        self._first_names = terms.first_names
        self._surnames = terms.surnames
        self._providers = frozenset(terms.providers)
        self._family = frozenset(terms.family)
        self._initialled = frozenset(terms.initialled)
        self._givens = frozenset(terms.givens)
        self._numbers = terms.numbers
        self._local = frozenset(terms.local)
        names = (*terms.surnames, *sorted(terms.givens.difference(terms.surnames)))
        lines = (line for table in (terms.phrases, terms.named_streets, names) for line in table)
        self._first_name = len(terms.phrases) + len(terms.named_streets)
        # Overlapping matches, since two neighbouring words share the space between them.
        self._automaton = AhoCorasick(
            (f" {line} " for line in lines),
            matchkind=MatchKind.Standard,
            implementation=Implementation.ContiguousNFA,
            store_patterns=False,
        )

    def __repr__(self) -> str:
        return "<Gazetteer>"

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """Occurrences of terms and numbers; see `Detector`."""
        return [self._find(document) for document in documents]

    def _find(self, document: Document) -> list[Candidate]:
        words = document.words
        found = [*self._find_terms(words), *self._find_with_digits(words)]
        return [*found, *self._find_numbers(document), *self._find_emails(document)]

    def _find_terms(self, words: Words) -> Iterator[Candidate]:
        """What the automaton knows: phrases, streets that begin with a word, words of names."""
        for term, start, end in self._automaton.find_matches_as_indexes(words.text, overlapping=True):
            if term < len(self._phrases):
                span = _phrase(words, start + 1, end - 1, *self._phrases[term])
            elif term < self._first_name:
                span = self._street(words, start + 1, end - 1)
            else:
                span = self._name(words, start + 1, end - 1)
            if span is not None:
                yield span

    def _find_with_digits(self, words: Words) -> Iterator[Candidate]:
        """Streets that begin with a number, and ids of letters and digits, of which there are as many as patients."""
        if not (self._street_numbers or self._id_shapes):
            return
        line, last = words.text, 0
        for word in _WITH_DIGIT.finditer(line):
            digits = word[0]
            if digits in self._street_numbers:
                start, end = word.start(), words.after(word.end())
                span = self._street(words, start, end) if line[start:end] in self._street_heads else None
                if span is not None:
                    yield span
            for before, count in self._id_shapes.get(len(digits), ()):
                place = _window(words, word.start(), before, count)
                # One that holds an earlier word with a digit is looked for there.
                if place is not None and place[0] >= last and (label := self._ids.get(line[slice(*place)])) is not None:
                    yield Candidate.by_rule(*words.place(*place), label, _SCORE, _SOURCE)
            last = word.end()

    def _find_numbers(self, document: Document) -> Iterator[Candidate]:
        if not (self._numbers or self._local):
            return
        for start, end, digits in document.numbers:
            label = self._numbers.get(digits)
            if label is None and len(digits) == 11 and digits[0] == "1":
                label = self._numbers.get(digits[1:])
            if label is not None:
                yield Candidate.by_rule(start, end, label, _SCORE, _SOURCE)
            elif digits in self._local and _LOCAL_NUMBER.fullmatch(document.text, start, end):
                yield Candidate.by_rule(start, end, Label.PHONE, _SCORE, _SOURCE)

    def _find_emails(self, document: Document) -> Iterator[Candidate]:
        if not self._emails or "@" not in document.text:
            return
        for address in _ADDRESS.finditer(document.folded.text):
            place = document.interval(*address.span())
            if address[0] in self._emails and place is not None:
                yield Candidate.by_rule(*place, Label.EMAIL, _SCORE, _SOURCE)

    def _street(self, words: Words, start: int, end: int) -> Candidate | None:
        """A street address by its first two words: whole, or without its suffix if the second is no common one."""
        line, stop, found = words.text, end, 0
        for _ in range(self._longest_street - 1):
            if line[start:stop] in self._streets:
                found = stop
            stop, former = words.after(stop), stop
            if stop == former:
                break
        if not found:
            street = line[start:end].partition(" ")[2]
            if is_common(street) or len(street) < 4 or not capitalised(words.surface(end - len(street), end)):
                return None
        place, end = words.place(start, found or end)
        return Candidate.by_rule(place, after_unit(words.note, end), Label.STREET, _SCORE, _SOURCE)

    def _name(self, words: Words, start: int, end: int) -> Candidate | None:
        span = None
        if words.text[start:end] in self._surnames:
            span = (
                self._handle(words, start, end) or self._person(words, start, end) or self._surname(words, start, end)
            )
        return span or (self._given(words, start, end) if words.text[start:end] in self._givens else None)

    def _given(self, words: Words, start: int, end: int) -> Candidate | None:
        """A colleague's given name alone, where staff reports, answers or signs by it: "Report to Alexis"."""
        after = words.after(end)
        if words.text[end + 1 : after] in self._givens and not words.gap(end, end + 1).strip(" "):
            end = after
        first, last = words.place(start, end)
        if not capitalised(words.note[first:last]):
            return None
        before = words.note[max(0, first - _STAFF_REACH) : first]
        signs = _SIGNED.search(before) is not None and _LINE_END.match(words.note, last) is not None
        known = signs or _TOLD.search(before) or _FROM_WARD.match(words.note, last, last + _STAFF_REACH)
        return Candidate.by_rule(first, last, Label.DOCTOR, _LIKELY, _SOURCE) if known else None

    def _person(self, words: Words, start: int, end: int) -> Candidate | None:
        """A surname with a known given name before it, or after it: "Maria T. de la Cruz", "Cruz, Maria"."""
        line = words.text
        surname = line[start:end]
        first, end = _surname_start(words, start), _surname_end(words, end)
        before = words.before(first)
        given = line[before : first - 1]
        if before < first and (label := self._pair(given, surname)) and words.joins(first - 1, first):
            return self._whole(words, before, end, given, surname, label)
        further = words.before(before)
        if further < before < first and (label := self._pair(line[further : before - 1], surname)):
            inner = words.joins(before - 1, before) and words.joins(first - 1, first)
            if inner and capitalised(words.surface(before, first - 1)):
                return self._whole(words, further, end, line[further : before - 1], surname, label)
        after = words.after(end)
        if after > end and (label := self._pair(line[end + 1 : after], surname)):
            capital = capitalised(words.surface(first, after))
            if words.joins(end, end + 1) and (capital or "," in words.gap(end, end + 1)):
                return self._whole(words, first, after, line[end + 1 : after], surname, label)
        return None

    def _pair(self, given: str, surname: str) -> Label | None:
        """Whose name two words are; None if nobody's. Most words stand in no name at all, which sets tell sooner."""
        if given in self._first_names and surname in self._surnames:
            return self._pairs.get(f"{given} {surname}")
        return None

    def _whole(self, words: Words, start: int, end: int, given: str, surname: str, label: Label) -> Candidate | None:
        """The span of a name with the further words and initials that belong to it."""
        if is_common(given) and is_common(surname) and not capitalised(words.surface(start, end)):
            return None
        line = words.text
        for _ in range(3):
            after = words.after(end)
            word = line[end + 1 : after]
            known = self._pair(given, word) or self._pair(word, surname)
            initial = len(word) == 1 and _initial_follows(words, end, after)
            if after == end or not (known or initial) or not words.joins(end, end + 1):
                break
            end = after
        for _ in range(3):
            before = words.before(start)
            word = line[before : start - 1]
            known = self._pair(word, surname) or self._pair(given, word)
            if before == start or not known or not words.joins(start - 1, start):
                break
            start = before
        place, stop = words.place(start, end)
        # The dot of an initial at the end belongs to it.
        stop += line[end - 2] == " " and words.note[stop : stop + 1] == "."
        return Candidate.by_rule(place, stop, label, _SCORE, _SOURCE)

    def _handle(self, words: Words, start: int, end: int) -> Candidate | None:
        """A user's name made of a surname and an initial or a given name: "marchetti_i", "ines.marchetti"."""
        line, word = words.text, words.text[start:end]
        before, after = words.before(start), words.after(end)
        for first, last, beside, gap in (
            (before, end, line[before : start - 1], (start - 1, start)),
            (start, after, line[end + 1 : after], (end, end + 1)),
        ):
            mark = words.gap(*gap) if beside else ""
            known = f"{beside} {word}" in self._initialled or self._pair(beside, word) is not None
            unknown = mark == "_" and len(beside) == 1 and word not in ordinary_words()
            if unknown or (known and (mark == "_" or (mark == "." and words.surface(first, last).islower()))):
                # A patient's goes as the patient's name does, whatever a policy does with the staff's.
                label = Label.PATIENT if self._surnames[word] is Label.PATIENT else Label.USERNAME
                return Candidate.by_rule(*words.place(first, last), label, _SCORE, _SOURCE)
        return None

    def _surname(self, words: Words, start: int, end: int) -> Candidate | None:
        """A surname without a given name, where something says that it is a person's."""
        line = words.text
        word = line[start:end]
        first, end = _surname_start(words, start), _surname_end(words, end)
        before = words.before(first)
        cue = line[before : first - 1]
        place = words.place(start, end)
        capital = words.note[place[0]].isupper()
        common = len(word) < 3 or is_common(word)
        initial = len(cue) == 1 and words.surface(before, first - 1).isupper()
        title = cue in _TITLES or (initial and line[words.before(before) : before - 1] in _TITLES)
        label = Label.DOCTOR if word in self._providers else self._surnames[word]
        score = 0.0
        doctor = cue in _DOCTORS and word in self._family and word not in _MODALS
        if title and (capital or not common or doctor):
            score = _SCORE
            label = (
                Label.DOCTOR if _DOCTORS.intersection((cue, line[words.before(before) : before - 1])) else Label.PATIENT
            )
        elif capital and initial and f"{cue} {word}" in self._initialled and words.joins(first - 1, first):
            score = _LIKELY
            label = Label.DOCTOR
        elif (
            capital
            and self._surnames[word] is Label.PATIENT
            and begins_row(words.note, *words.place(first, end), common=common or word in ordinary_words())
        ):
            score, label = _SCORE, Label.PATIENT
        elif capital and word in self._family and _among_staff(words.note, words.place(first, end)):
            score = _SCORE
            label = Label.DOCTOR
        elif capital and not common:
            following = line[end + 1 : words.after(end)]
            credential = following in _CREDENTIALS and words.surface(end + 1, words.after(end))[-1].isupper()
            introduced = cue in _KIN or (initial and words.joins(first - 1, first))
            if credential or (introduced and word not in ordinary_words()):
                score = _LIKELY
                label = Label.DOCTOR if credential else label
            elif word in self._providers:
                score = _PARTIAL
        if not score:
            return None
        opening = before if initial and words.joins(first - 1, first) else first
        return Candidate.by_rule(words.place(opening, end)[0], place[1], label, score, _SOURCE)


def _surname_start(words: Words, start: int) -> int:
    """Where a surname starts whose main word starts there: before "de la", or the O of O'Brien."""
    for _ in range(_MOST_PARTICLES):
        before = words.before(start)
        word = words.text[before : start - 1]
        apostrophe = word in _APOSTROPHISED and words.gap(start - 1, start) in ("'", "’")
        if before == start or not (apostrophe or word in PARTICLES) or not words.joins(start - 1, start):
            break
        start = before
    return start


def _among_staff(text: str, place: tuple[int, int]) -> bool:
    """Whether a surname stands where a colleague's does: "asked by Bell", "Long paged"."""
    start, end = place
    before = text[max(0, start - _STAFF_REACH) : start]
    return _STAFF_BEFORE.search(before) is not None or _STAFF_AFTER.match(text, end, end + _STAFF_REACH) is not None


def _initial_follows(words: Words, end: int, after: int) -> bool:
    """Whether a single letter after a name is an initial of it, and not the mark of a field ("D: 8/7")."""
    if not words.surface(end + 1, after).isupper() or words.gap(end, end + 1).strip(" \t"):
        return False
    stop = words.place(end + 1, after)[1]
    return words.note[stop : stop + 1] not in (":", "/", "=")


def _surname_end(words: Words, end: int) -> int:
    """Where a surname ends whose main word ends there: after the De of Reddy-De."""
    after = words.after(end)
    hyphenated = after > end and words.text[end + 1 : after] in PARTICLES and words.gap(end, end + 1) in ("-", "‐", "–")
    return after if hyphenated and words.surface(end + 1, after)[0].isupper() else end


def _phrase(words: Words, start: int, end: int, label: Label, case: Case, whole: bool) -> Candidate | None:
    place = words.place(start, end)
    surface = words.note[slice(*place)]
    if case is Case.TITLE and not capitalised(surface):
        return None
    if case is Case.UPPER and surface != surface.upper():
        return None
    return Candidate.by_rule(*place, label, _SCORE if whole else _PARTIAL, _SOURCE)


def _window(words: Words, start: int, before: int, count: int) -> tuple[int, int] | None:
    """So many words of the line, of which so many stand before the one that starts there; None where there are less."""
    first = start
    for _ in range(before):
        first, former = words.before(first), first
        if first == former:
            return None
    end = words.after(start)
    for _ in range(count - before - 1):
        end, former = words.after(end), end
        if end == former:
            return None
    return first, end
