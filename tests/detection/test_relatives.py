"""A title or a credential makes no clinician of the patient or a relative: whose label counts, and near misses."""

from __future__ import annotations

import re

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.resolve.relatives import relabel_relatives
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Provider, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

ALONE = DetectorSpec("rules").build()
TOPICS = Topics.of(
    [Patient("p1", "Orrin", None, "Quillfeather", relatives="Alma Tatewell (mother)")],
    [Provider("d1", "Paul", "Venning"), Provider("d2", "Ines", "Marchetti")],
)
KNOWN = DetectorSpec("rules", topics=TOPICS).build()


def document(text: str) -> Document:
    return Document(Note("n", text))


def candidate(start: int, end: int, label: Label, score: float, source: str) -> Candidate:
    return Candidate.of_span(Span(start, end, label, score, source))


OF_THE_FAMILY = [
    # a word for kin right before it
    "Her father Dr. {Paul Venning} was called.",
    "HER FATHER DR. {VENNING} WAS CALLED",
    "Her husband Dr. {Venning} agrees.",
    "son Dr. {Paul Venning} at bedside",
    "His brother-in-law Dr. {Venning} drove him in.",
    "Mr. Hartley's brother Dr. {Venning} agrees.",
    "Her domestic partner, Dr. {Venning}, agrees.",
    "Legal guardian: Dr. {Paul Venning}",
    "His exwife, Dr. {Venning}, agrees.",
    "Her ex-husband Dr. {Venning} agrees.",
    "Her exhusband Dr. {Venning} agrees.",
    "wife Professor {Anna Venning} is here",
    "mother (Dr. {Venning}) at bedside",
    "Mother is Dr. {Anna Venning}.",
    "whose father is Dr. {Venning}",
    "Father named Dr. {Paul Venning}",
    "mother: {Anna Venning}, RN",
    "Told her daughter Dr. {Venning} that results are normal.",
    "Il padre dott. {Venning} concorda.",
    "Seine Mutter Prof. {Anna Venning} war dabei.",
    # set off by commas, where somebody's relative is told of
    "her father, Dr. {Paul Venning}, was called",
    "the patient's older sister, Dr. {Venning}, called",
    "Discussed with her son, Dr. {Venning}.",
    "Her father,\nDr. {Paul Venning}, agrees",
    "suo marito, il dott. {Venning}, riferisce febbre",
    # the other way round
    "Dr. {Paul Venning} (father) was present.",
    "Dr. {Paul Venning} (her older brother) was present.",
    "Dr. {Paul Venning}, her father, was present.",
    "{Anna Venning}, RN, the patient's mother, called.",
    # the patient
    "Patient: Dr. {Paul Venning}",
    "Patient Name: Dr. {Paul Venning}\nMRN: 00718822",
    "RE: Dr. {Paul Venning}\nDOB: 3/4/1950",
    "Emergency contact: Dr. {Paul Venning}",
    "Next of kin: Dr. {Paul Venning}",
    "Paziente: dott.ssa {Anna Venning}",
    "The patient, Dr. {Venning}, tolerated the procedure well.",
    "Patient Dr. {Paul Venning} was seen.",
]
CLINICIANS = [
    "Her doctor, Dr. {Venning}, was called.",
    "Mother saw Dr. {Venning} today.",
    "Her mother saw Dr. {Paul Venning}.",
    "Mother called Dr. {Venning}.",
    "Husband would like Dr. {Venning} to call.",
    "Her father's doctor, Dr. {Venning}, agrees.",
    "Her mother's Dr. {Venning} agrees.",
    "Dr. {Venning}, her father's cardiologist, agrees.",
    "Dr. {Venning} (mother's OB) called.",
    "Mother is Dr. {Venning}'s patient.",
    "His mother and Dr. {Venning} spoke.",
    "Her son Tim and Dr. {Paul Venning} spoke.",
    # what a relative is told
    "Told mom Dr. {Venning} will call.",
    "Informed her father Dr. {Venning} would see him.",
    "Updated mother Dr. {Venning}'s recommendations.",
    # lists
    "mother, Dr. {Venning}, RN at bedside",
    "Present: patient, mother, Dr. {Venning}, social work",
    "Seen by Dr. {Venning}, mother at bedside.",
    "Dr. {Venning}, her mother, and the nurse met.",
    "Discussed with the patient, Dr. {Venning}, and the nurse.",
    "The patient, Dr. {Venning}, and I discussed options.",
    # a clause before a clinician's own
    "After speaking with her father, Dr. {Venning} ordered a CT.",
    "For this patient, Dr. {Venning} recommends rest.",
    "The patient Dr. {Venning} saw yesterday is well.",
    "Discussed with patient: Dr. {Venning} will follow.",
    "Spoke with mother: Dr. {Venning} to call.",
    "Re: Dr. {Venning}'s recommendations",
    "Family history: father with MI. Dr. {Venning} aware.",
    # other company
    "My partner, Dr. {Venning}, will see her.",
    "Attending: Dr. {Venning}",
    "Family physician: Dr. {Paul Venning}",
    "Referred by Dr. {Venning}, her PCP.",
]


def labels_of(marked: str, detector=ALONE) -> set[Label]:
    """The labels of what is found where a text is marked."""
    start, end = marked.index("{"), marked.index("}") - 1
    (spans,) = detector.detect([Note("n", marked.replace("{", "").replace("}", ""), patient_id="p1")])
    return {span.label for span in spans if span.start < end and start < span.end}


@pytest.mark.parametrize("detector", [ALONE, KNOWN], ids=["text alone", "a provider of the topics"])
@pytest.mark.parametrize("marked", OF_THE_FAMILY)
def test_the_familys_name_is_the_familys_whatever_the_title(marked: str, detector):
    assert labels_of(marked, detector) == {Label.PATIENT}


@pytest.mark.parametrize("detector", [ALONE, KNOWN], ids=["text alone", "a provider of the topics"])
@pytest.mark.parametrize("marked", CLINICIANS)
def test_whom_the_family_met_stays_a_clinician(marked: str, detector):
    assert labels_of(marked, detector) == {Label.DOCTOR}


@pytest.mark.parametrize("name", ["safe_harbor", "patient_only"])
@pytest.mark.parametrize("marked", OF_THE_FAMILY)
def test_nothing_of_it_stays_where_clinicians_do(marked: str, name: str):
    text = marked.replace("{", "").replace("}", "")
    (spans,) = ALONE.detect([Note("n", text)])
    redacted = redact(Note("n", text), spans, load_policy(name)).text
    for word in re.findall(r"\w+", marked[marked.index("{") : marked.index("}")]):
        assert word not in redacted


def test_what_the_roster_knows_outranks_a_longer_name_with_a_title():
    text = "Seen with Dr. Alma K. Tatewell-Ossenby today."
    spans = [
        candidate(14, 39, Label.DOCTOR, 0.9, "rules:doctor-title"),
        candidate(22, 30, Label.PATIENT, 1.0, "roster"),
        candidate(0, 4, Label.DOCTOR, 0.5, "rules:other"),
    ]
    assert [span.label for span in relabel_relatives(document(text), spans)] == [
        Label.PATIENT,
        Label.PATIENT,
        Label.DOCTOR,
    ]
    # Other patients share their names with clinicians: the gazetteer's guess does not outrank a title.
    guessed = [spans[0], candidate(22, 30, Label.PATIENT, 0.9, "gazetteer")]
    assert relabel_relatives(document(text), guessed) == guessed


def test_who_is_told_once_to_be_of_the_family_is_so_in_the_whole_note():
    text = "Her father, Dr. Paul Venning, came. Dr. Venning asked about pain. Dr. Anna Venning is on call."
    (spans,) = ALONE.detect([Note("n", text)])
    found = {text[span.start : span.end]: span.label for span in spans}
    assert found == {"Paul Venning": Label.PATIENT, "Venning": Label.PATIENT, "Anna Venning": Label.DOCTOR}


@pytest.mark.parametrize("initials", ["JV", "J.V."])
def test_initials_behind_a_word_for_kin_are_the_writers(initials: str):
    text = f"Discussed with mother {initials}"
    span = candidate(len(text) - len(initials), len(text), Label.DOCTOR, 0.7, "rules:initials")
    assert relabel_relatives(document(text), [span]) == [span]
