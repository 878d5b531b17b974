"""The patient's name where it is an abbreviation too, and one part of a double name; [brackets] mark what is found."""

from __future__ import annotations

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.notes import Note, Patient, Topics
from deid_platform.text.names import single_names

PATIENTS = {
    "ana": Patient("1", "Ana", None, "Quarmby"),
    "sue": Patient("2", "Sue", None, "Quarmby"),
    "peggy": Patient("3", "Peggy", None, "Quarmby"),
    "mark": Patient("4", "Mark", None, "Quarmby"),
    "sam": Patient("5", "Sam", None, "Quarmby"),
    "will": Patient("6", "Will", None, "May"),
    "walsh": Patient("11", "Siobhan", None, "O'Brien-Walsh"),
    "spaced": Patient("12", "Siobhan", None, "O’Brien Walsh"),
    "rossi": Patient("13", "Lucia", None, "D'Angelo-Rossi"),
    "tait": Patient("14", "Ewan", None, "McDonald-Tait"),
    "gregor": Patient("15", "Ewan", None, "Tait-Mac Gregor"),
    "cruz": Patient("16", "Inés", None, "de la Cruz-Ibáñez"),
    "berg": Patient("17", "Jan", None, "van der Berg-Osei"),
    "noor": Patient("18", "Omar", None, "al-Rashid-Noor"),
    "pinto": Patient("19", "Dev", None, "D'Sa-Pinto"),
    "kin": Patient("20", "Zeb", None, "Tolland", relatives="Siobhan O'Brien-Walsh (wife)"),
}
IN_CAPITALS = [
    ("ana", "[ANA] was seen. [ANA], 54F, presents. [ANA] (54 y/o) ate; [ANA] 54yo here"),
    ("ana", "[ANA] tolerated the diet, [ANA] tolerated. [ANA] ambulated, [ANA] slept well, [ANA] voided"),
    ("ana", "[ANA]'s husband called, [ANA] and her son, [ANA], who is alone, spoke with [ANA]"),
    ("ana", "[ANA] was admitted, [ANA] has no complaints, [ANA] returned to the floor, [ANA] in room 4"),
    ("ana", "ANA was positive, ANA 1:320, ANA ordered, ANA, ESR, ANA is pending; ANA, 5 months ago"),
    ("ana", "ANA returned positive, ANA returned to normal, ANA was seen on the panel, repeat ANA was seen"),
    ("sue", "[SUE] ate well, Pt [SUE] left, [SUE] WAS SEEN TODAY, [SUE] ATE WELL"),
    ("peggy", "[PEG] voided x2, [PEG] asked for water"),
    ("peggy", "PEG tolerated well, PEG was placed, PEG tube, PEG site was clean"),
    ("mark", "[MARK] was seen in clinic, [MARK] ambulated, a MARK was seen, MARK was seen on the skin"),
    ("sam", "[SAM] was informed, SAM was seen on echo"),
    ("will", "[WILL] ATE LUNCH, WILL RETURN, [MAY] SLEPT WELL, MAY TAKE WITH FOOD"),
]
DOUBLE_NAMES = [
    ("walsh", "[O'Brien] or [O’Brien] or [O'BRIEN] or [OBrien] or [O Brien] or [o'brien] or [Brien]"),
    ("walsh", "Ms. [Walsh] or [WALSH] or [Siobhan O'Brien] or [O'Brien, Siobhan] or [S. O'Brien]'s leg"),
    ("walsh", "[sobrien] or [sobrien@example.org]; Mr. [O'Brein]"),
    ("walsh", "5 o'clock, O2 sat, o, brine"),
    ("spaced", "[O'Brien] or [OBrien] or [Walsh] or [O'BRIEN WALSH]"),
    ("rossi", "[D'Angelo] or [D’ANGELO] or [Dangelo] or [d'Angelo] or [Rossi]"),
    ("tait", "[McDonald] or [Mc Donald] or [MCDONALD] or [Tait]"),
    ("gregor", "[MacGregor] or [Mac Gregor] or [MACGREGOR] or [Tait]"),
    ("cruz", "[de la Cruz] or [Dela Cruz] or [DELACRUZ] or [Cruz] or [Ibáñez]; a la carte, de novo"),
    ("berg", "[van der Berg] or [Vanderberg] or [VAN DER BERG] or [Osei]; van der Waals"),
    ("noor", "[al-Rashid] or [Al Rashid] or [Alrashid] or [Noor]"),
    ("pinto", "[D'Sa] or [D’SA] or [Pinto]"),
    ("kin", "wife [Siobhan]; Mrs. [O’Brien] or [OBrien] or [Walsh]"),
]


@pytest.mark.parametrize(("patient", "marked"), IN_CAPITALS + DOUBLE_NAMES)
def test_what_names_the_patient_is_found_and_what_resembles_it_is_left(patient: str, marked: str) -> None:
    text = marked.replace("[", "").replace("]", "")
    detector = DetectorSpec("roster", Topics.of([PATIENTS[patient]])).build()
    spans = detector.detect([Note("n", text, patient_id=PATIENTS[patient].patient_id)])[0]
    assert [text[s.start : s.end] for s in spans] == [part.partition("]")[0] for part in marked.split("[")[1:]]


def test_one_part_of_another_patient_s_double_name_is_known_beside_a_given_name() -> None:
    detector = DetectorSpec("gazetteer", Topics.of(PATIENTS.values())).build()
    text = "Siobhan OBrien and Ewan MacGregor, Jan Vanderberg"
    spans = detector.detect([Note("n", text)])[0]
    assert [text[s.start : s.end] for s in spans] == ["Siobhan OBrien", "Ewan MacGregor", "Jan Vanderberg"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("O'Brien-Walsh", ("O'Brien", "Walsh")),
        ("van der Berg-O’Dea", ("van der Berg", "O’Dea")),
        ("de la Cruz Ibáñez", ("de la Cruz", "Ibáñez")),
        ("Mac Gregor", ("Mac Gregor",)),
        ("Tolland", ("Tolland",)),
        ("Reddy-De", ("Reddy",)),
        ("", ()),
        (None, ()),
    ],
)
def test_a_double_name_consists_of_single_ones_with_their_particles(
    name: str | None, expected: tuple[str, ...]
) -> None:
    assert single_names(name) == expected
