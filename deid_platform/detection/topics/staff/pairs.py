"""Two initials side by side: who dictated and who typed, or two who checked one thing.

Belongs here: "KR/dc", "KR:dc:mt", "D: JS T: ab", "kr/dc" on a line of its own. Does not belong here: one person's
initials (`positions.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.topics.staff.colleagues import Known, Who
from deid_platform.detection.topics.staff.positions import BLANK, Position
from deid_platform.lexicon.abbreviations import AbbreviationKind, abbreviation_kind
from deid_platform.text.fold import fold_term

_CLINICAL_PAIRS = frozenset((
    "nc/at", "ad/hd", "am/pm", "ac/pc", "bs/bm", "bp/hr", "hr/bp", "hr/rr", "cv/rs", "cn/ms", "dm/ht", "ca/mg", "na/cl",
    "bm/bs", "vs/io", "ap/pa", "rr/hr", "cr/bu", "ll/rl", "le/ue", "ue/le", "lt/rt", "rt/lt", "fx/dx", "hx/px", "dx/tx",
    "rx/tx", "sx/rx", "en/id", "pt/ot", "ot/pt", "iv/po", "po/iv", "im/iv", "iv/im", "ed/er", "er/ed", "md/np", "np/pa",
    "rn/md", "or/ir", "ct/mr", "mr/ct", "cp/pr", "gi/gu", "gu/gi", "hi/si", "si/hi", "ah/vh", "and/or", "he/she",
    "she/he", "yes/no", "in/out", "on/off", "his/her", "him/her", "up/dn", "mom/dad", "oz/ml", "mg/kg", "kg/lb",
))  # fmt: skip
# What may stand behind the typist: another's initials, dates, the number of the job.
_REST = (
    r"(?![\p{L}\p{M}\p{N}])(?:[/:;](?P<third>\p{L}{2,3})(?![\p{L}\p{M}\p{N}]))?[ \t]*"
    r"(?:[,;|]?[ \t]*(?:(?:[Jj]ob|[Dd]oc\p{Ll}*|\#)[ \t:#]*\p{Lu}{0,3}-?\d|\d{5,}|\d{1,2}[/\-]\d{1,2}[/\-]\d{2,4}"
    r"|(?:DD?|TT?|DT)[ ]?:).*)?\r?$"
)
_TYPIST = regex.compile(r"(?:[ ]?[/;\\](?P<other>\p{Lu}{2,3}|\p{Ll}{2,3})|:(?P<other>\p{Lu}{2}|\p{Ll}{2,3}))" + _REST)
_NUMBERED = regex.compile(
    r"(?:.*[ \t])?(?:DD?|TT?|DT|[Dd]ict\p{Ll}*|[Tt]rans\p{Ll}*|[Jj]ob|[Dd]oc\p{Ll}*|\#)[ \t:#]*\d[\d/\-.: ]*[ \t]+"
)
# A line that tells when it was dictated and when typed, or the number of the job as well: nothing but two who did it.
_DATED_TWICE = regex.compile(
    r".*(?<!\p{L})DD?[ ]?:[ \t]*\d[\d/\-. :]*(?:[,;|][ \t]*)?(?:TT?|DT)[ ]?:[ \t]*\d[\d/\-.: ]*"
)
_JOB_NEXT = regex.compile(r"[ \t,;|]*(?:[Jj]ob|JOB)\b")
_SIGNS = ("/", ":", ";", "\\")
_SENTENCE = regex.compile(r".*[.!?)][ \t]+(?:[-–—~][ \t]*)?")
_DICTATED = regex.compile(r"(?<![\p{L}\p{N}])(?:DD?|dict(?:ated|ator)?)[ \t]?:[ \t]*$", regex.IGNORECASE)
_THEN_TYPED = regex.compile(r"[ \t,;/|]*(?:TT?|trans\p{L}*)[ \t]?:[ \t]*(?P<other>\p{L}{2,3})(?![\p{L}\p{N}])")
_SMALL = regex.compile(r"[ \t]*(?P<one>\p{Ll}{2,3})[ ]?[/:;][ ]?(?P<two>\p{Ll}{2,3})[ \t\r]*")


def typist(place: Position, known: Known) -> list[tuple[int, int]]:
    """The places of the initials that follow some on a dictation line: the "dc" of "KR:dc"; none if it is none."""
    text, start, end, left, right = place.text, place.start, place.end, place.left, place.right
    beside = text[end : end + 2].lstrip(" ")[:1]
    if beside not in _SIGNS and ":" not in text[max(left, start - 3) : start]:
        return []  # most letters
    pair, blank, sure = None, False, False
    if BLANK.fullmatch(text, left, start):
        pair, blank = _TYPIST.match(text, end, right), True
    elif _DICTATED.search(text, left, start):
        pair = _THEN_TYPED.match(text, end, right)
    elif _SENTENCE.fullmatch(text, left, start) or _NUMBERED.fullmatch(text, left, start):
        pair = _TYPIST.match(text, end, right)
        if pair is not None:
            dated = _DATED_TWICE.fullmatch(text, left, start) is not None
            sure = dated or _JOB_NEXT.match(text, pair.end("other")) is not None
    if pair is None:
        return []
    one, two = fold_term(text[start:end]), fold_term(pair["other"])
    # In small letters after a colon, or alone between a sentence and a blank line, hardly anything else stands.
    placed = pair["other"].islower() or (blank and len(one) == len(two) == 2 and place.closes)
    if f"{one}/{two}" in _CLINICAL_PAIRS or not (sure or _are_two(one, two, known, placed=placed)):
        return []
    third = pair.groupdict().get("third")
    return [pair.span("other"), *([pair.span("third")] if third else [])]


def small_pair(text: str, start: int, end: int, known: Known) -> list[tuple[int, int]]:
    """The places of two initials in small letters that are all of a line: "kr:dc"."""
    pair = _SMALL.fullmatch(text, start, end)
    if pair is None:
        return []
    one, two = fold_term(pair["one"]), fold_term(pair["two"])
    words = any(abbreviation_kind(letters) < AbbreviationKind.CLINICAL for letters in (one, two))
    free = all(abbreviation_kind(letters) is AbbreviationKind.FREE for letters in (one, two))
    if f"{one}/{two}" in _CLINICAL_PAIRS or not (known.who(one) >= Who.COLLEAGUE or (free and not words)):
        return []
    return [pair.span("one"), pair.span("two")] if Position(text, start, end, start, end).closes else []


def _are_two(one: str, two: str, known: Known, *, placed: bool) -> bool:
    kinds = (abbreviation_kind(one), abbreviation_kind(two))
    who = (known.who(one), known.who(two))
    if min(kinds) < AbbreviationKind.CLINICAL:  # "NO/AT", "KR:or"
        return min(who) >= Who.COLLEAGUE or (who[0] is Who.OWN and placed)
    if max(len(one), len(two)) > 2 and max(who) < Who.COLLEAGUE:
        return min(kinds) is AbbreviationKind.FREE  # "EHL/EDL", "PMH:nil"
    return placed or max(kinds) is AbbreviationKind.FREE or max(who) >= Who.COLLEAGUE
