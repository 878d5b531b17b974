"""What a text alone gives away about people. In each line, [[value|LABEL]] marks all that must be found.

A line break inside a line is written as ⏎. Nobody in these lines exists.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from marked_text import found_in, lines, plain

from deid_platform.detection.rules.names.vocabulary import vocabulary_names
from deid_platform.labels import Label
from deid_platform.lexicon.lists import word_list

EVERY = frozenset(Label)

TITLES = """
Dr. [[M.R|DOCTOR]]. saw him; Mr [[F.B|PATIENT]] a man; as per Dr. [[X|DOCTOR]]. I agree
Dr. [[J. D. Quarmby|DOCTOR]] saw him; Dr. [[M. R|DOCTOR]]. called
Drs. [[Nguyen|DOCTOR]] and [[Patel|DOCTOR]] saw him. Drs [[Nguyen|DOCTOR]] & [[Patel|DOCTOR]].
D/w Drs [[Okafor|DOCTOR]]. Drs [[Okafor|DOCTOR]] agreed.
Dr. [[A|DOCTOR]].  Metoprolol was held.
Seen by Dr. [[K|DOCTOR]]. Lisinopril continued.
Seen by Dr. [[K. Lindqvist|DOCTOR]], who agreed.
Dr. [[Ndoye|DOCTOR]] saw him. Later [[Ndoye|DOCTOR]] called.
Dr. [[Green|DOCTOR]] will call
DR [[QUARMBY|DOCTOR]] NOTIFIED
Drs. [[Patel|DOCTOR]] and [[Kim|DOCTOR]]
Drs. [[Adeyemi|DOCTOR]], [[Osei|DOCTOR]], and [[Nguyen|DOCTOR]] agreed
dr. [[ndoye|DOCTOR]] called
seen by Doctor [[Halvorsen|DOCTOR]] today
Professor [[Anneke van der Berg|DOCTOR]] was asked
Mr. [[Will Harmon|PATIENT]] agreed
Mrs. [[O'Brien-Smith|PATIENT]]'s daughter
Ms. [[de la Cruz|PATIENT]] returns
Mr [[J. R. Tolland|PATIENT]] denies pain
Mr. [[Harlan Boyd Jr.|PATIENT]] is here
mr. [[quarmby|PATIENT]] slept well
Miss [[Abernathy|PATIENT]] is well
Officer [[Delgado|PATIENT]] was at the scene
Sig.ra [[Colombo|PATIENT]] riferisce dolore
Dott.ssa [[Ferretti|DOCTOR]] informata
Sra. [[Villanueva|PATIENT]] acude a consulta
Dña. [[Remedios Ibarra|PATIENT]] ingresa
Mme [[Delacroix|PATIENT]] est vue ce jour
dr [[osei|DOCTOR]] advised rest
MS. [[TOLLAND|PATIENT]] WAS SEEN
mrs [[osei|PATIENT]] was seen
ingresa [[D. Zoilo Ibarra Soler|PATIENT]]
Mr/Ms [[Quar-⏎nby|PATIENT]] did well overnight
Mrs. [[Hal- vors|PATIENT]] slept, Dr. [[Tol- lund|DOCTOR]] saw her
Ms [[Tol lund|PATIENT]] did well overnight
Mr. [[Tolland|PATIENT]]- well known to us
Mrs. [[Zbikovska|PATIENT]] ruminates; Mr. [[Quarmby|PATIENT]] perseverates
He sees Dr [[Mild|DOCTOR]] and Dr. [[Rash|DOCTOR]] for this
Dr Appointment, Dr Office, Dr. Orders
Mlle [[Fournier|PATIENT]] va bien
Frau [[Lindemann|PATIENT]] berichtet
His name is [[Austin|PATIENT]].
a boy named [[Dallas|PATIENT]]
0.4 ms. Bosniak II cyst
Next of kin: [[Kim Norris|PATIENT]]  A frozen section was sent
Dr. and nurse
see your doctor urgently
contact dr asap
MS. No change.
Nurse Practitioner
The Patient Advocate called
RN notified
"""

HEADERS = """
RE: EXAMINEE : [[Zarina|PATIENT]]
Attending: Agree with above
Spouse: Supportive
Contact: Isolation precautions
Patient: [[QUARMBY, JANE T|PATIENT]]
Patient: [[Jack Bond|PATIENT]]  DOB: [[4/18/1940|DATE]]
Name: [[Jane Quarmby|PATIENT]]   DOB: [[1/2/1960|DATE]]
Patient Name: [[Will May|PATIENT]]
Name: [[St. Clair, Faith H|PATIENT]]
RE: [[Tolland, Marcus|PATIENT]]
Emergency contact: [[Priya Raman|PATIENT]] (daughter)
Dictated by: [[John Q. Public|DOCTOR]], MD
Attending: [[Sylvia Ndu|DOCTOR]]
Surgeon: [[R. Halvorsen|DOCTOR]], MD
cc: [[Tomasz Zielony|DOCTOR]]
Cc: [[Tomasz Zielony|DOCTOR]]; [[Amara Adeyemi|DOCTOR]]
Dear Mr. [[Quarmby|PATIENT]]:
Hi [[Priya|PATIENT]], your results are back
Mother: [[Priya Raman|PATIENT]]
Apellidos: [[Ibarra Soler|PATIENT]].
Médico: [[Gerardo Ibarra|DOCTOR]]
Attn: [[Lucia Ferretti|DOCTOR]]
From: [[Gabriela Rosenthal|DOCTOR]]
Referring physician: [[Okonkwo, Chidi|DOCTOR]]
[[BERGSTROM, DEEPIKA L|PATIENT]]  [[80176719|IDNUM]]
[[JANSEN, CHASE|PATIENT]]  [[15903668|IDNUM]]
specimen labeled [[SHAH, MARK G|PATIENT]].
Patient: The patient is well
CC: Fall from standing height
CC: Difficulty with speech
ATTENTION: Auditory working memory
Plan: Follow up
Assessment: Stable
From: Emergency Department
PROCEDURE PERFORMED: Biopsy
Name: Aspirin 81 mg
"""

SIGNATURES = """
[[Jane Quarmby|DOCTOR]], NP⏎[[555-0123|PHONE]]
Electronically signed by [[Ana Ruiz|DOCTOR]], RN
/s/ [[Calvin Christensen|DOCTOR]]
[[Sylvia Ayonghe Quarmby|DOCTOR]] MD [[05/13/2018|DATE]]
Discussed With [[Rania Cunningham|DOCTOR]], DO
Seen by [[Malcolm Anand|DOCTOR]], PA-C and [[Tyler Orozco|DOCTOR]], FNP-BC
Signed by: [[Dang, David|DOCTOR]], PA-C
([[KL|DOCTOR]]) [[MARGIT DAY QUARMBY|DOCTOR]], PA
[[Ingrid Connelly|DOCTOR]]⏎Attending Physician
I, [[Rania Cunningham|DOCTOR]], was present
transcribed [[6/1/2025|DATE]] by [[KJ|DOCTOR]]
coverage through [[Kavita Jefferson|PATIENT]] tonight
CBC, UA, PT, PTT were sent
followed by Viscoat injection
seen by Cardiology
reviewed by the team
MD to follow
"""

KIN = """
Mom- [[ann quarmby|PATIENT]] or uncle [[peter boyd|PATIENT]]
daughter [[Maria|PATIENT]] visits
his wife, [[Linda Quarmby|PATIENT]], is here
Wife ([[Linda|PATIENT]])
her husband [[Mark|PATIENT]] drove
Niece ([[June|PATIENT]]) left a message
[[Amara Adeyemi|PATIENT]] (daughter) called
her parents [[Bud|PATIENT]] and [[Sue Mizrahi|PATIENT]]
Born at 39 weeks to [[Faith St. Clair|PATIENT]] by vaginal delivery
She delivered [[Bill|PATIENT]] at 15:59
mother calls her [[Missy|PATIENT]]
[[Stevie|PATIENT]] (as he likes to be called)
his daughter will come
mother and father well
Mother - eczema
Mother Lung Ca
Father: Deceased at 47
Sister has asthma
Maternal Aunt Breast Cancer
"""

VERBS = """
[[José Álvarez|PATIENT]] presents today
[[Martha Quarmby|PATIENT]] is a 50-year-old woman
[[Martha|PATIENT]] reports no pain
[[Joy|PATIENT]] is a 45-year-old woman
Pt seen with [[Anna S|PATIENT]].
spoke with [[Zelda Ndiaye|PATIENT]] at length
[[JL|PATIENT]] and family agree with the plan
[[RW|PATIENT]] is feeling much better
Pt [[KD|PATIENT]] was seen
PT reports that gait is improved
MS is a chronic disease
CT was seen to be negative
Pain is a 5/10
Sleep is a problem
Will return in two weeks
May take with food
Mark the site before incision
Later called back
Briefly, a 16-year-old girl
"""

LISTS = """
Thank you for seeing [[Violet Glasgow|PATIENT]] in clinic
we agreed with [[Deshawn Whitfield|PATIENT]] on this
[[Okonkwo, Chinedu|PATIENT]]⏎room 4
report given to [[Oluwaseun Balogun|PATIENT]]
[[T. Okonkwo|PATIENT]] was paged
Long Thoracic Nerve
Left Lower Lobe
Sodium Chloride
Lactated Ringer solution
Grace Period
Jackson-Pratt drain
Jackson Pratt drain
Austin Moore hemiarthroplasty
Santa Barbara tube
Hank dilators were used
Owen silk dressing
Lloyd sign negative
the Alexander instrument
E. Coli and S. Aureus grew
Robert Jones dressing
Allen test normal
Guillain-Barré
Factor V Leiden
ELISA and IRIS
Murphy's sign negative
Babinski downgoing
Foley catheter in place
Kocher incision
Apgar 8 and 9
Parkinson disease
Tylenol, Advil and Xarelto
Boston Scientific stent
Miami J collar
Baker cyst
McBurney point tender
"""

AGED = """
This is a 54 yo male, [[Almasi|PATIENT]], with a history of COPD.
64F [[Osterhaus|PATIENT]] here for f/u DM2.
[[Pruitt, Maddox|PATIENT]] - 54M - s/p TKA
Twin A ([[Ezra|PATIENT]]) and Twin B ([[Silas|PATIENT]]) both feeding well.
Siblings [[Ezra|PATIENT]], 4, and [[Junia|PATIENT]], 7, are healthy.
Maiden name [[Delacroix|PATIENT]].
Patient goes by "[[Wrennie|PATIENT]]".
Police (Ofc. [[Mulvaney|PATIENT]]) at bedside.
[[Anneliese|PATIENT]] (dtr) [[617 555 0123|PHONE]]⏎[[Dorian|PATIENT]] - husband - [[617 555 0142|PHONE]]
Office (main) [[617 555 0123|PHONE]]⏎Tel [[617 555 0142|PHONE]]⏎Hotline [[617 555 0199|PHONE]]
54 yo male, Caucasian, with chest pain
54 yo female, Cantonese-speaking, with cough; a 60 yo woman, Catholic, declined blood
64F Caucasian, here for follow up; 54M Veteran with PTSD
Twin A (larger) and Twin B (smaller), Twin A, Breech
Children 4, 7. Siblings: two, both healthy
Maiden name unknown. Det. of bleeding, Bishop score 8
"""

COMMON_WORDS = """
melanoma, [[Jack T|PATIENT]]., reviewed; CHF, [[Douglas R|PATIENT]]., seen
a patient, [[Lily A|PATIENT]]., with gout; [[Frank G|PATIENT]]. residing there
Type A., Vitamin B., Grade C., Hepatitis B., Ward B., Point A., admitted
Prepared by [[K.R|DOCTOR]]
Provider: [[Francisco Colom|DOCTOR]], FNP-BC, AGNP-C
Prepared by [[L.P|DOCTOR]]
Dr. [[N0rman|DOCTOR]] and Mrs. [[Be1lamy|PATIENT]] spoke. B12, Mr. T1 and Dr. 5
The patient [[Marg0t Villier|PATIENT]] and her son [[Wi11iam|PATIENT]]; Name: [[J0nnie Quarmby|PATIENT]]
patient T10 level injury, the patient B12 level was low, patient H1N1 positive
D/W DR. [[HASSON|DOCTOR]] AND DR. [[MERCADO|DOCTOR]]
[[Quarmby, Jane|PATIENT]] [[7712345|IDNUM]], [[Grace Quarmby|PATIENT]] ([[7712345|IDNUM]])
[[QUARMBY, JANE|PATIENT]] - [[7712345|IDNUM]] - F
Urine Culture [[1234567|IDNUM]], Catalog Number ([[1234567|DEVICE]]), Mark Order [[1234567|IDNUM]]
Ordering provider [[d cisneros|DOCTOR]].
watches her grandchild on Mondays and Thursdays
On examination [[Giovanny Hall|PATIENT]] was alert
[[John Hood|PATIENT]] was discharged home
Plan: [[KARA GRAY|PATIENT]] to return
[[DERRICK RASH|PATIENT]] tolerated the procedure well
part in the care of [[DERRICK RASH|PATIENT]].
[[Derrick Rash|PATIENT]]'s wound was clean
[[Will Small|PATIENT]] tolerated the procedure
Plan: [[APRIL POWERS|PATIENT]] to return
[[MAX KOREN|PATIENT]]'s wound was dry
Gray matter was normal
JOHN HEAD CT was normal
MARIA SKIN RASH NOTED
Will Return was seen
Jackson Drain was placed
[[Christian Faith|PATIENT]] was called
[[Moses, Kolton|PATIENT]]'s wound was clean
Plan: [[MIRANDA, CHASE|PATIENT]] to return
[[Hall, Giovanny|PATIENT]] was transferred
[[RICE, FRED|PATIENT]] was seen
[[Gray, Kara|PATIENT]] was lightly sedated
On examination [[Schiebel, Max|PATIENT]] was alert
On examination [[Rash, Derrick|PATIENT]] was alert
[[CARROLL, MAX|PATIENT]] tolerated the procedure well
part in the care of [[BERNAL, GUY|PATIENT]].
part in the care of [[Powers, April|PATIENT]].
Plan: [[RASH, DERRICK|PATIENT]] to return
[[Menapace, Ford|PATIENT]] was admitted
Grant, Will return
Hall, room 4
PLAN, MAX dose
Heparin, Max was given
However, [[Derrick|PATIENT]] denies pain
Overnight, [[Martha|PATIENT]] was seen
On examination [[K. Gray|PATIENT]] was alert
[[F. Rice|PATIENT]] tolerated it
[[G. Hall|PATIENT]] reports pain
[[M. Schiebel|PATIENT]]'s wound was dry
part in the care of [[J. Hood|PATIENT]].
E. Coli was seen
C. Difficile was seen
R. Hand was seen
A. Lens was placed
part in the care of [[Max|PATIENT]].
part in the care of Hospice.
part in the care of Family Medicine.
It is my opinion that [[Guy|PATIENT]] needs rest
It is my opinion that Surgery needs to see
[[Max|PATIENT]] was transferred
Oxygen needs were met
Wound Care needs were met
I spoke with [[Fields|DOCTOR]] from cardiology.
I spoke with [[Henderson|DOCTOR]] from cardiology.
spoke with Nursing from cardiology
discussed with Pharmacy from the ICU
[[Tommie S. Van Buren|DOCTOR]], M.D.
Home in a Van, MD
Mr [[Rash|PATIENT]]'s wound was clean
Mr. Patient was seen
MR Brain was normal
Next of kin: [[Sabra Hood|PATIENT]]  Then the bladder
"""

REPEATS = """
Dr. [[Ndoye|DOCTOR]] signed. Seen by the PA-C.  [[NDOYE|DOCTOR]] agreed.
Dr. [[Ndoye|DOCTOR]], M.D.⏎[[Ndoye|DOCTOR]] agreed.
Mr. [[Foley|PATIENT]] has a Foley catheter. [[Foley|PATIENT]] denies pain.
Dr. [[Halvorsen|DOCTOR]] called. [[HALVORSEN|DOCTOR]] agreed; [[Halvorsen|DOCTOR]]'s note
Mr. [[Tolland|PATIENT]] fell. [[J. Tolland|PATIENT]] is well
Dr. [[Young|DOCTOR]] saw a young man
Mrs. [[Quarmby-Osei|PATIENT]] left. [[Quarmby|PATIENT]] called
"""

LAYOUT = """
Name | MRN⏎[[Quarmby, Jane|PATIENT]] | [[4471|MEDICALRECORD]]⏎[[Osei, Kofi|PATIENT]] | [[8812|MEDICALRECORD]]
Patient | [[Nasser, Christina L|PATIENT]] | DISCHARGE
| Provider | Role |⏎| --- | --- |⏎| [[Halvorsen|DOCTOR]] | surgeon |
Test | Result | Flag⏎Sodium | 138 | normal
Drug | Dose⏎Aspirin | 81 mg
[[Zelda Quarmby|PATIENT]]⏎[[12 Oak Street|STREET]]⏎[[Harlow Falls|CITY]], [[OH|STATE]] [[45011|ZIP]]
From: [[Jane Osei|DOCTOR]]⏎To: [[Kofi Tolland|DOCTOR]]⏎Subject: lab results
On [[March 3, 2021|DATE]] [[Kofi Tolland|DOCTOR]] wrote:⏎thanks
Medications⏎[[12 Oak Street|STREET]] is where the bus stops
"""


ALL = lines(TITLES, HEADERS, SIGNATURES, KIN, VERBS, LISTS, AGED, COMMON_WORDS, REPEATS, LAYOUT)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_people_are_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, EVERY).replace("\n", "⏎") == line


def test_a_table_ends_at_a_blank_line() -> None:
    table = "Name | MRN\n{} | 4471\n"
    inside = found_in(table.format("Quarmby, Jane") + "Zorbel | 8812", EVERY)
    after = found_in(table.format("Quarmby, Jane") + "\nZorbel | 8812", EVERY)
    assert "[[Zorbel|PATIENT]]" in inside
    assert "[[Zorbel" not in after


def test_a_long_run_of_capitalised_words_is_read_once_from_left_to_right() -> None:
    text = "Mary " * 5_000 + "Quarmby"
    spans = list(vocabulary_names(text))
    assert all(a.end <= b.start for a, b in pairwise(spans))


@pytest.mark.parametrize("name", ["Babinski", "Kocher", "Valsalva", "Lasix", "Coumadin", "Xarelto"])
def test_the_lists_of_names_hold_no_word_that_is_only_clinical(name: str) -> None:
    folded = name.lower()
    assert folded not in word_list("lone_given_names") | word_list("surnames")


def test_a_name_that_counts_alone_is_a_listed_given_name_and_no_common_word() -> None:
    alone = word_list("lone_given_names")
    assert alone <= word_list("given_names")
    assert not alone & (word_list("clinical_words") | word_list("cities") | word_list("title_stopwords"))
