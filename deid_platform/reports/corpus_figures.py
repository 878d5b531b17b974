"""A figure of what a surrogate corpus is made of.

Belongs here: drawing counts of published carriers with surrogates. Does not belong here: counting them
(`evaluation/experiments/corpus_statistics.py`). The notes are nobody's, so small counts are shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from deid_platform.evaluation.experiments.corpus_statistics import CorpusStatistics
from deid_platform.labels import Label
from deid_platform.reports.drawing import BLUE, ORANGE, canvas, headed, png


def corpus_figure(parts: Mapping[str, CorpusStatistics], title: str) -> bytes:
    """Identifiers by label, a row a label, the training part beside the test part.

    Args:
        parts: Name of the part -> its statistics; two at most.
        title: Of the figure.

    Returns:
        A PNG.
    """
    labels = [label for label in Label if any(it.by_label[label] for it in parts.values())]
    labels.sort(key=lambda label: -sum(it.by_label[label] for it in parts.values()))
    figure, axes = canvas([label.value for label in labels])
    marks = (("D", ORANGE, "full"), ("o", BLUE, "none"))
    for (name, found), (marker, colour, fill) in zip(parts.items(), marks, strict=False):
        shown = [(y, found.by_label[label]) for y, label in enumerate(labels) if found.by_label[label]]
        axes.plot(
            [count for _, count in shown], [y for y, _ in shown], marker, color=colour, fillstyle=fill, markersize=7,
            clip_on=False, label=name, linestyle="none",
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlabel("identifiers", fontsize=9.5)
    notes = ", ".join(f"{it.notes:,} {name}" for name, it in parts.items())
    words = sum(it.tokens.total for it in parts.values())
    legend = tuple((m, c, f, name) for (m, c, f), name in zip(marks, parts, strict=False))
    headed(figure, axes, title, f"notes: {notes}; {words:,} words", legend)
    return png(figure, None)
