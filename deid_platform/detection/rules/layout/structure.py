"""Names by layout: tables, the line above a street address, what stands beside a name, the end of a message.

Belongs here: which of them are looked for, and the line above an address. Does not belong here: tables
(`tables.py`), lists (`name_lists.py`), closings (`signatures.py`); labels with a colon, signature lines and what else a
pattern can say (`en/people.yaml`, `en/messages.yaml`).

A verdict depends on one paragraph alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from deid_platform.detection.rules.en.messages import is_a_name
from deid_platform.detection.rules.layout.signatures import signature_names
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.detection.rules.names.name_lists import names_in_lists
from deid_platform.detection.rules.layout.tables import table_names
from deid_platform.text.offsets import trim
from deid_platform.labels import Label
from deid_platform.notes import Span

_ADDRESSEE = "patterns:address-block"
_INITIAL = regex.compile(r"[ \t]\p{Lu}\.?[ \t]")
_NAME_LINE = regex.compile(
    r"(?:(?i:to|attn|attention|mr|mrs|ms|miss|dr)\b[.:]?[ \t]*)?"
    r"(?P<name>\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ \t]+(?:\p{L}{2,3}[ \t]+)?\p{Lu}[\p{L}\p{M}'’.\-]*){1,3})"
    r"(?:[ \t]*,[ \t]*[A-Z][A-Za-z.\-]{1,8}){0,3}[ \t]*"
)


def structure_names(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Identifiers that the layout shows.

    Args:
        text: The paragraph.
        found: Spans found in it so far.

    Yields:
        The cells of a table's identifying columns, the name on the line above a street address, who signs at the end
        of a message, and whose names stand beside a name in a list.
    """
    named = [*found, *table_names(text), *signature_names(text)]
    yield from named[len(found) :]
    yield from names_in_lists(text, named)
    for span in found:
        if span.label is Label.STREET:
            yield from _addressee(text, span.start)


def _addressee(text: str, street: int) -> Iterator[Span]:
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
    words = regex.findall(r"\p{L}[\p{L}\p{M}'’\-]+", match["name"])
    kinds = [word_class(word) for word in words]
    initial = _INITIAL.search(match["name"]) is not None
    fitting = [is_a_name(word, loose=True) for word in words]
    listed = any(kind & (WordClass.GIVEN | WordClass.SURNAME) for kind in kinds) or all(fitting) or (initial and any(fitting))
    plain = sum(bool(kind & WordClass.ORDINARY) and not kind & (WordClass.GIVEN | WordClass.SURNAME) for kind in kinds)
    if listed and (initial or not plain):
        begin, stop = match.span("name")
        yield Span(begin, stop, Label.PATIENT, 0.7, _ADDRESSEE)
