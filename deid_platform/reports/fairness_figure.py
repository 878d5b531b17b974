"""A figure of which names a detector misses, by whose they are.

Belongs here: drawing it. Does not belong here: the scores (`bench/leaderboard/fairness.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.reports.drawing import BLUE, ORANGE, canvas, error, errors, headed, png

_MARKS = (("F", "o", BLUE, "female"), ("M", "D", ORANGE, "male"))


def fairness_figure(by_both: Mapping[tuple[str, str], Estimate], under: str, source: str = "") -> bytes:
    """Share of words of patients' names missed, a row a locale, the sexes beside each other.

    Args:
        by_both: Locale and sex -> recall of names.
        under: The line under the title.
        source: On whose notes, with whose topics, marked by which hand.

    Returns:
        A PNG.
    """
    locales = sorted({locale for locale, _ in by_both})
    figure, axes = canvas(locales)
    for y, locale in enumerate(locales):
        for offset, (sex, marker, colour, _) in zip((-0.16, 0.16), _MARKS, strict=True):
            if found := by_both.get((locale, sex)):
                error(axes, found, y + offset, colour, marker)
    errors(axes, source)
    legend = tuple((marker, colour, "full", f"missed, names of {name} patients") for _, marker, colour, name in _MARKS)
    headed(figure, axes, "Names missed by locale and sex", under, legend)
    return png(figure, None)
