"""Languages: the two-letter codes of ISO 639-1, a closed list.

    model    the model of py3langid, unpacked once
    telling  which languages a note is written in
    shipped  languages that the shipped detector was measured in, with its figures

Belongs here: the codes, and what is known of a note's language. Does not belong here: word lists of a language
(`lexicon/`).

A note's language is free text at its source; only what stands here may be shown of it.
"""

from __future__ import annotations

UNDETERMINED = "und"
ISO_639_1 = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo
    es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka
    kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng
    nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su
    sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()  # noqa: SIM905 - as a list literal it would fill a page
)


def is_code(code: str) -> bool:
    """Whether it is a code of ISO 639-1."""
    return code in ISO_639_1


def released_language(language: str) -> str:
    """A note's language as it may be shown: its ISO 639-1 code, else `und`."""
    code = language[:2].lower()
    return code if code in ISO_639_1 and not language[2:3].isalnum() else UNDETERMINED
