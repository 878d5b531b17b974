"""Drawing that all figures share: an empty picture with named rows, its heading, and PNG.

Belongs here: how figures look. Does not belong here: what they show.

Colours are Okabe and Ito's, which stay apart under colour blindness; marks differ in shape as well. matplotlib is
imported when the first figure is drawn: it takes a second.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6b6b6b"
# As wide as the dialog in which the Dagster UI shows a picture.
_WIDTH_PIXELS, _DPI = 700, 100
_ROW_INCHES = 0.3
_HEADING_INCHES = 0.62


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
