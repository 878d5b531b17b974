"""What the patterns find in notes that were typed in haste. In each line, [[value|LABEL]] marks all that must be found.

Nobody in these lines exists.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.labels import Label

PEOPLE = """
saw [[smallwood|PATIENT]] today in clinic w/ wife [[latrice|PATIENT]]
spoke to [[terrence|DOCTOR]] by phone, he is taking meds
[[terrence smallwood|PATIENT]] here for bp check
[[smallwood, terrence|PATIENT]] 63m htn dm2
d/w [[okafor|DOCTOR]] and [[nguyen|DOCTOR]], agree w plan
f/u w [[patel|DOCTOR]] in gi clinic next wk
cm [[janelle|DOCTOR]] following, sw [[tamika ross|DOCTOR]] consulted
pcp [[quarmby|DOCTOR]] notified, anes [[hargrove|DOCTOR]], surg [[lindqvist|DOCTOR]].
rn [[becky|DOCTOR]] gave report to rn [[shawn|DOCTOR]].
[[hargrove|PATIENT]] aware, no new orders
[[smallwood|PATIENT]]s wife called
bf [[deshawn|PATIENT]] drove, foster mom [[latrice|PATIENT]]
[[SMALLWOOD|TERRENCE|PATIENT]]|M|63
seen with [[T E R R E N C E|PATIENT]] today
"""

PLACES = """
lives at [[maple court|HOSPITAL]], dc to [[shady pines|HOSPITAL]]
txfr from [[brockton general|HOSPITAL]], moved from [[tucson|CITY]]
"""

NOBODY = """
saw patient today, spoke to family, called pharmacy, d/w team, per protocol, f/u with cards
rn notified, pa lateral chest, md aware, res rate 12, cm following, 4 cm dorsolinear incision, 2 cm hiatal hernia
pain not relieved by massage, assigned to room 4, interpreter used, resident present
patient here for follow up, nausea denies, pt states pain better, dad here, mom at bedside
pt wife at bedside, lives in apartment, dc to acute rehab, from the general ward, to inpatient hospice
pt cant feel it, per cui, per una lieve
D I E T and P L A N, A B C D, sats 98|97|M
son to visit, husband to call, wife with questions
"""


@pytest.mark.parametrize("line", lines(PEOPLE, PLACES, NOBODY))
def test_exactly_the_marked_is_found(line: str) -> None:
    assert found_in(plain(line), frozenset(Label)) == line
