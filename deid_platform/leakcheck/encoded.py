r"""What still looks encoded, once a text was read as its reader sees it.

Belongs here: stretches that some program would show as other characters ("&#x4a;", "%4A%6F", "\u{4a}", base64, text
in tag characters), and one crude reading of them. Does not belong here: what a text decodes to (`deid_platform.text`),
on which detection rests too and which is not trusted here to have decoded everything, or whose name it may be.

A note in which anything of this is left is withheld: nobody can tell what it says.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

import regex

# Hexadecimal digits that are no percentage and no result: one of the two is a letter.
_HEX = r"(?:[0-9][a-f]|[a-f][0-9a-f])"
_PART_OF_WORD = r"(?:br|hr|p|div|td|th|tr|li|ul|ol|dl|dt|dd|h[1-6]|table|tbody|thead|body|html|pre)\b"
# By the sign without which none is found, which spares the search in most notes; on small letters.
_ESCAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("&", re.compile(r"&#x?[0-9a-f]|&(?:amp|lt|gt|quot|apos|nbsp);")),
    (
        "\\",
        re.compile(
            r"\\'[0-9a-f]{2}|\\u-?[0-9]{2,5}\s?\?|\\u\{?[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[23][0-7]{2}|(?:\\[01][0-7]{2}){2}"
            r"|\{\\rtf|\\(?:pard|plain|fs[0-9]{2})(?![0-9a-z])"
        ),
    ),
    ("=", re.compile(rf"(?:=[0-9a-f]{{2}}){{2}}|[^\W\d_]{{2}}={_HEX}[^\W\d_]|=\?[\w-]{{2,40}}\?[bq]\?")),
    ("%", re.compile(rf"%{_HEX}%[0-9a-f]{{2}}|%[0-9a-f]{{2}}%{_HEX}|%u[0-9a-f]{{4}}|[^\W\d_]%{_HEX}[^\W\d_]")),
    ("+", re.compile(r"\+a[a-p][a-z0-9/]{1,80}-(?=[^\W_])")),
    ("xn--", re.compile(r"(?<![^\W_])xn--[a-z0-9]")),
    ("<", re.compile(rf"[^\W_]<(?!/?{_PART_OF_WORD})(?:!--|/?[a-z][a-z0-9]{{0,10}}(?:\s[^<>]{{0,200}})?>[^\W_])")),
)
_OVERRIDDEN = re.compile("[\u202d\u202e][^\u202c\r\n]{0,400}?[^\\W_]")
# A flag is a black flag and tags; one selector after a sign chooses its style.
_TAGS = regex.compile(r"(?<!\U0001F3F4[\U000E0020-\U000E007E]{0,6})[\U000E0000-\U000E007F]")
_SELECTORS = re.compile("[0-9A-Za-z][\U000e0100-\U000e01ef]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}")
# What the patterns here begin with, or hold: few notes have any of it.
_SUSPECT = re.compile(
    "[\u200b-\u200d\u202d\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\u0530-\u058f\u13a0-\u167f\u18b0-\u18ff\u2c80-\u2cff"
    "\ua4d0-\ua63f\ua6a0-\ua6ff\uab70-\uabbf\U00010400-\U000104ff\U00016800-\U00016a3f\U000e0000-\U000e01ef]"
)
_HIDDEN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{16}")
_ALPHABETS = r"\p{Cherokee}\p{Lisu}\p{Armenian}\p{Canadian_Aboriginal}\p{Coptic}\p{Deseret}\p{Osage}\p{Vai}\p{Bamum}"
_MIXED = regex.compile(rf"\p{{Latin}}\p{{M}}*[{_ALPHABETS}]|[{_ALPHABETS}]\p{{M}}*\p{{Latin}}")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{6,15}={1,2})(?![A-Za-z0-9+/=])")
_HEX_BLOCK = re.compile(r"(?<![0-9a-z])(?:[2-7][0-9a-f]){8,}(?![0-9a-z])")
_SHORTEST_BLOCK, _LONGEST_BLOCK = 16, 4_000
_WORDS = re.compile(r"[^\W_]{2}")

_LOOSE = re.compile(r"(?:(?:[%=]|\\x|\\')[0-9A-Fa-f]{2})+")


def undecoded(text: str, folded: str) -> bool:
    """Whether a stretch of a text still looks encoded.

    Args:
        text: As its reader sees it, with gaps.
        folded: The same, folded.
    """
    if any(sign in folded and escape.search(folded) for sign, escape in _ESCAPES):
        return True
    # A search in what is long enough is many times faster than one in the text.
    blocks = " ".join(word for word in text.split() if len(word) >= _SHORTEST_BLOCK or "=" in word)
    return (
        any(map(_is_base64, _BASE64.finditer(blocks)))
        or any(map(_is_hexadecimal, _HEX_BLOCK.finditer(blocks.lower())))
        or (not text.isascii() and _hides(text))
    )


def _hides(text: str) -> bool:
    """Whether characters that nobody sees turn text around or carry some of their own, or a word mixes alphabets."""
    return _SUSPECT.search(text) is not None and any(
        pattern.search(text) for pattern in (_OVERRIDDEN, _TAGS, _SELECTORS, _HIDDEN, _MIXED)
    )


def _is_base64(match: re.Match[str]) -> bool:
    block = match[0][:_LONGEST_BLOCK]
    if block.islower() or block.isupper() or block.isdigit() or len(block) % 4:
        return False
    try:
        return _is_text(base64.b64decode(block, validate=True))
    except binascii.Error:
        return False


def _is_hexadecimal(match: re.Match[str]) -> bool:
    block = match[0][:_LONGEST_BLOCK]
    return not block.isdigit() and _is_text(bytes.fromhex(block))


def _is_text(raw: bytes) -> bool:
    """Whether bytes are words rather than chance."""
    try:
        shown = raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    plain = sum(c.isalnum() or c in " .,:;/'()@-\r\n\t" for c in shown)
    return shown.isprintable() and plain >= 0.95 * len(shown) and _WORDS.search(shown) is not None


def loosely(text: str) -> Iterator[str]:
    """A text with everything decoded that could be an escaped byte, results and shares too; none if nothing could.

    Only names and numbers that are known are sought in it: whoever reads "80=35" so reads nonsense.
    """
    if not any(sign in text for sign in "%=\\"):
        return
    shown = _LOOSE.sub(_bytes, text)
    if shown != text:
        yield shown


def _bytes(match: re.Match[str]) -> str:
    raw = bytes.fromhex(re.sub(r"[%=]|\\x|\\'", "", match[0]))
    try:
        shown = raw.decode("utf-8")
    except UnicodeDecodeError:
        shown = raw.decode("cp1252", "replace")
    return shown if shown.isprintable() else match[0]
