"""Whether words stand where a person does: before a person's verb, before a possession, or as the one cared for.

Belongs here: what follows and precedes a name in running text. Does not belong here: which words may be a name
(`vocabulary.py`), titles, labels and kinship (`en/people.yaml`).

Sources: the project's own, from how clinical prose speaks of patients.
"""

from __future__ import annotations

from deid_platform.lexicon.classes import bears_a_name
from deid_platform.text.compiled import compiled

# In small letters, so that a line in capitals gives nothing away.
_ACTS = compiled(
    r"['’]s[ \t]+(?!(?:and|or|at|since|in|with|on|but|plus|vs|dx|diagnosed|onset|who|which)\b)"
    r"(?P<possession>\p{Ll}\p{L}*)|['’]?[ \t\r\n]{1,3}(?:denie[sd]|report(?:s|ed)|state[sd]|sa(?:ys|id)"
    r"|complain(?:s|ed)|endorse[sd]|tolerate[sd]|agree[sd]|decline[sd]|verbalize[sd]|want(?:s|ed)|understands|felt|feels"
    r"|lives|needs|underwent|present(?:s|ed)|return(?:s|ed)|called|to[ ](?:return|follow|see|call)"
    r"|will[ ](?:be|return|follow|see|call|need)|has[ ](?:been|had|no)|had[ ](?:a|an|no)"
    r"|(?:is|was)[ ](?:an?[ ]\d|(?:(?:now|then|also|lightly|again)[ ])?(?:alert|awake|awakened|extubated|intubated"
    r"|sedated|admitted|discharged|transferred|taken|brought|seen|evaluated|examined|resting|stable|comfortable|born"
    r"|referred|started|counsell?ed|instructed|informed|advised|told|asked|prepped|positioned|placed|doing|feeling"
    r"|here|able|unable)))\b"
)
_CARED_FOR = compiled(r"(?<=\b(?:care[ ]of|opinion[ ]that)[ \t\r\n]{1,2})")
_SENTENCE_END = compiled(r"['’]?(?:\.?[ \t]*(?:[\r\n]|$)|\.[ \t]+\p{Lu}|[;)])")


def is_person_subject(text: str, start: int, end: int) -> bool:
    """Whether the words at [start, end) have a person's verb, own what no eponym owns, or are cared for."""
    deed = _ACTS.match(text, end)
    if deed is not None:
        return not bears_a_name(deed["possession"] or "")
    return bool(_SENTENCE_END.match(text, end) and _CARED_FOR.match(text, start))
