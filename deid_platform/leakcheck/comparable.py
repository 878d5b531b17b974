"""How a text is read when it is compared with what is known of people.

Belongs here: one text in the forms that comparisons need. Does not belong here: anybody's identifiers, or
what counts as a leak.

A text is folded: without case, accents, compatibility forms (full-width letters, digits of other scripts),
look-alikes of Latin letters, and characters that nobody sees. What was removed from it stands as `GAP`, so
that the words on its two sides are no neighbours.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, cached_property
from importlib import resources

import regex

from deid_platform.leakcheck.said import Row, said_rows
from deid_platform.text import views

# Stand for a removed patient's name and for any other removed text: no letters, and kept by `fold`.
NAME_GAP = "\ufffe"
GAP = "\ufffc"

_LONGEST_NUMBER = 15
_SHORTEST_JOINED = 6
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]+")
_TOKEN = re.compile(rf"[^\W\d_]+|\d+|[{GAP}{NAME_GAP}]")
_WRITTEN = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")
_POSSESSIVE = re.compile(r"'s(?![^\W_])")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
# Whatever parts digits, as in a table's "614|555|0142", but for what was removed between them.
_DIGIT_RUN = re.compile(rf"\d+(?:(?:[^\w{GAP}{NAME_GAP}]|_){{1,3}}\d+)*")
_DIGITS = re.compile(r"\d+")

# Small letters that NFKD leaves whole, and those of other scripts that, small or capital, look like Latin ones.
_ALIKE = {
    **dict(zip("øłđðħıŧ", "olddhit", strict=True)),
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    **dict(zip("аеорсухіјѕһԁԛԝԍɡвкмнтү", "aeopcyxijshdqwggbkmhty", strict=True)),
    **dict(zip("αβεζηικμνορτυχ", "abezhikmnoptyx", strict=True)),
    **dict.fromkeys("‘’‛ʼʹ′`", "'"),
}
# Letters that NFKD leaves as symbols: in black circles and squares, of flags, and small capitals.
_SHOWN_AS = {
    **{chr(first + i): chr(0x61 + i) for first in (0x1F150, 0x1F170, 0x1F1E6) for i in range(26)},
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
}


class _Folding(dict[int, str]):
    """What each code point folds to, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _folded(chr(code))
        return folded


def _folded(character: str) -> str:
    if character == "´":  # which NFKD would take for a space and an accent
        return "'"
    if character in _SHOWN_AS:
        return _SHOWN_AS[character]
    if _INVISIBLE.match(character):
        return ""
    plain = []
    for c in unicodedata.normalize("NFKD", character).casefold():
        category = unicodedata.category(c)
        if category[0] == "M":
            continue
        if category == "Nd":
            plain.append(str(unicodedata.digit(c)))
        elif category == "Pd" or c == "\u2212":
            plain.append("-")
        else:
            plain.append(_ALIKE.get(c, c))
    return "".join(plain)


_FOLDING = _Folding()


def fold(text: str) -> str:
    """A text without case, accents, compatibility forms, look-alikes and characters that nobody sees."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def tokens_of(folded: str) -> list[str]:
    """Runs of letters, runs of digits and gaps of a folded text; "o'brien's" is "obrien"."""
    if "'" in folded:
        folded = _APOSTROPHE.sub("", _POSSESSIVE.sub("", folded))
    return _TOKEN.findall(folded)


def line_of(tokens: list[str] | tuple[str, ...]) -> str:
    """Tokens in one line, each between spaces, so that a phrase is sought in a text by `in`."""
    return f" {' '.join(tokens)} "


def digits_of(value: str) -> str:
    """The digits of a value, those of other scripts too."""
    return "".join(_DIGITS.findall(fold(value)))


class ComparableText:
    """One way to read a text.

    Attributes:
        text: As written, with gaps.
        folded: `fold(text)`.
        tokens: Its words, numbers and gaps in order.
        line: The tokens, each between spaces.
        as_seen: Whether it is what a reader sees, rather than how that is written.
    """

    def __init__(self, text: str, *, as_seen: bool = True) -> None:
        self.text = text
        self.as_seen = as_seen
        self.folded = fold(text)
        self.tokens = tokens_of(self.folded)
        self.line = line_of(self.tokens)

    def __repr__(self) -> str:
        return "<ComparableText>"

    @cached_property
    def words(self) -> frozenset[str]:
        """The distinct tokens."""
        return frozenset(self.tokens)

    @cached_property
    def said(self) -> tuple[Row, ...]:
        """The rows of numbers that it says in words."""
        return said_rows(self.tokens)

    @cached_property
    def squeezed(self) -> str:
        """The tokens without anything between them."""
        return "".join(self.tokens)

    @cached_property
    def places(self) -> dict[int, int]:
        """Where each token starts in `squeezed`, and its index; the end of the text has one too."""
        places, position = {}, 0
        for index, token in enumerate(self.tokens):
            places[position] = index
            position += len(token)
        places[position] = len(self.tokens)
        return places

    @cached_property
    def written(self) -> list[tuple[str, int, int]]:
        """The words of `text` but single letters: each folded, with its start and end in `text`."""
        return [
            ("".join(tokens_of(fold(match.group()))), *match.span())
            for match in _WRITTEN.finditer(self.text)
            if len(match.group()) > 1
        ]

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Numbers without leading zeros: each run of digits, and neighbouring runs joined to six digits or more, in
        words too."""
        found: set[str] = set()
        runs = [_DIGITS.findall(run.group()) for run in _DIGIT_RUN.finditer(self.folded)]
        for groups in (*runs, *([item.digits for item in row if item.digits.isdecimal()] for row in self.said)):
            for first, group in enumerate(groups):
                joined = group.lstrip("0")
                found.add(joined[: _LONGEST_NUMBER + 1])
                for following in groups[first + 1 : first + _LONGEST_NUMBER]:
                    joined = (joined + following).lstrip("0")
                    if len(joined) > _LONGEST_NUMBER:
                        break
                    if len(joined) >= _SHORTEST_JOINED:
                        found.add(joined)
        return frozenset(found)


def comparable_texts(text: str) -> tuple[ComparableText, ...]:
    """A text as it is written, as its reader sees it, and, of invisible characters, also as if they were spaces."""
    seen = [view.text for view in views(text)]
    otherwise = [] if seen[0] is text else [text]
    otherwise += [spaced for each in (*seen, *otherwise) if (spaced := _spaced(each)) != each]
    return (*map(ComparableText, seen), *(ComparableText(each, as_seen=False) for each in otherwise))


def _spaced(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub(" ", text)


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of data/<name>.txt."""
    source = (resources.files(__package__ or "") / "data" / f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(w for line in source.splitlines() if not line.startswith("#") for w in line.split())
