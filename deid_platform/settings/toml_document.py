"""A TOML document before it becomes settings: on which line a key stands, and which keys hold a secret.

Belongs here: questions about any document. Does not belong here: which keys there are (`settings/`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

# Names under which secrets are kept, and a URL or connection string that holds a password.
_SECRET_KEY = re.compile(r"(.*_)?(secret|password|passwd|passphrase|token|api_?key)", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/@\s]*:[^/@\s]+@|\bpassword\s*=", re.IGNORECASE)


def line_shown(text: str, key: Sequence[object]) -> str:
    """`, line N` where a key of a TOML document is set, or what it is missing from; nothing for the top level.

    tomllib keeps no places, so this looks for the first line with which the document so far holds the key.
    """
    if not key:
        return ""
    lines = text.splitlines(keepends=True)
    begun = 0
    for number in range(1, len(lines) + 1):
        try:
            found: Any = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:  # inside a value of several lines
            continue
        for part in key:
            if isinstance(found, list):  # one line for all of it
                break
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            statement = (at for at in range(begun, number) if lines[at].strip() and not lines[at].startswith("#"))
            return f", line {next(statement, number - 1) + 1}"
        begun = number
    return line_shown(text, key[:-1])


def secrets_in(value: object, key: str = "", *, named: bool = False) -> Iterator[str]:
    """The keys of a document that hold a secret: by their own name, or by what stands there.

    Args:
        value: The document, or what stands at a key of it.
        key: That key, its parts joined by dots.
        named: Whether its name says that it holds a secret.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            ours = not key.endswith(".columns")  # there, names are the source's
            inner_key = f"{key}.{name}" if key else name
            yield from secrets_in(inner, inner_key, named=ours and bool(_SECRET_KEY.fullmatch(name)))
    elif isinstance(value, list):
        for inner in value:
            yield from secrets_in(inner, key, named=named)
    elif named or (isinstance(value, str) and _SECRET_VALUE.search(value)):
        yield key
