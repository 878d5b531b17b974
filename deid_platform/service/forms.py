"""What a client sends and what it is answered, as the OpenAPI page shows it; from JSON to notes and back.

Belongs here: the forms, and refusing what does not fit them. Does not belong here: what a value of a note or of a
patient's row may be, which is the rule of all readers (`corpora/rows.py`).

Messages of pydantic quote what was sent: of them the place and the kind of fault pass, and no name that is not ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.reading import MAX_CHARS
from deid_platform.corpora.rows import Record, record_of, shapes
from deid_platform.corpora.tables import unrepeated
from deid_platform.deidentify.release_note import text_note_id
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Patient, Span
from deid_platform.service.work import Outcome

SpanForm = Annotated[
    tuple[int, int, str],
    Field(description="Start, end (code points from 0, end exclusive) and label, as `deid redact` writes them."),
]
Form = TypeVar("Form", bound=BaseModel)
_SHAPES = shapes()
_MOST_FAULTS = 3


class _Strict(BaseModel):
    """A form without further fields; its `repr` shows no value."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


class PatientForm(_Strict):
    """A patient's row of the roster: what must not be left in the patient's notes."""

    patient_id: str | None = Field(None, description="By default the note's.")
    first_name: str | None = None
    middle_name: str | None = None
    last_name: str | None = None
    birth_date: str | None = Field(None, description="YYYY-MM-DD")
    sex: str | None = None
    mrn: str | None = None
    ssn: str | None = None
    phone: str | None = None
    email: str | None = None
    street: str | None = None
    city: str | None = None
    state: str | None = None
    zip: str | None = None
    relatives: str | None = Field(None, description="Names, separated by `;`")
    mother_id: str | None = None


class NoteForm(_Strict):
    """One note."""

    text: str
    note_id: str | None = Field(None, description="By default a digest of the text.")
    patient_id: str | None = Field(None, description="Whose dates are shifted alike; by default nobody's.")
    encounter_id: str | None = None
    provider_id: str | None = None
    note_type: str | None = None
    note_date: str | None = Field(None, description="YYYY-MM-DD")
    language: str | None = Field(None, description="en, es, fr, it; by default en")
    patient: PatientForm | None = None


class LineForm(NoteForm):
    """One line of a stream."""


class NotesForm(_Strict):
    """Notes that are read together: what one tells of its patient is searched in the patient's others."""

    notes: list[NoteForm] = Field(min_length=1)
    policy: str | None = Field(None, description="One of the service's policies; by default its first.")


class WithheldForm(BaseModel):
    """Why a note has no text: a code of docs/errors.md, and what it says of it."""

    code: str
    ref: str | None = None


class NoteAnswer(BaseModel):
    """What became of one note: either its text and spans, or why it is withheld."""

    note_id: str | None = None
    text: str | None = None
    spans: list[SpanForm] | None = None
    withheld: WithheldForm | None = None


class LineAnswer(NoteAnswer):
    """The answer to one line of a stream, in the order of the lines."""

    line: int = Field(description="The number of the note in the stream, from 1; empty lines do not count.")


class NotesAnswer(BaseModel):
    """The answers to notes, in their order."""

    policy: str
    notes: list[NoteAnswer]


class ErrorForm(BaseModel):
    """Why a request was not answered; never a value of it."""

    code: str
    ref: str | None = None
    meaning: str
    remedy: str


def read(form: type[Form], body: bytes) -> Form:
    """What a body says.

    Raises:
        DeidError: `request-invalid` with the place and the kind of the first faults.
    """
    said = json_of(body)
    try:
        return form.model_validate(said)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
    raise DeidError(Code.REQUEST_INVALID, "; ".join(map(_fault, faults[:_MOST_FAULTS])))


def json_of(body: bytes) -> object:
    """A JSON value.

    Raises:
        DeidError: `request-invalid`, also for a name that stands twice: one of the two would be lost.
    """
    try:
        said: object = json.loads(body.decode("utf-8-sig"), object_pairs_hook=unrepeated)
    except (ValueError, RecursionError):
        raise DeidError(Code.REQUEST_INVALID, "not JSON in UTF-8, or a name stands twice") from None
    return said


def _fault(error: Mapping[str, object]) -> str:
    place, kind = error["loc"], str(error["type"])
    parts = place if isinstance(place, tuple) else ()
    # A name that is not ours was written by the client, and may be anything.
    named = [str(part) if isinstance(part, int) or part in _NAMES else "?" for part in parts]
    return f"{'.'.join(named) or 'body'}: {_KINDS.get(kind, 'another kind of value is expected')}"


_NAMES = frozenset(name for form in (NotesForm, NoteForm, PatientForm) for name in form.model_fields)
_KINDS = {"missing": "is missing", "extra_forbidden": "is not known", "too_short": "is empty"}


def note_of(form: NoteForm) -> tuple[Note, Patient | None]:
    """A note and the row of its patient, if it brings one.

    Raises:
        DeidError: `note-invalid` with the reason, as every reader has it.
    """
    cells = form.model_dump(exclude={"patient"}, exclude_none=True)
    cells.setdefault("note_id", text_note_id(form.text))
    row = None if form.patient is None else form.patient.model_dump(exclude_none=True)
    if row is not None:
        # Without any id the row is that of this note alone.
        cells.setdefault("patient_id", row.get("patient_id", cells["note_id"]))
        row.setdefault("patient_id", cells["patient_id"])
    patient = None if row is None else record(row, Role.PATIENTS)
    note = record(cells, Role.NOTES)
    assert isinstance(note, Note)  # noqa: S101 - what the role makes
    assert patient is None or isinstance(patient, Patient)  # noqa: S101
    if patient is not None and patient.patient_id != note.patient_id:
        raise DeidError(Code.NOTE_INVALID, "the row is another patient's")
    return note, patient


def record(cells: Mapping[str, object], role: Role, *, undated: bool = False) -> Record:
    """A note, or a patient's row, from its cells.

    Args:
        cells: By the names of fields.
        role: What it is.
        undated: Whether a patient's row stands without a birth date that is none, as a year alone.

    Raises:
        DeidError: `note-invalid` with the reason: a date that is none refuses too, since whoever sent it can mend it.
    """
    latest = datetime.now(UTC).date() + timedelta(days=1)
    made, reason = record_of(cells, _SHAPES[role], max_chars=MAX_CHARS, latest=latest)
    if made is None or (reason is not None and not undated):
        raise DeidError(Code.NOTE_INVALID, (reason or Reason.MALFORMED_ROW).value)
    return made


def answer_of(note_id: str | None, outcome: Outcome, *, text: bool) -> NoteAnswer:
    """What a client is told of a note.

    Args:
        note_id: As the client named it.
        outcome: What became of it.
        text: Whether the redacted text is wanted, with its spans; else those of the original.
    """
    if outcome.withheld is not None:
        return withheld(note_id, outcome.withheld)
    shown = outcome.spans if text else outcome.found
    return NoteAnswer(note_id=note_id, text=outcome.text if text else None, spans=_spans(shown))


def withheld(note_id: str | None, error: DeidError) -> NoteAnswer:
    """The answer for a note without one."""
    return NoteAnswer(note_id=note_id, withheld=WithheldForm(code=error.code.slug, ref=error.ref))


def error_of(error: DeidError) -> ErrorForm:
    """The answer to a request without one."""
    code = error.code
    return ErrorForm(code=code.slug, ref=error.ref, meaning=code.meaning, remedy=code.remedy)


def _spans(spans: Sequence[Span]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label.value) for span in spans]
