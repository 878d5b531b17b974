r"""HL7 version 2: documents (MDM) and reports (ORU^R01), with the people and places that come along.

Belongs here: which message holds rows of which role, and what of it is read. Does not belong here: splitting a file
into messages (`hl7_messages.py`), columns and values (`rows.py`).

| role | from |
| --- | --- |
| notes | MDM^T02, T04, T06, T08, T10 with TXA and OBX; ORU^R01, one for each OBR with OBX of text |
| withdrawn | MDM^T11 (cancelled); the document that a T10 replaces |
| patients | PID and NK1 of every message |
| providers | TXA-9, PV1-7, OBR-16, OBR-32 |
| facilities | MSH-4, PV1-3 |

Of several messages about one document the last in the file is the note. Rows of topics that repeat are one row; where
they differ, the last stands and the others are kept as former ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.formats.attachments import decoded_text
from deid_platform.corpora.formats.hl7_messages import Message, Segment, messages
from deid_platform.corpora.tables import Row

_NAMED = re.compile(r".+\.hl7(?:\.(gz|zst))?", re.IGNORECASE)
_DOCUMENTS = frozenset({"T02", "T04", "T06", "T08", "T10"})
_CANCELLED, _REPLACED = "T11", "T10"
_TEXTS = frozenset({"TX", "FT", "ST"})
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)")
_KINDS = {"TEXT": "text/plain", "HTML": "text/html"}
_OTHER = "application/octet-stream"

Cells = dict[str, object]


@dataclass(frozen=True)
class Hl7:
    """The format `hl7`."""

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Any message may tell of patients, staff and places."""
        if not _NAMED.fullmatch(file_name):
            return ()
        return Role.NOTES, Role.WITHDRAWN, Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The rows of one role; the place is the message's, from 1."""
        del spool
        if role is Role.NOTES:
            yield from _notes(path, max_chars)
        elif role is Role.WITHDRAWN:
            for place, message in _read(path, max_chars):
                if isinstance(message, Message):
                    yield from ((place, {"note_id": gone}) for gone in _gone(message))
        else:
            yield from _topic(path, role, max_chars)


def _read(path: Path, max_chars: int) -> Iterator[tuple[int, Message | Reason]]:
    match = _NAMED.fullmatch(path.name)
    if match is None or not path.is_file():
        raise BrokenFileError(Reason.UNREADABLE_FILE)
    return messages(path, (match[1] or "").lower() or None, limit=12 * max_chars + (1 << 20))


def _notes(path: Path, max_chars: int) -> Iterator[Row]:
    last: dict[str, int] = {}
    try:
        for place, message in _read(path, max_chars):
            if isinstance(message, Message):
                for gone in _gone(message):
                    last[gone] = place
                for cells in _of(message, max_chars):
                    if isinstance(cells, dict) and isinstance(cells["note_id"], str):
                        last[cells["note_id"]] = place
    except BrokenFileError:
        pass  # reading it again tells
    for place, message in _read(path, max_chars):
        if isinstance(message, Reason):
            yield place, message
            continue
        for cells in _of(message, max_chars):
            if isinstance(cells, Reason) or last.get(str(cells["note_id"]), place) == place:
                yield place, cells


def _gone(message: Message) -> Iterator[str]:
    """Ids of documents that a message cancels or replaces."""
    txa = message.first("TXA")
    if message.event == _CANCELLED and (found := txa.part(12)):
        yield found
    elif message.event == _REPLACED and (parent := txa.part(13)) and parent != txa.part(12):
        yield parent


def _of(message: Message, max_chars: int) -> Iterator[Cells | Reason]:
    """The notes of a message."""
    if message.kind == "MDM" and message.event in _DOCUMENTS:
        txa = message.first("TXA")
        if not txa.there:
            yield Reason.MALFORMED_ROW
            return
        yield {
            **_shared(message),
            "note_id": txa.part(12),
            "note_type": txa.part(2, 2) or txa.part(2),
            "note_date": _day(txa.field(4) or txa.field(6)),
            "provider_id": txa.part(9) or _shared(message)["provider_id"],
            "text": _text(message.all("OBX"), max_chars),
        }
    elif message.kind == "ORU":
        for number, (obr, observations) in enumerate(message.groups("OBR", "OBX"), start=1):
            control = message.first("MSH").field(10)
            own = obr.part(3) or obr.part(2)
            yield {
                **_shared(message),
                "note_id": own or (f"{control}/{number}" if control and number > 1 else control),
                "note_type": obr.part(4, 2) or obr.part(4),
                "note_date": _day(obr.field(7)),
                "provider_id": obr.part(32) or obr.part(16) or _shared(message)["provider_id"],
                "text": _text(observations, max_chars),
            }


def _shared(message: Message) -> Cells:
    visit = message.first("PV1")
    return {
        "patient_id": message.first("PID").part(3),
        "encounter_id": visit.part(19),
        "provider_id": visit.part(7),
    }


def _text(observations: list[Segment], max_chars: int) -> str | Reason:
    """The lines of text of a document, or why there are none."""
    lines: list[str] = []
    read = False
    for obx in observations:
        kind = obx.field(2)
        if kind in _TEXTS:
            read = True
            lines += obx.repeated(5)
        elif kind == "ED":
            read = True
            attached = decoded_text(
                obx.part(5, 5) or "", _KINDS.get((obx.part(5, 3) or "TEXT").upper(), _OTHER), max_chars=max_chars
            )
            if isinstance(attached, Reason):
                return attached
            lines.append(attached)
    if observations and not read:
        return Reason.UNSUPPORTED_CONTENT
    return "\n".join(lines)


def _topic(path: Path, role: Role, max_chars: int) -> Iterator[Row]:
    """Each distinct row of an id once, its newest first."""
    found: dict[str, dict[tuple[tuple[str, object], ...], int]] = {}
    without: list[Row] = []
    broken: BrokenFileError | None = None
    try:
        for place, message in _read(path, max_chars):
            if isinstance(message, Message):
                for cells in _ROWS[role](message):
                    key = cells[f"{_NAMES[role]}_id"]
                    if isinstance(key, str):
                        rows = found.setdefault(key, {})
                        rows.pop(tuple(cells.items()), None)
                        rows[tuple(cells.items())] = place
                    else:
                        without.append((place, cells))
    except BrokenFileError as error:
        broken = error
    yield from without
    for rows in found.values():
        yield from ((place, dict(cells)) for cells, place in reversed(rows.items()))
    if broken is not None:
        raise broken


def _patients(message: Message) -> Iterator[Cells]:
    pid = message.first("PID")
    if not pid.there:
        return
    numbers = {kind: number for number, kind in ((pid.part(3, 1, n), pid.part(3, 5, n)) for n in range(pid.count(3)))}
    kin = (nk1.part(2, 2) and f"{nk1.part(2, 2)} {nk1.part(2) or ''}".strip() for nk1 in message.all("NK1"))
    mails = (pid.part(13, 4, n) for n in range(pid.count(13)))
    yield {
        "patient_id": pid.part(3),
        "first_name": pid.part(5, 2),
        "middle_name": pid.part(5, 3),
        "last_name": pid.part(5),
        "birth_date": _day(pid.field(7)) or pid.field(7) or None,
        "sex": pid.field(8) if pid.field(8) in ("F", "M") else None,
        "mrn": numbers.get("MR"),
        "ssn": numbers.get("SS") or pid.field(19) or None,
        "phone": pid.part(13) or pid.part(13, 12),
        "email": next(filter(None, mails), None),
        "street": ", ".join(filter(None, (pid.part(11), pid.part(11, 2)))) or None,
        "city": pid.part(11, 3),
        "state": pid.part(11, 4),
        "zip": pid.part(11, 5),
        "relatives": "; ".join(filter(None, kin)) or None,
    }


def _providers(message: Message) -> Iterator[Cells]:
    named = [(message.first("TXA"), 9), (message.first("PV1"), 7)]
    named += [(obr, field) for obr in message.all("OBR") for field in (16, 32)]
    for segment, field in named:
        for n in range(segment.count(field)):
            if segment.part(field, 1, n):
                yield {
                    "provider_id": segment.part(field, 1, n),
                    "first_name": segment.part(field, 3, n),
                    "last_name": segment.part(field, 2, n),
                    "title": segment.part(field, 7, n) or segment.part(field, 6, n),
                }


def _facilities(message: Message) -> Iterator[Cells]:
    for name in (message.first("MSH").part(4), message.first("PV1").part(3, 4)):
        if name:
            yield {"facility_id": name, "name": name}


_ROWS = {Role.PATIENTS: _patients, Role.PROVIDERS: _providers, Role.FACILITIES: _facilities}
_NAMES = {Role.PATIENTS: "patient", Role.PROVIDERS: "provider", Role.FACILITIES: "facility"}


def _day(moment: str) -> str | None:
    """The day of a moment where it was written; nothing where only a month or a year is known."""
    match = _DAY.match(moment)
    return "-".join(match.groups()) if match else None


FEED = Hl7()
