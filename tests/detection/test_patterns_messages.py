"""Names in messages, hand-offs, lists and tables. In each line, [[value|LABEL]] marks all that must be found.

A line break inside a line is written as ⏎. Nobody in these lines exists.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.detection.rules.layout.tables import table_names
from deid_platform.detection.rules.names.name_lists import names_in_lists
from deid_platform.labels import Label
from deid_platform.notes import Span

PERSONS = frozenset({Label.PATIENT, Label.DOCTOR, Label.USERNAME})

GREETINGS = """
Good morning [[Xurna|PATIENT]], can you call her
Good evening Ms. [[Tolu|PATIENT]],
Hi all, [[Xurna|PATIENT]] please see below
Hey [[Besfat|PATIENT]] - pt is back
Hi [[Xurna|PATIENT]] and [[Besfat|PATIENT]], see below
Hi [[Xurna|PATIENT]]/[[Besfat|PATIENT]] - fyi
Hey [[Tolu|PATIENT]] can you call pt back
Hello [[Xurna|PATIENT]]!
hi [[maria|PATIENT]], please call
THANKS [[XURNA|PATIENT]]
Thanks so much, [[Besfat|PATIENT]]!
Thank you [[Tolu|PATIENT]] for seeing her
Hi [[Grace|PATIENT]], labs are back
Good morning [[Max|PATIENT]], please call
Morning [[Xurna|PATIENT]], quick question
Yes [[Xurna|PATIENT]], she came
No, [[Tolu|PATIENT]], not yet
[[Xurna|PATIENT]], please call her back
[[Xurna|PATIENT]] - can you see pt today?
[[Besfat|PATIENT]]: please call
Buongiorno [[Xurna|PATIENT]],
Caro [[Besfat|PATIENT]],
"Hello, this is [[Xurna Quarmby|PATIENT]]'s aunt."
Hi, this is [[Tolu|PATIENT]] calling
Good morning
Good morning, how are you feeling today?
Good morning team, rounds at 7
Hi,
Thanks,
Hi all, rounds moved to 8
Hello, Kitty stickers were given
Thanks everyone
Thank you, Radiology
Thanks, ICU team
Hi Mom,
Hi Nurse,
Hey Doc, quick question
Hi-Res CT
hi dose Lasix, then
Egregio Collega,
Nursing, please call
Labs, please
Coumadin: please hold
Foley: please remove
Wound Care - please see
Morning Lasix, evening Coreg
This is Parkinson's disease
OK Plavix, then
[[Besfat|PATIENT]], I saw your patient today
Hi [[Besfat|PATIENT]] it's [[Tolu|PATIENT]] from clinic
Intraop, I found adhesions
Unfortunately, I saw her late
Neurologic, see below
Overnight, I was called
Hello, it's Monday at noon
This is Sepsis from UTI
"""

CLOSINGS = """
Thanks,⏎[[Xurna|PATIENT]]
Thanks,⏎⏎[[Xurna|PATIENT]]
Sincerely,⏎⏎⏎⏎[[Xurna Quarmby|PATIENT]]
Best,⏎[[Xurna Quarmby|PATIENT]] RN
Kind regards,⏎[[Besfat Osei|PATIENT]]
Best wishes⏎[[Tolu|PATIENT]]
Cordiali saluti,⏎[[Besfat Colombari|PATIENT]]
Grazie, [[Xurna|PATIENT]]
She ran out of pills. Regards, [[Tia|PATIENT]]
-- [[Besfat|DOCTOR]]
Pt stable. -[[Xurna|DOCTOR]]
I will call her tomorrow, please hold. [[Besfat|DOCTOR]]
Please mail a letter. [[Grace|DOCTOR]]
Please mail a letter. [[Ed|DOCTOR]]
Let me know.⏎[[Xurna Quarmby|DOCTOR]]
Thanks! [[JK|DOCTOR]]
thx - [[EL|DOCTOR]]
Thanks, PT
thx - ICU
Best regards
Take care
Have a nice day
Regards,⏎⏎Assessment: stable
Thank you,⏎PLAN: continue
Best, Right eye 20/40
Best corrected acuity 20/20
Denies pain. Afebrile
PMH: HTN. Diabetes
Please continue meds. Coumadin
Please follow up. Echo
Please hold. Lasix
Your next visit. Radiology
PLAN⏎- Metoprolol⏎- Aspirin
- Metoprolol
Thank you for your referral. Assessment
Will do, [[Besfat|PATIENT]]
Will call her. -[[B. Quarmby|DOCTOR]]
Call me with questions. [[Tolu|DOCTOR]] x4412
Sent from my iPhone⏎[[Besfat Quarmby|PATIENT]]
Understood, Will call
Will do. Lasix
Agreed. Discharge
Please call. Voicemail
"""

REQUESTS = """
@[[Latrica|DOCTOR]] pls add [[Quarmby|PATIENT]] to the list for [[Ly|DOCTOR]], thx
@[[Besfat|DOCTOR]] @[[Xurna|DOCTOR]] fyi
@[[Xurna Quarmby|DOCTOR]] please review
@[[maria|USERNAME]] pls call
Please call [[Besfat|PATIENT]] about the refill
Can you get [[Besfat|PATIENT]] in this week?
can you get [[Rusty|PATIENT]] in this week?
could you see [[Tolu|PATIENT]] on Monday
Please let [[Besfat|PATIENT]] know
Please put [[Xurna|PATIENT]] on the OR schedule
cc'd [[Besfat|DOCTOR]]
Looped in [[Tolu|DOCTOR]]
Routed to [[Besfat|DOCTOR]]
Covering for [[Besfat|DOCTOR]] tonight
sats 94 @Rest
@Home with VNA
@bedside with family
K 3.1 @0400
Please call Pharmacy about the refill
Can you get Echo in the morning?
can you get Labs back today
please add Lasix to the list
Add Metoprolol to the list
Please add Gabapentin to the medication list
Move Lovenox to the am schedule
let Pharmacy know
made Surgery aware
cc'd Radiology
Looped in Cardiology
Routed to Scheduling
100 CC Optiray 320 contrast
"""

MAIL = """
From: [[Xurna Quarmby|DOCTOR]]
To: [[Besfat Osei|DOCTOR]]; [[Xurna Tolland|DOCTOR]]
Sent by: [[Xurna Quarmby|DOCTOR]] RN
Forwarded by: [[Besfat Osei|DOCTOR]]
Forwarded by [[Besfat|DOCTOR]] on
Cc: [[Xurna Quarmby|DOCTOR]], [[Besfat Osei|DOCTOR]]
Message from [[Besfat|PATIENT]] today
From: [[Quarmby, Xurna|DOCTOR]] <xq@example.org>
To: [[Grace Penny|DOCTOR]] <gp@example.org>
10:02 [[Besfat|DOCTOR]]: ok will do
[14:20] [[Xurna Osei|DOCTOR]]: pt here
From: Emergency Department
To: Recovery Room
To: Home
Sent by: EMS
Front Desk <desk@example.org>
Forwarded by Radiology
Message from Pharmacy: refill denied
10:02 Vitals: stable
0715 Assessment: unchanged
10:15 Labs: drawn
"""

CHAINS = """
On 3/3/21, 4:05 PM, "[[Tolland, Kofi|DOCTOR]]" wrote:
On 3/3/21 at 4:05 PM [[Kofi Tolland|DOCTOR]] wrote:
On 3/3/21 at 4:05 PM [[Kofi Tolland|DOCTOR]] <kt@example.org> wrote:
On Tue, Mar 3, 2021 at 4:05 PM EST [[Xurna Besfat|DOCTOR]] <xb@example.org> wrote:
On Mar 3, 2021, at 4:05 PM, [[Kofi Tolland|DOCTOR]]⏎<kt@example.org> wrote:
Il giorno 3 mar 2021 [[Xurna Besfat|DOCTOR]] ha scritto:
Cc: [[Ruiz, Ana|DOCTOR]]
To: [[Ruiz, Ana|DOCTOR]]; [[Okafor, B.|DOCTOR]]
Bcc: [[Ruiz, Ana|DOCTOR]]; [[Okafor, B.|DOCTOR]]
Cc: "[[Ruiz, Ana|DOCTOR]]" <ar@example.org>; "[[Okafor, B.|DOCTOR]]" <bo@example.org>
To: [[Quarmby, X|DOCTOR]] <xq@example.org>; [[Besfat, Xurna|DOCTOR]]
From: [[Ruiz, Ana|DOCTOR]]⏎Sent: Tuesday, March 3, 2021 4:05 PM⏎To: [[Okafor, Bim|DOCTOR]]
Sent: Tuesday, March 3, 2021⏎To: [[Okafor, Bim|DOCTOR]]; [[Tolland, Kofi|DOCTOR]]⏎Cc: [[Osei, Ama|DOCTOR]]
> From: [[Ruiz, Ana|DOCTOR]]⏎> Subject: FW: refill⏎>⏎> Dr. [[Quarmby|DOCTOR]] agreed
Subject: RE: FW: [[Quarmby, Jane|PATIENT]]
Subject: Fwd: [[Quarmby, Jane|PATIENT]] - refill
>> Hi [[Xurna|PATIENT]],⏎>> please call her⏎>> Thanks,⏎>> [[Besfat|PATIENT]]
> seen by Dr.⏎> [[Osei|DOCTOR]] then
Subject: RE: refill request
Subject: FW: refill
Subject: Fwd: refill
Subject: AW: refill
Subject: I: controllo
Subject: R: controllo
CC: Rash, Fever
CC: Weakness, Numbness; HPI: none
CC: Back Pain, Left
To: Home, Self
Cc: Pharmacy, Main
He wrote: none of it helps
> Lasix 40 mg⏎> Aspirin
"""

HANDOFFS = """
rm 9 -- [[Lasarto|PATIENT]]/[[Gorjun|DOCTOR]] following
[[Lasarto|DOCTOR]]/[[Gorjun|DOCTOR]]/[[Tolland|DOCTOR]] following
[[Lasarto|DOCTOR]] and [[Osei|DOCTOR]] following
on call: [[Quarmby|DOCTOR]] / [[Osei|DOCTOR]]
covering: [[Besfat|DOCTOR]]
Primary: [[Quarmby|DOCTOR]], Secondary: [[Osei|DOCTOR]]
Primary RN: [[Xurna|DOCTOR]]
R2: [[Quarmby|DOCTOR]]; R1: [[Osei|DOCTOR]]
Night float: [[Quarmby|DOCTOR]]
Handoff: [[Besfat|DOCTOR]] -> [[Xurna|DOCTOR]]
412 [[Quarmby, Xurna|PATIENT]]
412A [[QUARMBY, X|PATIENT]]
412-1 [[Quarmby, J|PATIENT]]
Bed 3: [[Quarmby|PATIENT]]
Bed 12 [[Quarmby|PATIENT]] 54M
Room 4 - [[Xurna Quarmby|PATIENT]], 54F
Rm 412 [[Quarmby, X|PATIENT]]
[[Quarmby, Xurna|PATIENT]] rm 412
[[Quarmby,Xurna|PATIENT]] rm 412
[[Quarmby|PATIENT]] rm 412
[[Quarmby|PATIENT]]/[[Xurna|PATIENT]] rm 412
HTN/DM following
Vanc/Zosyn following
Cards/Renal following
Renal and Cards following
Neuro/Nsgy to see
PT/OT following
Wound care following
Nephro following for AKI
Gabapentin following surgery
Recall following a long delay was fair
A/B
On call: Cardiology
Covering: Medicine
Primary: Breast
Primary: Melanoma
Secondary: Hypertension
Relief: Tylenol
Charge: Level 3
Night: Ambien
RT: Bipap at night
Handoff: Stable -> Improved
Levophed -> Vasopressin
Zosyn->Cefepime
Bed 3: Empty
Room 12: Chest pain
Rm 5: Appy
Rm 9 -- NPO
Room 412 Sepsis
Rm 4: Hip fx POD 2
412 Pneumonia, Sepsis
250 Saline, Normal
1400 Vitals, Labs
2000 Hemoglobin, Hematocrit
500 Metformin, Glipizide
Surgery, Medicine rm 4
Moved to Recovery, Bed 4
Pre/Post rm 4
412 [[QUARMBY|PATIENT]] 54M CHF
1. [[Quarmby, X|PATIENT]] - HTN
[[Quarmby, B|PATIENT]]. 54M, rm 12
7a-7p [[Besfat|DOCTOR]], 7p-7a [[Tolu|DOCTOR]]
Cards ([[Quarmby|DOCTOR]]) following
Consults: Cards - [[Quarmby|DOCTOR]], Renal - [[Osei|DOCTOR]]
Time out: [[Besfat|DOCTOR]], [[Tolu|DOCTOR]], [[Osei|DOCTOR]] present
Pager for [[Besfat|DOCTOR]]
412 Sepsis 54M
1. Vitamin, D - low
2. Lisinopril, HCTZ - continue
Anemia, Iron 54F
0700-1900 Intake
Night shift Charge
ID (Vanc), GI (Protonix)
Cards (Echo) pending
Consults: Renal - Following, Cards: Signed off
Present: Alert, Oriented, Calm
Coverage: Medicare, Medicaid
number for Hospice
"""

LISTS = """
seen with Dr. [[Ndoye|DOCTOR]], [[Xurnu|DOCTOR]] and [[Zorbek|DOCTOR]] today
Dr. [[Ndoye|DOCTOR]]/[[Quarmby|DOCTOR]]
Dr. [[Ndoye|DOCTOR]], MD and [[Xurnu|DOCTOR]]
Siblings: [[Valdira|PATIENT]] (hypertension), [[Vika|PATIENT]] (healthy), [[Tolu|PATIENT]] (asthma)
Care team: [[Xurna Quarmby|PATIENT]] (PCP), [[Besfat Osei|PATIENT]] (renal)
[[Xurna|PATIENT]] and [[Besfat|PATIENT]] have been married for years
Dr. [[Ndoye|DOCTOR]], Cardiology and Renal agree
Dr. [[Ndoye|DOCTOR]] and Nursing were present
Dr. [[Ndoye|DOCTOR]]/Cardiology
Dr. [[Ndoye|DOCTOR]], Lasix and Coreg were given
Dr. [[Ndoye|DOCTOR]], Continue Lasix
Siblings: Two (healthy), One (asthma)
Siblings: Brother (HTN), Sister (DM)
Team: Cardiology (primary), Nephrology (consult)
Epstein Barr (EBV), Citomegalovirus (CMV)
Smith and Nephew anchor
Pre and Post both normal
Nausea and Vomiting have been present
Salmonella and Shigella are both excluded
"""

TABLES = """
03/25/23  [[Starla|DOCTOR]]  nurse visit
2023-03-25 | [[Starla Quarmby|DOCTOR]] | phone call
25 Mar 2023  Dr. [[Quarmby|DOCTOR]]  office visit
03/25/23 14:20  [[Quarmby, Starla|DOCTOR]] RN  telephone encounter
Date      Provider   Type⏎03/25/23  [[Quarmby|DOCTOR]]    phone⏎03/26/23  [[Besfat|DOCTOR]]     visit
Date,Provider,Nurse⏎03/25/23,[[Quarmby|DOCTOR]],[[Besfat|DOCTOR]]
Name,DOB,Room⏎"[[Quarmby, Xurna|PATIENT]]",01/02/1950,4
Room | Nurse | Task⏎412 | [[Besfat|DOCTOR]] | dressing
Ordered by | Test⏎[[Quarmby|DOCTOR]] | CBC
Last | First | Room⏎[[Quarmby|PATIENT]] | [[Xurna|PATIENT]] | 4
| PCP | [[Xurna Quarmby|DOCTOR]] |⏎| Insurance ID | W34343 |
| PCP | [[Xurna Quarmby|DOCTOR]] |⏎| Pharmacy | Main |⏎| Attending | [[Besfat Osei|DOCTOR]] |
NAME [[QUARMBY, XURNA|PATIENT]]   WARD 6B   CONS [[OSEI|DOCTOR]]
FIRST: [[Xurna|PATIENT]] LAST: [[Quarmby|PATIENT]] MI: [[M|PATIENT]]
First Name: [[Xurna|PATIENT]]⏎Last Name: [[Quarmby|PATIENT]]⏎Middle Initial: [[M|PATIENT]]
[[QUARMBYXURNA|PATIENT]] 0098812
03/25/23  Influenza  vaccine
03/25/23  Cardiology  office visit
03/25/23  Completed  nurse visit
03/25/2023 Colonoscopy follow up visit
Date  Procedure  Result⏎03/25/23  Colonoscopy  Normal
Test  Result  Flag⏎Sodium  138  Normal
Provider | Role⏎Cardiology | consult
Medication,Dose,Route⏎Lisinopril,10 mg,PO
Name,Dose,Route⏎Zonapril,10 mg,PO
From | To | Time⏎ICU | Telemetry | 0400
Last | Next | Provider⏎Never | Due | Pharmacy
Please give allergies, name, phone⏎Then, Xurna, all
First: Do no harm. Last: be kind
First: Aspirin 81 mg, Last: Plavix 75 mg
MI: Anterior 2003
MI: 2019, first at 40
NAME OF PROCEDURE: Appendectomy
PATIENT EDUCATION  given DOB verified
PATIENT HISTORY   MRN below
HEMOGLOBIN 1234567
ELECTROENCEPHALOGRAM 1234567
RxNorm 860975
SURNAME [[QUARMBY|PATIENT]]   FORENAME [[BESFAT|PATIENT]]
Name/MRN: [[Quarmby, Besfat|PATIENT]] / 0012
Ordering Provider⏎[[Quarmby, Besfat|DOCTOR]]
SURNAME  FORENAME  DOB
Name and DOB: Confirmed
Ordering Provider⏎Radiology
Collected by⏎Venipuncture
"""

SIGNED = """
specimen labelled [[Quarmby, Hans S|PATIENT]]
labeled with the patient's name "[[Quarmby, Xurna|PATIENT]]"
[[Xurna Quarmby|DOCTOR]] /s/ NPI
[[Xurna Quarmby|DOCTOR]], MD /s/
/s/ [[Xurna Quarmby|DOCTOR]]
[[DANELLE XURNBY|PATIENT]]⏎2800 Main St #3⏎Harlow Falls OH 45011
[[ROSEMARY D. QUARMBY|PATIENT]]⏎94220 Fourth Street #62
accession 123, collected 06:10, ordering [[Quarmby|DOCTOR]]
specimen labeled [[Xurna Quarmby|PATIENT]]
mislabeled as "[[Besfat Q Tolland|PATIENT]]"
labeled [[Okonkwo, C|PATIENT]] right ear
labeled [[Okonkwo|PATIENT]] 4412
labeled Liver, Biopsy
labeled Distal Margin
labeled with the Site, left
labeled Conjunctiva right
label: Aorta 4412
labeled Sigmoid Colon, Polyp
Container labelled Right Ovary
specimen labeled Gallbladder, Stones
The specimen is labeled "Left breast, lateral"
Electronically signed /s/ NPI
QUEST DIAGNOSTICS⏎2800 Main St #3⏎Harlow Falls OH 45011
HOME MEDICATIONS⏎2800 Main St #3⏎Harlow Falls OH 45011
/s/ DEA, NPI
ordering CT, collected at 06:10
specimen collected, ordering Ultrasound.
labeled Ileum, left
specimen labeled Skin, left arm
labeled "Ovary, left"
"""

ALL = lines(GREETINGS, CLOSINGS, REQUESTS, MAIL, CHAINS, HANDOFFS, LISTS, TABLES, SIGNED)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_people_are_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, PERSONS).replace("\n", "⏎") == line


@pytest.mark.parametrize("mark", ["> ", ">", "> > ", ">> ", ">>>", "  > "])
def test_quoted_lines_are_read_as_plain_ones_at_any_depth(mark: str) -> None:
    for line in lines(GREETINGS, CLOSINGS, REQUESTS, MAIL):
        written = plain(line).split("⏎")
        if written[0][0].isalpha():
            quoted, marked = ("\n".join(mark + part for part in parts) for parts in (written, line.split("⏎")))
            assert found_in(quoted, PERSONS) == marked


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_tables_are_read_whatever_ends_lines(newline: str) -> None:
    for sign in ("  ", " | ", "\t", ","):
        rows = [sign.join(row) for row in (("Date", "Provider", "Nurse"), ("today", "Zorbel", "Quarmby"))]
        text = newline.join(rows)
        assert [text[s.start : s.end] for s in table_names(text)] == ["Zorbel", "Quarmby"]


def test_a_cell_belongs_to_the_heading_above_it() -> None:
    table = "Room   Nurse     Provider\n412              Zorbel\n413    Besfat    Osei"
    assert [table[s.start : s.end] for s in table_names(table)] == ["Zorbel", "Besfat", "Osei"]


def test_a_long_list_is_read_once() -> None:
    text = "Dr. Ndoye, " + "Quarmby, " * 2_000 + "Osei and Tolland"
    assert list(names_in_lists(text, [Span(4, 9, Label.DOCTOR, 0.9, "t")])) == []
    paired = "Dr. Ndoye" + "/Quarmby" * 2_000
    assert len(list(names_in_lists(paired, [Span(4, 9, Label.DOCTOR, 0.9, "t")]))) == 12
