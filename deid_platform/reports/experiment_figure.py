"""A figure of what the models of an experiment miss.

Belongs here: drawing it. Does not belong here: the scores (`bench/leaderboard/experiments.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.evaluation.scores.scores import Scores
from deid_platform.reports.drawing import BLUE, canvas, error, errors, headed, png


def experiment_figure(rows: Sequence[tuple[str, Scores]], title: str) -> bytes:
    """Share of words missed, with its interval, a row for each model and set of notes.

    Args:
        rows: What is measured on what -> scores, from top to bottom.
        title: Of the figure.

    Returns:
        A PNG.
    """
    figure, axes = canvas([name for name, _ in rows])
    for y, (_, scores) in enumerate(rows):
        error(axes, scores.recall, y, BLUE, "o")
    errors(axes)
    headed(figure, axes, title, "the model alone, text alone", (("o", BLUE, "full", "words missed"),))
    return png(figure, None)
