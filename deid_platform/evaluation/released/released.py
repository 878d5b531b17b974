"""A note and the text that was released of it, whoever made it, and which places of the note the release hides.

Belongs here: the record that every measure of a release takes, and places from the two texts alone where nobody knows
the spans. Does not belong here: reading releases (`corpora/released_texts.py`), making them
(`deidentify/releasing.py`), or any measure.

Where spans are not known, words, numbers such as dates, and single other characters are aligned by Needleman-Wunsch, as
Aghakasiri 2025 does (`retention/alignment.py`); neither case nor white space counts. What has no partner of the same
letters is hidden: a name under a tag, a surrogate, a sentence that was left out, a word that was written otherwise. So
whatever a language model changed beside the identifiers counts as wrongly hidden, and a surrogate that happens to be
the original word as left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import regex

from deid_platform.evaluation.released.tags import TAG, label_of_tag
from deid_platform.evaluation.retention.alignment import align
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.redact import Redaction

# Numbers with signs within them are one token: of a shifted date not every part changes.
_TOKEN = regex.compile(rf"{TAG.pattern}|[\w.+\-]+@[\w.\-]+\w|\d+(?:[./\-]\d+)+|\w+|[^\w\s]")


class Place(NamedTuple):
    """A stretch of the original that the release hides, code points, end exclusive, and what stands there instead.

    Attributes:
        start: First code point.
        end: One past the last.
        put_in: What the release has in its place; empty where it was left out.
        label: What a tag says that it was; None without a tag of a known label.
    """

    start: int
    end: int
    put_in: str
    label: Label | None

    def span(self, gold: Sequence[Span] = ()) -> Span:
        """The place under the label of its tag, else that of the gold it shares most with, else as any identifier."""
        if self.label is not None:
            return Span(self.start, self.end, self.label)
        here = Span(self.start, self.end, Label.IDNUM)
        over = [span for span in gold if span.overlaps(here)]
        return Span(self.start, self.end, max(over, key=here.shared).label) if over else here


@dataclass(frozen=True, slots=True, repr=False)
class NoteRelease:
    """A note and what was released of it.

    Attributes:
        note: The original.
        text: Its release; None if it was withheld.
        gold: What is an identifier; None where nobody marked it.
        redaction: Which spans were replaced; None where the text alone is known.
    """

    note: Note
    text: str | None
    gold: tuple[Span, ...] | None = None
    redaction: Redaction | None = None

    def __repr__(self) -> str:
        return "<NoteRelease>"

    @property
    def shown(self) -> str:
        """The released text, of a note that was not withheld."""
        assert self.text is not None  # noqa: S101 - callers leave withheld notes out
        return self.text

    @property
    def places(self) -> list[Place]:
        """What the release hides: its spans where they are known, else by aligning the texts."""
        if self.redaction is None:
            return hidden_places(self.note.text, self.shown)
        both = zip(self.redaction.applied, self.redaction.replacements, strict=True)
        return [Place(span.start, span.end, put_in, span.label) for span, put_in in both]


def hidden_places(original: str, released: str) -> list[Place]:
    """The places of a text that another one hides, in order; the module says how.

    Args:
        original: The note's text.
        released: What was released of it.
    """
    ours, theirs = list(_TOKEN.finditer(original)), list(_TOKEN.finditer(released))
    words = [match.group().casefold() for match in ours]
    pairs = align(words, [match.group().casefold() for match in theirs])
    found: list[Place] = []
    i = j = 0  # the next token of each text
    first = i, j  # of the run that has no partners
    for one, other in [*pairs, ("", "")]:  # an equal pair at the end, which ends the last run
        if one == other:
            left_out = first[0] < i and first[1] == j
            if left_out and i < len(ours) and words[first[0]] == words[i]:
                # Of "in Bam. She coughs. BP" without "She coughs." the first full stop stays, not the second.
                first = first[0] + 1, j + 1
            else:
                if first[0] < i:
                    put_in = "" if left_out else released[theirs[first[1]].start() : theirs[j - 1].end()]
                    found.append(Place(ours[first[0]].start(), ours[i - 1].end(), put_in, _label(put_in)))
                first = i + 1, j + 1
        i, j = i + (one is not None), j + (other is not None)
    return found


def _label(put_in: str) -> Label | None:
    tags = TAG.findall(put_in)
    return label_of_tag(tags[0]) if tags else None
