"""A token classifier as a detector.

Belongs here: from documents over windows and probabilities to candidates. Does not belong here: the folder
(`folder.py`), running a network (`onnx_network.py`, `torch_network.py`), pieces, windows, thresholds (beside this file)
or training (`deid_platform/training`).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.api import Candidate, Document, Likelihoods, Source, SourceKind
from deid_platform.detection.models.decoding import Thresholds, by_word, candidates
from deid_platform.detection.models.folder import NETWORK, VOCABULARY, ModelFolder
from deid_platform.detection.models.onnx_network import OnnxNetwork
from deid_platform.detection.models.tokens import Framed, Reader, Tokens
from deid_platform.detection.models.torch_network import TorchNetwork
from deid_platform.detection.models.windows import windows
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label


class Network(Protocol):
    """What says how likely each class is for each piece."""

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """Logits of each window (pieces, classes), the marks at its ends included; no window changes another's."""
        ...


class TokenClassifier:
    """A model as a detector (`Detector`).

    Args:
        folder: Of the model; its name is that of the sources of candidates.
        professions: Whether occupations are searched for too.
        threads: For one window; see `OnnxNetwork`.

    Raises:
        DeidError: `model-unusable`; `extra-missing` for a model of `transformers` without torch.
    """

    def __init__(self, folder: ModelFolder, *, professions: bool = True, threads: int | None = None) -> None:
        folder.verified()
        labels = tuple(dict.fromkeys(label for label in folder.classes if label is not None))
        self.thresholds = Thresholds.of(labels, folder.card["thresholds"])
        self._length = folder.length
        if folder.is_transformers and not (find_spec("torch") and find_spec("transformers")):
            raise DeidError(Code.EXTRA_MISSING, "ml")
        try:
            self.reader = Reader(folder.path / VOCABULARY)
            self.network: Network = (
                TorchNetwork(folder.path, length=self._length + self.reader.marks)
                if folder.is_transformers
                else OnnxNetwork(folder.path / NETWORK, threads=threads)
            )
        except Exception:
            raise DeidError(Code.MODEL_UNUSABLE, folder.network) from None
        self._source = Source(SourceKind.MODEL, folder.path.name)
        # What looks like an occupation that is not wanted counts as no identifier, unless it also looks like one.
        told = [None if label is Label.PROFESSION and not professions else label for label in folder.classes]
        self._joined = np.zeros((len(told), 1 + len(labels)), dtype=np.float32)
        for row, label in enumerate(told):
            self._joined[row, 0 if label is None else 1 + labels.index(label)] = 1

    def __repr__(self) -> str:
        return f"<TokenClassifier: {self._source.name}>"

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """The candidates of each document; see `Detector`. Each is told how likely its words are identifiers."""
        return [self._one(document) for document in documents]

    def probabilities(self, text: str) -> tuple[Tokens, NDArray[np.float32]]:
        """A text as the model reads it, and the probability of none and of each label for each word (words, labels).

        Raises:
            DeidError: `detector-failed` if the model cannot be run.
        """
        # Half of a surrogate pair is no character that a vocabulary could have.
        tokens = self.reader.read(text.encode("utf-8", "replace").decode() if not text.isascii() else text)
        if not len(tokens.ids):
            return tokens, np.empty((0, self._joined.shape[1]), dtype=np.float32)
        cut = list(windows(tokens, self._length))
        try:
            logits = self.network.logits([self.reader.framed(tokens, window.start, window.end) for window in cut])
        except Exception:
            raise DeidError(Code.DETECTOR_FAILED, self._source.name) from None
        before = self.reader.before
        pieces = np.concatenate(
            [
                found[before + window.judged_from - window.start : before + window.judged_to - window.start]
                for window, found in zip(cut, logits, strict=True)
            ]
        )
        return tokens, by_word(_softmax(pieces) @ self._joined, tokens.words)

    def _one(self, document: Document) -> list[Candidate]:
        tokens, probabilities = self.probabilities(document.text)
        likely = (1.0 - probabilities[:, 0]).tolist()
        document.likelihoods.append(Likelihoods(tokens.starts.tolist(), tokens.ends.tolist(), likely))
        return candidates(document.text, tokens, probabilities, self.thresholds, self._source)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)
