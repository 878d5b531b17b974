"""The detectors that the leaderboard compares: the platform's own, and peers in interpreters of their own.

Belongs here: what each hides in some notes, in which time, and the digest that names it. Does not belong here: scores
(`leaderboard.py`), or calling a peer (`detection/peers`).

Each detector reads in this process or in one of its own, so that seconds of processor time compare. What it loads at
its start is not among them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

from deid_platform.bench.plan import OURS
from deid_platform.detection.combination import UNITED
from deid_platform.detection.peers.process import VARIANT, Peer, PeerProcess
from deid_platform.detection.registry import DetectorSpec, stage_names
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.two_pass import Detection, SecondPass, first_pass
from deid_platform.engine import build, found_in
from deid_platform.errors import Code, DeidError
from deid_platform.gc_freeze import freeze_gc
from deid_platform.keys import module_digest, plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Note, Topics
from deid_platform.refresh.site import Site
from deid_platform.refresh.tables import batched
from deid_platform.settings import Settings
from deid_platform.stopping import check
from deid_platform.warehouse.staging import Inputs
from deid_platform.warm_up import made_up_note

_BATCH = 64
_ENGLISH = "en"
# Of a peer with engines, by the kind of its engine; without a word it is what the papers call by its name alone.
_ENGINES: Mapping[tuple[str, str | None], str] = {
    ("presidio", None): "-patterns",
    ("presidio", "transformers"): "-transformers",
}
_PEER_CODE = tuple(f"deid_platform.detection.peers.{it}" for it in ("adapters", "variants"))


class Hidden(NamedTuple):
    """A place that a detector hides, and the labels that it may be; none where the detector claims none of ours."""

    start: int
    end: int
    labels: frozenset[Label]


@dataclass(frozen=True, repr=False)
class Reading:
    """What a detector hides in each of some notes, and the processor time that it took."""

    hidden: Sequence[Sequence[Hidden]]
    seconds: float

    def __repr__(self) -> str:
        return "<Reading>"


class MeasuredDetector(Protocol):
    """A detector that can be compared.

    Attributes:
        name: As plans name it.
        word: As the leaderboard does, one of `warehouse.lab.DETECTORS`.
    """

    name: str
    word: str

    @property
    def digest(self) -> str:
        """Names all that decides what it finds."""
        ...

    @property
    def claims(self) -> frozenset[Label] | None:
        """The labels that it claims to find; None for all."""
        ...

    def reads(self, language: str) -> bool:
        """Whether it is made for notes in a language."""
        ...

    def read(self, notes: Sequence[Note], topics: Topics) -> Iterator[tuple[Inputs, Reading]]:
        """What it hides in notes, once for each inputs that it can use.

        Raises:
            DeidError: `detector-failed`, `peer-failed`.
        """
        ...


class OwnDetector:
    """One of the platform's own detectors, configured as the site's is."""

    def __init__(self, site: Site, name: str) -> None:
        self.name = self.word = name
        self._site = site
        self.claims = None

    def _spec(self, topics: Topics | None) -> DetectorSpec:
        spec = replace(self._site.spec(topics).as_measured(), name=self.name)
        return spec if "models" in stage_names(self.name) else replace(spec, models=None, combination=UNITED)

    @cached_property
    def digest(self) -> str:
        """That of the detector, by which a release has it too."""
        return self._spec(None).detector_digest

    def reads(self, language: str) -> bool:  # noqa: ARG002
        """Any."""
        return True

    def read(self, notes: Sequence[Note], topics: Topics) -> Iterator[tuple[Inputs, Reading]]:
        """With topics, then on the text alone, in two passes as a refresh reads."""
        yield Inputs.TOPICS, _read(self._spec(topics), notes)
        yield Inputs.TEXT, _read(self._spec(None), notes)


class PeerDetector:
    """A running peer. What it can read is the text alone, in English."""

    def __init__(self, process: PeerProcess) -> None:
        self.name = process.peer.name
        self.word = word_of(process.peer)
        self._process = process

    @cached_property
    def digest(self) -> str:
        """Of its name, engine, version, models and claims, and of what calls it."""
        peer = self._process.peer
        claims = (f"{kind}: {', '.join(sorted(labels))}" for kind, labels in sorted(peer.claims.items()))
        parts = (peer.name, str(peer.engine), self._process.version, *map(_file_digest, _files(peer.model)), *claims)
        return plain_digest(*parts, module_digest(*_PEER_CODE))

    @property
    def claims(self) -> frozenset[Label] | None:
        """Those of its kinds."""
        return self._process.peer.labels

    def reads(self, language: str) -> bool:
        """English alone."""
        return language == _ENGLISH

    def read(self, notes: Sequence[Note], topics: Topics) -> Iterator[tuple[Inputs, Reading]]:  # noqa: ARG002
        """On the text alone."""
        process, claims = self._process, self._process.peer.claims
        process.find([made_up_note().note.text])  # loads what it has not used yet
        process.seconds = 0.0
        start = time.process_time()
        found = process.find([note.text for note in notes])
        # A variant works on the spans in this process.
        seconds = process.seconds + time.process_time() - start
        hidden = [[Hidden(it.start, it.end, frozenset(claims.get(it.kind, ()))) for it in spans] for spans in found]
        yield Inputs.TEXT, Reading(hidden, seconds)


def word_of(peer: Peer) -> str:
    """What the leaderboard calls a peer, whatever its model is: one of `warehouse.lab.PEERS`."""
    return f"{VARIANT if peer.variant else ''}{peer.adapter}{_ENGINES.get((peer.adapter, peer.engine), '')}"


class Detectors:
    """The detectors of a plan that are here, each made once; a context manager that ends the peers' processes.

    Args:
        site: The installation.
        names: As a plan has them.

    Attributes:
        missing: Peers that are not here -> why, in words.
    """

    def __init__(self, site: Site, names: Iterable[str]) -> None:
        self.missing: dict[str, str] = {}
        self._site = site
        self._running = ExitStack()
        self._made: dict[str, MeasuredDetector] = {}
        try:
            for name in names:
                self._make(name)
        except BaseException:
            self._running.close()
            raise

    def __enter__(self) -> Detectors:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def __iter__(self) -> Iterator[MeasuredDetector]:
        return iter(tuple(self._made.values()))

    def again(self, name: str) -> None:
        """Starts a peer anew after it failed, since its process may have ended; without it if that fails too."""
        if name not in OURS:
            self._make(name)

    def _make(self, name: str) -> None:
        self._made.pop(name, None)
        if name in OURS:
            self._made[name] = OwnDetector(self._site, name)
            return
        try:
            process = PeerProcess(peer_of(self._site.settings, name))
        except DeidError as error:
            if error.code not in (Code.PEER_MISSING, Code.PEER_FAILED):
                raise
            self.missing[name] = error.ref or error.code.slug
            return
        self._made[name] = PeerDetector(self._running.enter_context(process))


def peer_of(settings: Settings, name: str) -> Peer:
    """A peer by its name, in the interpreter that the site's settings give it.

    Raises:
        DeidError: `peer-unknown`; `peer-missing` if the settings have no interpreter for it.
    """
    if name not in settings.peers:
        Peer.parse(f"{name}=")
        raise DeidError(Code.PEER_MISSING, f"{name}: not in [peers] of deid.toml")
    return Peer.parse(f"{name}={settings.path(settings.peers[name])}")


def _read(spec: DetectorSpec, notes: Sequence[Note]) -> Reading:
    detector, second = build(spec), SecondPass(spec.cross_note_search)
    found_in(detector, [made_up_note().note])
    _ = second.search  # built before the clock runs

    def detected(stream: Iterable[Note]) -> Iterator[Detection]:
        for batch in batched(stream, _BATCH):
            check()
            for note, spans in zip(batch, found_in(detector, batch), strict=True):
                yield Detection(0, spans, mentions=mentioned_in(note.text, spans))

    try:
        with freeze_gc():
            start = time.process_time()
            found = [second(item).spans for item in first_pass(detected, lambda: notes)]
            seconds = time.process_time() - start
    except Exception:  # whatever it raised may quote a note
        raise DeidError(Code.DETECTOR_FAILED, spec.name) from None
    if None in found:
        raise DeidError(Code.DETECTOR_FAILED, spec.name)
    return Reading(
        [[Hidden(it.start, it.end, frozenset((it.label,))) for it in spans or ()] for spans in found], seconds
    )


def _files(model: str) -> Iterator[Path]:
    """The files of a peer's model, where it is one or a folder of some."""
    for path in (Path(part) for part in model.split(",") if part):
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file())


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
