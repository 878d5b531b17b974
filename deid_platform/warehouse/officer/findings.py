"""Findings: leaks that a reader reported. One person hides them in every release at once, two withdraw a finding.

Belongs here: calling the functions of `migrations/code/d_findings.sql` and listing what they recorded. Does not belong
here: keeping the string for the next leak check (`refresh/staging/findings.py`, in the PHI zone).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from deid_platform.labels import Label
from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a string reaches that a reader marked in a note, in counts.

    Attributes:
        length: Characters of the string, whole words and no spaces around them.
        releases: In how many releases the string stands.
        matches: How many other notes hold it as words of its own.
        holders: These and the reported note, which counts once for each key that it is known by.
        notes: How many notes the releases hold in all.
        unasked: Up to how many notes are hidden unless somebody says that it may be more.
    """

    length: int
    releases: int
    matches: int
    holders: int
    notes: int
    unasked: int

    @property
    def share(self) -> float:
        """The share of all notes that hold the string, 0 to 1."""
        return self.holders / self.notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction(Reach):
    """What a report led to.

    Attributes:
        number: The finding's.
        hidden: How many notes are hidden for it: all that hold the string, or the reported one alone.
    """

    number: int
    hidden: int


@dataclass(frozen=True, slots=True)
class WholeNote:
    """What the report of a whole note led to: the finding's number, and how many keys of the note are hidden."""

    number: int
    hidden: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding as it was recorded, without its string, and who wants it withdrawn.

    `withdrawn_by` and `reasons` hold nothing, whoever proposed it, or both who withdrew it; `withdrawn` says whether it
    is: with a finding, those of the same place before it are withdrawn that hid the reported note alone.
    """

    number: int
    note_key: str
    label: str
    who: str
    at: datetime
    hidden: int
    withdrawn: bool
    withdrawn_by: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def state(self) -> str:
        """`in force`, `withdrawal proposed` or `withdrawn`."""
        if self.withdrawn:
            return "withdrawn"
        return "withdrawal proposed" if self.withdrawn_by else "in force"


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Whether a finding is withdrawn by now, or only proposed to be, and how many more notes analysts see."""

    withdrawn: bool
    shown: int


@dataclass(frozen=True, slots=True, repr=False)
class ReportedString:
    """What a finding is about: PHI, for the note store alone.

    `everywhere` says whether it is an identifier wherever it stands, or was too common for that.
    """

    finding: int
    feed: str
    label: str
    string: str
    everywhere: bool

    def __repr__(self) -> str:
        return f"<ReportedString {self.finding}>"


def preview(officer: Engine, keys: Sequence[str], start: int, end: int) -> Reach:
    """Counts what `retract` would hide, and writes nothing.

    Args:
        officer: The engine of the role `officer`.
        keys: The note's key under each secret that is in use.
        start: Where the identifier begins in the redacted text, in code points.
        end: Where it ends, exclusive.

    Raises:
        DeidError: `finding-invalid` with `no such note`, `span` or `more than 200 characters`.
    """
    statement = text("SELECT * FROM ctl.preview(:keys, :start, :end)")
    with begin(officer) as connection:
        row = connection.execute(statement, {"keys": list(keys), "start": start, "end": end}).one()
    return Reach(**row._mapping)


def retract(
    officer: Engine,
    keys: Sequence[str],
    start: int,
    end: int,
    *,
    label: Label,
    who: str,
    hide: int | None = None,
) -> Retraction:
    """Hides a note in all releases, and every other note in which the same string stands as words of its own.

    Until a new run that knows of it has measured them, no delivery passes the gate. The string is neither logged nor
    kept by the database.

    Args:
        officer: The engine of the role `officer`.
        keys: The note's key under each secret that is in use.
        start: Where the identifier begins in the redacted text, in code points.
        end: Where it ends, exclusive.
        label: What kind of identifier it is.
        who: Who reported it.
        hide: Up to how many notes may be hidden; with more that hold the string, the reported note alone is. By default
            `Reach.unasked`.

    Raises:
        DeidError: `finding-invalid` with `no such note`, `span` or `more than 200 characters`; `waiver-invalid` with
            `who`.
    """
    values = {"keys": list(keys), "start": start, "end": end, "label": label.value, "who": who, "hide": hide}
    statement = text("SELECT * FROM ctl.retract(:keys, :start, :end, :label, :who, :hide)")
    with begin(officer) as connection:
        row = dict(connection.execute(statement, values).one()._mapping)
    return Retraction(number=row.pop("finding"), **row)


def retract_note(officer: Engine, keys: Sequence[str], *, label: Label, who: str) -> WholeNote:
    """Hides a note in all releases, whatever it says, until two people withdraw the finding.

    Args:
        officer: The engine of the role `officer`.
        keys: The note's key under each secret that is in use.
        label: What kind of identifier it holds.
        who: Who reported it.

    Raises:
        DeidError: `finding-invalid` with `no such note`; `waiver-invalid` with `who`.
    """
    statement = text("SELECT * FROM ctl.retract_note(:keys, :label, :who)")
    with begin(officer) as connection:
        row = connection.execute(statement, {"keys": list(keys), "label": label.value, "who": who}).one()
    return WholeNote(row.finding, row.hidden)


def withdraw_finding(officer: Engine, promoter: Engine, number: int, *, who: str, reason: str) -> Withdrawal:
    """Says that a finding is none: the first person proposes it, the second withdraws it by another login.

    Then what it alone hid is shown again. What a run has quarantined for it meanwhile waits for the next run.

    Args:
        officer: The engine of the role `officer`, which proposes.
        promoter: The engine of the role `promoter`, which withdraws.
        number: The finding's.
        who: The person who answers for it.
        reason: At least ten characters.

    Raises:
        DeidError: `finding-unknown` if none of that number is in force; `second-person` if the same person proposed it;
            `waiver-invalid` without a person or a reason.
    """
    with begin(officer) as connection:
        proposed: bool | None = connection.execute(
            text("SELECT bool_or(w.actor = session_user) FROM ctl.finding_withdrawal w WHERE w.finding = :number"),
            {"number": number},
        ).scalar_one()
    statement = text("SELECT * FROM ctl.withdraw_finding(:number, :who, :person, :reason)")
    with begin(promoter if proposed else officer) as connection:
        said = {"number": number, "who": who, "person": person_of(who), "reason": reason}
        row = connection.execute(statement, said).one()
    return Withdrawal(row.withdrawn, row.shown)


def person_of(who: str) -> str:
    """A name without what spellings of it differ in: case, blanks, signs, accents, wide letters."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", who.casefold()).casefold()))


def findings(officer: Engine) -> tuple[Finding, ...]:
    """Every finding that was ever recorded, oldest first."""
    statement = text(
        "SELECT f.id AS number, f.note_key, f.label, f.who, f.at, f.hidden,"
        " EXISTS (SELECT 1 FROM ctl.withdrawn_finding w WHERE w.finding = f.id) AS withdrawn,"
        " ARRAY(SELECT w.who FROM ctl.finding_withdrawal w WHERE w.finding = f.id ORDER BY w.turn) AS withdrawn_by,"
        " ARRAY(SELECT w.reason FROM ctl.finding_withdrawal w WHERE w.finding = f.id ORDER BY w.turn) AS reasons"
        " FROM ctl.finding f ORDER BY f.id"
    )
    with begin(officer) as connection:
        rows = [dict(row._mapping) for row in connection.execute(statement)]
    return tuple(
        Finding(**{**row, "withdrawn_by": tuple(row["withdrawn_by"]), "reasons": tuple(row["reasons"])}) for row in rows
    )


def reported_since(gatekeeper: Engine, newest: int) -> tuple[ReportedString, ...]:
    """What was reported after a finding, oldest first, for whoever keeps the strings; the access log tells of it.

    Args:
        gatekeeper: The engine of the role `gatekeeper`: who reports a string does not read it with the same login.
        newest: The finding.

    Raises:
        DeidError: `warehouse-not-ready`, `warehouse-unreachable`, `warehouse-login`.
    """
    with begin(gatekeeper) as connection:
        rows = connection.execute(text("SELECT * FROM ctl.reported_since(:newest)"), {"newest": newest}).all()
    return tuple(ReportedString(row.finding, row.feed, row.label, row.string, row.everywhere) for row in rows)


def withdrawn_findings(officer: Engine) -> frozenset[int]:
    """The numbers of the findings that are withdrawn."""
    with begin(officer) as connection:
        return frozenset(connection.execute(text("SELECT finding FROM ctl.withdrawn_finding")).scalars())
