"""The union of components, less what is clinical: one detector out of several sources of spans.

Belongs here: how spans of several sources become one answer. Does not belong here: finding them.

The rule for overlaps: spans that share a code point are merged to their common extent, so that nothing
that any source found is ever uncovered. The label is that of the longest member; between equally long
ones, the roster's, then the gazetteer's, then the patterns', then what other notes say; then the higher score.
A profession, which tells least, gives way to whatever else is found in its place.
A clinician's gives way to the family's, however long (`relatives.py`). What a site's own recognizer finds gives way to a
direct identifier of the patient, however short: a site adds to what is hidden, and a policy may keep its label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from deid_platform.lexicon.lists import Component
from deid_platform.detection.resolve.relatives import relabel_relatives
from deid_platform.detection.rules import Rules
from deid_platform.detection.rules.engine.site_recognizers import OF_SITE
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.text.deobfuscate import Rewritten, plain
from deid_platform.text.normalize import Document
from deid_platform.detection.resolve.recovery import Recovery
from deid_platform.detection.resolve.merge import merge
from deid_platform.labels import DIRECT_IDENTIFIERS, Label
from deid_platform.notes import Note, Span
from deid_platform.text import Decoded, views

SOURCES = ("elsewhere", "patterns", "gazetteer", "roster")
"""Sources in the order of how well they know what they found; a recognizer adds its name after a colon."""


def rank(span: Span) -> tuple[bool, int, int, float, str]:
    """Which of two overlapping spans lends its label: the longer, the better informed, the surer."""
    source = span.source.partition(":")[0]
    return (
        span.label is not Label.PROFESSION,
        span.end - span.start,
        SOURCES.index(source) if source in SOURCES else -1,
        span.score,
        span.label.value,
    )


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Overlapping spans as one, each with the label that the rule gives it; sorted."""
    spans = list(spans)
    direct = [s for s in spans if s.label in DIRECT_IDENTIFIERS and not s.source.startswith(OF_SITE)]

    def labelled(span: Span) -> Span:
        if not span.source.startswith(OF_SITE) or span.label in DIRECT_IDENTIFIERS:
            return span
        met = [other for other in direct if other.start < span.end and span.start < other.end]
        return replace(span, label=max(met, key=rank).label) if met else span

    return merge((labelled(span) for span in spans) if direct else spans, rank=rank)


_SEGMENT = 400_000
"""Code points that are read at once: a longer note, which is no note, is read in overlapping pieces."""
_OVERLAP = 2_000

Telling = Callable[[Iterable[tuple[str, Sequence[Span]]]], Component]
"""Makes, of texts with what was found in each, a source that finds in any text whom and what they name."""


class Ensemble:
    """Unites components, then recovers clinical terms, then merges overlaps.

    Components see a note as its reader does (`deid_platform.text`) and without its disguises (`deobfuscate.py`); spans come
    back in the offsets of the note, and cover the whole of an escape of which they have found a part.

    Args:
        components: Sources of spans.
        recovery: What to give back; None keeps everything.
        telling: Makes a source of what the pieces of a very long note have named, for all of them; None reads every
            piece by itself.
    """

    def __init__(
        self, components: Sequence[Component], *, recovery: Recovery | None = None, telling: Telling | None = None
    ) -> None:
        self.components = tuple(components)
        self.recovery = recovery
        self._telling = telling

    @property
    def reused(self) -> TemplateCounts:
        """How much text was recurring template text, of all that this detector has read."""
        counts = (c.counts for c in self.components if isinstance(c, Rules))
        return sum(counts, TemplateCounts())

    def detect(self, notes: Sequence[Note]) -> list[tuple[Span, ...]]:
        """Spans of each note; see `Detector`."""
        return [self._detect(note) for note in notes]

    def _detect(self, note: Note) -> tuple[Span, ...]:
        seen = views(note.text)
        if len(seen) == 1 and seen[0].text is note.text:
            return self._detect_plain(note)
        found = [_decoded(span, view) for view in seen for span in self._detect_plain(replace(note, text=view.text))]
        return united(found)

    def _detect_plain(self, note: Note) -> tuple[Span, ...]:
        """Spans of a note in which nothing is escaped."""
        shown = plain(note.text)
        if not shown.text:
            return ()
        if shown.text is note.text and len(note.text) <= _SEGMENT:
            return united(self._find(note, self.components))
        places = list(segments(shown.text))
        pieces = [replace(note, text=shown.text[start:end]) for start, end in places]
        found = [
            self._find(piece, self.components, more)
            for piece, more in zip(pieces, self._rows(shown.text, places), strict=True)
        ]
        if self._telling is not None and len(pieces) > 1:
            told = self._telling((piece.text, spans) for piece, spans in zip(pieces, found, strict=True))
            for piece, spans in zip(pieces, found, strict=True):
                spans.extend(self._find(piece, (told,)))
        whole = (
            _placed(span, start, shown)
            for (start, _), spans in zip(places, found, strict=True)
            for span in united(spans)
        )
        return united(whole)

    def _find(self, note: Note, sources: Sequence[Component], more: Sequence[Span] = ()) -> list[Span]:
        """Spans of a stretch of a note without disguises, possibly overlapping."""
        document = Document(note)
        spans = [*more, *(span for source in sources for span in source.find(document))]
        if self.recovery is not None and spans:
            spans = self.recovery.keep(document, spans)
        return relabel_relatives(note.text, spans)

    def _rows(self, text: str, places: Sequence[tuple[int, int]]) -> list[list[Span]]:
        """For each piece of a text, the cells in it whose column is named in a piece before."""
        cuts = [start for start, _ in places if start]
        rows = [s for c in self.components if isinstance(c, Rules) for s in c.rows_across(text, cuts)]
        return [
            [replace(s, start=s.start - start, end=s.end - start) for s in rows if start <= s.start and s.end <= end]
            for start, end in places
        ]


def segments(text: str) -> Iterator[tuple[int, int]]:
    """A text in pieces of bounded length that overlap, so that what one cuts, the next one has whole."""
    start = 0
    while len(text) - start > _SEGMENT:
        end = start + _SEGMENT
        line = text.rfind("\n", end - _OVERLAP, end)
        yield start, line + 1 if line >= 0 else end
        start = end - 2 * _OVERLAP
    yield start, len(text)


def _decoded(span: Span, view: Decoded) -> Span:
    """A span of a readable text, in the offsets of the note."""
    start, end = view.origin(span.start, span.end)
    return replace(span, start=start, end=end)


def _placed(span: Span, start: int, shown: Rewritten) -> Span:
    """A span of a piece that begins at `start`, in the offsets of the note."""
    return replace(span, start=shown.origin(span.start + start), end=shown.origin(span.end + start - 1) + 1)
