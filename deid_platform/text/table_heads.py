"""The head that stands over a cell of a table in a text.

Belongs here: tables with bars, tabs or runs of blanks between their columns. Does not belong here: what a head means,
or markup (`markup.py`).
"""

from __future__ import annotations

import re

_BARS = (re.compile(r"\|"), re.compile(r"\t"), re.compile(r" {2,}"))
_LONGEST_TABLE, _LONGEST_ROW = 4000, 300
_ROW_OF_LINES = re.compile(r"[\s|:+-]*")


def head_of(text: str, start: int) -> tuple[str, str] | None:
    """The head over a place in a table, and the row of heads that it stands in; None where there is no table.

    Args:
        text: The text.
        start: Where the cell's content, or a part of it, begins.
    """
    line_start = text.rfind("\n", 0, start) + 1
    before = text[line_start:start]
    if len(before) > _LONGEST_ROW:
        return None
    above = text[max(0, line_start - _LONGEST_TABLE) : max(0, line_start - 1)].split("\n") if line_start else []
    for bar in _BARS:
        column = len(bar.findall(before.lstrip(" ")))
        if not column:
            continue
        head: list[str] = []
        for row in reversed(above):
            cells = bar.split(row.strip(" \r"))
            if len(cells) < 2:
                break
            head = head if _ROW_OF_LINES.fullmatch(row) else cells
        return (head[column].strip(), " ".join(head)) if column < len(head) else None
    return None
