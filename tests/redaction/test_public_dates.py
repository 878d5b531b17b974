"""Dates that stand in print elsewhere become tags under a shift: hits in [[...]], a patient's own dates in {{...}}."""

import re
from datetime import date

import pytest

from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.lone_years import lone_years
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.public_dates import public_dates
from deid_platform.redaction.redact import redact
from tests.redaction.test_shifted import KEYRING, STAND_INS

WRITTEN = date(2022, 4, 6)
MARK = re.compile(r"\[\[(?P<public>.*?)\]\]|\{\{(?P<own>.*?)\}\}")
LINES = """
VIS edition date: [[08/06/2021]], given {{04/06/2022}}
VIS given: {{04/06/2022}}. VIS Date [[8/6/2021]]
vaccine given {{04/06/2022}}, VIS given {{04/06/2022}} VIS reviewed
VIS provided on {{04/06/2022}}, published [[08/06/2021]] VIS
Vaccine Information Statement (Influenza) dated [[8/15/2019]] was handed out on {{4/6/2022}}
VIS version [[October 30, 2019]]
Form 1234-A (Rev. [[03/2019]])
CMS-1500 Rev [[02/12]] signed {{04/01/2022}}
REV. [[3/15/2019]], rev: [[2019-03-15]]
form revised [[03/15/2019]]; template updated [[March 2019]]; leaflet edition of [[05/2018]]
version date [[01/02/2020]]; Revision date: [[01/02/2020]]
protocol version 3 dated [[12/01/2019]]
The EUA fact sheet was issued [[12/11/2020]]; under the Emergency Use Authorization of [[12/18/2020]]
EUA {{03/04/2022}}: full range of motion; hip revision date {{03/04/2022}}
FDA approval [[08/23/2021]]; approved by the FDA on [[08/23/2021]]
since the pandemic began in [[March 2020]]; lockdown started on [[03/19/2020]], in the [[March 2020]] lockdown
estimated date of confinement {{03/04/2021}}; born during the pandemic, on {{03/04/2021}}
Lot EW0150 exp [[09/30/2022]]; Exp. date: [[03/2023]], lot 33
prescription expires {{05/01/2022}}
on [[September 11, 2001]] in the tower; the [[9/11]] attacks; seen {{9/11}} for cough; the World Trade Center, [[9/11]]
WHO on [[March 11, 2020]]; [[12/07/1941]]
guidelines published [[11/13/2017]]; criteria of the [[03/2018]] edition
Leitlinie Stand [[03/2019]], Aufklärungsbogen Fassung [[01.02.2020]]; modulo versione [[03/2019]]
© [[2019]] of a publisher, copyright [[2018]]
consent signed {{03/04/2022}}, labs dated {{03/30/2022}}, note revised {{04/06/2022}}, seen {{04/01/2022}}
updated {{04/06/2022}}, published by no means; last version of events {{04/01/2022}}
chart reviewed {{04/06/2022}}; reviewed {{04/06/2022}}; approved by Dr. X on {{04/06/2022}}
""".strip().splitlines()


def of_line(line: str) -> tuple[str, list[Span], list[str]]:
    text, spans, public = "", [], []
    position = 0
    for match in MARK.finditer(line):
        text += line[position : match.start()]
        written = match["public"] or match["own"]
        spans.append(Span(len(text), len(text) + len(written), Label.DATE))
        public += [written] if match["public"] else []
        text += written
        position = match.end()
    return text + line[position:], spans, public


@pytest.mark.parametrize("line", LINES)
def test_public_dates_are_told_from_a_patients_own(line: str):
    text, spans, public = of_line(line)
    found = public_dates(text, spans, WRITTEN, "en")
    assert [text[span.start : span.end] for span in sorted(found)] == public


def test_a_known_day_near_the_note_is_as_likely_the_patients_own():
    text, span = "seen 03/11/2020", Span(5, 15, Label.DATE)
    assert public_dates(text, [span], date(2020, 4, 1), "en") == frozenset()
    assert public_dates(text, [span], date(2022, 4, 1), "en") == {span}
    assert public_dates(text, [span], None, "en") == {span}


def test_a_year_of_a_guideline_is_no_date():
    text = "per 2017 ACC/AHA guideline, 2010 ACR/EULAR criteria, 2021 WHO classification; MI 2017, in 2015 CT/MRI"
    assert [text[s.start : s.end] for s in lone_years(text, [])] == ["2017", "2015"]


@pytest.mark.parametrize("line", LINES)
def test_what_is_public_becomes_a_tag_and_the_rest_moves(line: str):
    text, spans, public = of_line(line)
    policy = load_policy("surrogate")
    note = Note("n1", text, "p1", note_date=WRITTEN)
    done = redact(note, spans, policy, surrogates=STAND_INS)
    assert done.text.count("[DATE]") == len(public)
    assert not any(re.search(rf"(?<!\d){re.escape(written)}(?!\d)", done.text) for written in public)
    assert LeakCheck.of(Topics(), policy).check(note, (), done.text, done.applied, lengths=done.lengths) == ()


def test_a_date_that_many_notes_share_is_not_moved():
    text = "Unit protocol 08/06/2021, seen 04/06/2022"
    spans = [Span(14, 24, Label.DATE), Span(31, 41, Label.DATE)]
    note = Note("n1", text, "p1", note_date=WRITTEN)
    done = redact(note, spans, load_policy("surrogate"), surrogates=STAND_INS, public=[(14, 24)])
    assert re.fullmatch(r"Unit protocol \[DATE\], seen \d+/\d+/\d{4}", done.text)
    assert KEYRING.key_id
