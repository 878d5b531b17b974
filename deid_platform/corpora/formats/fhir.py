"""FHIR R4: bulk exports as NDJSON and Bundles as JSON.

Belongs here: which resource holds rows of which role, and what of it is read. Does not belong here: content of
attachments (`attachments.py`), columns and values (`rows.py`).

A file's name begins with the type of its resources, as exports are named: `DocumentReference.ndjson`,
`Patient.000.ndjson.gz`; a `Bundle*.json` may hold any. Only what is used is looked at: a full validation, as
fhir.resources does it, would refuse notes for faults in fields that nobody reads, and its messages quote values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from deid_platform.corpora import Format, Reason, Role
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.attachments import attached_text
from deid_platform.corpora.formats.binaries import Binaries
from deid_platform.corpora.tables import Row, table_rows, unrepeated

Resource = Mapping[str, object]

_NAMED = re.compile(r"(?P<type>[A-Za-z]+)[^/]*?\.(?P<ending>ndjson|json)(?:\.(?P<compression>gz|zst))?")
_NOTES = (Role.NOTES, Role.WITHDRAWN)
_ROLES: Mapping[str, tuple[Role, ...]] = {
    "DocumentReference": _NOTES,
    "DiagnosticReport": _NOTES,
    "Patient": (Role.PATIENTS,),
    "Practitioner": (Role.PROVIDERS,),
    "Organization": (Role.FACILITIES,),
    "Location": (Role.FACILITIES,),
    # No rows of its own, but what its notes say: a delivery is another one when this file changes.
    "Binary": (Role.NOTES,),
}
_BINARY = "Binary"
_BUNDLE = "Bundle"
_LARGEST_BUNDLE = 256 << 20  # bytes; a bulk export has no limit
_ERROR = "entered-in-error"
_REFERENCE = re.compile(r"(?:.*/)?[A-Z][A-Za-z]+/([A-Za-z0-9.\-]{1,64})(?:/_history/.*)?\Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REFERRING = frozenset({"subject", "encounter", "context", "author", "performer", "resultsInterpreter"})
_NPI, _SSN = "us-npi", "us-ssn"


@dataclass(frozen=True)
class Fhir(FileFormat):
    """The format `fhir`."""

    called: ClassVar[str] = "begin with a type of resource, as Patient, and end in .ndjson, or with Bundle and in .json"
    place: ClassVar[str] = "line of an .ndjson, or entry of a Bundle"

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """The roles of the resources that the name begins with."""
        match = _NAMED.fullmatch(file_name)
        if match is None or (match["type"] == _BUNDLE) != (match["ending"] == "json"):
            return ()
        if match["type"] == _BUNDLE:
            return (*_NOTES, Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES)
        return _ROLES.get(match["type"], ())

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The rows of one role; the place is the line, or the entry of a Bundle, from 1."""
        first, bundle = self.roles(path.name)[0], path.name.startswith(_BUNDLE)
        with Binaries(_binaries(path, max_chars), spool) as binaries:
            for place, resource in _resources(path, max_chars):
                kind = None if isinstance(resource, Reason) else resource.get("resourceType")
                roles = _ROLES.get(kind, ()) if isinstance(kind, str) else ()
                if isinstance(resource, Reason):
                    # Which role a resource is of that cannot be read nobody can say: it counts as a note.
                    if role is first:
                        yield place, resource
                elif not isinstance(kind, str) or not (bundle or first in roles):
                    # Of a type that this file does not hold: passing over it would lose it.
                    if role is first:
                        yield place, Reason.MALFORMED_ROW
                elif role in roles and kind != _BINARY:
                    if role is Role.NOTES:
                        resource = _filled(resource, binaries)
                    for cells in cells_of(resource, role, max_chars=max_chars):
                        yield place, cells


def _binaries(path: Path, max_chars: int) -> Iterator[Iterator[tuple[int, Resource | Reason]]]:
    """What may hold the content of a file's attachments: a Bundle itself, and the Binary files beside it."""
    if path.name.startswith(_BUNDLE):
        yield _resources(path, max_chars)
    for other in sorted(path.parent.iterdir()):
        match = _NAMED.fullmatch(other.name)
        if match is not None and match["type"] == _BINARY and match["ending"] == "ndjson":
            yield _resources(other, max_chars)


def _filled(resource: Resource, binaries: Binaries) -> Resource:
    """A resource whose attachments have the content that they name."""
    return {
        **resource,
        "content": [
            {**item, "attachment": binaries.filled(_object(item, "attachment"))} for item in _items(resource, "content")
        ],
        "presentedForm": [binaries.filled(item) for item in _items(resource, "presentedForm")],
    }


def _resources(path: Path, max_chars: int) -> Iterator[tuple[int, Resource | Reason]]:
    match = _NAMED.fullmatch(path.name)
    if match is None or not path.is_file():
        raise BrokenFileError(Reason.UNREADABLE_FILE)
    if match["ending"] == "ndjson":
        yield from table_rows(path, Format.JSONL, match["compression"], max_chars=max_chars)
        return
    content = bytearray()
    for part in chunks(path, match["compression"]):
        content += part
        if len(content) > _LARGEST_BUNDLE:
            raise BrokenFileError(Reason.TEXT_TOO_LONG)
    try:
        bundle = json.loads(content.decode("utf-8-sig"), object_pairs_hook=unrepeated)
    except UnicodeDecodeError:
        raise BrokenFileError(Reason.INVALID_UTF8) from None
    except (ValueError, RecursionError):
        raise BrokenFileError(Reason.UNREADABLE_FILE) from None
    yield from entries_of(bundle)


def entries_of(bundle: object) -> Iterator[tuple[int, Resource | Reason]]:
    """The resources of a Bundle with their places, from 1; references by `fullUrl` name the type and the id."""
    entries = bundle.get("entry") if isinstance(bundle, dict) else None
    if not isinstance(entries, list):
        entries = []
    names = {}
    for entry in entries:
        resource, url = _object(entry, "resource"), entry.get("fullUrl") if isinstance(entry, dict) else None
        if isinstance(url, str) and isinstance(resource.get("id"), str):
            names[url] = f"{resource.get('resourceType')}/{resource['id']}"
    for place, entry in enumerate(entries, start=1):
        resource = _object(entry, "resource")
        yield place, _resolved(resource, names) if resource else Reason.MALFORMED_ROW


def _resolved(resource: Resource, names: Mapping[str, str]) -> Resource:
    """A resource whose references by an entry's `fullUrl` (`urn:uuid:...`) name that entry's type and id."""

    def named(value: object, depth: int) -> object:
        if isinstance(value, list):
            return [named(item, depth) for item in value]
        if not isinstance(value, dict) or not depth:
            return value
        target = value.get("reference")
        if isinstance(target, str):
            return {**value, "reference": names.get(target, target)}
        return {key: named(item, depth - 1) for key, item in value.items()}

    return {key: named(value, 2) if key in _REFERRING else value for key, value in resource.items()}


def cells_of(resource: Resource, role: Role, *, max_chars: int) -> Iterator[dict[str, object]]:
    """The rows of one role that a resource holds, by the names of fields; what cannot be read is a `Reason`."""
    return _READ[role](resource, max_chars)


def _notes(resource: Resource, max_chars: int) -> Iterator[dict[str, object]]:
    """A note for each attachment; the first has the resource's id, the next ones `<id>/2` and so on."""
    if resource.get("status") == _ERROR:
        return
    shared = {
        "patient_id": _referred(_object(resource, "subject")),
        "encounter_id": _referred(_first(_object(resource, "context"), "encounter") or _object(resource, "encounter")),
        "provider_id": _author(resource),
        "note_type": next(filter(None, map(_text_of, _kinds(resource))), None),
        "note_date": _day(resource.get("date") or resource.get("effectiveDateTime") or resource.get("issued")),
        "language": resource.get("language"),
    }
    for note_id, attachment in _attached(resource):
        yield {"note_id": note_id, **shared, "text": attached_text(attachment, max_chars=max_chars)}


def _attached(resource: Resource) -> Iterator[tuple[object, Resource]]:
    """The id of each note of a resource with its attachment; an empty one where it has none."""
    found: list[Resource] = [_object(content, "attachment") for content in _items(resource, "content")]
    note_id = resource.get("id")
    for number, attachment in enumerate(found or _items(resource, "presentedForm") or [{}], start=1):
        yield f"{note_id}/{number}" if isinstance(note_id, str) and number > 1 else note_id, attachment


def _kinds(resource: Resource) -> Iterator[Resource]:
    """What may say which kind of note a resource is, the nearest first."""
    yield from (_object(resource, name) for name in ("type", "code"))
    yield from _items(resource, "category")


def _withdrawn(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    if resource.get("status") == _ERROR:
        for note_id, _attachment in _attached(resource):
            yield {"note_id": note_id}


def _patients(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    sex = resource.get("gender")
    contacts = (_name(contact) for contact in _items(resource, "contact"))
    whole = (" ".join(filter(None, (c["first_name"], c["middle_name"], c["last_name"]))) for c in contacts)
    yield {
        "patient_id": resource.get("id"),
        **_name(resource),
        "birth_date": resource.get("birthDate"),
        "sex": sex[:1].upper() if isinstance(sex, str) and sex in ("female", "male") else None,
        "mrn": _identifier(resource, "MR"),
        "ssn": _identifier(resource, "SS", _SSN),
        "email": _telecom(resource, "email"),
        "phone": _telecom(resource, "phone"),
        **_address(resource),
        "relatives": "; ".join(filter(None, whole)) or None,
    }


def _providers(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    name = _name(resource)
    titles = _strings(_first(resource, "name"), "suffix") or _strings(_first(resource, "name"), "prefix")
    yield {
        "provider_id": resource.get("id"),
        "first_name": name["first_name"],
        "last_name": name["last_name"],
        "title": titles[0] if titles else None,
        "npi": _identifier(resource, "NPI", _NPI),
        "phone": _telecom(resource, "phone"),
    }


def _facilities(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    alias = _strings(resource, "alias")
    yield {
        "facility_id": resource.get("id"),
        "name": resource.get("name"),
        "abbreviation": alias[0] if alias else None,
        **_address(resource),
        "phone": _telecom(resource, "phone"),
    }


_READ = {
    Role.NOTES: _notes,
    Role.WITHDRAWN: _withdrawn,
    Role.PATIENTS: _patients,
    Role.PROVIDERS: _providers,
    Role.FACILITIES: _facilities,
}


def _object(resource: object, name: str) -> Resource:
    found = resource.get(name) if isinstance(resource, dict) else None
    return found if isinstance(found, dict) else {}


def _items(resource: object, name: str) -> list[dict[str, Any]]:
    found = resource.get(name) if isinstance(resource, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _first(resource: object, name: str) -> Resource:
    return next(iter(_items(resource, name)), {})


def _strings(resource: object, name: str) -> list[str]:
    found = resource.get(name) if isinstance(resource, dict) else None
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _referred(reference: Resource) -> str | None:
    """The id that a reference names, absolute or not; of a `urn:` all of it."""
    target = reference.get("reference")
    if not isinstance(target, str):
        return None
    match = _REFERENCE.match(target)
    return match[1] if match else target if target.startswith("urn:") else None


def _author(resource: Resource) -> str | None:
    """The first practitioner among those who wrote or interpreted it."""
    for name in ("author", "resultsInterpreter", "performer"):
        for reference in _items(resource, name):
            if "Practitioner/" in str(reference.get("reference", "")):
                return _referred(reference)
    return None


def _text_of(concept: Resource) -> object:
    return concept.get("text") or _first(concept, "coding").get("display")


def _day(moment: object) -> object:
    """The day of a moment where it was written; nothing where only a month or a year is known."""
    return moment[:10] if isinstance(moment, str) and _DAY.match(moment) else None


def _name(resource: Resource) -> dict[str, str | None]:
    names: list[Resource] = [*_items(resource, "name"), _object(resource, "name")]
    chosen = next((name for name in names if name.get("use") == "official"), names[0])
    given, family = _strings(chosen, "given"), chosen.get("family")
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


def _identifier(resource: Resource, code: str, system: str = "\0") -> object:
    for identifier in _items(resource, "identifier"):
        codes = {coding.get("code") for coding in _items(_object(identifier, "type"), "coding")}
        if code in codes or str(identifier.get("system", "")).endswith(system):
            return identifier.get("value")
    return None


def _telecom(resource: Resource, system: str) -> object:
    return next((it.get("value") for it in _items(resource, "telecom") if it.get("system") == system), None)


def _address(resource: Resource) -> dict[str, object]:
    found = _first(resource, "address") or _object(resource, "address")
    return {
        "street": ", ".join(_strings(found, "line")) or None,
        "city": found.get("city"),
        "state": found.get("state"),
        "zip": found.get("postalCode"),
    }


FEED = Fhir()
