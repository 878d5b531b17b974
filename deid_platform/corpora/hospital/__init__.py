"""A synthetic institution: deterministic by seed, its gold planted and kept apart from its feed.

Belongs here: patients, families, staff, facilities and the notes about them, with every identifier's
place known because it was planted. Does not belong here: reading a feed (`corpora/files.py`) or looking
for identifiers (`detection/`, which must never see the gold).

Reading order: `spec` (what is asked for and what comes back), `institution` and `households` (who works
and who lives there), `grammar` and `library` (how prose is written down), `chart` and `slots` (what one note knows),
`deliveries` (what arrives when), `feed` (how it lies on disk). Prose, names and layouts are package data.

What is gold: names (without title or credential), every date finer than a year, contacts, addresses in
their parts, facilities and their abbreviations, pharmacies, employers, numbers that name a person, a
device, a vehicle or a specimen, and ages over 89. What is not: years alone, weekdays, times of day, ages
up to 89, occupations, states of health; the clinical terms among these are listed as `clinical`.
"""

from deid_platform.corpora.hospital.deliveries import NOTE_TYPES, generate
from deid_platform.corpora.hospital.feed import write
from deid_platform.corpora.hospital.spec import Document, HospitalDelivery, HospitalSpec, Shape

__all__ = ["NOTE_TYPES", "Document", "HospitalDelivery", "HospitalSpec", "Shape", "generate", "write"]
