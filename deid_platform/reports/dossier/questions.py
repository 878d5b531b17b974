"""The questions that the law asks about a de-identified set, with what this dossier answers.

Belongs here: questions and answers in plain words, and the set's description for catalogues. Does not belong here: the
conclusion, which a person draws.

The questions of the expert determination follow 45 CFR 164.514(b)(1) and the guidance of the Office for Civil Rights of
26 November 2012 (replicability, availability of other data, distinguishability, assessment of risk). Under a policy of
the GDPR they follow article 66 of the European Health Data Space regulation (EU) 2025/327 (minimisation, purpose) and
the motivated-intruder test of the British Information Commissioner.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from deid_platform.reports.dossier.facts import Dossier
from deid_platform.reports.dossier.verdict import between
from deid_platform.reports.release_notes import DATES

Answer = tuple[str, str]


def questions(dossier: Dossier) -> list[Answer]:
    """Question and answer, in the order in which the law asks."""
    return list(_of_gdpr(dossier) if dossier.policy.startswith("gdpr") else _of_hipaa(dossier))


def _of_hipaa(dossier: Dossier) -> Iterator[Answer]:
    yield "On which ground?", dossier.legal_basis
    yield "Who determines it?", _who(dossier)
    yield (
        "By which methods, and where are the results?",
        (
            "Sections 4 to 8: counts against gold that a program planted or people annotated, with intervals; an "
            "independent search of every released text for what the topics name; attacks that were simulated. "
            "Section 11 names what was run, by digests."
        ),
    )
    yield (
        "Do identifiers recur with the person (replicability)?",
        (f"Names, numbers and addresses are replaced label by label as section 2 says. Dates: {DATES[dossier.dates]}."),
    )
    yield (
        "Who else holds the data that would identify (availability)?",
        (
            "The topics of the institution, and registers of names. Section 6 lets an attacker hold the topics of "
            "everybody."
        ),
    )
    yield "Does what is left tell one person from another (distinguishability)?", _linkage(dossier)
    yield "Is the risk very small for the recipient whom one expects?", _left(dossier)
    yield "What was not considered?", "Section 13."


def _of_gdpr(dossier: Dossier) -> Iterator[Answer]:
    yield "On which ground?", dossier.legal_basis
    yield (
        "Is it anonymous, or pseudonymous?",
        (
            "Pseudonymous. Keys and surrogates follow from a secret that the institution holds, so the set stays "
            "personal data."
        ),
    )
    yield (
        "Is it no more than the purpose needs (EHDS, article 66)?",
        (
            "Research holds keys, a date or year, the note's type and its redacted text, and no topics. A project "
            "reads only the sites and note types that it was granted."
        ),
    )
    yield "Singling out: is a person's record told from all others?", _linkage(dossier)
    yield (
        "Linking: can records of one person be joined?",
        (
            "Within the set they can, by the patient's key, as research needs. With another set they can as far as "
            "what section 6 says is left."
        ),
    )
    yield (
        "Inference: can attributes be told of a person?",
        (
            "Whoever links a note learns all that it says. Indirect identifiers (rare events, family, appearance) "
            f"{_indirect(dossier)}."
        ),
    )
    yield "Would a motivated intruder succeed, without special skill, with what is public?", _left(dossier)
    yield "Who answers for it, and until when?", _who(dossier)


def _indirect(dossier: Dossier) -> str:
    if not dossier.indirect or any(isinstance(it.found, str) for it in dossier.indirect):
        return "were not looked for in all of its notes"
    return "were tagged by a language model, and what became of them is in section 2"


def _who(dossier: Dossier) -> str:
    told = [f"{it.who} ({it.event}, {it.at:%Y-%m-%d})" for it in dossier.decisions if it.who]
    people = f" On the ledger: {'; '.join(told)}." if told else ""
    return (
        "Whoever signs this file with `deid dossier sign`; the ledger keeps the signature with its conclusion and the "
        f"day until which it holds.{people}"
    )


def _linkage(dossier: Dossier) -> str:
    first, chance, raw = (dossier.figure(name, family="linkage") for name in ("first", "chance", "first_raw"))
    measured = dossier.reading("first", family="linkage")
    if first is None or chance is None or measured is None:
        return "Not measured."
    said = f"On {measured.source}: the true patient ranks first for {between(first)}; by chance for {between(chance)}"
    return f"{said}, and with the true texts for {between(raw)}." if raw is not None else f"{said}."


def _left(dossier: Dossier) -> str:
    notes, patients = (dossier.figure(f"{it}_disclosed", family="disclosure") for it in ("notes", "patients"))
    measured = dossier.reading("notes_disclosed", family="disclosure")
    if notes is None or patients is None or measured is None:
        return "Not measured: section 5 says what is missed, word by word."
    here = "Recall on the notes of all feeds of this release was not measured. " if dossier.unmeasured else ""
    return (
        f"{here}On {measured.source}: a direct identifier is left in {between(notes)} of the notes and for "
        f"{between(patients)} of their patients."
        " Whether that is very small for this recipient is for the person who signs."
    )


def health_dcat(dossier: Dossier) -> str:
    """The release for a catalogue of health data: HealthDCAT-AP as JSON-LD."""
    described: dict[str, object] = {
        "@context": {
            "dcat": "http://www.w3.org/ns/dcat#",
            "dct": "http://purl.org/dc/terms/",
            "dpv": "https://w3id.org/dpv#",
            "healthdcatap": "http://healthdataportal.eu/ns/health#",
        },
        "@type": "dcat:Dataset",
        "dct:identifier": dossier.release,
        "dct:title": f"De-identified clinical notes, release {dossier.release}",
        "dct:description": dossier.policy_description,
        "dct:publisher": dossier.site,
        "dct:accessRights": "http://publications.europa.eu/resource/authority/access-right/NON_PUBLIC",
        "healthdcatap:healthCategory": "Electronic health records: free text",
        "dpv:hasPersonalData": "dpv:PseudonymisedData",
        "dpv:hasLegalBasis": dossier.legal_basis,
        "dct:modified": f"{dossier.as_of:%Y-%m-%d}",
    }
    if dossier.notes is not None and dossier.notes >= 11:
        described["healthdcatap:numberOfRecords"] = dossier.notes - dossier.notes % 10
    return json.dumps(described, indent=2, ensure_ascii=False)
