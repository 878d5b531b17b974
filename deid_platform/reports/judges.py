"""How good judges are, as records: each judge by groups of what it judged.

Belongs here: what `deid judge` shows. Does not belong here: the formulas (`evaluation/retention/judge_validation.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deid_platform.evaluation.retention.judge_validation import Quality

SHOWN = (
    *("judge", "of", "judged", "tp", "tn", "fp", "fn", "no_answer"),
    *("accuracy", "precision", "recall", "kappa", "accuracy_of_answers"),
)
"""The fields that a terminal has room for."""


def quality_records(found: Iterable[tuple[str, Mapping[str, Quality]]]) -> Iterator[dict[str, Any]]:
    """A record a judge and group, in order."""
    for judge, groups in found:
        for group, it in groups.items():
            record: dict[str, Any] = {"judge": judge, "of": group, "judged": it.pairs}
            record |= {"tp": it.tp, "tn": it.tn, "fp": it.fp, "fn": it.fn, "no_answer": it.unanswered}
            for name in ("accuracy", "precision", "recall"):
                share = getattr(it, name)
                record |= {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high}
            answers = it.answered.accuracy.value
            yield {**record, "kappa": it.kappa, "accuracy_of_answers": answers, "failures": dict(it.failures)}
