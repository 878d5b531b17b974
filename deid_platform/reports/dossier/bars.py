"""A bar chart as SVG text within a page: no picture file, sharp in print, read by a screen reader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap

from markupsafe import Markup, escape

_LEAST = 1e-4
_WIDTH, _NAMES, _ROW, _LINE = 640, 150, 18, 100
_TICKS = ((1e-4, "0.01% or none"), (1e-3, "0.1%"), (1e-2, "1%"), (1e-1, "10%"), (1.0, "100%"))


def bars(rows: Sequence[tuple[str, float]], source: str) -> Markup:
    """Shares of words missed, a bar each, on a logarithmic axis from 0.01% to 100%.

    Args:
        rows: Name and share; from the top.
        source: On whose notes, with whose topics, marked by which hand.
    """
    if not rows:
        return Markup("")
    lines = ["share of words missed, logarithmic; on", *wrap(source, _LINE)]
    foot = 20 + 14 * len(lines)
    height = _ROW * len(rows) + foot

    def x(share: float) -> float:
        room = _WIDTH - _NAMES - 60
        return _NAMES + room * (math.log10(max(share, _LEAST)) - math.log10(_LEAST)) / -math.log10(_LEAST)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Share of words missed, by label" '
        'font-family="inherit" font-size="11">'
    ]
    for share, said in _TICKS:
        parts.append(
            f'<line x1="{x(share):.1f}" x2="{x(share):.1f}" y1="4" y2="{height - foot + 6}" stroke="#e4e4e4"/>'
        )
        parts.append(
            f'<text x="{x(share):.1f}" y="{height - foot + 20}" text-anchor="middle" fill="#555">{said}</text>'
        )
    for number, (name, share) in enumerate(rows):
        y = 6 + _ROW * number
        parts.append(f'<text x="{_NAMES - 8}" y="{y + 10}" text-anchor="end">{escape(name)}</text>')
        width = max(x(share) - _NAMES, 1.5)
        parts.append(f'<rect x="{_NAMES}" y="{y}" width="{width:.1f}" height="12" fill="#0072B2"/>')
    for number, line in enumerate(reversed(lines)):
        parts.append(f'<text x="8" y="{height - 4 - 14 * number}" fill="#555">{escape(line)}</text>')
    parts.append("</svg>")
    return Markup("\n".join(parts))  # noqa: S704 - names are escaped, all else is numbers
