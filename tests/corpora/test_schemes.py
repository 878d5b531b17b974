"""What gold of another scheme means here: every label that occurs is mapped, and what is left out is counted."""

from __future__ import annotations

import json

import pytest

from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.given_spans import GivenSpans
from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.schemes import scheme_of
from deid_platform.labels import CROSSWALKS, Label
from deid_platform.notes import Note

# The tag sets as they are published.
PUBLISHED = {
    "i2b2-2014": (
        "PATIENT DOCTOR USERNAME PROFESSION HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER AGE "
        "DATE PHONE FAX EMAIL URL IPADDR SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM "
        "NAME LOCATION CONTACT ID DEPARTMENT ROOM OTHER IPADDRESS"
    ),
    "i2b2-2006": "PATIENT DOCTOR HOSPITAL ID DATE LOCATION PHONE AGE",
    "meddocan": (
        "TERRITORIO FECHAS EDAD_SUJETO_ASISTENCIA NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO "
        "SEXO_SUJETO_ASISTENCIA CALLE PAIS ID_SUJETO_ASISTENCIA CORREO_ELECTRONICO ID_TITULACION_PERSONAL_SANITARIO "
        "ID_ASEGURAMIENTO HOSPITAL FAMILIARES_SUJETO_ASISTENCIA INSTITUCION ID_CONTACTO_ASISTENCIAL NUMERO_TELEFONO "
        "PROFESION NUMERO_FAX OTROS_SUJETO_ASISTENCIA CENTRO_SALUD ID_EMPLEO_PERSONAL_SANITARIO "
        "IDENTIF_VEHICULOS_NRSERIE_PLACAS IDENTIF_DISPOSITIVOS_NRSERIE NUMERO_BENEF_PLAN_SALUD URL_WEB "
        "DIREC_PROT_INTERNET IDENTF_BIOMETRICOS OTRO_NUMERO_IDENTIF"
    ),
    "conll-2003": "PER LOC ORG MISC",
    "eds": "ADRESSE DATE DATE_NAISSANCE HOPITAL IPP MAIL NDA NOM PRENOM SECU TEL VILLE ZIP",
    "aci-bench": "PATIENT_SILVER AGE_SILVER",
    "asq-phi": (
        "NAME DATE GEOGRAPHIC_LOCATION MEDICAL_RECORD_NUMBER HEALTH_PLAN_BENEFICIARY_NUMBER PHONE_NUMBER FAX_NUMBER "
        "SOCIAL_SECURITY_NUMBER EMAIL_ADDRESS ACCOUNT_NUMBER CERTIFICATE_LICENSE_NUMBER UNIQUE_IDENTIFIER"
    ),
    # Table 3; a label may have several words.
    "murugadoss-2024": (
        "Age,Alphanumeric Identifier,Date,Email,IP Address,Location,Name,Organization,Pager,Phone number,Vehicle Plate,"
        "Website,Zip Code"
    ),
    "obi": "PATIENT STAFF AGE DATE PHONE ID EMAIL PATORG HOSP LOC OTHERPHI",
    "stanford-aimi": "PATIENT HCW HOSPITAL VENDOR PHONE ID DATE",
    # Supplementary table 3.
    "murugadoss-2024-prompts": (
        "NAME FIRST_NAME LAST_NAME MIDDLE_NAME AGE MED_ID DOC_ID ID DATE DAY MONTH YEAR CITY STATE STREET COUNTRY ZIP "
        "ZIPCODE LOCATION EMAIL URL PHONE HOSPITAL ORGANIZATION PROFESSION DRUG DISEASE PROCEDURE MEDICAL"
    ),
    "miranda-2025": "NOME,ETÀ,DATA,LUOGO/INDIRIZZO",  # of the gold, table 1
    # Figure 5.
    "aghakasiri-2025": (
        "patient_Name patient_Phone_Number patient_Address patient_Postal_Code patient_Medical_Record_Number(MRN) "
        "patient_Personal_Health_Number(PHN) patient_Unique_Lifetime_Identifier(ULI) patient_Date_of_Birth(DOB) "
        "patient_Health_Card_Number(HCN) patient_patient_email patient_insurance_number patient_accession_number"
    ),
}
ELSEWHERE = {"mimic-iii"}  # tests/corpora/test_placeholders.py
VARIANTS = {
    "i2b2-2014-without-weekdays": "i2b2-2014",
    "n2c2-2014": "i2b2-2014",
    "n2c2-2016": "i2b2-2014",
    "meddocan-corrected": "meddocan",
}


@pytest.mark.parametrize("scheme", PUBLISHED)
def test_every_label_of_a_published_tag_set_is_mapped(scheme):
    labels = PUBLISHED[scheme].split("," if "," in PUBLISHED[scheme] else None)
    assert len(labels) > 1
    assert set(labels) <= CROSSWALKS[scheme].keys()


def test_no_scheme_lacks_a_published_tag_set():
    assert CROSSWALKS.keys() == PUBLISHED.keys() | VARIANTS.keys() | ELSEWHERE


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_has_the_labels_of_its_scheme(variant):
    assert CROSSWALKS[variant] == CROSSWALKS[VARIANTS[variant]]
    assert scheme_of(variant).language == scheme_of(VARIANTS[variant]).language


def test_what_is_no_identifier_is_said_label_by_label():
    none = {(scheme, label) for scheme, labels in CROSSWALKS.items() for label, ours in labels.items() if ours is None}
    sex, kin, other = "SEXO_SUJETO_ASISTENCIA", "FAMILIARES_SUJETO_ASISTENCIA", "OTROS_SUJETO_ASISTENCIA"
    meddocan = {(scheme, label) for scheme in ("meddocan", "meddocan-corrected") for label in (sex, kin, other)}
    medicine = {("murugadoss-2024-prompts", label) for label in ("MEDICAL", "DRUG", "DISEASE", "PROCEDURE")}
    assert none >= {*meddocan, *medicine, ("conll-2003", "MISC")}
    assert all(label is not None for label in CROSSWALKS["miranda-2025"].values())


@pytest.mark.parametrize(
    ("scheme", "words", "label", "ours"),
    [
        ("i2b2-2006", "Ann Quarmby", "PATIENT", Label.PATIENT),
        ("i2b2-2006", "Blorf", "LOCATION", Label.LOCATION_OTHER),
        ("i2b2-2006", "77-1", "ID", Label.IDNUM),
        ("n2c2-2014", "Ward 7", "DEPARTMENT", Label.HOSPITAL),
        ("n2c2-2016", "welder", "PROFESSION", Label.PROFESSION),
        ("miranda-2025", "Rosa Bellocchio", "NOME", Label.PATIENT),
        ("miranda-2025", "Forlì", "LUOGO/INDIRIZZO", Label.LOCATION_OTHER),
        ("miranda-2025", "47", "ETÀ", Label.AGE),
        ("miranda-2025", "Ospedale Maggiore", "OSPEDALE", Label.HOSPITAL),
        ("aghakasiri-2025", "3 May", "patient_Date_of_Birth(DOB)", Label.DATE),
    ],
)
def test_labels_of_corpora_and_of_answers_as_papers_have_them_become_ours(scheme, words, label, ours, tmp_path):
    gold = read(tmp_path, scheme, words, label)
    assert [span.label for span in gold.spans] == [ours]
    assert gold.note.language == ("it" if scheme == "miranda-2025" else "en")


def read(tmp_path, scheme, words, label):
    path = tmp_path / "set.jsonl"
    text = f"On {words} he came."
    spans = [[3, 3 + len(words), label, words]]
    path.write_text(json.dumps({"note_id": "n", "text": text, "spans": spans}, ensure_ascii=False) + "\n")
    (gold,) = gold_format("jsonl").read(path, scheme=scheme)
    assert list(read_gold(path, scheme=scheme)) == [gold]
    return gold


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Monday", False),
        ("mon.", False),
        ("Tuesdays", False),
        ("Sunday's", False),
        ("Mon-Fri", False),
        ("Monday, Wednesday and Friday", False),
        ("winter", False),
        ("late Spring", False),
        ("wintertime", False),
        ("summer 2071", True),
        ("Monday 3/4", True),
        ("May", True),
        ("Monday May", True),
        ("Christmas", True),
        ("Monday Summers", False),
        ("Sunderland", True),
    ],
)
def test_seasons_and_weekdays_are_left_out_and_counted_where_the_scheme_says_so(words, kept, tmp_path):
    gold = read(tmp_path, "i2b2-2014-without-weekdays", words, "DATE")
    assert (len(gold.spans), gold.no_identifiers, gold.known_errors) == ((1, 0, 0) if kept else (0, 1, 0))
    assert len(read(tmp_path, "i2b2-2014", words, "DATE").spans) == 1


def test_a_name_that_is_a_season_stays(tmp_path):
    assert [s.label for s in read(tmp_path, "i2b2-2014-without-weekdays", "Summer", "PATIENT").spans] == [Label.PATIENT]


@pytest.mark.parametrize(
    ("label", "words", "error"),
    [
        ("ID_SUJETO_ASISTENCIA", "la", True),
        ("ID_SUJETO_ASISTENCIA", "NHC-12", False),
        ("FECHAS", "Colombia", True),
        ("FECHAS", "mes de Abril", False),
        ("FECHAS", "1999", False),
        ("PAIS", "Colombia", False),
    ],
)
def test_known_errors_of_meddocan_are_dropped_by_choice_and_counted(label, words, error, tmp_path):
    gold = read(tmp_path, "meddocan-corrected", words, label)
    assert (len(gold.spans), gold.no_identifiers, gold.known_errors) == ((0, 0, 1) if error else (1, 0, 0))
    published = read(tmp_path, "meddocan", words, label)
    assert (len(published.spans), published.known_errors) == (1, 0)
    assert published.note.language == "es"


def test_given_spans_that_are_no_identifiers_in_their_scheme_are_left_out(tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text('{"note_id": "n", "spans": [[0, 6, "MISC"], [7, 10, "PER"]]}\n')
    (span,) = GivenSpans.read(path, scheme="conll-2003").of(Note("n", "German Ann"))
    assert (span.start, span.end, span.label) == (7, 10, Label.PATIENT)
