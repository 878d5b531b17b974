"""A figure of a training: the loss as it fell.

Belongs here: drawing it. Does not belong here: training (`training/`).
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.reports.drawing import BLUE, canvas, headed, png

_ROWS = 8  # as high as so many rows of the other figures


def losses_figure(losses: Sequence[tuple[int, float]]) -> bytes:
    """The mean loss up to each step, since the one before.

    Args:
        losses: Steps done, and the loss; in order.

    Returns:
        A PNG.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    figure, axes = canvas([""] * _ROWS)
    steps, values = zip(*losses, strict=True) if losses else ((0,), (1.0,))
    axes.plot(steps, values, color=BLUE, linewidth=1.6, marker="o", markersize=3)
    axes.set_ylim(min(values) / 1.3, max(values) * 1.3)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(0, steps[-1] * 1.02 or 1)
    axes.set_xlabel("steps", fontsize=9.5)
    headed(figure, axes, "Loss", f"cross-entropy a piece; {values[-1]:.3g} after {steps[-1]:,} steps", ())
    return png(figure, None)
