"""What is wrong with a key of deid.toml, in words.

Belongs here: words for the kinds of faults that pydantic names. Does not belong here: reading deid.toml
(`document.py`).
No word of what was written is among them: only what the key asks for.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import ErrorDetails

from deid_platform.settings.section import FORMS

_WHOLE, _NUMBER, _LIST, _SECTION = "a whole number", "a number", "a list in brackets", "a section of keys"
_DATE, _YES_OR_NO = "a date such as 2026-01-31", "true or false"
_KINDS: Mapping[str, str] = {
    "extra_forbidden": "there is no such key",
    "missing": "it has to be set",
    "string_type": "it has to be text in quotes",
    "path_type": "it has to be a path in quotes",
    "string_too_short": "it must not be empty",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), f"it has to be {_WHOLE}"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), f"it has to be {_NUMBER}"),
    **dict.fromkeys(("bool_type", "bool_parsing"), f"it has to be {_YES_OR_NO}"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), f"it has to be {_LIST}"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), f"it has to be {_SECTION}"),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), f"it has to be {_DATE}"),
}
_BOUNDS = {
    "greater_than": ("gt", "it has to be above {}"),
    "greater_than_equal": ("ge", "it has to be at least {}"),
    "less_than": ("lt", "it has to be under {}"),
    "less_than_equal": ("le", "it has to be at most {}"),
    "too_short": ("min_length", "it has to have at least {}"),
    "too_long": ("max_length", "it may have at most {}"),
}


def fault_in_words(fault: ErrorDetails) -> str:
    """What a key asks for and did not get; what this platform itself says of a key is words already."""
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "literal_error":
        # The choices of the platform, nothing of what was written.
        return f"no such choice; there are {context['expected']}"
    if kind == "string_pattern_mismatch":
        return f"it has to be {FORMS.get(context['pattern'], 'of the form that docs/configuration.md shows')}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return words.format(context[bound])
    return _KINDS.get(kind, kind)
