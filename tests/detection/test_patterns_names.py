"""Names beside what looks like them: eponyms, abbreviations, diseases, drugs. [[value|LABEL]] marks what must be found.

A line break inside a line is written as ⏎. Nobody in these lines exists.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.detection import DetectorSpec
from deid_platform.detection.rules.names.eponyms import is_eponym_s_name
from deid_platform.labels import Label
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Note, Patient, Topics

EVERY = frozenset(Label)

FULL_NAMES_OF_EPONYMS = """
[[Robert Jones|PATIENT]] came to clinic
Spoke with [[Robert Jones|PATIENT]]
[[Robert Jones|PATIENT]], room 4
[[ROBERT JONES|PATIENT]] WAS SEEN
[[Robert Jones|PATIENT]]'s fracture has healed
[[Robert Jones|PATIENT]]⏎Fracture clinic
Patient [[Robert Jones|PATIENT]] fracture clinic
a [[Robert Jones|PATIENT]] called
[[Mary Walker|PATIENT]] left
[[Russell Silver|PATIENT]] reports pain
[[Allen Brown|PATIENT]] came to clinic
[[Ivor Lewis|PATIENT]] was seen
[[Denis Browne|PATIENT]] sat up
[[Jackson Pratt|PATIENT]] came to clinic
[[Mallory Weiss|PATIENT]] was seen today
[[Ramsay Hunt|PATIENT]] was seen
[[Thomas Kilner|PATIENT]], room 4
Mr. [[Robert Jones|PATIENT]] has a Robert Jones bandage
[[Robert Tolland|PATIENT]] has a Robert Jones bandage. [[Robert|PATIENT]] is well
a Robert Jones bandage and a Robert Jones dressing
Robert Jones compression dressing
Robert Jones⏎bandage
ROBERT JONES BANDAGE
Robert Jones fracture of the fifth metatarsal
Sister Mary Joseph nodule
Austin Moore prosthesis, hemiarthroplasty (Austin Moore)
Ivor Lewis minimally invasive esophagectomy
s/p Ivor Lewis, status post Ivor Lewis, Procedure: Ivor Lewis
Ramsay Hunt syndrome, Ramsay Hunt's syndrome, Ramsay Hunt type 2
A Jackson Pratt was placed, Jackson Pratt x2, Jackson Pratt to bulb suction
Denis Browne bar
h/o Mallory Weiss, Mallory Weiss tear
Argyle Robertson pupil, Salter Harris II was seen
Arnold Chiari malformation, Arnold Chiari, seizures
Charcot Marie Tooth disease, Wolff Parkinson White
Frank Starling curve, Harris Benedict equation
"""

BEFORE_NOUNS_OF_EPONYMS = """
[[John Tolland|PATIENT]] test results were reviewed
[[Maria Lopez|PATIENT]] type 2 diabetic
[[Maria Lopez|PATIENT]] tube feeds
[[Kelly Nguyen|PATIENT]] came to clinic
report given to [[Vincent Nguyen|PATIENT]]
[[Ana Lopez|PATIENT]], room 4
[[ANA LOPEZ|PATIENT]] sat up
Kelly clamp, Kelly Clamps, Blake Drain, Bruce protocol
Jackson Tracheostomy tube
Ross Konno procedure
"""

CAPITALS = """
[[ANA|PATIENT]] was seen
[[ANA|PATIENT]], 54F, presents
[[ANA|PATIENT]] (54F) presents
[[ANA|PATIENT]] 54yo here
[[SUE|PATIENT]] ate well
[[ANA|PATIENT]] tolerated the diet
[[ANA|PATIENT]] tolerated.
[[ANA|PATIENT]] ambulated in the hall
[[ANA|PATIENT]] denies pain
[[ANA|PATIENT]] was admitted with pneumonia
[[ANA|PATIENT]]'s husband called
[[ANA|PATIENT]] and her daughter agree
[[ANA|PATIENT]], who lives alone,
[[ANA|PATIENT]] returned to the floor
[[ANA|PATIENT]] has no complaints
spoke with [[ANA|PATIENT]] today
[[PAT|PATIENT]] was informed
[[PEG|PATIENT]] voided x2
[[MAX|PATIENT]] slept well
[[SUE|PATIENT]] ATE WELL
[[MAY|PATIENT]] ATE LUNCH
[[Ana|PATIENT]] ambulated, [[Sue|PATIENT]] ate well
[[ANA|PATIENT]] was seen. ANA was positive, ANA 1:320
ANA was positive, ANA is pending, ANA was normal
ANA 1:320, ANA ordered, ANA, ESR and CRP
ANA, 1:320
ANA returned positive, ANA returned to normal
ANA was seen on the panel
ANA, 5 months ago
ANA WAS POSITIVE
PEG was placed, PEG tube
TIA was seen on MRI
a MARK was seen, no RAY was seen
MAX was 120, MAX assist, ART therapy, TED hose
MAY return, WILL follow, WILL RETURN, HOPE to discharge
CT was seen
"""

DISEASES = """
Mother Alzheimer's, father Parkinson's
Mother: Alzheimer's. Father: Parkinson's.
Sister Crohn's and brother Down's
mother Crohn’s, sister Graves'
mother Parkinson's at 60, aunt Huntington's x 3 years
mother Parkinsons, father Alzheimers
father Wilson's and mother well
Maternal grandmother Lou Gehrig's
Parents Parkinson's and Alzheimer's
MOTHER ALZHEIMER'S, FATHER PARKINSON'S
Father Hodgkin's lymphoma
Mother [[Parkinson|PATIENT]]'s daughter came
her sister [[Crohn|PATIENT]]'s house
Sister [[Graves|PATIENT]]' wish
Mother [[Tolland|PATIENT]]'s, father [[Quarmby|PATIENT]]'s
his mother [[Wilson|PATIENT]] called
"""

LABELLED = """
Name: Lisinopril
NAME: LISINOPRIL
Name: Metformin 500 mg
Name: Atorvastatin Calcium
Name: Lisinopril-Hydrochlorothiazide
Name: Keppra, Dosage: 500 mg
Name | Lisinopril
Nome: Ramipril
RE: Lisinopril refill
Medication Name: Atorvastatin
Medication Name: Allegra
Drug Name: Lantus
Test name: Ferritin
Name: Ferritin
Device Name: Medtronic Micra
Name | Dose | Route⏎Lisinopril | 10 mg | PO
Name | Room⏎Lisinopril | 12⏎[[Quarmby|PATIENT]] | 14
Name: [[Allegra|PATIENT]]
Name: [[Jane Lisinopril|PATIENT]]
Name: [[Lisinopril Quarmby|PATIENT]]
Name: [[Ferritin, Jane|PATIENT]]
Name: [[Bruce|PATIENT]]
Name: [[Novak|PATIENT]]
Name: [[Broviac|PATIENT]]
Name: [[Parkinson|PATIENT]]
Name: [[BMP|PATIENT]]
NAME: [[QUARMBY|PATIENT]]
Drug Name: [[Zelda Quarmby|PATIENT]]
"""

DOUBLE_NAMES = """
Mrs. [[Siobhan O'Brien-Walsh|PATIENT]] fell. [[O'Brien|PATIENT]] is well, [[O’BRIEN|PATIENT]]; [[OBrien|PATIENT]] left
Mrs. [[Siobhan O’Brien-Walsh|PATIENT]] fell. Ms. [[Walsh|PATIENT]] is well. [[WALSH|PATIENT]]; [[O Brien|PATIENT]]'s leg
Mrs. [[Lucia D'Angelo Rossi|PATIENT]] fell. [[D’Angelo|PATIENT]]; [[d'Angelo|PATIENT]]; [[Rossi|PATIENT]]
Sig.ra [[Lucia Dell'Acqua Ferri|PATIENT]] riposa. [[Dell’Acqua|PATIENT]] dorme, [[DELL'ACQUA|PATIENT]]
Mr. [[Ewan McDonald-Tait|PATIENT]] fell. [[McDonald|PATIENT]]; [[MCDONALD|PATIENT]]; [[Tait|PATIENT]]
Mr. [[Jan van der Berg-Osei|PATIENT]] fell. [[van der Berg|PATIENT]]; [[Vanderberg|PATIENT]]; [[Osei|PATIENT]]
Mr. [[Omar al-Rashid-Noor|PATIENT]] fell. [[Noor|PATIENT]] left
Mr. [[Dev D'Sa-Pinto|PATIENT]] fell. [[D'Sa|PATIENT]] left
Mr. [[Elmar Robinson|PATIENT]] fell. A Smith-Robinson approach, Wolff-Parkinson-White
Mrs. [[Awa Smith-Robinson|PATIENT]] fell. [[Smith-Robinson|PATIENT]] left
Mrs. [[Siobhan O'Brien-Walsh|PATIENT]] fell at 5 o'clock. I've seen her; O'Neill sign negative
"""

ALL = lines(FULL_NAMES_OF_EPONYMS, BEFORE_NOUNS_OF_EPONYMS, CAPITALS, DISEASES, LABELLED, DOUBLE_NAMES)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_names_are_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, EVERY).replace("\n", "⏎") == line


@pytest.mark.parametrize("text", ["Name: Metformin", "Name: Metformin 500 mg", "Medication Name: METFORMIN"])
def test_a_listed_patient_outranks_the_drug_of_the_same_name(text: str) -> None:
    known = DetectorSpec("rules", Topics.of([Patient("1", "Zelda", None, "Metformin")])).build()
    spans = known.detect([Note("n", text, patient_id="1")])[0]
    assert [text[s.start : s.end].lower() for s in spans] == ["metformin"]


def test_the_things_of_an_eponym_are_listed_with_its_names() -> None:
    persons = word_list("eponym_persons")
    things = {term for term in persons if is_eponym_s_name(term.rsplit(" ", 1)[0])}
    assert "robert jones bandage" in things
    assert "robert jones" in persons - things
    assert all(len(term.split()) in (2, 3) for term in persons - things)


def test_a_substance_is_nobody_s_name() -> None:
    names = word_list("given_names") | word_list("surnames")
    assert not word_list("substances") & names


def test_the_nouns_of_eponyms_stand_in_one_list_each() -> None:
    nouns, things, conditions = (word_list(f"eponym_{name}") for name in ("nouns", "things", "conditions"))
    assert not nouns & things
    assert not nouns & conditions
    assert not things & conditions
