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
