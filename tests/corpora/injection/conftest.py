"""Invented carriers, and a small set of ways of its own."""

from __future__ import annotations

import pytest

from deid_platform.corpora.injection import corpus
from deid_platform.corpora.injection.carriers import Carrier, Slot
from deid_platform.corpora.injection.ways import Ways, parse
from deid_platform.labels import Label
from deid_platform.notes import Note

WAYS = """# a comment
[header]
Patient: {patient~L, F M.}   MRN: {mrn}
DOB: {birth~MM/DD/YYYY}  ({patient.age} y)

{clinic|caps}
{clinic.street}, {clinic.city}
[signature]
Dictated by {doctor~F L}, {doctor.title} on {note~MM/DD/YY}
[section]
CONTACT: {relative~F L} ({relative.kin}), {relative.phone~###-###-####}
[opening]
{patient.title} {patient~F L} is known to us from {clinic2}.
[sentence]
{He} lives at {patient.street} in {patient.city} with {his} {relative.kin} {relative~F}.
<female> Her employer, {employer}, was told; her plan is {plan}.
<male> His user name is {patient.user|lower}, seen {=once|twice} in {n:2-3} visits.
[lead]
According to {relative.kin} {relative~F},@
[tail]
, as Dr. {doctor3~L} noted
[subject]
{patient.title} {patient~L}
[subject_again]
{He}
{patient~L}
[possessive]
{patient~L}'s
[date]
 on {past~Month D, YYYY}
""".replace("@", " ")

PROSE = (
    "SUBJECTIVE: The patient is a 57-year-old woman with lupus. She was admitted with fever. "
    "The patient's knee is stiff. "
    "The patient denies chest pain. There is no rash today.\nPLAN: We will see her again. She agrees to everything.\n"
)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    """The set above in place of every shipped one."""
    parsed = parse(WAYS, "dev/en", "en")
    monkeypatch.setattr(corpus, "ways_of", lambda name, language: parsed)
    return parsed


def carrier(text: str, *slots: tuple[str, Label], note_id: str = "n1", language: str = "en") -> Carrier:
    """A note whose slots are the given strings, each where it first stands after the one before."""
    places: list[Slot] = []
    at = 0
    for surface, label in slots:
        at = text.index(surface, at)
        places.append(Slot(at, at + len(surface), label))
        at += len(surface)
    return Carrier(Note(note_id, text, language=language), tuple(places))


def prose(count: int) -> list[Carrier]:
    """Many notes without identifiers of their own."""
    return [carrier(PROSE * 3, note_id=f"n{number}") for number in range(count)]
