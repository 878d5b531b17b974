"""Names of people in a carrier's own slots: who is meant, and the new name written as the old one was.

Belongs here: slots of patients and clinicians. Does not belong here: other slots (`filling.py`).

Who is meant is resolved as it is for surrogates of a redaction (`surrogates/identity.py`): "John Smith", "Mr. Smith"
and "JS" are one person. The first patient that a note names is its own; the next are relatives. A clinician has one
surrogate throughout the corpus. A placeholder ("Dr. X") is somebody of this note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from anyascii import anyascii

from deid_platform.corpora.injection.carriers import Carrier, Slot
from deid_platform.corpora.injection.chart import Chart
from deid_platform.corpora.injection.institution import Institution, Staff
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.identity import Directory, Mention, resolve
from deid_platform.surrogates.locales import Person
from deid_platform.surrogates.written_names import NamePart, Role, follows_title

# What a name is that stands after these words.
_FIELDS = (
    ("last", re.compile(r"(?:apellidos?|surname|last name|family name|cognome|nom de famille)\s*[:.]?\s*$", re.I)),
    ("first", re.compile(r"(?:nombre|first name|given names?|nome|prénoms?)\s*[:.]?\s*$", re.I)),
)
# Letters that stand for a name, blanks, and the names of nobody.
_PLACEHOLDER = re.compile(r"[\W_]+|[A-Z]{1,3}|X+|[A-D]{3,5}(?:[\s,]+[A-D]{3,5})*|.*\b(?:Sample|Doe|Doctor|Patient)\b.*")
_TWO_SURNAMES = "es"


def names_in(carrier: Carrier, slots: Sequence[Slot], chart: Chart, institution: Institution) -> list[str]:
    """The new text of each slot."""
    text = carrier.note.text
    spans = [Span(slot.start, slot.end, slot.label) for slot in slots if slot.label is not None]
    resolved = resolve(carrier.note, spans, _nobody())
    people = _People(chart, institution)
    return [_one(text, slot, mentions, people, chart.language) for slot, mentions in zip(slots, resolved, strict=True)]


def _paired(text: str, slots: Sequence[Slot]) -> list[Slot]:
    """Two neighbours of one word each are first name and surname: capitals tell the surname, else it comes last."""
    told = list(slots)
    for i, (one, other) in enumerate(pairwise(slots)):
        words = text[one.start : one.end], text[other.start : other.end]
        apart = text[one.end : other.start]
        if one.label is other.label and apart in (" ", ", ") and not any(" " in word or "." in word for word in words):
            surname_first = apart == ", " or (words[0].isupper() and not words[1].isupper())
            parts = ("last", "first") if surname_first else ("first", "last")
            told[i], told[i + 1] = (replace(slot, part=part) for slot, part in zip((one, other), parts, strict=True))
    return told


@cache
def _nobody() -> Directory:
    return Directory(None)


def _one(text: str, slot: Slot, mentions: tuple[Mention, ...] | None, people: _People, language: str) -> str:
    surface = text[slot.start : slot.end]
    assert slot.label is not None  # noqa: S101 - a name has one
    before = text[max(0, slot.start - 24) : slot.start]
    part = slot.part or next((part for part, field in _FIELDS if field.search(before)), "")
    if part or mentions is None or _PLACEHOLDER.fullmatch(surface):
        patient = slot.label is Label.PATIENT
        person = people.placeholder(slot.label, slot.person if patient or slot.said else surface)
        part = part or _implied(surface, slot, titled=follows_title(text, slot.start))
        return _cased(_part_of(person, part), surface if len(surface) > 4 and not slot.said else "")
    written: list[str] = []
    at = 0
    for mention in mentions:
        person = people.of(slot.label, mention)
        for start, end, new in _runs(mention.parts, person, language):
            written += (surface[at:start], _cased(new, surface[start:end]))
            at = end if new else _behind_missing(surface, start, end)
    whole = "".join((*written, surface[at:]))
    if not surface[-1:].isspace():
        whole = whole.rstrip()
    return whole or people.of(slot.label, mentions[0]).first[:1]


def _behind_missing(surface: str, start: int, end: int) -> int:
    """Where a name goes on behind an initial that the new name lacks: its stop goes, and one of two spaces."""
    end += surface.startswith(".", end)
    if surface[start - 1 : start].isspace():
        end += len(surface) - end - len(surface[end:].lstrip())
    return end


def _implied(surface: str, slot: Slot, *, titled: bool) -> str:
    """Which part of a name a placeholder stands for."""
    if len(surface.split()) > 1:
        return "full"
    if titled:
        return "last"
    return "full" if slot.label is Label.DOCTOR else "first"


def _part_of(person: Person, part: str) -> str:
    match part:
        case "first":
            return person.first
        case "last":
            return person.last
        case "initials":
            return person.first[:1] + person.last[:1]
        case _:
            return f"{person.first} {person.last}"


class _People:
    """Who stands in for whom in one note."""

    def __init__(self, chart: Chart, institution: Institution) -> None:
        self._chart = chart
        self._institution = institution
        self._known: dict[tuple[Label, tuple[str, ...]], Person] = {}
        self._family = [chart.patient.person, *(relative.person for relative in chart.relatives)]
        self._free = [staff.person for staff in chart.staff]
        self._taken: set[str] = set()

    def of(self, label: Label, mention: Mention) -> Person:
        """The surrogate of somebody that the carrier names."""
        partial = mention.person is None
        # A lone first name or surname of a patient that no full name explains is the patient's.
        key = (label, ("",) if partial and label is Label.PATIENT else mention.token)
        found = self._known.get(key)
        if found is None:
            found = self._patient(key[1]) if label is Label.PATIENT else self._colleague(mention.token)
            self._known[key] = found
            if label is Label.PATIENT and len(self._known) == 1:
                self._known.setdefault((label, ("",)), found)
        return found

    def placeholder(self, label: Label, key: str) -> Person:
        """Somebody of this note alone; a patient without a number is the note's own."""
        known = (label, ("",) if label is Label.PATIENT and not key else ("placeholder", key))
        if known not in self._known:
            if label is Label.PATIENT:
                self._known.setdefault((label, ("",)), self._family[0])
                self._known.setdefault(known, self._patient(known[1]))
            else:
                self._known[known] = self._free[0] if len(self._free) == 1 else self._free.pop(0)
        return self._known[known]

    def _patient(self, token: tuple[str, ...]) -> Person:
        number = len({id(p) for (label, _), p in self._known.items() if label is Label.PATIENT})
        if number < len(self._family):
            return self._family[number]
        dice = Dice(self._institution.seed, self._chart.patient.patient_id, "other", *token)
        return self._institution.locale.person(dice, None, self._institution.share)

    def _colleague(self, token: tuple[str, ...]) -> Person:
        staff = self._institution.staff
        at = Dice(self._institution.seed, "staff of", *token).between(0, len(staff) - 1)
        for step in range(len(staff)):
            one: Staff = staff[(at + step) % len(staff)]
            if one.provider_id not in self._taken:
                self._taken.add(one.provider_id)
                return one.person
        return staff[at].person


def _runs(parts: Sequence[NamePart], person: Person, language: str) -> list[tuple[int, int, str]]:
    """Where the parts of a written name stand, and what replaces them: neighbours of one role as a whole."""
    roles = _roles(parts, language)
    runs: list[tuple[int, int, str]] = []
    before: tuple[bool, bool] | None = None
    for part, surname in zip(parts, roles, strict=True):
        kind = (surname, part.initial)
        if part.initial:
            name = person.last if surname else person.middle if part.role is Role.MIDDLE else person.first
            runs.append((part.start, part.end, name[:1]))
        elif kind == before:
            runs[-1] = (runs[-1][0], part.end, runs[-1][2])
        else:
            called = person.nickname or person.first if part.nickname else person.first
            runs.append((part.start, part.end, person.last if surname else called))
        before = kind
    return runs


def _roles(parts: Sequence[NamePart], language: str) -> list[bool]:
    """Whether each part is of the surname; of three words and more in Spanish, the last two are."""
    words = [part for part in parts if not part.initial]
    if language == _TWO_SURNAMES and len(words) > 2 and words[-1].role is Role.SURNAME and words[0].role is Role.GIVEN:
        last_two = {id(part) for part in words[-2:]}
        return [id(part) in last_two for part in parts]
    return [part.role is Role.SURNAME for part in parts]


def _cased(new: str, old: str) -> str:
    """A name in the case of the one that stood there, and without accents where that has capitals alone and none."""
    if old.isupper() and len(old) > 1:
        return anyascii(new).upper() if old.isascii() else new.upper()
    return new.lower() if old.islower() and len(old) > 1 else new
