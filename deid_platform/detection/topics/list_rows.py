"""Where a surname alone stands for a patient: at the beginning of a row of a list of patients, beside a bed or a room.

Belongs here: such rows in sign-outs, censuses and rounding lists. Does not belong here: whose surname a word is
(`terms.py`), or other places of a surname (`gazetteer.py`).

"12A Brackwater - stable", "Bed 4: Long, 55M", "- Brackwater (401): watch K", "Sign-out: Brackwater (401)",
"1. Brackwater 2. Vask". A word that means something else besides counts only where an age and a sex follow:
"Bed 4: Long, 55M", but "Room 5: Brown stool".
"""

from __future__ import annotations

from deid_platform.text.compiled import compiled

_REACH = 32
_PLACE = r"(?i:rooms?|rm|bed|bay|cubicle|pod|chair|hall|iso(?:lation)?|[a-z]{0,2}[im]cu|pacu|ed|er|or|tr(?:auma)?|unit)"
_NUMBER = r"(?:[A-Z\d]{1,3}[\-/ ])?[A-Z]{0,2}\d{1,4}(?:[\-/ ]?[A-Z\d]{1,2})?"
_BED = rf"(?:{_PLACE}[.:]?[ \-]?)?\#?[ ]?{_NUMBER}"
_FIRST = r"(?:^|[\r\n;])[ \t]*(?:[-•*>][ \t]*)?"
_BEHIND_BED = compiled(rf"{_FIRST}{_BED}[ \t]*[|:.)\-–—,/]?[ \t]*\Z")
_BEHIND_PLACE = compiled(rf"{_FIRST}{_PLACE}[.:]?[ \-]?\#?[ ]?{_NUMBER}[ \t]*[|:.)\-–—,/]?[ \t]*\Z")
_BEHIND_NUMBER = compiled(r"(?:^|[\r\n]|[ \t;,])[ \t]*\#?\d{1,2}[.)][ \t]*\Z")
_MEASURED = r"(?i:scores?|scale|tests?|sign|index|criteria|grade|class|stage|type|drug|dose|meds?|labs?|results?)"
_HEADING = rf"(?:\w[\w \-]{{2,20}}(?<!\b{_MEASURED}):[ \t]*)"
_BEHIND_MARK = compiled(rf"(?:^|[\r\n])[ \t]*{_HEADING}?(?:[-•*>][ \t]*)?\Z")
_ENDS = compiled(r"[ \t]*(?:[-–—](?!\p{L})|[:|,;/(\r\n]|\Z)|[ \t]+\d{1,2}[.)][ \t]*\p{Lu}")
_BED_NEXT = compiled(rf"[ \t]*[\[(|,/][ \t]*{_BED}[ \t]*(?:[\])|:,\-–—]|\Z)")
_AGE_AND_SEX = compiled(
    r"[ \t]*[,|(/\-]?[ \t]*(?:\d{1,3}[ \t]*(?i:y/?o|yrs?|y)?[ \t]*\|?[ \t]*[MFmf]|[MFmf][ \t,|]{1,3}\d{1,3})(?!\w)"
)


def begins_row(text: str, start: int, end: int, *, common: bool) -> bool:
    """Whether a surname with a capital begins a row about a patient.

    Args:
        text: The note.
        start: Where the surname begins.
        end: Where it ends.
        common: Whether the word has other meanings.
    """
    before = max(0, start - _REACH)
    aged = _AGE_AND_SEX.match(text, end) is not None
    if common:
        return aged and _BEHIND_BED.search(text, before, start) is not None
    behind = _BEHIND_BED.search(text, before, start) or _BEHIND_NUMBER.search(text, before, start)
    if behind and (aged or _ENDS.match(text, end) or _BEHIND_PLACE.search(text, before, start)):
        return True
    return _BED_NEXT.match(text, end) is not None and _BEHIND_MARK.search(text, before, start) is not None
