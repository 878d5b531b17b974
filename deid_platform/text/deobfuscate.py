"""A text without its disguises: what neither a reader sees nor a rule should stumble over is taken out.

Belongs here: zero-width and bidirectional characters, control characters, the marks before quoted lines of a message,
letters of another script that look like Latin ones, full-width, mathematical and encircled letters and digits, spaces
that do not break or are of another width, and the way back to the offsets of the text. Does not belong here: escapes
(`deid_platform.text`), case, accents and white space (`normalize.py`).

Sources: the look-alikes are the project's own, chosen from the letters of Greek and Cyrillic whose usual
glyph is that of a Latin letter; invisible characters are those of Unicode's property Default_Ignorable_Code_Point.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import regex

from deid_platform.text.offsets import Rewritten, without

INVISIBLE = (
    "\u0000-\u0008\u000e-\u001b\u007f\u0080-\u0084\u0086-\u009f"  # controls that are no white space
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e01ef"
)
"""Characters that nobody sees, as the inside of a pattern's bracket; the soft hyphen is seen at a line's end."""
_INVISIBLE = regex.compile(rf"[{INVISIBLE}]+|\u00ad+(?![ \t]*[\r\n])")
# Lines that begin with ">", at whatever depth, and one among them that begins with a word: "> 90 mmHg" quotes nothing.
_QUOTED = regex.compile(r"(?<![^\r\n])[ \t]{0,3}>[^\r\n]*(?:(?:\r\n|\n|\r)[ \t]{0,3}>[^\r\n]*)*")
_QUOTED_WORD = regex.compile(r"(?<![^\r\n])[ \t]{0,3}>[ \t>]*[\"“(\[*]?\p{L}")
_QUOTE_MARK = regex.compile(r"(?<![^\r\n])[ \t]{0,3}>(?:[ \t]?>)*[ \t]?")
_CONTROLS = bytes((*range(0x09), *range(0x0E, 0x1C), 0x7F))

_LOOK_ALIKES = dict(
    zip(
        "АВЕКМНОРСТУХІЈЅԚԜҮаеорсухіјѕһԁԛԝктм" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοινκρυχ",
        "ABEKMHOPCTYXIJSQWYaeopcyxijshdqwktm" "ABEZHIKMNOPTYXaoivkpux",
        strict=True,
    )
)  # fmt: skip
_OTHER_SCRIPT = regex.compile(r"[\p{Greek}\p{Cyrillic}]")
_LATIN = regex.compile(r"\p{Latin}")
_NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def has_controls(text: str) -> bool:
    """Whether an ASCII text holds control characters that are no white space."""
    encoded = text.encode()
    return len(encoded.translate(None, _CONTROLS)) != len(encoded)


def deobfuscate(text: str) -> Rewritten:
    """A text as it looks: without invisible characters and marks of quotes, in the Latin letters that it shows."""
    marks = list(_quote_marks(text)) if ">" in text else []
    if text.isascii() and not has_controls(text):
        return without(text, marks)
    shown = without(text, sorted([*marks, *(match.span() for match in _INVISIBLE.finditer(text))]))
    return Rewritten(latinised(shown.text), shown.cuts, shown.shifts)


def _quote_marks(text: str) -> Iterator[tuple[int, int]]:
    """What a mail program puts before each line that it quotes."""
    for block in _QUOTED.finditer(text):
        if _QUOTED_WORD.search(text, *block.span()):
            yield from (mark.span() for mark in _QUOTE_MARK.finditer(text, *block.span()))


@lru_cache(maxsize=1)
def _ascii_forms() -> dict[int, str]:
    """Full-width, mathematical and foreign digits, letters and spaces, each to the ASCII character it stands for."""
    forms = {point: chr(point - 0xFEE0) for point in range(0xFF01, 0xFF5F)}
    for point in range(0x1D400, 0x1D800):
        form = unicodedata.normalize("NFKC", chr(point))
        if form.isascii() and form.isalnum():
            forms[point] = form
    for letter in range(26):
        # In circles, in squares, and those that flags are made of.
        for first in (0x24B6, 0x1F130, 0x1F150, 0x1F170, 0x1F1E6):
            forms[first + letter] = chr(0x41 + letter)
        forms[0x24D0 + letter] = chr(0x61 + letter)
    # Word processors and web pages write them between any two words; no rule reads more than the one space.
    forms |= dict.fromkeys((*map(ord, "\u00a0\u1680\u202f\u205f\u3000"), *range(0x2000, 0x200B)), " ")
    forms |= zip(map(ord, "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"), "abcdefghijklmnoprstuvwyz", strict=True)
    for point in range(0x80, 0x1FBFA):
        if (digit := unicodedata.decimal(chr(point), None)) is not None:
            forms[point] = str(digit)
    return forms


def latinised(text: str) -> str:
    """A text of the same length in which look-alikes are the Latin letters and digits that they look like.

    A word of Greek or Cyrillic letters changes if it also has a Latin one, or if it consists of look-alikes
    alone and most of the text is Latin. A word in an alphabet of its own stays.
    """
    if text.isascii():
        return text
    strange = set(_NOT_ASCII.findall(text))
    if not _ascii_forms().keys().isdisjoint(map(ord, strange)):
        text = text.translate(_ascii_forms())
    if strange.isdisjoint(_LOOK_ALIKES):
        return text
    mostly_latin = len(_LATIN.findall(text)) > len(_OTHER_SCRIPT.findall(text))

    def latin(match: regex.Match[str]) -> str:
        word: str = match[0]
        if not _OTHER_SCRIPT.search(word):
            return word
        looks = all(c in _LOOK_ALIKES for c in word if _OTHER_SCRIPT.match(c))
        disguised = _LATIN.search(word) is not None or (mostly_latin and looks and len(word) > 1)
        return "".join(_LOOK_ALIKES.get(c, c) for c in word) if disguised else word

    shown: str = _WORD.sub(latin, text)
    return shown
