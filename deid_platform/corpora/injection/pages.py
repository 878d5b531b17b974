"""The page that shows one carrier before and after, in each locale: docs/surrogate-notes.md.

Belongs here: an invented carrier and its notes as Markdown. Does not belong here: making them (`corpus.py`).
"""

from __future__ import annotations

import re
from html import escape
from importlib import resources

from deid_platform.corpora.injection.carriers import Carrier, Slot
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject
from deid_platform.corpora.injection.weaving import Density
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.surrogates.locales import LOCALES, locale

_SLOT = re.compile(r"<<([A-Z-]+)\|([^<>|]+)>>")
_DENSITY = Density(header=1.0, signature=1.0, sections=1, opening=0.0, sentence=0.25, lead=0.2, tail=0.2)
_HEAD = """# Surrogate-injected notes

One invented note as it comes, and as surrogate corpora write it, in each locale. Its own identifiers are filled, others
are woven in: a header, a signature, sentences, names in place of "the patient". **Bold** is gold. The ways of writing
are those of the open sets; the names are of the training share.

This page is written by `deid_platform.corpora.injection.pages.surrogate_notes_markdown` and checked by the tests.
`deid corpora fill CORPUS FOLDER --locale zh` writes a whole corpus ([corpora](corpora.md)).
"""


def example() -> Carrier:
    """The invented carrier."""
    path = resources.files("deid_platform.corpora.injection") / "data" / "example_note.txt"
    marked = path.read_text(encoding="utf-8").strip()
    slots: list[Slot] = []
    parts: list[str] = []
    at = length = 0
    for match in _SLOT.finditer(marked):
        parts += (marked[at : match.start()], match[2])
        start = length + match.start() - at
        length = start + len(match[2])
        slots.append(Slot(start, length, Label(match[1])))
        at = match.end()
    return Carrier(Note("example", "".join((*parts, marked[at:]))), tuple(slots))


def surrogate_notes_markdown() -> str:
    """The whole page."""
    carrier = example()
    before = [Span(slot.start, slot.end, slot.label) for slot in carrier.slots if slot.label is not None]
    parts = [_HEAD, "## Before\n", _shown(carrier.note.text, before)]
    for name in LOCALES:
        spec = InjectionSpec("example", name, Part.TRAINING, density=_DENSITY)
        made = next(iter(inject(spec, [carrier])))
        parts += [f"## {locale(name).title} (`{name}`)\n", _shown(made.note.text, made.gold)]
    return "\n".join(parts)


def _shown(text: str, spans: list[Span] | tuple[Span, ...]) -> str:
    """A text as a block of HTML with its spans in bold; Markdown would join its lines."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (
            escape(text[at : span.start], quote=False),
            f"<b>{escape(text[span.start : span.end], quote=False)}</b>",
        )
        at = span.end
    parts.append(escape(text[at:], quote=False))
    return f"<pre>\n{''.join(parts)}\n</pre>\n"
