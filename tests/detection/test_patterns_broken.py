"""Numbers and dates that the end of a line breaks. [[value|LABEL]] marks all that must be found in a line.

A line break inside a line is written as ⏎; each is tried as every system writes it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from marked_text import found_in, lines, plain

from deid_platform.detection.api import Document
from deid_platform.notes import Note

NUMBERS = """
call [[617-555-⏎0142|PHONE]] today
[[617-555-⏎   0142|PHONE]] works
[[617-⏎555-0142|PHONE]] works
[[617 - 555 -⏎0142|PHONE]] works
[[617.555.⏎0142|PHONE]] works
[[617-555⏎-0142|PHONE]] works
reach her at [[(617)⏎555-0142|PHONE]]
reach her at [[(617) 555⏎0142|PHONE]]
[[1-617-555-⏎0142|PHONE]] works
call [[555-⏎0142|PHONE]]
Home phone: [[617 555⏎0142|PHONE]]
phone [[617⏎555-0142|PHONE]]
call [[+44 20 7946⏎0958|PHONE]]
fax [[617-555-⏎0199|FAX]]
[[900-12-⏎3456|SSN]] on file
[[900-⏎12-3456|SSN]] on file
SSN: [[900 12⏎3456|SSN]]
MRN: [[00123-⏎456|MEDICALRECORD]]
NHS number [[943 476⏎5919|MEDICALRECORD]]
card [[4111 1111⏎1111 1111|ACCOUNT]]
card [[4111-1111-⏎1111-1111|ACCOUNT]]
"""

DATES = """
seen [[12/⏎03/2019|DATE]]
seen [[12/03/⏎2019|DATE]]
seen [[12/03/⏎19|DATE]]
seen [[2019-⏎03-14|DATE]]
seen [[14.03.⏎2019|DATE]]
seen [[July⏎4, 2019|DATE]]
seen [[July 4,⏎2019|DATE]]
seen [[4⏎July 2019|DATE]]
on the [[4th⏎of July 2019|DATE]]
on the [[3rd of⏎May, 2019|DATE]]
seen [[14-Mar-⏎2019|DATE]]
seen [[14-⏎Mar-2019|DATE]]
on [[27⏎th July 2020|DATE]]
since [[March⏎2019|DATE]]
il [[12⏎marzo 2020|DATE]]
il [[12 marzo⏎2020|DATE]]
"""

WHOLE = """
1⏎2⏎3
1.⏎2.⏎3.
120⏎80⏎72⏎98
Na 140⏎K 4.2⏎Cl 102
WBC 150 140⏎3500 4000
140 4.2 102⏎138 4.0 100
platelets 200-400⏎0830 meds given
range 3.5-⏎5.1
take 1-⏎2 tablets
BP 120/⏎80 today
ratio 1/⏎2 of it
250 mg⏎-150 mL given
K 4⏎May be repeated
K 4⏎[[March 3|DATE]]: seen
"""

ENDS = pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])


@ENDS
@pytest.mark.parametrize("line", lines(NUMBERS))
def test_a_number_goes_on_over_the_end_of_a_line(line: str, end: str) -> None:
    assert found_in(plain(line).replace("⏎", end)).replace(end, "⏎") == line


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line", lines(DATES))
def test_a_date_goes_on_over_the_end_of_a_line(line: str, end: str) -> None:
    assert found_in(plain(line).replace("⏎", end)).replace(end, "⏎") == line


@ENDS
@pytest.mark.parametrize("line", lines(WHOLE))
def test_columns_lists_and_ranges_are_no_broken_numbers(line: str, end: str) -> None:
    assert found_in(plain(line).replace("⏎", end)).replace(end, "⏎") == line


def test_a_number_does_not_go_on_over_a_blank_line() -> None:
    assert found_in("call 617-555-\n\n0142 today") == "call 617-555-\n\n0142 today"


@pytest.mark.parametrize(
    "written",
    ["617-555-\n0123", "617 555\r\n0123", "(617)\n555-0123", "6 1 7 5 5 5 0 1 2 3", "6-1-7-5-5-5-0-1-2-3"],
)
def test_a_known_number_is_found_however_it_is_broken(written: str, find: Callable[..., list[tuple[str, str]]]) -> None:
    for name, patient in (("roster", "P1"), ("gazetteer", None)):
        assert (written, "PHONE") in find(f"left {written} with us", name=name, patient=patient, known=True)


@pytest.mark.parametrize("text", ["1\n2\n3\n4\n5", "150 140\n35 40", "12 34 56\n78 90 12", "120 80 72 98 16 97 36"])
def test_columns_are_no_numbers_that_go_on(text: str) -> None:
    assert all("\n" not in text[start:end] for start, end, _ in Document(Note("n", text)).numbers)
