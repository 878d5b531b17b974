"""Whether letters are the patient's initials or a clinical abbreviation.

Belongs here: "J.S.", "JS" and "JMS". Does not belong here: an initial beside a name, as in "J. Smith"
(`mentions.py`), or initials of staff (`topics/staff/`).

Letters without another meaning are the patient's wherever they stand alone. Clinical abbreviations ("MS", "CK") need a
context of persons only: "CK is feeling better", "CK's mother", "spoke with CK today".
"""

from __future__ import annotations

import regex

from deid_platform.detection.context.names import (
    REACH,
    acts_as_person,
    after_kin,
    after_label,
    after_title,
    in_capitals,
    speaks,
)
from deid_platform.lexicon.abbreviations import (
    AbbreviationKind,
    abbreviation_kind,
    is_dotted_term,
    is_ordered,
    stands_apart,
)
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.compiled import compiled
from deid_platform.text.tokens import Words

_DOTTED = compiled(r"(?:\p{Lu}\.[ \t]?){1,3}\p{Lu}\.?")
_BARE = compiled(r"\p{Lu}{2,4}|\p{Lu}(?:[ \t-]\p{Lu}){1,3}")
_KIN = rf"(?:{alternatives(written_terms('kin.en.sure'), any_writing=True)}|parent|family)"
# What is charted of nobody but a person: enough even for letters that every clinic uses.
_SURELY_CHARTED = compiled(
    r"\)?[ \t]+(?:up[ \t]+(?:to[ \t]+(?:the[ \t]+)?(?:void|chair|bathroom|bedside|commode)|ad[ \t]+lib|in[ \t]+chair)|"
    rf"and[ \t]+(?:{_KIN}|(?:his|her|their)[ \t])|no[ \t]+events|doing[ \t]+(?:well|better|fine)|resting|asleep|awake|"
    r"sleeping|sitting|lying|crying|tearful|oob|npo|c/o|a[&/]ox?\d?|extubated|asks|asked|requests|requested|refuses|"
    r"refused|wants|would[ \t]+like|slept|ate|voided|ambulat\p{Ll}*|fell|woke|verbaliz\p{Ll}*|underwent|bathed|"
    r"medicated|tolerat\p{Ll}*[ \t]+(?:breakfast|lunch|dinner|meals?|food|liquids|(?:a|the)?[ \t]*\p{Ll}*[ \t]?diet)|"
    r"(?:will|to)[ \t]+(?:return|f/u|call|come|go)|to[ \t]+(?:or|pacu|floor|dialysis|radiology|bathroom|chair)|"
    r"back[ \t]+(?:from|to)[ \t]+(?:or|pacu|bed|room|ct|mri|dialysis|radiology|the)|"
    r"(?:has|had)[ \t]+(?:improved|pain|trouble|questions|no[ \t]+(?:pain|complaints|concerns|questions))|"
    r"(?:rm|room|bed)[ \t]+\d|dob|mrn|was[ \t]+(?:informed|counsell?ed|admitted|discharged|born|brought|referred|"
    r"seen[ \t]+(?:with[ \t]+(?:his|her|their)|and[ \t]+examined)))\b|"
    # what is a person's, and a person's age
    rf"['’]s[ \t]+(?:{_KIN}|chart|room|mood|appetite|home|care|questions|concerns|name|insurance|pharmacy)\b|"
    r"\)?,?[ \t]+(?:is[ \t]+)?(?:\(|an?[ \t]+|aged?[ \t]+)?\d{1,3}[ \t\-]?(?:y|yo|y/o|yr|year|mo|month|[MF])\b",
    regex.IGNORECASE,
)
# Enough for letters that few clinics use.
_CHARTED = compiled(
    r"\)?[ \t]+(?:up|no[ \t]+(?:issues|concerns|complaints)|alert|tolerat\p{Ll}*|seen|given|stable|counsell?ed|"
    r"educated|instructed|transferred|discharged|turned|fed)\b",
    regex.IGNORECASE,
)
# Whom one speaks with, sees and cares for, before the end of a phrase.
_CARED_FOR = compiled(
    r"\b(?:pt|patient|client|re|(?:spoke|spoken|met|meeting|visit|discussed|talked|sat)[ \t]+(?:w/|with)|"
    rf"(?:{_KIN}|chart|care|assessment|mood)[ \t]+of|plan[ \t]+for|seeing|referring|saw|met|told|called|examined|"
    r"evaluated|interviewed|discharge|(?:arranged|changed|placed|released|scheduled)[ \t]+(?:for|to)|"
    r"(?:baby|infant|twin|rm|room|bed)(?:[ \t]+\p{N}+\w?)?|"
    r"(?:mrn|dob)[ \t:#]*[\p{N}/\-]{4,12})[ \t]*:?[ \t]*\(?$",
    regex.IGNORECASE,
)
_STOPS = compiled(
    r"\)?[ \t]*(?:$|[.,;:)\r\n]|"
    r"(?:about|and|at|by|again|home|in|on|over|regarding|this|to|today|tomorrow|who|yesterday)\b)"
)
_SMALL = compiled(r"\p{Ll}(?:\.?\p{Ll}){1,3}")
_LONGER = 2
_NEVER_BY_VERB = frozenset({"pt", "pts"})


def stand_as_initials(words: Words, start: int, end: int) -> bool:
    """Whether the initials at that place of the line are a person's."""
    text = words.note
    first, last = words.place(start, end)
    surface = text[first:last]
    letters = words.text[start:end].replace(" ", "")
    dotted = _DOTTED.fullmatch(surface) is not None
    if not dotted and not _BARE.fullmatch(surface):
        free = abbreviation_kind(letters) is AbbreviationKind.FREE and not is_dotted_term(letters)
        if not free or not _SMALL.fullmatch(surface):
            return False
        return (
            after_title(text, first)
            or after_label(text, first)
            or _does(text, last)
            or _is_cared_for(text, first, last)
        )
    if dotted and text[last : last + 1] == ".":
        last += 1
    if after_title(text, first) or speaks(text, last):
        return letters not in _NEVER_BY_VERB or after_title(text, first)
    if letters in _NEVER_BY_VERB:
        return False
    if _does(text, last) or (dotted and not is_dotted_term(letters)):
        return True
    kind = abbreviation_kind(letters)
    if kind is AbbreviationKind.FREE and (dotted or " " not in surface):
        return stands_apart(text, first, last)
    if kind < AbbreviationKind.CLINICAL:
        return False
    if letters not in word_list("short_abbreviations"):
        if len(letters) > _LONGER:
            return not in_capitals(text, first, last)
        introduced = after_label(text, first) or after_kin(text, first) or _is_cared_for(text, first, last)
        return introduced or acts_as_person(text, last) or bool(_CHARTED.match(text, last))
    if is_ordered(letters):
        return False
    cared_for = _CARED_FOR.search(text, max(0, first - REACH), first) is not None
    if cared_for and _STOPS.match(text, last):
        return True
    introduced = cared_for or after_label(text, first) or after_kin(text, first)
    return introduced and (acts_as_person(text, last) or _CHARTED.match(text, last) is not None)


def _is_cared_for(text: str, start: int, end: int) -> bool:
    """Whether a phrase ends with them that says with whom or for whom something is done."""
    return _CARED_FOR.search(text, max(0, start - REACH), start) is not None and _STOPS.match(text, end) is not None


def _does(text: str, end: int) -> bool:
    """Whether what follows is what nobody but a person does, has or is."""
    return speaks(text, end) or _SURELY_CHARTED.match(text, end) is not None
