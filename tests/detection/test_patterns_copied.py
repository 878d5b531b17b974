"""Who wrote what a note carries over from an older one. In each line, [[value|LABEL]] marks all that must be found.

Nobody in these lines exists.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.labels import Label

CREDITS = """
Per prior note ([[Osei|DOCTOR]], [[3/4/19|DATE]]): stable
per previous note ([[Besfat|DOCTOR]] [[3/4/2019|DATE]]), no allergies
per last clinic note (Dr. [[Tolland|DOCTOR]], [[3/4/19|DATE]])
per H&P ([[Osei|DOCTOR]] [[3/4|DATE]])
From discharge summary [by [[Marlune|DOCTOR]] [[3/4/19|DATE]]]
as per [[Marlune|DOCTOR]]'s note of [[3/4|DATE]]
As per [[Quarmby|DOCTOR]]'s note of [[3/4/19|DATE]]
as documented in [[Tolland|DOCTOR]]'s progress note from [[3/4|DATE]]
see [[Osei|DOCTOR]]'s discharge summary
per [[Osei|DOCTOR]] note [[3/4|DATE]]
HPI from [[Osei|DOCTOR]] [[3/4/19|DATE]] reviewed
Addendum ([[Osei|DOCTOR]], [[3/4/19|DATE]]): agree
Addendum by [[Quarmby|DOCTOR]]
Addended by [[Osei|DOCTOR]] on [[3/4/19|DATE]]
ADDENDUM BY [[QUARMBY, X|DOCTOR]] MD
addendum entered by [[Quarmby, Xurna|DOCTOR]]
as shown before (Osei et al., 2019)
noted (Osei and Tolland, 2019), a note on Osei et al.
per prior note (stable, [[3/4/19|DATE]])
per prior note (Cardiology, [[3/4/19|DATE]])
per prior note (CT chest, [[3/4/19|DATE]])
per H&P (Hypertension [[3/4/19|DATE]]), per H&P (Strength 3/5)
per prior note (Lasix, [[3/4/19|DATE]])
as per Pharmacy's note, as per Cardiology note
as per today's note of 500 mL blood loss
See Monday's note; patient's note; Medicare's letter
Addendum by Radiology
HPI from chart
"""

CARRIED = """
Copied from note by Dr. [[Osei|DOCTOR]] on [[3/4/19|DATE]]
Copied from note by [[Marlune|DOCTOR]] on [[3/4/19|DATE]]
copied from [[Quarmby|DOCTOR]] note [[3/4/19|DATE]]
[copied forward from [[Osei|DOCTOR]] [[3/4/19|DATE]]]
[Copied forward from [[Marlune|DOCTOR]], [[3/4/19|DATE]]]
carried forward from [[Quarmby|DOCTOR]] [[3/4/19|DATE]]
carried over from [[Marlune|DOCTOR]]'s note
copied and pasted from [[Osei|DOCTOR]]'s note
text imported from [[Quarmby|DOCTOR]]'s H&P
carried forward from Radiology [[3/4/19|DATE]]
carried forward from prior [[3/4/19|DATE]]
Copied from chart [[3/4/19|DATE]]
copied forward from Epic; copied from previous note
copied forward from Discharge Summary
specimen brought from Gallbladder, pulled from Aorta
scale adapted from Osei, 2019; copied from Osei et al.
sample pulled from Aorta, 5 mL
"""


@pytest.mark.parametrize("line", lines(CREDITS, CARRIED))
def test_exactly_the_marked_writers_are_found(line: str) -> None:
    assert found_in(plain(line), frozenset(Label)) == line
