"""Any token classifier of the library `transformers` as a start: encoders whole, decoders by low-rank adapters.

Belongs here: loading an architecture from a folder, and saving what became of it. Does not belong here: the loop
(`fine_tuning.py`), or running a saved model (`detection/models/torch_network.py`).
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from deid_platform.detection.models.folder import CONFIG, VOCABULARY
from deid_platform.errors import Code, DeidError
from deid_platform.runtime.silence import silent_transformers
from deid_platform.training.presets import Preset

RANK, ALPHA = 8, 16
_ENCODERS = ("bert", "roberta", "distilbert", "electra", "deberta", "deberta-v2", "xlm-roberta", "camembert", "mpnet")
_HEADS = ["score", "classifier"]  # trained whole
_LARGE = 3584  # hidden size of Qwen2.5-7B, from which a model counts as one of 7 to 8 billion; Llama-3.2-3B has 3,072


class Classifier(nn.Module):
    """A token classifier of `transformers` with the signature of `Network`; features of words are not read.

    Args:
        model: The classifier, with or without adapters.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, features: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Logits (windows, pieces, classes) of pieces (windows, pieces); mask is 0 for padding."""
        return self.model(input_ids=ids, attention_mask=mask).logits  # type: ignore[no-any-return]

    def save(self, vocabulary: Path, folder: Path) -> None:
        """Writes configuration, weights with the adapters merged into them, and the vocabulary."""
        whole = self.model.merge_and_unload() if hasattr(self.model, "merge_and_unload") else self.model
        whole.to("cpu").float().save_pretrained(folder)
        shutil.copyfile(vocabulary, folder / VOCABULARY)


def settled(preset: Preset, folder: Path) -> Preset:
    """A preset with what Zambare 2026, appendix, trains an architecture with.

    Raises:
        DeidError: `model-unusable` if the folder has no configuration of a model.
    """
    try:
        config = json.loads((folder / CONFIG).read_bytes())
        kind, width = config["model_type"], config["hidden_size"]
    except (OSError, ValueError, KeyError):
        raise DeidError(Code.MODEL_UNUSABLE, CONFIG) from None
    if kind in _ENCODERS:
        return replace(preset, epochs=10, tokens=8 * 64, length=64)
    if kind == "modernbert":
        return replace(preset, epochs=10, tokens=2 * 1024, length=1024)
    return replace(preset, epochs=3 if width >= _LARGE else 5, tokens=2048, length=2048, adapters=True)


def classifier(folder: Path, labels: tuple[str, ...], preset: Preset) -> Classifier:
    """A model's folder with a new head over these classes; nothing is fetched, and no code of the folder runs.

    Raises:
        DeidError: `model-unusable` if it cannot be loaded.
    """
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: at for at, label in enumerate(labels)}}
    try:
        model = silent_transformers().AutoModelForTokenClassification.from_pretrained(
            folder, **named, local_files_only=True,
            trust_remote_code=False, use_safetensors=True, ignore_mismatched_sizes=True,
        )  # fmt: skip
    except Exception:
        raise DeidError(Code.MODEL_UNUSABLE, folder.name) from None
    if preset.adapters:
        from peft import LoraConfig, TaskType, get_peft_model

        settings = LoraConfig(
            task_type=TaskType.TOKEN_CLS, r=RANK, lora_alpha=ALPHA, target_modules="all-linear", exclude_modules=_HEADS
        )
        model = get_peft_model(model, settings)
    return Classifier(model)
