"""A token classifier of the library `transformers`, any that a site has: BERT, ModernBERT, Llama, Qwen and others.

Belongs here: loading it from a folder and running it on windows. Does not belong here: what its logits mean, or
training it (`deid_platform/training`). Needs the extra `ml`.

Windows of like length are run in batches of one shape, filled up with padding, so that no window's numbers depend on
how many others a note has, nor on which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.tokens import Framed
from deid_platform.silence import silent_transformers

_TOKENS = 4096  # pieces of a batch, padding included
_LEAST = 64  # pieces of the shortest row; others are twice as long, and so on


class TorchNetwork:
    """A network (`Network`).

    Args:
        folder: As `save_pretrained` writes it. Nothing is fetched, and no code of the folder runs.
        length: The most pieces of a window, the marks at its ends included.
    """

    def __init__(self, folder: Path, *, length: int) -> None:
        import torch

        self._torch = torch
        self._length = length
        self._model: Any = (
            silent_transformers()
            .AutoModelForTokenClassification.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=torch.float32
            )
            .eval()
        )

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """Logits of each window (pieces, classes), the marks at its ends included."""
        found: dict[int, NDArray[np.float32]] = {}
        of_width: dict[int, list[int]] = defaultdict(list)
        for number, window in enumerate(windows):
            of_width[min(self._length, _LEAST << max(0, (len(window.ids) - 1) // _LEAST).bit_length())].append(number)
        for width, numbers in of_width.items():
            rows = max(1, _TOKENS // width)
            for begin in range(0, len(numbers), rows):
                some = numbers[begin : begin + rows]
                found |= zip(some, self._batch([windows[number] for number in some], rows, width), strict=True)
        return [found[number] for number in range(len(windows))]

    def _batch(self, windows: Sequence[Framed], rows: int, width: int) -> Iterator[NDArray[np.float32]]:
        ids = np.zeros((rows, width), dtype=np.int64)
        mask = np.zeros_like(ids)
        mask[:, 0] = 1  # a row without any piece would be divided by nothing
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
        torch = self._torch
        with torch.inference_mode():
            told = self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).logits
        logits: NDArray[np.float32] = told.float().numpy()
        for row, window in enumerate(windows):
            yield logits[row, : len(window.ids)]
