"""Which numbers of people, accounts, documents and things the patterns find in a text alone.

Every number is invented; where a check digit proves one, it was computed for it.
"""

from __future__ import annotations

import pytest
from deid_platform.detection.rules.validators import CHECKS
from marked_text import found_in, lines, plain

from deid_platform.detection.api import Document
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.detection.rules.en.identifiers import PROVEN
from deid_platform.notes import Note

UNITED_STATES = """
SSN [[900-12-3456|SSN]]
SSN: [[900123456|SSN]]
SS# [[900-12-3456|SSN]]
social security number is [[900 12 3456|SSN]]
ssn, last four [[1234|SSN]]
SSN [[9 0 0 1 2 3 4 5 6|SSN]] and SSN: [[9-0-0-1-2-3-4-5-6|SSN]]
SSN[[900-12-3456|SSN]] and SSN-[[900-12-3456|SSN]]
on file [[XXX-XX-1234|SSN]]
S.S.N. [[900.12.3456|SSN]]
last four [[1234|SSN]]
typed [[900 12 3456|SSN]] without a label
NPI [[1234567893|LICENSE]]
signed [[1234567893|LICENSE]]
DEA [[AB1234563|LICENSE]]
Medicare [[1EG4-TE5-MK73|HEALTHPLAN]]
Medicare number [[1EG4TE5MK73|HEALTHPLAN]]
EIN [[12-3456789|LICENSE]]
License No. [[A-12345|LICENSE]]
driver's license: [[S1234567|LICENSE]]
state license [[B18.711399|LICENSE]]
passport number [[512345678|LICENSE]]
"""

ABROAD = """
SIN [[130 692 544|SSN]]
written [[130-692-544|SSN]] there
NHS number [[943 476 5919|MEDICALRECORD]]
NHS No: [[9434765919|MEDICALRECORD]]
seen, [[943 476 5919|MEDICALRECORD]]
NI number [[AB 12 34 56 C|SSN]]
[[AB123456C|SSN]] on file
Medicare [[2123 45670 1|HEALTHPLAN]]
TFN [[112 474 082|IDNUM]]
NIR [[1 85 05 78 006 084 91|SSN]]
numéro [[185057800608491|SSN]]
DNI [[54362315K|IDNUM]]
con [[54362315K|IDNUM]]
NIE [[X2482300W|IDNUM]]
NHC: [[7465930|MEDICALRECORD]]
NASS: [[28 12345678 40|HEALTHPLAN]]
with [[28/12345678/40|SSN]]
CIP [[ABCD1234567890|HEALTHPLAN]]
NºCol: [[28 28 70973|LICENSE]]
Episodio: [[107294|ACCOUNT]]
codice fiscale [[RSSMRA85T10A562S|IDNUM]]
C.F.: [[RSSMRA85T10A562S|IDNUM]]
Aadhaar [[2341 2341 2346|IDNUM]]
PAN [[AAPPV8261K|IDNUM]]
IBAN [[GB82 WEST 1234 5698 7654 32|ACCOUNT]]
"""

RECORDS = """
Accn [[24-726301|IDNUM]]
order no. [[80 049 9618|IDNUM]]
passport [[63 159496|LICENSE]].
old account [[4933 24684|ACCOUNT]]
case [[89 975|IDNUM]] closed, specimen [[SP 517 5856|IDNUM]] received
Our ref: [[361 553|IDNUM]]
Your reference: [[AB/4471|IDNUM]]
accession [[C15:98427|IDNUM]], collected today
MRN: [[00123456|MEDICALRECORD]]
MRN#[[AB-123456|MEDICALRECORD]]
(MRN [[123456|MEDICALRECORD]])
mrn [[123-45-67|MEDICALRECORD]]
MR# [[12 34 56|MEDICALRECORD]]
Medical record number is [[123456|MEDICALRECORD]].
Med Rec No. [[123456|MEDICALRECORD]]
Patient ID #[[AB-987654|MEDICALRECORD]]
Pt # [[123456|MEDICALRECORD]]
Hosp. No.: [[32 36 650|MEDICALRECORD]]
MRN [[1 2 3 4 5 6 7|MEDICALRECORD]]
Med. rec. #[[537-2615|MEDICALRECORD]]
MRN begins [[2030|MEDICALRECORD]]
Chart number: [[A12345|MEDICALRECORD]]
Unit No: [[1234567|MEDICALRECORD]]
Hospital number [[K123456|MEDICALRECORD]]
Acct # [[55512345|ACCOUNT]]
Billing acct [[485 736 719|ACCOUNT]]
CSN: [[100200300|ACCOUNT]]
Encounter #: [[1002003|ACCOUNT]]
card [[4111 1111 1111 1111|ACCOUNT]]
paid by [[4111111111111111|ACCOUNT]]
Member ID: [[XYZ123456789|HEALTHPLAN]]
insurance ID [[DEF-654321|HEALTHPLAN]]
ins is [[ABC-987654|HEALTHPLAN]]
Policy Number: [[HPN-456789|HEALTHPLAN]]
Group # [[12345|HEALTHPLAN]]
group [[892550|HEALTHPLAN]]
"""

THINGS = """
serial number [[SN-99812-A|DEVICE]]
S/N: [[99812A|DEVICE]]
lot # [[01447|DEVICE]]
implant S/N [[PPB747801S|DEVICE]]
UDI [[(01)00643169007222(17)250101|DEVICE]]
IMEI [[490154203237518|DEVICE]]
VIN [[1M8GDM9AXKP042788|VEHICLE]]
car [[1M8GDM9AXKP042788|VEHICLE]]
License plate [[7ABC123|VEHICLE]]
plate [[VJN-118|VEHICLE]]
Tape Number: [[N-208-11|IDNUM]]
Accession: [[S19-12345|IDNUM]]
Accession # [[19-123-45678|IDNUM]]
pathology [[SP19-004512|IDNUM]]
slide [[KL25-6741 B3|IDNUM]] reviewed
participant [[670-3211|IDNUM]]
voice ID [[V14227|IDNUM]]
case [[Y11844|IDNUM]]
JOHNSON S [[3346195|IDNUM]]
Specimen: [[19-S-12345|IDNUM]]
Slide [[S-123-45|IDNUM]]
Specimen [[S-7-20262|IDNUM]] received
case #[[JH-998877|IDNUM]]
order #[[88123456|IDNUM]]
Study ID: [[1002-034|IDNUM]]
IRB # [[2019-0456|IDNUM]]
ID: [[998877|IDNUM]]
badge number [[88123|IDNUM]]
request [[123e4567-e89b-42d3-a456-426614174000|IDNUM]]
stored as [[12345678|IDNUM]]
stored as [[AB1234567|IDNUM]]
user id: [[jdoe12|USERNAME]]
username: [[jane.doe|USERNAME]]
entered by [[jd1234|USERNAME]]
login [[dking96|USERNAME]]
end of dictation⏎[[QRM/tk|USERNAME]]
end of dictation⏎[[JQZ:tkv|USERNAME]]
vitals⏎HR/RR⏎PO/iv or IV:po
portal user name [[ovonquarmby70|USERNAME]]
routed ([[RA3221|USERNAME]]) today
signed ([[lmitche33|USERNAME]])
[[qlarmby2|USERNAME]] Lauren Quarmby, RN
| [[BU8837|USERNAME]] |
fingerprint ID [[FP-12345|BIOID]]
"""

REGISTERS = """
client no. [[77123|IDNUM]], inmate number [[A77123|IDNUM]], booking number [[2022-00123|IDNUM]]
inmate # [[77-B-1234|IDNUM]], folder no [[7712345|IDNUM]], registration [[R44710|IDNUM]]
index number [[44-71-09|IDNUM]], wristband [[0099128-A|IDNUM]], PID [[77-1029|IDNUM]]
tracking [[1Z999AA10123456784|IDNUM]], X-ray no. [[XR77123|IDNUM]]
OHIP [[1234 567 897|HEALTHPLAN]], health card [[1234-567-897-AB|HEALTHPLAN]], Medicaid [[99012345A|HEALTHPLAN]]
Her record number, [[771-23-45|MEDICALRECORD]], was verified; chart [[55-21-09|MEDICALRECORD]] pulled
billing account [[2001-889-12|MEDICALRECORD]], account ending in [[9921|MEDICALRECORD]]
patient file [[7712/09|MEDICALRECORD]], mrn[[7712345|MEDICALRECORD]]
Pt Jane Quarmby / [[7712345|MEDICALRECORD]] / rm 12
QUARMBYJANE [[94-97-10|MEDICALRECORD]]⏎Quarmby, Jane [[305 898|MEDICALRECORD]]
JANE QUARMBY   [[0094 9710|MEDICALRECORD]]
MNR: [[949710|MEDICALRECORD]], MRno [[949710|MEDICALRECORD]]
MRN_[[949710|MEDICALRECORD]], medrec [[949710|MEDICALRECORD]]
hospital# [[949710|MEDICALRECORD]], clinic number: [[4-949-710|MEDICALRECORD]], H# [[949710|MEDICALRECORD]]
MRNs: [[949710|MEDICALRECORD]] and [[949711|MEDICALRECORD]]
merged MRN [[949712|MEDICALRECORD]] into [[949713|MEDICALRECORD]]
[[949710|MEDICALRECORD]] is the chart number
records under [[949711|MEDICALRECORD]] were merged with [[949712|MEDICALRECORD]]
duplicate chart [[812334|MEDICALRECORD]] exists
sticker reads [[812335|MEDICALRECORD]], pt [[812336|MEDICALRECORD]] in bay 4
Hosp. #: [[81-23-34|MEDICALRECORD]], HRN: [[812334|MEDICALRECORD]]; paid by check #[[4421|ACCOUNT]]
acct [[305 898 12|ACCOUNT]], a/c no. [[305898|ACCOUNT]], pt acct [[V305-898|ACCOUNT]]
"""

NOT_IDENTIFIERS = """
first episode was 1989, registration desk 12, folder 3 of 4, the index case, tracking number pending
chart review 4/5, account ending soon, path number pending
Urine Culture 305 898⏎Weight Loss 94-97-10⏎UN: none, H# 2, acct closed 5 times
chart shows 812334 copies, record of 150000 platelets, patient 4 of 12, check 4421 steps

order no. 80 of 120, passport 63 pages
known for rs1801133 and rs1799963
case 12 weeks old, account for 20 30
we refer to our reference values 12
exon C15:9 of 24
DEA status unknown
account of the fall
CA 19-9 of 35
IL-6 and CD4
FK506 level
BRCA1 c.68_69delAG
NM_000059.3:c.5946delT
rs1801133 and rs12345678
p.Val600Glu
COVID-19 negative
Room 12
case #3
vitamin B12 500
EXAM: BP132/66 HR78 RR16
EXAM: 35.8F, 99BPM
exam: T36.0
ICD-10 E11.9 and I25.10
CPT 99213
SNOMED CT 73211009
SCTID: 44054006
LOINC 2345-7
RxNorm 860975
NDC 0002-7510-01
PMID: 12345678
trial NCT01234567
registered as NCT 01234567
platelets 250000
viral load 10000000 copies
12000000 units
16 Fr catheter
18 gauge needle
6-0 Prolene
size 7.5 tube
pH 7.35, lactate 2.1
0.25 x 3.5 cm
L4-L5
page 3 of 5
group A strep
plan: 40 mg daily
visit 3
lot of pain
model of care
lead II
reference range 10-20
file is complete
old biopsy block: Ki-67 8%
Plan: CURB-65 score 0
chr7:140753336 A>T
(grade2) and (stage3)
plate 7-hole
lead 0.5 V @ 0.4 ms
IL-6 1234567 copies
tape 2 strips
block 5 mL
film 2 views
report to follow
order 2 units
unit 3
record 12
version 3.0.1
BP: 120/80
a 3-0 suture
policy of care
FIN positive
lead: 12-lead
protocol 12
sample 2 of 3
"""


@pytest.mark.parametrize("line", lines(UNITED_STATES, ABROAD, RECORDS, REGISTERS, THINGS))
def test_exactly_the_marked_identifiers_are_found(line: str) -> None:
    assert found_in(plain(line).replace("⏎", "\n")).replace("\n", "⏎") == line


@pytest.mark.parametrize("line", lines(NOT_IDENTIFIERS))
def test_codes_measures_and_public_numbers_are_no_identifiers(line: str) -> None:
    assert found_in(line) == line


WRONG_CHECK_DIGIT = """
seen, 943 476 5918
written 130-692-545 there
con 54362315L
codice RSSMRA85T10A562T
car 1M8GDM9A1KP042788
"""


@pytest.mark.parametrize("line", lines(WRONG_CHECK_DIGIT))
def test_a_bare_number_whose_check_digit_is_wrong_is_not_taken_for_that_identifier(line: str) -> None:
    found = found_in(line)
    assert not any(f"|{label}]]" in found for label in ("MEDICALRECORD", "SSN", "VEHICLE", "IDNUM"))


# A number of each recognizer that counts check digits, and the place of the one that proves it.
CHECKED = [
    ("npi-bare", "signed 1234567893", -1),
    ("dea", "AB1234563", -1),
    ("card", "4111 1111 1111 1111", -1),
    ("card", "371449635398431", -1),
    ("nie", "X2482300W", -1),
    ("dni", "54362315K", -1),
    ("tfn", "TFN 112 474 082", -1),
    ("au-medicare", "2123 45670 1", -3),
    ("nir", "1 85 05 78 006 084 91", -1),
    ("aadhaar", "2341 2341 2346", -1),
    ("iban", "GB82 WEST 1234 5698 7654 32", 3),
    ("device-imei", "490154203237518", -1),
    ("vehicle-vin", "1M8GDM9AXKP042788", 8),
    ("nhs-number", "943 476 5919", -1),
    ("sin", "130-692-544", -1),
    ("codice-fiscale", "RSSMRA85T10A562S", -1),
    ("italian-tax-code", "RSSMRA85T10A562S", -1),
]


@pytest.mark.parametrize(("name", "text", "at"), CHECKED)
def test_of_all_check_digits_only_the_right_one_proves_a_number(name: str, text: str, at: int) -> None:
    recognizer = next(r for r in load_recognizers() if r.name == name)
    signs = "0123456789" + ("ABCDEFGHIJKLMNOPQRSTUVWXYZ" if text[at].isalpha() else "")
    at %= len(text)
    proven = [c for c in signs if list(recognizer.find(Document(Note("n", text[:at] + c + text[at + 1 :]))))]
    assert proven == [text[at]]


def test_every_recognizer_with_a_check_digit_is_here() -> None:
    counting = {check for name, check in PROVEN.items() if name != "pan"}  # which has a form and no check digit
    counting |= {CHECKS[name] for name in ("npi", "dea", "card", "vin", "au_medicare")}
    assert {r.name for r in load_recognizers() if r.check in counting} == {name for name, _, _ in CHECKED}
