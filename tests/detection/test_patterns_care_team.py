"""Names that a role, a verb or a preposition gives away. In each line, [[value|LABEL]] marks all that must be found.

A line break inside a line is written as ⏎. Nobody in these lines exists, and no list knows the names that are in them
unless a line says so by a common one.
"""

from __future__ import annotations

import pytest
from marked_text import MARK, found_in, lines, plain

from deid_platform.labels import Label
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list

EVERY = frozenset(Label)
UNKNOWN = ("Ottavine", "Swindrel", "Doveka", "Vollmir", "Marlune", "Besfatta", "Katrune", "Osagwe", "Iurune")

DONE_BY = """
Sutures were removed by [[Ottavine|DOCTOR]] without difficulty.
Drain was pulled at 0900 by [[Swindrel|DOCTOR]].
Line inserted by [[Doveka|DOCTOR]], flushed well
Dressing changed by [[Ottavine Swindrel|DOCTOR]] at bedside
Speech eval done today by [[Doveka|DOCTOR]]: passed
PT eval by [[Ottavine Christ|DOCTOR]] recommends a walker
Sitter [[Ottavine|DOCTOR]] relieved at 0300 by [[Doveka|DOCTOR]].
assisted by [[Vollmir|DOCTOR]], scrub tech
driven by [[Chip Cope|DOCTOR]], who waits outside
he is followed closely by [[Vollmir|DOCTOR]] in the clinic
called by [[Vollmir|DOCTOR]] from the lab
Foley placed by⏎[[Vollmir|DOCTOR]] on arrival
Resp tx given by [[DM|DOCTOR]] RT @ 0400
SUTURES REMOVED BY [[OTTAVINE|DOCTOR]] WITHOUT DIFFICULTY
removed by traction
removed by Cardiology
The stone was removed by Basket extraction
replaced by Foley
relieved by Tylenol
pain relieved by Zorbalin
wound packed, followed by Zorbalin dressing
followed by Viscoat injection
covered by Zorbalin
approved by Medicaid
transferred by Hoyer
brought in by Ambulance
Brought in by Police
closed by Zorbal technique
confirmed by Doppler
seen by Wound Care
given by mouth
by Phone
side by side
seen by PT RN
CONFIRMED BY ULTRASOUND
"""

ROLES = """
Case worker [[Doveka|DOCTOR]] called
caseworker [[Ottavine Swindrel|DOCTOR]] called
claim pending, adjuster [[Ottavine Swindrel|DOCTOR]].
attorney [[Vollmir|DOCTOR]] requests records
aide [[Doveka|DOCTOR]] at bedside
tech [[Doveka|DOCTOR]] drew labs
nurse's aide [[Doveka|DOCTOR]] and [[Vollmir|DOCTOR]]
nurses [[Doveka|DOCTOR]] and [[Vollmir|DOCTOR]] turned him
case workers [[Ottavine Swindrel|DOCTOR]], [[Doveka|DOCTOR]] and [[Vollmir|DOCTOR]]
reviewed with the radiologist on call ([[Vollmir|DOCTOR]]).
charge nurse ([[Doveka|DOCTOR]])
ICU attending is [[Vollmir|DOCTOR]]
nurse practitioner [[Ottavine Swindrel|DOCTOR]] saw him
her lactation consultant, [[Vollmir|DOCTOR]], visits
The on-call resident [[RB|DOCTOR]] was paged twice
MD [[Swindrel|DOCTOR]] aware of K 3.1
notified MD [[Swindrel|DOCTOR]]
RT [[Vollmir|DOCTOR]] gave neb
SLP [[Doveka|DOCTOR]] cleared for thin liquids
GP [[Vollmir|DOCTOR]] informed
HV [[Vollmir|DOCTOR]] to visit
PCP [[Ottavine Swindrel|DOCTOR]]
PCP is [[Vollmir|DOCTOR]].
collected 06:10, ordering [[Vollmir|DOCTOR]]
WARD 6B   CONS [[VOLLMIR|DOCTOR]]
CASE WORKERS [[DOVEKA|DOCTOR]] AND [[VOLLMIR|DOCTOR]] AWARE
SLP [[DOVEKA|DOCTOR]] CLEARED FOR THIN LIQUIDS
Dr. [[Halvorsen|DOCTOR]] and [[Vollmir|DOCTOR]] agree
[[Vollmir|DOCTOR]], the charge nurse, was told
[[Ottavine Swindrel|DOCTOR]], our nurse practitioner.
Case worker to call
Nurse Manager
Social Worker Consult
tech Support
RN Assessment complete
PCP Appointment made
PCP Notified
RT Knee replacement
SLP Recs
OT Eval and treat
via interpreter Vietnamese
nurse ICU aware
surgeon GI paged
MD aware
MD to follow
Surgeon General
Tylenol, nurse aware
ordering Labs
CONS PENDING
CONS NEURO
GP Surgery
Dr. and nurse
"""

SPOKEN_TO = """
Spoke w/ [[Vollmir|PATIENT]] at Dr. [[Halvorsen|DOCTOR]]'s office
spoke frankly to [[Marlune|PATIENT]] about smoking
a long conversation today with [[Marlune|PATIENT]] regarding goals
will discuss with [[Vollmir|PATIENT]] tomorrow
please keep [[Marlune|PATIENT]] posted; kept [[Vollmir|PATIENT]] informed
keep Nursing posted, keep Wound open
discussed goals of care with [[Doveka|PATIENT]] and [[Vollmir|PATIENT]]
Report rec'd from [[Vollmir|PATIENT]]. Pt resting
Report given to [[Doveka|PATIENT]] and [[Vollmir|PATIENT]] in PACU
Handoff received from [[Vollmir|PATIENT]] at shift change
handed over to [[Doveka|PATIENT]] on 6B
Care assumed from [[Vollmir|DOCTOR]]
Telephone order read back to [[Vollmir|PATIENT]]
Left VM for [[Ottavine Swindrel|PATIENT]] today
LVM for [[Doveka|PATIENT]] to call back
message left with [[Vollmir|PATIENT]]
Curbsided [[Doveka|PATIENT]] in ID, no change
told [[Vollmir|PATIENT]] to call back
notified [[Weber|PATIENT]] of BP 88/50
call after 5, ask for [[Katrune|PATIENT]].
cross-covering for [[Vollmir|DOCTOR]]
appt with [[Vollmir|PATIENT]] in the clinic
follow up with [[Vollmir|PATIENT]] as planned
Seen in conjunction with [[Ottavine|PATIENT]] today
at the request of [[Vollmir|DOCTOR]]
on behalf of [[Vollmir|DOCTOR]]
per [[Vollmir|DOCTOR]], hold heparin
admitted under [[Vollmir|DOCTOR]]
It was a pleasure to meet [[Ottavine Swindrel|PATIENT]] in clinic.
It was a pleasure to meet [[Rosemary Weber|PATIENT]] in clinic.
Thank you for referring [[Ottavine Swindrel|PATIENT]] to us
introduced herself as [[Doveka|PATIENT]]
REPORT REC'D FROM [[VOLLMIR|PATIENT]]. PT RESTING
spoke w/ [[sheila|DOCTOR]] at the front desk
spoke with Pharmacy
Spoke with Radiology about the CT
spoke with Patient and Mother
report from Radiology
Report from OSH reviewed
Left VM for clinic
discussed with Family
discussed with Ortho
discussed switching to Zorbalin, agrees
paged Ortho
called Code Blue
reached Goal
told Patient
asked for Dilaudid
call if in pain, ask for Tylenol
home with Zorbalin.
along with Zorbalin.
working with OT daily
f/u with GI
reviewed with Ultrasound
care of Wound
in the presence of Staph
per Protocol
per Braden scale
per Uptodate
according to Rome criteria
under Fluoroscopy
si invia per Insufficienza della valvola, con il quadro
spoke w/ pharmacist at the front desk
"""

COMPANY = """
lives with [[Doveka|PATIENT]] in a flat
staying at home w/ [[Doveka|PATIENT]] for now
Pt's dtr [[Besfatta|PATIENT]] called x2 for update
the family (dtr [[Doveka|PATIENT]]) agree
foster mother [[Vollmir|PATIENT]] here
family [[Marlune|PATIENT]] notified
FAMILY [[MARLUNE|PATIENT]] NOTIFIED
FAMILY [[MAX|PATIENT]] NOTIFIED
[[Vollmir|PATIENT]]'s office will fax records
[[Doveka|PATIENT]]'s mother is here
lives with Family
lives with Mother
lives with COPD
Family Notified
FAMILY AT BEDSIDE
FAMILY HISTORY NOTED
Family Medicine called
witness Signature
companion Care
Alzheimer's care
Children's service
Women's clinic
"""

ACTING = """
Safety-netted. [[Osagwe|PATIENT]] to ring 111 if worse.
[[Vollmir|PATIENT]] aware, no new orders
[[Vollmir|PATIENT]] to see in clinic
When [[Doveka|PATIENT]] was brought in by ambulance, she slept
teaching completed, [[Doveka|PATIENT]] verbalized understanding.
[[Doveka|PATIENT]] can be reached at work
[[Hazel|PATIENT]] can be reached at work
At this point [[Doveka|PATIENT]] is stable for transfer
PT [[OTTAVINE SWINDREL|PATIENT]] ADMITTED VIA ER
[[OSAGWE|PATIENT]] TO RING 111 IF WORSE
patient [[ottavine swindrel|PATIENT]] called, wants dr [[doveka|DOCTOR]] to call back
Labs reported normal
Echo reports EF 55
Recall following a long delay was poor
Ortho to see
Neurology aware
Cards following
Zorbalin refused
Heparin to follow
Wound Nurse following
PT EVAL ADMITTED
patient repeatedly called
pt mother called
dr appt made
see dr asap
aumentó el tamaño del DR asociado
"""

ASIDES = """
Results to [[Osagwe|DOCTOR]].
Teaching done with [[Doveka|PATIENT]], teach-back good.
She asks for [[Katrune|PATIENT]]; called
asks for Tylenol; asked for Water. Results to follow, Results to Chart
Reviewed with fellow ([[Vollmir|DOCTOR]]) and attending ([[Osagwe|DOCTOR]]).
Social work ([[Doveka Marlune|DOCTOR]]) following.
Night float ([[Vollmir|DOCTOR]]) paged x2.
Please see my note re: [[Swindrel|PATIENT]] from yesterday.
Patient known to [[Osagwe|DOCTOR]].
Dictated by [[Besfatta|DOCTOR]] for [[Vollmir|DOCTOR]].
ID c/s: [[Osagwe|DOCTOR]]
Accepting physician at [[Wexcombe|HOSPITAL]]: [[Osagwe|DOCTOR]].
[[Doveka|DOCTOR]] (transplant) aware.
[[Osagwe|DOCTOR]] (cards): agree w/ plan
Divorced from [[Vollmir|PATIENT]] in 2010.
pcp: [[sandoval|DOCTOR]]
Will sign out [[Swindrel|PATIENT]] to night team.
CODE BLUE called for [[Swindrel|PATIENT]] at 0215.
To do: call [[Osagwe|DOCTOR]] office
He and [[Marlune|PATIENT]] plan to marry in the spring.
Overnight: [[Swindrel|PATIENT]] spiked to 101.4.
MOB [[Swindrel|PATIENT]] is rubella immune.
D/W on call reg [[Vollmir|DOCTOR]] - for review am
Pt transferred via ambulance crew [[Osagwe|DOCTOR]]/[[Vollmir|DOCTOR]].
Resident: [[Osagwe|DOCTOR]] / Staff: [[Vollmir|DOCTOR]]
Circulator [[Doveka|DOCTOR]], scrub [[Marlune|DOCTOR]].
Time out performed with [[Osagwe|PATIENT]] and [[Doveka|PATIENT]] present.
Specimen received from [[Vollmir|DOCTOR]], in formalin
1400 [[Osagwe|PATIENT]] at bs, drain out.
[[Osagwe|PATIENT]] to f/u.
will fax to [[Osagwe|DOCTOR]]
[[Osagwe|DOCTOR]] attending note: as above
Pt asking for "[[Katrune|PATIENT]]".
"Please call [[Katrune|PATIENT]]" she said.
Pt thinks that nurse is "[[Katrune|DOCTOR]]".
Who lives with you? [[Doveka|PATIENT]] and [[Katrune|PATIENT]]
2 kids ([[Doveka|PATIENT]], [[Katrune|PATIENT]])
Scrub technique, Betadine scrub Hibiclens. Kids Tylenol given
Please call Security. Please call Radiology. Please call if fever
Looking for "Bed", waiting for "Placement"
Who referred you? Self. Emergency contact? None
Name of medication? Lisinopril
faxed to Medicare, copied to Chart, Cardiology consult note reviewed
Staff: Adequate. Time out with Team. Specimen from Liver
Called re Warfarin dose, note regarding Medicare coverage
Known to Cardiology. Familiar with Spanish. Referred to Neurology.
attending (weekend), social work (consulted), scribe (virtual)
Divorced from husband in 2010. Separated, lives near Hospital
pcp: unknown, rn: aware
ID consult: Vancomycin. Cards c/s: Pending
Lisinopril (home): continue. Zosyn (id): agree
He and Family agree. She and Staff discussed it.
Will sign out Labs to night team. Called for Asystole at 0215.
call Cardiology office, from Main office
Dictated by voice for Accuracy. Seen by Cardiology for Preop
"""

ITALIAN = """
Accompagnata dal fratello [[Iurune|PATIENT]], abita in campagna
Firmato digitalmente da [[Ottavine D. Swindrel|DOCTOR]] in reparto
Si affida al medico curante, [[Ottavine Swindrel|DOCTOR]], per il controllo
Il sig. [[Vollmir|PATIENT]] riferisce dolore
contattata la figlia [[Doveka|PATIENT]]
eseguito da [[Vollmir|DOCTOR]]
seguita dal Nucleo Valutazione da anni
seguita da Cardiologia
inviato da Pronto soccorso
"""

ALL = lines(DONE_BY, ROLES, SPOKEN_TO, COMPANY, ACTING, ASIDES, ITALIAN)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_people_are_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, EVERY).replace("\n", "⏎") == line


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_list_knows_the_names_of_these_lines(name: str) -> None:
    assert not word_class(name)


def test_no_role_and_no_relative_is_a_service() -> None:
    named = word_list("care_team_roles") | word_list("kin_words")
    assert not {term for term in named if " " in term} & word_list("services")


def test_services_are_single_words() -> None:
    assert not [term for term in word_list("services") if " " in term]


@pytest.mark.parametrize("drug", ["Tylenol", "Lovenox", "Keppra", "Coumadin", "Zosyn"])
@pytest.mark.parametrize(
    "cue", ["relieved by {}", "home with {}", "asked for {}", "{} was refused", "RN gave {}", "per {}"]
)
def test_drugs_are_nobody(cue: str, drug: str) -> None:
    assert word_class(drug) & WordClass.CLINICAL
    assert not MARK.findall(found_in(cue.format(drug), EVERY))
