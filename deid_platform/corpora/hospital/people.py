"""The people, places and firms of the institution, and what is true of a patient on a day.

Belongs here: records and what follows from a birth date. Does not belong here: drawing them
(`institution`, `households`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from deid_platform.corpora.hospital.library import City
from deid_platform.corpora.hospital.spec import HospitalSpec
from deid_platform.notes import Facility, Patient, Provider


@dataclass(frozen=True, repr=False)
class Kin:
    """A relative as notes name them."""

    kin: str
    first: str
    last: str
    sex: str
    phone: str


@dataclass(frozen=True, repr=False)
class Organization:
    """A pharmacy, an employer or an outside practice; none is in the topics."""

    name: str
    street: str
    city: City
    phone: str
    fax: str


@dataclass(frozen=True, repr=False)
class Staff:
    """A provider with what the topics leave out."""

    provider: Provider
    role: str
    specialty: str
    phone: str
    pager: str
    dea: str
    license: str


@dataclass(frozen=True, repr=False)
class Resident:
    """A patient with what notes know beyond the topics.

    Attributes:
        patient: The row of the topics.
        arrival: The delivery, from 0, that first brings the patient.
        born: Date of birth.
        kin: Relatives, at least two.
        situation: `newborn`, `postpartum` or empty.
        delivered: For a mother with a newborn, the child's date of birth.
        maiden_name: The name that the topics held before a marriage.
    """

    patient: Patient
    arrival: int
    born: date
    sex: str
    first: str
    last: str
    middle: str
    nickname: str
    kin: tuple[Kin, ...]
    clinic: Facility
    pcp: Staff
    employer: Organization
    pharmacy: Organization
    plan_id: str
    account: str
    chronic: tuple[str, ...]
    situation: str = ""
    delivered: date | None = None
    maiden_name: str = ""


@dataclass(frozen=True, repr=False)
class Institution:
    """The whole place, the same for one spec on every machine."""

    spec: HospitalSpec
    slug: str
    brand: str
    facilities: tuple[Facility, ...]
    faxes: dict[str, str]
    staff: tuple[Staff, ...]
    by_role: dict[str, tuple[Staff, ...]]
    residents: tuple[Resident, ...]
    practices: Mapping[str, tuple[Organization, ...]]  # by specialty; also `therapy` and `homecare`


def facts_of(born: date, sex: str, on: date) -> frozenset[str]:
    """What guards may ask about a patient of that birth and sex on a day."""
    days = (on - born).days
    years = age_on(born, on)
    facts = {"male" if sex == "M" else "female"}
    if days < 28:
        facts |= {"newborn", "minor", "infant"}
    elif years < 2:
        facts |= {"child", "minor", "infant"}
    elif years < 18:
        facts |= {"child", "pupil", "minor"}
    else:
        facts |= {"adult"} | ({"working"} if years < 67 else {"old"})
        if years >= 40:
            facts.add("over40")
        if years > 89:
            facts.add("over89")
    if years >= 2:
        facts.add("years")
    return frozenset(facts)


def age_on(born: date, on: date) -> int:
    """Full years."""
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def ascii_slug(name: str) -> str:
    """Lower-case ASCII letters of a name, for addresses and user names."""
    folded = unicodedata.normalize("NFKD", name.replace("Ł", "L").replace("ø", "o").replace("Ø", "O").replace("ł", "l"))
    return re.sub(r"[^a-z]", "", folded.lower())
