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


class Indirect(StrEnum):
    """What may tell who somebody is although it names nobody: to an acquaintance, a relative, a colleague, a neighbour.

    Nine categories, as many as arXiv 2502.13342 has; names and borders are the platform's own. They stand beside
    `Label` and are none of it: no list of the law has them, and no shipped policy hides them.
    """

    FAMILY = "FAMILY"
    """Household and relatives: how many, twins, adoption, who died when."""
    OCCUPATION = "OCCUPATION"
    """Work, school, rank, what somebody was known for at work."""
    EVENT = "EVENT"
    """A rare or public event: an accident that was in the news, a rescue, a crime."""
    APPEARANCE = "APPEARANCE"
    """What somebody looks like, unless it is a finding: stature, hair, tattoos, clothing."""
    SURROUNDINGS = "SURROUNDINGS"
    """The kind of place that somebody lives or was found in, without its name."""
    ORIGIN = "ORIGIN"
    """Descent, language, religion, migration."""
    WAY_OF_LIFE = "WAY-OF-LIFE"
    """Pastimes, animals, possessions, journeys, habits that few have."""
    STANDING = "STANDING"
    """Means and law: wealth, debts, homelessness, prison, service, offices held."""
    CARE = "CARE"
    """A course of care that few have: the first of its kind, a trial, a rare disease said to be rare."""


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
NAMES_AND_PLACES = frozenset(
    {
        *(*PERSONS, Label.HOSPITAL, Label.ORGANIZATION, Label.LOCATION_OTHER),
        *(Label.CITY, Label.STATE, Label.COUNTRY, Label.STREET),
    }
)
"""Labels of what is known by a name: whether a word is one depends on the sentence."""
DIRECT_IDENTIFIERS = (
    Label.PATIENT, Label.SSN, Label.MEDICALRECORD, Label.PHONE, Label.FAX, Label.EMAIL, Label.URL, Label.IPADDR,
    Label.ACCOUNT, Label.HEALTHPLAN, Label.LICENSE, Label.VEHICLE, Label.DEVICE, Label.BIOID,
)  # fmt: skip

_I2B2_2014: dict[str, Label | None] = {
    **{label.value: label for label in Label},
    # Categories, where a tag says no more, and the sub-categories that the guidelines name beside those of the corpus.
    "LOCATION": Label.LOCATION_OTHER,
    "NAME": Label.PATIENT,
    "ID": Label.IDNUM,
    "CONTACT": Label.PHONE,
    "BIOMETRIC": Label.BIOID,
    "ROOM": Label.LOCATION_OTHER,
    "DEPARTMENT": Label.HOSPITAL,
    "IPADDRESS": Label.IPADDR,
}
_MEDDOCAN: dict[str, Label | None] = {
    # The 22 types that occur in the corpus.
    "TERRITORIO": Label.LOCATION_OTHER,  # cities, provinces and postcodes alike
    "FECHAS": Label.DATE,
    "NOMBRE_SUJETO_ASISTENCIA": Label.PATIENT,
    "EDAD_SUJETO_ASISTENCIA": Label.AGE,
    "NOMBRE_PERSONAL_SANITARIO": Label.DOCTOR,
    "SEXO_SUJETO_ASISTENCIA": None,
    "CALLE": Label.STREET,
    "PAIS": Label.COUNTRY,
    "ID_SUJETO_ASISTENCIA": Label.MEDICALRECORD,
    "CORREO_ELECTRONICO": Label.EMAIL,
    "ID_TITULACION_PERSONAL_SANITARIO": Label.LICENSE,
    "ID_ASEGURAMIENTO": Label.HEALTHPLAN,
    "HOSPITAL": Label.HOSPITAL,
    "FAMILIARES_SUJETO_ASISTENCIA": None,  # kinship ("madre", "padres"): of 335 in train and dev, 12 hold a name
    "INSTITUCION": Label.ORGANIZATION,
    "ID_CONTACTO_ASISTENCIAL": Label.IDNUM,
    "NUMERO_TELEFONO": Label.PHONE,
    "PROFESION": Label.PROFESSION,
    "NUMERO_FAX": Label.FAX,
    "OTROS_SUJETO_ASISTENCIA": None,  # descent, family status, objects
    "CENTRO_SALUD": Label.HOSPITAL,
    "ID_EMPLEO_PERSONAL_SANITARIO": Label.IDNUM,
    # The seven that its guidelines define and no note has.
    "IDENTIF_VEHICULOS_NRSERIE_PLACAS": Label.VEHICLE,
    "IDENTIF_DISPOSITIVOS_NRSERIE": Label.DEVICE,
    "NUMERO_BENEF_PLAN_SALUD": Label.HEALTHPLAN,
    "URL_WEB": Label.URL,
    "DIREC_PROT_INTERNET": Label.IPADDR,
    "IDENTF_BIOMETRICOS": Label.BIOID,
    "OTRO_NUMERO_IDENTIF": Label.IDNUM,
}

CROSSWALKS: dict[str, dict[str, Label | None]] = {
    # scheme -> its label -> ours; None where the scheme marks what is deliberately no identifier here. What depends on
    # the words at a span too, as in the two schemes with a suffix, is in `corpora/schemes.py`.
    "i2b2-2014": _I2B2_2014,
    "i2b2-2014-without-weekdays": _I2B2_2014,
    "meddocan": _MEDDOCAN,
    "meddocan-corrected": _MEDDOCAN,
    "conll-2003": {
        "PER": Label.PATIENT,
        "LOC": Label.LOCATION_OTHER,
        "ORG": Label.ORGANIZATION,
        "MISC": None,  # left out in Murugadoss 2024, supplementary information
    },
    "eds": {
        # Slots of the French templates; a surname or a given name may be anybody's.
        "NOM": Label.PATIENT,
        "PRENOM": Label.PATIENT,
        "DATE": Label.DATE,
        "DATE_NAISSANCE": Label.DATE,
        "ADRESSE": Label.STREET,
        "ADDRESSE": Label.STREET,
        "ZIP": Label.ZIP,
        "VILLE": Label.CITY,
        "TEL": Label.PHONE,
        "MAIL": Label.EMAIL,
        "HOPITAL": Label.HOSPITAL,
        "IPP": Label.MEDICALRECORD,
        "NDA": Label.IDNUM,
        "SECU": Label.SSN,
    },
    "aci-bench": {
        "PATIENT_SILVER": Label.PATIENT,
        "AGE_SILVER": Label.AGE,
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
    "mimic-iii": {
        # Types of its placeholders; without the number that tells one person from another.
        **dict.fromkeys(
            ("Age over 90",),
            Label.AGE,
        ),
        **dict.fromkeys(
            (
                "Apartment Address(1)",
                "Street Address(1)",
                "Street Address(2)",
            ),
            Label.STREET,
        ),
        **dict.fromkeys(
            (
                "Attending Info",
                "Dictator Info",
                "Doctor First Name",
                "Doctor Last Name",
                "Doctor Last Name (ambig)",
                "Name Initial (MD)",
                "Name6 (MD)",
                "Name7 (MD)",
                "Name8 (MD)",
            ),
            Label.DOCTOR,
        ),
        **dict.fromkeys(
            (
                "CC Contact Info",
                "Telephone/Fax (1)",
                "Telephone/Fax (2)",
                "Telephone/Fax (3)",
                "Telephone/Fax (5)",
            ),
            Label.PHONE,
        ),
        **dict.fromkeys(
            (
                "Clip Number (Radiology)",
                "Job Number",
                "Numeric Identifier",
            ),
            Label.IDNUM,
        ),
        **dict.fromkeys(
            (
                "Company",
                "University/College",
            ),
            Label.ORGANIZATION,
        ),
        **dict.fromkeys(
            ("Country",),
            Label.COUNTRY,
        ),
        **dict.fromkeys(
            (
                "Day Month",
                "Day Month Year",
                "Month (only)",
                "Month Day",
                "Month Day Year (2)",
                "Month/Day (1)",
                "Month/Day (2)",
                "Month/Day (3)",
                "Month/Day (4)",
                "Month/Day/Year",
                "Month/Year (2)",
                "Month/Year",
                "Year/Month",
                "Year/Month/Day",
            ),
            Label.DATE,
        ),
        **dict.fromkeys(
            ("E-mail address",),
            Label.EMAIL,
        ),
        **dict.fromkeys(
            (
                "Female First Name (ambig)",
                "Female First Name (un)",
                "First Name",
                "First Name (STitle)",
                "First Name (Titles)",
                "First Name11 (Name Pattern1)",
                "First Name3 (LF)",
                "First Name4 (NamePattern1)",
                "First Name5 (NamePattern1)",
                "First Name7 (NamePattern1)",
                "First Name8 (NamePattern2)",
                "First Name9 (NamePattern2)",
                "Initial (NamePattern1)",
                "Initials (NamePattern4)",
                "Initials (NamePattern5)",
                "Known firstname",
                "Known lastname",
                "Last Name",
                "Last Name (LF)",
                "Last Name (NamePattern1)",
                "Last Name (NamePattern4)",
                "Last Name (NamePattern5)",
                "Last Name (Prefixes)",
                "Last Name (STitle)",
                "Last Name (Titles)",
                "Last Name (ambig)",
                "Last Name (un)",
                "Male First Name (un)",
                "Name (NI)",
                "Name (STitle)",
                "Name Initial (NameIs)",
                "Name Initial (PRE)",
                "Name Prefix (Prefixes)",
                "Name10 (NameIs)",
                "Name11 (NameIs)",
                "Name12 (NameIs)",
                "Name13 (STitle)",
                "Name14 (STitle)",
                "Name2 (NI)",
            ),
            Label.PATIENT,
        ),
        **dict.fromkeys(
            (
                "Hospital",
                "Hospital1",
                "Hospital2",
                "Hospital3",
                "Hospital4",
                "Hospital5",
                "Hospital6",
            ),
            Label.HOSPITAL,
        ),
        **dict.fromkeys(
            ("Location (un)",),
            Label.CITY,
        ),
        **dict.fromkeys(
            (
                "MD Number(1)",
                "MD Number(2)",
                "MD Number(3)",
                "MD Number(4)",
            ),
            Label.LICENSE,
        ),
        **dict.fromkeys(
            ("Medical Record Number",),
            Label.MEDICALRECORD,
        ),
        **dict.fromkeys(
            ("Serial Number",),
            Label.DEVICE,
        ),
        **dict.fromkeys(
            ("Social Security Number",),
            Label.SSN,
        ),
        **dict.fromkeys(
            ("State",),
            Label.STATE,
        ),
        **dict.fromkeys(
            ("URL",),
            Label.URL,
        ),
    },
}
