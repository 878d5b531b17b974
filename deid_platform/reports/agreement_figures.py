"""A figure of how far two annotators agree.

Belongs here: drawing agreement. Does not belong here: measuring it (`evaluation/scores/agreement.py`). Labels under 11
words are not drawn.
"""

from __future__ import annotations

from deid_platform.evaluation.scores.agreement import Agreement, Kappa
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, suppress
from deid_platform.reports.drawing import BLUE, GREY, ORANGE, canvas, headed, png


def agreement_figure(found: Agreement) -> bytes:
    """Cohen's kappa with its interval, and F1 of equal spans, a row a label, all labels on top.

    Returns:
        A PNG.
    """
    rows: list[tuple[str, Kappa, float | None]] = [("All labels", found.kappa, found.spans.exact)]
    rows += [(label.value, by.kappa, by.spans.exact) for label, by in found.labels.items()]
    figure, axes = canvas([name for name, _, _ in rows])
    for y, (_, kappa, exact) in enumerate(rows):
        if kappa.value is None or kappa.words < SMALLEST_SHOWN:
            continue
        if kappa.low is not None and kappa.high is not None:
            axes.plot([kappa.low, kappa.high], [y, y], color=BLUE, linewidth=1.6, solid_capstyle="butt", alpha=0.7)
        axes.plot([kappa.value], [y], "o", color=BLUE, markersize=6.5, clip_on=False)
        if exact is not None:
            axes.plot([exact], [y], "D", color=ORANGE, fillstyle="none", markersize=6.5, clip_on=False)
    axes.axhline(0.5, color="#b8b8b8", linewidth=1)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.set_xlim(min(0.0, *(kappa.low or 0.0 for _, kappa, _ in rows)), 1)
    axes.set_xlabel("agreement; of kappa, 0 is chance", fontsize=9.5)
    under = f"{suppress(found.notes)} notes, {suppress(found.words)} words; not drawn under 11 words"
    legend = (("o", BLUE, "full", "Cohen's kappa over words, 95%"), ("D", ORANGE, "none", "F1 of equal spans"))
    headed(figure, axes, "How far two annotators agree, by label", under, legend)
    return png(figure, None)
