"""Years that stand alone in a text, which move with the dates around them.

Belongs here: finding them where a policy moves dates. Does not belong here: dates (`detection/`), to which a year
alone does not belong, since Safe Harbor leaves it.

"MI in 2015" beside a shifted "MI, 11/3/2014" would tell how far the patient's dates were moved. A year counts where
a word or a bracket makes it one: four digits may also be a dose, a time of day or a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deid_platform.labels import Label
from deid_platform.notes import Span

SOURCE = "lone-year"
_YEAR = r"(?:19|20)[0-9]{2}"
_CUE = (
    r"(?:in|since|from|until|till|to|by|circa|ca\.?|about|around|during|year|of|early|mid|late|spring|summer|fall|autumn"
    r"|winter|before|after|through|thru|between|and|back|class|s/p|nel|dal|del|en|desde|hasta|depuis|seit|bis|im|jahr"
    r"|anno|año|année|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_AFTER = (
    r"(?![0-9]|[.,:][0-9]|['’]?s\b|\s?%|\s?/\s?[0-9]|-(?!(?:19|20)[0-9]{2}(?![0-9-]))[0-9]"
    r"|\s*(?i:mg|mcg|ug|g|kg|ml|l|cc|mm|cm|iu|units?|meq|mmol|kcal|cal|calories|steps|hours?|hrs?|h\b|x|ft|feet|lbs?"
    r"|patients|cells|copies|ng|pg|pm|am)\b)"
)
# What a year starts with comes first, which lets `re` skip what has no digits.
_CANDIDATE = re.compile(rf"[12](?<![0-9].)(?:(?<=1)9|(?<=2)0)[0-9]{{2}}{_AFTER}")
_BEFORE = re.compile(
    rf"(?:(?<![^\W_])(?:{_CUE})[\s~]{{1,3}}|\(\s?|(?<![0-9]){_YEAR}\s?[-–,/&]\s?(?:and\s)?)$", re.IGNORECASE
)
_LINE_START = re.compile(r"(?:\A|[\r\n])[ \t]{0,8}(?:[-•*]\s?)?$")
_HEADS_LINE = re.compile(r"\s?[:\-–]")
_REACH = 16
_LAST = 2049


def lone_years(text: str, ordered: Sequence[Span]) -> list[Span]:
    """Years alone that none of the spans holds.

    Args:
        text: The note's text.
        ordered: What was found in it, in order, without overlap.

    Returns:
        One DATE span for each, in order.
    """
    return list(_free(text, ordered))


def _free(text: str, ordered: Sequence[Span]) -> Iterator[Span]:
    waiting = iter(ordered)
    span = next(waiting, None)
    for match in _CANDIDATE.finditer(text):
        start, end = match.span()
        if int(match.group()) > _LAST or not _is_year(text, start, end):
            continue
        while span is not None and span.end <= start:
            span = next(waiting, None)
        if span is None or span.start >= end:
            yield Span(start, end, Label.DATE, source=SOURCE)


def _is_year(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _REACH) : start]
    return _BEFORE.search(before) is not None or bool(_HEADS_LINE.match(text, end) and _LINE_START.search(before))
