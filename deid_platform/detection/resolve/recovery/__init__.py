"""Gives back what is clinical: eponyms, drugs, devices, tests, scores, codes, genetic variants.

    terms       the shipped lists and the site's own, less those that are no more than names
    allow_list  phrases that a site keeps
    codes       undotted codes of ICD-10-CM
    places      where terms and expressions stand in a note
    decision    which spans are given back, and which never

Belongs here: deciding that a span is no identifier. Does not belong here: finding spans.
"""

from __future__ import annotations

from deid_platform.detection.resolve.recovery.allow_list import AllowList, read_allow_list
from deid_platform.detection.resolve.recovery.decision import Recovery
from deid_platform.detection.resolve.recovery.terms import LISTS, clinical_terms, eponym_heads

__all__ = ["LISTS", "AllowList", "Recovery", "clinical_terms", "eponym_heads", "read_allow_list"]
