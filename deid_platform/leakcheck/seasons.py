"""What tells of a time of the year beside shifted dates, by another name than a month or a day.

Belongs here: weeks, quarters and days of a year, zones of summer and winter time, days that have a name.
Does not belong here: dates in numbers (`shapes.py`), and years alone (`shifts.py`).

Words that mean something else as often count only where nothing else can be meant: a note that is held back for
"week 9 of chemotherapy" is lost to research.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from deid_platform.leakcheck.comparable import GAP, ComparableText

_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"
_OF = (
    rf"(?:,? (?:of|in|del|de|des) (?:(?:the |this |last |next )?(?:calendar |fiscal )?year(?![a-z-])|{GAP}|{_YEAR}"
    r"|'[0-9]{2}(?![0-9']))"
)
_BARE = rf"(?: |, | ?/ ?| ?\( ?){_YEAR}"
_OF_YEAR = rf"{_OF}| dell'anno| del ano(?![a-z])| de l'annee| des jahres)"
_ONES = "(?:one|two|three|four|five|six|seven|eight|nine)"
_IN_WORDS = (
    rf"(?:(?:twenty|thirty|forty|fifty)(?:[ -]{_ONES})?|(?:thir|four|fif|six|seven|eigh|nine)teen|{_ONES}|ten|eleven"
    "|twelve)"
)
_PARTS = re.compile(
    rf"(?<![^\W_])(?:(?:iso|calendar|epi|epidemiological|mmwr|flu)[ -](?:week|wk) ?#?[0-9]{{1,2}}(?![0-9])"
    r"|(?:settimana|semana|semaine) (?:iso|epidemiologica|epidemiologique) [0-9]"
    rf"|(?:week|wk) (?:no\.? |number |#)?(?:[0-9]{{1,2}}|{_IN_WORDS})"
    rf"(?:{_OF_YEAR}| ?\( ?{_YEAR} ?\)| '[0-9]{{2}}(?![0-9']))"
    rf"|(?:settimana|semana|semaine|sett\.) (?:n\.? ?[°o]? ?|numero )?[0-9]{{1,2}}(?: ?/ ?{GAP}|{_BARE})"
    rf"|(?:week|wk|settimana|semana|semaine|woche|day|giorno|dia|jour|tag) [0-9]{{1,3}}{_OF_YEAR}"
    rf"|[0-9]{{1,3}}(?:st|nd|rd|th) (?:week|day){_OF_YEAR}|kalenderwoche [0-9]|[0-9]{{1,2}}\. (?:kw|kalenderwoche)"
    r"|(?:19|20)[0-9]{2}-?w[0-5][0-9]|julian (?:day|date) [0-9]"
    rf"|q[1-4] ?{GAP}|(?:in|during|since|last|end of|fiscal) q[1-4](?= ?(?:[.,;)\n]|\Z))"
    r"|(?:first|second|third|fourth|last|[1-4](?:st|nd|rd|th)) (?:fiscal |calendar )?(?:quarter|half)"
    rf"(?:{_OF_YEAR}|{_BARE})"
    r"|(?:since|until|by|during|end of|beginning of) the (?:first|second|third|fourth|last) quarter(?= ?(?:[.;)\n]|\Z))"
    r"|(?:erste|zweite|dritte|vierte)[nrs]? quartal|[1-4]\. quartal"
    rf"|(?:primo|secondo|terzo|quarto|primer|segundo|tercer|cuarto|premier|deuxieme|troisieme|quatrieme|iv|i{{1,3}}|[1-4](?:er?|eme|[°ºª]))"
    rf" (?:trimestre|semestre)(?:{_OF_YEAR}| {GAP}|{_BARE})"
    rf"|(?:trimestre|semestre) (?:[1-4]|iv|i{{1,3}})(?:{_OF_YEAR}|{_BARE})"
    r"|clocks? (?:went|go|goes|were (?:put|set|turned)) (?:back|forward|ahead)|daylight saving|zeitumstellung"
    r"|cambio dell'ora|cambio de hora|changement d'heure)",
)
_WORDS = frozenset(
    """
    week wk kalenderwoche kw woche settimana semana semaine day giorno dia jour tag julian quarter half quartal
    trimestre semestre sett clock clocks daylight zeitumstellung cambio changement w q
    """.split()  # noqa: SIM905 - a list literal would fill a screen
)
# Only the text as written tells calendar weeks from kilowatts.
_KW = re.compile(r"(?<![^\W_])(?<![0-9] )KW ?(?:0?[5-9]|[1-4][0-9]|5[0-3])(?![0-9]|[.,][0-9])")
_OF_THE_EYE = frozenset(("fundus", "retinopathy", "retinopathie", "keith", "wagener", "lens", "linse", "iol"))
_ZONES = "(?:EST|EDT|CST|CDT|MST|MDT|PST|PDT|AKST|AKDT|CET|CEST|EET|EEST|WET|WEST|MEZ|MESZ|BST|GMT|AEST|AEDT|NZST|NZDT)"
_TIME = r"[0-9]{1,2}[:.h][0-9]{2}(?::[0-9]{2})?(?: ?(?:[APap](?:\.?[Mm])?\.?|[Hh][Rr][Ss]?|[Uu]hr))?"
_LONG_ZONE = (
    "(?:Eastern|Central|Mountain|Pacific|Alaska|Atlantic|British|European) (?:Standard|Daylight|Summer|Winter)"
    " (?:Savings? )?Time"
)
_SMALL_ZONE = r"(?:[ecmp][sd]t|ces?t|mesz|[bg][sm]t)(?= ?(?:[.,;:)\n]|\Z))"
_ZONE = re.compile(
    rf"(?:{_TIME}|[0-2][0-9][0-5][0-9](?: ?[Hh](?:[Rr][Ss]?)?)?|{GAP}) ?\(?(?:{_ZONES}|{_LONG_ZONE})(?![^\W_])"
    rf"|{_TIME} ?{_SMALL_ZONE}|(?<![^\W_]){_ZONES}:? [0-9]{{1,2}}:[0-9]{{2}}(?![0-9])|(?<![^\W_]){_LONG_ZONE}"
    rf"|(?:[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]+)?|T[0-9]{{2}}:[0-9]{{2}}|[0-9]{{2}}h[0-9]{{2}} (?=\+)|{GAP}) ?"
    r"(?:\+(?:0[0-9]|1[0-4])|-(?:0[0-9]|1[0-2])):?(?:00|15|30|45)(?![0-9:])|(?:UTC|GMT) ?[+-] ?[0-9]"
)
_REACH = 16
_NAMED = (
    r"(?:christmas|xmas|thanksgiving|halloween|easter|new year's|independence day|labor day|labour day|memorial day"
    r"|veterans day|presidents' day|columbus day|juneteenth|valentine's day|st\.? patrick's day"
    r"|mother's day|father's day"
    r"|super bowl|election (?:day|night)|all (?:souls|saints)|good friday|palm sunday|ash wednesday|mardi gras"
    r"|yom kippur|rosh hashanah|passover|hanukkah|ramadan|eid al|diwali|lunar new year|chinese new year|boxing day"
    r"|guy fawkes|bonfire night|ferragosto|capodanno|pasquetta|ognissanti|natale|nochebuena|nochevieja|navidad"
    r"|todos los santos|dia de reyes|toussaint|noel|paques|weihnachten|heiligabend|silvester|ostern|pfingsten"
    r"|karfreitag|allerheiligen|(?:spring|autumn(?:al)?|vernal|fall) equinox|(?:summer|winter) solstice)"
)
_FEAST = r"(?:part(?:y|ies)|dinner|lunch|candy|lights?|fireworks|celebrations?|costumes?|decorations?|parade|gathering)"
_DAY = re.compile(
    rf"(?<![^\W_])(?:{_NAMED}|valentine|super bowl|new years) {_FEAST}(?![^\W_])|(?<![^\W_])trick[ -]or[ -]treat"
    r"|(?<![^\W_])(?:(?:first|last) day of (?:the year|spring|summer|fall|autumn|winter)|(?:longest|shortest) day of"
    r" the year)"
    r"(?![^\W_]| (?:camp|break|school|job|semester|term))|(?<![^\W_])"
    rf"(?:on|since|at|over|after|before|until|by|last|around|during|a|il|la|en|el|a la|zu|an|seit|le|depuis)"
    rf" {_NAMED}(?![^\W_]|[ -](?:disease|trees?|cards?|factor|eggs?|seals?|hospital|clinic|island))"
)


def parts_left(reading: ComparableText) -> bool:
    """Whether a text still tells of a time of the year by a week, a quarter, a zone or the name of a day."""
    text = reading.folded
    if not _WORDS.isdisjoint(reading.words) and _PARTS.search(text) is not None:
        return True
    if "kw" in reading.words and _OF_THE_EYE.isdisjoint(reading.words) and _KW.search(reading.text) is not None:
        return True
    return zones_left((reading.text,)) or _DAY.search(text) is not None


def zones_left(texts: Iterable[str]) -> bool:
    """Whether a time of day stands beside its zone, which tells summer time from winter time."""
    return any(_ZONE.search(text) is not None for text in texts)


def zone_within(text: str, start: int, end: int) -> bool:
    """Whether a zone of summer or winter time beside a time of day lies in what was taken for something else."""
    first = max(0, start - _REACH)
    places = ((m.start() + first, m.end() + first) for m in _ZONE.finditer(text[first : end + _REACH]))
    return any(start < last <= end or (start <= begin < end and text[begin].isalpha()) for begin, last in places)
