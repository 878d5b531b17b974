"""The dossier: the evidence for one release, as one HTML file that somebody can sign.

    facts              what a dossier states
    words, sections    what a measure is called, and the numbers of the sections
    verdict            whether a release is fit, why, and with what doubt
    decide, questions  what to look at before signing; what the law asks
    attacks, bars      what attacks found, and bars as SVG
    page               the HTML file

Belongs here: its facts, its verdict, its page. Does not belong here: gathering the facts
(`oversight/dossier_entries.py`) or signing (`oversight/signing.py`).
"""

from deid_platform.reports.dossier.facts import (
    NOT_AT_HAND,
    NOT_TAGGED,
    Change,
    Decision,
    Dossier,
    Feed,
    Figure,
    HeldOut,
    IndirectTreatment,
    Language,
    Reading,
    Requirement,
    Treatment,
    Waived,
    golds_of,
)
from deid_platform.reports.dossier.page import dossier_html
from deid_platform.reports.dossier.verdict import Standing, Verdict, verdict

__all__ = [
    "NOT_AT_HAND",
    "NOT_TAGGED",
    "Change",
    "Decision",
    "Dossier",
    "Feed",
    "Figure",
    "HeldOut",
    "IndirectTreatment",
    "Language",
    "Reading",
    "Requirement",
    "Standing",
    "Treatment",
    "Verdict",
    "Waived",
    "dossier_html",
    "golds_of",
    "verdict",
]
