"""How one slot of a template is filled.

Belongs here: the record. Does not belong here: any slot (`slots`, `numbers`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from deid_platform.corpora.hospital.chart import Chart
from deid_platform.corpora.hospital.spec import Shape
from deid_platform.labels import Label


class SlotRule(NamedTuple):
    """How one slot is filled.

    Attributes:
        value: The text; empty where the chart has none.
        label: What it identifies, or None for plain text.
        shape: Its shape if that is a rare one.
        gold_if: Only then is it gold.
        shape_if: Only then has it the shape.
    """

    value: Callable[[Chart], str]
    label: Label | None = None
    shape: Shape | None = None
    gold_if: Callable[[Chart], bool] | None = None
    shape_if: Callable[[Chart], bool] | None = None
