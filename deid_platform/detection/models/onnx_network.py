"""A network that onnxruntime runs.

Belongs here: one session, and running it on windows. Does not belong here: what its logits mean.

Each window is run alone: the scales of dynamic int8 arithmetic are those of one run, so that windows of one batch would
change each other's probabilities.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.tokens import Framed
from deid_platform.silence import silent_onnxruntime


class OnnxNetwork:
    """A network (`Network`).

    Args:
        file: The graph.
        threads: For one window; what is found does not depend on them. By default the processor's, at most four; one in
            a process that another started, since workers share the processor.
    """

    def __init__(self, file: Path, *, threads: int | None = None) -> None:
        onnxruntime = silent_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or (1 if parent_process() else min(4, os.cpu_count() or 1))
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def logits(self, windows: Sequence[Framed]) -> list[NDArray[np.float32]]:
        """Logits of each window (pieces, classes), the marks at its ends included."""
        return [np.asarray(self._run(window), dtype=np.float32) for window in windows]

    def _run(self, window: Framed) -> NDArray[np.float32]:
        (logits,) = self._session.run(None, {"ids": window.ids[None], "features": window.features[None]})
        found: NDArray[np.float32] = logits[0]
        return found
