"""Who says whether a chunk of a released note lost or altered anything clinical.

Belongs here: what a judge is, what its retention may be called, and an adapter for models that score pairs. Does not
belong here: the judge without a model (`lexical_judge.py`), or the one that is a chat model (`chat_judge.py`).

CIRE is what Aghakasiri 2025 (6.2.2, figure 6) measure with a chat model that they ask whether anything changed, yes or
no, and only a judge that is asked so may give that name to its figures. Their second open question is whether
paraphrase detection does better: such a model is a judge by `PairClassifier`. A model says its name and the digest of
its weights, which go with every figure, so that untrained weights cannot pass for a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import regex

from deid_platform.errors import Code, DeidError
from deid_platform.llm.answered import Why

ChunkPair = tuple[str, str]
"""A chunk of the original and what the released text has in its place."""
_DIGEST = regex.compile(r"sha256:[0-9a-f]{64}")


class Kind(StrEnum):
    """What a judge is."""

    YES_OR_NO = "yes or no"
    """A chat model that is asked whether anything changed."""
    CHAT = "chat"
    """One that names what changed."""
    LEXICAL = "lexical"
    PARAPHRASE = "paraphrase"
    ENTAILMENT = "entailment"


_METRICS = {
    Kind.YES_OR_NO: "CIRE",
    Kind.CHAT: "chat retention",
    Kind.LEXICAL: "lexical retention",
    Kind.PARAPHRASE: "paraphrase retention",
    Kind.ENTAILMENT: "entailment retention",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Which judge it is.

    Attributes:
        kind: What it is.
        model: Its name and version.
        digest: `sha256:` and 64 hexadecimal digits: of a model's weights, or of what else decides its verdicts.

    Raises:
        DeidError: `input-invalid` without a model or a digest.
    """

    kind: Kind
    model: str
    digest: str

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise DeidError(Code.INPUT_INVALID, "a judge without the name of its model")
        if not _DIGEST.fullmatch(self.digest) or len(set(self.digest[7:])) == 1:
            raise DeidError(Code.INPUT_INVALID, "a judge without the digest of its model")

    @property
    def metric(self) -> str:
        """What retention by this judge is called."""
        return _METRICS[self.kind]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a chunk.

    Attributes:
        changed: Whether clinical content was lost or altered; None where the judge gave no answer.
        reasons: The kinds of change that it saw, never the note's words.
        failure: Why a chat model gave no answer.
    """

    changed: bool | None
    reasons: tuple[str, ...] = ()
    failure: Why | None = None


class Judge(Protocol):
    """Judges chunks."""

    @property
    def identity(self) -> Identity:
        """Which judge it is."""
        ...

    def judge(self, pairs: Sequence[ChunkPair]) -> Sequence[Verdict]:
        """A verdict a pair, in their order."""
        ...


class PairClassifier:
    """A judge by a model that gives a probability for two texts.

    A paraphrase model says how likely the two say the same, in one pass. An entailment model says how likely the
    second follows from the first; the two directions are asked, since what was lost no longer follows from the
    released text and what was added does not follow from the original, and the less likely one decides.

    Args:
        probabilities: For pairs of texts, one probability each.
        identity: The model's; of kind `PARAPHRASE` or `ENTAILMENT`.
        threshold: Below this probability a chunk counts as changed.

    Raises:
        DeidError: `input-invalid` if the judge is of another kind, or the threshold is no probability.
    """

    def __init__(
        self,
        probabilities: Callable[[Sequence[ChunkPair]], Sequence[float]],
        identity: Identity,
        *,
        threshold: float = 0.5,
    ) -> None:
        if identity.kind not in (Kind.PARAPHRASE, Kind.ENTAILMENT):
            raise DeidError(Code.INPUT_INVALID, "a pair classifier is a paraphrase or an entailment judge")
        if not 0 < threshold < 1:
            raise DeidError(Code.INPUT_INVALID, "threshold")
        self._probabilities = probabilities
        self._identity = identity
        self._threshold = threshold

    @property
    def identity(self) -> Identity:
        """Which judge it is."""
        return self._identity

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        """A verdict a pair; none where the model gives no number.

        Raises:
            DeidError: `input-invalid` if the model gives fewer or more probabilities than pairs, or one outside 0 to 1.
        """
        forward = self._asked(pairs)
        backward = forward
        if self._identity.kind is Kind.ENTAILMENT:
            backward = self._asked([(released, original) for original, released in pairs])
        return [
            Verdict(None if math.isnan(a) or math.isnan(b) else min(a, b) < self._threshold)
            for a, b in zip(forward, backward, strict=True)
        ]

    def _asked(self, pairs: Sequence[ChunkPair]) -> list[float]:
        found = [float(it) for it in self._probabilities(pairs)] if pairs else []
        if len(found) != len(pairs) or any(not (math.isnan(it) or 0 <= it <= 1) for it in found):
            raise DeidError(Code.INPUT_INVALID, "probabilities of a pair classifier")
        return found
