"""A delivery's state at the gate: each requirement of the active profile with its measurement.

Belongs here: reading the gate's rows, and which of their figures count against which threshold. Does not belong here:
measuring (`refresh/staging/measure.py`), the decision (`migrations/code/e_gate.sql`), or what to do next
(`refresh/next_steps.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.sources import Source
from deid_platform.languages import UNDETERMINED
from deid_platform.notes import Delivery
from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a requirement and the threshold that it is compared with.

    `value` is None where there was nothing to measure it on. `at_least` tells a least value from a largest one. Without
    a threshold, a figure is shown and demands nothing.
    """

    name: str
    value: float | None
    threshold: float | None
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether the value reaches a least threshold, or stays within a largest one."""
        if self.threshold is None:
            return True
        if self.value is None:
            return False
        return self.value >= self.threshold if self.at_least else self.value <= self.threshold

    @property
    def demand(self) -> str:
        """The threshold in words."""
        if self.threshold is None:
            return "not compared" if self.value is None else "nothing"
        return f"{'at least' if self.at_least else 'at most'} {_number(self.threshold)}"

    def __str__(self) -> str:
        value = "not measured" if self.value is None else _number(self.value)
        return f"{self.name} {value}, {self.demand}"


_OWN_NOTES = "this delivery's own notes"
_OF_FEED = "notes of this delivery's feed"
_NOT_RECORDED = "notes of an unrecorded source"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement as it stands for what is staged.

    Attributes:
        name: Its name.
        state: `passed`, `waived`, `failed` or `missing`, which is: not measured for what is staged.
        waivable: Whether the active profile lets the privacy officer waive it.
        figures: What was measured; nothing if it was not.
        waived_until: The last day of the waiver in force, whether or not it is needed.
        source: Where scores of the detector are from; None of what is counted in the delivery itself, and of rows that
            earlier versions of the platform wrote.
    """

    name: str
    state: str
    waivable: bool
    figures: tuple[Figure, ...] = ()
    waived_until: date | None = None
    source: Source | None = None

    @property
    def measured_on(self) -> str:
        """Where its figures are from, in words."""
        if self.source is not None:
            return str(self.source)
        return {"bench": _NOT_RECORDED, "site_gold": _OF_FEED}.get(self.name, _OWN_NOTES)

    @property
    def measured_of(self) -> str:
        """The same in short: whose notes, and how many."""
        return self.source.whose if self.source else self.measured_on

    @property
    def met(self) -> bool:
        """Whether the gate goes on, by a measurement or by a waiver."""
        return self.state in ("passed", "waived")

    @property
    def shown_state(self) -> str:
        """Its state as people are shown it: `missing` is `not measured`."""
        return "not measured" if self.state == "missing" else self.state

    @property
    def waived_by(self) -> str:
        """Who may waive it: `the privacy officer` or `nobody`."""
        return "the privacy officer" if self.waivable else "nobody"

    def __str__(self) -> str:
        missed = [figure for figure in self.figures if not figure.met] or self.figures
        said = f"{self.name} {self.shown_state}"
        if self.state != "failed" or not missed:
            return said
        return f"{said} ({'; '.join([*map(str, missed), *([f'on {self.source}'] if self.source else [])])})"


@dataclass(frozen=True, slots=True)
class Standing:
    """A delivery at the gate.

    Attributes:
        delivery: Its key.
        profile: The active profile.
        state: `staging`, `staged`, `refused` or `promoted`.
        at: When its state last changed.
        requirements: Those of the profile, by name, then what else the last refusal named.
    """

    delivery: str
    profile: str | None
    state: str
    at: datetime
    requirements: tuple[Requirement, ...]

    @property
    def unmet(self) -> tuple[Requirement, ...]:
        """What keeps it from being promoted."""
        return tuple(requirement for requirement in self.requirements if not requirement.met)


def standing(officer: Engine, delivery: Delivery) -> Standing:
    """How each requirement of the active profile stands for what is staged of a delivery.

    Args:
        officer: The engine of the role `officer`.
        delivery: Which delivery.

    Raises:
        DeidError: `gate-unknown-delivery` if nothing was staged under that name.
    """
    with begin(officer) as connection:
        found = connection.execute(
            text("SELECT state, at FROM ctl.delivery WHERE delivery = :d"), {"d": delivery.key}
        ).one_or_none()
        if found is None:
            raise DeidError(Code.GATE_UNKNOWN_DELIVERY, delivery.key)
        profile = connection.execute(text("SELECT name FROM ctl.profile WHERE active")).scalar()
        requirements = _requirements(connection, delivery)
        if found.state == "refused":
            names = {requirement.name for requirement in requirements}
            others = [name for name in _last_refusal(connection, delivery) if name not in names]
            requirements += tuple(Requirement(name, "failed", waivable=False) for name in others)
    return Standing(delivery.key, profile, found.state, found.at, requirements)


def _requirements(connection: Connection, delivery: Delivery) -> tuple[Requirement, ...]:
    statement = text(
        "SELECT s.requirement, s.state, s.waivable, g.measured, g.inputs, w.until,"
        " l.gold, l.notes, l.notes_of, l.marked_by FROM ctl.delivery d"
        " CROSS JOIN LATERAL ctl.gate_state(d.delivery, d.staged_digest) s"
        " LEFT JOIN ctl.gate g ON g.id = s.gate LEFT JOIN ctl.waiver w ON w.id = s.waiver"
        " LEFT JOIN ctl.look_source l ON l.look = CASE g.requirement WHEN 'bench'"
        " THEN CAST(g.measured ->> 'look' AS bigint) END"
        " WHERE d.delivery = :d ORDER BY s.requirement"
    )
    return tuple(
        Requirement(
            row.requirement,
            row.state,
            row.waivable,
            tuple(_figures(row.requirement, row.measured or {})),
            row.until,
            _source(row),
        )
        for row in connection.execute(statement, {"d": delivery.key})
    )


def _source(row: Row[Any]) -> Source | None:
    if row.gold is None:
        return None
    return Source.of(row.gold, row.inputs, notes_of=row.notes_of, marked_by=row.marked_by, notes=f"{row.notes:,}")


def _last_refusal(connection: Connection, delivery: Delivery) -> list[str]:
    """What the last refusal named: beside requirements, conditions that `ctl.promote` sees to itself."""
    statement = text(
        "SELECT requirements FROM ctl.ledger WHERE delivery = :d AND event = 'refused' ORDER BY id DESC LIMIT 1"
    )
    return connection.execute(statement, {"d": delivery.key}).scalar() or []


_NONE_OF = {
    "parity": {
        "different": "rows that differ",
        "mismatched": "rows of another note",
        "withdrawals_lost": "lost withdrawals",
    },
    "leaks": {"leaks": "notes that leak"},
    "expectations": {"failed": "expectations failed"},
}
_BENCH = {
    "recall_conservative": ("low", "min_recall"),
    "recall": ("low", "min_recall"),  # of rows written before the other was measured
    "precision": ("value", "min_precision"),
    "words_kept": ("value", "min_clinical_retention"),
    "clinical_retention": ("value", "min_clinical_retention"),  # likewise
}
_KNOWN = {
    "with_roster": ("last name", "least_share"),
    "with_birth_date": ("birth date", ""),
    "with_number": ("record number", ""),
}
_NAMES = {
    "recall_conservative": "conservative recall (lower end)",
    "recall": "recall (lower end)",
    "words_kept": "clinical words kept",
}


def _figures(requirement: str, measured: Mapping[str, Any]) -> Iterator[Figure]:
    """The figures of a gate row as `refresh/staging/measure.py` writes it; what earlier versions did not write is left
    out."""
    for key, name in _NONE_OF.get(requirement, {}).items():
        if key in measured:
            yield Figure(name, measured[key], 0, at_least=False)
    if requirement == "bench":
        thresholds = measured.get("thresholds", {})
        judged: set[str] = set()
        for measure, (end, least) in _BENCH.items():
            if measure in measured and least in thresholds and least not in judged:
                judged.add(least)
                yield Figure(_NAMES.get(measure, measure.replace("_", " ")), measured[measure][end], thresholds[least])
        if "against_former" in measured:
            yield from _against(measured["against_former"], thresholds["max_recall_drop"])
    if requirement == "topics" and "least_share" in measured:
        notes = measured["notes"]
        for key, (name, least) in _KNOWN.items():
            if key in measured:
                share = measured[key] / notes if notes else None
                yield Figure(f"share of notes whose patient has a {name}", share, measured.get(least))
    if requirement == "languages":
        yield from _languages(measured)
    if requirement == "site_gold" and "least" in measured:
        yield Figure("notes with gold", measured["notes"], measured["least"])


_SOURCES = {
    "site": "the site's gold",
    "library": "the library",
    "synthetic_hospital": "the synthetic hospital",
    "shipped": "shipped",
}


def _languages(measured: Mapping[str, Any]) -> Iterator[Figure]:
    """For each language how many notes, and what was measured; what the profile does not take demands nothing."""
    for code, counted in measured.get("languages", {}).items():
        if counted["notes"]:
            yield Figure(f"{code}: notes", counted["notes"], None)
        if counted["withheld"]:
            yield Figure(f"{code}: notes withheld, not measured", counted["withheld"], None)
        source = next((it for it in _SOURCES if it in counted), None)
        found = counted.get(source, {})
        if code == UNDETERMINED or not (counted["notes"] or source):
            continue
        taken = source == "site" or not measured["own_gold"]
        if not taken or source == "site":
            yield Figure(f"{code}: gold notes of the site", found.get("notes") if taken else 0, measured["least"])
        for name, value, least in (
            ("recall (lower end)", "recall_low", "min_recall"),
            ("precision", "precision", "min_precision"),
        ):
            shown = f"{code}: {name}" + (f", {_SOURCES[source]}" if source else "")
            if source or taken:
                yield Figure(shown, found.get(value), measured[least] if taken else None)


def _against(found: Mapping[str, Any], largest_drop: float) -> Iterator[Figure]:
    """How the detector compares with the one in force; nothing is demanded where no note was measured with both."""
    if found["difference"] is None:
        yield Figure("recall against the detector in force, measured on another gold", None, None)
        return
    yield Figure("notes measured with both detectors", found["notes"], None)
    yield Figure("recall on these notes", found["recall"], None)
    yield Figure("recall of the detector in force", found["recall_before"], None)
    yield Figure("difference in recall", found["difference"], None)
    yield Figure("difference in recall (lower end)", found["low"], -largest_drop)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
