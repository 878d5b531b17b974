"""Which telephone numbers and addresses of the network the patterns find in a text alone."""

from __future__ import annotations

import pytest
from deid_platform.detection.rules.validators import contacts
from marked_text import found_in, lines, plain

CALLS = """
call [[617-555-0123|PHONE]]
call [[(617) 555-0123|PHONE]] today
call [[617.555.0123 x12|PHONE]]
call [[617 555 0123 ext. 12|PHONE]]
[[1-617-555-0123|PHONE]]
[[(617)555-0123|PHONE]]
[[617-5550123|PHONE]]
call [[6175550123|PHONE]]
phone [[555-0123|PHONE]]
local number [[555 0188|PHONE]]
office [[555.0123|PHONE]]
number for counseling [[713-555-0129|PHONE]]
call [[1-800-555-0199|PHONE]]
call [[1-800-GET-WELL|PHONE]]
Home phone: [[617 555 0123|PHONE]]
Cell # [[(617) 555 0123|PHONE]]
Phone number is [[617/555-0123|PHONE]]
call [[617-555-0142 x5|PHONE]] or [[(617) 555-0142, ext. 7|PHONE]]
at work, [[6175550142x4100|PHONE]]
call [[617-555-0142, press 2|PHONE]] for refills
call [[617-555-0142 #5|PHONE]]
called [[617-555-0142|PHONE]] x2 without answer
called [[617-555-0142|PHONE]] x 2 days
clinic ext. [[7|PHONE]] and desk x[[5|PHONE]]
call [[6 1 7 5 5 5 0 1 4 2|PHONE]]
[[6-1-7-5-5-5-0-1-4-2|PHONE]] is her number
dictated as [[6 1 7 - 5 5 5 - 0 1 4 2|PHONE]]
"""

LOST_DIGITS = """
For the weekend call [[413-555-01|PHONE]]
For night and weekend coverage call [[617-922-124|PHONE]]
page [[617-922-124|PHONE]] with questions
call [[617-9221-234|PHONE]]
call [[61-922-1234|PHONE]]
call [[617-922-12345|PHONE]]
number on file [[937-555-015|PHONE]]
last four of the phone, [[0146|PHONE]].
at [[330-555-014|PHONE]]
"""

PAGERS = """
pager [[12345|PHONE]]
pager # [[4-1234|PHONE]]
Pager: [[617-555-0123|PHONE]]
pager number [[1234|PHONE]]
pgr [[1234|PHONE]]
beeper [[12345|PHONE]]
signed, PGY2 p[[12345|PHONE]]
intern p: [[12345|PHONE]]
intern P#[[1234|PHONE]]
page me at [[12345|PHONE]]
Voalte [[51234|PHONE]]
ext. [[4411|PHONE]]
extension [[4321|PHONE]]
reached at [[6175550142, extension 1131|PHONE]]
ext [[4-4321|PHONE]]
x[[5-1234|PHONE]]
call me at x[[51234|PHONE]]
call [[4-1234|PHONE]]
"""

ABROAD = """
[[+44 20 7946 0958|PHONE]]
[[+39 06 1234 5678|PHONE]]
[[+44 (0)20 7946 0958|PHONE]]
[[0044 20 7946 0958|PHONE]]
ring [[020 7946 0958|PHONE]]
London [[020 7946 0958|PHONE]]
mobile [[07700 900123|PHONE]]
Sydney [[(02) 9374 4000|PHONE]]
mobile [[0412 345 678|PHONE]]
Paris [[01 42 68 53 00|PHONE]]
portable: [[06.12.34.56.78|PHONE]]
Tlf: [[967 597 100|PHONE]]
Teléfono: [[915 86 80 00|PHONE]]
Tfno. [[848 422179|PHONE]]
llamar al [[612 345 678|PHONE]]
telefono [[02 4851 1234|PHONE]]
cellulare [[347 123 4567|PHONE]]
contact [[98765 43210|PHONE]]
Telefon: [[030 901820|PHONE]]
"""

FAXES = """
fax: [[(617) 555-0199|FAX]]
Fax [[617-555-0199|FAX]]
faxed to [[617-555-0199|FAX]]
F: [[617-555-0199|FAX]]
[[617-555-0199|FAX]] (fax)
Fax number: [[555-0199|FAX]]
Fax: [[973 70 52 63|FAX]]
fax [[617-555-0199 x5|FAX]]
"""

NETWORK = """
write to [[jane.doe+x@mail.example.org|EMAIL]].
Email:[[jane_doe@example.co.uk|EMAIL]]
<[[jdoe@example.org|EMAIL]]>
[[jane.doe @ example.org|EMAIL]]
[[jane.doe at example dot org|EMAIL]]
[[jane.doe(at)example.org|EMAIL]]
e-mail [[jdoe@partnersmail|EMAIL]]
see [[https://portal.example.org/x?y=1|URL]].
at [[www.example.org/clinic|URL]],
see [[example.org/clinic|URL]] and [[clinic.nhs.uk|URL]]
see [[https://portal.example.org/x/y?token=ab12&u=jane%20doe#frag|URL]] now
see [[https://portal.example.org/p/(jane)/x?r=[1]|URL]] now
(see [[https://example.org/x|URL]])
see [[example.org?x=1|URL]] and [[portal.example.org:8080/a?b=c|URL]]
Twitter: [[@janedoe|URL]]
from [[10.0.12.7|IPADDR]]
signed in from [[10.0.12.7|IPADDR]]. Then left.
IP [[8.8.8.8|IPADDR]]
from [[2001:db8::8a2e:370:7334|IPADDR]]
from [[fe80::1|IPADDR]]
from [[fe80::1%eth0|IPADDR]], [[::ffff:192.0.2.4|IPADDR]]
pump [[00:1A:2B:3C:4D:5E|DEVICE]]
"""

NOT_CONTACTS = """
at 12::30, ratio 1::2, IV::PO, 12:30:45
range 150-4000
version 1.2.3
version 1.2.3.4
WBC 617-555
sections 1.2.3.400
at 10:30:20
b.i.d. and q.i.d.
p53 and p16 positive
p. 1234
pp. 1234-1240
pages 12-15
x 1000 mL
x4 days
3 x 5-10 cm
exercise x 30
SpO2 95-100
ranges 120-140 and 100-150
platelets 150-400
Na 140, K 4.2, Cl 102
e.g.this
and/or
ext rotation 45
paged the team at 0830
call at 0900
call in 24-48 hours
on 400-600 mg
120 80 72
homework 5
0.125 0.25
breakfast (0630)
P 1200
dose 5000-10000 units
1234-5678
2 3 2 3 2 3 2 3 2 3
PHQ items 2 1 0 3 2 6 0 2 3 1
1 2 3 4 5 6 7 8 9 10
R knee ext. 5
hip ext 12
calf x2
called x3
"""


@pytest.mark.parametrize("line", lines(CALLS, LOST_DIGITS, PAGERS, ABROAD, FAXES, NETWORK))
def test_exactly_the_marked_contacts_are_found(line: str) -> None:
    assert found_in(plain(line)) == line


@pytest.mark.parametrize("line", lines(NOT_CONTACTS))
def test_ranges_pages_and_measures_are_no_contacts(line: str) -> None:
    assert found_in(line) == line


# A number of each numbering plan, and one of the same writing that the plan does not have.
OF_PLANS = [
    ("US", "(201) 555-0123", "(201) 155-0123"),
    ("CA", "(506) 234-5678", "(506) 134-5678"),
    ("GB", "0121 234 5678", "0100 234 5678"),
    ("AU", "(02) 9374 4000", "(01) 9374 4000"),
    ("FR", "01 42 68 53 00", "00 42 68 53 00"),
    ("ES", "967 597 100", "267 597 100"),
    ("IT", "347 123 4567", "247 123 4567"),
    ("IN", "98765 43210", "50000 00000"),
    ("DE", "030 901820", "010 901820"),
]


@pytest.mark.parametrize(("region", "assigned", "invalid"), OF_PLANS)
def test_a_number_without_a_country_must_be_one_of_a_plan(
    region: str, assigned: str, invalid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contacts, "_REGIONS", (region,))
    assert contacts.regional_phone(assigned, 0, len(assigned)) == (0, len(assigned))
    assert contacts.regional_phone(invalid, 0, len(invalid)) is None


def test_every_plan_that_is_tried_has_its_numbers_here() -> None:
    assert tuple(region for region, _, _ in OF_PLANS) == contacts._REGIONS


@pytest.mark.parametrize("number", ["(101) 555-0123", "00 42 68 53 00", "000 000 0000"])
def test_a_number_of_no_plan_is_none(number: str) -> None:
    assert contacts.regional_phone(number, 0, len(number)) is None
