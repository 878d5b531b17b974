"""A synthetic institution: deterministic by seed, its gold planted and kept apart from its feed.

    spec                     what is asked for and what comes back
    people                   records of people, places and firms, and what is true of a patient on a day
    draws, identifiers       names and addresses from the pools; numbers that can belong to nobody
    institution, households  facilities and staff; patients and their families
    grammar, library         how prose is written down, and the package data read once
    selection                what is held out
    chart, dates             what one note knows, and how it writes days
    rule, slots              how one slot of a template is filled, and what a slot writes
    numbers, places          slots for dates and numbers, and for places
    forms, place_forms       persons, dates, numbers and places written by a pattern
    compose, page            one note, and the page that it is set on
    deliveries               what arrives when
    feed                     how deliveries lie on disk, their gold apart

Belongs here: patients, families, staff, facilities and the notes about them, with every identifier's
place known because it was planted. Does not belong here: reading a feed (`corpora/files.py`) or looking
for identifiers (`detection/`, which must never see the gold).

Prose, ways of writing and layouts are package data; names come from `surrogates/pools.py`.

What is gold: names (without title or credential), every date finer than a year (months and holidays too), contacts with
their extension, addresses in their parts, countries, facilities and their abbreviations, pharmacies, employers, schools
and churches, numbers that name a person, a device, a vehicle or a specimen, whole or in part, and ages over 89. What is
not: years alone, weekdays, times of day, numbers of rooms and beds (which the library's brief marks and the detector
hides: they count as wrongly hidden here), ages up to 89, occupations, states of health; the clinical
terms among these are listed as `clinical`.
"""

from deid_platform.corpora.hospital.deliveries import generate
from deid_platform.corpora.hospital.feed import write
from deid_platform.corpora.hospital.spec import (
    HELD_OUT_STYLES,
    HELD_OUT_TYPES,
    NOTE_TYPES,
    Document,
    HospitalDelivery,
    HospitalSpec,
    Part,
    Shape,
    Style,
)

__all__ = [
    "HELD_OUT_STYLES",
    "HELD_OUT_TYPES",
    "NOTE_TYPES",
    "Document",
    "HospitalDelivery",
    "HospitalSpec",
    "Part",
    "Shape",
    "Style",
    "generate",
    "write",
]
