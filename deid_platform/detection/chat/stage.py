"""The stage that asks a chat model about documents and adds what it finds.

Belongs here: from mentions to candidates, and from failures to codes. Does not belong here: which documents are read
(`review.py`), or how a model is asked (`llm/prompted.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deid_platform.detection.api import ASKED, Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.chat.review import Review
from deid_platform.errors import Code
from deid_platform.labels import Label
from deid_platform.llm.answered import Unusable, Why
from deid_platform.llm.api import Failure
from deid_platform.llm.prompted import Found, NotFound, Prompted

CONFIDENCE = 0.5
"""Of every candidate: a chat model says no probability. The number ranks it among models and decides nothing else."""
_CODES: Mapping[Why, Code] = {
    Unusable.REFUSED: Code.CHAT_REFUSED,
    Unusable.CUT_OFF: Code.CHAT_CUT_OFF,
    Unusable.FORM: Code.CHAT_FORM,
    Unusable.STRAYED: Code.CHAT_STRAYED,
    Unusable.ABSENT: Code.CHAT_ABSENT,
    Failure.DEADLINE: Code.CHAT_DEADLINE,
    Failure.BUDGET: Code.CHAT_BUDGET,
}
_SILENT = frozenset((Failure.UNREACHABLE, Failure.DEADLINE, Failure.BUSY, Failure.SERVER))
_PATIENCE = 16
"""Notes in a row without an answer, until the server counts as gone."""


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
        self._prompted = prompted
        self._review = review
        self._unwanted = frozenset(() if professions else (Label.PROFESSION,))
        self._heard: dict[str, Found | NotFound] = {}
        self._unanswered = 0

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
        heard = self._outcomes(read)
        found = {id(document): self._candidates(document, heard[document.text]) for document in read}
        return [[*before, *found.get(id(document), ())] for document, before in zip(documents, candidates, strict=True)]

    def _outcomes(self, documents: Sequence[Document]) -> Mapping[str, Found | NotFound]:
        """What the model says of each text. Where another stage raises, the notes of a batch come again one by one:
        the answers to the last batch are remembered, so that nothing is asked twice. A failure is no answer."""
        texts = list(dict.fromkeys(document.text for document in documents))
        heard = {text: self._heard[text] for text in texts if text in self._heard}
        if new := [text for text in texts if text not in heard]:
            heard |= zip(new, self._asked(new), strict=True)
            if any(map(_is_answer, heard.values())):
                self._heard = {text: outcome for text, outcome in heard.items() if _is_answer(outcome)}
        return heard

    def _asked(self, texts: Sequence[str]) -> list[Found | NotFound]:
        """What the model says of texts. Of a batch after many notes without an answer, one is tried first: a server
        that is gone keeps each note waiting as long as it may, and a delivery has many."""
        tried = texts[:1] if self._unanswered >= _PATIENCE else texts
        outcomes = self._counted(tried)
        if rest := texts[len(tried) :]:
            outcomes += [NotFound(Failure.UNREACHABLE)] * len(rest) if self._unanswered else self._counted(rest)
        return outcomes

    def _counted(self, texts: Sequence[str]) -> list[Found | NotFound]:
        outcomes = list(self._prompted.find(texts))
        for outcome in outcomes:
            silent = isinstance(outcome, NotFound) and outcome.why in _SILENT
            self._unanswered = self._unanswered + 1 if silent else 0
        return outcomes

    def _candidates(self, document: Document, outcome: Found | NotFound) -> list[Candidate]:
        if isinstance(outcome, NotFound):
            document.failure = _CODES.get(outcome.why, Code.CHAT_NO_ANSWER)
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


def _is_answer(outcome: Found | NotFound) -> bool:
    return isinstance(outcome, Found) or isinstance(outcome.why, Unusable)
