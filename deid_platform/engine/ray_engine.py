"""Runs tasks on the machines of a Ray cluster: one of its own on this machine, or one that is joined.

Belongs here: a cluster's start and end, actors on its machines, batches to actors and back in their order, and what
becomes of a batch whose machine is lost. Does not belong here: processes of one machine (`workers.py`), or what is done
with a batch.

An actor is a staff of `workers` processes on one machine; a machine has as many actors as its processors allow, and
below each counts as a machine of its own. The job, with its topics, goes to the object store once and is built once an
actor; the actor's workers share it page by page. An actor replaces a worker that dies, so Ray sees only the loss of a
whole machine: its batches go to others. A machine whose platform, models or files of the settings are not those of this
process would find something else under the same digests: it refuses, and the run ends.

Where models run on a card, only machines with one detect: the actor asks Ray for a share of it, and starts the process
that runs the models of its workers there. An actor that loses that process is given up, whatever the note: its batches
go to others, and the run ends if there are none.

What passes through Ray are notes and what was found in them. Ray writes them to disk where its memory is short, and
prints the arguments of what fails. So its files lie in folders that nobody else may enter, its output is kept from this
process's, and an actor returns failures as values. Whoever reaches a cluster can run code in it: one of its own listens
on loopback and asks for a token that is made for it, and one that is joined has to ask for a token and to encrypt.
"""

from __future__ import annotations

import atexit
import os
import pickle
import secrets
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import PRELOADED, Engine
from deid_platform.engine.workers import Answer, Job, Staff, built
from deid_platform.errors import Code, DeidError
from deid_platform.runtime.silence import mute_children, silence_libraries, silent_ray
from deid_platform.runtime.stopping import STOPS

Item = TypeVar("Item")
Result = TypeVar("Result")

_STORE = 256 * 2**20
"""Bytes of shared memory that a cluster of our own holds at most: batches on their way, and the job."""


@dataclass(frozen=True)
class RayEngine(Engine):
    """A Ray cluster.

    Attributes:
        address: Of a cluster to join, `host:port`; None for one of its own, on this machine.
        spool: Folder for what a cluster of its own has no memory for: inside the PHI zone.
        card_share: How much of a card the models of one actor's workers take, where they run on one; at most 1.
    """

    address: str | None = None
    spool: Path | None = None
    card_share: float = field(default=1, compare=False)  # whatever it is, the cluster is the same

    @contextmanager
    def _served(self, spec: DetectorSpec) -> Iterator[tuple[DetectorSpec, Callable[[], None]]]:
        # Another machine has another loopback, and answers would be kept on its disk.
        for key, asked in (("chat", spec.chat), ("combination.judge", spec.chat_judge), ("indirect", spec.indirect)):
            if asked is not None:
                raise DeidError(Code.SETTINGS_INVALID, f'detection.engine: "ray" asks no language model ({key})')
        # Each machine checks its own.
        yield spec, lambda: None

    def _answers(self, job: Job[Item, Result], batches: Iterator[list[Item]]) -> Generator[Answer[Result], None, None]:
        with closing(_Machines(CONNECTION.ray(self), job, self.workers, self.card_share)) as machines:
            waiting: deque[_Sent[Item]] = deque()
            while True:
                while len(waiting) < 2 * machines.workers and (batch := next(batches, None)) is not None:
                    waiting.append(machines.send(batch))
                if not waiting:
                    return
                yield machines.receive(waiting.popleft())


class Connection:
    """This process's connection to a cluster: there can be one, and it stays until another is asked for or the end.

    Attributes:
        folder: Where a cluster of our own keeps its sockets and logs; None without one.
    """

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._lock = Lock()
        self._to: RayEngine | None = None
        self._end = ExitStack()
        atexit.register(self.close)

    def ray(self, engine: RayEngine) -> Any:
        """Ray, connected to the engine's cluster.

        Raises:
            DeidError: `extra-missing`; `cluster-open` for a cluster to join that anybody could listen to or enter;
                `cluster-unreachable` if there is none.
        """
        with self._lock:
            if self._to != engine:
                self.close()
                try:
                    ray = _joined(engine.address) if engine.address else self._started(engine)
                except BaseException:
                    self.close()
                    raise
                self._end.callback(ray.shutdown)
                self._to = engine
        return silent_ray()

    def close(self) -> None:
        """Ends a cluster of our own, leaves another, and removes what it wrote."""
        self._end.close()
        self._to = self.folder = None

    def _started(self, engine: RayEngine) -> Any:
        # Ray opens its folders to all, so they lie in one that is closed; a socket's path has to be short.
        self.folder = Path(tempfile.mkdtemp(prefix="deid-ray-"))
        spool = engine.spool or self.folder / "spool"
        for each in (self.folder, spool):
            self._end.callback(shutil.rmtree, each, ignore_errors=True)
        shutil.rmtree(spool, ignore_errors=True)  # of one that was killed
        spool.mkdir(mode=0o700, parents=True)
        os.environ["RAY_AUTH_MODE"] = "token"
        # Ray reads it once in the life of a process.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        return _connected(
            num_cpus=engine.workers,
            include_dashboard=False,
            object_store_memory=_STORE,
            object_spilling_directory=str(spool),
            _temp_dir=str(self.folder / "ray"),
        )


CONNECTION = Connection()
"""That of this process."""


def _joined(address: str) -> Any:
    if not _guarded():
        raise DeidError(Code.CLUSTER_OPEN)
    return _connected(address=address)


def _connected(**given: Any) -> Any:
    if find_spec("ray") is None:
        raise DeidError(Code.EXTRA_MISSING, "ray")
    ray = silent_ray(loopback="address" not in given)
    handlers = {each: signal.getsignal(each) for each in STOPS}
    try:
        with mute_children():
            ray.init(**given, log_to_driver=False, configure_logging=False)
    except Exception:  # names addresses and files
        raise DeidError(Code.CLUSTER_UNREACHABLE) from None
    for each, handler in handlers.items():
        with suppress(ValueError):  # not the main thread, where Ray takes over nothing either
            signal.signal(each, handler)
    return ray


def _guarded() -> bool:
    """Whether this process enters a cluster with a token and through TLS, as Ray itself is told to."""
    return os.environ.get("RAY_AUTH_MODE") == "token" and os.environ.get("RAY_USE_TLS") == "1"


class _Sent(NamedTuple, Generic[Item]):
    """A batch under way.

    Attributes:
        batch: The items.
        answer: Ray's promise of the answer.
        machine: Where it went.
    """

    batch: list[Item]
    answer: Any
    machine: int


class _Machines(Generic[Item, Result]):
    """The staff of each machine of a cluster.

    Args:
        ray: Connected.
        job: Sent once.
        workers: Processes of a machine.
        card_share: How much of a card a machine needs, if the job is for cards.

    Raises:
        DeidError: `device-missing` if the job is for cards and no machine has enough of one; what names the job raises.
    """

    def __init__(self, ray: Any, job: Job[Item, Result], workers: int, card_share: float) -> None:
        self._ray = ray
        self._job = job
        self._each = workers
        self._share = card_share if built(lambda: job.on_card, job.fault) else 0
        room = self._room()
        if not room:
            raise DeidError(
                Code.DEVICE_MISSING, f"a machine of the cluster with {card_share:g} card and {workers} processors"
            )
        # Read by the actor: of what it cannot read, Ray's own message would say what it is.
        self._given = ray.put(pickle.dumps(job))
        self._digest = built(lambda: job.digest, job.fault)
        self._actors = [self._hired() for _ in range(room)]
        self._under_way = [0] * len(self._actors)
        self._working = set(range(len(self._actors)))
        self._without_card = 0
        """Machines that were given up and still hold their processors and their card."""

    @property
    def workers(self) -> int:
        """Processes of all machines at work."""
        return self._each * len(self._working)

    def send(self, batch: list[Item]) -> _Sent[Item]:
        """Gives a batch to the machine that has the fewest."""
        machine = min(self._working, key=self._under_way.__getitem__)
        self._under_way[machine] += 1
        return _Sent(batch, self._actors[machine].answer.remote(batch), machine)

    def receive(self, sent: _Sent[Item]) -> Answer[Result]:
        """The answer to a batch; if two machines are lost with it, its items by themselves.

        Raises:
            DeidError: If the task cannot be built, or no machine can be had; `device-lost` if none has its card left.
        """
        if found := self._received(sent) or self._received(self.send(sent.batch)):
            return found
        alone = [self._received(self.send([item])) or ([self._job.failed(item)], None) for item in sent.batch]
        return [result for results, _ in alone for result in results], None

    def _received(self, sent: _Sent[Item]) -> Answer[Result] | None:
        """The answer; None if the machine was lost. If it only lost its card, the answer of another machine."""
        lost = self._ray.exceptions.RayError
        while True:
            try:
                found: Answer[Result] | DeidError = self._ray.get(sent.answer)
            except lost:
                self._replace(sent.machine)
                return None
            finally:
                self._under_way[sent.machine] -= 1
            if not isinstance(found, DeidError):
                return found
            if found.code is not Code.DEVICE_LOST:
                raise found
            self._give_up(sent.machine, found)
            sent = self.send(sent.batch)

    def _give_up(self, machine: int, lost: DeidError) -> None:
        """Gives a machine that has lost its card nothing more; it ends with the others."""
        if machine in self._working:
            self._working.remove(machine)
            self._without_card += 1
        if not self._working:
            raise lost

    def _replace(self, machine: int) -> None:
        """Another actor for one that is lost; of the batches it had, the first to be missed sees to that."""
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(self._actors[machine].alive.remote())
            return
        if machine not in self._working:
            return
        self._working.remove(machine)
        if len(self._working) + self._without_card < self._room():
            self._actors[machine] = self._hired()
            self._working.add(machine)
        elif not self._working:
            raise DeidError(Code.DEVICE_LOST)

    def _hired(self) -> Any:
        # As many at a time as there are workers; a second batch each may wait.
        actor = self._ray.remote(_Machine).options(
            num_cpus=self._each, num_gpus=self._share, max_concurrency=self._each + 1
        )
        return actor.remote(self._given, self._job.fault, self._each, self._digest)

    def close(self) -> None:
        """Ends all staffs, at whatever they are."""
        for actor in self._actors:
            self._ray.kill(actor)

    def _room(self) -> int:
        """How many staffs fit the machines that there are. One at least, unless it needs a card: it waits for more."""
        alive = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        fitting = [int(node.get("CPU", 0) // self._each) for node in alive]
        if not self._share:
            return max(1, sum(fitting))
        a_card = int(1 / self._share + 1e-6)
        return sum(min(staffs, int(node.get("GPU", 0)) * a_card) for staffs, node in zip(fitting, alive, strict=True))


class _Machine(Generic[Item, Result]):
    """The staff of one machine, as an actor."""

    def __init__(self, job: bytes, fault: Code, workers: int, digest: str) -> None:
        silence_libraries()
        self._fault = fault
        self._staff: Staff[Item, Result] | None = None
        self._shared = ExitStack()
        self._refused = DeidError(fault, "worker")
        try:
            asked: Job[Item, Result] = pickle.loads(job)  # noqa: S301 - of our own process
            if asked.digest == digest:
                # Sees of the cards the one that Ray has assigned to this process.
                asked, self._check = self._shared.enter_context(asked.shared())
                self._staff = Staff(asked, workers, preload=PRELOADED)
            else:
                # It would find something else, and its rows would carry the digests of the one that asks.
                self._refused = DeidError(fault, "other-version")
        except DeidError as refused:
            self._refused = refused
        except Exception:  # noqa: S110 - what it cannot read it cannot have in the same version either
            pass

    def answer(self, batch: list[Item]) -> Answer[Result] | DeidError:
        """The answer to a batch, or why there is none: Ray prints and keeps what an actor raises."""
        try:
            if (staff := self._staff) is not None:
                found = staff.answer(batch)
                self._check()
                return found
        except DeidError as refused:
            if refused.code is Code.DEVICE_LOST:
                self._staff, self._refused = None, refused
            return refused
        except Exception:  # whatever it raised may quote a note
            return DeidError(self._fault, "worker")
        return self._refused

    def alive(self) -> bool:
        """Whether it answers."""
        return True
