"""What the columns of other systems are usually called, and the field that each name means.

Belongs here: whole names, as Epic Clarity, Cerner, Meditech, MIMIC, OMOP, HL7 and plain exports have them. Does not
belong here: names that their words explain, and what may be shown of a header (`columns.py`).

A guess is a proposal that a person reads. So a name is here if it mostly means that field, and a name that holds more
than a field is not: `PAT_NAME` is "Last, First" in one column, which has to be split before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from deid_platform.corpora import Role

_SIGNS = re.compile(r"[^a-z0-9]+")
# Field -> names, the likeliest first, without case and signs: `PAT_ENC_CSN_ID` is `patenccsnid`.
_NOTES = {
    "note_id": "notecsnid notenum noteno notenumber noteidentifier documentid docid docnum reportid rowid eventid "
    "clinicaleventid hnonoteid resultid textid letterid accession accessionid accessionno accessionnbr accessionnum "
    "accessionnumber",
    "text": "notetext notetxt fulltext fullnotetext reporttext resulttext documenttext noteblob blobcontents blobtext "
    "narrative obx5 txt body content contents dictation report",
    "patient_id": "patid patientid personid subjectid ptid patnum patientnumber patientno patientnum empi "
    "unitnumber pid3 patmrnid patmrn patientmrn mrn medicalrecordnumber hospitalnumber",
    "encounter_id": "patenccsnid csn csnid patenccsn contactserialnumber hadmid stayid encntrid encounterid encid "
    "visitid visitnumber visitno visitoccurrenceid visitnum fin finnbr accountnumber accountid acctnum hspaccountid "
    "har caseid admissionid pv119",
    "provider_id": "provid providerid authorid authorprovid authorserid serid attendingid attendingprovid physicianid "
    "prsnlid caregiverid cgid clinicianid doctorid notewriterid signedbyid",
    "site": "facilityname hospital institution sitename organization",
    "note_type": "notetypename notetypec iptnotetype iptnotetypec noteclass noteclassname category doctype "
    "documenttype documenttypename eventcd eventtitle notetitle notetypecd reporttype reporttitle noteclassconceptname "
    "type",
    "note_date": "servicedt servicedate servicedttm dateofservice dos notedatetime notedttm chartdate charttime "
    "creationdate createdate createdt createdttm createinstantdttm crtinstlocaldttm entrydate contactdate "
    "resultdate reportdate documentdate eventdate eventenddttm performeddttm authoredon filedate filedttm dictateddate "
    "signeddate",
    "language": "notelanguage languagecode lang",
}
_PERSON = {
    "first_name": "firstname fname first given givenname givennames forename patfirstname patientfirstname namefirst "
    "firstnm patfirst vorname prenom nombre nome pid52",
    "last_name": "lastname lname last family familyname surname patlastname patientlastname namelast lastnm patlast "
    "nachname familienname apellido apellidos cognome pid51",
    "phone": "phonenumber phoneno phonenum homephone homephonenumber telephone telephonenumber tel mobile mobilephone "
    "cellphone contactphone phonehome pid13 telefon telefono",
}
_PLACE = {
    "street": "address address1 addressline1 addrline1 addr1 addr streetaddress streetaddr addline1 homeaddress "
    "addresshome pid111 strasse indirizzo",
    "city": "town cityname addresscity homecity pid113",
    "state": "stateprovince statecd stateabbr statecode province homestate addressstate statec pid114",
    "zip": "zipcode zipcd postalcode postcode postal homezip addresszip plz zip5 pid115",
}
_PATIENTS = (
    _PERSON
    | _PLACE
    | {
        "patient_id": "patid personid subjectid ptid patnum patientnumber patientno empi pid3 id",
        "middle_name": "middlename mname middle middleinitial mi patmiddlename patientmiddlename namemiddle pid53",
        "birth_date": "birthdate dateofbirth dob birthdt birthdttm patdob patientdob birthday birthdatetime dobdttm "
        "geburtsdatum fechanacimiento datanascita pid7",
        "sex": "gender sexc sexcd gendercd gendersourcevalue patsex patientsex patientgender legalsex pid8",
        "mrn": "patmrnid patmrn patientmrn medicalrecordnumber medicalrecordno medrecno medrecnum hospitalnumber "
        "unitnumber chartnumber",
        "ssn": "socialsecuritynumber socialsecurity socsecnum patssn patientssn pid19",
        "email": "emailaddress emailaddr mail homeemail",
        "relatives": "relativenames nextofkin nextofkinname nok nokname emergencycontact emergencycontactname contacts",
        "mother_id": "motherid motherpatid motherpatientid mompatid mothersubjectid",
    }
)
_PROVIDERS = _PERSON | {
    "provider_id": "provid serid prsnlid personid cgid caregiverid physicianid doctorid clinicianid id",
    "title": "clinicianttl clinicianttitle cliniciantitle credentials degree providertitle",
    "npi": "npinumber npiid nationalprovideridentifier",
    "user_id": "userid username login loginname networkid",
}
_FACILITIES = _PLACE | {
    "facility_id": "departmentid deptid locid locationid caresiteid orgid organizationid hospitalid siteid id",
    "name": "facilityname departmentname deptname locname locationname caresitename hospitalname sitename",
    "abbreviation": "abbr abbrev shortname departmentabbreviation deptabbreviation locabbr",
    "phone": _PERSON["phone"],
}
USUAL: Mapping[Role, Mapping[str, str]] = {
    Role.NOTES: _NOTES,
    Role.PATIENTS: _PATIENTS,
    Role.PROVIDERS: _PROVIDERS,
    Role.FACILITIES: _FACILITIES,
    # Not `id`: whose it is, a note's or a patient's, nothing says.
    Role.WITHDRAWN: {name: _NOTES[name] for name in ("note_id", "patient_id")},
    Role.REJOINED: {"patient_id": _NOTES["patient_id"]},
}
_RANKED: Mapping[Role, Mapping[str, tuple[str, int]]] = {
    role: {name: (field, rank) for field, names in usual.items() for rank, name in enumerate(names.split())}
    for role, usual in USUAL.items()
}
_USUAL = frozenset(name for ranked in _RANKED.values() for name in ranked)
_ALONE = frozenset({"csn", "dob", "mrn", "ssn", "npi", "empi", "hadmid", "fname", "lname", "dos"})
"""Names of one word that are no word of a language: they show a header as two words do."""


def usual_field(column: str, role: Role) -> tuple[str, int] | None:
    """The field that a column of that name usually is, and how likely another name is the better one, from 0."""
    return _RANKED[role].get(plain(column))


def is_unmistakable(column: str, fields: Iterable[str]) -> bool:
    """Whether it is a field's or a usual name that nobody is called: of two words or more, or an abbreviation.

    Args:
        column: As the file has it.
        fields: Those of its role; usual names count in any, since a list of record numbers may tell encounters too.
    """
    name = plain(column)
    several = name in _ALONE or len(_SIGNS.split(column.lower().strip("_"))) > 1
    return several and (name in _USUAL or any(name == plain(field) for field in fields))


def plain(column: str) -> str:
    """A column's name without case and signs."""
    return _SIGNS.sub("", column.lower())
