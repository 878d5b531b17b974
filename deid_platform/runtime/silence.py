"""Keeps what libraries say on their own from the terminal and from whoever collects it.

Belongs here: silencing loggers, warnings and telemetry of others. Does not belong here: what the platform says itself,
which goes to people through the command line and Dagster, with a code and without a value.

A library that stumbles over a note logs or warns with the words it stumbled over, and Python writes both to standard
error where nothing else was arranged.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def silence_libraries() -> None:
    """Lets this process's libraries speak to nobody; a logger that was given a handler of its own keeps it.

    `DEID_DEBUG=1`, on the PHI side only, lets them speak.
    """
    if os.environ.get("DEID_DEBUG"):
        return
    root = logging.getLogger()
    if not root.handlers:
        # With no handler anywhere, Python has one of last resort, which writes to standard error.
        root.addHandler(logging.NullHandler())
    logging.captureWarnings(True)


def silent_transformers() -> Any:
    """The library transformers, without its progress and its warnings, which name the files of a model."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def silent_onnxruntime() -> Any:
    """The library onnxruntime, which reports its use to its publisher unless it is told not to before it is loaded.

    It also keeps an identifier of the machine in the home folder and a file in the temporary one.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    # Of no effect here; where somebody loaded it before, it stops what can still be stopped.
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def silent_vllm() -> Any:
    """The library vllm, which logs what it does and reports its use unless it is told not to before it is loaded.

    Its processes inherit what is told here. `DEID_DEBUG=1`, on the PHI side only, lets it speak.
    """
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["VLLM_NO_USAGE_STATS"] = os.environ["VLLM_DO_NOT_TRACK"] = "1"
    if not os.environ.get("DEID_DEBUG"):
        os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
    # A copy of this process would have its threads' locks and open files.
    os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
    silent_transformers()
    import vllm

    return vllm


def silent_ray(*, loopback: bool = False) -> Any:
    """The library ray, which reports its use unless it is told not to before it is loaded.

    Args:
        loopback: Whether a cluster that this process starts is for this machine alone.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if loopback:
        # Its name tells why it is there; what it does is to listen on loopback.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    return ray


@contextmanager
def mute_children() -> Iterator[None]:
    """Processes that are started while it lasts write nothing to this one's output, however they end.

    One that ends by an exception prints it, with the values in it. This process writes nothing meanwhile either.
    """
    if os.environ.get("DEID_DEBUG"):
        yield
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # a stream that is closed, or none at all
            stream.flush()
    kept = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in (1, 2):
            os.dup2(nowhere, number)
        yield
    finally:
        for number, former in zip((1, 2), kept, strict=True):
            os.dup2(former, number)
        for descriptor in (nowhere, *kept):
            os.close(descriptor)
