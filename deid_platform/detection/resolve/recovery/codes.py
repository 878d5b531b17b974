"""Codes of ICD-10-CM by the list of codes: with their dot ("E11.9"), and without it ("R402112").

Belongs here: which letter with digits is a code, by the list and by its context. Does not belong here: codes beside the
name of their system, and those of other systems (`expressions.yaml`), or making the list
(`lexicon/vocabularies/icd10cm.py`).

Behind the label of somebody's number a code is that number, unless it has its dot and its title follows. Without its
dot a number looks like a code anywhere, and counts as one where its title stands beside it or a word such as
"diagnosis" before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from deid_platform.detection.resolve.recovery.number_labels import is_labelled
from deid_platform.lexicon.lists import rows
from deid_platform.lexicon.vocabularies.icd10cm import beginning

_DOTTED = regex.compile(
    r"(?<![\w.\-/#])(?P<category>[A-Z]\d[0-9A-Z])\.(?P<ending>[0-9A-Z]{1,4})(?![\w]|[\-/.]\d)", regex.I
)
_UNDOTTED = regex.compile(r"(?<![\w.\-/#])(?P<category>[A-Z]\d\d)(?P<ending>\d{2,4})(?![\w\-/]|\.\d)")
_WORD_START = regex.compile(r"(?<![\p{L}\d'\-])[\p{L}\d]")
_BEFORE = 90  # code points
_TITLE_NEXT = regex.compile(r"[ \t]{0,3}[)\]]?[ \t]*[:=,\-–—|]{0,2}[ \t]{0,3}(?P<title>[\p{L}\d][^\r\n]{0,60})")
_TITLE_BEFORE = regex.compile(r"(?P<title>\p{L}[^\r\n;.]{2,})[ \t]*(?:[(\[]|[:=\-–—|])[ \t]*\Z")
_LEAST = 3  # letters of a title's first word that says something
_OF_ANY_TITLE = frozenset(("acute", "chronic", "other", "unspecified", "with", "without", "due", "left", "right"))
_CUE = regex.compile(
    r"\b(?:icd(?:[ \-]?(?:9|10|11|o))?(?:[ \-]?cm)?|dx|diagnos[ie]s|diagnostic|code[ds]?|billed|billing)"
    r"(?:[ ](?:codes?|dx|as|for|under|is|are|were|was)\b){0,2}[ ]?[:#=(\[]?[ ]{0,2}"
    r"(?:[A-Z]\d[0-9A-Z][0-9A-Z.]{0,5}(?:[,;/][ ]?|[ ](?:and|or)[ ]|[ ])){0,12}\Z",
    regex.IGNORECASE,
)
_PERSON = regex.compile(
    r"\b(?:record|chart|patient|pt|visit|specimen|case)(?:[ ](?:is|was)){0,2}[ ]?[#:.=]{0,2}[ ]{0,2}\Z",
    regex.IGNORECASE,
)


def codes_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The intervals of codes in a stretch of a text."""
    for shape, dotted in ((_DOTTED, True), (_UNDOTTED, False)):
        for match in shape.finditer(text, start, end):
            titles = _titles(match)
            if titles is None or (is_labelled(text, match.start()) and not (dotted and _begins(text, match, titles))):
                continue
            if dotted or _is_told(text, match.start(), match.end(), titles):
                yield match.span()


def is_titled(text: str, start: int, end: int) -> bool:
    """Whether a place is a listed code with its dot and the first word of its title behind it: "A41.9 sepsis"."""
    match = _DOTTED.fullmatch(text, start, end)
    titles = None if match is None else _titles(match)
    return match is not None and titles is not None and _begins(text, match, titles)


def _titles(match: regex.Match[str]) -> frozenset[str] | None:
    """How the titles of a code's category begin, or None for what is no code."""
    listed = _listed().get(match["category"].upper())
    return None if listed is None or f" {match['ending'].upper()} " not in listed[0] else listed[1]


def _begins(text: str, match: regex.Match[str], titles: frozenset[str]) -> bool:
    after = _TITLE_NEXT.match(text, match.end())
    word = "" if after is None else beginning(after["title"]).split(" ")[0]
    return len(word) >= _LEAST and word not in _OF_ANY_TITLE and any(t.split(" ")[0] == word for t in titles)


def _is_told(text: str, start: int, end: int, titles: frozenset[str]) -> bool:
    """Whether what stands around a listed code without its dot says that it is one."""
    before = max(0, start - _BEFORE)
    if _PERSON.search(text, before, start):
        return False
    if _CUE.search(text, before, start):
        return True
    after = _TITLE_NEXT.match(text, end)
    if after is not None and beginning(after["title"]) in titles:
        return True
    ahead = _TITLE_BEFORE.search(text, before, start)
    return ahead is not None and any(
        beginning(text[word.start() : ahead.end("title")]) in titles
        for word in _WORD_START.finditer(text, *ahead.span("title"))
    )


@cache
def _listed() -> dict[str, tuple[str, frozenset[str]]]:
    """By category: what follows it in its codes, each between spaces, and how titles begin."""
    return {
        category: (f" {endings} ", frozenset("".join(titles).split("|")))
        for category, endings, *titles in rows("icd10cm_codes")
    }
