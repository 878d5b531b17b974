"""What of a FHIR resource passes beside its text: a list, and nothing else.

Belongs here: elements that identify nobody, and naming those that are left out. Does not belong here: texts
(`fhir.py`), or whose notes they are (`corpora/formats/fhir.py`).

A resource identifies its patient in many places: ids, references and their `display`, dates, addresses of attachments,
their titles and hashes, narratives, extensions. So elements are let through by name, and their values by form: a status
of FHIR's own list, a code of a public terminology whose check digit is right, a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stdnum import luhn, verhoeff

Element = dict[str, Any]
MASKED: Element = {
    "extension": [
        {
            "url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason",
            "valueCode": "masked",
        }  # required, and out
    ]
}
STATUSES: Mapping[str, frozenset[str]] = {
    "DocumentReference": frozenset({"current", "superseded", "entered-in-error"}),
    "DiagnosticReport": frozenset(
        {
            *("registered", "partial", "preliminary", "final", "amended", "corrected", "appended", "cancelled"),
            *("entered-in-error", "unknown"),
        }
    ),
}
_DOC_STATUSES = frozenset({"preliminary", "final", "amended", "entered-in-error"})
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Z]{2})?")
_LOINC = re.compile(r"(?:LP|LA|LL|LG)?(\d{1,7}-\d)")


def _loinc(code: str) -> bool:
    match = _LOINC.fullmatch(code)
    return match is not None and bool(luhn.is_valid(match[1].replace("-", "")))


def _snomed(code: str) -> bool:
    return re.fullmatch(r"\d{6,18}", code) is not None and bool(verhoeff.is_valid(code))


_SYSTEMS: Mapping[str, Callable[[str], bool]] = {
    "http://loinc.org": _loinc,
    "http://snomed.info/sct": _snomed,
    "http://terminology.hl7.org/CodeSystem/v2-0074": lambda code: re.fullmatch(r"[A-Z]{2,3}", code) is not None,
    "http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category": lambda code: code == "clinical-note",
}
_CONCEPTS = {"DocumentReference": ("type", "category"), "DiagnosticReport": ("category", "code", "conclusionCode")}
# All names that FHIR R4 gives elements of these resources and their parts: what a message may name.
_NAMES = frozenset(
    {
        *("id", "meta", "implicitRules", "language", "text", "contained", "extension", "modifierExtension", "status"),
        *("masterIdentifier", "identifier", "docStatus", "type", "category", "subject", "date", "author", "context"),
        *("authenticator", "custodian", "relatesTo", "description", "securityLabel", "content", "attachment", "format"),
        *("basedOn", "code", "encounter", "effectiveDateTime", "effectivePeriod", "issued", "performer", "specimen"),
        *("resultsInterpreter", "result", "imagingStudy", "media", "conclusion", "conclusionCode", "presentedForm"),
        *("contentType", "data", "url", "size", "hash", "title", "creation", "coding", "system", "version", "display"),
        "userSelected",
    }
)


def safe_elements(resource: Mapping[str, object], kind: str) -> Element:
    """The elements of a resource that pass, in its order, without those that hold its text."""
    safe: Element = {"resourceType": kind}
    for name, value in resource.items():
        if name in _CONCEPTS[kind]:
            safe |= _concepts(name, value)
        elif _passes(name, value, kind):
            safe[name] = value
    if kind == "DiagnosticReport":
        safe.setdefault("code", MASKED)
    return safe


def _passes(name: str, value: object, kind: str) -> bool:
    if name == "status":
        return isinstance(value, str) and value in STATUSES[kind]
    if name == "docStatus":
        return kind == "DocumentReference" and isinstance(value, str) and value in _DOC_STATUSES
    return name == "language" and is_language(value)


def is_language(value: object) -> bool:
    """Whether it is a code such as `en` or `en-US`."""
    return isinstance(value, str) and _LANGUAGE.fullmatch(value) is not None


def _concepts(name: str, value: object) -> Element:
    if isinstance(value, list):
        several = [concept for one in value if (concept := _concept(one))]
        return {name: several} if several else {}
    return {name: concept} if (concept := _concept(value)) else {}


def _concept(value: object) -> Element:
    """A concept's codes of public terminologies, without `display` and `text`, which may be anything."""
    given = value.get("coding") if isinstance(value, dict) else None
    codings = [
        {"system": one["system"], "code": one["code"]}
        for one in (given if isinstance(given, list) else ())
        if isinstance(one, dict)
        and isinstance(code := one.get("code"), str)
        and isinstance(system := one.get("system"), str)
        and system in _SYSTEMS
        and _SYSTEMS[system](code)
    ]
    return {"coding": codings} if codings else {}


def left_out(given: object, kept: object, path: str) -> Iterator[str]:
    """The elements of a resource that are not in what is kept of it, by their paths.

    A name that is not FHIR's may be anything, and is counted only.
    """
    if isinstance(given, dict) and isinstance(kept, dict):
        names = [name for name in given if name not in kept]
        yield from (f"{path}.{name}" for name in names if name in _NAMES)
        if unknown := sum(name not in _NAMES for name in names):
            yield f"{path}: {unknown} of no name of FHIR's"
        for name in kept:
            yield from left_out(given.get(name), kept[name], f"{path}.{name}")
    elif isinstance(given, list) and isinstance(kept, list):
        if len(kept) < len(given):
            yield f"{path}: {len(given) - len(kept)} of {len(given)}"
        else:
            for place, (one, other) in enumerate(zip(given, kept, strict=False)):
                yield from left_out(one, other, f"{path}[{place}]")
