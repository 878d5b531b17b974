"""Numbers and dates that are broken over a line, joined for another search.

Belongs here: which line ends are inside a number or a date, and the text around them with these line ends removed. Does
not belong here: what is an identifier there (the recognizers search the joined text as any other).

A hyphen, a slash or the bracket of an area code at the end of a line shows that a number continues: "617-555-⏎0142",
"(617)⏎555-0142", "12/⏎03/2019". Without such a mark, lines of figures end between digits as well, so only the grouping
of a telephone, SSN or card number after its label counts ("Phone: 617 555⏎0142"), and a day beside its month.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from deid_platform.detection.api import Candidate
from deid_platform.text.compiled import compiled
from deid_platform.text.offsets import Rewritten, without

_BEFORE, _AFTER = 160, 100  # code points around the end of a line that are read again
_LEFT, _RIGHT = 48, 24  # code points beside it that decide whether it is joined
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre"
    r"|novembre|dicembre|enero|febrero|abril|mayo|junio|julio|septiembre|octubre|noviembre|diciembre)(?!\p{L})"
)
_LINE_END = compiled(
    rf"\n[ \t]{{0,8}}(?=[(\-–]?\d|(?i:st|nd|rd|th|of|{_MONTH})\b)",
)
_SPACE_BEFORE = compiled(r"[ \t]{0,8}\r?$")
_LONE_RETURN = compiled(r"\r(?!\n)")
_LABEL = (
    r"\b(?i:phones?|tel|telephone|cell|mobile|home|work|office|fax(?:ed)?|pager|beeper|call(?:ed|s|ing)?|contact|ph"
    r"|number|no|reach(?:ed)?|dial|text|ssn?|social|security|card|visa|mastercard|nhs|mrn|mr|acct|account|member|policy)\b"
    r"[^\d\r\n]{0,24}"
)
_DAY = r"(?<![\d.,:/\-])\d{1,2}"
_SUFFIX = r"(?:[ ]?(?i:st|nd|rd|th))"
_CUE = r"\b(?i:on|since|from|until|till|by|dated?|seen|due|il|dal|al|el|del|le|am|vom|before|after)[ ](?:the[ ])?"


def _pair(left: str, right: str, put: str) -> tuple[regex.Pattern[str], regex.Pattern[str], str]:
    return compiled(f"(?:{left})$"), compiled(right), put


# What stands before the end of a line, what after it, and what between the two when they are read as one.
_JOINED = (
    _pair(r"\d[ \t]?[-–/]", r"\d", ""),
    _pair(r"\(\d{2,5}\)", r"\d{2,4}", ""),
    _pair(r"(?<!\d)(?:\d{3}\.){1,2}", r"\d{3,4}(?!\d)", ""),
    _pair(r"(?<![\d.])\d{1,2}\.", r"\d{1,2}\.(?:19|20)\d\d(?![\d.])", ""),
    _pair(r"(?<![\d.])\d{1,2}\.\d{1,2}\.", r"(?:19|20)\d\d(?![\d.])", ""),
    _pair(r"(?<!\d)(?:\d{3}[\-. ]?\d{2,3}|\d{3})", r"[-–]\d{2,4}(?!\d)", ""),
    _pair(r"\(\d{3}\)[ ]?\d{3}", r"\d{4}(?!\d)", " "),
    _pair(r"(?<![\d.,\-/])[2-9]\d\d", r"[2-9]\d\d[\-–]\d{4}(?![\d\-])", " "),
    _pair(rf"{_LABEL}(?:1[ .\-])?\d{{3}}[ .\-]\d{{2,3}}", r"\d{4}(?!\d)", " "),
    _pair(rf"{_LABEL}(?:1[ .\-])?\d{{3}}", r"\d{2,3}[ .\-]\d{4}(?!\d)", " "),
    _pair(rf"{_LABEL}\+\d{{1,3}}(?:[ .\-]\d{{1,5}}){{1,3}}", r"\d{2,4}(?!\d)", " "),
    _pair(r"(?<!\w)\+\d{1,3}(?:[ .\-]\d{2,5}){2,3}", r"\d{2,4}(?!\d)", " "),
    _pair(r"(?<![\d.])\d{4}(?:[ ]\d{4}){0,2}", r"\d{4}(?:[ ]\d{4}){0,2}(?![\d.]|[ ]\d)", " "),
    _pair(r"\d", r"(?i:st|nd|rd|th)\b", ""),
    _pair(rf"{_DAY}{_SUFFIX}(?:[ ]of)?|{_CUE}\d{{1,2}}", rf"(?i:of[ ])?(?i:{_MONTH})(?![.,]?[ ]\d{{1,2}}\b)", " "),
    _pair(_DAY, rf"(?i:{_MONTH})[.,]?[ ](?:of[ ]|del?[ ])?(?:19|20)\d\d\b", " "),
    _pair(rf"\d[\-/. ](?i:{_MONTH})", r"(?:19|20)\d\d\b", " "),
    _pair(rf"\b(?i:{_MONTH})[\-/]", r"\d", ""),
    _pair(r"\d[\-/]", rf"(?i:{_MONTH})[\-/]", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Joined:
    """A stretch of a text without the line ends inside a number or a date.

    Attributes:
        start: Where the stretch starts in the text.
        shown: The stretch as it is read again.
        joints: Where each number is put together in it: one past its left part, the start of its right one.
    """

    start: int
    shown: Rewritten
    joints: tuple[tuple[int, int], ...]

    def placed(self, span: Candidate) -> Candidate | None:
        """A span found in the stretch, in the offsets of the text; None if it does not cross a joint."""
        if not any(span.start < left and right < span.end for left, right in self.joints):
            return None
        origin = self.shown.origin
        return span._replace(start=self.start + origin(span.start), end=self.start + origin(span.end - 1) + 1)


def joined_lines(text: str) -> Iterator[Joined]:
    """The stretches of a text in which the end of a line breaks a number or a date."""
    lines = _LONE_RETURN.sub("\n", text) if "\r" in text else text
    near: list[tuple[int, int, str]] = []
    for end in _LINE_END.finditer(lines):
        joint = _joint(lines, end.start(), end.end())
        if joint is None:
            continue
        if near and joint[0] - _BEFORE > near[-1][1] + _AFTER:
            yield _stretch(text, near)
            near = []
        near.append(joint)
    if near:
        yield _stretch(text, near)


def _joint(text: str, newline: int, right: int) -> tuple[int, int, str] | None:
    """The replacement of a line end, and its interval, if a number or a date continues after it."""
    space = _SPACE_BEFORE.search(text, max(0, newline - 9), newline)
    left = space.start() if space else newline
    for before, after, put in _JOINED:
        if after.match(text, right, right + _RIGHT) and before.search(text, max(0, left - _LEFT), left):
            return left, right, put
    return None


def _stretch(text: str, joints: list[tuple[int, int, str]]) -> Joined:
    start, end = max(0, joints[0][0] - _BEFORE), joints[-1][1] + _AFTER
    shown = text[start:end]
    deleted: list[tuple[int, int]] = []
    places: list[tuple[int, int]] = []
    shift = 0
    for left, right, put in joints:
        first, last = left - start, right - start
        shown = shown[:first] + put + shown[first + len(put) :]
        deleted.append((first + len(put), last))
        places.append((first - shift, first - shift + len(put)))
        shift += last - first - len(put)
    return Joined(start, without(shown, deleted), tuple(places))
