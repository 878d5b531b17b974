"""Validators of a state with a ZIP code: whether five digits after two capitals are one, not a dose or a count.

Belongs here: the validators that `addresses.yaml` for them names. Does not belong here: names of towns alone
(`addresses.py`).

"IN", "OR" and "ME" are words in notes typed in capitals, "MA" and "PA" clinical abbreviations. With a comma after the
town, as in an address, it is a ZIP code. Elsewhere the first digits must be the state's.
"""

from __future__ import annotations

from functools import cache

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

# First three digits of the ZIP codes of each state. Source: USPS, list L002, gaps within a state left out.
_FIRST_DIGITS = """
AK 995-999, AL 350-369, AR 716-729, AZ 850-865, CA 900-961, CO 800-816, CT 060-069, DC 200-205, DE 197-199, FL 320-349,
GA 300-319 398-399, GU 969-969, HI 967-968, IA 500-528, ID 832-838, IL 600-629, IN 460-479, KS 660-679, KY 400-427,
LA 700-714, MA 010-027 055-055, MD 206-219, ME 039-049, MI 480-499, MN 550-567, MO 630-658, MS 386-397, MT 590-599,
NC 270-289, ND 580-588, NE 680-693, NH 030-038, NJ 070-089, NM 870-884, NV 889-898, NY 100-149 005-005 063-063,
OH 430-459, OK 730-749, OR 970-979, PA 150-196, PR 006-009, RI 028-029, SC 290-299, SD 570-577, TN 370-385,
TX 750-799 733-733 885-885, UT 840-847, VA 220-246 201-201, VI 008-008, VT 050-059, WA 980-994, WI 530-549, WV 247-268,
WY 820-831
"""
# Codes of states that are a word or an abbreviation of notes as well.
_WORDS = frozenset(
    {
        *(
            "AL",
            "AR",
            "CA",
            "CO",
            "CT",
            "DC",
            "DE",
            "FL",
            "GA",
            "HI",
            "ID",
            "IN",
            "LA",
            "MA",
            "MD",
            "ME",
            "MI",
            "MO",
            "MS",
        ),
        *("MT", "ND", "NE", "OK", "OR", "PA", "PR", "RI", "SC", "SD", "VA", "VI", "WA"),
    }
)
_ZIP = regex.compile(r"\d{5}")
_BEFORE = regex.compile(
    r"(?:(?P<city>\p{Lu}[\p{L}'’.\-]*(?:[ ]\p{Lu}[\p{L}'’.\-]*){0,2})?(?P<comma>[ \t]*,)?[ \t]*)?"
    r"\b(?P<state>[A-Z]{2}|\p{Lu}\p{L}{3,}(?:[ ]\p{Lu}\p{L}{3,})?)[.,]{0,2}[ \t]*$"
)
_COUNTED = regex.compile(
    r"(?:-\d{4})?[ \t]{0,3}(?:/|x\b|per\b|iu\b|units?|mg\b|mcg|m?l\b|copies|cfus?|cells?|platelets?|wbcs?|rbcs?|range"
    r"|patients?|pts\b|people|persons?|births?|cases?|(?:wo)?men\b|children|adults|subjects|participants|deliver|pregnan"
    r"|live\b|procedures?|surger|operations|admissions|visits|individuals|infants|newborns|females|males|steps|americans)",
    regex.IGNORECASE,
)
_REACH = 64


@validator
def state_zip(text: str, start: int, end: int) -> Interval | None:
    """A town, a state or a ZIP code of one line, "Muncie, IN 47302"; not "HEPARIN IN 25000 UNITS", "MA 15000"."""
    found = _ZIP.search(text, start, end + 40)
    if found is None:
        return start, end
    reach = max(0, found.start() - _REACH)
    line = max(reach, text.rfind("\n", reach, found.start()) + 1)
    before = _BEFORE.search(text, line, found.start())
    if before is None:
        return start, end
    state, town = before["state"], before["city"]
    counted = _COUNTED.match(text, found.end(), found.end() + 20) is not None
    fits = len(state) > 2 or found[0][:3] in _first_digits(state)
    known = town is not None and any(fold_term(t) in word_list("cities") for t in (town, town.split()[-1]))
    plain = town is not None and all(word_class(w) & (WordClass.CLINICAL | WordClass.ORDINARY) for w in town.split())
    round_number = found[0].endswith("00")
    clinical = plain and not known and (round_number or not fits)
    shouted = town is None or town.isupper()
    if counted:
        refused = not fits or plain or town is None
    elif before["comma"] and town:
        refused = False
    else:
        refused = clinical or (not fits and not known and state in _WORDS and (round_number or shouted))
    return None if refused else (start, end)


@cache
def _first_digits(state: str) -> frozenset[str]:
    for entry in _FIRST_DIGITS.replace("\n", " ").split(","):
        code, *ranges = entry.split()
        if code == state:
            pairs = (r.split("-") for r in ranges)
            return frozenset(f"{n:03}" for first, last in pairs for n in range(int(first), int(last) + 1))
    return frozenset()
