"""How certainly a position in a line is that of a staff member's initials, whatever the letters.

Belongs here: signatures, persons who are told and asked, words for those who record and do, times beside initials. Does
not belong here: which letters count at such a position (`weighing.py`), the two initials of a dictation line
(`pairs.py`), columns and fields (`columns.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import regex

from deid_platform.detection.topics.staff.cues import (
    ADDRESSING,
    DONE,
    HANDING,
    HELD,
    HOLDERS,
    INITIALS_FIELD,
    JOINING,
    OF_A_FINDING,
    RECORDED,
    SIGNING,
    SPOKEN,
    WHO_RECORDS,
)
from deid_platform.lexicon.abbreviations import is_ordered
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import written_terms
from deid_platform.text.compiled import compiled
from deid_platform.text.lookbehind import Lookbehind

REACH = 60
"""Code points before and after initials that are looked at, within their line."""
WIDEST = 400
"""Code points of a row of a table."""
CREDENTIALS = alternatives(written_terms("credentials.sure"), any_writing=False)
_DATE = r"(?:\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{1,2}[.\-]\d{1,2}[.\-](?:19|20)?\d\d)"
_MOMENT = rf"(?:{_DATE}|\d{{1,2}}:\d\d(?:[ ]?[AaPp]\.?[Mm]\b\.?)?|@[ ]?\d{{1,2}}:?\d\d)"


class Certainty(IntEnum):
    """How surely somebody of the staff stands at a place."""

    NONE = 0
    ALONE = 1
    """Alone on a line, after the end of a sentence, or beside a time: so do findings."""
    ADDRESSED = 2
    """Told, asked or called: so are services."""
    SIGNED = 3
    """As a signature stands, as one who has done something, or before a credential."""
    SURE = 4
    """Where nothing else stands."""


_ITEM = compiled(r"[ \t]*(?:[-–—~•*]|\d{1,2}[.)]|\#)[ \t]*")
_ITEM_ABOVE = compiled(r"(?:\A|\n)[ \t]*[-–—~•*][^\n]*\n$")
_ITEM_BELOW = compiled(r"\r?\n[ \t]*[-–—~•*]")
_DASHES = ("-", "–", "—", "~")
_SIGN = compiled(r"[ \t]*(?:[-–—~]{1,2}|/s/)[ \t]*|.*[.!?)][ \t]*[-–—~]{1,2}[ \t]*")
_SENTENCE_DASH = Lookbehind(r"[.!?)][ \t]*(?:[ \t]|(?:\r?\n[ \t]*)+)[-–—~]{1,2}[ \t]*\n?", 2 * REACH)
_LAST_LINE = compiled(r"\r?(?:\n[ \t\r]*(?:\n|$)|$)")
_CLOSED = compiled(r"[.!?)\d][ \t]*\r?\n$|\n[ \t]*\r?\n$")
BLANK = compiled(r"[ \t]*(?:[-–—~][ \t]*)?")
_ENDS = compiled(rf"[)\]}}/*_~.]{{0,3}}(?:[ \t]*,?[ \t]*\(?{_MOMENT}(?:[ \t]+{_MOMENT})?\)?)?[ \t.]*$")
_TITLED = compiled(rf"(?:[ \t]*,?[ \t]+|/){CREDENTIALS}(?![\p{{L}}\p{{N}}])")
_TITLED_LINE = compiled(rf"[ \t]*,?[ \t]+{CREDENTIALS}[ \t.]*$")
_TOLD = compiled(
    r"\b(?:report(?:ed)?|hand-?(?:ed[ \t]+)?off|given|per|by|from|to|with|w/|d/w|called|paged|notified)"
    r"[ \t]+(?:to[ \t]+)?$",
    regex.IGNORECASE,
)
_RELIEVED = compiled(r"\b(?:hand-?off|hand-?over|relieved|relief|report)[ \t:]+(?:from[ \t]+)?$", regex.IGNORECASE)
_RELIEVER = compiled(
    r"\b(?:hand-?off|hand-?over|report)[ \t:]+(?:from[ \t]+)?\p{Lu}{2,3}[ \t]*(?:to|->|→|>)[ \t]*$", regex.IGNORECASE
)
_TO_ANOTHER = compiled(r"[ \t]*(?:[ \t]to[ \t]|->|→|>)[ \t]*\p{Lu}{2,3}(?![\p{L}\p{N}])")
_BEFORE_NAME = compiled(
    rf"\)[ \t]+(?:\p{{Lu}}[\p{{L}}\p{{M}}'’.\-]*[ \t]+){{0,3}}\p{{Lu}}[\p{{L}}\p{{M}}'’.\-]+"
    rf"[ \t]*,[ \t]*{CREDENTIALS}\b"
)
_DOCTOR = compiled(r"(?<![\p{L}\p{N}])(?:Drs?|[Dd]octor)\b\.?[ \t]+$")
_REACHED = compiled(
    r"(?:[ \t]+(?:was[ \t]+|is[ \t]+|has[ \t]+been[ \t]+)?(?:paged|notified|informed|aware|updated|called|texted|"
    r"at[ \t]+bedside|agrees|concurs|on[ \t]+call|covering|"
    r"(?:will|to|in[ \t]+to)[ \t]+(?:see|assess|evaluate|follow))\b|"
    r"['’]s[ \t]+(?:service|team|patient|pt|recs?|recommendations|note|clinic|schedule)\b)"
)
_STOPS = compiled(
    r"[ \t]*(?:$|[.,;:)\]|/&@]|\d{1,2}:\d\d|"
    r"(?:at|on|in|for|re|about|and|who|to|with|via|by|if|regarding|this|today|again)\b)"
)
_AT_A_TIME = compiled(rf"[ \t]+(?:(?:at|on)[ \t]+\d|{_MOMENT})")
_ENCLOSED = compiled(r"[.!?]\s*[(\[{]$|[.!?][ \t]*/{1,2}[ \t]*$")
_ENCLOSED_MOMENT = compiled(rf"[ \t,]*{_MOMENT}(?:[ \t]+{_MOMENT})?[)\]}}]")
_AFTER_SENTENCE = compiled(r"[.!?)][ \t]+$")
_MOMENT_BEFORE = compiled(rf"(?<![\p{{L}}\d/.:\-]){_MOMENT}[ \t]*[-–,;]?[ \t]*$")
_TIMED = compiled(rf"[ \t]*(?:{_DATE}[ ])?(?:\d{{1,2}}:\d\d|[0-2]\d[0-5]\d)(?:[ ]?[AaPp][Mm])?[ \t]*[-–:|]?[ \t]*")
_CHARTS = compiled(r"[ \t]*[:\-–]?[ \t]*\p{Lu}\p{Ll}")
_CLOCK = compiled(r"[ \t]*,?[ \t]*@?[ ]?(?:[01]\d|2[0-3]):?[0-5]\d(?!\d)")
_CAPITALS = 6
_OPENING = ("-", "–", "—", "/", "(", "[", "|", ",", ";")
_HALF_OF_DAY = frozenset(("AM", "PM"))
_MOMENT_AFTER = compiled(rf"[ \t]*,?[ \t]*{_MOMENT}(?![\d/])")
# The two ends of a dictation line: "D: 3/4 T: 3/5 KR".
_DICTATION = compiled(
    r"(?<![\p{L}\p{N}])(?:DD?|dict\p{Ll}*)[ ]?:?[ ]?\d{1,2}[/\-.]\d.{0,24}?(?<![\p{L}\p{N}])(?:TT?|DT|trans\p{Ll}*)"
    r"[ ]?:?[ ]?\d{1,2}[/\-.]\d",
    regex.IGNORECASE,
)


@dataclass(frozen=True)
class Position:
    """Where letters stand. Its `repr` shows nothing of the note.

    Attributes:
        text: The note.
        start: Where the letters begin.
        end: Where they end.
        left: Where their line begins, as far as it matters.
        right: Where it ends, likewise.
    """

    text: str
    start: int
    end: int
    left: int
    right: int

    def __repr__(self) -> str:
        return "<Place>"

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Position:
        """The place of letters in a note."""
        left = max(0, start - REACH, text.rfind("\n", max(0, start - REACH), start) + 1)
        right = text.find("\n", end, end + REACH)
        right = right if right >= 0 else min(len(text), end + REACH)
        return cls(text, start, end, left, right - (right > end and text[right - 1] == "\r"))

    def reaches(self, least: Certainty, *, means_else: bool) -> bool:
        """Whether somebody of the staff stands here at least as surely as asked.

        Args:
            least: How surely.
            means_else: Whether the letters are those of an abbreviation or a word.
        """
        if self._stands_sure():
            return True
        if least <= Certainty.SIGNED and self._signs():
            return True
        if least <= Certainty.ADDRESSED and self._is_addressed(means_else=means_else):
            return True
        return least <= Certainty.ALONE and self._is_alone(means_else=means_else)

    @cached_property
    def after_sentence(self) -> bool:
        """Whether a dash, and before it the end of a sentence, stands before the letters."""
        return _SENTENCE_DASH(self.text, self.start, left=max(0, self.left - REACH))

    @cached_property
    def closes(self) -> bool:
        """Whether the line is the last of its paragraph, after the end of a sentence or a blank line."""
        closed = _CLOSED.search(self.text, max(0, self.left - REACH), self.left)
        return closed is not None and _LAST_LINE.match(self.text, self.right) is not None

    @cached_property
    def in_capitals(self) -> bool:
        """Whether the line is written in capitals."""
        line = self.text[self.left : self.start] + self.text[self.end : self.right]
        return not any(map(str.islower, line)) and sum(map(str.isupper, line)) >= _CAPITALS

    @cached_property
    def _cue(self) -> tuple[str, str]:
        """The last two words before the letters, in small letters without what parts them from it."""
        words = self.text[self.left : self.start].rstrip(' \t:=|#*_.(["“').lower().rsplit(None, 2)[-2:]
        cleared = [word.lstrip('([{|,;:*-–—"“') for word in words]
        return (cleared[-2] if len(cleared) > 1 else "", cleared[-1] if cleared else "")

    @cached_property
    def _parted(self) -> str:
        """What stands between the last word before the letters and them."""
        before = self.text[self.left : self.start]
        return before[len(before.rstrip(" \t:=|#*_")) :]

    def _stands_sure(self) -> bool:
        text, start, end = self.text, self.start, self.end
        first, last = self._cue
        if last in WHO_RECORDS or (last == "by" and first in RECORDED):
            return True
        if last in INITIALS_FIELD and (":" in self._parted or "=" in self._parted):
            return True
        if last in ("dr", "drs", "doctor"):
            return _DOCTOR.search(text, max(self.left, start - 8), start) is not None
        if last in HANDING or last in ("to", "from", "->", "→", ">"):
            if _RELIEVER.search(text, self.left, start):
                return True
            if _RELIEVED.search(text, self.left, start):
                return _TO_ANOTHER.match(text, end, self.right) is not None
        if text[start - 1 : start] == "(" and _BEFORE_NAME.match(text, end, end + 2 * REACH):
            return True
        if BLANK.fullmatch(text, self.left, start):
            return _TITLED_LINE.match(text, end, self.right) is not None
        return _TITLED.match(text, end, self.right) is not None and _TOLD.search(text, self.left, start) is not None

    def _signs(self) -> bool:
        text, start, end, left, right = self.text, self.start, self.end, self.left, self.right
        if _TITLED.match(text, end, right):
            return True
        first, last = self._cue
        if last == "by" and (first in DONE or _AT_A_TIME.match(text, end, right)):
            return True
        if last in HELD and (":" in self._parted or "|" in self._parted):
            return True
        if last in SIGNING and (_STOPS.match(text, end, right) or _MOMENT_AFTER.match(text, end, right)):
            return True
        bracketed = text[start - 1 : start] in ("(", "[", "{")
        if bracketed and _ENCLOSED_MOMENT.match(text, end, right):
            return True
        ends = _ENDS.match(text, end, right) is not None
        if ends and _ENCLOSED.search(text, max(0, left - 2), start):
            return True
        if ends and _SIGN.fullmatch(text, left, start):
            # An item of a list is no signature.
            bullet = text[left:start].strip() in _DASHES and _ITEM_ABOVE.search(text, max(0, left - WIDEST), left)
            return not bullet and not _ITEM_BELOW.match(text, right)
        return text[end : end + 1] != ":" and _DICTATION.search(text, left, right) is not None

    def _is_addressed(self, *, means_else: bool) -> bool:
        first, last = self._cue
        if last in HOLDERS and not self._parted.strip(" \t") and _STOPS.match(self.text, self.end, self.right):
            return True
        if last == "of" and first in ("pt", "patient", "panel", "service", "care"):
            return _STOPS.match(self.text, self.end, self.right) is not None
        plain = not self._parted.strip(" \t:") and (not means_else or _STOPS.match(self.text, self.end, self.right))
        if plain and (last in ADDRESSING or (last in JOINING and first in SPOKEN)):
            return True
        if plain and last == "to" and first in ("off", "out"):  # signed out, handed off
            return True
        return _REACHED.match(self.text, self.end, self.right) is not None

    def _is_alone(self, *, means_else: bool) -> bool:
        text, start, end, left, right = self.text, self.start, self.end, self.left, self.right
        opens = not text[left:start].strip()
        ends = _ENDS.match(text, end, right) is not None
        if ends and (opens or _AFTER_SENTENCE.search(text, left, start)):
            return True
        ordered = is_ordered(text[start:end].lower())
        does = self._cue[1] in DONE or self._cue[1] in RECORDED
        if does and not self._parted.strip(" \t") and (ends or _CLOCK.match(text, end, right)):
            return not ordered
        beside = text[max(left, start - 1) : start]
        if ends and not means_else and not ordered and (beside.isspace() or beside in _OPENING):
            return self._cue[1] not in OF_A_FINDING and _ITEM.fullmatch(text, left, start) is None
        if beside in ("(", "[") and text[end : end + 1] in (")", "]"):
            return _AFTER_SENTENCE.search(text, left, start - 1) is not None
        return text[start:end] not in _HALF_OF_DAY and self._is_timed(opens=opens, means_else=means_else)

    def _is_timed(self, *, opens: bool, means_else: bool) -> bool:
        """Whether a time or a date stands beside the letters, at an edge of the line."""
        text, start, end, left, right = self.text, self.start, self.end, self.left, self.right
        if not text[end:right].strip(" \t.") and _MOMENT_BEFORE.search(text, left, start):
            return True
        if opens and _MOMENT_AFTER.match(text, end, right):
            return True
        charts = not means_else and _CHARTS.match(text, end, right) is not None
        return charts and _TIMED.fullmatch(text, left, start) is not None
