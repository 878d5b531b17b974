"""Counts in how many patients' notes each word stands, and in how many something introduces it as a name.

Belongs here: what one note says of its words, and which words are vocabulary by such counts. Does not belong here: what
vocabulary decides (`local_words.py`), or where counts are kept (`refresh/evidence/local_words.py`).

After the frequency filter of Murugadoss 2024, turned round: a word that the notes of many patients share, and that
hardly ever stands where a name is introduced, is nobody's name. A doctor's surname is shared by many notes as well. So
a word counts only in small letters, or in capitals as an abbreviation that nowhere else begins with one; and never a
word with a digit. A note's line without both small and capital letters tells nothing of how a word is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

import regex

from deid_platform.detection.resolve.recovery.terms import names_of_people_and_places
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold_term

LONGEST_ABBREVIATION = 6
"""Letters."""
MOST_PATIENTS = 50
"""How many patients of a word are told apart."""
_SHORTEST = 2
_WORD = compiled(r"(?<![\p{L}\p{M}\p{N}_@#])\p{L}[\p{L}\p{M}]+(?![\p{L}\p{M}\p{N}_@])")
_BEGINS = compiled(r"(?:^|[.!?:;•*\-–—>|(\[\"“/])[ \t]*$")
_INITIALS = 4  # letters
_BEFORE_INITIALS, _BEHIND_INITIALS = 4, 8  # code points that `_SIGNED` may read
_REACH = 4  # code points before a word in which a sentence ends
_NAME = r"(?P<name>\p{L}[\p{L}\p{M}'’\-]+(?:[ \t]*,?[ \t]+\p{L}[\p{L}\p{M}'’\-]+)?)"
_TITLES = (
    r"mr|mrs|ms|miss|mx|dr|drs|dra|doctora?|prof|professor|professeur|sir|sister|rev|capt|sgt|nurse|sra?|srta|señora?|don"
    r"|doña|sig|sig\.ra|signora?|dott|dott\.ssa|dottor|dottoressa|mme|mlle|m\.|monsieur|madame|herrn?|frau|inf|enf|lic"
)
_LABELS = (
    r"patient|pt|name|surname|client|nome|cognome|paziente|nombre|apellidos?|paciente|nom|pr[ée]nom|vorname|nachname"
    r"|attending|consultant|surgeon|provider|physician|pcp|gp|author|resident|fellow|anesthesiologist|an[ae]esthetist"
    r"|medico|m[ée]dico|m[ée]decin|arzt|[äa]rztin|chirurgo|cirujano|chirurgien|operateur|primario|curante|tratante"
    r"|nurse|infermier[ea]|enfermer[ao]|infirmi[eè]re?|pflege|relative|next of kin|nok|spouse|contact|cc|attn|re|dear"
    r"|by"
)
_SIGNING = (
    r"(?:e-?|electronically )?signed(?: by)?|dictated by|authored by|reviewed by|seen by|entered by|verified by"
    r"|firmado(?: por)?|firmato(?: da)?|firma|sign[ée](?: par)?|gez\.?|unterzeichnet|called|named|d/w|discussed with"
)
# What introduces one or two words as a name: a title, a label with its sign, a signature, a relative.
_INTRODUCED = compiled(
    rf"(?<![\p{{L}}\p{{M}}])(?:(?i:(?:{_TITLES})\.?[ \t]+|(?:{_LABELS})(?:[ \t]+name)?[ \t]*[:=#][ \t]*"
    rf"|(?:{_SIGNING})[ \t:]+)|(?i:{alternatives(written_terms('kin.sure.one'), any_writing=True)})"
    rf"[ \t]*[,(:]?[ \t]*(?=\p{{Lu}})){_NAME}"
)
_BEFORE_LETTERS = compiled(
    rf"{_NAME}[ \t]*,[ \t]*(?:{alternatives(written_terms('credentials.sure.letters'), any_writing=False)})(?!\p{{L}})"
)
# How somebody signs with initials: behind a sentence, a gap or a slash, at the end of the line or before a time.
_SIGNED = compiled(
    r"(?:[.!?\"”)][ \t]+|[ \t]{2}|\t|/|[-–—(\[][ \t]*|^[ \t]*)(?P<name>\p{Lu}{2,4})"
    r"(?=\.?[ \t]*(?:[)\]][ \t]*)?(?:$|\d{1,2}[:.h/]\d))",
    regex.MULTILINE,
)
_PAIR = compiled(r"(?<![\p{L}\p{M}])(\p{Lu}[\p{L}\p{M}'’\-]+)[ \t]*,?[ \t]+(?=(\p{Lu}[\p{L}\p{M}'’\-]+))")


class Standing(NamedTuple):
    """How a note writes a word.

    Attributes:
        small: In small letters.
        capitals: In capitals alone.
        titled: With a capital in the middle of a sentence.
        introduced: Where something introduces a name.
    """

    small: bool = False
    capitals: bool = False
    titled: bool = False
    introduced: bool = False

    def __or__(self, other: object) -> Standing:
        if not isinstance(other, Standing):
            return NotImplemented
        return Standing(*(one or two for one, two in zip(self, other, strict=True)))


def standings(text: str) -> dict[str, Standing]:
    """How a note writes each of its words, folded."""
    found: dict[str, Standing] = {}

    def say(word: str, standing: Standing) -> None:
        folded = fold_term(word)
        found[folded] = found[folded] | standing if folded in found else standing

    for line in text.splitlines():
        if any(map(str.islower, line)) and any(map(str.isupper, line)):
            for word, standing in _written(line):
                say(word, standing)
    for name in _introduced(text):
        for word in _WORD.findall(name):
            say(word, Standing(introduced=True))
    return found


def _written(line: str) -> Iterator[tuple[str, Standing]]:
    for match in _WORD.finditer(line):
        word = match[0]
        if word.islower():
            yield word, Standing(small=True)
        elif word.isupper():
            yield word, Standing(capitals=True)
        elif not _BEGINS.search(line, max(0, match.start() - _REACH), match.start()):
            yield word, Standing(titled=True)


def is_signed(text: str, start: int, end: int) -> bool:
    """Whether letters stand where somebody signs with initials."""
    if end - start > _INITIALS or not text[start:end].isupper():
        return False
    reach = max(0, start - _BEFORE_INITIALS), end + _BEHIND_INITIALS
    return any(match.span("name") == (start, end) for match in _SIGNED.finditer(text, *reach))


def _introduced(text: str) -> Iterator[str]:
    """Stretches of one or two words that something introduces as a name."""
    for pattern in (_INTRODUCED, _BEFORE_LETTERS, _SIGNED):
        for match in pattern.finditer(text):
            yield match["name"]
    given = word_list("given_names")
    for one, other in _PAIR.findall(text):
        # Beside a given name stands a surname: "Declan Rafferty", "RAFFERTY, Declan".
        if not {fold_term(one), fold_term(other)}.isdisjoint(given - _common()):
            yield f"{one} {other}"


@cache
def _common() -> frozenset[str]:
    """Common words of the languages of the lists."""
    lists = ("common_words", "clinical_words", "ordinary_words", "italian_words", "title_stopwords")
    return frozenset[str]().union(*map(word_list, lists))


@cache
def _names() -> frozenset[str]:
    lists = ("towns", "italian_cities", "lone_given_names", "eponym_names")
    return names_of_people_and_places().union(*map(word_list, lists))


def may_be_a_name(folded: str) -> bool:
    """Whether a folded word is on a list of names of people, things called after them, or places."""
    return folded in _names()


class WordCount(NamedTuple):
    """In how many notes a word stands in each way (see `Standing`), and in how many patients'.

    Attributes:
        small_by: Patients in whose notes it stands in small letters, as far as they are counted.
        capitals_by: Those in whose notes it stands in capitals.
    """

    small: int = 0
    capitals: int = 0
    titled: int = 0
    introduced: int = 0
    small_by: int = 0
    capitals_by: int = 0


def vocabulary(
    counts: Mapping[str, WordCount], *, patients: int, introduced: float, titled: int | None = None
) -> Iterator[str]:
    """The words that are vocabulary, in small letters, or in capitals where they count in capitals alone.

    A word of a list of names counts only if it is a common word as well.

    Args:
        counts: By folded word.
        patients: In how many patients' notes a word stands, at the least.
        introduced: The largest share of the notes with the word in which something introduces it.
        titled: In how many notes a word with a capital stands that is never introduced; none counts unless told, since
            nothing but a list tells it from a name.
    """
    for word, count in counts.items():
        if len(word) < _SHORTEST or not word.isalpha() or (may_be_a_name(word) and word not in _common()):
            continue
        if count.small_by >= patients and count.introduced <= introduced * (count.small + count.titled):
            # A name in a hurry is written small now and then, and with its capital mostly.
            if count.titled <= count.small:
                yield word
        elif _abbreviates(word, count, patients):
            yield word.upper()
        elif titled is not None and count.titled >= titled and not count.introduced and not may_be_a_name(word):
            yield word.capitalize()


def _abbreviates(word: str, count: WordCount, patients: int) -> bool:
    """Whether a word is an abbreviation: always in capitals, nowhere as somebody signs."""
    return (
        len(word) <= LONGEST_ABBREVIATION
        and count.capitals_by >= patients
        and not count.introduced
        and not count.titled
        and not may_be_a_name(word)
    )


class WordCounts:
    """Counts the words of notes, in memory that grows with the words and not with the notes.

    Args:
        most: How many patients of a word are told apart: enough for every threshold.
    """

    def __init__(self, *, most: int = MOST_PATIENTS) -> None:
        self._most = most
        self._counts: dict[str, list[int]] = {}
        self._small_by: dict[str, set[int]] = {}
        self._capitals_by: dict[str, set[int]] = {}

    def __repr__(self) -> str:
        return "<WordCounts>"

    def add(self, patient: str | None, text: str) -> None:
        """Counts a note. One of nobody tells how words are written, and stands for no patient."""
        whose = None if patient is None else int.from_bytes(blake2b(patient.encode(), digest_size=8).digest())
        for word, standing in standings(text).items():
            self.take(word, tuple(map(int, standing)))
            if whose is not None:
                self.take(word, small_by=[whose] * standing.small, capitals_by=[whose] * standing.capitals)

    def take(
        self,
        word: str,
        counts: Iterable[int] = (),
        *,
        small_by: Iterable[int] = (),
        capitals_by: Iterable[int] = (),
    ) -> None:
        """Adds what is counted of a word elsewhere: in the order of `Standing`, and patients by their numbers."""
        total = self._counts.setdefault(word, [0] * len(Standing._fields))
        for at, count in enumerate(counts):
            total[at] += count
        for known, more in ((self._small_by, small_by), (self._capitals_by, capitals_by)):
            for patient in more:
                those = known.setdefault(word, set())
                if len(those) < self._most:
                    those.add(patient)

    def forget(self, most: int) -> None:
        """Forgets words of a single note that nothing introduces, once there are more words than this."""
        if len(self._counts) <= most:
            return
        self._counts = {w: c for w, c in self._counts.items() if c[-1] or sum(c) > 1}
        for by in (self._small_by, self._capitals_by):
            for word in by.keys() - self._counts.keys():
                del by[word]

    def patients_of(self, word: str) -> tuple[list[int], list[int]]:
        """The patients of a word in small letters and in capitals, by their numbers, as far as they are counted."""
        return sorted(self._small_by.get(word, ())), sorted(self._capitals_by.get(word, ()))

    def counts(self) -> dict[str, WordCount]:
        """By folded word."""
        found: dict[str, WordCount] = {}
        for word, (small, capitals, titled, introduced) in self._counts.items():
            by = len(self._small_by.get(word, ())), len(self._capitals_by.get(word, ()))
            found[word] = WordCount(small, capitals, titled, introduced, *by)
        return found
