"""Planted leaks of every kind are caught; what merely looks like one is not."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.leakcheck import LeakCheck, LeakKind
from deid_platform.notes import Note, Patient, Provider, Topics
from deid_platform.redaction.policy import load_policy

VASK = Patient(
    "p1",
    first_name="Zoë",
    middle_name="Marguerite",
    last_name="O'Vask-Brennock",
    birth_date=date(1950, 3, 4),
    mrn="00718822",
    ssn="512-45-6789",
    phone="(614) 555-0142 x7",
    email="Zoe.Vask@example.org",
    street="18 Teasel Row, Apt 4",
    city="Little Wenlock",
    state="OH",
    zip="44812-1234",
)
QUILL = Patient("p2", first_name="Thandiwe", last_name="Quillfeather", mrn="QF-440193", email="tq+1@example.net")
CRUZ = Patient("p3", first_name="Inés", last_name="de la Cruz", street="PO Box 4417", birth_date=date(2001, 11, 21))
AUBIGNE = Patient("p4", first_name="Jean-Luc", last_name="d’Aubigné", street="Rookwood Avenue", ssn="900450120")
MULLER = Patient("p5", first_name="Søren", last_name="Müller", mrn="4417")
LI = Patient("p6", first_name="Bo", last_name="Li", phone="+44 20 7946 0958")
YOUNG = Patient("p7", first_name="Will", last_name="Young", street="204 North Alder Street")
CHAVEZ = Patient("p8", first_name="Ana", last_name="Chávez")
OKAFOR = Patient("p9", first_name="Ngozi", middle_name="Adaeze", last_name="Okafor", mrn="88031177", ssn="533-19-0442")
HILL = Patient("p10", first_name="Faith", last_name="Hill", phone="419-555-0177", email="faith.hill9@example.com")
SMITHS = [Patient(f"s{n}", first_name="John", last_name="Smithson") for n in range(4)]
DO = Patient("p11", first_name="Agnes", last_name="Do", mrn="250000")
STAFF = Provider("d1", first_name="Pamela", last_name="Bhattacharya")
NAMESAKE = Patient("p12", first_name="Pamela", last_name="Bhattacharya")
EVERYBODY = [VASK, QUILL, CRUZ, AUBIGNE, MULLER, LI, YOUNG, CHAVEZ, OKAFOR, HILL, *SMITHS, DO, NAMESAKE]
TOPICS = Topics.of(EVERYBODY, [STAFF])
CHECKS = {
    name: LeakCheck.of(TOPICS, load_policy(name), reported=("Wren Cottage", "Tel 0161 496 0233", "77-12-9035"))
    for name in ("safe_harbor", "safe_harbor_plus_providers")
}


def left(text: str, patient: Patient | None, policy: str = "safe_harbor_plus_providers") -> set[str]:
    """What is found in a text from which nothing was removed."""
    note = Note("note-20260105", text, patient and patient.patient_id, "E99310442", note_date=date(2026, 1, 5))
    return {leak.kind.value for leak in CHECKS[policy].check(note, [patient] if patient else [], text, ())}


PLANTED: list[tuple[Patient | None, str, str]] = [
    # The patient's own name
    (VASK, "Zoë came", "first-name"),
    (VASK, "ZOE came", "first-name"),
    (VASK, "zoe\u0308 came", "first-name"),
    (VASK, "Zo\u00ad\u00eb came", "first-name"),
    (VASK, "Z\u200bo\u200bë came", "first-name"),
    (VASK, "came\u200bZoë\u200btoday", "first-name"),
    (VASK, "Ｚｏｅ came", "first-name"),
    (VASK, "Zоe, with a Cyrillic o", "first-name"),
    (VASK, "ΖΟΕ in Greek capitals", "first-name"),
    (VASK, "Zoë's knee", "first-name"),
    (VASK, "Zoes knee", "first-name"),
    (VASK, "scan_zoe_2.pdf", "first-name"),
    (VASK, "Ms. marguerite", "middle-name"),
    (VASK, "Marguer-\nite came", "middle-name"),
    (VASK, "M A R G U E R I T E", "middle-name"),
    (VASK, "M.a.r.g.u.e.r.i.t.e", "middle-name"),
    (VASK, "Mrs. O'Vask", "last-name"),
    (VASK, "Mrs. O’Vask’s knee", "last-name"),
    (VASK, "Mrs. O`VASK", "last-name"),
    (VASK, "Mrs. O Vask", "last-name"),
    (VASK, "Mrs. OVASK", "last-name"),
    (VASK, "the Brennock family", "last-name"),
    (VASK, "OVaskBrennock", "last-name"),
    (VASK, "Bren nock, Z.", "last-name"),
    (VASK, "Bren\u00ad\nnock", "last-name"),
    (VASK, "file zoeovaskbrennock.pdf", "last-name"),
    (VASK, "login zovaskbrennock", "last-name"),
    (QUILL, "Quill feather", "last-name"),
    (QUILL, "Quill-\nfeather", "last-name"),
    (QUILL, "tquillfeather", "last-name"),
    (QUILL, "QUILLFEATHER, THANDIWE", "last-name"),
    (QUILL, "T. Quillfeather", "last-name"),
    (QUILL, "MrsQuillfeatherreports a fall", "last-name"),
    (QUILL, "#Quillfeatherfamily", "last-name"),
    (QUILL, "scanQuillfeather2019.pdf", "last-name"),
    (QUILL, "theQUILLFEATHERnotes", "last-name"),
    (QUILL, "Quill-\n>   feather", "last-name"),
    (QUILL, "Quill\\\nfeather", "last-name"),
    (QUILL, "Q/u/i/l/l/f/e/a/t/h/e/r", "last-name"),
    (QUILL, "Q|u|i|l|l|f|e|a|t|h|e|r", "last-name"),
    (CRUZ, "Señora Cruz", "last-name"),
    (CRUZ, "DELACRUZ", "last-name"),
    (CRUZ, "De La Cruz, Ines", "last-name"),
    (AUBIGNE, "M. d'Aubigne", "last-name"),
    (AUBIGNE, "Monsieur Aubigné", "last-name"),
    (AUBIGNE, "D' Aubigné", "last-name"),
    (AUBIGNE, "Jeanluc", "first-name"),
    (MULLER, "Herr Mueller", "last-name"),
    (MULLER, "Herr Muller", "last-name"),
    (MULLER, "Soeren", "first-name"),
    (CHAVEZ, "Ms. Ch\ufffdvez", "last-name"),
    (CHAVEZ, "Ms. ChÃ¡vez", "last-name"),
    (LI, "Bo Li came", "last-name"),
    (LI, "Li, Bo", "last-name"),
    (LI, "Mr. Li came", "last-name"),
    (LI, "B. Li came", "last-name"),
    (LI, "ms. Li came", "last-name"),
    (Patient("q", first_name="Tuyet", last_name="Le"), "Mrs. Le came", "last-name"),
    (Patient("q", first_name="Van", last_name="Ho"), "Ho, Van", "last-name"),
    (YOUNG, "Young, Will", "last-name"),
    (YOUNG, "YOUNG, WILL", "last-name"),
    (YOUNG, "Seen with Will today", "first-name"),
    (Patient("q", last_name="王小明"), "患者王小明来院", "last-name"),
    (Patient("q", last_name="Иванова"), "ИВАНОВА Анна", "last-name"),
    (Patient("q", last_name="Bruce"), "4 minutes on the Bruce protocol", "last-name"),
    # The patient's own numbers and addresses
    (VASK, "Tel 614-555-0142", "phone"),
    (VASK, "Tel 614–555–0142", "phone"),
    (VASK, "Tel 6145550142 ext 7", "phone"),
    (VASK, "Tel +1 (614) 555 0142", "phone"),
    (VASK, "Tel 16145550142", "phone"),
    (VASK, "Tel 614/555/0142", "phone"),
    (VASK, "Tel |614|555|0142|", "phone"),
    (VASK, "Tel 614~555~0142", "phone"),
    (VASK, "Tel 614=555•0142", "phone"),
    (VASK, "call 555-0142", "phone"),
    (VASK, "call 555.01.42", "phone"),
    (VASK, "call ٥٥٥-٠١٤٢", "phone"),
    (VASK, "call ５５５０１４２", "phone"),
    (LI, "Tel 020 7946 0958", "phone"),
    (LI, "Tel 0044 20 7946-0958", "phone"),
    (VASK, "SSN 512 45 6789", "ssn"),
    (VASK, "SSN 512456789", "ssn"),
    (VASK, "SSN 512.45.6789", "ssn"),
    (VASK, "SSN 512 | 45 | 6789", "ssn"),
    (VASK, "SSN 5 1 2 4 5 6 7 8 9", "ssn"),
    (VASK, "SSN xxx-xx-6789", "ssn"),
    (VASK, "last four of SSN: 6789", "ssn"),
    (VASK, "MRN 00718822", "mrn"),
    (VASK, "record 718822.", "mrn"),
    (VASK, "record 007-188-22", "mrn"),
    (VASK, "record 007\u200b18822", "mrn"),
    (QUILL, "record QF-440193", "mrn"),
    (QUILL, "record qf440193", "mrn"),
    (MULLER, "record 04417", "mrn"),
    (VASK, "zoe.vask@EXAMPLE.org", "email"),
    (VASK, "mail zoe_vask at example dot org", "email"),
    (VASK, "login ZOEVASK", "email"),
    (VASK, "lives at 18 Teasel Row", "street"),
    (VASK, "lives at 18 TEASEL R.", "street"),
    (VASK, "lives at 18 W. Teasel", "street"),
    (VASK, "lives on Teasel Row", "street"),
    (YOUNG, "lives at 204 Alder St", "street"),
    (YOUNG, "lives at 204 N Alder", "street"),
    (AUBIGNE, "lives on Rookwood Ave", "street"),
    (CRUZ, "P.O. Box 4417", "street"),
    (VASK, "of Little Wenlock, OH", "city"),
    (VASK, "of Little Wenlock 44812", "city"),
    (VASK, "we r in little wenlock now", "city"),
    (VASK, "moved to LITTLE WENLOCK.", "city"),
    (VASK, "area 44812", "zip"),
    (VASK, "area 44812-1234", "zip"),
    (VASK, "DOB 3/4/1950", "birth-date"),
    (VASK, "DOB 03/04/50", "birth-date"),
    (VASK, "DOB 03-04-50", "birth-date"),
    (VASK, "DOB 4.3.1950", "birth-date"),
    (VASK, "DOB 1950-03-04", "birth-date"),
    (VASK, "DOB 19500304", "birth-date"),
    (VASK, "DOB 030450", "birth-date"),
    (VASK, "born March 4th, 1950", "birth-date"),
    (VASK, "born on the 4th of March 1950", "birth-date"),
    (VASK, "born 04-MAR-50", "birth-date"),
    (VASK, "born 04MAR1950", "birth-date"),
    (VASK, "born March fourth, nineteen fifty", "birth-date"),
    (VASK, "born on the fourth of March, 1950", "birth-date"),
    (VASK, "birthday 3/4", "birth-date"),
    (VASK, "birthday: the 4th of March", "birth-date"),
    (CRUZ, "born November twenty-first, two thousand one", "birth-date"),
    (VASK, "born three four fifty", "birth-date"),
    (VASK, "born three four nineteen fifty", "birth-date"),
    (VASK, "born oh three oh four nineteen fifty", "birth-date"),
    (VASK, "zero three zero four one nine five zero", "birth-date"),
    (VASK, "three slash four slash fifty", "birth-date"),
    (VASK, "nacida el cuatro de marzo de mil novecientos cincuenta", "birth-date"),
    (VASK, "nacida el 4 de marzo de 1950", "birth-date"),
    (VASK, "nata il quattro marzo millenovecentocinquanta", "birth-date"),
    (VASK, "née le quatre mars mille neuf cent cinquante", "birth-date"),
    (VASK, "née le 4 mars dix-neuf cent cinquante", "birth-date"),
    (VASK, "geboren am vierten März neunzehnhundertfünfzig", "birth-date"),
    (VASK, "geboren am vierten dritten fünfzig", "birth-date"),
    (VASK, "Geburtstag 4. März", "birth-date"),
    (CRUZ, "nacida el veintiuno de noviembre de dos mil uno", "birth-date"),
    (VASK, "DOB 0 3 0 4 1 9 5 0", "birth-date"),
    (VASK, "DOB 1 9 5 0 0 3 0 4", "birth-date"),
    (VASK, "DOB |0|3|0|4|1|9|5|0|", "birth-date"),
    (VASK, "born 0 3 0 4 5 0", "birth-date"),
    (VASK, "born 3 4 1 9 5 0", "birth-date"),
    (VASK, "DOB is the third month, fourth day, year fifty", "birth-date"),
    (VASK, "phone six one four um five five five uh zero one four two", "phone"),
    (VASK, "six one four, five five five, the last four digits oh one four two", "phone"),
    (OKAFOR, "chart eight eight wait, correction, eight eight oh three one one double seven", "mrn"),
    (VASK, "phone six one four five five five oh one four two", "phone"),
    (OKAFOR, "chart eight eight oh three one one double seven", "mrn"),
    (VASK, "encounter E99310442", "source-id"),
    (None, "encounter e-99310442", "source-id"),
    # Other patients
    (VASK, "seen with Thandiwe Quillfeather", "other-patient-name"),
    (VASK, "seen with THANDIWE QUILLFEATHER", "other-patient-name"),
    (VASK, "Quillfeather, Thandiwe", "other-patient-name"),
    (VASK, "Thandiwe M. Quillfeather's chart", "other-patient-name"),
    (VASK, "Ngozi Adaeze Okafor", "other-patient-name"),
    (VASK, "Okafor, Ngozi A.", "other-patient-name"),
    (VASK, "daughter Ines de la Cruz", "other-patient-name"),
    (VASK, "Jean Luc d'Aubigné", "other-patient-name"),
    (VASK, "with Faith Hill today", "other-patient-name"),
    (VASK, "with Agnes Do today", "other-patient-name"),
    (None, "Soren\u00a0Müller", "other-patient-name"),
    (VASK, "chart 88031177", "other-patient-number"),
    (VASK, "chart 880-311-77", "other-patient-number"),
    (VASK, "chart QF440193", "other-patient-number"),
    (VASK, "number 533 19 0442", "other-patient-number"),
    (VASK, "number 533190442", "other-patient-number"),
    (VASK, "call 4195550177", "other-patient-number"),
    (VASK, "call 1 419 555 0177", "other-patient-number"),
    (VASK, "mail Faith.Hill9@example.com", "other-patient-email"),
    # Shapes
    (None, "mail someone@else.example", "email-shape"),
    (None, "mail someone＠else.example", "email-shape"),
    (None, "SSN 900-12-3456", "ssn-shape"),
    (None, "Tel (614) 555-9999", "phone-shape"),
    (None, "Tel 614–555–9999", "phone-shape"),
    (None, "see https://portal.example/x", "url-shape"),
    (None, "see www.portal.example", "url-shape"),
    (None, "logged in from 192.0.2.17", "ip-shape"),
    (None, "from 2001:db8:0:1:1:1:1:1", "ip-shape"),
    (None, "MRN: 12345678", "mrn-shape"),
    (None, "Medical record number is AB-55012", "mrn-shape"),
    (None, "Acct #50012345", "mrn-shape"),
    (None, "card 4111 1111 1111 1111", "card-shape"),
    (None, "seen 3/14/2019", "date-shape"),
    (None, "seen 3/14/19 and well", "date-shape"),
    (None, "seen 03-14-19", "date-shape"),
    (None, "seen 14.03.2019.", "date-shape"),
    (None, "from 3/4/2019-3/8/2019", "date-shape"),
    (None, "on 2019-03-14T10:00", "date-shape"),
    (None, "since 3/2019", "date-shape"),
    (None, "seen March 14", "date-shape"),
    (None, "seen Mar. 14, 2019", "date-shape"),
    (None, "seen 14 March", "date-shape"),
    (None, "seen 14-MAR-19", "date-shape"),
    (None, "in September 2019", "date-shape"),
    (None, "on the 2nd of May", "date-shape"),
    (None, "from fe80::1", "ip-shape"),
    (None, "from 2001:db8::17%eth0", "ip-shape"),
    (None, "died at ninety-four", "age-shape"),
    (None, "lived to be one hundred.", "age-shape"),
    (None, "died at 94.", "age-shape"),
    (None, "a 92-year-old man", "age-shape"),
    (None, "a 101 yo woman", "age-shape"),
    (None, "92 y.o. man", "age-shape"),
    (None, "aged 94, widowed", "age-shape"),
    (None, "ninety-two years old", "age-shape"),
    (None, "in her 90s", "age-shape"),
    (None, "in her ninety-fourth year", "age-shape"),
    (None, "in the ninety-fourth year of her life", "age-shape"),
    (None, "in her 91st year", "age-shape"),
    (None, "Patient age 093Y", "age-shape"),
    (None, "age P93Y", "age-shape"),
    (None, "1085 months old", "age-shape"),
    (None, "4,750 weeks of age", "age-shape"),
    (None, "one thousand eighty-five months", "age-shape"),
    (None, "paciente de ciento un años", "age-shape"),
    (None, "mujer de 94 años", "age-shape"),
    (None, "edad: 94", "age-shape"),
    (None, "donna di centouno anni", "age-shape"),
    (None, "un novantaquattrenne", "age-shape"),
    (None, "femme de quatre-vingt-quatorze ans", "age-shape"),
    (None, "nonagénaire", "age-shape"),
    (None, "vierundneunzig Jahre alt", "age-shape"),
    (None, "eine vierundneunzigjährige Frau", "age-shape"),
    (None, "im vierundneunzigsten Lebensjahr", "age-shape"),
    *(
        (None, text, "age-shape")
        for text in (
            *(
                "Age/Sex: 94/F",
                "Age-94",
                "age=94",
                "94 yrs with cough",
                "94 y with cough",
                "94¾ years",
                "94F",
                "94 yr F",
            ),
            *("94y F", "94Y3M", "P94Y3M", "Ninety four female", "At ninety-four she still walks", "32,850 days old"),
            *("One hundred years and three months old", "She has ninety-four years.", "She will be 95 in July"),
            *(
                "born 94 years ago",
                "in the tenth decade of life",
                "nonagésimo cuarto año de vida",
                "Novantaquattr'anni",
            ),
            *("Mujer de noventaicuatro años", "Cumplirá noventa y cinco", "dans sa quatre-vingt-quatorzième année"),
            *("Cent deux ans", "Noventa y tantos años"),
        )
    ),
    (VASK, "DOB 195003", "birth-date"),
    (VASK, "DOB 4.III.50", "birth-date"),
    # What was reported
    (None, "at WREN  Cottage.", "reported"),
    (None, "tel: 0161-496-0233", "reported"),
    (None, "no. 77129035", "reported"),
]


def test_every_kind_that_a_text_can_leak_is_planted() -> None:
    elsewhere = {"misaligned", "surrogate", "tag-year", "provider-name", "facility-name", "lone-year", "relative-name"}
    elsewhere |= {"undecoded", "old-date"}
    columns = {kind.value for kind in LeakKind if kind.value.startswith("column-")}
    assert {kind for *_, kind in PLANTED} == {kind.value for kind in LeakKind} - elsewhere - columns
    assert len(PLANTED) >= 60


@pytest.mark.parametrize(("patient", "text", "kind"), PLANTED, ids=[f"{k}: {t!a}" for _, t, k in PLANTED])
def test_a_planted_leak_is_caught(patient: Patient | None, text: str, kind: str) -> None:
    assert kind in left(text, patient)


@pytest.mark.parametrize(
    ("patient", "text"),
    [
        (VASK, ""),
        (VASK, "The patient came."),
        (VASK, "zoea larvae, broken, brenn, marguer"),
        (VASK, "555 01420"),
        (VASK, "BP 120/80, HR 72, 10.5 mg, L4-L5, 3/16 inch"),
        (VASK, "WBC 7.1 4 3 50 11"),
        (VASK, "scores 1 0 3 0 4 1 9 6, 0 3 0 4 and 5 0 3 0 4 1; box 0 3 0 4 5 0 1"),
        (VASK, "the last four of three months, day fifty"),
        (VASK, "in 1950, and again in March"),
        (VASK, "18 teaspoons, Teasel"),
        (VASK, "a teasel; a little wen, lock"),
        (VASK, "seen in Little Wenlock Heart Clinic; a little Wenlock sign"),
        (VASK, "record 07188221"),
        (VASK, "Na 135 140 2019"),
        (VASK, "ratio 512:45, pages 6789"),
        (VASK, "a@b"),
        (VASK, "born at 39 weeks, 3 of 4 siblings"),
        (VASK, "the fourth of nineteen visits"),
        (VASK, "three to four patients, fifty of each; three four times fifty"),
        (VASK, "one two three four, three four five zero"),
        (VASK, "cuatro de mayo de mil novecientos cincuenta, quatre mars mille neuf cent cinquante et un"),
        (VASK, "counting from one hundred: ninety-three, eighty-six, seventy-nine"),
        (VASK, "44.812 and 448123"),
        (VASK, "E 442, note 5"),
        (CRUZ, "la mano de la paciente"),
        (CRUZ, "removed by van; de novo"),
        (LI, "li Li LI; Na, K, Li normal; bo"),
        (LI, "Bo. Li+ level"),
        (Patient("q", first_name="Tuyet", last_name="Le"), "patient le bras; Le bras"),
        (Patient("q", first_name="Mina", last_name="See"), "see below. See above"),
        (YOUNG, "he will return. Will return in May.\nPT TO RETURN, WILL CALL"),
        (YOUNG, "a young man will call"),
        (AUBIGNE, "jeanette, lucid, aubi"),
        (MULLER, "platelets 44170, dose 4.417"),
        (Patient("q", last_name="Forman"), "sign for man and wife"),
        (Patient("q", last_name="Underwood"), "a splinter under wood dust"),
        (Patient("q", last_name="Asher"), "as her mother said"),
        (Patient("q", last_name="Anderson", first_name="Rosa"), "Andersonville, ander sonar"),
        (Patient("q", last_name="Richards", first_name="Chester"), "Richardson, Manchester, Rochester"),
        (Patient("q", last_name="Stephens", first_name="Clement"), "Dr. Stephenson had clementines"),
        (Patient("q", first_name="Van", last_name="der Berg"), "left by van"),
        # Other patients
        (VASK, "John Smithson of the committee"),
        (QUILL, "a quill, feather pillows; quill. Feather"),
        (Patient("q", last_name="Blood"), "blood pressure taken, home blood count"),
        (VASK, "Thandiwe came, and a quill, feather"),
        (VASK, "Quillfeather alone; Okafor sign"),
        (VASK, "have faith hill walking helps"),
        (VASK, "Keep faith. Hill walking helps"),
        (VASK, "Signed by Agnes, DO"),
        (VASK, "Thandiwe 3 Quillfeather"),
        (VASK, "viral load 250000 copies, CD4 500000"),
        (VASK, "platelets 250,000"),
        (VASK, "accession 8803117, 880311770"),
        (None, "533 19 04"),
        # Shapes
        (None, "at 12::30, ratio 1::2, IV::PO, note:: stable"),
        (None, "died at ninety percent occlusion; dead at 94% saturation, 94.5"),
        (None, "BP 120/80, 1/2 tablet, 5/5 strength, 10-20-30 mg"),
        (None, "T2/3/4, 3/4/5, pain 4/10, ratio 1.2.10"),
        (None, "titrate 10/10/20 mg; 5-10-15 drops"),
        (None, "13/13/2019 and 32/1/19"),
        (None, "in 2019, the 1990s, FY 2020, 2018-2019"),
        (None, "may 2 tablets; MAR 10 mg; Step 2 May repeat; march 3 times"),
        (None, "Dec 5 mg, Sept 10%, May be, 1 May be"),
        (None, "section 1.2.3.4 of version 4.1.2.3"),
        (None, "1.25.300.400 and 999.1.2.3"),
        (None, "12:30:45, ratio 1:2:3"),
        (None, "MRN pending; medical record reviewed 5 times; med rec done"),
        (None, "4111 1111 1111 1112"),
        (None, "aged 95 days, sat 92%, 90+-year-old, aged 90+"),
        (None, "89-year-old, 9 yo, HR in the 90s, T 101 yesterday"),
        (None, "0.92 years old"),
        (None, "ninety-four percent, one hundred and ten over seventy, ninety years of service"),
        (None, "hace cien años, cien por ciento, negli ultimi 100 anni, il y a cent ans, seit 90 Jahren"),
        (None, "Weight for age ninety-fifth percentile, height for age ninetieth percentile, age: 95th centile"),
        (None, "peso per età novantacinquesimo percentile, peso para la edad: percentil 95, Alter 95. Perzentile"),
        (None, "T 98F, Tmax 101F\n98F\nHR 94, 94 female patients, 94 mg with food, for 94 y with filters"),
        (None, "cumplirá 95 días, will be 95 in total, has 95 years left, sats at 94 he felt well"),
        (VASK, "stage IV, 3 of 50 nodes; DOB known to the clerk, who counted 195003 cells"),
        (None, "1085 mg for 3 months, 94 y 95, 91st year in practice, 90th percentile"),
        (None, "1195-12-3456, 195-12-34567"),
        (None, "pages 214-555, 614 555"),
        # What was reported
        (None, "a wren in the cottage garden, 0161 496 02330"),
    ],
)
def test_what_merely_looks_like_a_leak_is_not_one(patient: Patient | None, text: str) -> None:
    assert left(text, patient) == set()


def test_a_provider_who_bears_a_patients_name_is_spared_where_the_policy_keeps_providers() -> None:
    text = "Signed by Pamela Bhattacharya, MD"
    assert left(text, VASK, "safe_harbor") == set()
    assert left(text, VASK) == {"other-patient-name"}


def test_the_patients_own_name_is_never_somebody_elses() -> None:
    assert left("Thandiwe Quillfeather, QF440193", QUILL) == {"first-name", "last-name", "mrn"}
    assert "other-patient-email" not in left("tq+1@example.net", QUILL)
