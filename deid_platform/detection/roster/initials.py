"""Whether letters that are somebody's initials stand as initials, or for something of the clinic.

Belongs here: "J.S.", "JS" and "JMS". Does not belong here: an initial beside a name, as in "J. Smith"
(`mentions.py`).

Two bare letters count only where the note treats them as a person ("Pt JS", "JS reports"); letters that every
clinic uses for something else ("MS", "CK") need what only a person does: "CK is feeling better".
"""

from __future__ import annotations

import regex

from deid_platform.detection.context import acts, in_capitals, labelled, of_kin, speaks, titled
from deid_platform.detection.detector import word_list
from deid_platform.detection.words import Words

_DOTTED = regex.compile(r"(?:\p{Lu}\.[ \t]?){1,3}\p{Lu}\.?")
_BARE = regex.compile(r"\p{Lu}{2,4}|\p{Lu}(?:[ \t-]\p{Lu}){1,3}")
# What nursing notes say of initials, without a verb.
_CHARTED = regex.compile(
    r"\)?[ \t]+(?:up\b|and[ \t]+(?:family|(?:his|her|their)\b|wife|husband|spouse|partner|parents?|mother|father)|"
    r"no[ \t]+(?:events|issues|concerns|complaints)|resting|sitting|lying|sleeping|asleep|awake|alert|ambulat|tolerat|"
    r"seen|given|stable|counsell?ed|educated|instructed|transferred|discharged|medicated|turned|fed|bathed|voided)",
    regex.IGNORECASE,
)
# What is charted of nobody but a person: enough even for letters that every clinic uses.
_SURELY_CHARTED = regex.compile(
    r"\)?[ \t]+(?:up[ \t]+(?:to[ \t]+(?:the[ \t]+)?(?:void|chair|bathroom|bedside|commode)|ad[ \t]+lib)|"
    r"and[ \t]+family|and[ \t]+(?:his|her|their)[ \t]|no[ \t]+events|doing[ \t]+(?:well|better|fine)|resting|asleep|"
    r"was[ \t]+(?:informed|counsell?ed|seen[ \t]+(?:with[ \t]+(?:his|her|their)|and[ \t]+examined)))\b",
    regex.IGNORECASE,
)
# With full stops they are a clinic's own: "p.o.", "b.i.d.", "M.D."
_DOTTED_TERMS = frozenset((
    "ac", "am", "bm", "bid", "cc", "ct", "do", "dc", "ed", "er", "ga", "gi", "gu", "hs", "id", "im", "ir", "iv", "md",
    "mr", "np", "ob", "od", "oob", "or", "os", "ot", "ou", "pa", "pc", "pm", "po", "pr", "prn", "pt", "qd", "qid",
    "rn", "sc", "sl", "sq", "tid", "us", "va",
))  # fmt: skip
_NEVER_BY_VERB = frozenset({"pt", "pts"})


def stand_as_initials(words: Words, start: int, end: int) -> bool:
    """Whether the initials at that place of the line are a person's."""
    text = words.note
    first, last = words.place(start, end)
    surface = text[first:last]
    letters = words.text[start:end].replace(" ", "")
    dotted = _DOTTED.fullmatch(surface) is not None
    if not dotted and not _BARE.fullmatch(surface):
        return False
    clinical = letters in word_list("short_abbreviations")
    if dotted and text[last : last + 1] == ".":
        last += 1
    if titled(text, first) or speaks(text, last):
        return letters not in _NEVER_BY_VERB or titled(text, first)
    if letters in _NEVER_BY_VERB:
        return False
    if _SURELY_CHARTED.match(text, last) or (dotted and letters not in _DOTTED_TERMS):
        return True
    if clinical:
        return False
    if dotted or len(letters) > 2:
        return dotted or not in_capitals(text, first, last)
    return labelled(text, first) or of_kin(text, first) or acts(text, last) or _CHARTED.match(text, last) is not None
