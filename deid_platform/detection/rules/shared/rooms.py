"""Validators of rooms and beds: whether a number behind such a word is the room's.

Belongs here: the validators that `rooms.yaml` names. Does not belong here: which words there are.
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.text.compiled import compiled

_WORD = compiled(r"(\p{L}+)[ \t]{0,6}(?:[.:#=|][ \t]{0,6})?(?:(?i:no|nr|num|number|n[º°])\b[.:]?[ \t]?)?#?$")
# A time, a measure, a count, a share, a grade or an ordinal begins so.
_GOES_ON = compiled(
    r"[ ]?(?::\d|[%\"&°+x×]|['’](?!s)|/[ ]?[\d\p{Ll}]|[.,]\d|[-–]\d|(?i:am|pm|[ap]|h|hrs?|hours?|horas?|ore"
    r"|heures?|std|mins?|minut\p{L}*|days?|d[ií]as?|giorni|jours?|tage?|weeks?"
    r"|months?|years?|times|veces|volte|fois|mal|ft|feet|m|cm|mm|mg|ml|l|degrees?|grados|gradi|of|beds|pts"
    r"|patients|pacientes|to|or|o|and[ ]a)\b)",
)
_LEVEL = compiled(r"(?i)(?:head of|hob|sit\p{L}*|out of|in|to|for|than|per|off) (?:the )?$")
_TIME = compiled(r"(?:[01]\d|2[0-3])[0-5]\d")
_LETTER_ALONE = frozenset("BCDFGHJKMNPQSTVWXZ")
_ENDS = compiled(r"[ \t]*(?:[.,;:)\]|\r\n]|$)|[ \t]{2}")
_TUBE = compiled(
    r"(?i)sond|foley|cath|drain|redon|tub[eo]|vesc|v[eé]sic|aspir|sng|chest|frozen|isolate|kit|freezer|tele"
)
_NODE = compiled(r"(?i)node|nodal|ebus|tbna|lymph|linfo|gangl|adenop|\bmm\b|\bfna\b|subcarin|paratrach")
_STATION = frozenset(("station",))
# Words that mean something else as well: only what cannot be a count.
_AMBIGUOUS = frozenset(("unit", "pod", "posto", "platz", "bldg", "amb", "raum"))
_NUMBERED_NOTE = compiled(r"(?i)p\.?o\.?[ ]?$|\b(?:check|tick|sand|lunch|glove|pill|voice|sharps)[ \-]?$")
_IN_ROW = compiled(r"(?m)^[ \t]{0,8}(\d{1,2}\p{Lu}{1,2}-\d{2}\p{Lu}?|\d{3}-\d|\p{Lu}\d{3}(?:-\p{Lu})?)(?=[ \t]{1,8})")
_ALTERNATIVE = compiled(r"(?<!\p{L})(?:to|in|into|from|the|->|→|[A-Z]{2,} TO)[ ]$|(?:^|[\r\n,;:.)\]|]|[ \t]{2})[ \t]*$")


@validator
def room(text: str, start: int, end: int) -> Interval | None:
    """The number or the letter of a room, a bed or a ward."""
    value = text[start:end]
    before = text[max(0, start - 60) : start]
    match = _WORD.search(before)
    if match is None:  # a further one of a list
        return None if _GOES_ON.match(text, end) else (start, end)
    word, ahead = match[1].lower(), before[: match.start()]
    if _GOES_ON.match(text, end) or _NUMBERED_NOTE.search(ahead):
        return None
    if not any(map(str.isdigit, value)):
        return (
            (start, end)
            if _is_letter(text, end, value) and word not in _AMBIGUOUS | {"ch", "station", "scanner"}
            else None
        )
    if _TIME.fullmatch(value) and (value[0] == "0" or _LEVEL.search(ahead)):
        return None
    return None if _is_something_else(text, start, end, word, ahead) else (start, end)


def _is_something_else(text: str, start: int, end: int, word: str, ahead: str) -> bool:
    value = text[start:end]
    plain = not any(map(str.isalpha, value))
    if plain and word in _AMBIGUOUS:
        return word not in ("amb", "posto", "bldg") or len(value) > 2
    if word in ("ch", "box"):
        near = text[max(0, start - 60) : start].rpartition("\n")[2]
        return (
            bool(_TUBE.search(near))
            or text[start - 3 : start].isupper()
            or (len(value) < 2 and word == "ch")
            or value[0] == "0"
        )
    if word in _STATION:
        return bool(_NODE.search(text[max(0, start - 60) : end + 40]))
    if word in ("bed", "chair", "poste") and plain:
        return bool(_LEVEL.search(ahead)) and word == "bed" and value[-1] in "05" and len(value) > 1
    return False


def _is_letter(text: str, end: int, value: str) -> bool:
    return (value in _LETTER_ALONE and text[end : end + 1] not in ("’", "'")) or bool(_ENDS.match(text, end))


@validator
def unit_bed(text: str, start: int, end: int) -> Interval | None:
    """The bed behind the name of a unit; "OR" and "ER" are words and ratios too."""
    word = regex.search(r"(\p{L}+)[ \-]$", text[max(0, start - 8) : start])
    if _GOES_ON.match(text, end) or word is None:
        return None
    ahead = text[max(0, start - 24) : start - len(word[0])]
    if word[1] in ("OR", "ER", "ED", "TI"):
        return (start, end) if _ALTERNATIVE.search(ahead) else None
    return start, end


@validator
def bed_row(text: str, start: int, end: int) -> Interval | None:
    """What begins at least two lines of a list in the same shape."""
    shape = _shape(text[start:end])
    return (start, end) if sum(_shape(m[1]) == shape for m in _IN_ROW.finditer(text)) >= 2 else None


def _shape(code: str) -> str:
    shape: str = regex.sub(r"\p{Lu}", "A", regex.sub(r"\d", "0", code))
    return shape.removesuffix("A")
