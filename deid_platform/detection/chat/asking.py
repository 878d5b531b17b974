"""Asks a chat model about batches: nothing twice, and a server that is gone not about every note.

Belongs here: what was heard last, when a server counts as gone, and failures as codes. Does not belong here: prompts,
or what an answer means (`deid_platform/llm`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from deid_platform.errors import Code
from deid_platform.llm.answered import Unusable, Why
from deid_platform.llm.api import Failure
from deid_platform.llm.prompted import NotFound

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")

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


def code_of(why: Why) -> Code:
    """Why a note is withheld of which a model tells nothing."""
    return _CODES.get(why, Code.CHAT_NO_ANSWER)


class Asker(Generic[Item, Answer]):
    """What a model says of the items of one batch after the other.

    Args:
        find: Asks about some items, in order.
    """

    def __init__(self, find: Callable[[Sequence[Item]], Iterable[Answer | NotFound]]) -> None:
        self._find = find
        self._heard: dict[Item, Answer | NotFound] = {}
        self._unanswered = 0

    def __repr__(self) -> str:
        return "<Asker>"

    def __call__(self, items: Iterable[Item]) -> Mapping[Item, Answer | NotFound]:
        """What the model says of each item. Where another stage raises, the notes of a batch come again one by one:
        the answers to the last batch are remembered, so that nothing is asked twice. A failure is no answer."""
        wanted = list(dict.fromkeys(items))
        heard = {item: self._heard[item] for item in wanted if item in self._heard}
        if new := [item for item in wanted if item not in heard]:
            heard |= zip(new, self._asked(new), strict=True)
            if any(map(_is_answer, heard.values())):
                self._heard = {item: outcome for item, outcome in heard.items() if _is_answer(outcome)}
        return heard

    def _asked(self, items: Sequence[Item]) -> list[Answer | NotFound]:
        """What the model says of items. Of a batch after many notes without an answer, one is tried first: a server
        that is gone keeps each note waiting as long as it may, and a delivery has many."""
        tried = items[:1] if self._unanswered >= _PATIENCE else items
        outcomes = self._counted(tried)
        if rest := items[len(tried) :]:
            outcomes += [NotFound(Failure.UNREACHABLE)] * len(rest) if self._unanswered else self._counted(rest)
        return outcomes

    def _counted(self, items: Sequence[Item]) -> list[Answer | NotFound]:
        outcomes = list(self._find(items))
        for outcome in outcomes:
            silent = isinstance(outcome, NotFound) and outcome.why in _SILENT
            self._unanswered = self._unanswered + 1 if silent else 0
        return outcomes


def _is_answer(outcome: object) -> bool:
    return not isinstance(outcome, NotFound) or isinstance(outcome.why, Unusable)
