"""Drawing that all figures share: an empty picture with named rows, its heading, and PNG.

Belongs here: how figures look. Does not belong here: what they show.

Colours are Okabe and Ito's, which stay apart under colour blindness; marks differ in shape as well. matplotlib is
imported when the first figure is drawn: it takes a second.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6b6b6b"
# As wide as the dialog in which the Dagster UI shows a picture.
_WIDTH_PIXELS, _DPI = 700, 100
_ROW_INCHES = 0.3
_HEADING_INCHES = 0.62
# Where the axis of errors begins: what is less stands there too.
_LEAST_ERROR = 1e-4
_LINE = 90


def canvas(names: Sequence[str]) -> tuple[Figure, Axes]:
    """An empty picture with a named row for each name, the first on top, and room for a heading."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = _HEADING_INCHES + 0.9 + _ROW_INCHES * max(len(names), 3)
    figure = Figure(figsize=(_WIDTH_PIXELS / _DPI, height), dpi=_DPI)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - _HEADING_INCHES / height))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), list(names))
    axes.tick_params(axis="y", length=0, labelsize=9)
    axes.tick_params(axis="x", labelsize=9)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return figure, axes


def errors(axes: Axes, source: str = "") -> None:
    """Makes the axis one of shares of words that are wrong, from one in ten thousand to all; under it, where from."""
    axes.set_xscale("log")
    axes.set_xlim(_LEAST_ERROR, 1)
    axes.set_xticks([10.0**power for power in range(-4, 1)], ["0.01% or none", "0.1%", "1%", "10%", "100%"])
    axes.minorticks_off()
    under = ["share of words, with 95% bootstrap intervals", *wrap(source, _LINE)]
    axes.set_xlabel("\n".join(under), fontsize=9.5)


def error(axes: Axes, estimate: Estimate, y: float, colour: str, marker: str) -> None:
    """Draw how far one estimate is from 1; nothing of it when it rests on fewer than 11 words."""
    if estimate.value is None or estimate.total < SMALLEST_SHOWN:
        return
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    least, error, most = (max(1 - share, _LEAST_ERROR) for share in (high, estimate.value, low))
    axes.plot((least, most), (y, y), color=colour, linewidth=2, solid_capstyle="butt", zorder=2, clip_on=False)
    axes.plot(error, y, marker, color=colour, markersize=5.5, zorder=3, clip_on=False)


def headed(figure: Figure, axes: Axes, title: str, under: str, legend: Sequence[tuple[str, str, str, str]]) -> None:
    """A title, a line under it, and a legend of marker, colour, fill and words."""
    from matplotlib.lines import Line2D

    height = figure.get_figheight()
    figure.text(0.015, 1 - 0.12 / height, title, va="top", fontsize=13, fontweight="bold")
    figure.text(0.015, 1 - 0.40 / height, under, va="top", fontsize=9.5, color=GREY)
    handles = [
        Line2D([], [], marker=marker, color=colour, fillstyle=fill, linestyle="", markersize=6.5, label=label)  # type: ignore[arg-type]
        for marker, colour, fill, label in legend
    ]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        frameon=False,
        fontsize=9,
        handletextpad=0.2,
        columnspacing=1,
    )


def png(figure: Figure, path: Path | None) -> bytes:
    """The picture's bytes, written to a path too if one is given."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    if path is not None:
        path.write_bytes(buffer.getvalue())
    return buffer.getvalue()
