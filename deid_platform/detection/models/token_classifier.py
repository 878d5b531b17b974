"""The shipped model: a token classifier that onnxruntime runs.

Belongs here: loading a model's folder, running it on windows. Does not belong here: pieces, windows, thresholds (beside
this file) or training (`deid_platform/training`).

A folder holds `model.onnx`, `tokenizer.json` and `model.json`: labels, thresholds, the digest of the other two. Each
window is run alone: the scales of dynamic int8 arithmetic are those of one run, so that windows of one batch would
change each other's probabilities.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.api import Candidate, Document, Source, SourceKind
from deid_platform.detection.models.decoding import Thresholds, by_word, candidates
from deid_platform.detection.models.tokens import Reader, Tokens
from deid_platform.detection.models.windows import windows
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.silence import silent_onnxruntime

NETWORK, VOCABULARY, CARD = "model.onnx", "tokenizer.json", "model.json"


@dataclass(frozen=True)
class ModelFolder:
    """A model on disk.

    Args:
        path: Its folder.
    """

    path: Path

    @classmethod
    def shipped(cls, name: str) -> ModelFolder:
        """A model of the package, whether or not it is there."""
        return cls(Path(__file__).parent / "data" / name)

    @cached_property
    def card(self) -> dict[str, Any]:
        """What `model.json` says.

        Raises:
            DeidError: `model-unusable` if it cannot be read, or does not say labels, thresholds and files.
        """
        try:
            card = dict(json.loads((self.path / CARD).read_bytes()))
        except (OSError, ValueError):
            card = {}
        if not {"labels", "thresholds", "files"} <= card.keys():
            raise DeidError(Code.MODEL_UNUSABLE, CARD)
        return card

    @property
    def digest(self) -> str:
        """Names weights, vocabulary, thresholds, runtime and precision: all that decides what it finds."""
        card = self.card
        said = json.dumps([card["files"], card["labels"], card["thresholds"]], sort_keys=True)
        return plain_digest(said, f"onnxruntime {version('onnxruntime')}", f"tokenizers {version('tokenizers')}")

    def verified(self) -> ModelFolder:
        """This folder, if network and vocabulary are those that the card names.

        Raises:
            DeidError: `model-unusable` with the file that is another or is missing.
        """
        for name in (NETWORK, VOCABULARY):
            try:
                found = hashlib.sha256((self.path / name).read_bytes()).hexdigest()
            except OSError:
                found = ""
            if found != self.card["files"].get(name):
                raise DeidError(Code.MODEL_UNUSABLE, name)
        return self


class TokenClassifier:
    """A model as a detector (`Detector`).

    Args:
        folder: Of the model; its name is that of the sources of candidates.
        professions: Whether occupations are searched for too.
        threads: For one window; what is found does not depend on them. By default the processor's, at most four; one in
            a process that another started, since workers share the processor.

    Raises:
        DeidError: `model-unusable`.
    """

    def __init__(self, folder: ModelFolder, *, professions: bool = True, threads: int | None = None) -> None:
        onnxruntime = silent_onnxruntime()
        folder.verified()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or (1 if parent_process() else min(4, os.cpu_count() or 1))
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(
                str(folder.path / NETWORK), options, providers=["CPUExecutionProvider"]
            )
            self.reader = Reader(folder.path / VOCABULARY)
        except Exception:
            raise DeidError(Code.MODEL_UNUSABLE, NETWORK) from None
        self._source = Source(SourceKind.MODEL, folder.path.name)
        self.thresholds = Thresholds.of(folder.card["labels"][1:], folder.card["thresholds"])
        self._left_out = None if professions else self.thresholds.labels.index(Label.PROFESSION) + 1

    def __repr__(self) -> str:
        return f"<TokenClassifier: {self._source.name}>"

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """The candidates of each document; see `Detector`."""
        return [self._one(document.text) for document in documents]

    def probabilities(self, text: str) -> tuple[Tokens, NDArray[np.float32]]:
        """A text as the model reads it, and the probability of each class for each word (words, classes).

        Raises:
            DeidError: `detector-failed` if the model cannot be run.
        """
        # Half of a surrogate pair is no character that a vocabulary could have.
        tokens = self.reader.read(text.encode("utf-8", "replace").decode() if not text.isascii() else text)
        if not len(tokens.ids):
            return tokens, np.empty((0, len(self.thresholds.labels) + 1), dtype=np.float32)
        pieces = np.concatenate([self._run(tokens, *window) for window in windows(tokens)])
        return tokens, by_word(pieces, tokens.words)

    def _one(self, text: str) -> list[Candidate]:
        tokens, probabilities = self.probabilities(text)
        return candidates(text, tokens, probabilities, self.thresholds, self._source)

    def _run(self, tokens: Tokens, start: int, end: int, first: int, last: int) -> NDArray[np.float32]:
        ids, features = (part[None] for part in self.reader.framed(tokens, start, end))
        try:
            (logits,) = self.session.run(None, {"ids": ids, "features": features})
        except Exception:
            raise DeidError(Code.DETECTOR_FAILED, self._source.name) from None
        inner: NDArray[np.float32] = np.asarray(logits[0, 1 + first - start : 1 + last - start], dtype=np.float32)
        inner = np.exp(inner - inner.max(axis=1, keepdims=True))
        inner /= inner.sum(axis=1, keepdims=True)
        if self._left_out is not None:
            # What looks like an occupation counts as no identifier, unless it also looks like one.
            inner[:, 0] += inner[:, self._left_out]
            inner[:, self._left_out] = 0
        return inner
