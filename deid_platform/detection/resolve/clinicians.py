"""Relabels clinicians whom rules call patients since they do not know whose name it is: "OT Ann Reed", "Reed at 9".

Belongs here: the label of a name that no title, label or word for kin introduces. Does not belong here: finding names
(`rules/`, `models/`), how sure a model must be of a clinician (`models/decoding.py`), or clinicians who are family
(`relatives.py`).

A list of names and a repeated name say nothing of whose name it is, so that their rules say PATIENT, the graver of the
two. A model that reads the words around knows better. A policy may keep the names of clinicians; therefore a name that
the note introduces as a patient's or a relative's anywhere stays theirs.
"""

from __future__ import annotations

from deid_platform.detection.api import Candidate, Document, Evidence, SourceKind
from deid_platform.labels import Label
from deid_platform.text.names import name_words


def relabel_clinicians(document: Document, candidates: list[Candidate]) -> list[Candidate]:
    """Candidates in which a name is labelled a clinician's where a model says so and nothing says whose it is.

    Args:
        document: What they were found in.
        candidates: In any order, possibly overlapping.

    Returns:
        The same candidates, some of them labelled DOCTOR instead of PATIENT.
    """
    predicted = [c for c in candidates if c.evidence is Evidence.PREDICTED and not c.source.asked]
    clinicians = [candidate for candidate in predicted if candidate.label is Label.DOCTOR]
    if not clinicians:
        return candidates
    patients = [candidate for candidate in predicted if candidate.label is Label.PATIENT]
    introduced = {
        word
        for candidate in candidates
        if candidate.label is Label.PATIENT and candidate.evidence >= Evidence.INTRODUCED
        for word in _words(document, candidate)
    }
    return [
        candidate._replace(label=Label.DOCTOR)
        if _says_not_whose(candidate)
        and any(map(candidate.overlaps, clinicians))
        and not any(map(candidate.overlaps, patients))
        and introduced.isdisjoint(_words(document, candidate))
        else candidate
        for candidate in candidates
    ]


def _says_not_whose(candidate: Candidate) -> bool:
    by_a_rule = candidate.source.kind is SourceKind.RULES and not candidate.source.of_site
    return by_a_rule and candidate.label is Label.PATIENT and candidate.evidence < Evidence.INTRODUCED


def _words(document: Document, candidate: Candidate) -> list[str]:
    return [word for word in name_words(document.text[candidate.start : candidate.end]) if len(word) > 1]
