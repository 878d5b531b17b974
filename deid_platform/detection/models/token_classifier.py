"""A token classifier as a detector.

Belongs here: from documents over windows and probabilities to candidates. Does not belong here: the folder
(`folder.py`), running a network (`onnx_network.py`, `torch_network.py`), pieces, windows, thresholds (beside this file)
or training (`deid_platform/training`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.api import Candidate, Document, Likelihoods, Source, SourceKind
from deid_platform.detection.models.decoding import Thresholds, by_word, candidates
from deid_platform.detection.models.device import CARD, PROCESSOR, usable
from deid_platform.detection.models.folder import NETWORK, VOCABULARY, ModelFolder
from deid_platform.detection.models.network_server import Served, ServedNetwork
from deid_platform.detection.models.onnx_network import OnnxNetwork
from deid_platform.detection.models.tokens import Framed, Reader, Tokens
from deid_platform.detection.models.torch_network import TorchNetwork
from deid_platform.detection.models.windows import Window, windows
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.runtime.model_seconds import ModelSeconds


class Network(Protocol):
    """What says how likely each class is for each piece."""

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """Logits of each window (pieces, classes), the marks at its ends included; no window changes another's."""
        ...


class CountedNetwork:
    """A network of this process (`Network`), and the seconds in which it runs.

    Args:
        network: The network.
        seconds: Where they are counted.
        device: Where it runs.
    """

    def __init__(self, network: Network, seconds: ModelSeconds, device: str) -> None:
        self._network = network
        self._seconds = seconds
        self._cards = int(device == CARD)

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """See `Network`."""
        with self._seconds.running(self._cards):
            return self._network.logits(windows)


class TokenClassifier:
    """A model as a detector (`Detector`).

    Args:
        folder: Of the model; its name is that of the sources of candidates.
        professions: Whether occupations are searched for too.
        threads: Windows that are run at the same time; see `OnnxNetwork`.
        device: Where its network runs, one of `device.DEVICES`.
        served: The process that runs it for others too; None for this one.
        seconds: Where the seconds in which it runs are counted; a count of its own unless given.

    Raises:
        DeidError: `model-unusable`; `extra-missing` for a model of `transformers` without torch; `device-missing`.
    """

    def __init__(
        self,
        folder: ModelFolder,
        *,
        professions: bool = True,
        threads: int | None = None,
        device: str = PROCESSOR,
        served: Served | None = None,
        seconds: ModelSeconds | None = None,
    ) -> None:
        folder.checked()
        labels = tuple(dict.fromkeys(label for label in folder.classes if label is not None))
        self.thresholds = Thresholds.of(labels, folder.card["thresholds"])
        self._length = folder.length
        usable(device)
        try:
            self.reader = Reader(folder.path / VOCABULARY)
            self.network = self._network(folder, threads, device, served, seconds or ModelSeconds())
        except Exception:
            raise DeidError(Code.MODEL_UNUSABLE, folder.network) from None
        self._source = Source(SourceKind.MODEL, folder.path.name)
        # What looks like an occupation that is not wanted counts as no identifier, unless it also looks like one.
        told = [None if label is Label.PROFESSION and not professions else label for label in folder.classes]
        self._joined = np.zeros((len(told), 1 + len(labels)), dtype=np.float32)
        for row, label in enumerate(told):
            self._joined[row, 0 if label is None else 1 + labels.index(label)] = 1
        self._begins, self._goes_on = list(folder.tags.begins), list(folder.tags.goes_on)

    def __repr__(self) -> str:
        return f"<TokenClassifier: {self._source.name}>"

    def _network(
        self, folder: ModelFolder, threads: int | None, device: str, served: Served | None, seconds: ModelSeconds
    ) -> Network:
        if served is not None:
            return ServedNetwork(served, folder.path, seconds)
        if device == PROCESSOR and not folder.is_transformers:
            return CountedNetwork(OnnxNetwork(folder.path / NETWORK, threads=threads), seconds, device)
        length = self._length + self.reader.marks
        return CountedNetwork(TorchNetwork(folder, length=length, device=device), seconds, device)

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """The candidates of each document; see `Detector`. Each is told how likely its words are identifiers."""
        read = self._read([document.text for document in documents])
        return [self._candidates(document, *one) for document, one in zip(documents, read, strict=True)]

    def probabilities(self, text: str) -> tuple[Tokens, NDArray[np.float32]]:
        """A text as the model reads it, and the probability of none and of each label for each word (words, labels).

        Raises:
            DeidError: `detector-failed` if the model cannot be run.
        """
        tokens, probabilities, _ = self._read([text])[0]
        return tokens, probabilities

    def _read(self, texts: Sequence[str]) -> list[tuple[Tokens, NDArray[np.float32], NDArray[np.bool_]]]:
        """As `probabilities`, and which words begin an identifier; the windows of all texts are run together."""
        # Half of a surrogate pair is no character that a vocabulary could have.
        clean = [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]
        read = [self.reader.read(text) for text in clean]
        cut = [list(windows(tokens, self._length)) if len(tokens.ids) else [] for tokens in read]
        framed = [self.reader.framed(t, w.start, w.end) for t, some in zip(read, cut, strict=True) for w in some]
        try:
            logits = iter(self.network.logits(framed))
        except Exception:
            raise DeidError(Code.DETECTOR_FAILED, self._source.name) from None
        return [(tokens, *self._of_words(tokens, some, logits)) for tokens, some in zip(read, cut, strict=True)]

    def _of_words(
        self, tokens: Tokens, cut: Sequence[Window], logits: Iterator[NDArray[np.float32]]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        if not cut:
            return np.empty((0, self._joined.shape[1]), dtype=np.float32), np.empty(0, dtype=np.bool_)
        before = self.reader.before
        pieces = np.concatenate(
            [
                next(logits)[before + window.judged_from - window.start : before + window.judged_to - window.start]
                for window in cut
            ]
        )
        by_piece = _softmax(pieces)
        # Only the first piece of a word tells: most classifiers learned nothing of the others.
        first = by_piece[np.flatnonzero(np.diff(tokens.words, prepend=-1))]
        begins = first[:, self._begins].sum(axis=1) > first[:, self._goes_on].sum(axis=1)
        return by_word(by_piece @ self._joined, tokens.words), begins

    def _candidates(
        self, document: Document, tokens: Tokens, probabilities: NDArray[np.float32], begins: NDArray[np.bool_]
    ) -> list[Candidate]:
        likely = (1.0 - probabilities[:, 0]).tolist()
        document.likelihoods.append(Likelihoods(tokens.starts.tolist(), tokens.ends.tolist(), likely))
        return candidates(tokens, probabilities, self.thresholds, self._source, begins)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)
