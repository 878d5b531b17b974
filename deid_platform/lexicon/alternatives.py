"""A list of terms as one expression that shares their beginnings.

Belongs here: the building of the expression. Does not belong here: which terms a list has (`data/`), or what is done
where one of them stands (`detection/rules/engine/recognizer.py`).

A plain alternation, or a named list of `regex`, is tried term by term. This expression is tried letter by letter, which
is ten times as fast for hundreds of terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import regex

_Node: TypeAlias = "dict[str, _Node]"
_END = ""
_APOSTROPHE = "['’]"
_SPACE = r"(?:\s|[ \t]\r?\n|\r\n)"


def alternatives(terms: Iterable[str], *, any_writing: bool, behind: bool = False) -> str:
    """An expression of any of the terms, the longest first.

    Args:
        terms: What stands in the list.
        any_writing: Whether case does not count, so that each is written once, and the end of a line may be a space.
        behind: Whether it is for a lookbehind, which reads from the end, so that terms share their ends instead.
    """
    root: _Node = {}
    for term in map(str.lower, terms) if any_writing else terms:
        node = root
        for character in reversed(term) if behind else term:
            node = node.setdefault(character, {})
        node[_END] = {}
    written = {"'": _APOSTROPHE, **({" ": _SPACE} if any_writing else {})}
    return f"(?:{_expression(root, written, behind)})"


def _expression(node: _Node, written: dict[str, str], behind: bool) -> str:
    further = []
    for character, following in sorted(node.items()):
        if character != _END:
            here = character if character.isalnum() else written.get(character) or regex.escape(character)
            rest = _expression(following, written, behind) if following else ""
            further.append(rest + here if behind else here + rest)
    if not further:
        return ""
    body = further[0] if len(further) == 1 and _END not in node else f"(?:{'|'.join(further)})"
    return f"{body}?" if _END in node else body
