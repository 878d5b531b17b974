"""Fields of FHIR resources: objects, lists, references, names, addresses.

Belongs here: reading one field, whatever type stands there. Does not belong here: which resource holds rows of which
role (`fhir.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Resource = Mapping[str, object]

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REFERENCE = re.compile(r"(?:.*/)?[A-Z][A-Za-z]+/([A-Za-z0-9.\-]{1,64})(?:/_history/.*)?\Z")


def object_in(resource: object, name: str) -> Resource:
    """An object; an empty one where something else stands."""
    found = resource.get(name) if isinstance(resource, dict) else None
    return found if isinstance(found, dict) else {}


def objects_in(resource: object, name: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    found = resource.get(name) if isinstance(resource, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def first_in(resource: object, name: str) -> Resource:
    """The first object of a list; an empty one where there is none."""
    return next(iter(objects_in(resource, name)), {})


def strings_in(resource: object, name: str) -> list[str]:
    """The strings of a list."""
    found = resource.get(name) if isinstance(resource, dict) else None
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def referred_id(reference: Resource) -> str | None:
    """The id that a reference names, absolute or not; of a `urn:` all of it."""
    target = reference.get("reference")
    if not isinstance(target, str):
        return None
    match = _REFERENCE.match(target)
    return match[1] if match else target if target.startswith("urn:") else None


def author_in(resource: Resource) -> str | None:
    """The first practitioner among those who wrote or interpreted it."""
    for name in ("author", "resultsInterpreter", "performer"):
        for reference in objects_in(resource, name):
            if "Practitioner/" in str(reference.get("reference", "")):
                return referred_id(reference)
    return None


def concept_text(concept: Resource) -> object:
    """What a CodeableConcept is called."""
    return concept.get("text") or first_in(concept, "coding").get("display")


def day_of(moment: object) -> object:
    """The day of a moment where it was written; nothing where only a month or a year is known."""
    return moment[:10] if isinstance(moment, str) and _DAY.match(moment) else None


def name_in(resource: Resource) -> dict[str, str | None]:
    """A HumanName, the official one of several, by the names of columns."""
    names: list[Resource] = [*objects_in(resource, "name"), object_in(resource, "name")]
    chosen = next((name for name in names if name.get("use") == "official"), names[0])
    given, family = strings_in(chosen, "given"), chosen.get("family")
    if not given and not isinstance(family, str):
        family, given = _parts(chosen.get("text"))
    return {
        "first_name": given[0] if given else None,
        "middle_name": " ".join(given[1:]) or None,
        "last_name": family if isinstance(family, str) else None,
    }


def _parts(whole: object) -> tuple[str | None, list[str]]:
    """The surname and the given names of a name in one piece: "Reed, Alan" or "Alan Reed"."""
    words = whole.split() if isinstance(whole, str) else []
    if not words:
        return None, []
    surname, comma, given = " ".join(words).partition(",")
    return (surname, given.split()) if comma else (words[-1], words[:-1])


def identifier_in(resource: Resource, code: str, system: str = "\0") -> object:
    """The value of the first Identifier of a type, or of a system that ends so."""
    for identifier in objects_in(resource, "identifier"):
        codes = {coding.get("code") for coding in objects_in(object_in(identifier, "type"), "coding")}
        if code in codes or str(identifier.get("system", "")).endswith(system):
            return identifier.get("value")
    return None


def telecom_in(resource: Resource, system: str) -> object:
    """The value of the first ContactPoint of a system."""
    return next(
        (point.get("value") for point in objects_in(resource, "telecom") if point.get("system") == system), None
    )


def address_in(resource: Resource) -> dict[str, object]:
    """The first Address, by the names of columns."""
    found = first_in(resource, "address") or object_in(resource, "address")
    return {
        "street": ", ".join(strings_in(found, "line")) or None,
        "city": found.get("city"),
        "state": found.get("state"),
        "zip": found.get("postalCode"),
    }
