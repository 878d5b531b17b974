"""The stratified sampler of a test set.

Belongs here: which notes are annotated and measured. Does not belong here: reading notes (`corpora/`) or
scoring them (`evaluation/`).

After Murugadoss 2024, Methods, "Sampling process and creation of gold standard test sets". Notes are grouped
by type and period. A group of N notes with w words on average counts as N x log10(w), so that long notes
weigh more and short boilerplate less; it gives s = min(N, max(k, its share of the adjusted counts x S))
notes, with k = 10 and S = 10,000. Inside a group distinct patients come first, then notes that contain
an identifier of their own patient, by the topics and never because a detector fired: of a site's notes, by what
the topics said when the note's own delivery arrived (`bench/gate/eligible.py`).

What the paper leaves open is settled thus:

- One word or less: log10(w) would be zero or negative, so the group's adjusted count is 0. It still
  gives its minimum k.
- Rounding is upwards. S is a minimum in the paper, so no group may fall below its share; at most one note
  a group comes on top.
- The minima come on top too, and a group that runs out of notes is not made up for elsewhere: the formula
  as it stands. The set's size is therefore near S, not S.

The paper's worked numbers agree with the formula for 3.7 million progress notes of 794 words (10.7
million by the formula, 10.8 in the paper) and less well for 12.7 million questionnaire responses of 1.99
words: 3.8 million by the formula, 4.0 in the paper.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from deid_platform.notes import Note, Patient

SIZE = 10_000
MINIMUM = 10
UNDATED = "undated"


@dataclass(frozen=True, slots=True)
class EligibleNote:
    """What the sampler needs to know of one note; its ids are identifiers, so `repr` shows none.

    Attributes:
        note_id: The source's id; one candidate a note.
        patient_id: The source's id; a note without one counts as a patient of its own.
        note_type: First half of its group.
        period: Second half; see `period_of`.
        words: Words in the note, 0 or more.
        has_phi: Whether it contains an identifier of its own patient; see `contains_own_phi`.
    """

    note_id: str
    patient_id: str | None
    note_type: str
    period: str
    words: int
    has_phi: bool

    def __repr__(self) -> str:
        return "<Candidate>"


_Drawn = tuple[bool, bytes, EligibleNote]
"""Whether a note lacks an identifier of its patient, its lot, and the note."""


@dataclass(frozen=True, slots=True)
class GroupShare:
    """One group of the population and what the sample took of it.

    Attributes:
        note_type: The group's note type.
        period: The group's period.
        population: N, its notes.
        mean_words: w, words a note.
        adjusted: N x log10(w), 0 where w is 1 or less.
        target: Share of the adjusted counts x S, before minimum, maximum and rounding.
        sampled: Notes taken.
        distinct_patients: Patients among them.
        phi_share: Share of them that contain an identifier of their own patient.
    """

    note_type: str
    period: str
    population: int
    mean_words: float
    adjusted: float
    target: float
    sampled: int
    distinct_patients: int
    phi_share: float


@dataclass(frozen=True, slots=True)
class TestSet:
    """A sample of notes.

    Attributes:
        note_ids: The notes, group by group, the first to be annotated first; identifiers.
        groups: Every group of the population, by type and period.
        phi_share: Share of the sample that contains an identifier of its own patient (96% in the paper);
            None for an empty sample.
    """

    note_ids: tuple[str, ...]
    groups: tuple[GroupShare, ...]
    phi_share: float | None

    def __repr__(self) -> str:
        return f"<TestSet of {len(self.note_ids)} notes in {len(self.groups)} groups>"


def period_of(day: date | None, ranges: Sequence[tuple[int, int]] = ()) -> str:
    """The period of a note's date: the range of years that holds it, by default its calendar year.

    Args:
        day: The note's date; None gives "undated".
        ranges: First and last year of each period; of two that hold the date the first stands. A year
            outside all of them is a period of its own.
    """
    if day is None:
        return UNDATED
    for first, last in ranges:
        if first <= day.year <= last:
            return f"{first}-{last}"
    return str(day.year)


def adjusted_count(population: int, mean_words: float) -> float:
    """N x log10(mean words), and 0 where that is one word or less."""
    return population * math.log10(mean_words) if mean_words > 1 else 0.0


def sample(candidates: Iterable[EligibleNote], *, size: int = SIZE, minimum: int = MINIMUM, seed: int = 0) -> TestSet:
    """Draw a test set; the same notes for the same candidates, size, minimum and seed, in whatever order they come.

    Of each group, at most twice as many notes are held as one group can give, which is the larger of `size` and
    `minimum`.

    Args:
        candidates: The population, gone through once.
        size: S, the minimum size of the whole.
        minimum: k, the minimum of a group.
        seed: Decides between notes that the rules rank alike.
    """
    population: dict[tuple[str, str], _Group] = defaultdict(partial(_Group, max(size, minimum)))
    for candidate in candidates:
        population[candidate.note_type, candidate.period].add(candidate, seed)
    means = {group: notes.words / notes.population for group, notes in population.items()}
    adjusted = {group: adjusted_count(notes.population, means[group]) for group, notes in population.items()}
    total = math.fsum(adjusted.values())
    taken: list[EligibleNote] = []
    groups: list[GroupShare] = []
    for group in sorted(population):
        target = adjusted[group] / total * size if total else 0.0
        # The millionth keeps a share of exactly 3 notes from becoming 4 by its last binary digit.
        ranked = _ranked(population[group].held)[: max(minimum, math.ceil(target - 1e-6))]
        chosen = [candidate for _, _, candidate in ranked]
        taken += chosen
        groups.append(
            GroupShare(
                note_type=group[0],
                period=group[1],
                population=population[group].population,
                mean_words=means[group],
                adjusted=adjusted[group],
                target=target,
                sampled=len(chosen),
                distinct_patients=len({_person(c) for c in chosen}),
                phi_share=_phi_share(chosen) or 0.0,
            )
        )
    return TestSet(tuple(c.note_id for c in taken), tuple(groups), _phi_share(taken))


def contains_own_phi(note: Note, patient: Patient) -> bool:
    """Whether a note shows its own patient's name, street address, phone number or e-mail address.

    Names count as whole words with a capital, so that a patient called Will is not found in every
    "will"; the rest is compared without case or, for phones, by digits alone.
    """
    text = unicodedata.normalize("NFC", note.text)
    for name in (patient.first_name, patient.last_name):
        if name and _shown(name.strip(), text, capital=True):
            return True
    for value in (patient.street, patient.email):
        if value and _shown(value.strip(), text, capital=False):
            return True
    digits = re.sub(r"\D", "", patient.phone or "")
    if len(digits) < 7:
        return False
    return re.search(r"(?<!\d)" + r"[\s().-]{0,3}".join(digits[-10:]) + r"(?!\d)", text) is not None


@dataclass(slots=True)
class _Group:
    """One group of the population, as it is gone through.

    Attributes:
        most: The most notes that it may give.
        population: Its notes so far.
        words: Their words.
        held: Those of them that may be taken.
        last: The place of the last of these, where they are of as many patients: no note behind it is taken.
    """

    most: int
    population: int = 0
    words: int = 0
    held: list[_Drawn] = field(default_factory=list)
    last: tuple[bool, bytes] | None = None

    def add(self, note: EligibleNote, seed: int) -> None:
        """Counts a note, and holds it if it may be taken."""
        self.population += 1
        self.words += note.words
        place = not note.has_phi, _draw(note, seed)
        if self.last is not None and place > self.last:
            return
        self.held.append((*place, note))
        if len(self.held) > 2 * self.most:
            # A note that so many come before is not taken, whatever follows.
            self.held = _ranked(self.held)[: self.most]
            if len({_person(each) for _, _, each in self.held}) == self.most:
                self.last = self.held[-1][:2]


def _ranked(notes: Iterable[_Drawn]) -> list[_Drawn]:
    """Every patient's first note, then every patient's second, ...; in each round notes with PHI first."""
    seen: dict[tuple[bool, str], int] = defaultdict(int)
    rounds: list[tuple[int, _Drawn]] = []
    for note in sorted(notes, key=lambda row: row[:2]):
        person = _person(note[2])
        rounds.append((seen[person], note))
        seen[person] += 1
    return [note for _, note in sorted(rounds, key=lambda row: (row[0], *row[1][:2]))]


def _person(candidate: EligibleNote) -> tuple[bool, str]:
    return (False, candidate.note_id) if candidate.patient_id is None else (True, candidate.patient_id)


def _draw(candidate: EligibleNote, seed: int) -> bytes:
    """The note's lot. A hash rather than a random generator, so that no other note has a part in it."""
    raw = f"{seed}:{candidate.note_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16).digest()


def _phi_share(notes: Sequence[EligibleNote]) -> float | None:
    return sum(c.has_phi for c in notes) / len(notes) if notes else None


def _shown(value: str, text: str, *, capital: bool) -> bool:
    words = re.findall(r"\w+", unicodedata.normalize("NFC", value))
    if not words:
        return False
    pattern = r"(?<!\w)" + r"[\W_]{1,3}".join(map(re.escape, words)) + r"(?!\w)"
    found = re.finditer(pattern, text, re.IGNORECASE)
    return any(not capital or not match.group()[0].islower() for match in found)
