"""What arrives when: new, changed, late and withdrawn notes, and patients who moved or married.

Belongs here: the plan of a delivery and its carrying out, note by note. Does not belong here: how a note
reads (`compose`) or lies on disk (`feed`).

A note is made from its number alone, so that it can be written as it is made, in any order, and again
with a corrected row of the topics: the same draws then give the same note with the corrected value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from deid_platform.corpora.hospital import draws, identifiers, institution, library, selection
from deid_platform.corpora.hospital.chart import open_chart
from deid_platform.corpora.hospital.compose import compose
from deid_platform.corpora.hospital.people import Institution, Resident, Staff, age_on
from deid_platform.corpora.hospital.spec import (
    DAYS_BETWEEN_DELIVERIES,
    TYPE_NAMES,
    Document,
    HospitalDelivery,
    HospitalSpec,
)
from deid_platform.notes import Note, Patient, Topics, Withdrawal
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.pools import surnames

LATER_SHARE = 0.12  # of all notes, in each delivery after the first
LATE_SHARE = 0.15  # of a later delivery's notes: written months ago
CHANGED_SHARE = 0.03  # of the notes delivered so far
WITHDRAWN_SHARE = 0.01
MOVED_SHARE = 0.02  # of the patients known so far
HISTORY_DAYS = 540


@dataclass(frozen=True)
class NotePlan:
    """A note to be written: its number, whose it is, when, and whether it is a corrected version."""

    number: int
    resident: int
    note_type: str
    written: date
    addendum: bool = False

    @property
    def note_id(self) -> str:
        """The source's id."""
        return f"N{self.number:07d}"


@dataclass(frozen=True, repr=False)
class DeliveryPlan:
    """A delivery before its notes are written."""

    watermark: str
    place: Institution
    notes: tuple[NotePlan, ...]
    topics: Topics
    withdrawals: tuple[Withdrawal, ...]


def generate(spec: HospitalSpec) -> Iterator[HospitalDelivery]:
    """The deliveries in their order, each with its gold apart.

    Args:
        spec: What to generate; the same spec gives the same deliveries.
    """
    for plan in plans(spec):
        made = list(documents(plan))
        yield HospitalDelivery(
            watermark=plan.watermark,
            notes=[d.note for d in made],
            gold={d.note.note_id: d.gold for d in made},
            clinical={d.note.note_id: d.clinical for d in made},
            shapes={d.note.note_id: d.shapes for d in made},
            ways={d.note.note_id: d.ways for d in made},
            styles={d.note.note_id: d.style for d in made},
            conditions={d.note.note_id: d.condition for d in made},
            topics=plan.topics,
            withdrawals=plan.withdrawals,
        )


def documents(plan: DeliveryPlan) -> Iterator[Document]:
    """The notes of a delivery, each written when it is asked for: a plan of any size costs the memory of one note."""
    return (document(plan.place, note) for note in plan.notes)


def document(place: Institution, note: NotePlan) -> Document:
    """Write one planned note."""
    dice = Dice(place.spec.seed, "note", note.number)
    resident = place.residents[note.resident]
    author = _author(place, resident, note.note_type, dice)
    chart = open_chart(place, resident, dice, note.note_type, note.written, author)
    page, style = compose(chart, "addendum" if note.addendum else None)
    made = page.document(
        Note(
            note_id=note.note_id,
            text="",
            patient_id=resident.patient.patient_id,
            encounter_id=f"E{note.number:07d}",
            provider_id=author.provider.provider_id,
            site=place.slug,
            note_type=TYPE_NAMES[note.note_type],
            note_date=note.written,
        ),
        style,
    )
    return replace(made, condition=chart.primary)


def plans(spec: HospitalSpec) -> Iterator[DeliveryPlan]:
    """Each delivery's plan; the institution is folded as of that delivery."""
    place = institution.build(spec)
    counts = _counts(spec)
    so_far: list[NotePlan] = []
    gone_notes: set[int] = set()
    gone_residents: set[int] = set()
    for index in range(spec.deliveries):
        dice = Dice(spec.seed, "delivery", index)
        upserts: list[Patient] = [r.patient for r in place.residents if r.arrival == index]
        withdrawals: list[Withdrawal] = []
        changed: list[NotePlan] = []
        if index:
            known = [n for n, r in enumerate(place.residents) if r.arrival < index and n not in gone_residents]
            leaver = dice.pick(known)
            gone_residents.add(leaver)
            withdrawals.append(Withdrawal(patient_id=place.residents[leaver].patient.patient_id))
            here = [p for p in so_far if p.resident not in gone_residents and p.number not in gone_notes]
            for old in dice.some(here, max(1, round(WITHDRAWN_SHARE * len(so_far)))):
                gone_notes.add(old.number)
                withdrawals.append(Withdrawal(note_id=old.note_id))
            here = [p for p in here if p.number not in gone_notes]
            moved = _move(spec, place, index, [n for n in known if n != leaver], dice)
            residents = list(place.residents)
            for number, resident in moved.items():
                residents[number] = resident
                upserts.append(resident.patient)
            before, place = place, replace(place, residents=tuple(residents))
            changed = _changes(before, place, here, dice, max(2, round(CHANGED_SHARE * len(so_far))))
        fresh = _fresh(spec, place, index, counts[index], len(so_far), gone_residents, dice)
        so_far.extend(fresh)
        newest = {plan.number: plan for plan in changed}
        so_far = [newest.get(plan.number, plan) for plan in so_far]
        topics = Topics.of(
            upserts,
            [s.provider for s in place.staff] if not index else [],
            list(place.facilities) if not index else [],
        )
        yield DeliveryPlan(spec.day(index).isoformat(), place, (*changed, *fresh), topics, tuple(withdrawals))


def _counts(spec: HospitalSpec) -> list[int]:
    each = max(5, round(min(LATER_SHARE, 0.5 / max(1, spec.deliveries - 1)) * spec.notes))
    return [spec.notes - each * (spec.deliveries - 1)] + [each] * (spec.deliveries - 1)


def _fresh(
    spec: HospitalSpec,
    place: Institution,
    index: int,
    count: int,
    numbered: int,
    gone: set[int],
    dice: Dice,
) -> list[NotePlan]:
    """New notes: one for every newcomer, then anyone's; a share of a later delivery's are late."""
    today = spec.day(index)
    newcomers = [n for n, r in enumerate(place.residents) if r.arrival == index]
    present = [n for n, r in enumerate(place.residents) if r.arrival <= index and n not in gone]
    # What comes late must belong to someone who lived then.
    grown = [n for n in present if place.residents[n].arrival < index and age_on(place.residents[n].born, today) > 0]
    late = max(1, round(LATE_SHARE * count)) if index else 0
    notes = []
    for place_in_line in range(count):
        is_late = place_in_line >= count - late
        if place_in_line < len(newcomers) and not is_late:
            who = newcomers[place_in_line]
            first = True
        else:
            who = dice.pick((is_late and grown) or present)
            first = False
        resident = place.residents[who]
        if is_late:
            written = today - timedelta(days=dice.between(60, 300))
        elif index:
            written = today - timedelta(days=dice.between(1, DAYS_BETWEEN_DELIVERIES))
        else:
            written = today - timedelta(days=dice.between(1, HISTORY_DAYS))
        note_type = dice.weighted(selection.type_weights(spec))
        if resident.situation and not index:
            written, likely = _around_birth(resident, today, note_type, dice, first=first)
            note_type = likely if likely in selection.layouts(spec) else note_type
        notes.append(NotePlan(numbered + place_in_line + 1, who, note_type, written))
    return notes


_NOT_AFTER_BIRTH = ("discharge", "report", "h_and_p", "operative", "pathology", "radiology")


def _around_birth(resident: Resident, today: date, note_type: str, dice: Dice, *, first: bool) -> tuple[date, str]:
    """Mother and child leave hospital two days after the birth; most other notes follow within weeks."""
    born = resident.delivered or resident.born
    if first:
        return born + timedelta(days=2), "discharge"
    days = dice.between(3, 27) if dice.chance(0.7) else dice.between(28, 44)
    note_type = "progress" if note_type in _NOT_AFTER_BIRTH else note_type
    return min(born + timedelta(days=days), today - timedelta(days=1)), note_type


def _author(place: Institution, resident: Resident, note_type: str, dice: Dice) -> Staff:
    if note_type in ("telephone", "nursing"):
        return dice.pick(place.by_role["nurse"])
    if note_type in ("discharge", "report", "h_and_p", "operative", "pathology", "radiology"):
        return dice.pick(place.by_role["physician"])
    if note_type in ("referral", "questionnaire", "email"):
        return resident.pcp
    if note_type == "consult":
        return dice.pick([s for s in place.by_role["physician"] if s is not resident.pcp])
    return resident.pcp if dice.chance(0.7) else dice.pick(place.by_role["physician"] + place.by_role["advanced"])


def _move(spec: HospitalSpec, place: Institution, index: int, known: list[int], dice: Dice) -> dict[int, Resident]:
    """Patients whose row changes: most moved house, some married and took another name."""
    moved: dict[int, Resident] = {}
    grown = [n for n in known if 18 <= age_on(place.residents[n].born, spec.day(index)) <= 89]
    for order, number in enumerate(dice.some(grown, max(2, round(MOVED_SHARE * len(known))))):
        resident = place.residents[number]
        row = resident.patient
        if order % 3 == 1 and not resident.situation:
            name = dice.pick([s for s in surnames("en_US", spec.name_share) if s != resident.last])
            row = replace(row, last_name=name)
            moved[number] = replace(resident, patient=row, last=name, maiden_name=resident.last)
            continue
        city = dice.pick([c for c in library.cities() if c.name != row.city])
        row = replace(
            row,
            street=draws.address(dice),
            city=city.name,
            state=city.state,
            zip=city.zip,
            phone=identifiers.phone(dice, city.area_code, style=1),
        )
        moved[number] = replace(resident, patient=row)
    return moved


def _changes(before: Institution, place: Institution, here: list[NotePlan], dice: Dice, count: int) -> list[NotePlan]:
    """Corrected versions of earlier notes: up to half take up a corrected row of the topics, the rest are amended."""
    # A changed surname stays out of old notes: they were true when they were written.
    fit = [plan for plan in here if not plan.addendum and not place.residents[plan.resident].maiden_name]
    corrected: list[NotePlan] = []
    for plan in dice.some([p for p in fit if before.residents[p.resident] is not place.residents[p.resident]], count):
        old, new = document(before, plan), document(place, plan)
        if old.note.text != new.note.text and len(corrected) < count // 2:
            corrected.append(plan)
    taken = {plan.number for plan in corrected}
    rest = [plan for plan in fit if plan.number not in taken]
    amended = [replace(plan, addendum=True) for plan in dice.some(rest, count - len(corrected))]
    return sorted([*corrected, *amended], key=lambda plan: plan.number)
