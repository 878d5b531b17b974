"""A figure of what a site gains from notes that it marks.

Belongs here: drawing it. Does not belong here: the scores (`benchmarks/adaptation.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deid_platform.evaluation.scores.scores import Scores
from deid_platform.reports.drawing import BLUE, ORANGE, canvas, error, errors, headed, png


def adaptation_figure(sites: Mapping[str, Sequence[tuple[int, Scores]]]) -> bytes:
    """Share of words missed and wrongly hidden, with intervals, a row for each site and number of marked notes.

    Args:
        sites: Site to marked notes and scores, from the fewest to the most.

    Returns:
        A PNG.
    """
    rows = [(f"{name}, {marked} notes", scores) for name, points in sites.items() for marked, scores in points]
    figure, axes = canvas([name for name, _ in rows])
    for y, (_, scores) in enumerate(rows):
        error(axes, scores.recall, y - 0.12, BLUE, "o")
        error(axes, scores.precision, y + 0.12, ORANGE, "s")
    errors(axes)
    legend = (("o", BLUE, "full", "words missed"), ("s", ORANGE, "full", "of the words hidden, in vain"))
    headed(figure, axes, "What marked notes of a site are worth", "on the site's other notes, text alone", legend)
    return png(figure, None)
