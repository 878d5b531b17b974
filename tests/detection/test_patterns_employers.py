"""What a text alone gives away about employers, firms and landmarks. [[value|LABEL]] marks all that must be found.

A line break inside a line is written as ⏎. The names are invented.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.labels import Label

WORK = """
works at [[Quarmby Widgets|ORGANIZATION]] as a clerk
works the night shift at [[Vantor|ORGANIZATION]] since then
a machinist for [[Quarmby Railcar|ORGANIZATION]]
he is a welder at [[Quarmby Tank|ORGANIZATION]]
was hired by [[Vantor|ORGANIZATION]] last week
laid off from [[Tolland Ironworks|ORGANIZATION]]
on leave from [[Vantor|ORGANIZATION]] until then
insured through [[Vantor Aerospace|ORGANIZATION]]
She manages [[Pinwheel Toys|ORGANIZATION]].
owner of [[Sable Hair Studio|ORGANIZATION]]
Occupation: [[machinist|PROFESSION]] at [[Vantor|ORGANIZATION]]
Employer/School: [[Vantor|ORGANIZATION]]
[[Vantor Aerospace|ORGANIZATION]] (employer) sent a form.
[[VANTOR AEROSPACE|ORGANIZATION]] (employer) sent a form.
[[Vantor Aerospace|ORGANIZATION]], his former employer, has it
works at [[vantor aerospace|ORGANIZATION]] now
employed by [[quarmby plastics|ORGANIZATION]]
employer: [[vantor aerospace|ORGANIZATION]]
retired from [[tolland steel|ORGANIZATION]] last year
works at home, works for a bank, works with his hands
works at the hospital; retired from teaching; job at a school
Works from Home. Worked as a Nurse.
insured through Medicare, insured by Medicaid
RETURN TO WORK: N. A.
SOCIAL WORK: none
a student nurse at bedside
employed at a paper mill
was terminated at T6 level
on leave from work
"""

FIRMS = """
Hospice: [[Redfern|ORGANIZATION]]; Bank: [[Quarmby Trust|ORGANIZATION]]; Hospice: declined, Dialysis: MWF
burnt his hand in the [[Lumen Glassworks|ORGANIZATION]] fire
a truck of [[Zephyr Freight|ORGANIZATION]]
[[Quarmby & Sons|ORGANIZATION]] sent it
the [[Yarborough Tool & Die|ORGANIZATION]] plant
[[Fairmead Unified Schools|ORGANIZATION]] is closed
union: [[Teamsters Local 413|ORGANIZATION]]
[[VFW Post 3341|ORGANIZATION]] dinner
the [[Tolland County Sheriff's Office|ORGANIZATION]] called
brought in by [[Tolland EMS|ORGANIZATION]]
stays at the [[Haven Street Shelter|ORGANIZATION]]
case manager from [[Haven Homes|ORGANIZATION]]
home health through [[Amber Lantern|ORGANIZATION]]
plays soccer for the [[Tolland Hornets|ORGANIZATION]]
pastor of [[Quarmby Chapel|ORGANIZATION]]
attends [[Tolland Prep|ORGANIZATION]]
goes to [[tolland elementary|ORGANIZATION]]
[[Main Street Drug|ORGANIZATION]] called back
Local 1% lidocaine, local anesthesia 2
Upon EMS arrival
TALENTS AND GIFTS: none
OUTSIDE FILMS: none
Blood Supply, Review of Systems, Home Security
Durable Medical Equipment
Brought by Ambulance
plays for fun; member of the team
HR via telephone; HR 72 at rest
"""

BEFORE_NOUNS = """
works at the [[Brockway Logistics|ORGANIZATION]] warehouse
He is a [[Delmore Foods|ORGANIZATION]] driver.
She works as a [[Delmore|ORGANIZATION]] driver.
a [[Delmore|ORGANIZATION]] truck driver, a [[Corvane|ORGANIZATION]] flight attendant
burned at the [[Tennick|ORGANIZATION]] plant
exposed at the [[Ardmill Chemical|ORGANIZATION]] plant
injured at a [[Vantor|ORGANIZATION]] warehouse
slipped in the [[Delmore|ORGANIZATION]] parking lot
the [[Fenwick & Lowe|ORGANIZATION]] law firm
She is employed by [[Kestrel|ORGANIZATION]] as a clerk
works for [[Ostrava|ORGANIZATION]] in accounting
the Pfizer vaccine, a Medtronic pump, an Omron cuff
the Siemens scanner, a Stryker bed, a Synthes driver was used
used as a Torx driver; was a Zimmer driver; from a Datura plant
is a Retired driver, as a School bus driver, is a Mexican truck driver
in the Hospital parking lot, in the Main parking lot, at the Bottling plant
hit by a Volkswagen van
"""

LANDMARKS = """
served at [[Fort Redfern|LOCATION-OTHER]], at fort lauderdale
fell on [[the Greenway Trail|LOCATION-OTHER]] today
hiking [[Old Rag Mountain|LOCATION-OTHER]] with her
stung at [[Redfern Pond|LOCATION-OTHER]]
found behind [[the Larkspur Mall|LOCATION-OTHER]]
next to [[Redfern Cemetery|LOCATION-OTHER]]
picked up at [[the Redfern Truck Stop|LOCATION-OTHER]]
visited [[the Tolland Zoo|LOCATION-OTHER]] with her
camping at [[Lake Quarmby|LOCATION-OTHER]]
exposed at [[the Redfern Farmers Market|LOCATION-OTHER]]
lives out past [[halfmoon lake|LOCATION-OTHER]]
ambulance met him near [[birch point marina|LOCATION-OTHER]]
lives near [[the old mill|LOCATION-OTHER]]
across from [[the abandoned cannery|LOCATION-OTHER]]
near [[the Redfern water tower|LOCATION-OTHER]]
MVC on [[I-95|LOCATION-OTHER]] near [[exit 12|LOCATION-OTHER]]
rear-ended on [[Interstate 71|LOCATION-OTHER]]
lives off [[State Route 315|LOCATION-OTHER]]
at [[mile marker 114|LOCATION-OTHER]] today
near [[Fort Quarmby|LOCATION-OTHER]]
near the lake, by the river, at the park, next to the church
treated with I-131; uptake of I-123 at 24 hours
route 2 times; exit site clean; exit 3 cm from it
across from the desk, near the hip, behind the ear
a mill of pills, past medical history, old bridge of the nose
in the right posterior valley
Carpal Tunnel, Nasal Bridge, Pubic Ridge, Dental Bridge
Station: normal. Gait and Station
near the surgical ridge, along the nasal bridge
"""

ALL = lines(WORK, FIRMS, BEFORE_NOUNS, LANDMARKS)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_employers_and_landmarks_are_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, frozenset(Label)).replace("\n", "⏎") == line
