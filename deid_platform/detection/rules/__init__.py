"""Patterns: what the writing itself gives away, without any dictionary of the institution.

Belongs here: the component that reads a note paragraph by paragraph (recognizers, vocabulary, layout) and then
as a whole (further mentions of the same names). Does not belong here: the tables themselves (`en/*.yaml`)
or what the topics know (`gazetteer.py`, `roster.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from time import perf_counter

from deid_platform.detection.rules.engine.anchors import AnchorIndex
from deid_platform.detection.rules.names.coordinated_names import coordinated_names
from deid_platform.detection.rules.layout.line_wraps import joined_lines
from deid_platform.detection.resolve.propagate.names import repeated_names
from deid_platform.detection.rules.engine.recognizer import TIMEOUT_S, Recognizer, load_recognizers
from deid_platform.detection.resolve.propagate.strings import repeated_strings
from deid_platform.detection.rules.layout.structure import structure_names
from deid_platform.detection.rules.layout.tables import table_names
from deid_platform.detection.rules.engine.templates import CAPACITY, TemplateCounts, Verdicts, paragraphs
from deid_platform.detection.rules.names.unlisted_names import unlisted_names
from deid_platform.detection.rules.names.vocabulary import vocabulary_names
from deid_platform.text.normalize import Document
from deid_platform.detection.topics.staff import Colleagues, staff_initials
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

__all__ = ["Patterns"]


class Rules:
    """Reads every paragraph for itself, then marks other mentions of the names that were found.

    Args:
        timeout_s: Seconds of processor time that one pattern may take on one window.
        remembered: Code points of text whose verdicts are kept for when it recurs; 0 recognises all text anew.
        colleagues: Whose initials count for more; nobody's unless given.
        professions: Whether they are sought.
        own: A site's own recognizers, beside the shipped ones.
    """

    def __init__(
        self,
        *,
        timeout_s: float = TIMEOUT_S,
        remembered: int = CAPACITY,
        colleagues: Colleagues | None = None,
        professions: bool = False,
        own: Sequence[Recognizer] = (),
    ) -> None:
        self.timeout_s = timeout_s
        self._colleagues = colleagues or Colleagues()
        self.counts = TemplateCounts()
        self._verdicts = Verdicts(remembered)
        self._recognizers = load_recognizers()
        self._own = tuple(own)
        self._index = _anchor_index()
        unsought = frozenset() if professions else _alone(Label.PROFESSION)
        self._sought = [number not in unsought for number in range(len(self._recognizers))]

    def __repr__(self) -> str:
        return "<Patterns>"

    def find(self, document: Document) -> list[Span]:
        """Spans of one note, possibly overlapping; see `Component`.

        Raises:
            DeidError: `detector-failed`, naming the recognizer, if a pattern ran out of time.
        """
        text = document.text
        places = list(paragraphs(text))
        digests = [self._verdicts.digest(text[start:end], document.note.language) for start, end in places]
        verdicts = {digest: self._verdicts.get(digest) for digest in digests}
        # A paragraph that stands twice in the note is recognised once.
        new = {digest: place for digest, place in zip(digests, places, strict=True) if verdicts[digest] is None}
        began = perf_counter()
        found = self._recognise(document, sorted(new.values()))
        seconds = perf_counter() - began
        for (digest, (start, end)), verdict in zip(sorted(new.items(), key=itemgetter(1)), found, strict=True):
            self._verdicts.put(digest, end - start, verdict)
            verdicts[digest] = verdict
        self._count(places, list(new.values()), seconds)
        spans = [
            span
            for digest, (start, _) in zip(digests, places, strict=True)
            for span in _moved(verdicts[digest] or (), start)
        ]
        repeated = list(repeated_names(text, spans))
        spans.extend([*repeated, *repeated_strings(text, spans), *coordinated_names(text, repeated)])
        known = self._colleagues.known_in(document.note, spans)
        spans.extend(staff_initials(text, known, "patterns:staff-initials"))
        return spans

    def rows_across(self, text: str, cuts: Sequence[int]) -> Iterator[Span]:
        """The identifiers of the tables that cuts run through, by the header that stands before a cut.

        Args:
            text: A text that is read in pieces.
            cuts: Where pieces begin, ascending.
        """
        waiting = list(reversed(cuts))
        for start, end in paragraphs(text) if waiting else ():
            cut = False
            while waiting and waiting[-1] < end:
                cut = waiting.pop() > start or cut
            if cut:
                yield from _moved(tuple(table_names(text[start:end])), start)
            if not waiting:
                return

    def _count(self, places: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]], seconds: float) -> None:
        characters = sum(end - start for start, end in places)
        recognised = sum(end - start for start, end in new)
        self.counts += TemplateCounts(len(places), len(places) - len(new), characters, characters - recognised, seconds)

    def _recognise(self, document: Document, places: Sequence[tuple[int, int]]) -> list[tuple[Span, ...]]:
        """What the recognizers find in each of some paragraphs, relative to its start."""
        texts = [document.text[start:end] for start, end in places]
        found: list[list[Span]] = [[] for _ in texts]
        for place, span in self._searched(document, places, texts):
            found[place].append(span)
        for place, text in enumerate(texts):
            found[place].extend(self._recognise_broken(text))
        for text, spans in zip(texts, found, strict=True):
            spans.extend([*vocabulary_names(text), *unlisted_names(text)])
            spans.extend(list(structure_names(text, spans)))
            spans.extend(list(coordinated_names(text, spans)))
        return [tuple(dict.fromkeys(spans)) for spans in found]

    def _recognise_broken(self, text: str) -> Iterator[Span]:
        """What the recognizers find over an end of a line that stands inside a number or a date."""
        for joined in joined_lines(text):
            shown = joined.shown.text
            document = Document(Note("broken", shown))
            for _, span in self._searched(document, [(0, len(shown))], [shown]):
                if (whole := joined.placed(span)) is not None:
                    yield whole

    def _searched(
        self, document: Document, places: Sequence[tuple[int, int]], texts: Sequence[str]
    ) -> Iterator[tuple[int, Span]]:
        """What the recognizers that are sought find in some places of a text, each with the number of its place."""
        for number, windows in self._index.windows(document, places):
            if self._sought[number]:
                yield from self._recognizers[number].search(texts, windows, timeout_s=self.timeout_s)
        whole = [(number, 0, len(text)) for number, text in enumerate(texts)]
        for recognizer in self._own:
            yield from recognizer.search(texts, whole, timeout_s=self.timeout_s)


@lru_cache(maxsize=1)
def _anchor_index() -> AnchorIndex:
    return AnchorIndex([recognizer.anchors for recognizer in load_recognizers()])


@lru_cache
def _alone(label: Label) -> frozenset[int]:
    """The numbers of the recognizers that find one label and no other."""
    return frozenset(number for number, recognizer in enumerate(load_recognizers()) if recognizer.labels == {label})


def _moved(spans: Sequence[Span], by: int) -> Sequence[Span]:
    if not by:
        return spans
    return [Span(s.start + by, s.end + by, s.label, s.score, s.source) for s in spans]
