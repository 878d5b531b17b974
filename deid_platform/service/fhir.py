"""`$de-identify`: FHIR resources that hold notes, with their texts redacted and everything else by a list.

Belongs here: the texts of a resource and where they go back, drafts and errors, what is answered. Does not belong here:
which elements pass (`fhir_elements.py`), how a resource is read (`corpora/formats/fhir.py`).

All texts of a request are read together, so that what one tells of its patient is found in the others. A resource of
which one text is withheld is withheld whole: half a report would say something else.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.formats.fhir import cells_of, entries_of
from deid_platform.corpora.formats.fhir_fields import Resource
from deid_platform.corpora.reading import MAX_CHARS
from deid_platform.deidentify.release_note import text_note_id
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Patient
from deid_platform.service.fhir_elements import STATUSES, Element, is_language, left_out, safe_elements
from deid_platform.service.forms import json_of, record
from deid_platform.service.work import Answered

FHIR_JSON = "application/fhir+json"
_PLAIN = "text/plain;charset=utf-8"
_ERROR, _SUPERSEDED = "entered-in-error", "superseded"
_NO_NOTES = "no resource that holds notes"
_HOLDS = {"DocumentReference": "content", "DiagnosticReport": "presentedForm"}
_CHANGES_MEANING = ("modifierExtension", "implicitRules")


@dataclass(frozen=True, repr=False)
class Held:
    """A resource that was taken in.

    Attributes:
        given: As it was sent.
        kept: Its elements that pass, without its texts.
        notes: Its texts: first the conclusion, where it has one, then those of attachments.
        attachments: Which of its attachments can be read, from 0.
        superseded: Whether another has taken its place.
    """

    given: Resource
    kept: Element
    notes: tuple[Note, ...]
    attachments: tuple[int, ...]
    superseded: bool

    def __repr__(self) -> str:
        return "<Held>"

    def filled(self, texts: Sequence[str]) -> Element:
        """The resource with its redacted texts."""
        kind, rest = self.kept["resourceType"], list(texts)
        made = dict(self.kept)
        if len(rest) > len(self.attachments):
            made["conclusion"] = rest.pop(0)
        by_place = dict(zip(self.attachments, rest, strict=True))
        given = _attachments(self.given, kind)
        forms = [_attachment(given[place], text) for place, text in by_place.items()]
        if forms:
            wrapped = [{"attachment": form} for form in forms] if kind == "DocumentReference" else forms
            made[_HOLDS[kind]] = wrapped
        # In the order of the resource.
        order = {name: place for place, name in enumerate(self.given)}
        return dict(sorted(made.items(), key=lambda item: order.get(item[0], len(order))))


@dataclass(frozen=True, repr=False)
class Deidentification:
    """A request: a resource or a Bundle.

    Attributes:
        entries: Each as it was taken in, or why it is withheld.
        patients: Rows of the roster that it brings.
        bundle: Whether it is a Bundle.
    """

    entries: tuple[Held | DeidError, ...]
    patients: tuple[Patient, ...]
    bundle: bool

    def __repr__(self) -> str:
        return "<Deidentification>"

    @classmethod
    def of(cls, body: bytes) -> Deidentification:
        """What a body asks.

        Raises:
            DeidError: `request-invalid`; for a Patient that cannot be read too, since names would stay in.
        """
        said = json_of(body)
        if not isinstance(said, dict):
            raise DeidError(Code.REQUEST_INVALID, "no resource")
        bundle = said.get("resourceType") == "Bundle"
        resources = [resource for _, resource in entries_of(said)] if bundle else [said]
        replaced = {target for one in resources if not isinstance(one, Reason) for target in _replaced(one)}
        patients = [row for one in resources if not isinstance(one, Reason) for row in _patients(one)]
        entries = tuple(_entry(one, replaced) for one in resources)
        known = {row.patient_id for row in patients}
        for entry in entries:
            if isinstance(entry, Held) and (named := _by_display(entry)) and named.patient_id not in known:
                patients.append(named)
        return cls(entries, tuple(patients), bundle)

    @property
    def notes(self) -> tuple[Note, ...]:
        """All texts."""
        return tuple(note for entry in self.entries if isinstance(entry, Held) for note in entry.notes)

    def answer(self, outcomes: Answered) -> Element:
        """What is answered: `return`, `superseded` where there are any, and `outcome`, which says what was left out.

        Args:
            outcomes: What became of the texts, in order.

        Raises:
            DeidError: Why a single resource is withheld.
        """
        made = list(self._made(outcomes))
        issues = [issue for place, one in enumerate(made) for issue in self._issues(place, one)]
        if not self.bundle:
            (only,) = made
            if isinstance(only, DeidError):
                raise only
            return _parameters({"return": only}, issues)
        apart = [place for place, entry in enumerate(self.entries) if _is_apart(entry, made[place])]
        current = [
            _outcome([_issue("information", "informational", _SUPERSEDED, f"{_SUPERSEDED}[{apart.index(place)}]")])
            if place in apart
            else outcome_of(one)
            if isinstance(one, DeidError)
            else one
            for place, one in enumerate(made)
        ]
        parts = {"return": _bundle(current)}
        if apart:
            parts[_SUPERSEDED] = _bundle([one for place in apart if isinstance(one := made[place], dict)])
        return _parameters(parts, issues)

    def _made(self, outcomes: Answered) -> Iterator[Element | DeidError]:
        """What becomes of each entry."""
        rest = list(outcomes)
        for entry in self.entries:
            if isinstance(entry, DeidError):
                yield entry
                continue
            mine, rest = rest[: len(entry.notes)], rest[len(entry.notes) :]
            withheld = next((one.withheld for one in mine if one.withheld is not None), None)
            yield withheld or entry.filled([one.text for one in mine])

    def _issues(self, place: int, made: Element | DeidError) -> Iterator[Element]:
        """What is said of an entry: the elements that were left out, or why all of it is."""
        entry = self.entries[place]
        where = f"Bundle.entry[{place}].resource" if self.bundle else ""
        if isinstance(entry, DeidError) or isinstance(made, DeidError):
            error = made if isinstance(made, DeidError) else entry
            assert isinstance(error, DeidError)  # noqa: S101 - one of the two
            (issue,) = outcome_of(error)["issue"]
            yield {**issue, "diagnostics": f"{where}: {error.ref}"}
            return
        for path in left_out(entry.given, made, where or str(made["resourceType"])):
            yield _issue("information", "suppressed", "left out", path)


def _is_apart(entry: Held | DeidError, made: Element | DeidError) -> bool:
    return isinstance(entry, Held) and entry.superseded and isinstance(made, dict)


def _parameters(parts: Mapping[str, Element], issues: Sequence[Element]) -> Element:
    said = issues or [_issue("information", "informational", "nothing left out", None)]
    named = {**parts, "outcome": _outcome(said)}
    return {
        "resourceType": "Parameters",
        "parameter": [{"name": name, "resource": resource} for name, resource in named.items()],
    }


def _entry(resource: Resource | Reason, replaced: set[str]) -> Held | DeidError:
    kind = None if isinstance(resource, Reason) else resource.get("resourceType")
    if isinstance(resource, Reason) or not isinstance(kind, str) or kind not in _HOLDS:
        return DeidError(Code.RESOURCE_WITHHELD, _NO_NOTES)
    try:
        return _held(resource, kind, replaced)
    except DeidError as error:
        return error


def _held(resource: Resource, kind: str, replaced: set[str]) -> Held:
    status = resource.get("status")
    if _ERROR in (status, resource.get("docStatus")):
        # Perhaps the note of another patient, whom no roster names.
        raise DeidError(Code.RESOURCE_WITHHELD, _ERROR)
    if not isinstance(status, str) or status not in STATUSES[kind]:
        raise DeidError(Code.RESOURCE_WITHHELD, "no status of FHIR's")
    if _has(resource, _CHANGES_MEANING):
        raise DeidError(Code.RESOURCE_WITHHELD, "an element that changes the meaning of others")
    conclusion = resource.get("conclusion") if kind == "DiagnosticReport" else None
    rows = list(cells_of(_with_one_holder(resource, kind), Role.NOTES, max_chars=MAX_CHARS))
    readable = [place for place, row in enumerate(rows) if not isinstance(row["text"], Reason)]
    texts = [conclusion] if isinstance(conclusion, str) and conclusion.strip() else []
    texts += [str(rows[place]["text"]) for place in readable]
    if not texts:
        reason = rows[0]["text"]
        raise DeidError(Code.RESOURCE_WITHHELD, reason.value if isinstance(reason, Reason) else "no text")
    notes = tuple(_note(rows[0], text, resource) for text in texts)
    target = f"{kind}/{resource.get('id')}"
    superseded = status == _SUPERSEDED or target in replaced
    return Held(resource, safe_elements(resource, kind), notes, tuple(readable), superseded)


def _note(row: Mapping[str, object], text: str, resource: Resource) -> Note:
    cells = {**row, "text": text}
    cells["note_id"] = cells.get("note_id") or text_note_id(text)
    cells["patient_id"] = cells.get("patient_id") or _contained_id(resource)
    made = record({name: value for name, value in cells.items() if value is not None}, Role.NOTES)
    assert isinstance(made, Note)  # noqa: S101 - what the role makes
    return made


def _patients(resource: Resource) -> Iterator[Patient]:
    """The rows of a Patient, or of one that is contained."""
    contained = resource.get("contained")
    for one in contained if isinstance(contained, list) else ():
        if isinstance(one, dict):
            yield from (replace(row, patient_id=f"#{row.patient_id}") for row in _patients(one))
    if resource.get("resourceType") != "Patient":
        return
    for cells in cells_of(resource, Role.PATIENTS, max_chars=MAX_CHARS):
        try:
            row = record(cells, Role.PATIENTS, undated=True)
        except DeidError as error:
            raise DeidError(Code.REQUEST_INVALID, f"Patient: {error.ref}") from None
        assert isinstance(row, Patient)  # noqa: S101 - what the role makes
        yield row


def _by_display(held: Held) -> Patient | None:
    """What a resource itself says of its patient's name: better than no roster."""
    subject = held.given.get("subject")
    display = subject.get("display") if isinstance(subject, dict) else None
    patient_id = held.notes[0].patient_id
    if patient_id is None or not isinstance(display, str):
        return None
    named = {"resourceType": "Patient", "id": patient_id, "name": [{"text": display}]}
    return next(_patients(named), None)


def _contained_id(resource: Resource) -> str | None:
    subject = resource.get("subject")
    reference = subject.get("reference") if isinstance(subject, dict) else None
    return reference if isinstance(reference, str) and reference.startswith("#") else None


def _replaced(resource: Resource) -> Iterator[str]:
    """What a document says that it replaces."""
    related = resource.get("relatesTo")
    for one in related if isinstance(related, list) else ():
        target = one.get("target") if isinstance(one, dict) and one.get("code") == "replaces" else None
        reference = target.get("reference") if isinstance(target, dict) else None
        if isinstance(reference, str):
            yield "/".join(reference.split("/_history/")[0].split("/")[-2:])


def _with_one_holder(resource: Resource, kind: str) -> Resource:
    """The resource as its attachments are read: where its type has them, and nowhere else."""
    others = {"conclusion", *_HOLDS.values()} - {_HOLDS[kind]}
    return {name: value for name, value in resource.items() if name not in others}


def _attachments(resource: Resource, kind: str) -> list[Resource]:
    held = resource.get(_HOLDS[kind])
    items: list[Resource] = [one for one in held if isinstance(one, dict)] if isinstance(held, list) else []
    if kind == "DiagnosticReport":
        return items
    attachments: list[Resource] = []
    for one in items:
        attachment = one.get("attachment")
        attachments.append(attachment if isinstance(attachment, dict) else {})
    return attachments


def _attachment(given: Resource, text: str) -> Element:
    data = text.encode()
    made: Element = {"contentType": _PLAIN}
    if is_language(given.get("language")):
        made["language"] = given["language"]
    return {**made, "data": base64.b64encode(data).decode(), "size": len(data)}


def _has(value: object, names: Sequence[str]) -> bool:
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if any(name in one for name in names):
                return True
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)
    return False


def _bundle(resources: Sequence[Element]) -> Element:
    return {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": one} for one in resources]}


def outcome_of(error: DeidError) -> Element:
    """The answer to a resource that is withheld, or to a request that cannot be read."""
    severity, code = ("information", "suppressed") if error.ref == _NO_NOTES else ("error", "processing")
    return _outcome([_issue(severity, code, error.code.slug, error.ref)])


def _outcome(issues: Sequence[Element]) -> Element:
    return {"resourceType": "OperationOutcome", "issue": list(issues)}


def _issue(severity: str, code: str, said: str, more: str | None) -> Element:
    issue: Element = {"severity": severity, "code": code, "details": {"text": said}}
    return {**issue, "diagnostics": more} if more else issue
