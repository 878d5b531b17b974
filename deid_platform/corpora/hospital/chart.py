"""What one note knows: its patient, its people, its dates, its conditions.

Belongs here: facts fixed for the length of one note. Does not belong here: how a slot writes them
(`slots`) or the order of a note's parts (the layouts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

from deid_platform.corpora.hospital import dates, library
from deid_platform.corpora.hospital.library import City
from deid_platform.corpora.hospital.people import (
    Institution,
    Kin,
    Organization,
    Resident,
    Staff,
    age_on,
    facts_of,
)
from deid_platform.notes import Facility
from deid_platform.surrogates.dice import Dice

LONGEST_STAY = 9  # days
OLD_AGE = 89  # years; HIPAA's limit: older ages are identifiers


@dataclass(repr=False)
class Chart:
    """One note's facts; made by `open_chart`."""

    place: Institution
    resident: Resident
    dice: Dice
    note_type: str
    facts: frozenset[str]
    days: dict[str, date]
    date_way: str
    facility: Facility
    hospital: Facility
    primary: str
    other: str
    people: dict[str, Staff]
    relatives: dict[str, Kin]
    firms: dict[str, Organization]
    side: str
    elsewhere: City
    used: dict[str, set[int]] = field(default_factory=dict)

    @property
    def years(self) -> int:
        """The patient's age on the note's date."""
        return age_on(self.resident.born, self.days["note"])

    def day(self, which: str) -> date:
        """The date of that name; some are drawn anew at each call, none lies before birth."""
        if which in self.days:
            return self.days[which]
        low, high = _DISTANCES[which]
        day = self.days["note"] + timedelta(days=self.dice.between(low, high))
        return max(day, self.resident.born + timedelta(days=1)) if high <= 0 else day

    def stay_day(self) -> date:
        """A day between admission and discharge."""
        stay = (self.days["discharge"] - self.days["admit"]).days
        return self.days["admit"] + timedelta(days=self.dice.between(0, stay))


_AT_THE_CLINIC = ("progress", "telephone", "referral", "questionnaire", "email")
_IN_HOSPITAL = ("discharge", "h_and_p", "operative", "nursing")
_ORGANS = ("lungs", "heart", "abdomen", "skin", "legs", "neuro", "psych")

# Days from the note to a date that is drawn when it is mentioned.
_DISTANCES = {
    "recent": (-21, -1),
    "past": (-800, -25),
    "old": (-4600, -900),
    "next": (7, 92),
    "soon": (1, 6),
    "eve": (-3, -1),
}


def open_chart(
    place: Institution, resident: Resident, dice: Dice, note_type: str, written: date, author: Staff
) -> Chart:
    """Draw what the note will know."""
    facts = facts_of(resident.born, resident.sex, written)
    if resident.delivered is not None and 0 <= (written - resident.delivered).days < 28:
        facts |= {"postpartum"}
    if not facts & {"newborn", "postpartum"}:
        facts |= {"medical"}
    if resident.maiden_name:
        facts |= {"renamed"}
    if resident.patient.ssn:
        facts |= {"has_ssn"}
    if resident.patient.email:
        facts |= {"has_email"}
    if resident.nickname:
        facts |= {"nicknamed"}
    facts |= _name_facts(resident)
    stay = 2 if facts & {"newborn", "postpartum"} else dice.between(2, LONGEST_STAY)
    admit = max(written - timedelta(days=stay), resident.born)
    primary, other = _conditions(resident, dice, note_type, facts)
    described = {c.key: c for c in library.conditions()}
    specialty = described[primary].specialty
    taken = {*described[primary].organs, *described[other].organs}
    facts |= {f"{organ}_free" for organ in _ORGANS if organ not in taken}
    physicians = [s for s in place.by_role["physician"] if s is not author]
    # In hospital the last visit is of the same stay, elsewhere some weeks ago.
    since = dice.between(1, 2) if note_type in _IN_HOSPITAL else dice.between(3, 60)
    visit = max(written - timedelta(days=since), resident.born + timedelta(days=1))
    people = {
        "author": author,
        "pcp": resident.pcp,
        "attending": author if author.role == "physician" else dice.pick(physicians),
        "consultant": dice.pick([s for s in physicians if s.specialty == specialty] or physicians),
        "nurse": dice.pick(place.by_role["nurse"]),
    }
    # The first three facilities are the main, the children's and the community hospital.
    main = place.facilities[1] if "minor" in facts and "newborn" not in facts else place.facilities[0]
    hospital = main if dice.chance(0.8) else place.facilities[2]
    return Chart(
        place=place,
        resident=resident,
        dice=dice,
        note_type=note_type,
        facts=facts,
        days={
            "note": written,
            "birth": resident.born,
            "admit": admit,
            "discharge": written,
            "delivered": resident.delivered or resident.born,
            "visit": visit,
            **_spell(resident, dice, written),
        },
        date_way=dice.pick(dates.COMMON[:4]) if dice.chance(0.8) else dice.pick(dates.COMMON),
        facility=resident.clinic if note_type in _AT_THE_CLINIC else hospital,
        hospital=hospital,
        primary=primary,
        other=other,
        people=people,
        side=dice.pick(("left", "right")),
        elsewhere=dice.pick([city for city in library.cities() if city.name != resident.patient.city]),
        relatives={"relative": resident.kin[0], "relative2": resident.kin[1]},
        firms={
            "outside": dice.pick(place.practices[specialty if dice.chance(0.6) else "general"]),
            "therapy": dice.pick(place.practices["therapy"]),
            "homecare": dice.pick(place.practices["homecare"]),
            "employer": resident.employer,
            "pharmacy": resident.pharmacy,
        },
    )


def _name_facts(resident: Resident) -> frozenset[str]:
    """What the patient's name has that can be written in more than one way."""
    first, last = resident.first, resident.last
    return frozenset(
        fact
        for fact, true in (
            ("middle", bool(resident.middle)),
            ("hyphenated", "-" in last),
            ("apostrophe", "'" in last),
            ("particle", " " in last),
            ("compound", any(c in last for c in "-' ")),
            ("accented", not (first + last).isascii()),
            ("long_name", len(last) >= 6 and last.isalpha()),
        )
        if true
    )


def _spell(resident: Resident, dice: Dice, written: date) -> dict[str, date]:
    """Two days of one month not long before the note, for ranges of dates."""
    to = written - timedelta(days=dice.between(5, 80))
    start = to - timedelta(days=dice.between(1, 12))
    if start.month != to.month:
        start = to.replace(day=1)
    if start == to:
        to = to.replace(day=4)
    if start <= resident.born:
        return {"from": resident.born, "to": resident.born + timedelta(days=2)}
    return {"from": start, "to": to}


def _conditions(resident: Resident, dice: Dice, note_type: str, facts: frozenset[str]) -> tuple[str, str]:
    able = [c for c in library.conditions() if c.who <= facts]
    situation = [c.key for c in able if "situation" in c.kinds]
    chronic = [key for key in resident.chronic if any(c.key == key for c in able)]
    if not chronic:
        chronic = [c.key for c in able if "chronic" in c.kinds or "situation" in c.kinds]
    if len(situation) > 1:
        first, second = dice.some(situation, 2)
        return first, second
    if situation:
        primary = situation[0]
    elif note_type in _IN_HOSPITAL:
        primary = dice.pick([c.key for c in able if "inpatient" in c.kinds])
    elif dice.chance(0.55):
        primary = dice.pick(chronic)
    else:
        primary = dice.pick([c.key for c in able if "acute" in c.kinds])
    rest = [key for key in chronic if key != primary] or [
        c.key for c in able if c.key != primary and "chronic" in c.kinds
    ]
    return primary, dice.pick(rest)
