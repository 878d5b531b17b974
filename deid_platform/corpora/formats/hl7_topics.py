"""Patients, providers and facilities of messages of HL7 version 2.

Belongs here: the people and places that a message names, and one row for those that repeat. Does not belong here: notes
(`hl7.py`), splitting a message (`hl7_messages.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.formats.hl7_messages import Message, Segment, day
from deid_platform.corpora.tables import Row

Cells = dict[str, object]


def topic_rows(found: Iterable[tuple[int, Message | Reason]], role: Role) -> Iterator[Row]:
    """Each distinct row of an id once, its newest first.

    Args:
        found: Messages and their places.
        role: Of a topic.

    Raises:
        BrokenFileError: After the rows before.
    """
    rows_of, name, sources = _ROLES[role]
    known: dict[str, dict[tuple[tuple[str, object], ...], int]] = {}
    nameless: dict[tuple[tuple[str, object], ...], int] = {}
    refused: list[Row] = []
    broken: BrokenFileError | None = None
    try:
        for place, message in found:
            if isinstance(message, Reason):
                continue  # told with the notes
            if any(not segment.sound and segment.fields[0] in sources for segment in message.segments):
                refused.append((place, Reason.INVALID_UTF8))
            for cells in rows_of(Message(tuple(s for s in message.segments if s.sound), message.by)):
                row, key = tuple(cells.items()), cells[name]
                if isinstance(key, str):
                    rows = known.setdefault(key, {})
                    rows.pop(row, None)
                    rows[row] = place
                else:
                    nameless.setdefault(row, place)
    except BrokenFileError as error:
        broken = error
    yield from refused
    yield from ((place, dict(row)) for row, place in nameless.items())
    for rows in known.values():
        yield from ((place, dict(row)) for row, place in reversed(rows.items()))
    if broken is not None:
        raise broken


def _patients(message: Message) -> Iterator[Cells]:
    pid = message.first("PID")
    if not pid.there:
        return
    numbers = {kind: number for number, kind in ((pid.part(3, 1, n), pid.part(3, 5, n)) for n in range(pid.count(3)))}
    kin = (
        " ".join(filter(None, (nk1.part(2, 2, n), nk1.part(2, 1, n))))
        for nk1 in message.all("NK1")
        for n in range(nk1.count(2))
    )
    sex = pid.field(8).upper()
    yield {
        "patient_id": pid.part(3),
        "first_name": pid.part(5, 2),
        "middle_name": pid.part(5, 3),
        "last_name": pid.part(5),
        "birth_date": day(pid.field(7)) or pid.field(7) or None,
        "sex": sex if sex in ("F", "M") else None,
        "mrn": numbers.get("MR"),
        "ssn": numbers.get("SS") or pid.field(19) or None,
        "phone": next(filter(None, (_phone(pid, n) for n in range(pid.count(13)))), None),
        "email": next(filter(None, (_mail(pid, n) for n in range(pid.count(13)))), None),
        "street": ", ".join(filter(None, (pid.part(11), pid.part(11, 2)))) or None,
        "city": pid.part(11, 3),
        "state": pid.part(11, 4),
        "zip": pid.part(11, 5),
        "relatives": "; ".join(dict.fromkeys(filter(None, kin))) or None,
    }


def _phone(pid: Segment, n: int) -> str | None:
    """As one text, or as area code and number."""
    whole = pid.part(13, 1, n) or pid.part(13, 12, n)
    if whole and "@" not in whole:
        return whole
    return "-".join(filter(None, (pid.part(13, 6, n), pid.part(13, 7, n)))) or None


def _mail(pid: Segment, n: int) -> str | None:
    whole = pid.part(13, 1, n)
    return pid.part(13, 4, n) or (whole if whole and "@" in whole else None)


def _providers(message: Message) -> Iterator[Cells]:
    named = [(message.first("TXA"), 9), (message.first("PV1"), 7)]
    named += [(obr, field) for obr in message.all("OBR") for field in (16, 32)]
    for segment, field in named:
        for n in range(segment.count(field)):
            cells = _person(segment, field, n)
            if any(cells.values()):
                yield cells


def _person(segment: Segment, field: int, n: int) -> Cells:
    """A person of a field: number, family name, first name, as components or, in OBR-32, as sub-components of one."""
    nested = segment.nested(field, n)

    def part(at: int) -> str | None:
        return segment.part(field, 1, n, sub=at) if nested else segment.part(field, at, n)

    return {"provider_id": part(1), "first_name": part(3), "last_name": part(2), "title": part(7) or part(6)}


def _facilities(message: Message) -> Iterator[Cells]:
    for name in (message.first("MSH").part(4), message.first("PV1").part(3, 4)):
        if name:
            yield {"facility_id": name, "name": name}


# How rows are made, their id, and the segments that they come from.
_ROLES = {
    Role.PATIENTS: (_patients, "patient_id", ("PID", "NK1")),
    Role.PROVIDERS: (_providers, "provider_id", ("TXA", "PV1", "OBR")),
    Role.FACILITIES: (_facilities, "facility_id", ("MSH", "PV1")),
}
