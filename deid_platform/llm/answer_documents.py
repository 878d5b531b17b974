"""JSON in an answer, in a fence of Markdown or without one.

Belongs here: getting at the document. Does not belong here: what it says.
"""

from __future__ import annotations

import json
from typing import Any

import regex

FENCED = regex.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", regex.DOTALL | regex.IGNORECASE)


def document(answer: str) -> Any:
    """The document of an answer; None where there is none, as for `null`."""
    fenced = FENCED.fullmatch(answer)
    try:
        return json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError):
        return None
