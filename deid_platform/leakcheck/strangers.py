"""Other patients in a text: their full names and their numbers.

Belongs here: an index over everybody in the topics, built once a delivery, and the look-up in one text.
Does not belong here: the note's own patient (`roster.py`); providers, whose names are the policy's affair.

A full name counts if few patients bear it: "John Smith" is somebody in every town. A name with a common word
in it, or one of two letters, counts where it is written as names are. Numbers count as whole tokens only,
since among a hundred thousand patients some number equals almost any row of results read as one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from ahocorasick_rs import AhoCorasick

from deid_platform.large_tables.hashed_table import HashedTable
from deid_platform.leakcheck.comparable import ComparableText, digits_of, fold, line_of, word_list
from deid_platform.leakcheck.kinds import LeakKind
from deid_platform.leakcheck.names import SHORTEST_NAME, is_ordinary, name_parts
from deid_platform.leakcheck.roster import LONG_NUMBER, NATIONAL_NUMBER, SSN_DIGITS, mrn_of
from deid_platform.notes import Patient, Provider, Topics

FEW_BEARERS = 3
"""A full name that more patients bear names none of them."""
_SHORTEST_FULL_NAME = 6
INITIAL = re.compile(r" [^\W\d_](?= )")
_IDENTIFIER = re.compile(r"[0-9](?<![0-9].)(?:-?[0-9]){4,19}(?![^\W_])")
_LETTERS_BEFORE = re.compile(r"(?<![^\W_])[a-z]{0,5}-?$")
_DATE = re.compile(r"\d{1,4}-\d{1,2}-\d{1,4}")
_SPACED_NUMBER = re.compile(
    r"[0-9](?<![0-9.].)(?:(?<=1)[\s.-]?\(?[0-9]{3}|[0-9]{2})\)?[\s./-]{0,2}[0-9]{2,3}[\s./-]?[0-9]{4}(?![0-9])"
)
_BETWEEN = re.compile(r"[\s,_-]{1,4}(?:[^\W\d_]\.?[\s,]{1,3})?")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,253}")


class Phrases:
    """Phrases that are sought in lines of tokens, all at once.

    Args:
        lines: From `line_of`.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        wanted = sorted(set(lines))
        self._count = len(wanted)
        self._automaton = AhoCorasick(wanted, store_patterns=False) if wanted else None

    def __repr__(self) -> str:
        return f"<Phrases: {self._count}>"

    def found(self, line: str) -> list[str]:
        """The phrases that a line holds."""
        if self._automaton is None:
            return []
        # By their places: a list of all phrases would only say the same again.
        matches = self._automaton.find_matches_as_indexes(line, overlapping=True)
        return [line[start:end] for _, start, end in matches]


class RareNames:
    """Full names of patients that few of them bear, in memory that grows little with each.

    Args:
        patients: All rows of one after the other.
        spared: Lines of names that are left out.
    """

    def __init__(self, patients: Iterable[Sequence[Patient]], spared: Collection[str]) -> None:
        self._bearers: HashedTable[int] = HashedTable()
        # As many as there are words in names, and not as there are patients.
        self._first_words: set[str] = set()
        self._most_words = 0
        for rows in patients:
            for line in {line for row in rows for line in full_names(row)}:
                words = line.split()
                self._first_words.add(words[0])
                self._most_words = max(self._most_words, len(words))
                self._bearers[line] = min(FEW_BEARERS, self._bearers.get(line) or 0) + 1
        for line in spared:
            if line in self._bearers:
                self._bearers[line] = FEW_BEARERS + 1

    def __repr__(self) -> str:
        return f"<RareNames: {len(self._bearers)}>"

    def found(self, words: list[str]) -> Iterator[str]:
        """The lines of the names that stand in words, possibly repeated."""
        for first, word in enumerate(words):
            if word in self._first_words:
                for end in range(first + 2, min(first + self._most_words, len(words)) + 1):
                    line = line_of(words[first:end])
                    if (self._bearers.get(line) or FEW_BEARERS + 1) <= FEW_BEARERS:
                        yield line


class Strangers:
    """Full names and numbers of everybody in the topics.

    Args:
        topics: All patients, with what they were formerly called.
        spare_providers: Whether a name that a provider bears too is left out: where the policy keeps names
            of providers, it is theirs.
    """

    def __init__(self, topics: Topics, *, spare_providers: bool) -> None:
        self._mrns: HashedTable[None] = HashedTable()
        self._numbers: HashedTable[None] = HashedTable()
        self._emails: HashedTable[None] = HashedTable()
        spared = {line for p in topics.every_provider() for line in full_names(p)} if spare_providers else set()
        self._names = RareNames(map(self._telling, topics.each_patient()), spared)

    def __repr__(self) -> str:
        return f"<Strangers: {self._names!r}>"

    def _telling(self, rows: Sequence[Patient]) -> Sequence[Patient]:
        """Takes in the numbers and addresses of a patient; the same rows."""
        for row in rows:
            for table, values in (
                (self._mrns, _telling_mrn(row)),
                (self._numbers, _telling_numbers(row)),
                (self._emails, _telling_email(row)),
            ):
                for value in values:
                    table.setdefault(value, None)
        return rows

    def residue(self, reading: ComparableText, own: Sequence[Patient]) -> Iterator[LeakKind]:
        """The kinds of other patients' identifiers in a text, possibly repeated.

        Args:
            reading: The text.
            own: All rows of the note's own patient, whose identifiers are not sought here.
        """
        hits = set(self._names.found(INITIAL.sub("", reading.line).split()))
        if hits:
            mine = {line for row in own for line in full_names(row)}
            if any(hit not in mine and written_as_names(hit, reading) for hit in hits):
                yield LeakKind.OTHER_NAME
        found = {mrn for mrn in _identifiers(reading.folded) if mrn in self._mrns}
        found |= {n for m in _SPACED_NUMBER.finditer(reading.folded) if (n := _national(m.group())) in self._numbers}
        if found and found.difference(*(_all_telling(row) for row in own)):
            yield LeakKind.OTHER_NUMBER
        if "@" in reading.folded:
            emails = {email for m in _EMAIL.finditer(reading.folded) if (email := m.group().strip(".")) in self._emails}
            if emails.difference(*(_telling_email(row) for row in own)):
                yield LeakKind.OTHER_EMAIL


def full_names(person: Patient | Provider) -> frozenset[str]:
    """Lines of a person's full name: first name first or last, with a middle name or without, initials left out."""
    first, last = ([p for p in name_parts(name or "") if len(p) > 1] for name in (person.first_name, person.last_name))
    if not first or not last or len("".join((*first, *last))) < _SHORTEST_FULL_NAME:
        return frozenset()
    middle = [p for p in name_parts(getattr(person, "middle_name", None) or "") if len(p) > 1]
    orders = {(*first, *last), (*last, *first), (first[0], *last), (*last, first[0])}
    if middle:
        orders.add((*first, *middle, *last))
    return frozenset(line_of(order) for order in orders if len(order) > 1)


def written_as_names(line: str, reading: ComparableText) -> bool:
    """Whether a full name is one: at once if every word of it is rare, else where it is written as names are.

    That is with capitals and in one sentence, which "Medina. Will call" is not; and with two letters as in "Do",
    which the "DO" behind a physician's name is not.
    """
    wanted = line.split()
    # "de la" in the middle of a name tells nothing, with capitals or without.
    if not any(_ordinary(w) for place, w in enumerate(wanted) if not _inside(place, wanted)):
        return True
    written = reading.written
    for place, (folded, _, _) in enumerate(written):
        run = written[place : place + len(wanted)] if folded == wanted[0] else ()
        if [word for word, _, _ in run] != wanted:
            continue
        between = (reading.text[end:start] for (_, _, end), (_, start, _) in pairwise(run))
        names = (reading.text[start:end] for i, (_, start, end) in enumerate(run) if not _inside(i, wanted))
        if all(map(_as_name, names)) and all(map(_BETWEEN.fullmatch, between)):
            return True
    return False


def _inside(place: int, words: Sequence[str]) -> bool:
    """Whether a word is a particle with names on both sides."""
    return 0 < place < len(words) - 1 and words[place] in word_list("particles")


def _as_name(word: str) -> bool:
    return word[0].isupper() and (len(word) >= SHORTEST_NAME or not word.isupper())


def _ordinary(word: str) -> bool:
    return len(word) < SHORTEST_NAME or is_ordinary(word)


def _identifiers(folded: str) -> Iterator[str]:
    """Whole tokens that could be record numbers; neither dates nor round results."""
    for match in _IDENTIFIER.finditer(folded):
        before = _LETTERS_BEFORE.search(folded[max(0, match.start() - 7) : match.start()])
        if before is None:
            continue
        token = before.group() + match.group()
        if not _DATE.fullmatch(token) and not token.endswith("000"):
            yield token.replace("-", "").lstrip("0")


def _telling_mrn(patient: Patient) -> Collection[str]:
    mrn = mrn_of(patient.mrn or "")
    return (mrn,) if len(mrn) >= LONG_NUMBER and any(c.isdigit() for c in mrn) else ()


def _telling_numbers(patient: Patient) -> Collection[str]:
    ssn = digits_of(patient.ssn or "")
    phone = digits_of(patient.phone or "")[-NATIONAL_NUMBER:]
    return {n for n, length in ((ssn, SSN_DIGITS), (phone, NATIONAL_NUMBER)) if len(n) == length and len(set(n)) > 2}


def _telling_email(patient: Patient) -> Collection[str]:
    email = fold(patient.email or "").strip()
    return (email,) if "@" in email else ()


def _all_telling(patient: Patient) -> set[str]:
    return {*_telling_mrn(patient), *_telling_numbers(patient)}


def _national(number: str) -> str:
    digits = digits_of(number)
    return digits[-NATIONAL_NUMBER:] if len(digits) > NATIONAL_NUMBER else digits
