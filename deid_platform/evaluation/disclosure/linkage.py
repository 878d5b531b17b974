"""An attacker who holds everybody's topics, and looks for the patient of each released note.

Belongs here: ranking candidates by what a text still shows, and how often the right one is first. Does not belong here:
what was missed (`evaluation/scores/missed_by_risk.py`), or telling what is true from surrogates (`plain_sight.py`).

The attack is that of record linkage (Fellegi and Sunter 1969, J Am Stat Assoc 64:1183), without weights learnt: each
thing that a note and a patient's row share (a word of a name, of a relative, street or town; a date; an age; a number
or an address) speaks for the patient by -log of how common it is, among all released notes or all patients, whichever
is more. So a rare surname says much, "will" nothing, and surrogates are noise: they point to whoever has such a name.
The attacker knows nothing of surrogates, secrets or date shifts, and attacks each note by itself; one who puts a
patient's notes together does better. A note that shows nothing leaves all candidates tied.

Ties are broken at random, in expectation: of three tied for first, each is first with a chance of a third. So chance is
1 / N, and reported beside the attack, as is the attack on raw notes: what it would find if nothing were hidden.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from itertools import chain

import numpy as np
import numpy.typing as npt

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Ratio, Resampling, column
from deid_platform.notes import Patient, Topics
from deid_platform.surrogates.date_shapes import read_date
from deid_platform.text.fold import fold_term

TOP = 10
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"(?<!\w)[A-Za-z]{0,4}[-#]?\d(?:[-. ()/]{0,2}[0-9A-Za-z]){3,}")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE = re.compile(
    r"(?<![\w/.-])(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?[ -][^\W\d_]{3,9}\.?,?[ -]\d{2,4}"
    r"|[^\W\d_]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})(?![\w/])"
)
_AGE = re.compile(r"\b(\d{1,3})[ -]?(?:y/?o\b|yrs?\b|years?[ -]old|year-old)|\bage[d:]? ?(\d{1,3})\b", re.IGNORECASE)
_NAMED = ("first_name", "middle_name", "last_name", "relatives", "street", "city")
_NUMBERED = ("mrn", "ssn", "phone", "zip", "street")

Feature = tuple[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class AttackedNote:
    """A text as the attacker has it.

    Attributes:
        text: Released, or raw to compare with.
        patient_id: Whose it is in truth.
        year: In which it was written, as far as the attacker knows, to turn ages into years of birth.
        language: In which its months are written.
    """

    text: str
    patient_id: str
    year: int | None = None
    language: str = "en"

    def __repr__(self) -> str:
        return "<AttackedNote>"


@dataclass(frozen=True, slots=True)
class Linkage:
    """How well the attack goes.

    Attributes:
        first: Expected share of notes whose true patient ranks first.
        top: Expected share of notes whose true patient is among the first ten.
        chance_first: `first` of one who guesses.
        chance_top: `top` of one who guesses.
        candidates: Patients to choose from.
        silent: Notes that share nothing with any candidate.
    """

    first: Ratio
    top: Ratio
    chance_first: float
    chance_top: float
    candidates: int
    silent: int


def link(
    notes: Sequence[AttackedNote],
    topics: Topics,
    *,
    among: Sequence[Collection[str]] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Linkage:
    """Attacks notes; those of patients whom the topics do not have count as never found.

    Args:
        notes: Released, all at once: how common a word is follows from them. Or raw, to compare.
        topics: The candidates: current and former rows.
        among: Of each note, the patients of the topics among whom its own is looked for; everybody unless given. Then
            only `first` and `chance_first` are of these.
        resamples: Bootstrap resamples over patients.
        seed: Of the resampling.
    """
    places = {patient_id: at for at, patient_id in enumerate(topics.patients)}
    told = [frozenset(_of_note(note)) for note in notes]
    sought = frozenset(chain.from_iterable(told))
    known: dict[Feature, set[int]] = defaultdict(set)
    for row in topics.every_patient():
        if row.patient_id in places:
            # Patients may be millions: of what no note tells, nothing is held.
            for feature in sought.intersection(_of_patient(row)):
                known[feature].add(places[row.patient_id])
    shown = [found & known.keys() for found in told]
    seen: dict[Feature, int] = defaultdict(int)
    for feature in chain.from_iterable(shown):
        seen[feature] += 1
    index = {feature: np.fromiter(known[feature], dtype=np.int64) for feature in seen}
    weights = {
        feature: -math.log(max(count / (len(notes) + 1), len(index[feature]) / (len(places) + 1)))
        for feature, count in seen.items()
    }
    chosen = [None if among is None else [places[it] for it in among[at]] for at in range(len(notes))]
    rows = [_chances(places.get(note.patient_id), found, index, weights, len(places), some) for note, found, some in
            zip(notes, shown, chosen, strict=True)]  # fmt: skip
    table = np.array([(*row, 1) for row in rows], dtype=np.float64).reshape(-1, 3)
    resampled = Resampling(table, [note.patient_id for note in notes], resamples=resamples, seed=seed)
    n = len(places)
    alone = 1 / n if n else 0.0
    return Linkage(
        first=resampled.ratio(column(0), column(2), len(notes)),
        top=resampled.ratio(column(1), column(2), len(notes)),
        chance_first=sum(1 / len(some) for some in among) / len(among) if among else alone,
        chance_top=min(1.0, TOP / n) if n else 0.0,
        candidates=n,
        silent=sum(not found for found in shown),
    )


def _chances(
    true: int | None,
    found: Iterable[Feature],
    index: dict[Feature, npt.NDArray[np.int64]],
    weights: dict[Feature, float],
    candidates: int,
    among: Sequence[int] | None,
) -> tuple[float, float]:
    """How likely the true patient is first, and among the first ten, ties broken at random."""
    if true is None or (among is not None and true not in among):
        return 0.0, 0.0
    scores = np.zeros(candidates)
    for feature in sorted(found):  # in one order, so that equal sums are equal
        scores[index[feature]] += weights[feature]
    if among is not None:
        others = np.ones(candidates, dtype=bool)
        others[list(among)] = False
        scores[others] = -np.inf
    before = int((scores > scores[true] + 1e-9).sum())
    tied = int((np.abs(scores - scores[true]) <= 1e-9).sum())
    first, top = (min(1.0, max(0, places - before) / tied) for places in (1, TOP))
    return first, top


def _of_patient(row: Patient) -> Iterator[Feature]:
    values = {item.name: getattr(row, item.name) for item in fields(row)}
    for name in _NAMED:
        for word in _WORD.findall(values[name] or ""):
            yield "word", fold_term(word)
    for name in _NUMBERED:
        if number := _number(values[name] or ""):
            yield "number", number
    if row.email:
        yield "email", row.email.casefold()
    if row.birth_date:
        yield "date", row.birth_date.isoformat()
        yield "born", str(row.birth_date.year)


def _of_note(note: AttackedNote) -> Iterator[Feature]:
    for word in _WORD.findall(note.text):
        yield "word", fold_term(word)
    for match in _NUMBER.findall(note.text):
        yield "number", _number(match)
    for match in re.findall(r"\d{4,}", note.text):
        yield "number", _number(match)
    for match in _EMAIL.findall(note.text):
        yield "email", match.casefold()
    for written in _DATE.findall(note.text):
        for day in _days(written, note.language):
            yield "date", day.isoformat()
    if note.year is not None:
        for match in _AGE.findall(note.text):
            for before in (0, 1):
                yield "born", str(note.year - int(match[0] or match[1]) - before)


def _days(written: str, language: str) -> Iterator[date]:
    """A date read as the language reads it and, where it is numeric, with day and month exchanged too."""
    with suppress(ValueError):
        found = read_date(written, language, None)
        if found is not None and found.full:
            yield found.day
    numbers = re.fullmatch(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", written)
    if numbers:
        one, other, year = map(int, numbers.groups())
        for month, day in ((one, other), (other, one)):
            with suppress(ValueError):
                yield date(year, month, day)


def _number(value: str) -> str:
    """The last ten digits of a number of at least four, so that no country code parts two; else nothing."""
    digits = "".join(c for c in value if c.isdigit())
    return digits[-10:] if len(digits) >= 4 else ""
