"""The 21 entities that Murugadoss 2024 (supplementary information) counts as PII: a line of ours for each.

Nobody in these lines exists.
"""

from __future__ import annotations

import pytest
from marked_text import MARK, found_in, plain

from deid_platform.labels import Label

CATEGORIES = [
    ("age over 89", "a [[94|AGE]]-year-old woman with falls"),
    ("phone and fax numbers", "call [[617-555-0142|PHONE]] or fax [[617-555-0199|FAX]]"),
    ("e-mail addresses", "write to [[x.quarmby@example.org|EMAIL]]"),
    ("websites and URLs", "results are at [[https://portal.example.org/results|URL]]"),
    ("IP addresses", "signed in from [[10.0.12.7|IPADDR]]"),
    ("dates", "admitted on [[3/14/2019|DATE]] and seen on [[March 20th|DATE]]"),
    ("social security number", "SSN: [[900-12-3456|SSN]]"),
    ("medical record numbers", "MRN: [[00412876|MEDICALRECORD]]"),
    ("vehicle and device numbers", "License plate [[7ABC123|VEHICLE]], pacemaker S/N: [[99812A|DEVICE]]"),
    ("account, certificate and license numbers", "Acct # [[55512345|ACCOUNT]], License No. [[A-12345|LICENSE]]"),
    ("health plan number", "Member ID: [[XYZ123456789|HEALTHPLAN]]"),
    ("street address", "lives at [[1749 Crossbeak Drive, Apt 3|STREET]]"),
    ("city", "lives in [[Rochester|CITY]] with her son"),
    ("zip code", "mailed to [[Rochester|CITY]], [[MN|STATE]] [[55901|ZIP]]"),
    ("employer name", "works the night shift at [[Vantor Aerospace|ORGANIZATION]]"),
    ("names of patients and family members", "Mrs. [[Quarmby|PATIENT]] came with her son [[Kofi|PATIENT]]"),
    ("provider names", "seen by Dr. [[Halvorsen|DOCTOR]] and by nurse [[Ama Osei|DOCTOR]]"),
    ("user IDs", "entered by [[jd1234|USERNAME]]"),
    ("health care organizations and facilities", "transferred to [[Quarmby Memorial Hospital|HOSPITAL]]"),
    ("country", "emigrated from [[Ghana|COUNTRY]] as a child"),
    ("state", "moved here from [[Ohio|STATE]] last year"),
]


@pytest.mark.parametrize("line", [line for _, line in CATEGORIES], ids=[name for name, _ in CATEGORIES])
def test_each_category_is_found_with_its_labels(line: str) -> None:
    assert found_in(plain(line), frozenset(Label)) == line


def test_the_list_is_whole_and_its_labels_are_nearly_all_there_are() -> None:
    assert len(CATEGORIES) == 21
    shown = {label for _, line in CATEGORIES for _, label in MARK.findall(line)}
    # Not among the paper's: landmarks, trades, fingerprints, and numbers of no named kind.
    assert {label.value for label in Label} - shown == {"LOCATION-OTHER", "PROFESSION", "BIOID", "IDNUM"}
