"""PHI labels, what the law calls them, how much they risk, and the crosswalks from other schemes.

Belongs here: names and their tables. Does not belong here: what a policy does with a label
(`redaction/`) or how one is found (`detection/`).

Sources: the label set of the 2014 i2b2/UTHealth shared task; identifier letters of 45 CFR
164.514(b)(2)(i); risk levels after Murugadoss 2024, supplementary table 1.
"""

from __future__ import annotations

from enum import StrEnum


class Label(StrEnum):
    """The platform's PHI labels: those of i2b2-2014, whose sub-categories these are."""

    PATIENT = "PATIENT"
    DOCTOR = "DOCTOR"
    USERNAME = "USERNAME"
    PROFESSION = "PROFESSION"
    HOSPITAL = "HOSPITAL"
    ORGANIZATION = "ORGANIZATION"
    STREET = "STREET"
    CITY = "CITY"
    STATE = "STATE"
    COUNTRY = "COUNTRY"
    ZIP = "ZIP"
    LOCATION_OTHER = "LOCATION-OTHER"
    AGE = "AGE"
    DATE = "DATE"
    PHONE = "PHONE"
    FAX = "FAX"
    EMAIL = "EMAIL"
    URL = "URL"
    IPADDR = "IPADDR"
    SSN = "SSN"
    MEDICALRECORD = "MEDICALRECORD"
    HEALTHPLAN = "HEALTHPLAN"
    ACCOUNT = "ACCOUNT"
    LICENSE = "LICENSE"
    VEHICLE = "VEHICLE"
    DEVICE = "DEVICE"
    BIOID = "BIOID"
    IDNUM = "IDNUM"


class Risk(StrEnum):
    """How far a leak of the label goes towards a person (Murugadoss 2024, supplementary table 1)."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"


HIPAA_IDENTIFIER: dict[Label, str | None] = {
    # The letter of 45 CFR 164.514(b)(2)(i); None where HIPAA does not list the label and a policy may still hide it.
    Label.PATIENT: "A",
    Label.DOCTOR: None,
    Label.USERNAME: None,
    Label.PROFESSION: None,
    Label.HOSPITAL: None,
    Label.ORGANIZATION: "A",
    Label.STREET: "B",
    Label.CITY: "B",
    Label.STATE: None,
    Label.COUNTRY: None,
    Label.ZIP: "B",
    Label.LOCATION_OTHER: "B",
    Label.AGE: "C",
    Label.DATE: "C",
    Label.PHONE: "D",
    Label.FAX: "E",
    Label.EMAIL: "F",
    Label.SSN: "G",
    Label.MEDICALRECORD: "H",
    Label.HEALTHPLAN: "I",
    Label.ACCOUNT: "J",
    Label.LICENSE: "K",
    Label.VEHICLE: "L",
    Label.DEVICE: "M",
    Label.URL: "N",
    Label.IPADDR: "O",
    Label.BIOID: "P",
    Label.IDNUM: "R",
}

RISK: dict[Label, Risk] = {
    **dict.fromkeys(Label, Risk.MODERATE),
    **dict.fromkeys(
        (Label.PATIENT, Label.SSN, Label.MEDICALRECORD, Label.HEALTHPLAN, Label.ACCOUNT, Label.EMAIL, Label.STREET),
        Risk.HIGH,
    ),
    **dict.fromkeys((Label.COUNTRY, Label.STATE, Label.PROFESSION), Risk.LOW),
}

# The direct identifiers of the patient that no rule lets through, not even that of limited data sets.
PERSONS = (Label.PATIENT, Label.DOCTOR)
"""Labels of people: patients and those around them, and clinicians."""
DIRECT_IDENTIFIERS = (
    Label.PATIENT, Label.SSN, Label.MEDICALRECORD, Label.PHONE, Label.FAX, Label.EMAIL, Label.URL, Label.IPADDR,
    Label.ACCOUNT, Label.HEALTHPLAN, Label.LICENSE, Label.VEHICLE, Label.DEVICE, Label.BIOID,
)  # fmt: skip

CROSSWALKS: dict[str, dict[str, Label]] = {
    # scheme -> its label -> ours. Names that another scheme shares with i2b2-2014 map to themselves.
    "i2b2-2014": {
        **{label.value: label for label in Label},
        "LOCATION": Label.LOCATION_OTHER,
        "NAME": Label.PATIENT,
        "ID": Label.IDNUM,
        "CONTACT": Label.PHONE,
        "BIOMETRIC": Label.BIOID,
    },
    "asq-phi": {
        "NAME": Label.PATIENT,
        "DATE": Label.DATE,
        "GEOGRAPHIC_LOCATION": Label.LOCATION_OTHER,
        "MEDICAL_RECORD_NUMBER": Label.MEDICALRECORD,
        "HEALTH_PLAN_BENEFICIARY_NUMBER": Label.HEALTHPLAN,
        "PHONE_NUMBER": Label.PHONE,
        "FAX_NUMBER": Label.FAX,
        "SOCIAL_SECURITY_NUMBER": Label.SSN,
        "EMAIL_ADDRESS": Label.EMAIL,
        "ACCOUNT_NUMBER": Label.ACCOUNT,
        "CERTIFICATE_LICENSE_NUMBER": Label.LICENSE,
        "UNIQUE_IDENTIFIER": Label.IDNUM,
    },
    "murugadoss-2024": {
        "Age": Label.AGE,
        "Alphanumeric Identifier": Label.IDNUM,
        "Date": Label.DATE,
        "Email": Label.EMAIL,
        "IP Address": Label.IPADDR,
        "Location": Label.LOCATION_OTHER,
        "Name": Label.PATIENT,
        "Organization": Label.ORGANIZATION,
        "Pager": Label.PHONE,
        "Phone number": Label.PHONE,
        "Vehicle Plate": Label.VEHICLE,
        "Website": Label.URL,
        "Zip Code": Label.ZIP,
    },
}
