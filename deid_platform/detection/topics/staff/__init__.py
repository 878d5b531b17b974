"""Initials of the people who work in a clinic, by whose they may be and by where they stand.

Belongs here: which letters of a note are a staff member's: signatures, dictation lines, charting columns, mentions
of a colleague. Does not belong here: a patient's initials (`roster/initials.py`), or names (`rules/`).

Three things are weighed (`weighing.py`): how little the letters mean besides (`abbreviations.py` of the package above),
who is known to have such initials (`colleagues.py`), and how certainly a member of the staff stands at the place
(`places.py`, `pairs.py`, `columns.py`). Where nothing but initials stands ("Transcribed: sa", a column headed "Init"),
any letters are a person's; letters that mean nothing else need no place if somebody of the clinic has them.
"""

from __future__ import annotations

from deid_platform.detection.topics.staff.colleagues import Colleagues, Known, initials_of, name_initials
from deid_platform.detection.topics.staff.weighing import staff_initials

__all__ = ["Colleagues", "Known", "initials_of", "name_initials", "staff_initials"]
