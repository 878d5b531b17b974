"""FHIR R4: bulk exports as NDJSON and Bundles as JSON.

Belongs here: which resource holds rows of which role, and what of it is read. Does not belong here: how a field is
read (`fhir_fields.py`), content of attachments (`attachments.py`), columns and values (`corpora/rows.py`).

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
from typing import ClassVar

from deid_platform.corpora import Format, Reason, Role
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.attachments import attached_text
from deid_platform.corpora.formats.binaries import Binaries
from deid_platform.corpora.formats.fhir_fields import (
    Resource,
    address_in,
    author_in,
    concept_text,
    day_of,
    first_in,
    identifier_in,
    name_in,
    object_in,
    objects_in,
    referred_id,
    strings_in,
    telecom_in,
)
from deid_platform.corpora.tables import Row, table_rows, unrepeated

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
_REPORT = "DiagnosticReport"
_BUNDLE = "Bundle"
_LARGEST_BUNDLE = 256 << 20  # bytes; a bulk export has no limit
_ERROR = "entered-in-error"
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
            {**item, "attachment": binaries.filled(object_in(item, "attachment"))}
            for item in objects_in(resource, "content")
        ],
        "presentedForm": [binaries.filled(item) for item in objects_in(resource, "presentedForm")],
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
        resource, url = object_in(entry, "resource"), entry.get("fullUrl") if isinstance(entry, dict) else None
        if isinstance(url, str) and isinstance(resource.get("id"), str):
            names[url] = f"{resource.get('resourceType')}/{resource['id']}"
    for place, entry in enumerate(entries, start=1):
        resource = object_in(entry, "resource")
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
    """A note for each attachment, and for what a report says beside them."""
    if _is_error(resource):
        return
    shared = {
        "patient_id": referred_id(object_in(resource, "subject")),
        "encounter_id": referred_id(
            first_in(object_in(resource, "context"), "encounter") or object_in(resource, "encounter")
        ),
        "provider_id": author_in(resource),
        "note_type": next(filter(None, map(concept_text, _kinds(resource))), None),
        "note_date": day_of(resource.get("date") or resource.get("effectiveDateTime") or resource.get("issued")),
        "language": resource.get("language"),
    }
    for note_id, held in _texts(resource):
        text = attached_text(held, max_chars=max_chars) if isinstance(held, dict) else held
        yield {"note_id": note_id, **shared, "text": text}


def _texts(resource: Resource) -> Iterator[tuple[object, object]]:
    """The id of each note of a resource with its attachment or its text; an empty attachment where it has neither.

    The first attachment has the resource's id, the next ones `<id>/2` and so on. A conclusion has `<id>/conclusion`,
    whether or not there are attachments: one that is added later must not take the id of another text.
    """
    note_id = resource.get("id")
    conclusion = resource.get("conclusion") if resource.get("resourceType") == _REPORT else None
    has_conclusion = conclusion is not None and (not isinstance(conclusion, str) or bool(conclusion.strip()))
    attachments: list[Resource] = [object_in(content, "attachment") for content in objects_in(resource, "content")]
    attachments += () if attachments else objects_in(resource, "presentedForm")
    if not (attachments or has_conclusion):
        attachments.append({})
    for number, attachment in enumerate(attachments, start=1):
        yield _part(note_id, str(number)) if number > 1 else note_id, attachment
    if has_conclusion:
        # An object is no text, and must not be taken for an attachment.
        yield _part(note_id, "conclusion"), [conclusion] if isinstance(conclusion, dict) else conclusion


def _part(note_id: object, name: str) -> object:
    return f"{note_id}/{name}" if isinstance(note_id, str) else note_id


def _is_error(resource: Resource) -> bool:
    return _ERROR in (resource.get("status"), resource.get("docStatus"))


def _kinds(resource: Resource) -> Iterator[Resource]:
    """What may say which kind of note a resource is, the nearest first."""
    yield from (object_in(resource, name) for name in ("type", "code"))
    yield from objects_in(resource, "category")


def _withdrawn(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    if _is_error(resource):
        for note_id, _text in _texts(resource):
            yield {"note_id": note_id}


def _patients(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    sex = resource.get("gender")
    contacts = (name_in(contact) for contact in objects_in(resource, "contact"))
    whole = (" ".join(filter(None, (c["first_name"], c["middle_name"], c["last_name"]))) for c in contacts)
    yield {
        "patient_id": resource.get("id"),
        **name_in(resource),
        "birth_date": resource.get("birthDate"),
        "sex": sex[:1].upper() if isinstance(sex, str) and sex in ("female", "male") else None,
        "mrn": identifier_in(resource, "MR"),
        "ssn": identifier_in(resource, "SS", _SSN),
        "email": telecom_in(resource, "email"),
        "phone": telecom_in(resource, "phone"),
        **address_in(resource),
        "relatives": "; ".join(filter(None, whole)) or None,
    }


def _providers(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    name = name_in(resource)
    titles = strings_in(first_in(resource, "name"), "suffix") or strings_in(first_in(resource, "name"), "prefix")
    yield {
        "provider_id": resource.get("id"),
        "first_name": name["first_name"],
        "last_name": name["last_name"],
        "title": titles[0] if titles else None,
        "npi": identifier_in(resource, "NPI", _NPI),
        "phone": telecom_in(resource, "phone"),
    }


def _facilities(resource: Resource, _: int) -> Iterator[dict[str, object]]:
    alias = strings_in(resource, "alias")
    yield {
        "facility_id": resource.get("id"),
        "name": resource.get("name"),
        "abbreviation": alias[0] if alias else None,
        **address_in(resource),
        "phone": telecom_in(resource, "phone"),
    }


_READ = {
    Role.NOTES: _notes,
    Role.WITHDRAWN: _withdrawn,
    Role.PATIENTS: _patients,
    Role.PROVIDERS: _providers,
    Role.FACILITIES: _facilities,
}


FEED = Fhir()
