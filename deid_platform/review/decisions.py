"""What reviewers say of removals: five categories, a severity, three roles; kept as rows that are only added.

Belongs here: what a decision is, keeping it, and what is settled. Does not belong here: the shares (`report.py`).
"""

from __future__ import annotations

import getpass
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pyarrow as pa

from deid_platform.errors import Code, DeidError
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.lock import file_lock
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging.marks import name_marked_notes
from deid_platform.review.annotation.rounds import ANNOTATORS, Role
from deid_platform.review.rounds import removals_of_round
from deid_platform.store import NoteStore
from deid_platform.warehouse.officer.reviews import enter_decisions, enter_missed
from deid_platform.warehouse.server.roles import Role as Database

_LOCK = "review.lock"
_FILE, _WITH = "file", "counts_with_file"
"""In the manifest of decisions, the newest file that brought marks too; in that of marks, the file of the last ones."""
# The file's lock is one a process, which may take it again: it does not keep two tabs of one desk apart.
_IN_THIS_PROCESS = threading.Lock()


class Category(StrEnum):
    """What a removal takes away (Aghakasiri 2025, table 14)."""

    RELEVANT = "clinically_relevant"
    IRRELEVANT = "clinically_irrelevant"
    PROVIDER = "provider_or_clinic"
    INSENSITIVE = "insensitive_identifier"
    MISSED_BY_GOLD = "missed_by_gold"


class Severity(StrEnum):
    """Whether the loss could change diagnosis or management (appendix F)."""

    HIGH = "high"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Decision:
    """What one person says of one removal."""

    category: Category
    severity: Severity | None = None

    @classmethod
    def parse(cls, category: object, severity: object) -> Decision:
        """A decision from what a page or a file says.

        Raises:
            DeidError: `decision-invalid`.
        """
        if category not in tuple(Category):
            raise DeidError(Code.DECISION_INVALID, "category")
        relevant = category == Category.RELEVANT
        if severity not in (tuple(Severity) if relevant else (None, "")):
            raise DeidError(Code.DECISION_INVALID, "severity")
        return cls(Category(str(category)), Severity(str(severity)) if relevant else None)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the removals of a round stand, by their keys.

    Attributes:
        by_role: What each role says.
        waiting: Lack a reader.
        disputed: Both readers decided, differently.
        settled: Both agree, or the adjudicator decided.
    """

    by_role: Mapping[Role, Mapping[str, Decision]]
    waiting: tuple[str, ...]
    disputed: tuple[str, ...]
    settled: Mapping[str, Decision]

    @property
    def undecided(self) -> tuple[str, ...]:
        """Those that the adjudicator has still to decide."""
        return tuple(key for key in self.disputed if key not in self.settled)


def decide(site: Site, number: int, role: Role, said: Mapping[str, Decision | None]) -> None:
    """Keeps decisions, all or none, and returns once the note store has them; None takes the former one back.

    Raises:
        DeidError: `decision-invalid` if a removal is not of the round or not this role's to decide.
    """
    with alone(site):
        add_rows(site.store, number, role, decided=decision_rows(site, number, role, said))


def decision_rows(site: Site, number: int, role: Role, said: Mapping[str, Decision | None]) -> list[dict[str, Any]]:
    """Decisions as rows that may be added, under the lock of `alone`.

    Raises:
        DeidError: As `decide`.
    """
    if not said.keys() <= set(offered(site, number, role)):
        raise DeidError(Code.DECISION_INVALID, "removal")
    rows = []
    for key, decision in said.items():
        category = decision.category.value if decision else None
        severity = decision.severity.value if decision and decision.severity else None
        rows.append({"removal": key, "category": category, "severity": severity, **signed()})
    return rows


@contextmanager
def alone(site: Site) -> Iterator[None]:
    """While nobody else adds rows."""
    with _IN_THIS_PROCESS, file_lock(site.settings.home_path, _LOCK, wait=True):
        yield


def signed() -> dict[str, str]:
    """Who says something now, and when."""
    return {"who": getpass.getuser(), "at": datetime.now(UTC).isoformat(timespec="milliseconds")}


def enter(site: Site, number: int) -> int:
    """Enters the decisions and marks of a round that the ledger lacks, and says how many.

    The note store keeps a decision first, so that a reviewer may go on while the warehouse cannot be reached.

    Raises:
        DeidError: `decisions-altered` if what the ledger has is not what the note store has; `warehouse-unreachable`.
    """
    officer = site.warehouse.engine(Database.OFFICER)
    kept = ((tables.REVIEW_DECISIONS, enter_decisions), (tables.REVIEW_MISSED, enter_missed))
    with alone(site):
        done = sum(
            entered(officer, number, role.value, rows_of(site.store, dataset, number, role))
            for dataset, entered in kept
            for role in Role
        )
        # What is marked in a note that research sees waits there for an officer.
        name_marked_notes(site)
    return done


def decisions_of(store: NoteStore, number: int, role: Role) -> dict[str, Decision]:
    """The newest decision of a role on each removal."""
    found: dict[str, Decision] = {}
    for row in rows_of(store, tables.REVIEW_DECISIONS, number, role):
        if row["category"] is None:
            found.pop(row["removal"], None)
        else:
            found[row["removal"]] = Decision.parse(row["category"], row["severity"])
    return found


def offered(site: Site, number: int, role: Role) -> list[str]:
    """The removals that a role may decide: all, or for the adjudicator those on which the readers differ."""
    return list(standing(site, number).disputed if role is Role.ADJUDICATOR else removals_of_round(site, number))


def standing(site: Site, number: int) -> Standing:
    """Where the removals of a round stand."""
    keys = list(removals_of_round(site, number))
    by_role = {role: decisions_of(site.store, number, role) for role in Role}
    one, other = (by_role[role] for role in ANNOTATORS)
    read = [key for key in keys if key in one and key in other]
    disputed = tuple(key for key in read if one[key] != other[key])
    ruled = by_role[Role.ADJUDICATOR]
    settled = {key: one[key] if one[key] == other[key] else ruled.get(key) for key in read}
    return Standing(
        by_role,
        waiting=tuple(key for key in keys if key not in one or key not in other),
        disputed=disputed,
        settled={key: decision for key, decision in settled.items() if decision is not None},
    )


def rows_of(store: NoteStore, dataset: str, number: int, role: Role) -> list[dict[str, Any]]:
    """All that a role said in a round, in order; without marks of a file whose decisions were not kept any more."""
    partition = _partition(number, role)
    if store.manifest(dataset, partition) is None:
        return []
    rows = store.rows(dataset, partition)
    meta = store.required(dataset, partition).meta
    if _WITH in meta and meta[_WITH] != _newest_file(store, number, role):
        return rows[: meta["rows_before"]]
    return rows


def add_rows(
    store: NoteStore,
    number: int,
    role: Role,
    *,
    decided: Sequence[Mapping[str, Any]] = (),
    marked: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Adds to what a role said in a round, all or none; under the lock of `alone`.

    Decisions and marks lie in two datasets. Marks that come with decisions are written first and name the file; they
    count once the decisions name it too.
    """
    both = secrets.token_hex(8) if decided and marked else None
    if marked:
        before = rows_of(store, tables.REVIEW_MISSED, number, role)
        meta = {} if both is None else {_WITH: both, "rows_before": len(before)}
        _write(store, tables.REVIEW_MISSED, tables.MISSED_SCHEMA, number, role, [*before, *marked], meta)
    if decided:
        before = rows_of(store, tables.REVIEW_DECISIONS, number, role)
        meta = {_FILE: both or _newest_file(store, number, role)}
        _write(store, tables.REVIEW_DECISIONS, tables.DECISION_SCHEMA, number, role, [*before, *decided], meta)


def _write(
    store: NoteStore,
    dataset: str,
    schema: pa.Schema,
    number: int,
    role: Role,
    rows: Sequence[Mapping[str, Any]],
    meta: Mapping[str, Any],
) -> None:
    table = pa.Table.from_pylist(list(rows), schema=schema)
    store.write(dataset, _partition(number, role), [table], meta=lambda: {"rows": len(rows), **meta})


def _newest_file(store: NoteStore, number: int, role: Role) -> str | None:
    """The file whose decisions were kept last together with marks."""
    manifest = store.manifest(tables.REVIEW_DECISIONS, _partition(number, role))
    return None if manifest is None else manifest.meta.get(_FILE)


def _partition(number: int, role: Role) -> str:
    return f"{number}.{role.value}"
