"""A figure of what versions of prompts score on notes for tuning, as figure 6 of Zambare 2026 sets them side by side.

Belongs here: drawing it. Does not belong here: the scores (`bench/leaderboard/prompt_trials.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deid_platform.reports.drawing import BLUE, ORANGE, canvas, headed, png

_LEGEND = (
    ("o", BLUE, "full", "recall"),
    ("D", ORANGE, "full", "precision"),
    ("o", BLUE, "none", "recall without failed notes"),
    ("D", ORANGE, "none", "precision without failed notes"),
)


class TrialShown(NamedTuple):
    """One row: its name, recall and precision, and both without failed notes; None where there is none."""

    name: str
    recall: float | None
    precision: float | None
    recall_answered: float | None
    precision_answered: float | None


def trials_figure(found: Sequence[TrialShown], under: str) -> bytes:
    """A row a version: filled marks count failed notes as missed, open ones leave them out.

    Args:
        found: In the order of the rows.
        under: The line under the title.

    Returns:
        A PNG.
    """
    figure, axes = canvas([it.name for it in found])
    for y, (_, *shares) in enumerate(found):
        for share, (marker, colour, fill, _) in zip(shares, _LEGEND, strict=True):
            if share is not None:
                axes.plot(share, y, marker, color=colour, fillstyle=fill, markersize=6, clip_on=False)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of words", fontsize=9.5)
    headed(figure, axes, "Prompts on notes for tuning", under, _LEGEND)
    return png(figure, None)
