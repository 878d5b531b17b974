"""Sequence classifiers of the library `transformers` from a local folder: of texts to codes, and of pairs of texts.

Belongs here: loading one, running it, and what its labels mean. Does not belong here: what its probabilities are worth
(`icd.py`, `judges.py`), or token classifiers (`detection/models/`).

Pissarra 2024 predicts ICD-10 codes by a BioBERT, which is such a folder, and so is a paraphrase or an entailment model,
after the second open question of Aghakasiri 2025. Nothing is downloaded. Decided here:

- A text longer than the model's context is read in windows, and a code's probability is the highest of them.
- A model of codes whose configuration says `multi_label_classification` gives each code a probability of its own; of
  any other, those of a text add up to 1.
- Of a model of pairs, the class whose label begins with "entail" says that the second text follows from the first, and
  one of "paraphrase", "equivalent", "duplicate" or "same" that the two say the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.icd import Classifier
from deid_platform.evaluation.retention.judges import ChunkPair, Identity, Kind, PairClassifier
from deid_platform.keys import file_digest
from deid_platform.runtime.silence import silent_transformers

_CONFIG = "config.json"
_MOST = 512  # tokens of a window, where the model says no fewer
_BATCH = 16
_SAME = ("paraphrase", "equivalent", "duplicate", "same")
_ENTAILS = "entail"
_WEIGHTS = ("*.json", "*.safetensors", "*.bin", "*.txt", "*.model")
Matrix = npt.NDArray[np.float64]


def code_classifier(folder: Path, *, threshold: float = 0.5) -> Classifier:
    """A predictor of codes by a model whose labels are codes.

    Args:
        folder: As `save_pretrained` of `transformers` writes it.
        threshold: From which probability on a code counts as predicted.

    Raises:
        DeidError: `device-missing` without the extra `ml`; `model-unusable` with the file that is lacking.
    """
    labels = _labels(folder)
    several = _config(folder).get("problem_type") == "multi_label_classification"
    logits = _loaded(folder)

    def probabilities(texts: Sequence[str]) -> list[list[float]]:
        return [row.tolist() for text in texts for row in [_shares(logits([text]), several=several).max(axis=0)]]

    return Classifier(probabilities, labels, _digest(folder), threshold=threshold)


def pair_classifier(folder: Path, *, threshold: float = 0.5) -> PairClassifier:
    """A judge of chunks by a paraphrase or an entailment model.

    Args:
        folder: As `save_pretrained` of `transformers` writes it.
        threshold: Below which probability a chunk counts as changed.

    Raises:
        DeidError: As `code_classifier`; `model-unusable` also where no label says which class is the one.
    """
    kind, at = _meant(_labels(folder))
    logits = _loaded(folder)

    def probabilities(pairs: Sequence[ChunkPair]) -> list[float]:
        found: list[float] = []
        for start in range(0, len(pairs), _BATCH):
            some = pairs[start : start + _BATCH]
            found += _shares(logits(*map(list, zip(*some, strict=True))), several=False)[:, at].tolist()
        return found

    return PairClassifier(probabilities, Identity(kind, f"{kind.value} model", _digest(folder)), threshold=threshold)


def _meant(labels: Sequence[str]) -> tuple[Kind, int]:
    for at, label in enumerate(labels):
        if label.lower().startswith(_ENTAILS):
            return Kind.ENTAILMENT, at
        if label.lower().replace("_", " ").split()[0] in _SAME:
            return Kind.PARAPHRASE, at
    raise DeidError(Code.MODEL_UNUSABLE, f"{_CONFIG}: no label is of entailment or of a paraphrase")


def _loaded(folder: Path) -> Callable[..., Matrix]:
    """A model that gives logits (windows, classes) of one text, or of pairs of texts, a row each."""
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise DeidError(Code.DEVICE_MISSING, "the extra ml")
    library = silent_transformers()
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = library.AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
    except Exception:  # whatever it says may name what stands in the folder
        raise DeidError(Code.MODEL_UNUSABLE, "a sequence classifier of transformers") from None
    model.eval().requires_grad_(False)
    most = min(_MOST, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", _MOST))

    def logits(*sides: list[str]) -> Matrix:
        # A pair is cut at the end of its longer side; a text goes on in further windows.
        more = {"return_overflowing_tokens": True} if len(sides) == 1 else {}
        read: Any = tokenizer(*sides, truncation=True, max_length=most, padding=True, return_tensors="pt", **more)
        inputs = {name: read[name] for name in read if name in tokenizer.model_input_names}
        found: Matrix = model(**inputs).logits.double().numpy()
        return found

    return logits


def _shares(logits: Matrix, *, several: bool) -> Matrix:
    """Probabilities (windows, classes): each by itself, or all of a row together 1."""
    if several:
        return 1 / (1 + np.exp(-logits))
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Matrix = raised / raised.sum(axis=1, keepdims=True)
    return shares


def _config(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _CONFIG).read_bytes())
    except (OSError, ValueError):
        raise DeidError(Code.MODEL_UNUSABLE, _CONFIG) from None
    if not isinstance(found, dict):
        raise DeidError(Code.MODEL_UNUSABLE, _CONFIG)
    return found


def _labels(folder: Path) -> list[str]:
    """The names of the classes, in their order."""
    try:
        names = {int(number): str(name) for number, name in _config(folder)["id2label"].items()}
        return [names[number] for number in range(len(names))]
    except (KeyError, ValueError, AttributeError):
        raise DeidError(Code.MODEL_UNUSABLE, f"{_CONFIG}: id2label") from None


def _digest(folder: Path) -> str:
    """Of whatever decides what the model says: its configuration, weights and vocabulary."""
    files = sorted({file for pattern in _WEIGHTS for file in folder.glob(pattern)})
    rows = "\n".join(f"{file.name} {file_digest(file)}" for file in files)
    return f"sha256:{sha256(rows.encode()).hexdigest()}"
