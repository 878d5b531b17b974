"""vLLM as a server of its own on loopback, as a site would start it: `python -m vllm.entrypoints.openai.api_server`.

Belongs here: starting, killing and pausing it. Does not belong here: asking it (`deid_platform/llm/endpoint.py`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from free_port import free_port

NAME = "tiny"
START_SECONDS = 300


class VllmServer:
    """A server on a port of its own, the same at each start.

    Args:
        folder: The model.
        log: Where it writes what it says.
        arguments: What else it is told.
    """

    def __init__(self, folder: Path, log: Path, arguments: Sequence[str] = ()) -> None:
        self.port = free_port()
        forms = {"backend": "guidance", "disable_any_whitespace": True}
        self._command = [
            sys.executable, "-m", "vllm.entrypoints.openai.api_server",
            "--model", str(folder), "--served-model-name", NAME,
            "--host", "127.0.0.1", "--port", str(self.port),
            "--max-num-seqs", "4", "--enforce-eager", "--generation-config", "vllm",
            "--kv-cache-memory-bytes", str(2**28), "--structured-outputs-config", json.dumps(forms),
            *arguments,
        ]  # fmt: skip
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Starts it and waits until it answers."""
        told = {"VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, env={**os.environ, **told}, stdout=log, stderr=log)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                return
            time.sleep(0.3)
        raise RuntimeError(self.log.read_text(errors="replace")[-3000:])

    def processes(self) -> list[psutil.Process]:
        """Its own and those that it started, the last ones first."""
        if self._process is None:
            return []
        own = psutil.Process(self._process.pid)
        return [*own.children(recursive=True), own]

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to all of them."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def kill(self) -> None:
        """Ends all of them in the middle of whatever they do."""
        self.send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            self._process = None
