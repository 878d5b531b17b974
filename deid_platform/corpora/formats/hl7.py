r"""HL7 version 2: documents (MDM) and reports (ORU^R01) as notes and withdrawals.

Belongs here: which message holds rows of which role, and what of it is read. Does not belong here: splitting a file
into messages (`hl7_messages.py`), the people and places of one (`hl7_topics.py`), columns and values
(`corpora/rows.py`).

| role | from |
| --- | --- |
| notes | MDM^T02, T04, T06, T08, T10 with TXA and OBX; ORU^R01, one for each OBR with OBX of text |
| withdrawn | MDM^T11 (cancelled); the document that a T10 replaces |
| patients | PID and NK1 of every message |
| providers | TXA-9, PV1-7, OBR-16, OBR-32 |
| facilities | MSH-4, PV1-3 |

Of several messages about one document the last is the note, files in the order of their names. Rows of topics that
repeat are one row; where they differ, the last stands and the others are kept as former ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.attachments import decoded_text
from deid_platform.corpora.formats.hl7_messages import Message, Segment, day, messages
from deid_platform.corpora.formats.hl7_topics import Cells, topic_rows
from deid_platform.corpora.tables import Row

_NAMED = re.compile(r".+\.hl7(?:\.(gz|zst))?", re.IGNORECASE)
_DOCUMENTS = frozenset({"T02", "T04", "T06", "T08", "T10"})
_CANCELLED, _REPLACED = "T11", "T10"
_TEXTS = frozenset({"TX", "FT", "ST"})
_OTHERS = frozenset({"T01", "T03", "T05", "T07", "T09", _CANCELLED})  # a status without content
_KINDS = {"TEXT": "text/plain", "PLAIN": "text/plain", "TXT": "text/plain", "HTML": "text/html"}


@dataclass(frozen=True)
class Hl7(FileFormat):
    """The format `hl7`: a later message corrects what an earlier one said."""

    last_stands: ClassVar[bool] = True
    called: ClassVar[str] = "end in .hl7"
    place: ClassVar[str] = "message"

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
            yield from _withdrawn(path, max_chars)
        else:
            yield from topic_rows(_read(path, max_chars), role)


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
                for cells in (*_gone(message), *_of(message, None)):
                    if isinstance(cells, dict) and isinstance(cells["note_id"], str):
                        last[cells["note_id"]] = place
    except BrokenFileError:
        pass  # reading it again tells
    for place, message in _read(path, max_chars):
        if isinstance(message, Reason):
            yield place, message
            continue
        for cells in _of(message, max_chars):
            known = None if isinstance(cells, Reason) else cells["note_id"]
            if not isinstance(known, str) or last.get(known, place) == place:
                yield place, cells


def _withdrawn(path: Path, max_chars: int) -> Iterator[Row]:
    told: set[object] = set()
    for place, message in _read(path, max_chars):
        for cells in _gone(message) if isinstance(message, Message) else ():
            if isinstance(cells, Reason) or cells["note_id"] is None:
                yield place, cells
            elif cells["note_id"] not in told:
                told.add(cells["note_id"])
                yield place, cells


def _gone(message: Message) -> Iterator[Cells | Reason]:
    """The documents that a message cancels or replaces; a cancellation that does not say of what is refused."""
    if message.kind != "MDM" or message.event not in (_CANCELLED, _REPLACED):
        return
    txa = message.first("TXA")
    if not txa.sound or (message.event == _CANCELLED and not txa.there):
        yield message.fault or Reason.MALFORMED_ROW
    elif message.event == _CANCELLED:
        yield {"note_id": txa.part(12)}
    elif (parent := txa.part(13)) and parent != txa.part(12):
        yield {"note_id": parent}


def _of(message: Message, max_chars: int | None) -> Iterator[Cells | Reason]:
    """The notes of a message; without their texts if no limit is given."""
    kind, event = message.kind, message.event
    if kind == "MDM" and event in _DOCUMENTS:
        txa = message.first("TXA")
        if not txa.there or not txa.sound:
            yield message.fault or Reason.MALFORMED_ROW
            return
        yield {
            **_shared(message),
            "note_id": txa.part(12),
            "note_type": txa.part(2, 2) or txa.part(2),
            "note_date": day(txa.field(4)) or day(txa.field(6)),
            "provider_id": txa.part(9) or _shared(message)["provider_id"],
            "text": message.fault or _text(message.all("OBX"), max_chars),
        }
    elif kind == "ORU" and (orders := message.groups("OBR", "OBX")):
        for number, (obr, observations) in enumerate(orders, start=1):
            control = message.first("MSH").field(10)
            own = obr.part(3) or obr.part(2)
            yield (
                Reason.INVALID_UTF8
                if not obr.sound
                else {
                    **_shared(message),
                    "note_id": own or (f"{control}/{number}" if control and number > 1 else control),
                    "note_type": obr.part(4, 2) or obr.part(4),
                    "note_date": day(obr.field(7)),
                    "provider_id": obr.part(32) or obr.part(16) or _shared(message)["provider_id"],
                    "text": message.fault or _text(observations, max_chars),
                }
            )
    elif message.fault:
        yield message.fault
    elif kind in ("", "ORU") or (kind == "MDM" and event not in _OTHERS):
        yield Reason.MALFORMED_ROW


def _shared(message: Message) -> Cells:
    visit = message.first("PV1")
    return {
        "patient_id": message.first("PID").part(3),
        "encounter_id": visit.part(19),
        "provider_id": visit.part(7),
    }


def _text(observations: list[Segment], max_chars: int | None) -> str | Reason:
    """The lines of text of a document, or why there are none."""
    if max_chars is None:
        return ""
    lines: list[str] = []
    read = False
    for obx in observations:
        kind = obx.field(2)
        if kind in _TEXTS:
            read = True
            lines += obx.repeated(5)
        elif kind == "ED":
            read = True
            attached = _attached(obx, max_chars)
            if isinstance(attached, Reason):
                return attached
            lines.append(attached)
    if observations and not read:
        return Reason.UNSUPPORTED_CONTENT
    return "\n".join(lines)


def _attached(obx: Segment, max_chars: int) -> str | Reason:
    """The text of encapsulated data: type, subtype, encoding and data are the components 2 to 5."""
    data = obx.part(5, 5)
    kind = _KINDS.get((obx.part(5, 3) or obx.part(5, 2) or "TEXT").upper())
    if data is None:
        return Reason.BROKEN_ATTACHMENT
    if kind is None or (obx.part(5, 4) or "Base64").upper() != "BASE64":
        return Reason.UNSUPPORTED_CONTENT
    return decoded_text(data, f"{kind}; charset={obx.by.charset}", max_chars=max_chars)


FEED = Hl7()
