"""Escapes of documents: character references and tags of HTML, accents and control words of RTF.

Belongs here: what a browser or a word processor shows in place of them. Does not belong here: escapes of transport
(`transport.py`) or of programs (`literals.py`).

Each grammar is stricter than the format's own, so that clinical shorthand ("R&D", "x &gt 3", "C:\\temp") stays as it is
written. Sources: HTML Living Standard, 13.5 (named character references, by the standard library's table); Rich Text
Format specification 1.9.1.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5

from deid_platform.text.decoded import Edit

# Without its semicolon a name counts only for an accented letter or a space: "&parathyroid" is no "¶thyroid".
_REFERENCE = re.compile(
    r"&(?:#(?:[0-9]{1,12}(?![0-9])|[xX][0-9a-fA-F]{1,10}(?![0-9a-fA-F]));?|(?P<name>[A-Za-z][A-Za-z0-9]{1,31};)"
    r"|(?:nbsp|[A-Za-z](?:grave|acute|circ|tilde|uml|ring|cedil|slash)|(?:AE|ae|sz)lig))"
)
# Tags that part no words, with nothing in them that could be anybody's: those with other attributes stay.
_TAG = re.compile(
    r"</?(?:b|i|u|s|em|strong|small|big|sub|sup|span|font|tt|mark|ins|del|wbr)"
    r"(?:\s{1,3}(?:style|color|size|face)=(?:\"[^\"<>]{0,200}\"|'[^'<>]{0,200}'))*\s?/?>|<!--[^\w>]{0,40}-->",
    re.IGNORECASE,
)

_RTF = re.compile(r"\{\\rtf[0-9]?|\\(?:pard|plain|fs[0-9]{1,3})(?=[\s\\{}])")
_RTF_CHARACTER = re.compile(r"\\u(?P<code>-?[0-9]{2,5}) ?(?:\?|\\'[0-9a-fA-F]{2})|(?:\\'[0-9a-fA-F]{2})+")
_RTF_WORD = re.compile(r"\\(?:(?P<word>[a-z]{1,32})-?[0-9]{0,10} ?|(?P<sign>[~_\-*\\{}\n]|\r\n?))|[{}]")
_RTF_BREAKS = {"par": "\n", "line": "\n", "row": "\n", "sect": "\n", "page": "\n", "tab": "\t", "cell": "\t"}
_RTF_SIGNS = {
    **dict.fromkeys(("\n", "\r", "\r\n"), "\n"), "\\": "\\", "{": "{", "}": "}",
    "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "~": " ", "_": "\u2011",
}  # fmt: skip


def html_references(text: str) -> Iterator[Edit]:
    """Character references: "&uuml;", "&#49;", "&#x31", "&nbsp;"."""
    if "&" not in text:
        return
    for match in _REFERENCE.finditer(text):
        if match["name"] and match["name"] not in html5:
            continue
        shown = html.unescape(match[0]).replace("\u00a0", " ")
        if match[0].endswith(";") or shown.isprintable():
            yield match.start(), match.end(), shown


def html_tags(text: str) -> Iterator[Edit]:
    """Tags of type and weight, which stand within words: "<b>M</b>üller"."""
    if "<" in text:
        yield from ((match.start(), match.end(), "") for match in _TAG.finditer(text))


def rtf_characters(text: str) -> Iterator[Edit]:
    r"""Characters of RTF, in fragments of it too: "\'fc", "\u252?"."""
    if "\\" not in text:
        return
    for match in _RTF_CHARACTER.finditer(text):
        shown = _code_point(match["code"]) if match["code"] else _ansi(match[0])
        if shown:
            yield match.start(), match.end(), shown


def rtf_control_words(text: str) -> Iterator[Edit]:
    r"""Control words and braces of a text that is RTF: "{\b Smith\b0}", "\par"."""
    if "\\" not in text or not _RTF.search(text):
        return
    for match in _RTF_WORD.finditer(text):
        word = match["word"] or match["sign"] or ""
        yield match.start(), match.end(), _RTF_BREAKS.get(word) or _RTF_SIGNS.get(word, "")


def _code_point(number: str) -> str:
    r"""The character of "\u252?"; empty where it is rather the "\u2019" of a program before a question mark."""
    code = int(number) % 0x10000
    if len(number) == 4 and number.isdecimal() and not _usual(code) and _usual(int(number, 16)):
        return ""
    return "" if 0xD800 <= code < 0xE000 else chr(code)


def _usual(code: int) -> bool:
    """Whether a character is Latin or general punctuation."""
    return 0x20 <= code < 0x250 or 0x1E00 <= code < 0x2070


def _ansi(escaped: str) -> str:
    return bytes.fromhex(escaped.replace("\\'", "")).decode("cp1252", "replace")
