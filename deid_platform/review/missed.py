"""Identifiers that a detector missed, as reviewers mark them in what a round shows; kept as rows that are only added.

Belongs here: what a mark is, keeping it, and which marks of the two readers are the same. Does not belong here: the
figures (`report.py`), or hiding anything: a released note is reported with `deid retract`.

Two marks are the same if they share a code point and have one label. A mark counts once for its note, in however many
excerpts of it the words are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.tokens import word_offsets, words_between
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import ANNOTATORS, Role
from deid_platform.review.decisions import (
    Decision,
    Severity,
    add_rows,
    alone,
    decision_rows,
    offered,
    rows_of,
    signed,
    standing,
)
from deid_platform.review.rounds import Removal, removals_of_round
from deid_platform.store import NoteStore


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody marks in the text that is shown with a removal.

    Attributes:
        removal: Its key.
        start: In code points of the text shown.
        end: Exclusive.
        label: None takes back what was marked there.
        severity: None where the label is.
    """

    removal: str
    start: int
    end: int
    label: Label | None
    severity: Severity | None

    @classmethod
    def parse(cls, removal: object, start: object, end: object, label: object, severity: object) -> Mark:
        """A mark from what a page or a file says.

        Raises:
            DeidError: `mark-invalid`.
        """
        if type(start) is not int or type(end) is not int or not 0 <= start < end:
            raise DeidError(Code.MARK_INVALID, "place")
        if label is None:
            return cls(str(removal), start, end, None, None)
        if label not in tuple(Label):
            raise DeidError(Code.MARK_INVALID, "label")
        if severity not in tuple(Severity):
            raise DeidError(Code.MARK_INVALID, "severity")
        return cls(str(removal), start, end, Label(str(label)), Severity(str(severity)))


@dataclass(frozen=True, slots=True)
class Missed:
    """An identifier that somebody marked: beside which removal, where in the note, how severe."""

    removal: str
    span: Span
    severity: Severity

    def same(self, other: Missed) -> bool:
        """Whether two marks of one note are of one identifier."""
        return self.span.label is other.span.label and self.span.overlaps(other.span)


@dataclass(frozen=True, slots=True)
class Compared:
    """The marks of a round. Notes are named by their ids, which are identifiers.

    Attributes:
        by_role: What each role marked, by note.
        read: The removals that each role decided or marked something beside.
        agreed: What both readers marked beside removals that both read, by note, as A has it.
        apart: What one of them alone marked there, by note.
    """

    by_role: Mapping[Role, Mapping[str, list[Missed]]]
    read: Mapping[Role, frozenset[str]]
    agreed: Mapping[str, list[Missed]]
    apart: Mapping[str, list[Missed]]

    @property
    def read_twice(self) -> frozenset[str]:
        """The removals that both readers read."""
        one, other = (self.read[role] for role in ANNOTATORS)
        return one & other

    def __repr__(self) -> str:
        return "<Compared>"


def mark(site: Site, number: int, role: Role, marks: Sequence[Mark]) -> None:
    """Keeps marks, all or none, and returns once the note store has them.

    A mark reaches over whole words, and takes the place of those of the same person that it overlaps.

    Raises:
        DeidError: `mark-invalid` if a removal is not of the round or not shown to this role, or if there is no word
            that was missed.
    """
    keep(site, number, role, {}, marks)


def keep(site: Site, number: int, role: Role, said: Mapping[str, Decision | None], marks: Sequence[Mark]) -> None:
    """Keeps decisions and marks of a file, all or none, wherever it is interrupted.

    Raises:
        DeidError: `decision-invalid`, `mark-invalid`.
    """
    with alone(site):
        decided = decision_rows(site, number, role, said) if said else ()
        add_rows(site.store, number, role, decided=decided, marked=_mark_rows(site, number, role, marks))


def _mark_rows(site: Site, number: int, role: Role, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    members = removals_of_round(site, number)
    allowed = set(shown(site, number, role))
    mine = marks_of(site.store, number, role)
    rows: list[dict[str, Any]] = []
    for it in marks:
        if it.removal not in allowed:
            raise DeidError(Code.MARK_INVALID, "removal")
        removal = members[it.removal]
        start, end = placed(removal, it)
        made = None
        if it.label is not None and it.severity is not None:
            made = Missed(it.removal, Span(start, end, it.label), it.severity)
            if any(_equal(made, former) for former in _of_note(mine, members, removal.note_id).values()):
                continue  # sent again: the answer was lost
        for key, former in _of_note(mine, members, removal.note_id).items():
            if former.span.start < end and start < former.span.end:
                rows.append(_row(key, former, taken_back=True))
                del mine[key]
        if made is not None:
            key = site.keyring.digest("missed", removal.note_id, str(start), str(end))
            rows.append(_row(key, made))
            mine[key] = made
    return rows


def placed(removal: Removal, it: Mark) -> tuple[int, int]:
    """Where in the note a mark begins and ends: whole words, of which something is shown.

    Raises:
        DeidError: `mark-invalid`.
    """
    words = word_offsets(removal.text)
    first, last = words_between(words, it.start, it.end)
    if it.end > len(removal.text) or first == last:
        raise DeidError(Code.MARK_INVALID, "place")
    start, end = removal.origin + int(words[first][0]), removal.origin + int(words[last - 1][1])
    missed = (
        at
        for low, high in words[first:last].tolist()
        for at in range(low + removal.origin, high + removal.origin)
        if not any(span.start <= at < span.end for span in removal.hidden)
    )
    if it.label is not None and next(missed, None) is None:
        raise DeidError(Code.MARK_INVALID, "hidden")
    return start, end


def marks_of(store: NoteStore, number: int, role: Role) -> dict[str, Missed]:
    """What a role has marked and not taken back, by its key."""
    found: dict[str, Missed] = {}
    for row in rows_of(store, tables.REVIEW_MISSED, number, role):
        if row["label"] is None:
            found.pop(row["missed"], None)
        else:
            span = Span(row["start"], row["end"], Label(row["label"]))
            found[row["missed"]] = Missed(row["removal"], span, Severity(row["severity"]))
    return found


def shown(site: Site, number: int, role: Role) -> list[str]:
    """The removals that a role is shown: what it decides; the adjudicator also where one reader alone marked."""
    keys = offered(site, number, role)
    if role is not Role.ADJUDICATOR:
        return keys
    apart = {it.removal for marks in compared(site, number).apart.values() for it in marks} | set(keys)
    return [key for key in removals_of_round(site, number) if key in apart]


def compared(site: Site, number: int) -> Compared:
    """What the readers of a round marked, and how far it is the same."""
    members = removals_of_round(site, number)
    decided = standing(site, number).by_role
    marks = {role: list(marks_of(site.store, number, role).values()) for role in Role}
    read = {role: frozenset(decided[role]) | {it.removal for it in marks[role]} for role in Role}
    by_role = {role: _by_note(found, members) for role, found in marks.items()}
    both = read[ANNOTATORS[0]] & read[ANNOTATORS[1]]
    one, other = (_by_note([it for it in marks[role] if it.removal in both], members) for role in ANNOTATORS)
    agreed, apart = {}, {}
    for note in sorted({*one, *other}):
        mine, yours = one.get(note, []), other.get(note, [])
        agreed[note] = [it for it in mine if any(map(it.same, yours))]
        apart[note] = [it for its, rest in ((mine, yours), (yours, mine)) for it in its if not any(map(it.same, rest))]
    return Compared(by_role, read, agreed, apart)


def _by_note(marks: Sequence[Missed], members: Mapping[str, Removal]) -> dict[str, list[Missed]]:
    found: dict[str, list[Missed]] = {}
    for it in marks:
        if it.removal in members:
            found.setdefault(members[it.removal].note_id, []).append(it)
    return found


def _of_note(marks: Mapping[str, Missed], members: Mapping[str, Removal], note_id: str) -> dict[str, Missed]:
    return {k: it for k, it in marks.items() if it.removal in members and members[it.removal].note_id == note_id}


def _equal(one: Missed, other: Missed) -> bool:
    return (one.span, one.severity) == (other.span, other.severity)


def _row(key: str, it: Missed, *, taken_back: bool = False) -> dict[str, Any]:
    said: dict[str, str | None] = {"label": None, "severity": None}
    if not taken_back:
        said = {"label": it.span.label.value, "severity": it.severity.value}
    return {"removal": it.removal, "missed": key, "start": it.span.start, "end": it.span.end, **said, **signed()}
