"""What each peer claims to find: its kinds of identifiers, and which of our labels each covers.

Belongs here: crosswalks from the kinds of peers to labels. Does not belong here: calling a peer (`adapters.py`), or the
label schemes of gold (`labels.py`), where a label of theirs is one of ours.

A kind covers several labels where a peer does not tell them apart: a person is a patient or a clinician. A kind that
covers none is hidden by the peer and claimed by nobody: it is no identifier here (a nationality, a clock time), or a
single kind of number among many that a label has (a Bitcoin address). It is scored with all labels and left out where
only claimed labels count.
"""

from __future__ import annotations

from collections.abc import Mapping

from deid_platform.labels import Label

Claims = Mapping[str, tuple[Label, ...]]
"""A peer's kind -> the labels that it covers, the likeliest first."""

_PEOPLE = (Label.PATIENT, Label.DOCTOR)
_CALLS = (Label.PHONE, Label.FAX)

_PRESIDIO: Claims = {
    "CREDIT_CARD": (),
    "CRYPTO": (),
    "DATE_TIME": (Label.DATE,),
    "EMAIL_ADDRESS": (Label.EMAIL,),
    "IBAN_CODE": (),
    "IP_ADDRESS": (Label.IPADDR,),
    "MAC_ADDRESS": (),
    "MEDICAL_LICENSE": (Label.LICENSE,),
    "PHONE_NUMBER": _CALLS,
    "UK_NHS": (),
    "URL": (Label.URL,),
    "US_BANK_NUMBER": (Label.ACCOUNT,),
    "US_DRIVER_LICENSE": (Label.LICENSE,),
    "US_ITIN": (),
    "US_PASSPORT": (),
    "US_SSN": (Label.SSN,),
    "UUID": (),
}
_PLACES = (Label.CITY, Label.STATE, Label.COUNTRY, Label.LOCATION_OTHER)
# As Presidio's own configuration of each engine names what comes of it.
_SPACY: Claims = {"PERSON": _PEOPLE, "LOCATION": _PLACES, "NRP": ()}
_TRANSFORMERS: Claims = {
    **_SPACY,
    "LOCATION": (*_PLACES, Label.HOSPITAL),
    "ORGANIZATION": (Label.ORGANIZATION, Label.HOSPITAL),
    "AGE": (Label.AGE,),
    "ID": (Label.IDNUM, Label.MEDICALRECORD),
    "EMAIL": (Label.EMAIL,),
}

_PYDEID: Claims = {
    **dict.fromkeys(
        (
            *("Name", "First Name", "Last Name", "Male First Name", "Female First Name", "Name Initial", "Initials"),
            *("Name Prefix", "Last Prefix", "Doctor First Name", "Doctor Last Name"),
        ),
        _PEOPLE,
    ),
    **dict.fromkeys(
        (
            *("Month/Day/Year", "Day/Month/Year", "Year/Month/Day", "Year/Day/Month", "Month/Day", "Day/Month"),
            *("Month/Year", "Year/Month", "Day Month Year", "Month Day Year", "Month Day", "Day Month", "Month Year"),
            *("Month", "Year", "Date", "Date range", "Header Date", "Holiday", "Season"),
        ),
        (Label.DATE,),
    ),
    "Time": (),
    "Hospital": (Label.HOSPITAL,),
    "Site Acronym": (Label.HOSPITAL,),
    "Location": (Label.CITY,),
    "Street Address": (Label.STREET,),
    "Postalcode": (Label.ZIP,),
    "MRN": (Label.MEDICALRECORD,),
    "OHIP": (Label.HEALTHPLAN,),
    "SIN": (Label.SSN,),
    "Telephone/Fax": _CALLS,
    "Email Address": (Label.EMAIL,),
}

# Philter hides whatever is on no list of safe words. Its own scores leave these out.
_PHILTER: Claims = {
    "PHI": tuple(label for label in Label if label not in (Label.PROFESSION, Label.ORGANIZATION, Label.COUNTRY)),
}

_DEIDENTIFY: Claims = {
    # The tags of its Dutch models.
    "Name": _PEOPLE,
    "Initials": _PEOPLE,
    "Age": (Label.AGE,),
    "Date": (Label.DATE,),
    "Address": (Label.STREET, Label.ZIP, Label.CITY),
    "Internal_Location": (Label.LOCATION_OTHER,),
    "Hospital": (Label.HOSPITAL,),
    "Care_Institute": (Label.HOSPITAL,),
    "Named_Location": (Label.HOSPITAL,),
    "Organization_Company": (Label.ORGANIZATION,),
    "Profession": (Label.PROFESSION,),
    "Phone_fax": _CALLS,
    "Email": (Label.EMAIL,),
    "URL_IP": (Label.URL, Label.IPADDR),
    "SSN": (Label.SSN,),
    "ID": (Label.IDNUM, Label.MEDICALRECORD),
    "Other": (),
}

_ADDRESS = (Label.STREET, Label.CITY, Label.STATE, Label.ZIP)

_GLINER: Claims = {
    "person": _PEOPLE,
    "age": (Label.AGE,),
    **dict.fromkeys(("date", "date of birth"), (Label.DATE,)),
    "organization": (Label.ORGANIZATION, Label.HOSPITAL),
    "hospital": (Label.HOSPITAL,),
    "address": _ADDRESS,
    "city": (Label.CITY,),
    "country": (Label.COUNTRY,),
    "postal code": (Label.ZIP,),
    "phone number": _CALLS,
    "fax number": (Label.FAX,),
    "email": (Label.EMAIL,),
    "website": (Label.URL,),
    "ip address": (Label.IPADDR,),
    "username": (Label.USERNAME,),
    "social security number": (Label.SSN,),
    "medical record number": (Label.MEDICALRECORD,),
    "health insurance id number": (Label.HEALTHPLAN,),
    "bank account number": (Label.ACCOUNT,),
    "driver's license number": (Label.LICENSE,),
    "license plate number": (Label.VEHICLE,),
    "serial number": (Label.DEVICE,),
    "identity card number": (Label.IDNUM,),
    "passport number": (),
}

# GLiNER2-PII tells fifteen kinds of numbers apart, of which notes have few; secrets are no identifiers.
_GLINER2: Claims = {
    **dict.fromkeys(("person", "full_name", "first_name", "middle_name", "last_name"), _PEOPLE),
    **dict.fromkeys(
        ("date_of_birth", "sensitive_date", "document_date", "expiration_date", "transaction_date"), (Label.DATE,)
    ),
    "email": (Label.EMAIL,),
    "phone_number": _CALLS,
    "address": _ADDRESS,
    "street_address": (Label.STREET,),
    "city": (Label.CITY,),
    "state_or_region": (Label.STATE,),
    "postal_code": (Label.ZIP,),
    "country": (Label.COUNTRY,),
    "government_id": (Label.SSN, Label.IDNUM),
    "national_id_number": (Label.SSN, Label.IDNUM),
    "drivers_license_number": (Label.LICENSE,),
    "license_number": (Label.LICENSE,),
    **dict.fromkeys(("bank_account", "account_number"), (Label.ACCOUNT,)),
    "account_id": (Label.IDNUM, Label.MEDICALRECORD, Label.ACCOUNT),
    "sensitive_account_id": (Label.IDNUM, Label.MEDICALRECORD, Label.HEALTHPLAN),
    "username": (Label.USERNAME,),
    "ip_address": (Label.IPADDR,),
    **dict.fromkeys(("passport_number", "tax_id", "tax_number", "routing_number", "iban"), ()),
    **dict.fromkeys(("payment_card", "card_number", "card_expiry", "card_cvv"), ()),
    **dict.fromkeys(("password", "secret", "api_key", "access_token", "recovery_code"), ()),
}

_PRIVACY_FILTER: Claims = {
    "private_person": _PEOPLE,
    "private_date": (Label.DATE,),
    "private_address": _ADDRESS,
    "private_phone": _CALLS,
    "private_email": (Label.EMAIL,),
    "private_url": (Label.URL,),
    "account_number": (Label.ACCOUNT, Label.IDNUM, Label.MEDICALRECORD),
    "secret": (),
}

CLAIMS: Mapping[str, Mapping[str | None, Claims]] = {
    # peer -> kind of its engine, None where it has none or runs without -> claims
    "presidio": {
        None: _PRESIDIO,
        "spacy": {**_PRESIDIO, **_SPACY},
        "transformers": {**_PRESIDIO, **_TRANSFORMERS},
    },
    "pydeid": {None: _PYDEID},
    "philter": {None: _PHILTER},
    "deidentify": {"flair": _DEIDENTIFY, "crf": _DEIDENTIFY},
    "gliner": {"pii": _GLINER},
    "gliner2": {"pii": _GLINER2},
    "privacy-filter": {"transformers": _PRIVACY_FILTER},
}


def claimed(claims: Claims) -> frozenset[Label]:
    """The labels that any kind covers."""
    return frozenset(label for labels in claims.values() for label in labels)
