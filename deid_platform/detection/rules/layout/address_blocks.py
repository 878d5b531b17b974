"""The name on the line above a street address.

Belongs here: the person of an address block. Does not belong here: labels with a colon and whatever else a pattern can
find (`en/people.yaml`, `en/messages.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.rules.en.messages import is_a_name
from deid_platform.detection.rules.layout.tables import OF_TABLE
from deid_platform.labels import Label
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.text.offsets import trim

_ADDRESSEE = Source(SourceKind.RULES, "address-block")
_INITIAL = regex.compile(r"[ \t]\p{Lu}\.?[ \t]")
_NAME_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’\-]+")
_NAME_LINE = regex.compile(
    r"(?:(?i:to|attn|attention|mr|mrs|ms|miss|dr)\b[.:]?[ \t]*)?"
    r"(?P<name>\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ \t]+(?:\p{L}{2,3}[ \t]+)?\p{Lu}[\p{L}\p{M}'’.\-]*){1,3})"
    r"(?:[ \t]*,[ \t]*[A-Z][A-Za-z.\-]{1,8}){0,3}[ \t]*"
)


def address_block_names(text: str, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """The name on the line above each street address that begins its line.

    Args:
        text: The paragraph.
        found: What was found in it so far. An address in a table is no block: its cells have a header.
    """
    for candidate in found:
        if candidate.label is Label.STREET and candidate.source != OF_TABLE:
            yield from _addressee(text, candidate.start)


def _addressee(text: str, street: int) -> Iterator[Candidate]:
    """The name on the line above a street address that begins its line."""
    line = street
    while line and text[line - 1] in " \t":
        line -= 1
    if line == 0 or text[line - 1] not in "\r\n":
        return
    above = line - 1
    if above and text[above - 1 : above + 1] == "\r\n":
        above -= 1
    start = max(text.rfind("\n", 0, above), text.rfind("\r", 0, above)) + 1
    place = trim(text, start, above)
    match = _NAME_LINE.fullmatch(text, *place) if place and place[1] - place[0] <= 60 else None
    if match is None:
        return
    words = _NAME_WORD.findall(match["name"])
    kinds = [word_class(word) for word in words]
    initial = _INITIAL.search(match["name"]) is not None
    fitting = [is_a_name(word, loose=True) for word in words]
    listed = (
        any(kind & (WordClass.GIVEN | WordClass.SURNAME) for kind in kinds)
        or all(fitting)
        or (initial and any(fitting))
    )
    plain = sum(bool(kind & WordClass.ORDINARY) and not kind & (WordClass.GIVEN | WordClass.SURNAME) for kind in kinds)
    if listed and (initial or not plain):
        begin, stop = match.span("name")
        yield Candidate.by_rule(begin, stop, Label.PATIENT, 0.7, _ADDRESSEE)
