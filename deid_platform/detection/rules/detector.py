"""The rules as a detector: each paragraph by itself, step by step.

Belongs here: which steps there are, in which order, and the cache of recurring paragraphs. Does not belong here: what
a step finds, or anything that needs more than one paragraph (`resolve/propagate/`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from time import perf_counter

from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.detection.rules.engine.anchors import AnchorIndex, Place
from deid_platform.detection.rules.engine.recognizer import TIMEOUT_S, Recognizer
from deid_platform.detection.rules.engine.templates import CAPACITY, TemplateCounts, Verdicts, paragraphs
from deid_platform.detection.rules.layout.line_wraps import joined_lines
from deid_platform.detection.rules.layout.tables import table_names
from deid_platform.detection.rules.names.coordinated_names import coordinated_names
from deid_platform.detection.rules.names.vocabulary import vocabulary_names
from deid_platform.labels import Label
from deid_platform.notes import Note

_ON_PARAGRAPHS: Mapping[str, Callable[[str, Sequence[Candidate]], Iterable[Candidate]]] = {
    "vocabulary": lambda text, _: vocabulary_names(text),
    "tables": lambda text, _: table_names(text),
    "coordinated_names": coordinated_names,
}
"""Steps that take a paragraph with what was found in it so far, and give what else is there."""

RULE_STEPS = ("recognizers", "line_wraps", *_ON_PARAGRAPHS)
"""The steps, in their order."""


class Rules:
    """Reads every paragraph for itself.

    Args:
        timeout_s: Seconds of processor time that one pattern may take on one window.
        remembered: Code points of text whose verdicts are kept for when it recurs; 0 recognises all text anew.
        professions: Whether they are sought.
        ages: Whether ages under 90 are; older ones always are.
        own: A site's own recognizers, beside the shipped ones.
        without: Steps of `RULE_STEPS` to leave out.
    """

    def __init__(
        self,
        *,
        timeout_s: float = TIMEOUT_S,
        remembered: int = CAPACITY,
        professions: bool = False,
        ages: bool = False,
        own: Sequence[Recognizer] = (),
        without: Collection[str] = (),
    ) -> None:
        self.timeout_s = timeout_s
        self.counts = TemplateCounts()
        self._verdicts = Verdicts(remembered)
        self._recognizers = load_recognizers()
        self._own = tuple(own)
        self._index = _anchor_index()
        self._sought = [
            (professions or recognizer.labels != {Label.PROFESSION}) and (ages or not recognizer.any_age)
            for recognizer in self._recognizers
        ]
        self._without = frozenset(without)
        self._steps = [step for name, step in _ON_PARAGRAPHS.items() if name not in self._without]

    def __repr__(self) -> str:
        return "<Rules>"

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """Candidates of each document; see `Detector`.

        Raises:
            DeidError: `detector-failed`, naming the recognizer, if a pattern ran out of time.
        """
        cut = [list(paragraphs(document.text)) for document in documents]
        digests = [
            [self._verdicts.digest(document.text[start:end], document.note.language) for start, end in places]
            for document, places in zip(documents, cut, strict=True)
        ]
        verdicts = {digest: self._verdicts.get(digest) for each in digests for digest in each}
        # A paragraph that stands twice in a batch is recognised once.
        new: dict[bytes, Place] = {}
        for number, (places, names) in enumerate(zip(cut, digests, strict=True)):
            for (start, end), digest in zip(places, names, strict=True):
                if verdicts[digest] is None:
                    new.setdefault(digest, (number, start, end))
        began = perf_counter()
        found = list(self._recognised(documents, list(new.values())))
        seconds = perf_counter() - began
        for (digest, (_, start, end)), verdict in zip(new.items(), found, strict=True):
            self._verdicts.put(digest, end - start, verdict)
            verdicts[digest] = verdict
        self._count([place for places in cut for place in places], [place[1:] for place in new.values()], seconds)
        return [
            [
                candidate.moved(start)
                for digest, (start, _) in zip(names, places, strict=True)
                for candidate in verdicts[digest] or ()
            ]
            for places, names in zip(cut, digests, strict=True)
        ]

    def _count(self, places: Collection[tuple[int, int]], new: Collection[tuple[int, int]], seconds: float) -> None:
        characters = sum(end - start for start, end in places)
        recognised = sum(end - start for start, end in new)
        self.counts += TemplateCounts(len(places), len(places) - len(new), characters, characters - recognised, seconds)

    def _recognised(self, documents: Sequence[Document], places: Sequence[Place]) -> Iterator[tuple[Candidate, ...]]:
        """What is found in each of some ascending paragraphs, relative to its start."""
        texts = [documents[number].text[start:end] for number, start, end in places]
        found: list[list[Candidate]] = [[] for _ in texts]
        if "recognizers" not in self._without:
            for place, candidate in self._searched(documents, places, texts):
                found[place].append(candidate)
        for text, candidates in zip(texts, found, strict=True):
            if "line_wraps" not in self._without:
                candidates.extend(self._over_line_wraps(text))
            for step in self._steps:
                candidates.extend(list(step(text, candidates)))
            yield tuple(dict.fromkeys(candidates))

    def _over_line_wraps(self, text: str) -> Iterator[Candidate]:
        """Candidates of the recognizers over a line end inside a number or a date."""
        for joined in joined_lines(text):
            shown = joined.shown.text
            document = Document(Note("line-wrap", shown))
            for _, candidate in self._searched([document], [(0, 0, len(shown))], [shown]):
                if (whole := joined.placed(candidate)) is not None:
                    yield whole

    def _searched(
        self, documents: Sequence[Document], places: Sequence[Place], texts: Sequence[str]
    ) -> Iterator[tuple[int, Candidate]]:
        for _, search in self.searches(documents, places, texts):
            yield from search

    def searches(
        self, documents: Sequence[Document], places: Sequence[Place], texts: Sequence[str]
    ) -> Iterator[tuple[Recognizer, Iterator[tuple[int, Candidate]]]]:
        """The selected recognizers, each with its candidates in paragraphs, which name the number of their paragraph.

        Args:
            documents: Documents.
            places: Ascending paragraphs of them: number of the document, start, end.
            texts: The texts of these paragraphs.
        """
        for number, windows in self._index.windows(documents, places):
            if self._sought[number]:
                recognizer = self._recognizers[number]
                yield recognizer, recognizer.search(texts, windows, timeout_s=self.timeout_s)
        whole = [(number, 0, len(text)) for number, text in enumerate(texts)]
        for recognizer in self._own:
            yield recognizer, recognizer.search(texts, whole, timeout_s=self.timeout_s)


@lru_cache(maxsize=1)
def _anchor_index() -> AnchorIndex:
    return AnchorIndex([recognizer.anchors for recognizer in load_recognizers()])


def rows_across(text: str, cuts: Sequence[int]) -> Iterator[Candidate]:
    """Identifiers of tables that are split between pieces, by the header before the split.

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
            yield from (candidate.moved(start) for candidate in table_names(text[start:end]))
        if not waiting:
            return
