"""Writing down measurements: gate rows and scores, each with its actor and time from the server.

Belongs here: what the gatekeeper records. Does not belong here: the measuring (`evaluation/`,
`expectations`), or any decision about publishing (`promotion`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.gate.staging import Inputs, Staged
from deid_platform.warehouse.server.connection import begin


@dataclass(frozen=True, slots=True)
class GateRow:
    """One requirement's measurement.

    Attributes:
        requirement: `parity`, `expectations`, `leaks`, `bench`, `topics`, `languages` or `site_gold`.
        passed: Whether it meets the profile's threshold.
        measured: The figures behind it; numbers and truth values only, nested as needed.
    """

    requirement: str
    passed: bool
    measured: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """One figure of the bench with its 95% interval and the count that it is a share of."""

    label: str
    measure: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


def record_gate(
    gatekeeper: Engine,
    staged: Staged,
    rows: Iterable[GateRow],
    *,
    detector_digest: str,
    inputs: Inputs,
    profile: str,
    known: int = 0,
) -> None:
    """Records measurements of one staged content; all of them or none.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        staged: What was measured, as staging returned it.
        rows: The measurements.
        detector_digest: The detector that they were made with.
        inputs: What it had to go by.
        profile: Whose thresholds they were judged by.
        known: The newest finding that whoever measured knew of; the gate counts no row that missed one.

    Raises:
        DeidError: `held-out-refused` for `bench` if the detector was never looked at for the gate;
            `warehouse-statement` if a measurement holds anything but figures (ref `measured`), or if the server refuses
            it.
    """
    values = []
    for row in rows:
        if not _only_figures(row.measured):
            raise DeidError(Code.WAREHOUSE_STATEMENT, "measured")
        values.append(
            {
                "delivery": staged.delivery.key,
                "requirement": row.requirement,
                "staged": staged.staged_digest,
                "detector": detector_digest,
                "inputs": inputs.value,
                "profile": profile,
                "passed": row.passed,
                "measured": json.dumps(row.measured, default=dict),
                "known": known,
            }
        )
    statement = text(
        "INSERT INTO ctl.gate"
        " (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed, measured, known)"
        " VALUES (:delivery, :requirement, :staged, :detector, :inputs, :profile, :passed, CAST(:measured AS jsonb),"
        " :known)"
    )
    if values:
        with begin(gatekeeper) as connection:
            connection.execute(statement, values)


def count_again(gatekeeper: Engine, staged: Staged, *, profile: str, known: int) -> None:
    """Lets the newest measurements of one staged content count, although a leak was reported after they were made.

    Only whoever has looked for what was reported in that very content may say so. The measurements stay as old as they
    are: what was hidden or withdrawn since is not in them.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        staged: The content.
        profile: By whose thresholds it was judged.
        known: The newest finding that was looked for.

    Raises:
        DeidError: `warehouse-unreachable` or `warehouse-statement`.
    """
    values = {"delivery": staged.delivery.key, "staged": staged.staged_digest, "profile": profile, "known": known}
    with begin(gatekeeper) as connection:
        connection.execute(text("SELECT ctl.count_again(:delivery, :staged, :profile, :known)"), values)


def record_scores(
    gatekeeper: Engine, scores: Sequence[Score], *, detector_digest: str, gold: str, inputs: Inputs, look: int
) -> None:
    """Records the bench's figures for one detector on one gold; earlier ones stay.

    Args:
        gatekeeper: The engine of the role `gatekeeper`.
        scores: The figures.
        detector_digest: Whose.
        gold: On which gold.
        inputs: What the detector had to go by.
        look: The number of the look that they are of (`held_out.record_look`).

    Raises:
        DeidError: `held-out-refused` without such a look of that detector at a set of that gold; `warehouse-statement`,
            also where a figure of that look stands already; `warehouse-unreachable`.
    """
    same = {"detector": detector_digest, "gold": gold, "inputs": inputs.value, "look": look}
    values = [
        {
            **same,
            "label": score.label,
            "measure": score.measure,
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "n": score.n,
        }
        for score in scores
    ]
    statement = text(
        "INSERT INTO quality.score (detector_digest, gold, inputs, label, measure, value, low, high, n, look)"
        " VALUES (:detector, :gold, :inputs, :label, :measure, :value, :low, :high, :n, :look)"
    )
    if values:
        with begin(gatekeeper) as connection:
            connection.execute(statement, values)


def _only_figures(measured: object) -> bool:
    if isinstance(measured, Mapping):
        return all(isinstance(key, str) and _only_figures(value) for key, value in measured.items())
    if isinstance(measured, list | tuple):
        return all(_only_figures(value) for value in measured)
    return measured is None or isinstance(measured, int | float)
