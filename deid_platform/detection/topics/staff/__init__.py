"""Initials of clinic staff, by their owners and by their context.

    colleagues       who is known to have such initials
    cues, positions  words before initials, and how certainly a place is that of a staff member's
    pairs, columns   two initials side by side; fields that hold nothing else
    weighing         which letters are a staff member's initials

Belongs here: which letters of a note are a staff member's: signatures, dictation lines, charting columns, mentions
of a colleague. Does not belong here: a patient's initials (`topics/roster/initials.py`), or names (`rules/`).

Three things are weighed: how seldom the letters mean anything else (`lexicon/abbreviations.py`), who is known to have
such initials, and how certainly the context is that of a staff member. Where only initials can stand ("Transcribed:
sa", a column headed "Init"), any letters are a person's; letters without another meaning need no such context if
somebody of the clinic has them.
"""

from __future__ import annotations

from deid_platform.detection.topics.staff.colleagues import Colleagues, Known, initials_of, name_initials
from deid_platform.detection.topics.staff.weighing import staff_initials

__all__ = ["Colleagues", "Known", "initials_of", "name_initials", "staff_initials"]
