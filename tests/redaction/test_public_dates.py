"""Dates that stand in print elsewhere become tags under a shift: hits in [[...]], a patient's own dates in {{...}}."""

import re
from datetime import date

import pytest

from deid_platform.deidentify.release_note import ReleaseSpec
from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.lone_years import lone_years
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.public_dates import public_dates
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.date_order import DateWriting
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
VIS: [[08/06/2021]]. Influenza VIS [[8/6/21]] handed out, VIS ([[8/6/2021]]); Date on VIS: [[08/06/2021]]
Edition of VIS: [[8/6/21]]; VIS Tdap ([[08/06/2021]]); Influenza, inactivated VIS, [[08/06/2021]]
Vaccine Information Statement [[08/06/2021]] given {{04/06/2022}}
VIS reviewed {{04/06/2022}}, VIS handed out {{04/06/2022}}
Vaccine | Date given | VIS date⏎Tdap | {{04/06/2022}} | [[08/06/2021]]⏎Flu | {{04/06/2022}} | [[08/06/2021]]
| Vaccine | Lot | Exp | VIS given |⏎|---|---|---|---|⏎| Tdap | EW0150 | [[09/30/2022]] | {{04/06/2022}} |
EUA [[12/11/2020]] reviewed; EUA {{03/04/2022}}: cervix closed; scheduled for EUA {{03/04/2022}}
firefighter on [[9/11]]; seen {{9/11}} for follow-up, no fever since {{9/11}}; labs on {{9/11}}
Brother died in [[9/11]]; enlisted right after [[9/11]]; [[Sept 11th]] survivor; PTSD since [[9-11]]
post [[9/11]] veteran
Modelo CI-12, versión 3 ([[15/06/2019]]); Mod. 12 rev. 3 del [[15/06/2019]]; Revisione 3 del [[15/06/2019]]
edizione [[15/06/2019]]; Formulaire version 3 du [[15/06/2019]]
revisión del {{15/03/2022}}, revisione del {{15/03/2022}}
Il lockdown del [[09/03/2020]]; Confinement du [[17 mars 2020]]; Estado de alarma desde el [[14/03/2020]]
Atentados del [[11 de marzo de 2004]]; durante la pandemia, visto el {{15/03/2022}}
form last reviewed [[06/15/2019]], FORM 1500 ([[02/12]]); consent form signed {{04/01/2022}}, form ({{04/01/2022}})
lockdown, which began on [[March 16, 2020]]; vaccine authorized [[December 11, 2020]]; MRI authorized {{04/01/2022}}
CTCAE v5.0 published [[November 27, 2017]]; CPAP recalled on [[June 14, 2021]]; patient recalled on {{04/01/2022}}
NDC 0069-1234-01, expires [[06/30/2022]]
prior authorization expires {{06/30/2022}}
privacy practices (effective [[April 14, 2003]]); privacy practices signed {{04/01/2022}}
policy. Labs dated {{3/30/2022}}
hurt by fireworks on [[7/4]], fireworks, {{7/9}}; ball drop on [[12/31]]; seen {{7/4}}
election of [[November 3, 2020]]; invaded Ukraine on [[February 24, 2022]]; [[January 6]] riot
""".strip().splitlines()


def of_line(line: str) -> tuple[str, list[Span], list[str]]:
    text, spans, public = "", [], []
    line, position = line.replace("⏎", "\n"), 0
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


@pytest.mark.parametrize(
    ("text", "order", "undecided"),
    [
        ("seen 3/4/2022 and 2/3/2022. VIS: 1/2/2022", None, 2),
        ("seen 3/4/2022 and 2/3/2022. VIS: 1/2/2022", "mdy", 0),
        ("seen 3/14/2022 and 2/3/2022, since 3/3/2022", None, 0),
    ],
)
def test_dates_that_became_tags_for_want_of_an_order_are_counted(text: str, order: str | None, undecided: int):
    spans = [Span(m.start(), m.end(), Label.DATE) for m in re.finditer(r"\d+/\d+/\d+", text)]
    policy = load_policy("surrogate")
    releaser = ReleaseSpec(policy, keyring=KEYRING, writing=DateWriting.of(order, None)).build()
    assert releaser.redacted(Note("n1", text, "p1", note_date=WRITTEN), spans).undecided == undecided
