"""A note of nobody, with something for everything that finds, replaces and checks.

Belongs here: that note. What it loads (lists, patterns, pools of names) is loaded before workers are forked, who would
each load it with their first note. Does not belong here: notes that anything is measured on.
"""

from __future__ import annotations

from datetime import date

from deid_platform.detection.resolve.cross_note import Mentioned
from deid_platform.detection.two_pass import Detection, FirstPass
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

_TEXT = """PATIENT: Quarles, Amelia   MRN: 00-417-902   DOB: 3/14/1949

Dear Dr. Brackenridge,
Mrs. Quarles, a 71-year-old retired seamstress of 12 Juniper Street, Harlow Falls, NC 27101, was seen on
March 14, 2020 at Juniper Falls Clinic for type 2 diabetes. Her sister Ms. Ottoline Vexworth (617-555-0142,
o.vexworth@example.org) reports that Amelia denies chest pain. BP 120/80, Foley catheter removed.

Electronically signed by Ansgar Brackenridge, MD on 03/14/2020 at 10:15"""
_FOUND = {
    "Quarles, Amelia": Label.PATIENT,
    "00-417-902": Label.MEDICALRECORD,
    "3/14/1949": Label.DATE,
    "Brackenridge": Label.DOCTOR,
    "71": Label.AGE,
    "12 Juniper Street": Label.STREET,
    "Harlow Falls": Label.CITY,
    "NC": Label.STATE,
    "27101": Label.ZIP,
    "March 14, 2020": Label.DATE,
    "Juniper Falls Clinic": Label.HOSPITAL,
    "Ottoline Vexworth": Label.PATIENT,
    "617-555-0142": Label.PHONE,
    "o.vexworth@example.org": Label.EMAIL,
    "Ansgar Brackenridge": Label.DOCTOR,
    "03/14/2020": Label.DATE,
}


def made_up_note() -> FirstPass:
    """The note, with what a first pass might find in it and what others might tell."""
    starts = {surface: _TEXT.index(surface) for surface in _FOUND}
    spans = sorted(Span(start, start + len(each), _FOUND[each]) for each, start in starts.items())
    note = Note("made-up", _TEXT, patient_id="made-up", note_type="letter", note_date=date(2020, 3, 14))
    return FirstPass(note, Detection(0, tuple(spans)), Mentioned({"amelia": Label.PATIENT}, {"27101": Label.ZIP}))
