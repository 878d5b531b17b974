"""Which dates the patterns find in a text alone: [[value|DATE]] marks all that must be found in a line.

A line break inside a line is written as ⏎.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from marked_text import found_in, lines, plain

NUMERIC = """
Worklist: Potts: Allen [[3/11|DATE]]
Patient: wilson, yesenia [[10/12|DATE]]
Due back [[12.26|DATE]].
Next infusion [[08-04|DATE]].
Pap [[4 - 2019|DATE]] normal. Imaging [[may 2024|DATE]] reviewed.
next visit 12-16 weeks, next clinic 3.5, imaging 4 - 5 views
Patient: pain 8/10
D: [[4/13/10|DATE]] T: [[4/6/08|DATE]] ML/AC
doses of 5/10/20 mL each
seen [[3/14/2019|DATE]] and [[03/14/19|DATE]].
seen on [[2019-03-14|DATE]] and in [[2019-03|DATE]]
logged [[2019-03-14T08:30:00Z|DATE]] by the pump
logged [[2019-03-14T08:30:00.123+01:00|DATE]]
printed [[2019-03-14|DATE]] 08:30
filed [[2019/3/14|DATE]]
admitted [[14.03.2019|DATE]]
visit [[03-14-2019|DATE]]
visit [[3–14–2019|DATE]] (en dash)
visit [[3‑14‑2019|DATE]] (non-breaking hyphen)
tetanus [[6\\13\\16|DATE]] (card)
typed as [[2/30/2019|DATE]]
spaced as [[3 / 14 / 2019|DATE]]
spaced as [[03/ 14/ 2019|DATE]]
DOB: [[03 14 1950|DATE]]
DOB [[03141950|DATE]]
Date of birth: [[14.3.50|DATE]]
D.O.B. [[3-14-50|DATE]]
Date of service: [[031419|DATE]]
sample [[20190314|DATE]] thawed
HL7 [[20190314083000|DATE]]
from [[5.12.19|DATE]] on
ref [[03/04/2024|DATE]]/1/1 and [[3/4/2024|DATE]]/1
ref 1/1/[[03/04/2024|DATE]] and 1/2/[[3/4/2024|DATE]]
ref [[3/4/2024|DATE]]/[[3/8/2024|DATE]]
ref [[03/04/24|DATE]]/1/1 and [[03.04.2024|DATE]].1
ratios 10/20/30/40 and 06/28/42/50/33, 13/32/2024/1; UID 1.2.840.3.04.2024.1
[[14MAR2019|DATE]] 0800 given
[[14-Mar-2019|DATE]] at 14:30
"""

TYPING_ERRORS = """
ECG from [[415/21|DATE]] unchanged
ECG from [[415/2021|DATE]] unchanged
EKG from [[323/20|DATE]] showed QTc of 440
seen on [[215/97|DATE]] for pain; BP on arrival 215/97, BP 215/97
four cycles of chemotherapy [[323/19|DATE]]
seen [[2/142019|DATE]] in clinic
seen on [[2/1419|DATE]] in clinic
signed [[02//03/2019|DATE]]
signed [[3/4//19|DATE]]
nacido el [[16/018/1961|DATE]]
signed [[3/14.2019|DATE]] and [[3-14/2019|DATE]]
seen [[3/14/201|DATE]] for follow-up
seen [[3/14/20199|DATE]] for follow-up
since [[4/27/22025|DATE]]
dates to about [[11/1424|DATE]]
imaging [[1108/24|DATE]] reviewed
tetanus [[4/8/'14|DATE]]
echo [[050323|DATE]] normal
scanned [[O3/l4/2019|DATE]]
seen [[Feburary 3, 2019|DATE]]
due [[Septmber 2020|DATE]]
seen [[12 / 03 /2019|DATE]], [[12/ 3/19|DATE]] and [[12 /3/19|DATE]]
seen [[3/4,2019|DATE]] and [[3,4/2019|DATE]]
seen [[3-4/19|DATE]], since [[3/4.19|DATE]]
seen [[05/07-24|DATE]] there
seen [[05,07/24|DATE]] there
seen [[3\\4/2019|DATE]] there
seen [[3/14:2019|DATE]] there
seen [[3_14_2019|DATE]] there
file scan_[[2019_03_14|DATE]].dcm
seen [[3:14:2019|DATE]] there
seen [[03 14 2019|DATE]] there
seen [[03 14 19|DATE]] there
seen [[3///14/2019|DATE]] there
seen [[3/-14/2019|DATE]] there
seen /[[3/14/2019|DATE]]/ there
H&P/[[3/14/2019|DATE]]
seen [[03/122019|DATE]] there
seen [[03-122019|DATE]] there
[[0312/2019|DATE]] progress note
seen [[0312-2019|DATE]] there
seen [[0/314/2019|DATE]] and [[03/1/42019|DATE]]
seen [[022/03/2019|DATE]] and [[02/033/2019|DATE]]
seen [[055/07/24|DATE]] and [[05/007/24|DATE]]
seen [[02/0 3/2019|DATE]] there
seen [[02/03/2 019|DATE]] there
seen [[02/03/20 19|DATE]].
seen [[02/03/0219|DATE]], [[02/03/2109|DATE]] and [[02/03/3019|DATE]]
seen [[13/45/2019|DATE]] and [[31/02/2019|DATE]]
seen [[2/30/19|DATE]] and [[4/31/19|DATE]]
seen [[13/14/19|DATE]] there
seen [[3/14/2019|DATE]]10:30 there
seen [[03/14/2019|DATE]]0830 there
seen [[3/14'19|DATE]] and [[3/14 '19|DATE]]
seen [[3/14/|DATE]] for pain
seen [[3/14/XX|DATE]] and [[3/14/20__|DATE]]
seen [[__/14/2019|DATE]], [[3/__/2019|DATE]] and [[3//2019|DATE]]
seen [[03 / 2019|DATE]] there
seen [[3/14th/2019|DATE]] and on [[3/14th|DATE]]
seen [[03/14/2O19|DATE]] and [[03/14/20l9|DATE]]
seen [[1O/14/2019|DATE]] and [[l/14/2019|DATE]]
seen [[O3-l4-2019|DATE]] there
seen [[3/I4/19|DATE]] there
seen [[0S/07/2024|DATE]] there
seen [[2O19-03-14|DATE]] and [[2019-O3-14|DATE]]
on [[2019-13-40|DATE]] there
on [[2019-0314|DATE]] and on [[201903-14|DATE]]
on [[2019-03.14|DATE]] and on [[2019--03-14|DATE]]
on [[2019 - 03 - 14|DATE]] there
on [[2019-003-14|DATE]] there
on [[20199-03-14|DATE]] there
"""

TYPING_ERRORS_IN_WORDS = """
on [[27 th July 2020|DATE]] there
the [[3 rd of May|DATE]], the [[21 st of June 2019|DATE]]
on [[July 4 th, 2019|DATE]] there
on [[4 th of March|DATE]] there
on the [[3 rd|DATE]].
until the [[9 th|DATE]].
on [[March 3 rd|DATE]] and [[4 th|DATE]]
the [[14-th of March|DATE]]
seen [[March3,2019|DATE]] and [[3March2019|DATE]]
seen [[Mar.3.2019|DATE]] and [[3.Mar.2019|DATE]]
seen [[March 32019|DATE]] there
seen [[Mar 3rd2019|DATE]] there
seen [[14march2019|DATE]] and [[mar142019|DATE]]
seen [[March 14 - 2019|DATE]] there
seen [[Sep 14,19|DATE]] there
seen [[March 14,, 2019|DATE]] and [[March 14. 2019|DATE]]
seen [[March 14, 20199|DATE]] and [[March 14, 2109|DATE]]
seen [[March 14, 2O19|DATE]] and [[March l4, 2019|DATE]]
seen [[March 144, 2019|DATE]] and [[March 014, 2019|DATE]]
seen [[March 14ht, 2019|DATE]] there
seen [[14,March 2019|DATE]] and [[14 .March 2019|DATE]]
seen [[2019 March|DATE]] there
on [[Setpember 3|DATE]], [[Ocotber 3|DATE]] and [[Agust 3|DATE]]
on [[Janurary 3|DATE]], [[Janury 3|DATE]] and [[Jannuary 3|DATE]]
on [[Februray 3|DATE]] and [[Febuary 3rd|DATE]]
on [[Octorber 3|DATE]], [[Novemebr 3|DATE]] and [[Decembr 3|DATE]]
on [[Auguts 3|DATE]] and [[Augsut 3|DATE]]
on [[Mrach 14, 2019|DATE]] and on [[Macrh 14|DATE]]
on [[Juen 3, 2019|DATE]] and [[Jluy 3, 2019|DATE]]
on [[Aprill 3|DATE]] there
the [[3rd of Setpember|DATE]]
in [[Otcober 2019|DATE]] there
on [[Spet 14, 2019|DATE]] and [[14-Mra-2019|DATE]]
on [[Novembre 3, 2019|DATE]] and [[Marzo 3, 2019|DATE]]
il [[12 mrazo 2020|DATE]] visto
il [[12 setembre 2020|DATE]] visto
il [[3 febraio 2020|DATE]] visto
il [[12marzo2020|DATE]] visto
il [[3 genaio|DATE]] visto
"""

MONTH_AND_DAY = """
seen on [[3/14|DATE]] for a rash
[[3/14|DATE]]: better
[[03/14|DATE]] better
repeat CT [[3/4|DATE]]
echo [[11-24|DATE]] normal
set for [[1/8|DATE]].
hospitalized [[8/4|DATE]]→[[8/5|DATE]]
last seen [[11.15.24|DATE]].
seen on [[3/4|DATE]], [[3/6|DATE]] and [[3/8|DATE]] for wound care
Tuesday [[3/5|DATE]] at noon
came in [[3/5|DATE]] (Tues)
labs pending, [[3/5|DATE]] appointment kept
given [[4/2|DATE]] 0830
[[4/2|DATE]] @ 14:30 transfused
stable since [[2/2|DATE]].
"""

HEADERS_AND_MARGINS = """
Dictated by the resident⏎D: [[2/1|DATE]]⏎T: [[06/27|DATE]]
D: [[May 18|DATE]]⏎T: [[12/10|DATE]]
Dictated by the resident⏎D: [[5/5|DATE]]⏎T: [[5/6|DATE]]
H&P BARNES^LESLIE [[4/8|DATE]]⏎CC pain
STOKES, Curtis (M) [[9/2|DATE]]⏎CC pain
Name: GRANT/DUSTIN [[10/8|DATE]]
Pt: Bellini, Giuliana [[1/10|DATE]]
Client: Allen P. [[3/11|DATE]]
IN RE: WILSON, YESENIA [[10/12|DATE]]
Name (last, first, middle): Bruce, Francis N [[4/15|DATE]]
Label reads "ULLRICH, GAETANO" [[4/7|DATE]]
earlier study ([[6/15|DATE]]) at hand
imaging [[11,12,24|DATE]] reviewed
Tetanus [[171214|DATE]] (card)
hospitalized [[2025-07-01|DATE]]/[[2025-07-04|DATE]].
echo [[Jul/18/24|DATE]] unremarkable
culture [[28 May|DATE]] negative
labs [[dec 28|DATE]] back
fell on the [[seventh|DATE]] and again
seen [[23.VI.2023|DATE]]
"""

MONTH_AND_YEAR = """
Cycle 2 was begun - [[10/97|DATE]]
surgery in [[11/93|DATE]]
any surgery? yes, [[2015-08|DATE]]
since [[11/2019|DATE]]
treated [[11/2018-02/2019|DATE]]
last seen [[11/'93|DATE]]
since [[Nov 2019|DATE]]
since [[Nov '93|DATE]]
since [[Nov. ’93|DATE]]
started in [[November of 2019|DATE]]
[[NOVEMBER 2019|DATE]] admission
[[Nov-19|DATE]] and [[Nov/2019|DATE]]
last dose on [[Nov-2|DATE]].
imaging [[28/XI/23|DATE]] reviewed
after the [[2/92|DATE]] event
surgery in [[March|DATE]]
in late [[February|DATE]]
since [[Nov|DATE]] he has
at the [[March|DATE]] visit
"""

WRITTEN_OUT = """
[[March 14, 2019|DATE]], [[Mar. 14|DATE]] and [[14 March 2019|DATE]]
[[March 14th,2019|DATE]] and [[Mar14, 2019|DATE]]
[[MARCH 14 2019|DATE]]
on [[March 3rd|DATE]]
on [[March 3 rd|DATE]] at noon
on the [[3rd of March, 2019|DATE]]
on [[3rd March|DATE]]
[[march 3 2020|DATE]]
on [[may 3|DATE]] he fell
on [[March third|DATE]]
began on [[May the 7th|DATE]]
the [[twenty-first of June, 2019|DATE]]
[[2019 Mar 14|DATE]] and [[2019-Mar-14|DATE]]
Tuesday, [[March 14|DATE]]
[[March 3, 19|DATE]].
"""

RANGES = """
held [[2/14-2/17|DATE]]
held [[2/14/19-2/17/19|DATE]]
held [[2/14|DATE]] to [[2/17/2019|DATE]]
from [[2/3|DATE]] through [[2/9|DATE]]
admitted [[3/14-19|DATE]]
away [[March 3-5|DATE]]
away [[March 3-5, 2019|DATE]]
away [[March 30 - April 2, 2019|DATE]]
away [[3-5 March 2019|DATE]]
hospitalized [[10 to 20 February|DATE]]
antibiotics [[8/1--8/2|DATE]]
[[Jan-Mar 2019|DATE]]
[[January|DATE]] to [[March 2019|DATE]]
away [[March 3|DATE]] through [[April 5, 2019|DATE]]
on [[March 3rd|DATE]] and [[4th|DATE]]
[[March 3|DATE]] and four beds
on the [[9th|DATE]] and [[10th|DATE]].
"""

DAYS = """
stayed until the [[9th|DATE]].
hospitalized till the [[9th|DATE]]
back on the [[21st|DATE]] of the month
seen on the [[3rd|DATE]] with fever
due the [[15th|DATE]], he called
fell on the [[seventeenth|DATE]] and again later
from the [[21st|DATE]] to the [[24th of September|DATE]]
started when? the [[11th|DATE]]
i can not do the [[25th|DATE]], any other day
home by the [[2nd|DATE]] or [[3rd|DATE]].
"""

IN_ROWS = """
seen [[10/3|DATE]], [[10/5|DATE]] & [[10/9|DATE]]
cultures [[3/14|DATE]] and [[3/16|DATE]] grew nothing
x-rays of [[10/3|DATE]], note of [[1/12|DATE]]
LMP [[2-14|DATE]], PPD read [[10/5|DATE]]
on the [[12th|DATE]] of this month
visit [[10 03 2022|DATE]] noted
[[october three|DATE]], [[june twenty-one|DATE]]
"""

ABROAD = """
ricoverato il [[12 marzo 2020|DATE]]
visita del [[3/5/2019|DATE]]
dal [[1º gennaio 2020|DATE]]
nel [[marzo 2020|DATE]]
controllo il [[12 mar 2020|DATE]]
ingresó el [[3 de mayo de 2019|DATE]]
desde [[mayo de 2019|DATE]]
el [[1 de enero|DATE]]
en [[enero-04|DATE]]
entre [[marzo|DATE]] y [[abril de 2000|DATE]]
en [[septiembre|DATE]] ingresó
vu le [[3 mai 2019|DATE]]
le [[1er janvier 2020|DATE]]
depuis [[février 2019|DATE]]
le [[3 août|DATE]]
am [[3. Mai 2019|DATE]]
am [[3. März|DATE]]
geboren [[3.5.1950|DATE]]
"""

NOT_DATES = """
strength 4/5, 5/5 and 3/5, acuity 20/20, 20/40
strength 4/5 and 5/5 in the legs, grades 1/6, 2/6
ratios 3/4, 1/2 and 1/4, scores 8/10 and 9/10
june three weeks, july two times, dose of 1/2 tablet
Completed 3/6 cycles
blood culture 1/4 bottles
labs 4/4 SIRS criteria
TJC 4/28, SJC 2/28
weight is at the 25th, height at the 15th.
D: 5/5⏎T: 5/5⏎B: 5/5
D: 5/5 T: 5/5
Motor Strength 5/5
Patellar Reflexes 2/4
Visual Acuity 20/20
Hgb/Hct 12/31, plt 287
cortisol of 17. March fracture site
Hoffman, Babinski 4/4
motor exam (5/5)
platelets on 1,120,000
Tetanus 0.5 ml
28 May have been missed
jul 28
fell on the fifth finger
BP 120/80, HR 72
BP today 118/76 mmHg
on admission BP 110/30
2/6 systolic murmur
grade 3/6 murmur
strength 5/5 throughout
pain 7/10 today
pain from 3/10 to 5/10
pain 4/10-6/10
3/16" needle
between 1/2 and 3/4 inch
measures 1/2-3/4 inch
1/2 tablet by mouth
given 1/2 tab
smokes about 1/2 pack per day
reduced by 1/3.
cut in 1/2
about 2/3 full
Norco 5/325 given
started Diovan HCT 320/25 daily
Advair 250/50 twice daily
take 1-2 tablets
POD 3
hospital day 3
available 24/7
a 50/50 chance
anemia, started 2/2 bleeding
labs 2/2 sepsis
T1/T2 sequences
L4-5 disc bulge
L4-L5 and T12-L1
L4/5 and C5/6
20/20 vision, 20/40 OS
ratio 1:40
Apgars 8/9
Apgar 10/10/10
review in 1/52
stopped 6/12 ago
acuity was 6/24 in the right eye
CK 8/18 positive
GCS 15/15
lab range 3.5-5.1
EF 55-60%
T 98.6 P 72 R 18
at 0630 and 14:30
in 2019
2018-2019
the 1990s
10/12/14 point review
1.10.20 build
GAD-7 12/27
Epworth 11/24
BP averages 120/81 of 12/14 readings
repeat HbA1c in 3/12
on 10-20 L
given 10-15 mg
version 2.4.11
the 9th rib
on the 4th and 5th toes
of the 5th, 6th and 7th ribs
at the 50th percentile
the 5th metatarsal
after the 2nd dose
on the twentieth day
on the 3rd attempt
may take 2 daily
take 2 May repeat once
march in place
March fracture
Mar 3 mg
an august occasion
1/95 of the dose
titre 1/2048
3 x 4 cm
Christmas disease
Christmas tree bladder
T1 weighted
CD4/CD8 1/2
sep 2 tablets
the 617 block
BP 130/80-140/90
ratio 1/2.5
L4/5 2019
C3/4/5 fusion
T12/L1 2018 film
I/O 1010/2025
I/O: 625/2010
pain today 3-4/10
on 3-4/10 pain
grade 2-3/6 murmur
WBC 5-10/hpf
amlodipine/valsartan/HCTZ 5/160/25
olmesartan 40/10/25
Trizivir 300/150/300
Trelegy 100/62.5/25
ABG 7.35/45/80/24
version 2019.3.1
1,500/2,000
take 1-2,000 units
CN 3/4/6 intact
0/14 nodes positive
O2/3 L
I/II/III
2l/3l/4l
Marsh 3a
match 3
Augusta 3
number 3
Enalapril 5
NovoLog 5 units
septum 3 mm
decreased 3
cucumber 3
mango 3
maggiore 3
27 th percentile
12 st 4 lb
the 3 rd rib
the 4 th metatarsal
after the 2 nd dose
3/4 cup, 2000 mL
"""


@pytest.mark.parametrize(
    "line",
    lines(
        NUMERIC,
        TYPING_ERRORS,
        TYPING_ERRORS_IN_WORDS,
        MONTH_AND_DAY,
        HEADERS_AND_MARGINS,
        MONTH_AND_YEAR,
        WRITTEN_OUT,
        RANGES,
        DAYS,
        ABROAD,
        IN_ROWS,
    ),
)
def test_exactly_the_marked_dates_are_found(line: str) -> None:
    assert found_in(plain(line).replace("⏎", "\n")).replace("\n", "⏎") == line


@pytest.mark.parametrize("line", lines(NOT_DATES))
def test_measures_counts_times_and_doses_are_no_dates(line: str) -> None:
    assert found_in(line.replace("⏎", "\n")).replace("\n", "⏎") == line


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_date_may_run_over_one_line_break_and_not_over_a_blank_line(end: str) -> None:
    assert found_in(f"seen March{end}14, 2019") == f"seen [[March{end}14, 2019|DATE]]"
    assert found_in(f"seen 03/{end}14/2019") == f"seen [[03/{end}14/2019|DATE]]"
    assert found_in(f"in March{end}{end}14 beds") == f"in [[March|DATE]]{end}{end}14 beds"


@pytest.mark.parametrize("number", ["2024-03-04-1-1", "1-2024-03-04", "03-04-2024-17"])
def test_a_number_made_of_a_date_is_hidden_whole(number: str, find: Callable[..., list[tuple[str, str]]]) -> None:
    assert [surface for surface, _ in find(f"ref {number} filed")] == [number]
