"""Recovery: removes candidates that are clinical terms, such as eponyms, drugs, devices, tests, scores and codes.

    terms       the shipped lists and the site's own, without those that are mere names
    allow_list  phrases that a site keeps
    codes       codes of ICD-10-CM, by the list of codes
    number_labels  behind which no shape counts
    finder      where terms and expressions stand in a note
    decision    which spans are recovered, and which never

Belongs here: deciding that a span is not an identifier. Does not belong here: finding spans.
"""

from __future__ import annotations

from deid_platform.detection.resolve.recovery.allow_list import AllowList, read_allow_list
from deid_platform.detection.resolve.recovery.decision import Recovery
from deid_platform.detection.resolve.recovery.terms import LISTS, clinical_terms, eponym_heads

__all__ = ["LISTS", "AllowList", "Recovery", "clinical_terms", "eponym_heads", "read_allow_list"]
