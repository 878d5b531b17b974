r"""Escapes of programs: "\u00fc", "\xfc", "\303\274", and "\n" or "\/" as a program writes them out.

Belongs here: strings that were stored as a program's source has them. Does not belong here: RTF, whose escapes begin
with the same sign (`markup.py`). A path as "C:\temp" or "C:\new" stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deid_platform.text.decoded import Edit

_ESCAPE = re.compile(
    r"(?P<units>(?:\\u[0-9A-Fa-f]{4})+)|\\u\{(?P<point>[0-9A-Fa-f]{1,6})\}|\\U(?P<long>[0-9A-Fa-f]{8})"
    r"|(?P<bytes>(?:\\x[0-9A-Fa-f]{2})+)|(?P<octal>(?:\\[0-3][0-7]{2})+)"
    # A path goes on in small letters; a line that begins seldom does.
    r"|\\(?P<break>r\\n|[nrt])(?=[A-Z0-9\s\\(\[*•-]|\Z)|(?<=[0-9A-Za-z])\\(?P<slash>/)"
)
_BREAKS = {"r\\n": "\n", "n": "\n", "r": "\n", "t": "\t"}


def program_escapes(text: str) -> Iterator[Edit]:
    r"""Escapes of JSON, Python, JavaScript and the like."""
    if "\\" not in text:
        return
    for match in _ESCAPE.finditer(text):
        shown = _shown(match)
        if shown is not None:
            yield match.start(), match.end(), shown


def _shown(match: re.Match[str]) -> str | None:
    kind = match.lastgroup
    value = match[kind] if kind else ""
    match kind:
        case "break":
            return _BREAKS[value]
        case "slash":
            return value
        case "units":
            raw = bytes.fromhex(value.replace("\\u", ""))
            shown = raw.decode("utf-16-be", "replace")
        case "point" | "long":
            shown = chr(int(value, 16)) if int(value, 16) <= 0x10FFFF else ""
        case "bytes":
            shown = _text_of(bytes.fromhex(value.replace("\\x", "")))
        case _:
            raw = bytes(int(number, 8) for number in value.split("\\")[1:])
            # Paths have such numbers too, but none that are bytes of a letter beyond ASCII.
            shown = "" if raw.isascii() else _text_of(raw)
    printable = all(c.isprintable() or c.isspace() or c >= "\u00ad" for c in shown)
    return shown if shown and printable and "\ufffd" not in shown and not _lone(shown) else None


def _text_of(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        shown = raw.decode("cp1252", "replace")
        return shown if all(c.isalpha() or c.isascii() for c in shown) else ""


def _lone(shown: str) -> bool:
    return any(0xD800 <= ord(c) < 0xE000 for c in shown)
