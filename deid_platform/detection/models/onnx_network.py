"""A network that onnxruntime runs.

Belongs here: one session, and running it on windows. Does not belong here: what its logits mean.

Each window is run alone: the scales of dynamic int8 arithmetic are those of one run, so that windows of one batch would
change each other's probabilities. Each has one thread, and windows run side by side, so that no thread waits for its
part of another's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.tokens import Framed
from deid_platform.runtime.silence import silent_onnxruntime

SLOWER = ("SkipLayerNormFusion",)
"""What onnxruntime would put in the place of faster operators: its sum and norm in one take longer than those apart.

Measured in docs/capacity.md.
"""


class OnnxNetwork:
    """A network (`Network`).

    Args:
        file: The graph.
        threads: Windows that are run at the same time; what is found does not depend on them. By default the
            processor's, at most four; one in a process that another started, since workers share the processor.
    """

    def __init__(self, file: Path, *, threads: int | None = None) -> None:
        onnxruntime = silent_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"], disabled_optimizers=SLOWER
        )
        threads = threads or (1 if parent_process() else min(4, os.cpu_count() or 1))
        # A worker is forked from a process that holds such a network, and a fork inherits no thread.
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="window") if threads > 1 else None

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """Logits of each window (pieces, classes), the marks at its ends included."""
        if self._threads is None or len(windows) < 2:
            return [self._run(window) for window in windows]
        return list(self._threads.map(self._run, windows))

    def _run(self, window: Framed) -> NDArray[np.float32]:
        (logits,) = self._session.run(None, {"ids": window.ids[None], "features": window.features[None]})
        return np.asarray(logits[0], dtype=np.float32)
