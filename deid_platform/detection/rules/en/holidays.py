"""Validators of holidays: whether a word is the name of a holiday, and not a person or a thing named after it.

Belongs here: the validators of holidays that `dates.yaml` names. Does not belong here: the names
(`lexicon/data/holidays.txt`), other dates (`dates.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold_term

# Days whose names are nothing else even in small letters.
_PLAIN = compiled(
    r"(?:orthodox |greek |coptic |russian )?(?:christmas|xmas|x-mas|thanksgiving|halloween|hallowe'en|easter|juneteenth"
    r"|passover|pesach|ramad[h]?an|hanukk?ah|chanukk?ah|kwanzaa|diwali|deepavali|yom kippur|rosh hashan|cinco de mayo"
    r"|mardi gras|super ?bowl|new year'?s'? (?:eve|day)|(?:chinese|lunar|persian) new year|ash wednesday|palm sunday"
    r"|mlk day|martin luther|memorial day|veteran|(?:4|4th|4 th|fourth) of july|july (?:the )?fourth|valentine"
    r"|presidents?'?s?'? day"
    r"|st\.? pat|saint pat|columbus day|indigenous|independence day|april fool|groundhog day|sukkot|shavuot|purim"
    r"|ferragosto|capodanno|pasquetta|ognissanti|nochebuena|nochevieja|navidad|bank holiday|boxing day|canada day"
    r"|australia day|anzac day|bonfire night|remembrance day|mother'?s'? day|father'?s'? day|grandparent|trick)"
)
# Names that are words as well: in small letters never, and with a capital after a word of dates alone.
_AFTER_A_CUE = frozenset(
    {
        *("lent", "holi", "tet", "new year", "valentine's", "valentines", "epiphany", "santo stefano", "san silvestro"),
        *("san valentino", "pascua", "pascuas", "onam", "obon", "losar", "meskel", "noel", "le ceneri", "epifania"),
        *("carnevale", "guy fawkes", "ashura", "muharram", "fasching", "yalda"),
    }
)
# Names that are words as well: with a capital, or in small letters after a word of dates.
_WITH_A_CAPITAL = frozenset({"natale", "immacolata", "eid", "silvester", "toussaint", "ostern", "armistice"})
_LONGEST_ABBREVIATION = 3
_LABOR = frozenset({"labor day", "labour day"})
_CUE = compiled(
    r"\b(?:on|since|over|for|around|about|before|after|until|till|by|during|through|thru|last|this|next|past|at|from|come"
    r"|celebrat\w{2,5}|following|observ\w{2,4}|a|al|alla|all|la|il|lo|dalla|per|dopo|prima[ ]di|da|dal|di|nel|en|por"
    r"|desde|hasta|à|pour|depuis|zu|an|seit|vor|nach)(?:[ ](?:the|l)\b)?[ '’\n]{1,2}(?:early[ ]|late[ ])?$",
    regex.IGNORECASE,
)
_THING = compiled(
    r"[ \t\-](?:trees?|disease|factor|cards?|bulbs?|cactus|eggs?|seals?|bunn(?:y|ies)|lil(?:y|ies)|bonus|islands?"
    r"|surgery|surgicenter|hospital|clinic|unit|program|cent(?:er|re)|school|care|treatment|nursery|camp|shift|job|nurse"
    r"|church|parish|hospice|rehab|stay|spells?|score|test|off)\b",
    regex.IGNORECASE,
)
_WEEK = compiled(r" (?:weekend|week)$")
_COUNTED = compiled(r"[ \t]*#?(?:\d|one\b|two\b|three\b)")


@validator
def holiday(text: str, start: int, end: int) -> Interval | None:
    """The name of a day: "on Labor Day", "christmas eve"; not "labor day 2", "Christmas disease", "an epiphany"."""
    surface = text[start:end]
    name = _WEEK.sub("", fold_term(surface))
    if _THING.match(text, end, end + 16) or (name in _LABOR and _COUNTED.match(text, end, end + 8)):
        return None
    cued = _CUE.search(text, max(0, start - 24), start) is not None
    if name in _AFTER_A_CUE:
        return (start, end) if cued and surface[0].isupper() and not surface.isupper() else None
    if surface[0].isupper() or surface[0].isdigit():
        abbreviation = surface.isupper() and len(surface) <= _LONGEST_ABBREVIATION and name in _WITH_A_CAPITAL
        return None if abbreviation else (start, end)
    if name in _WITH_A_CAPITAL:
        return (start, end) if cued and name not in ("eid", "immacolata") else None
    return (start, end) if cued or _PLAIN.match(name) else None
