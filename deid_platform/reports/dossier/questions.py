"""The questions that the law asks about a de-identified set, with what this dossier answers.

Belongs here: questions and answers in plain words, and the set's description for catalogues. Does not belong here: the
conclusion, which a person draws.

The questions of the expert determination follow 45 CFR 164.514(b)(1) and the guidance of the Office for Civil Rights of
26 November 2012 (replicability, availability of other data, distinguishability, assessment of risk). Under a policy of
the GDPR they follow the European Health Data Space regulation (EU) 2025/327 (docs/law-ehds.md), the motivated-intruder
test of the British Information Commissioner (docs/law-motivated-intruder.md) and, in Italy, article 8 of law 132 of
2025 (docs/law-italy.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from deid_platform.reports.dossier.facts import Dossier
from deid_platform.reports.dossier.sections import section
from deid_platform.reports.dossier.verdict import between
from deid_platform.reports.release_notes import DATES

Answer = tuple[str, str]


def questions(dossier: Dossier) -> list[Answer]:
    """Question and answer, in the order in which the law asks."""
    return list(_of_gdpr(dossier) if dossier.policy.startswith("gdpr") else _of_hipaa(dossier))


def _of_hipaa(dossier: Dossier) -> Iterator[Answer]:
    yield "On which ground?", dossier.legal_basis
    yield "Who determines it?", _who(dossier)
    measured, reviewed = section("How well identifiers are found"), section("What reviewers say")
    yield (
        "By which methods, and where are the results?",
        (
            f"{_capital(measured)} to {reviewed}: counts against gold that a program planted or people annotated, with "
            "intervals; an independent search of every released text for what the topics name; attacks that were "
            f"simulated. {_capital(section('Versions'))} names what was run, by digests."
        ),
    )
    yield (
        "Do identifiers recur with the person (replicability)?",
        (
            f"Names, numbers and addresses are replaced label by label as {section('What was released')} says. Dates: "
            f"{DATES[dossier.dates]}."
        ),
    )
    attacked = section("An adversary's view")
    yield (
        "Who else holds the data that would identify (availability)?",
        (
            "The topics of the institution, and registers of names. The attacker of "
            f"{attacked} holds the topics of everybody."
        ),
    )
    yield "Does what is left tell one person from another (distinguishability)?", _linkage(dossier)
    yield "Is the risk very small for the recipient whom one expects?", _left(dossier)
    yield "What was not considered?", f"{_capital(section('What is not known'))}."


def _of_gdpr(dossier: Dossier) -> Iterator[Answer]:
    released, attacked = section("What was released"), section("An adversary's view")
    yield "On which ground?", dossier.legal_basis
    yield (
        "Is it anonymous, or pseudonymous?",
        (
            "Pseudonymous. Keys and surrogates follow from a secret that the institution holds, so the set stays "
            "personal data."
        ),
    )
    yield from _of_ehds(dossier)
    yield "Singling out: is a person's record told from all others?", _linkage(dossier)
    yield (
        "Linking: can records of one person be joined?",
        (
            "Within the set they can, by the patient's key, as research needs. With another set they can as far as "
            f"what {attacked} says is left."
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
    if dossier.policy.startswith("gdpr_it"):
        yield (
            "Italy, law 132 of 2025, article 8(2): is it free of elements that identify directly?",
            f"{_left(dossier)} What becomes of each label is in {released}.",
        )
        yield (
            "Article 8(5): was the processing communicated to the Garante thirty days before?",
            "The platform does not know. Whoever signs writes the date of the communication into the reason.",
        )
    yield "Who answers for it, and until when?", _who(dossier)


def _of_ehds(dossier: Dossier) -> Iterator[Answer]:
    """What the European Health Data Space asks, article by article."""
    yield (
        "Is it no more than the purpose needs (EHDS, article 66(1))?",
        (
            "Research holds keys, a date or year, the note's type and its redacted text, and no topics. A project "
            "reads only the sites and note types that it was granted."
        ),
    )
    yield (
        "Would anonymised data do (article 66(2))?",
        "Counts would be: the marts withhold those under 11. Why they are not enough is the applicant's to show.",
    )
    yield (
        "Who holds what reverses the pseudonyms (article 66(3))?",
        (
            f"Whoever keeps the key secret {dossier.versions.get('key', 'of this release')}; no table of pseudonyms is "
            "kept, and no reader has the secret."
        ),
    )
    yield (
        "What of those who opted out (article 71)?",
        (
            "Patients on the institution's list never enter, and are hidden in every release as soon as the list names "
            f"them. {_capital(section('What was held back'))} counts what was withdrawn."
        ),
    )
    yield (
        "Where is it read (article 73)?",
        "In the warehouse, by logins of projects whose reads are in the ledger. Extracts leave it, and the ledger "
        "names them.",
    )
    yield (
        "How is it described, and how good is it (articles 77 and 78)?",
        f"By the description below, and by {section('How well identifiers are found')} to {section('Fairness')}.",
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _indirect(dossier: Dossier) -> str:
    if not dossier.indirect or any(isinstance(it.found, str) for it in dossier.indirect):
        return "were not looked for in all of its notes"
    return f"were tagged by a language model, and what became of them is in {section('What was released')}"


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
        return f"Not measured: {section('What was missed')} says what is missed, word by word."
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
