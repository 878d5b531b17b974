"""What judges say and how good they are, as records: each judge by groups of what it judged, retention, a panel.

Belongs here: what `deid judge` shows. Does not belong here: the formulas (`evaluation/retention/`,
`evaluation/panel/panel.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deid_platform.evaluation.panel.panel import Counts, Verdicts
from deid_platform.evaluation.retention.judge_validation import Quality
from deid_platform.evaluation.retention.own_pairs import BesidePhysicians
from deid_platform.evaluation.retention.retention import Retention

SHOWN = (
    *("judge", "of", "judged", "tp", "tn", "fp", "fn", "no_answer"),
    *("accuracy", "precision", "recall", "kappa", "accuracy_of_answers"),
)
"""The fields that a terminal has room for."""
RETENTION = (
    "metric",
    "judge",
    "notes",
    "mean",
    "low",
    "high",
    "chunks",
    "identical",
    "changed",
    "no_answer",
    "answered",
)
PANEL = (
    *("label", "panel_precision", "panel_recall", "panel_f1", "discarded"),
    *("known_precision", "known_recall", "known_f1", "identifiers"),
)


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


PHYSICIANS = ("judge", "pairs", "pearson", "spearman", "notes", "note_pearson", "note_spearman", "fleiss")
"""The fields of a judge beside one's own physicians; `fleiss` is of them and the judge together."""


def physicians_record(judge: str, beside: BesidePhysicians) -> dict[str, Any]:
    """A judge beside physicians, but for its quality against each."""
    record: dict[str, Any] = {"judge": judge, "pairs": beside.pairs.notes}
    record |= {"pearson": beside.pairs.pearson, "spearman": beside.pairs.spearman, "fleiss": beside.fleiss}
    notes = beside.notes
    return record | {
        "notes": notes and notes.notes,
        "note_pearson": notes and notes.pearson,
        "note_spearman": notes and notes.spearman,
    }


def retention_record(it: Retention) -> dict[str, Any]:
    """A judge's retention."""
    record = {name: getattr(it, name) for name in RETENTION if name not in ("judge", "no_answer")}
    more = {"reasons": dict(it.reasons), "failures": dict(it.failures), "digest": it.judge.digest}
    return {**record, "judge": it.judge.model, "no_answer": it.unanswered, **more}


def panel_records(voted: Verdicts, known: Verdicts) -> Iterator[dict[str, Any]]:
    """A record a label, all first: what the panel counts beside what is known of the release."""
    yield _of_label("all", voted.all, known.all, sum(voted.discarded.values()))
    for label, it in known.labels.items():
        yield _of_label(label.value, voted.labels.get(label, Counts()), it, voted.discarded.get(label, 0))


def _of_label(label: str, panel: Counts, truth: Counts, discarded: int) -> dict[str, Any]:
    record: dict[str, Any] = {"label": label, "discarded": discarded, "identifiers": truth.tp + truth.fn}
    for name, counts in (("panel", panel), ("known", truth)):
        record |= {f"{name}_{share}": getattr(counts, share) for share in ("precision", "recall", "f1")}
    return record
