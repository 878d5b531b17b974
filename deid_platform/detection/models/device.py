"""Where a network runs: onnxruntime on the processor, or torch on a card.

Belongs here: which devices there are, and whether one is here. Does not belong here: running a network on it
(`torch_network.py`).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from deid_platform.errors import Code, DeidError

PROCESSOR = "cpu"
"""onnxruntime on the processor; models of `transformers` run there with torch."""
CARD = "cuda"
"""torch on a card, in bfloat16."""
TORCH_ON_PROCESSOR = "torch-cpu"
"""torch on the processor, to compare with the other two."""
DEVICES = (PROCESSOR, CARD, TORCH_ON_PROCESSOR)
CARD_IF_THERE = "cuda-or-cpu"
"""The card, and the processor where there is none: another detector, which the gate approves on its own."""


def usable(device: str) -> str:
    """The device that is meant and is here.

    Raises:
        DeidError: `device-missing` with what is missing, unless told to do without.
    """
    if device not in (*DEVICES, CARD_IF_THERE):
        raise DeidError(Code.DEVICE_MISSING, f"{device}: one of {', '.join((*DEVICES, CARD_IF_THERE))}")
    if device == PROCESSOR:
        return device
    missing = "the extra ml" if find_spec("torch") is None else "" if device == TORCH_ON_PROCESSOR else no_card()
    if missing and device != CARD_IF_THERE:
        raise DeidError(Code.DEVICE_MISSING, missing)
    return PROCESSOR if missing else CARD if device == CARD_IF_THERE else device


def runtime(device: str) -> tuple[str, ...]:
    """Names what runs on a device, for the digest of a detector; nothing for the processor, which models name."""
    if device == PROCESSOR:
        return ()
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "none"
    return device, f"torch {torch}", "bfloat16" if device == CARD else "float32"


@cache
def no_card() -> str:
    """What keeps torch from a card; empty if it has one."""
    import torch

    return "" if torch.cuda.is_available() else "a card that torch can use"


def card_name() -> str:
    """The card and its memory, as a person reads it; empty without one."""
    if find_spec("torch") is None or no_card():
        return ""
    import torch

    card = torch.cuda.get_device_properties(0)
    return f"{card.name}, {card.total_memory / 2**30:.0f} GiB"


def card_memory() -> tuple[int, ...]:
    """Bytes of each card that torch can use; none without one."""
    if find_spec("torch") is None or no_card():
        return ()
    import torch

    return tuple(torch.cuda.get_device_properties(number).total_memory for number in range(torch.cuda.device_count()))
