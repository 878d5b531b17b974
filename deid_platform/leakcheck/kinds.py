"""The kinds of leak.

Belongs here: their names, which are also the reason codes of quarantined notes (`leak-<kind>`), and the
label behind each. Does not belong here: how any of them is recognised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from deid_platform.labels import Label
from deid_platform.redaction.policy import Action, Policy


class LeakKind(StrEnum):
    """What is left, the gravest first: a note's reason code names the first that was found."""

    MISALIGNED = "misaligned"
    REPORTED = "reported"
    FIRST_NAME = "first-name"
    MIDDLE_NAME = "middle-name"
    LAST_NAME = "last-name"
    PHONE = "phone"
    SSN = "ssn"
    MRN = "mrn"
    EMAIL = "email"
    STREET = "street"
    CITY = "city"
    ZIP = "zip"
    BIRTH_DATE = "birth-date"
    SOURCE_ID = "source-id"
    SURROGATE = "surrogate"
    RELATIVE_NAME = "relative-name"
    OTHER_NAME = "other-patient-name"
    OTHER_NUMBER = "other-patient-number"
    OTHER_EMAIL = "other-patient-email"
    PROVIDER_NAME = "provider-name"
    FACILITY_NAME = "facility-name"
    EMAIL_SHAPE = "email-shape"
    SSN_SHAPE = "ssn-shape"
    PHONE_SHAPE = "phone-shape"
    URL_SHAPE = "url-shape"
    IP_SHAPE = "ip-shape"
    MRN_SHAPE = "mrn-shape"
    CARD_SHAPE = "card-shape"
    DATE_SHAPE = "date-shape"
    LONE_YEAR = "lone-year"
    AGE_SHAPE = "age-shape"
    TAG_YEAR = "tag-year"
    OLD_DATE = "old-date"
    UNDECODED = "undecoded"
    COLUMN_TYPE = "column-note-type"
    COLUMN_LANGUAGE = "column-language"
    COLUMN_SITE = "column-site"
    COLUMN_DATE = "column-date"
    COLUMN_YEAR = "column-year"
    COLUMN_KEY = "column-key"


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """One kind of thing that is left; never the thing."""

    kind: LeakKind


_LABELS = {
    LeakKind.PHONE: Label.PHONE,
    LeakKind.SSN: Label.SSN,
    LeakKind.MRN: Label.MEDICALRECORD,
    LeakKind.EMAIL: Label.EMAIL,
    LeakKind.STREET: Label.STREET,
    LeakKind.CITY: Label.CITY,
    LeakKind.ZIP: Label.ZIP,
    LeakKind.BIRTH_DATE: Label.DATE,
    LeakKind.OTHER_EMAIL: Label.EMAIL,
    LeakKind.EMAIL_SHAPE: Label.EMAIL,
    LeakKind.SSN_SHAPE: Label.SSN,
    LeakKind.PHONE_SHAPE: Label.PHONE,
    LeakKind.URL_SHAPE: Label.URL,
    LeakKind.IP_SHAPE: Label.IPADDR,
    LeakKind.MRN_SHAPE: Label.MEDICALRECORD,
    LeakKind.CARD_SHAPE: Label.ACCOUNT,
    LeakKind.DATE_SHAPE: Label.DATE,
    LeakKind.AGE_SHAPE: Label.AGE,
}


def kept_kinds(policy: Policy) -> Iterator[LeakKind]:
    """Kinds that are no leak under a policy, because it keeps what they look for; names of patients never."""
    yield from (kind for kind, label in _LABELS.items() if policy.labels[label] is Action.KEEP)
    if policy.labels[Label.DATE] is Action.BIRTH_YEAR:
        yield LeakKind.DATE_SHAPE  # dates of care stay, a date of birth does not
