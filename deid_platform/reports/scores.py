"""Scores of a detector as tables: label by label, and with a stage beside without it.

Belongs here: what `deid evaluate` shows. Does not belong here: the formulas (`evaluation/scores/scores.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table

from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.evaluation.scores.scores import LabelScores, Scores
from deid_platform.reports.summary import interval

_WHOLE = ("precision", "recall", "recall_conservative", "f1", "leak_rate", "clinical_retention")
SCORE_COLUMNS = (
    "label",
    *(f"{measure}{end}" for measure in _WHOLE for end in ("", "_low", "_high")),
    "gold_words",
    "missed_words",
    "detected_words",
    "wrongly_hidden_words",
    "notes",
    "words",
)


def score_records(scores: Scores) -> Iterator[list[str | float | int | None]]:
    """The rows of `scores_table` with exact numbers, by `SCORE_COLUMNS`; None for what a label has not."""
    rows: list[tuple[str, Scores | LabelScores]] = [("all", scores)]
    rows += [(label.value, by) for label, by in scores.labels.items()]
    for name, row in rows:
        record: list[str | float | int | None] = [name]
        for measure in _WHOLE:
            found: Estimate | None = getattr(row, measure, None)
            record += (found.value, found.low, found.high) if found else (None, None, None)
        for estimate in (row.recall, row.precision):
            record += (estimate.total, estimate.total - estimate.hits)
        record += (row.notes, row.words) if isinstance(row, Scores) else (None, None)
        yield record


def scores_table(scores: Scores, *, title: str) -> Table:
    """Scores for a terminal: all labels together, then label by label."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("label", "precision", "recall", "F1", "gold words"):
        table.add_column(column, justify="left" if column == "label" else "right")

    def shown(estimate: Estimate) -> str:
        return interval(estimate.value, estimate.low, estimate.high)

    table.add_row("all", shown(scores.precision), shown(scores.recall), shown(scores.f1), f"{scores.recall.total:,}")
    for label, found in scores.labels.items():
        table.add_row(label.value, shown(found.precision), shown(found.recall), "", f"{found.recall.total:,}")
    table.caption = (
        f"{scores.notes:,} notes, {scores.words:,} words; "
        f"recall of words hidden whole {shown(scores.recall_conservative)}; "
        f"notes with a missed identifier {shown(scores.leak_rate)}; "
        f"clinical words kept {shown(scores.words_kept)}"
        + (f"; of listed clinical terms {shown(scores.clinical_retention)}" if scores.clinical_retention.total else "")
    )
    return table


CONTRIBUTION_COLUMNS = ("source", "right words", "right by it alone", "wrong words", "wrong by it alone", "seconds")
WORTH_COLUMNS = (
    "label",
    "recall",
    "recall without",
    "missed words",
    "missed without",
    "precision",
    "precision without",
    "wrongly hidden words",
    "wrongly hidden without",
)


def worth_records(whole: Scores, without: Scores) -> Iterator[list[str | float | int | None]]:
    """What stages are worth, by `WORTH_COLUMNS`: all labels together, then label by label.

    Args:
        whole: Scores with all stages.
        without: Scores of the same notes without some.
    """
    pairs: list[tuple[str, Scores | LabelScores, Scores | LabelScores | None]] = [("all", whole, without)]
    pairs += [(label.value, by, without.labels.get(label)) for label, by in whole.labels.items()]
    for name, *both in pairs:
        record: list[str | float | int | None] = [name]
        for measure in ("recall", "precision"):
            found: list[Estimate | None] = [getattr(scores, measure, None) for scores in both]
            record += [None if estimate is None else estimate.value for estimate in found]
            record += [None if estimate is None else estimate.total - estimate.hits for estimate in found]
        yield record


_ABLATION = ("precision", "recall", "f1", "leak_rate", "clinical_retention")
ABLATION_COLUMNS = ("stages", "precision", "recall", "F1", "notes with a missed identifier", "clinical terms kept")


def ablation_records(rows: Iterable[tuple[str, Scores]]) -> Iterator[list[str | float | None]]:
    """Scores of a detector with some of its stages, row by row, by `ABLATION_COLUMNS`."""
    for name, scores in rows:
        yield [name, *(getattr(scores, measure).value for measure in _ABLATION)]
