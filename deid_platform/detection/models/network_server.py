"""One process that owns the card and runs the networks of all workers, so that the card never waits for one of them.

Belongs here: the process, its socket and what workers hold of it. Does not belong here: running a network
(`torch_network.py`), or who starts the process (`engine/engines.py`).

Workers cut notes into windows, send those of a whole batch of notes and get logits back. While the card is busy,
further requests gather, and all that has gathered is run together; each answer tells its share of the seconds that
this took, so that a second of the card is counted once, however many wait for it. What travels are numbers of pieces,
from which the text can be read: the socket lies in a folder of the user's own, whoever connects has to know a key, and
nothing is written down.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deid_platform.detection.models.device import CARD
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.tokens import Framed
from deid_platform.errors import Code, DeidError
from deid_platform.runtime.model_seconds import ModelSeconds, Ran
from deid_platform.runtime.silence import silence_libraries

if TYPE_CHECKING:
    Pipe = Connection[Any, Any]

Logits = list[NDArray[np.float32]]
Answered = tuple[Logits, Ran]
"""Logits, and the share in the seconds in which the network ran."""
_AT_ONCE = 64  # requests that are run together


@dataclass(frozen=True, slots=True)
class Served:
    """Where networks are served.

    Attributes:
        address: The socket.
        key: What a worker has to know.
    """

    address: str
    key: bytes = field(repr=False)


class ServedNetwork:
    """A network in the process that owns the card (`Network`).

    Args:
        served: Where it is.
        folder: Of its model.
        seconds: Where its seconds are counted.
    """

    def __init__(self, served: Served, folder: Path, seconds: ModelSeconds) -> None:
        self._served = served
        self._seconds = seconds
        self._name = str(folder)
        self._pipe: Pipe | None = None
        self._owner = 0

    def logits(self, windows: Sequence[Framed]) -> Logits:
        """Logits of each window (pieces, classes), the marks at its ends included.

        Raises:
            DeidError: `device-lost` if the process has ended or could not run the network.
        """
        try:
            pipe = self._connected()
            pipe.send((self._name, [(window.ids, window.features) for window in windows]))
            answered: Answered | None = pipe.recv()
        except (EOFError, OSError):
            answered = None
        if answered is None:
            raise DeidError(Code.DEVICE_LOST)
        logits, ran = answered
        self._seconds.add(ran)
        return logits

    def _connected(self) -> Pipe:
        """A connection of this very process: one that was open before a fork is the parent's."""
        if self._pipe is None or self._owner != os.getpid():
            self._pipe, self._owner = Client(self._served.address, authkey=self._served.key), os.getpid()
        return self._pipe


class NetworkServer:
    """The process, from entering to leaving.

    Args:
        folders: Models that it serves.
        device: Where they run.
    """

    def __init__(self, folders: Sequence[ModelFolder], device: str) -> None:
        self._folders = [folder.path for folder in folders]
        self._device = device

    def __enter__(self) -> NetworkServer:
        """Starts it and waits until the networks are loaded.

        Raises:
            DeidError: `device-lost` if it cannot load them.
        """
        self._home = tempfile.TemporaryDirectory(prefix="deid-")  # readable by this user alone
        self.served = Served(str(Path(self._home.name) / "socket"), secrets.token_bytes(32))
        context = multiprocessing.get_context("spawn")
        self._control, theirs = context.Pipe()
        arguments = (theirs, self.served.address, self.served.key, self._folders, self._device)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        try:
            ready = self._control.recv()
        except (EOFError, OSError):
            ready = False
        if not ready:
            self.__exit__(None, None, None)
            raise DeidError(Code.DEVICE_LOST, "start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it, at whatever it is."""
        self._process.kill()
        self._process.join()
        self._control.close()
        self._home.cleanup()

    @property
    def pid(self) -> int | None:
        """The process."""
        return self._process.pid

    def check(self) -> None:
        """Nothing, while it answers.

        Raises:
            DeidError: `device-lost`.
        """
        # One that is ending has closed its socket, and lives until its card is set free.
        ServedNetwork(self.served, Path(), ModelSeconds()).logits([])


@dataclass(frozen=True, slots=True)
class _Request:
    pipe: Pipe
    name: str
    windows: list[Framed]


def _serve(control: Pipe, address: str, key: bytes, folders: Sequence[Path], device: str) -> None:
    silence_libraries()
    threading.Thread(target=_end_with, args=(control, address), daemon=True).start()
    from deid_platform.detection.models.folder import VOCABULARY
    from deid_platform.detection.models.tokens import Reader
    from deid_platform.detection.models.torch_network import TorchNetwork

    try:
        networks = {}
        for path in folders:
            folder = ModelFolder(path).verified()
            length = folder.length + Reader(path / VOCABULARY).marks
            networks[str(path)] = TorchNetwork(folder, length=length, device=device)
        listener = Listener(address, family="AF_UNIX", authkey=key, backlog=256)
    except Exception:
        os._exit(1)
    requests: SimpleQueue[_Request] = SimpleQueue()
    threading.Thread(target=_accept, args=(listener, requests), daemon=True).start()
    control.send(True)
    while True:
        gathered = [requests.get()]
        with suppress(Empty):
            while len(gathered) < _AT_ONCE:
                gathered.append(requests.get_nowait())
        by_name: dict[str, list[_Request]] = defaultdict(list)
        for request in gathered:
            by_name[request.name].append(request)
        for name, some in by_name.items():
            _answer(networks[name].logits, some, int(device == CARD))


def _answer(run: Any, requests: Sequence[_Request], cards: int) -> None:
    windows, seconds = [window for request in requests for window in request.windows], ModelSeconds()
    try:
        with seconds.running(cards):
            logits = iter(run(windows))
    except Exception:
        os._exit(1)
    ran = seconds.ran
    for request in requests:
        share = len(request.windows) / len(windows)
        answered = [next(logits) for _ in request.windows], Ran(*(it * share for it in ran))
        with suppress(OSError):  # the worker is gone
            request.pipe.send(answered)


def _accept(listener: Listener, requests: SimpleQueue[_Request]) -> None:
    while True:
        with suppress(Exception):  # whoever does not know the key
            pipe = listener.accept()
            threading.Thread(target=_read, args=(pipe, requests), daemon=True).start()


def _read(pipe: Pipe, requests: SimpleQueue[_Request]) -> None:
    with suppress(EOFError, OSError):
        while True:
            name, windows = pipe.recv()
            if not windows:  # asks whether this process is there, and need not wait for the card
                pipe.send(([], Ran()))
                continue
            requests.put(_Request(pipe, name, [Framed(*window) for window in windows]))


def _end_with(control: Pipe, address: str) -> None:
    """Ends this process with the one that started it, however that ends, and removes the folder of the socket."""
    with suppress(EOFError, OSError):
        control.recv()
    shutil.rmtree(Path(address).parent, ignore_errors=True)
    os._exit(0)
