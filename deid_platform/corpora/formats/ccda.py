"""C-CDA and other documents of HL7's Clinical Document Architecture, release 2: a file a document, a document a note.

Belongs here: which part of a document's head is which field. Does not belong here: its narrative
(`ccda_narrative.py`), columns and values (`corpora/rows.py`).

| role | from |
| --- | --- |
| notes | the document: sections with their titles, or an attached text |
| withdrawn | the document that this one replaces (relatedDocument RPLC) |
| patients | recordTarget, guardians as relatives |
| providers | author, legalAuthenticator, authenticator, the performer of documentationOf |
| facilities | custodian, the providers' and the patient's organizations, the place of the encounter |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.attachments import decoded_text
from deid_platform.corpora.formats.ccda_narrative import children, narrative
from deid_platform.corpora.formats.hl7_messages import day
from deid_platform.corpora.office import RefusedDocumentError
from deid_platform.corpora.office.opening import content_of, local
from deid_platform.corpora.tables import Row

Cells = dict[str, object]
_ENDS_EARLY = (3, 5, 20)  # of expat: no element found, unclosed token, unclosed CDATA section
_SSN = "2.16.840.1.113883.4.1"
_NPI = "2.16.840.1.113883.4.6"
_VISIT = ("componentOf", "encompassingEncounter")
_STAFF = (
    ("author", "assignedAuthor"),
    ("legalAuthenticator", "assignedEntity"),
    ("authenticator", "assignedEntity"),
    ("documentationOf", "serviceEvent", "performer", "assignedEntity"),
    (*_VISIT, "responsibleParty", "assignedEntity"),
)
_PLACES = (
    ("custodian", "assignedCustodian", "representedCustodianOrganization"),
    ("recordTarget", "patientRole", "providerOrganization"),
    ("author", "assignedAuthor", "representedOrganization"),
    ("legalAuthenticator", "assignedEntity", "representedOrganization"),
    (*_VISIT, "location", "healthCareFacility", "location"),
    (*_VISIT, "location", "healthCareFacility", "serviceProviderOrganization"),
)
_PHONE = re.compile(r"(?:tel|fax):", re.IGNORECASE)


@dataclass(frozen=True)
class Ccda(FileFormat):
    """The format `ccda`: a later file corrects what an earlier one said."""

    last_stands: ClassVar[bool] = True
    called: ClassVar[str] = "end in .xml, .cda or .ccda"
    place: ClassVar[str] = "document"

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Every document tells of patients, staff and places."""
        if not file_name.lower().endswith((".xml", ".cda", ".ccda")):
            return ()
        return Role.NOTES, Role.WITHDRAWN, Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The rows of one role; the place is 1, the document."""
        del spool
        document = _document(path)
        if isinstance(document, Reason):
            # Told once, with the notes.
            yield from [(1, document)] if role is Role.NOTES else []
        elif role is Role.NOTES:
            yield 1, _note(document, max_chars)
        else:
            made = {
                Role.WITHDRAWN: _replaced,
                Role.PATIENTS: _patients,
                Role.PROVIDERS: _providers,
                Role.FACILITIES: _facilities,
            }[role](document)
            yield from ((1, cells) for cells in {tuple(c.items()): c for c in made if any(c.values())}.values())


def _document(path: Path) -> Element | Reason:
    try:
        root: Element = fromstring(content_of(path), forbid_dtd=True)
    except RefusedDocumentError as refused:
        if refused.reason is Reason.LIMIT_EXCEEDED:
            return refused.reason
        raise BrokenFileError(refused.reason) from None
    except ParseError as error:
        return Reason.TRUNCATED_FILE if error.code in _ENDS_EARLY else Reason.MALFORMED_ROW
    except (DefusedXmlException, ValueError, LookupError):
        return Reason.MALFORMED_ROW
    return root if local(root.tag) == "ClinicalDocument" else Reason.MALFORMED_ROW


def _note(document: Element, max_chars: int) -> Cells:
    author = _first(document, "author", "assignedAuthor")
    title = _text(_first(document, "title"))
    return {
        "note_id": _id(_first(document, "id")),
        "patient_id": _id(_first(document, "recordTarget", "patientRole", "id")),
        "encounter_id": _id(_first(document, "componentOf", "encompassingEncounter", "id")),
        "provider_id": _id(_first(author, "id")),
        "note_type": _attribute(_first(document, "code"), "displayName") or title,
        "note_date": day(_attribute(_first(document, "effectiveTime"), "value") or ""),
        "language": _attribute(_first(document, "languageCode"), "code"),
        "text": _body(document, max_chars),
    }


def _body(document: Element, max_chars: int) -> str | Reason:
    structured = _first(document, "component", "structuredBody")
    attached = _first(document, "component", "nonXMLBody", "text")
    if structured is not None:
        try:
            return narrative(structured)
        except RecursionError:
            return Reason.MALFORMED_ROW
    if attached is None:
        return Reason.MISSING_TEXT
    if attached.get("representation", "TXT").upper() != "B64":
        return _text(attached) or Reason.BROKEN_ATTACHMENT
    return decoded_text("".join(attached.itertext()), attached.get("mediaType", ""), max_chars=max_chars)


def _replaced(document: Element) -> Iterator[Cells]:
    own = _id(_first(document, "id"))
    for related in children(document, "relatedDocument"):
        before = _id(_first(related, "parentDocument", "id"))
        if related.get("typeCode") == "RPLC" and before is not None and before != own:
            yield {"note_id": before}


def _patients(document: Element) -> Iterator[Cells]:
    for target in children(document, "recordTarget"):
        role = _first(target, "patientRole")
        patient = _first(role, "patient")
        ids = children(role, "id") if role is not None else []
        names = children(patient, "name") if patient is not None else []
        first, middle, last = _name(names[0] if names else None)
        kin = (_name(name) for g in (children(patient, "guardian") if patient is not None else ())
               for person in children(g, "guardianPerson") for name in children(person, "name"))  # fmt: skip
        sex = (_attribute(_first(patient, "administrativeGenderCode"), "code") or "").upper()
        birth = _attribute(_first(patient, "birthTime"), "value") or ""
        row = {
            "patient_id": _id(ids[0] if ids else None),
            "first_name": first,
            "middle_name": middle,
            "last_name": last,
            "birth_date": day(birth) or birth or None,
            "sex": sex if sex in ("F", "M") else None,
            "mrn": next((i.get("extension") for i in ids if i.get("extension") and i.get("root") != _SSN), None),
            "ssn": next((i.get("extension") for i in ids if i.get("root") == _SSN), None),
            **_reached(role, email=True),
            **_address(role),
            "relatives": "; ".join(dict.fromkeys(" ".join(filter(None, parts)) for parts in kin)) or None,
        }
        # A name of before, or of birth, may stand in the notes: a row of its own, which comes after.
        yield row
        for other in names[1:]:
            first, middle, last = _name(other)
            yield {**row, "first_name": first, "middle_name": middle, "last_name": last}


def _providers(document: Element) -> Iterator[Cells]:
    for path in _STAFF:
        for entity in _every(document, *path):
            name = _first(entity, "assignedPerson", "name")
            first, _, last = _name(name)
            ids = children(entity, "id")
            yield {
                "provider_id": _id(ids[0] if ids else None),
                "first_name": first,
                "last_name": last,
                "title": _text(_first(name, "prefix")) or _text(_first(name, "suffix")),
                "npi": next((i.get("extension") for i in ids if i.get("root") == _NPI), None),
                "phone": _reached(entity)["phone"],
            }


def _facilities(document: Element) -> Iterator[Cells]:
    for path in _PLACES:
        for place in _every(document, *path):
            name = _text(_first(place, "name"))
            if name:
                yield {"facility_id": name, "name": name, "phone": _reached(place)["phone"], **_address(place)}


def _every(element: Element, *path: str) -> list[Element]:
    found = [element]
    for name in path:
        found = [child for one in found for child in children(one, name)]
    return found


def _first(element: Element | None, *path: str) -> Element | None:
    return None if element is None else next(iter(_every(element, *path)), None)


def _id(element: Element | None) -> str | None:
    """An id: its extension, which the institution gave, else its root."""
    return _attribute(element, "extension") or _attribute(element, "root")


def _attribute(element: Element | None, name: str) -> str | None:
    return (element.get(name) or "").strip() or None if element is not None else None


def _text(element: Element | None) -> str | None:
    return " ".join("".join(element.itertext()).split()) or None if element is not None else None


def _name(name: Element | None) -> tuple[str | None, str | None, str | None]:
    """Given name, further given names, family names."""
    if name is None:
        return None, None, None
    given = [said for one in children(name, "given") if (said := _text(one))]
    family = [said for one in children(name, "family") if (said := _text(one))]
    if not given and not family:
        return None, None, _text(name)
    return given[0] if given else None, " ".join(given[1:]) or None, " ".join(family) or None


def _reached(element: Element | None, *, email: bool = False) -> Cells:
    said = [_attribute(one, "value") or "" for one in children(element, "telecom")] if element is not None else []
    phones = [_PHONE.sub("", value) for value in said if _PHONE.match(value) or ("@" not in value and value)]
    mails = [value.partition(":")[2] for value in said if value.lower().startswith("mailto:")]
    found: Cells = {"phone": next(iter(phones), None)}
    return found | {"email": next(iter(mails), None)} if email else found


def _address(element: Element | None) -> Cells:
    address = _first(element, "addr")
    lines = (
        [said for one in _every(address, "streetAddressLine") if (said := _text(one))] if address is not None else []
    )
    return {
        "street": ", ".join(lines) or None,
        "city": _text(_first(address, "city")),
        "state": _text(_first(address, "state")),
        "zip": _text(_first(address, "postalCode")),
    }


FEED = Ccda()
