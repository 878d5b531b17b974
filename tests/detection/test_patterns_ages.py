"""Which ages the patterns find in a text alone: only those over 89, and years that tell one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from marked_text import found_in, lines, plain

AGES = """
a [[92|AGE]]-year-old man
a [[92|AGE]] year-old man
[[92|AGE]] y.o. female
[[92|AGE]] yo
[[92|AGE]] y/o M
[[92|AGE]]y F with cough
[[94|AGE]]yoF
a [[94|AGE]]-yr-old
[[101|AGE]] years old
[[96|AGE]] years of age
Age: [[93|AGE]]
AGE/SEX: [[93|AGE]]/F
Age (yrs): [[93|AGE]]
aged [[101|AGE]], lives alone
died at [[ninety-four|AGE]].
died at [[ninety four|AGE]], and his brother at 60
turned [[ninety-one|AGE]].
passed away at [[one hundred and two|AGE]].
died at [[94|AGE]].
at the age of [[97|AGE]]
[[92|AGE]]F with falls
[[92|AGE]] M s/p fall
[[92|AGE]]/M admitted
F/[[92|AGE]] admitted
she is [[92|AGE]] and lives alone
Patient is now [[95|AGE]].
[[ninety-two|AGE]]-year-old woman
[[ninety two|AGE]] year old woman
[[one hundred and two|AGE]] years old
he is [[ninety-four|AGE]].
in her [[nineties|AGE]]
in her early [[90s|AGE]]
a woman in the late [[90s|AGE]]
turned [[90|AGE]] this week
turning [[ninety|AGE]]
celebrated her [[100|AGE]]th birthday
her [[95|AGE]]th birthday
a [[nonagenarian|AGE]]
a [[centenarian|AGE]]
mother died at [[94|AGE]] of stroke
father lived to be [[101|AGE]]
her mother, [[97|AGE]], is well
class of [[1937|AGE]]
graduated from high school in [[1940|AGE]]
born in [[1926|DATE]]
b. [[1926|DATE]]
year of birth: [[1926|DATE]]
donna di [[94|AGE]] anni
mujer de [[94|AGE]] años
homme de [[94|AGE]] ans
a [[93|AGE]] years-of-age man
[[93.5|AGE]] year old and [[93 1/2|AGE]]-year-old
[[93|AGE]]-F, [[93|AGE]] WM, [[93|AGE]] white female
(F, [[93|AGE]]) and Male [[93|AGE]]
aged [[90|AGE]]-[[95|AGE]], ages [[90|AGE]] to [[95|AGE]]
she's [[93|AGE]] and lives alone
she is [[93|AGE]] yrs.
woman of [[93|AGE]] who fell
[[93|AGE]]rd bday
her [[ninety-third|AGE]] birthday, his [[hundredth|AGE]] birthday
in her [[tenth|AGE]] decade
a [[one-hundred-and-two|AGE]]-year-old
[[a hundred|AGE]]-year-old
the [[hundred|AGE]]-year-old
mother d. [[94|AGE]], MGM [[94|AGE]] alive
died in 2010 at age [[94|AGE]]
lived until she was [[97|AGE]]
(b [[1926|DATE]])
una [[novantenne|AGE]], un [[ultranovantenne|AGE]], una [[novantatreenne|AGE]]
una [[centenaria|AGE]], un [[ultracentenario|AGE]]
un [[93|AGE]]enne, un [[93|AGE]]-enne
di anni [[93|AGE]]
età: [[93|AGE]], età [[93|AGE]]
donna [[93|AGE]] aa, pz di aa. [[93|AGE]]
di [[novantadue|AGE]] anni
classe [[1926|DATE]]
mujer [[nonagenaria|AGE]], edad: [[93|AGE]]
mujer de [[noventa y dos|AGE]] años
femme de [[quatre-vingt-treize|AGE]] ans
[[ninety-two|AGE]] M s/p fall, [[Ninety two|AGE]] F with CHF
a [[ninety-two|AGE]] yo man, a [[ninety|AGE]] y/o F, [[ninety-six|AGE]] yof
a [[ninety-four|AGE]] woman
[[class of '47|AGE]], [[Class of ’34|AGE]]
graduated high school, [[class of '52|AGE]]
he [[graduated in '49|AGE]]
older than [[95|AGE]] but fit, over the age of [[ninety|AGE]]
a [[90+|AGE]] year old, [[90+|AGE]] yo, [[92|AGE]] plus years old
she is [[90+|AGE]]; he is well [[90|AGE]] plus
pt is [[90|AGE]] plus and lives alone
Age: [[90+|AGE]]
"""

NOT_AGES = """
an 89-year-old man
a 65F with falls
she is 72 and lives alone
in her 80s
octogenarian
turned 80
her 85th birthday
born in 1990
class of 1999
HR in the 90s
sats in the mid 90s
blood pressure in the low 90s
sat 92 on room air
saturation was 92.
SpO2 is 95, HR 92
patient was 92% on room air
patient is 95 on 2 L
weight 92 kg
T 92F
Tmax 101F overnight
fever to 103 F
temperature was 97 F
98F (36.7C)
smoked for 90 days
a 90-day supply
followed for 90 years of data
aged 92 days
lived 90 minutes away
died at 0930
turned 90 degrees
WWII veteran
glucose 95, age-appropriate
100M cells
90/60
S-100 y vimentina
age 45-54
HR in his 90s
systolic in her 90s
T 98 F, 95, 18
M 93 kg
weight M 93
Room 102-F
93 male patients
93 woman-years
mother 93 kg
father 93/60
he's 93% on RA
she's 93 kg
90 y of data
for 90 yrs
tenth decade of research
lived in the 90s
one hundred percent
ninety-day supply
da 90 anni
da oltre 90 anni
90 anni di fumo
negli anni 90
il centenario della fondazione
ottantenne
hace 90 años
peso 93 kg
classe 1999
vitamin b 1925
HR ninety-two, sats ninety-two
sats 92 M/F, HR ninety-two M
temperature ninety-nine F with chills
class of '10, class of 2010, class of '29, class of 47
class of 3 drugs, graduated in 2010
older than 18, older than 90 days
patients older than 90 were excluded
90 plus 5 mg, 90 + 5 mg
she was 90 plus 5 mg
SpO2 90+ on RA, sats 90 plus on 2 L
BP 90+ systolic, HR is 90+ with exertion
ninety days, ninety mg
"""


@pytest.mark.parametrize("line", lines(AGES))
def test_exactly_the_marked_ages_are_found(line: str) -> None:
    assert found_in(plain(line)) == line


@pytest.mark.parametrize("line", lines(NOT_AGES))
def test_younger_ages_and_other_numbers_are_no_ages(line: str) -> None:
    assert found_in(line) == line


def test_a_birth_year_is_found_as_soon_as_it_tells_an_age_over_89() -> None:
    year = datetime.now(UTC).year - 90
    assert found_in(f"born in {year}") == f"born in [[{year}|DATE]]"
    assert found_in(f"born in {year + 1}") == f"born in {year + 1}"
