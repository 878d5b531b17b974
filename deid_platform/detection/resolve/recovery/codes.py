"""Codes of ICD-10-CM that are written without their dot and look like a record number: "R402112".

Belongs here: which letter with digits is a code, by the list of codes and by its context. Does not belong here: codes
with a dot and those of other systems (`resolve/recovery/expressions.yaml`), or making the list
(`lexicon/vocabularies/icd10cm.py`).

A listed code counts where its title stands beside it or a word such as "diagnosis" before it. After the label of a
person's number it is that number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from deid_platform.lexicon.lists import rows
from deid_platform.lexicon.vocabularies.icd10cm import beginning

_CODE = regex.compile(r"(?<![\w.\-/#])[A-Z]\d{4,6}(?![\w\-/]|\.\d)")
_CATEGORY = 3
_WORD_START = regex.compile(r"(?<![\p{L}\d'\-])[\p{L}\d]")
_BEFORE = 90  # code points
_TITLE_NEXT = regex.compile(r"[ \t]{0,3}[)\]]?[ \t]*[:=,\-–—|]{0,2}[ \t]{0,3}(?P<title>[\p{L}\d][^\r\n]{0,60})")
_TITLE_BEFORE = regex.compile(r"(?P<title>\p{L}[^\r\n;.]{2,})[ \t]*(?:[(\[]|[:=\-–—|])[ \t]*\Z")
_CUE = regex.compile(
    r"\b(?:icd(?:[ \-]?(?:9|10|11|o))?(?:[ \-]?cm)?|dx|diagnos[ie]s|diagnostic|code[ds]?|billed|billing)"
    r"(?:[ ](?:codes?|dx|as|for|under|is|are|were|was)\b){0,2}[ ]?[:#=(\[]?[ ]{0,2}"
    r"(?:[A-Z]\d[0-9A-Z][0-9A-Z.]{0,5}(?:[,;/][ ]?|[ ](?:and|or)[ ]|[ ])){0,12}\Z",
    regex.IGNORECASE,
)
_NUMBER_LABEL = regex.compile(
    r"\b(?:mrn|mr|med(?:ical)?[ ]rec(?:ord)?|record|chart|acc(?:oun)?t|id|patient|pt|encounter|visit|csn|har"
    r"|specimen|accession|case|policy|member|serial|pager?|beeper|door|access)"
    r"(?:[ ](?:id|no\.?|number|code|is|was)){0,2}[ ]?[#:.=]{0,2}[ ]{0,2}\Z",
    regex.IGNORECASE,
)


def codes_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The intervals of undotted codes in a stretch of a text."""
    for match in _CODE.finditer(text, start, end):
        row = _listed().get(match[0][:_CATEGORY])
        if row is not None and match[0][_CATEGORY:] in row[0] and _is_told(text, match.start(), match.end(), row[1]):
            yield match.span()


def _is_told(text: str, start: int, end: int, titles: frozenset[str]) -> bool:
    """Whether what stands around a listed code says that it is one."""
    before = max(0, start - _BEFORE)
    if _NUMBER_LABEL.search(text, before, start):
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
def _listed() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """By category: what follows it in its codes, and how their titles begin."""
    listed = rows("icd10cm_codes")
    return {category: (frozenset(ends.split()), frozenset(titles.split("|"))) for category, ends, titles in listed}
