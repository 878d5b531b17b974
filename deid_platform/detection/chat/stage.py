"""The stage that asks a chat model about documents and adds what it finds.

Belongs here: from mentions to candidates. Does not belong here: which documents are read (`review.py`), or how a model
is asked (`asking.py`, `llm/prompted.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deid_platform.detection.api import ASKED, Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.chat.asking import Asker, code_of
from deid_platform.detection.chat.review import Review
from deid_platform.errors import Code
from deid_platform.labels import Label
from deid_platform.llm.prompted import Found, NotFound, Prompted

CONFIDENCE = 0.5
"""Of every candidate: a chat model says no probability. The number ranks it among models and decides nothing else."""


class ChatStage:
    """A stage of the pipeline (`pipeline.Stage`).

    Args:
        name: Of the prompt.
        prompted: The prompt and the model that it goes to.
        review: Which documents and labels it is for; None for all.
        professions: Whether occupations are searched for too.
    """

    def __init__(
        self, name: str, prompted: Prompted, review: Review | None = None, *, professions: bool = True
    ) -> None:
        self._source = Source(SourceKind.MODEL, f"{ASKED}{name}")
        self._review = review
        self._unwanted = frozenset(() if professions else (Label.PROFESSION,))
        self._ask: Asker[str, Found] = Asker(prompted.find)

    def __repr__(self) -> str:
        return f"<ChatStage: {self._source.name}>"

    def __call__(self, documents: Sequence[Document], candidates: list[list[Candidate]]) -> list[list[Candidate]]:
        """The candidates with those of the model; `Document.failure` says where there are none."""
        review = self._review
        read = [
            document
            for document, before in zip(documents, candidates, strict=True)
            if review is None or review.wants(document, before)
        ]
        heard = self._ask(document.text for document in read)
        found = {id(document): self._candidates(document, heard[document.text]) for document in read}
        return [[*before, *found.get(id(document), ())] for document, before in zip(documents, candidates, strict=True)]

    def _candidates(self, document: Document, outcome: Found | NotFound) -> list[Candidate]:
        if isinstance(outcome, NotFound):
            document.failure = code_of(outcome.why)
            return []
        # A rewriting without some of the note, its end for one, says nothing of what it left out.
        if outcome.drift.deleted or outcome.drift.changed:
            document.failure = Code.CHAT_STRAYED
            return []
        return list(self._of(outcome))

    def _of(self, found: Found) -> Iterator[Candidate]:
        for start, end, named in found.mentions:
            # A place whose label there is not is hidden all the same.
            label = named or Label.IDNUM
            if label not in self._unwanted and (self._review is None or label in self._review.labels):
                yield Candidate(start, end, label, self._source, Evidence.PREDICTED, CONFIDENCE)
