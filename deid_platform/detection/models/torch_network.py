"""Networks that torch runs, on a card or on the processor: those of our folders, and any of the library `transformers`.

Belongs here: loading one from a folder and running it on windows. Does not belong here: what its logits mean, or
training it (`deid_platform/training`). Needs the extra `ml`.

Windows of like length are run in batches of one shape, filled up with padding, so that no window's numbers depend on
how many others there are, nor on which.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.device import CARD
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.tokens import Framed
from deid_platform.runtime.silence import silent_transformers

TOKENS = {CARD: 65_536}
"""Pieces of a batch, padding included: as many as keep the device busy."""
_TOKENS_OF_PROCESSOR = 4096
_LEAST = 64  # pieces of the shortest row; others are twice as long, and so on

Forward = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
"""Logits (rows, pieces, classes) of ids, features and mask (rows, pieces)."""


class TorchNetwork:
    """A network (`Network`).

    Args:
        folder: Of the model. Nothing is fetched, and no code of the folder runs.
        length: The most pieces of a window, the marks at its ends included.
        device: One of `device.DEVICES`; in bfloat16 on a card.
    """

    def __init__(self, folder: ModelFolder, *, length: int, device: str) -> None:
        self._length = length
        self._tokens = TOKENS.get(device, _TOKENS_OF_PROCESSOR)
        self._forward = _transformers(folder, device) if folder.is_transformers else _ours(folder, device)

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """Logits of each window (pieces, classes), the marks at its ends included."""
        found: dict[int, NDArray[np.float32]] = {}
        of_width: dict[int, list[int]] = defaultdict(list)
        for number, window in enumerate(windows):
            of_width[min(self._length, _LEAST << max(0, (len(window.ids) - 1) // _LEAST).bit_length())].append(number)
        for width, numbers in of_width.items():
            rows = max(1, self._tokens // width)
            for begin in range(0, len(numbers), rows):
                some = numbers[begin : begin + rows]
                found |= zip(some, self._batch([windows[number] for number in some], rows, width), strict=True)
        return [found[number] for number in range(len(windows))]

    def _batch(self, windows: Sequence[Framed], rows: int, width: int) -> Iterator[NDArray[np.float32]]:
        ids = np.zeros((rows, width), dtype=np.int64)
        features, mask = np.zeros_like(ids), np.zeros_like(ids)
        mask[:, 0] = 1  # a row without any piece would be divided by nothing
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = window.ids
            features[row, : len(window.ids)] = window.features
            mask[row, : len(window.ids)] = 1
        logits = self._forward(ids, features, mask)
        for row, window in enumerate(windows):
            yield logits[row, : len(window.ids)]


def _ours(folder: ModelFolder, device: str) -> Forward:
    import torch

    from deid_platform.detection.models.bert import exported

    where, kind = _placed(device)
    network = exported(folder).eval().to(where, kind)

    def forward(*parts: NDArray[np.int64]) -> NDArray[np.float32]:
        with torch.inference_mode():
            told = network(*(torch.from_numpy(part).to(where) for part in parts))
        return np.asarray(told.float().cpu().numpy(), dtype=np.float32)

    return forward


def _transformers(folder: ModelFolder, device: str) -> Forward:
    import torch

    where, kind = _placed(device)
    network = (
        silent_transformers()
        .AutoModelForTokenClassification.from_pretrained(
            folder.path, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=kind
        )
        .eval()
        .to(where)
    )

    def forward(ids: NDArray[np.int64], features: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        del features  # an architecture of others has none
        with torch.inference_mode():
            told = network(
                input_ids=torch.from_numpy(ids).to(where), attention_mask=torch.from_numpy(mask).to(where)
            ).logits
        return np.asarray(told.float().cpu().numpy(), dtype=np.float32)

    return forward


def _placed(device: str):  # type: ignore[no-untyped-def]  # types of torch, which need not be here
    import torch

    return (torch.device("cuda"), torch.bfloat16) if device == CARD else (torch.device("cpu"), torch.float32)
