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
    "OTHER": Label.LOCATION_OTHER,  # of the track's own list, under its category of places
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
    "n2c2-2014": _I2B2_2014,  # the same corpus, as the portal of n2c2 calls it
    "n2c2-2016": _I2B2_2014,  # CEGS N-GRID, psychiatric evaluations: the same tags
    "i2b2-2006": {
        **{name: Label(name) for name in ("PATIENT", "DOCTOR", "HOSPITAL", "DATE", "PHONE", "AGE")},
        "LOCATION": Label.LOCATION_OTHER,
        "ID": Label.IDNUM,
    },
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
    "obi": {
        # Classes of obi's ClinicalBERT and RoBERTa for de-identification, which learned from i2b2-2014 with its labels
        # joined: LOC is every place but a hospital, ID every number, OTHERPHI what is in none of the others.
        "PATIENT": Label.PATIENT,
        "STAFF": Label.DOCTOR,
        "AGE": Label.AGE,
        "DATE": Label.DATE,
        "PHONE": Label.PHONE,
        "ID": Label.IDNUM,
        "EMAIL": Label.EMAIL,
        "PATORG": Label.ORGANIZATION,
        "HOSP": Label.HOSPITAL,
        "LOC": Label.LOCATION_OTHER,
        "OTHERPHI": Label.IDNUM,
    },
    "stanford-aimi": {
        # Classes of StanfordAIMI's de-identifiers of radiology reports; HCW is a health care worker.
        "PATIENT": Label.PATIENT,
        "HCW": Label.DOCTOR,
        "HOSPITAL": Label.HOSPITAL,
        "VENDOR": Label.ORGANIZATION,
        "PHONE": Label.PHONE,
        "ID": Label.IDNUM,
        "DATE": Label.DATE,
    },
    "murugadoss-2024-prompts": {
        # Keys of the JSON dictionaries that its prompts ask for (supplementary table 3); some are of medicine.
        **dict.fromkeys(("NAME", "FIRST_NAME", "LAST_NAME", "MIDDLE_NAME"), Label.PATIENT),
        **dict.fromkeys(("DATE", "DAY", "MONTH", "YEAR"), Label.DATE),
        **dict.fromkeys(("ID", "DOC_ID"), Label.IDNUM),
        **dict.fromkeys(("ZIP", "ZIPCODE"), Label.ZIP),
        **{name: Label(name) for name in ("AGE", "CITY", "STATE", "STREET", "COUNTRY", "HOSPITAL", "ORGANIZATION")},
        **{name: Label(name) for name in ("PROFESSION", "EMAIL", "PHONE", "URL")},
        "MED_ID": Label.MEDICALRECORD,
        "LOCATION": Label.LOCATION_OTHER,
        **dict.fromkeys(("MEDICAL", "DRUG", "DISEASE", "PROCEDURE")),
    },
    "miranda-2025": {
        # The four tags of its gold; then tags for the rest of its 19 categories, for which it names none.
        "NOME": Label.PATIENT,
        **dict.fromkeys(("ETÀ", "ETA"), Label.AGE),
        "DATA": Label.DATE,
        "LUOGO/INDIRIZZO": Label.LOCATION_OTHER,
        **dict.fromkeys(("NOME FAMILIARE", "FAMILIARE", "CAREGIVER"), Label.PATIENT),
        **dict.fromkeys(("MEDICO", "NOME MEDICO"), Label.DOCTOR),
        **dict.fromkeys(("DATA DI NASCITA", "DATA RICOVERO", "DATA DIMISSIONE"), Label.DATE),
        **dict.fromkeys(("LUOGO", "LUOGO DI NASCITA", "LOCALITÀ", "PROVENIENZA"), Label.LOCATION_OTHER),
        "INDIRIZZO": Label.STREET,
        **dict.fromkeys(("OSPEDALE", "STRUTTURA SANITARIA"), Label.HOSPITAL),
        **dict.fromkeys(("CODICE FISCALE", "PREVIDENZA SOCIALE"), Label.SSN),
        "TESSERA SANITARIA": Label.HEALTHPLAN,
        "CARTELLA CLINICA": Label.MEDICALRECORD,
        "TELEFONO": Label.PHONE,
        "EMAIL": Label.EMAIL,
        "DISPOSITIVO MEDICO": Label.DEVICE,
        "ALTRO": Label.IDNUM,
    },
    "aghakasiri-2025": {
        # Placeholders of the patient's identifiers (figure 5), without the stars around them.
        "patient_Name": Label.PATIENT,
        "patient_Phone_Number": Label.PHONE,
        "patient_Address": Label.STREET,
        "patient_Postal_Code": Label.ZIP,
        **dict.fromkeys(
            (
                *("patient_Medical_Record_Number(MRN)", "patient_Personal_Health_Number(PHN)"),
                "patient_Unique_Lifetime_Identifier(ULI)",
            ),
            Label.MEDICALRECORD,
        ),
        "patient_Date_of_Birth(DOB)": Label.DATE,
        **dict.fromkeys(("patient_Health_Card_Number(HCN)", "patient_insurance_number"), Label.HEALTHPLAN),
        "patient_patient_email": Label.EMAIL,
        "patient_accession_number": Label.IDNUM,
    },
    "mimic-iii": {
        # Types of its placeholders as `corpora/placeholders.py` reads them: in small letters, without what stands in
        # brackets and without numbers, so that "First Name7 (NamePattern1) 202" is "first name".
        **dict.fromkeys(
            (
                *("name", "name initial", "name prefix", "initial", "initials", "first name", "last name", "firstname"),
                *("lastname", "known firstname", "known lastname", "female first name", "male first name"),
            ),
            Label.PATIENT,
        ),
        **dict.fromkeys(
            ("attending info", "dictator info", "doctor first name", "doctor last name", "signature"), Label.DOCTOR
        ),
        **dict.fromkeys(
            ("hospital", "hospital unit name", "hospital unit number", "hospital ward name", "wardname", "ward name"),
            Label.HOSPITAL,
        ),
        **dict.fromkeys(("company", "university/college"), Label.ORGANIZATION),
        **dict.fromkeys(("apartment address", "street address", "po box"), Label.STREET),
        "location": Label.CITY,
        "state": Label.STATE,
        "state/zipcode": Label.ZIP,
        "zipcode": Label.ZIP,
        "country": Label.COUNTRY,
        "age over": Label.AGE,
        **dict.fromkeys(
            (
                *("day month", "day month year", "month", "month day", "month day year", "month year", "month/day"),
                *("month/day/year", "month/year", "year/month", "year/month/day", "date range", "holiday"),
            ),
            Label.DATE,
        ),
        "year": None,
        "ethnicity": None,
        **dict.fromkeys(("cc contact info", "telephone/fax", "pager number"), Label.PHONE),
        "e-mail address": Label.EMAIL,
        "url": Label.URL,
        "social security number": Label.SSN,
        **dict.fromkeys(("medical record number", "unit number"), Label.MEDICALRECORD),
        **dict.fromkeys(("md number", "provider number"), Label.LICENSE),
        "serial number": Label.DEVICE,
        **dict.fromkeys(("clip number", "job number", "numeric identifier", "pt id number"), Label.IDNUM),
    },
}
