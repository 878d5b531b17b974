"""Context of persons: what is only ever said of a person, even of letters that are also an abbreviation or a word.

Belongs here: the context in which "ANA" is the name Ana and not the antibody, whatever its case. Does not belong here:
the context in which a capitalised word is a name (`context/names.py`).

What is also said of labs, findings, devices and treatments does not count: "ANA returned positive", "SAM was seen on
echo", "PEG tolerated well".
"""

from __future__ import annotations

import regex

from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import written_terms
from deid_platform.text.compiled import compiled
from deid_platform.text.lookbehind import Lookbehind

_REACH = 60

_AFTER = compiled(
    r"""
    (?:
      ['’]s\s+(?:<kin>|parent|family|room|bed|bedside|chart|birthday|home|appetite|mood|pain)
    | ,[ \t]*who
    | \s+and\s+(?:his|her|their)(?=\s)
    | \s+in\s+(?:room|rm|bed)\s*\#?\d
    | [ \t]+\d{1,3}(?:[ ]?y\.?/?o|[mf](?=\s+(?:here|present|who|admitted|s/p|h/o|c/o)))
    | [ \t]*[,(][ \t]*(?:an?[ \t]+|aged?[ \t]+)?\d{1,3}
        (?:[ \t]?[mf]|[ \t\-]*(?:y\.?[ /]?o|yrs?|years?|months?|mos?)(?![ ]ago))
    | \s+(?:(?:also|now|still|again|currently|then|just|always|never)\s+)?(?:
        ate|eats|eating|slept|sleeps|drank|drinks|smokes|voided|voids|ambulate[sd]|ambulating|walked|walks|awoke|woke
      | smiled|cried|consented|told|tells|asked|asks|hopes|thinks|believes|knows|remembers|recalls|wishes|prefers
      | resting|asleep|sitting|lying
      | arrived\s+(?:to|at|in|by|from|on|with|here|today|via)
      | went\s+(?:home|to|back|for|out)
      | called\s+(?:to|back|in|and|asking|stating|for|this)
      | tolerate[sd]\s+(?:the|an?|it|this|his|her|their|procedures?|diet|lunch|breakfast|dinner|supper|meals?|po|oral
        |clears|liquids|solids|fluids|activity|therapy|treatments?|sessions?|exercises?|pt|ot|chemo(?:therapy)?|infusions?
        |dialysis|transfers?|sitting|walking|room)
      | tolerated(?=[ \t]*+(?:[.;,\r\n]|$))
      | present(?:s|ed)\s+(?:to|today|for|with|here|after|following)
      | returned\s+(?:to(?!\s+(?:normal|baseline|within|be))|from|home|for|today)
      | has\s+(?:no\s+(?:complaints?|questions?|concerns?|known|pain|fevers?|appetite|children|allergies)
        |(?:an?\s+)?(?:(?:past|long|strong|medical|family|surgical|social|remote|known)\s+){0,2}(?:history|hx)
        |(?:\d|one|two|three|four|five|six)\s+(?:children|kids|sons?|daughters?))
      | (?:is|was|has\s+been)\s+(?:(?:also|now|still|again|currently|then|just)\s+)?(?:
          admitted|discharged|born|referred|brought|counsell?ed|informed|advised|instructed|told|asked|educated|reminded
        | encouraged|extubated|intubated|sedated|awakened|alert|awake|oriented|ambulating|ambulatory|resting|eating
        | sleeping|sitting|lying|crying|smiling|hungry|thirsty|nauseous|accompanied|interviewed|consented|medicated
        | agitated|confused|calm|cooperative|able|unable
        | transferred\s+(?:to|from|out)
        | seen(?:\s+(?:and\s+examined|today|yesterday|this|at|by|for|on\s+rounds|with\s+(?:his|her|their|the)
            |in\s+(?:(?:the\s+)?(?:clinic|office|ed|er|emergency|hospital|icu|morning|afternoon|hallway)
              |consult(?:ation)?|follow|room|rm|bed))
          |(?=[ \t]*+(?:[.;,\r\n]|$)))
        )
      )
    )
    (?![\p{L}\p{N}])
    """.replace("<kin>", alternatives(written_terms("kin.en.sure"), any_writing=True)),
    regex.VERBOSE | regex.IGNORECASE,
)
_SPOKEN_WITH = Lookbehind(r"\b(?:spoken?|talk(?:ed|ing)|speaking|met)[ \t]+(?:with|to)[ \t]+\n?", _REACH)
# Nobody is called "a Mark" or "no Ray".
_DETERMINED = Lookbehind(r"\b(?:an?|the|no|any|this|that|each|every|repeat|positive|negative)[ \t]+\n?", _REACH)


def surely_a_person(text: str, start: int, end: int) -> bool:
    """Whether what stands around letters is said of nobody but a person, whatever else the letters may mean.

    "ANA ambulated", "SUE, 54F, presents" and "spoke with PAT" are about somebody; "ANA was positive" is not.
    """
    if _DETERMINED(text, start):
        return False
    if _AFTER.match(text, end, end + _REACH):
        return True
    return _SPOKEN_WITH(text, start)
