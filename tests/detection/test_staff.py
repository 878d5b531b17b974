from __future__ import annotations

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Source, SourceKind
from deid_platform.detection.topics.staff import Colleagues, Known, initials_of, name_initials, staff_initials
from deid_platform.detection.topics.staff.colleagues import Who
from deid_platform.labels import Label
from deid_platform.notes import Note, Provider, Span, Topics

TABLE = "Time | BP | Pain | Init\n10:23 | 133/79 | 0 | {}\n18:54 | 129/73 | 78 | CC/KR\nContact | someone"

HITS = [
    # signatures
    ("Will return in a week.\n- KR\n", ["KR"]),
    ("Will return in a week. - BY", ["BY"]),
    ("Will return in a week.\n\n- CC\n12/8/2024", ["CC"]),
    ("/s/ KR\n", ["KR"]),
    ("Slept well. (KR)", ["KR"]),
    ("Slept well. /KR", ["KR"]),
    ("Line placed by KR", ["KR"]),
    ("RN: KR", ["KR"]),
    ("AS LPN\n", ["AS"]),
    ("- DC CMA\r\nnext", ["DC"]),
    ("Report to AM, RN. Bed is low.", ["AM"]),
    ("(AM) DAMIANO QUILL, MD\n", ["AM"]),
    # who dictated and who typed
    ("Plan as above.\n\nKR:dc\n", ["KR", "dc"]),
    ("PB/FV\ncc: chart", ["PB", "FV"]),
    ("Plan as above.\n\nST/SM\n", ["ST", "SM"]),
    ("JS/ab 01/02/2024", ["JS", "ab"]),
    ("D: JS T: ab", ["JS", "ab"]),
    ("D: 4/13/10 T: 4/6/08 MM/PK Job #A462982", ["MM", "PK"]),
    ("D: 4/13/10  T: 4/6/08  NA/SE", ["NA", "SE"]),
    ("T: 7/7/12 MY/JH Job #C16:9089", ["MY", "JH"]),
    ("Dictated: Iwo Quill. Transcribed: sa\n", ["sa"]),
    ("Typed by: PW", ["PW"]),
    # charting
    ("12:26 Handoff AM to CC.", ["AM", "CC"]),
    ("Technologist AM, room 4.", ["AM"]),
    ("Technologist | KR |", ["KR"]),
    ("witnessed by AM", ["AM"]),
    (TABLE.format("AM"), ["AM", "CC", "KR"]),
    (TABLE.format("AM").replace("|", "\t"), ["AM", "CC", "KR"]),
]

NOBODY = Known()
NEAR_MISSES = [
    "PMH:\n- MI\n- DM\n- KX\n",
    "- CT abdomen\n",
    "PT/OT\n",
    "NC/AT\n",
    "Head is normal.\n\nNC/AT\n\nNeck",
    "Vital signs.\n\nBP/HR\n",
    "CC: BPH\n",
    "ED RN\n",
    "12:00 Handoff ED to ICU",
    "Report to ED, RN aware",
    "D: 08/05  T: 8/7",
    "D: 4/13/10 T: 4/6/08 AM/PM",
    "T: 98.6 HR/BP stable",
    "Transcribed: by",
    "Dictated: MD",
    "seen per GI and by ID; AM labs; PM dose",
    "Time | BP | HR\n10:23 | AM | PM\n",
    "signed by RN",
    "read by CT; seen by GI; RN: AM",
    "Slept well. (PT)",
    "KR is a protein",
]


def _found(text: str, known: Known = NOBODY) -> list[str]:
    spans = set(staff_initials(text, known))
    assert all(s.label is Label.DOCTOR for s in spans)
    return [text[start:end] for start, end in sorted({(s.start, s.end) for s in spans})]


@pytest.mark.parametrize(("text", "expected"), HITS)
def test_initials_are_found_where_staff_writes_them(text: str, expected: list[str]) -> None:
    assert _found(text) == expected


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_a_clinic_abbreviates_is_no_colleague(text: str) -> None:
    assert _found(text) == []


# Letters that mean nothing else: {} is KR, whoever that is.
@pytest.mark.parametrize(
    "text",
    [
        *("BP checked {}", "Dressing changed {}", "Slept well -{}", "Slept well [{}]", "{} 14:35", "12/8/24 {}"),
        *("Slept well. {}.", "per {}", "Plan per {}.", "d/w {}", "discussed with {}", "cc {}", "signed {}", "VO {}"),
        *("{} paged", "{} to see in the morning", "{}'s patient", "Resident: {}", "covering for {}", "sgd {}"),
        *("[{} 14:35]", "({} 12/8/24)", "removed by {} at 14:35", "Dr. {}", "Initials: {}", "Counted with {}"),
        *("D: 12/8/24 T: 12/9/24 {}", "{}/dc D: 12/8/24", "{}:dc:mt", "Job 123456 {}/dc", "09:45 {} Walked in hall."),
        *("{} RN, {} LPN", "2nd RN {}", "Time   Pulse   Init\n0900   72   {}\n"),
        *("K.R. RN", "Slept well. -K.R.", "Slept well. - K R S"),
    ],
)
def test_letters_that_mean_nothing_else_need_a_place_only(text: str) -> None:
    found = _found(f"Vital signs are stable.\n{text.format('KR', 'KR')}\n\nNext")
    assert found[0].replace(".", "") in ("KR", "K R S"), text


COLLEAGUE = Known(colleagues=frozenset({"kr", "mb", "po", "or", "rn", "cm"}))
OWN = Known(own=frozenset({"mb", "or"}))


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        # letters that mean nothing else need no place if somebody has them
        ("KR put the line in; told KR twice, with KR beside", COLLEAGUE, ["KR", "KR", "KR"]),
        ("Pulse | 72 | KR | room air", COLLEAGUE, ["KR"]),
        ("Slept well -kr", COLLEAGUE, ["kr"]),
        ("Plan as above.\n\nkr:mb\n", COLLEAGUE, ["kr", "mb"]),
        ("KR-20 and KR=4, anti-KR, 5xKR, K KR+", COLLEAGUE, []),
        ("SEEN IN THE ED AND KR WAS THERE", COLLEAGUE, []),
        ("SEEN IN THE ED. KR\n", COLLEAGUE, ["KR"]),
        # abbreviations of a clinic need one
        ("told MB twice, with MB beside; CK-MB, MB 12, MB fraction", COLLEAGUE, []),
        ("Asked MB about the line. Seen by MB.", COLLEAGUE, ["MB", "MB"]),
        ("Line flushed MB\n", COLLEAGUE, ["MB"]),
        ("Line flushed.  MB\n", COLLEAGUE, ["MB"]),
        ("14:35 MB\nMB 12/8/24\n", COLLEAGUE, ["MB", "MB"]),
        ("Counts correct MB/KR", COLLEAGUE, ["MB", "KR"]),
        ("09:00 | 72 | MB\n10:00 | 70 | KR\n", COLLEAGUE, ["MB", "KR"]),
        ("09:00 | MB\n10:00 | CK\n", COLLEAGUE, []),
        ("Given PO\nPlan: PO, d/w CM, paged CM", COLLEAGUE, []),
        # of those who wrote the note or whom it names the end of a line is enough
        ("Slept through the night MB\n", OWN, ["MB"]),
        ("Slept through the night MB\n", COLLEAGUE, []),
        ("MB is up, MB of 4 and MB.", OWN, []),
        ("Plan:\n- MB\n- CK\n", OWN, []),
        # units and words need to be somebody's and a signature
        ("Slept well. - OR\n", OWN, ["OR"]),
        ("Slept well. - OR\n", COLLEAGUE, []),
        ("Seen in the OR\nRN at bedside, OR nurse", OWN, []),
        ("OR/KR\n", Known(frozenset({"or", "kr"})), ["OR", "KR"]),
        ("12:26 Handoff OR to KR.", COLLEAGUE, ["OR", "KR"]),
        ("Time | Init\n09:00 | OR\n", COLLEAGUE, ["OR"]),
        # a middle name that no topic has
        ("Walked in the hall KXR\n", Known(frozenset({"kr"})), ["KXR"]),
        ("Walked in the hall KXR\n", NOBODY, []),
    ],
)
def test_initials_of_those_who_are_known_need_less(text: str, known: Known, expected: list[str]) -> None:
    assert _found(text, known) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("Motor: EHL/EDL 5/5.", "PMH: nil\nFH: nil\n", "FL/AC (20-24) 20", "Xray AP/LL\n", "GI/GU: no findings"),
        *("Findings:\n- AK\n- KX\n", "The KX catheter was removed.", "KX-12 and XK=3", "HR 72, KX 4.0"),
        *("tested for KX and XK today", "(KX) is a protein", "Given PO, sent UA, denied CP", "Seen in AM\n10:00 AM\n"),
        *("PE normal. EOM full. ROM good.", "consistent with KX", "Sensitive to KX, resistant to XK."),
    ],
)
def test_letters_in_running_text_are_nobody_s_without_a_place(text: str) -> None:
    assert _found(text) == []


def test_among_very_many_people_to_have_these_initials_says_nothing() -> None:
    everybody = frozenset(a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz")
    assert _found("KR put the line in, MB as well MB", Known(everybody, everybody)) == []


def test_the_author_s_initials_and_those_of_whom_a_note_names_are_known() -> None:
    providers = [Provider("p1", "Kristina", "Ruiz-Mendes"), Provider("p2", "Ana", "Dell"), Provider("p3", None, "Roe")]
    colleagues = Colleagues(Topics.of(providers=providers))
    document = Document(Note("n", "Iwo Quill saw her.", provider_id="p2"))
    candidate = Candidate.by_rule(0, 9, Label.DOCTOR, 0.9, Source(SourceKind.RULES, "x"))
    known = colleagues.known_in(document, [candidate])
    assert known.own == {"ad", "iq"}
    assert known.colleagues == {"ad", "kr", "km", "krm"}
    assert [known.who(letters) for letters in ("iq", "km", "ixq", "zz")] == [
        Who.OWN,
        Who.COLLEAGUE,
        Who.PERHAPS_OWN,
        Who.NOBODY,
    ]
    assert Colleagues().known_in(document, []) == NOBODY


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Kristina Quill", ["kq"]),
        ("Quill, Kristina", ["kq"]),
        ("Ana Liz Quill", ["aq", "alq"]),
        ("Özgür de la Quill", ["oq", "od"]),
        ("Ana O'Dell", ["ao", "ad"]),
        ("Tarak De", ["td"]),
        ("Quill", []),
    ],
)
def test_a_full_name_gives_its_initials(name: str, letters: list[str]) -> None:
    assert list(name_initials(name)) == letters


def test_only_staff_among_the_people_of_a_note_lends_initials() -> None:
    text = "Kristina Quill and Zebulon Quarmby"
    people = [Span(0, 14, Label.DOCTOR, 0.9, "x"), Span(19, 34, Label.PATIENT, 0.9, "x")]
    assert initials_of(text, people) == {"kq"}


def test_the_rules_hide_staff_initials_that_are_abbreviations_elsewhere() -> None:
    text = "12:26 Handoff AM to CC.\nAM labs drawn. CC: cough."
    found = DetectorSpec("rules").build().detect([Note("n", text)])[0]
    assert [(text[s.start : s.end], s.start) for s in found] == [("AM", 14), ("CC", 20)]


def test_the_rules_know_the_staff_of_the_topics() -> None:
    topics = Topics.of(providers=[Provider("p1", "Kristina", "Ruiz"), Provider("p2", "Marius", "Bell")])
    text = "Line flushed, KR helped MB\n"
    notes = [Note("n", text), Note("n", text, provider_id="p2")]
    found = DetectorSpec("rules", topics).build().detect(notes)
    assert [[text[s.start : s.end] for s in spans] for spans in found] == [["KR"], ["KR", "MB"]]
