"""Escapes of transport: quoted-printable and encoded words of mail, percent signs of URLs, UTF-7, Punycode.

Belongs here: what mail programs and browsers show in place of them. Does not belong here: markup (`markup.py`).

"Hgb=12", "98%20 min" and "a=FC" are written in the same letters as escapes. An escape counts by itself only where
nothing else can be meant: as the bytes of a letter beyond ASCII, or inside a word. The rest of a text's escapes count
where those beside them do. Sources: RFC 2045 (6.7), RFC 2047, RFC 2152, RFC 3492, RFC 3986 (2.1).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header, make_header

from deid_platform.text.decoded import Edit

_QUOTED = re.compile(r"(?:=[0-9A-Fa-f]{2})+|(?P<break>=[ \t]{0,3}\r?\n)")
_ONLY_QUOTED = re.compile(r"[^=]*(?:=(?:[0-9A-F]{2}|[ \t]{0,3}\r?(?:\n|\Z))[^=]*)*")
_LONGEST_LINE = range(60, 81)  # characters before the sign at the end of a line that was broken for its length
_ENCODED_WORD = re.compile(r"=\?[\w-]{2,40}\?[bBqQ]\?[^?\s]{1,400}\?=")
_PERCENT = re.compile(r"(?:%(?:u[0-9A-Fa-f]{4}|[0-9A-Fa-f]{2}))+")
_PERCENT_PART = re.compile(r"%u([0-9A-Fa-f]{4})|((?:%[0-9A-Fa-f]{2})+)")
_TOKEN = re.compile(r"\S+")
_BLANK = re.compile(r"\s")
_UTF7 = re.compile(r"\+([A-Za-z0-9/]{3,80})-")
_PUNYCODE = re.compile(r"(?<![^\W_])xn--([a-z0-9](?:[a-z0-9-]{0,57}[a-z0-9])?)(?![^\W_])", re.IGNORECASE)
_HEX_LETTER = re.compile(r"[A-Fa-f]")


def encoded_words(text: str) -> Iterator[Edit]:
    """Encoded words of mail headers: "=?utf-8?Q?M=C3=BCller?="."""
    if "=?" not in text:
        return
    for match in _ENCODED_WORD.finditer(text):
        try:
            yield match.start(), match.end(), str(make_header(decode_header(match[0])))
        except (HeaderParseError, LookupError, ValueError, binascii.Error):
            continue


def quoted_printable(text: str) -> Iterator[Edit]:
    """Quoted-printable: "M=FCller", "M=C3=BCller", and lines that end in "=" for their length."""
    if "=" not in text:
        return
    matches = list(_QUOTED.finditer(text))
    read = [_quoted(match) for match in matches]
    sure = sum(shown is not None for shown in read)
    if 0 < sure < len(read) and _ONLY_QUOTED.fullmatch(text):
        # Nothing but escapes has that sign, and some of them are certain: the text is quoted-printable.
        read = [_quoted_whole(match) for match in matches]
    for match, shown in zip(matches, read, strict=True):
        if shown is not None:
            yield match.start(), match.end(), shown


def _quoted(match: re.Match[str]) -> str | None:
    """What an escape reads as by itself; None where a result may be meant."""
    if match["break"]:
        return _soft(match)
    raw = _bytes_of(match[0], "=")
    if raw == b" ":
        before, after = _beside(match)
        return " " if before.isalpha() and after.isupper() else None
    return _of_bytes(match, raw)


def _quoted_whole(match: re.Match[str]) -> str | None:
    return "" if match["break"] else _text_of(_bytes_of(match[0], "="))


def _soft(match: re.Match[str]) -> str | None:
    """Nothing, which is read in place of the end of a broken line; None if the line was not broken."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if not before or before in "=\n" or not after:
        return None
    cut = (before.islower() and after.islower()) or (before.isdigit() and after.isdigit()) or not before.isascii()
    return "" if cut or start - 1 - text.rfind("\n", 0, start) in _LONGEST_LINE else None


def percent_signs(text: str) -> Iterator[Edit]:
    """Percent signs of URLs: "M%C3%BCller", "John%20Smith", "%u00fc"."""
    if "%" not in text or not _PERCENT.search(text):
        return
    for token in _TOKEN.finditer(text):
        if "%" not in token[0]:
            continue
        found = [(match, _percent(match)) for match in _PERCENT.finditer(text, *token.span())]
        # "617%20555%200142": two of them inside a word are no two shares.
        inside = sum(_between_words(match) for match, _ in found)
        if any(shown is not None for _, shown in found) or inside > 1:
            found = [(match, _percent_whole(match)) for match, _ in found]
        edits = ((match.start(), match.end(), shown) for match, shown in found if shown is not None)
        # An address stays one word: its blanks are read as the sign that forms send for them.
        address = "://" in token[0]
        yield from ((start, end, _BLANK.sub("+", shown) if address else shown) for start, end, shown in edits)


def _percent(match: re.Match[str]) -> str | None:
    """What a run of escapes reads as by itself; None where a share may be meant."""
    if "%u" in match[0]:
        return _percent_whole(match)
    raw = _bytes_of(match[0], "%")
    shown = _of_bytes(match, raw)
    if shown is None and raw.isascii() and (read := _text_of(raw)):
        # "John%20Smith", "Jo%68n"; not "98%20 min".
        before, after = _beside(match)
        if before.isalpha() and after.isalnum() and (not read[-1].isalnum() or (read.isalpha() and after.isalpha())):
            return read
    return shown


def _percent_whole(match: re.Match[str]) -> str | None:
    parts = [
        chr(int(part[1], 16)) if part[1] else _text_of(_bytes_of(part[2], "%"))
        for part in _PERCENT_PART.finditer(match[0])
    ]
    shown = "".join(part or "" for part in parts)
    return None if None in parts or any(0xD800 <= ord(c) < 0xE000 for c in shown) else shown


def utf7(text: str) -> Iterator[Edit]:
    """UTF-7: "M+APw-ller"."""
    if "+" not in text:
        return
    for match in _UTF7.finditer(text):
        before, after = _beside(match)
        shown = _utf7(match[1])
        if shown and (before.isalnum() or after.isalnum()):
            yield match.start(), match.end(), shown


def _utf7(encoded: str) -> str | None:
    """Latin letters and signs of a stretch in modified base64; None where it is none, or an ordinary word."""
    raw = base64.b64decode(encoded + "=" * (-len(encoded) % 4) if len(encoded) % 4 != 1 else "")
    if not raw or base64.b64encode(raw[: len(raw) // 2 * 2]).decode().rstrip("=") != encoded:
        return None
    shown = raw[: len(raw) // 2 * 2].decode("utf-16-be", "replace")
    return shown if all(0x20 <= ord(c) < 0x250 or 0x2000 <= ord(c) < 0x2070 for c in shown) else None


def punycode(text: str) -> Iterator[Edit]:
    """Names of domains beyond ASCII: "xn--mller-kva.example"."""
    if "n--" not in text and "N--" not in text:
        return
    for match in _PUNYCODE.finditer(text):
        try:
            shown = match[1].encode("ascii").decode("punycode")
        except UnicodeError:
            continue
        if shown.isprintable():
            yield match.start(), match.end(), shown


def _bytes_of(run: str, sign: str) -> bytes:
    return bytes.fromhex(run.replace(sign, ""))


def _text_of(raw: bytes) -> str | None:
    """Bytes as text: UTF-8, else Windows-1252; None if they are no text."""
    try:
        shown = raw.decode("utf-8")
    except UnicodeDecodeError:
        shown = raw.decode("cp1252", "replace")
    return shown if all(c.isprintable() or c in "\t\n\r\u00a0" for c in shown) else None


def _beside(match: re.Match[str]) -> tuple[str, str]:
    text = match.string
    return text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]


def _between_words(match: re.Match[str]) -> bool:
    before, after = _beside(match)
    return before.isalnum() and after.isalnum()


def _of_bytes(match: re.Match[str], raw: bytes) -> str | None:
    """What a run of escaped bytes reads as where nothing but an escape can be meant, else None."""
    shown = _text_of(raw)
    if shown is None:
        return None
    before, after = _beside(match)
    if raw.isascii():
        # "03%2F04", "J=6Fhn", "Joh%6E"; not "EF 55%2D echo", nor digits alone, as a share and a result have them.
        inside = before.isalnum() and after.isalnum()
        inside = inside or (before.isalpha() and shown[-1].islower()) or (after.islower() and shown[0].isupper())
        return shown if inside and _HEX_LETTER.search(match[0]) else None
    if len(shown) < len(raw):
        return shown  # characters of several bytes
    word = match.string[max(0, match.start() - 2) : match.start()]
    if shown == "’" and before.isalpha() and after.isalpha():
        return shown  # "O=92Brien"
    begins = after.islower() and (before.isalpha() or not before.isalnum())
    ends = not after.isalnum() and before.islower() and len(word) == 2 and word.isalpha()
    return shown if shown.isalpha() and (begins or ends) else None
