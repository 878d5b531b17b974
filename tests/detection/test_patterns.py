"""What the patterns find in a text alone. In each line, [[value|LABEL]] marks all that must be found."""

from __future__ import annotations

import pytest
import regex

from deid_platform.detection import DetectorSpec
from deid_platform.detection.patterns import Patterns
from deid_platform.detection.patterns.recognizer import load_recognizers
from deid_platform.detection.reading import Reading
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note

RULES = DetectorSpec().build()

DATES = """
seen [[3/14/2019|DATE]] and [[03/14/19|DATE]].
seen 2019-03, no: seen on [[2019-03-14|DATE]]
admitted [[14.03.2019|DATE]]
visit [[03-14-2019|DATE]]
typed as [[2/30/2019|DATE]]
[[March 14, 2019|DATE]], [[Mar. 14|DATE]] and [[14 March 2019|DATE]]
on [[March 3rd|DATE]]
on the [[3rd of March, 2019|DATE]]
[[14-Mar-2019|DATE]] at 14:30
[[march 3 2020|DATE]]
since [[Nov 2019|DATE]]
started in [[November of 2019|DATE]]
surgery in [[March|DATE]]
on [[March third|DATE]]
Cycle 2 was begun - [[10/97|DATE]]
since [[11/2019|DATE]]
seen on [[3/14|DATE]] for a rash
[[3/14|DATE]]: better
held [[2/14-2/17|DATE]]
ECG from [[415/21|DATE]] unchanged
ECG from [[415/2021|DATE]] unchanged
stayed until the [[9th|DATE]].
back on the [[21st|DATE]] of the month
DOB: [[03 14 1950|DATE]]
DOB [[03141950|DATE]]
on [[Christmas Eve|DATE]]
"""

NOT_DATES = """
BP 120/80, HR 72
BP today 118/76 mmHg
2/6 systolic murmur
grade 3/6 murmur
strength 5/5 throughout
pain 7/10 today
pain from 3/10 to 5/10
pain 4/10-6/10
3/16" needle
1/2 tablet by mouth
take 1-2 tablets
POD 3
L4-5 disc bulge
L4-L5 and T12-L1
20/20 vision, 20/40 OS
ratio 1:40
lab range 3.5-5.1
EF 55-60%
T 98.6 P 72 R 18
at 0630 and 14:30
in 2019
10/12/14 point review
the 9th rib
at the 50th percentile
the 5th metatarsal
may take 2 daily
march in place
Mar 3 mg
1/95 of the dose
"""

AGES = """
a [[92|AGE]]-year-old man
[[92|AGE]] y.o. female
[[92|AGE]] yo
[[101|AGE]] years old
Age: [[93|AGE]]
[[92|AGE]]F with falls
[[ninety-two|AGE]]-year-old woman
in her early [[90s|AGE]]
celebrated her [[100|AGE]]th birthday
a [[nonagenarian|AGE]]
an 89-year-old man
in her 80s
HR in the 90s
sat 92 on room air
weight 92 kg
T 92F
smoked for 90 days
"""

CONTACTS = """
call [[617-555-0123|PHONE]]
call [[(617) 555-0123|PHONE]] today
call [[617.555.0123 x12|PHONE]]
[[1-617-555-0123|PHONE]]
phone [[555-0123|PHONE]]
fax: [[(617) 555-0199|FAX]]
For the weekend call [[413-555-01|PHONE]]
pager [[12345|PHONE]]
pager # [[4-1234|PHONE]]
ext. [[4411|PHONE]]
[[+44 20 7946 0958|PHONE]]
write to [[jane.doe+x@mail.example.org|EMAIL]].
see [[https://portal.example.org/x?y=1|URL]].
at [[www.example.org/clinic|URL]],
from [[10.0.12.7|IPADDR]]
signed in from [[10.0.12.7|IPADDR]]. Then left.
from [[2001:db8::8a2e:370:7334|IPADDR]]
range 150-4000
version 1.2.3
WBC 617-555
sections 1.2.3.400
at 10:30:20
b.i.d. and q.i.d.
"""

IDENTIFIERS = """
SSN [[900-12-3456|SSN]]
SSN: [[900123456|SSN]]
ssn, last four [[1234|SSN]]
MRN: [[00123456|MEDICALRECORD]]
MRN#[[AB-123456|MEDICALRECORD]]
Medical record number is [[123456|MEDICALRECORD]].
Acct # [[55512345|ACCOUNT]]
Member ID: [[XYZ123456789|HEALTHPLAN]]
Medicare [[1EG4-TE5-MK73|HEALTHPLAN]]
NPI [[1234567893|LICENSE]]
DEA [[AB1234563|LICENSE]]
License No. [[A-12345|LICENSE]]
serial number [[SN-99812-A|DEVICE]]
VIN [[1M8GDM9AXKP042788|VEHICLE]]
License plate [[7ABC123|VEHICLE]]
Tape Number: [[N-208-11|IDNUM]]
Accession: [[S19-12345|IDNUM]]
pathology [[SP19-004512|IDNUM]]
user id: [[jdoe12|USERNAME]]
DEA status unknown
account of the fall
CA 19-9 of 35
IL-6 and CD4
FK506 level
BRCA1 c.68_69delAG
COVID-19 negative
Room 12
case #3
vitamin B12 500
"""

ADDRESSES = """
lives at [[1749 Orchard Drive, Apt G 101|STREET]]
[[40 CROSSBEAK RD|STREET]], [[ROCHESTER|CITY]], [[MN|STATE]]
[[123 Elm St|STREET]], [[Harlow Falls|CITY]], [[IL|STATE]] [[62704|ZIP]]
[[123 N. 5th Street Suite 200|STREET]]
[[P.O. Box 123|STREET]]
[[88 quarmby road|STREET]]
zip code [[62704|ZIP]]
lives in [[Harlow Falls|CITY]]
moved to [[Ohio|STATE]]
visited [[Portugal|COUNTRY]]
5 feet down the road
2 stitches in place
at 11:20 PM Dr. called
chest, CT of
WBC 12000
"""

PEOPLE = """
Dr. [[Ndoye|DOCTOR]] saw him. Later [[Ndoye|DOCTOR]] called.
Dr. [[Green|DOCTOR]] will call
Drs. [[Patel|DOCTOR]] and [[Kim|DOCTOR]]
dr. [[ndoye|DOCTOR]] called
Mr. [[Will Harmon|PATIENT]] agreed
Mrs. [[O'Brien-Smith|PATIENT]]'s daughter
Patient: [[QUARMBY, JANE T|PATIENT]]
Name: [[Jane Quarmby|PATIENT]]   DOB: [[1/2/1960|DATE]]
Patient Name: [[Will May|PATIENT]]
Dear Mr. [[Quarmby|PATIENT]]:
Dictated by: [[John Q. Public|DOCTOR]], MD
Attending: [[Sylvia Ndu|DOCTOR]]
cc: [[Tomasz Zielony|DOCTOR]]
Electronically signed by [[Ana Ruiz|DOCTOR]], RN
[[Sylvia Ayonghe Quarmby|DOCTOR]] MD [[05/13/2018|DATE]]
([[KL|DOCTOR]]) [[MARGIT DAY QUARMBY|DOCTOR]], PA
Mom- [[ann quarmby|PATIENT]] or uncle [[peter boyd|PATIENT]]
daughter [[Maria|PATIENT]] visits
his wife, [[Linda Quarmby|PATIENT]], is here
Wife ([[Linda|PATIENT]])
[[José Álvarez|PATIENT]] presents today
[[Martha Quarmby|PATIENT]] is a 50-year-old woman
[[Martha|PATIENT]] reports no pain
Pt seen with [[Anna S|PATIENT]].
Patient: The patient is well
his daughter will come
Dr. and nurse
Nurse Practitioner
MS. No change.
mother and father well
Plan: Follow up
Assessment: Stable
From: Emergency Department
PROCEDURE PERFORMED: Biopsy
"""

ORGANIZATIONS = """
went to [[St. Mary's Hospital|HOSPITAL]]
at [[Harlow Falls Medical Center|HOSPITAL]]
[[Westbrook Primary Care-Lynford|HOSPITAL]] Follow up
cc: [[Eastgate Obstetrics & Gynecology|HOSPITAL]]
[[RITE AID|ORGANIZATION]]-[[17 S ELM ST|STREET]]
[[Quarmby Pharmacy|ORGANIZATION]] called
works at [[Quarmby Widgets|ORGANIZATION]] as a clerk
transferred with [[Google|ORGANIZATION]].
attends [[Quarmby Elementary School|ORGANIZATION]]
Emergency Department
Primary Care
the Radiology Department
Internal Medicine Clinic
Maternal Fetal Medicine
HOSPITAL COURSE
NO KNOWN DRUG ALLERGIES
works as a nurse
"""

MARK = regex.compile(r"\[\[(.+?)\|([A-Z\-]+)\]\]")


def lines(*tables: str) -> list[str]:
    return [line for table in tables for line in table.strip().splitlines()]


def marked(text: str, found: list[tuple[int, int, str]]) -> str:
    for start, end, label in reversed(found):
        text = f"{text[:start]}[[{text[start:end]}|{label}]]{text[end:]}"
    return text


@pytest.mark.parametrize("line", lines(DATES, AGES, CONTACTS, IDENTIFIERS, ADDRESSES, PEOPLE, ORGANIZATIONS))
def test_exactly_the_marked_identifiers_are_found(line: str) -> None:
    text = MARK.sub(r"\1", line)
    spans = RULES.detect([Note("n", text)])[0]
    assert marked(text, [(s.start, s.end, s.label.value) for s in spans]) == line


@pytest.mark.parametrize("line", lines(NOT_DATES))
def test_measures_and_counts_are_no_dates(line: str) -> None:
    assert RULES.detect([Note("n", line)])[0] == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_header_is_found_at_the_start_of_a_line_whatever_ends_lines(newline: str) -> None:
    text = f"Visit{newline}RE: Quarmby, Jane{newline}stable"
    spans = RULES.detect([Note("n", text)])[0]
    assert [text[s.start : s.end] for s in spans] == ["Quarmby, Jane"]


HOSTILE = {
    "dotted letters": "a.a.a" * 40_000,
    "digits": "7" * 400_000,
    "digit groups": "12-34-" * 40_000,
    "capitals": "Aa " * 40_000,
    "capitals without spaces": "A" * 100_000,
    "slashes": "1/" * 60_000,
    "at signs": "a@" * 50_000,
    "colons": "a:" * 50_000,
    "white space": " " * 200_000,
    "titles": "Dr. " * 25_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_ends_in_spans_or_in_a_coded_failure(kind: str) -> None:
    detector = Patterns(timeout_s=0.2)
    try:
        detector.find(Reading(Note("n", HOSTILE[kind])))
    except DeidError as error:
        assert error.code is Code.DETECTOR_FAILED
        assert error.ref is not None
        assert HOSTILE[kind][:6] not in str(error)


def test_recognizers_have_names_of_their_own_and_sound_scores() -> None:
    recognizers = load_recognizers()
    assert len({r.name for r in recognizers}) == len(recognizers)
    assert all(0 < r.score <= 1 for r in recognizers)
