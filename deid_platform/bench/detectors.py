"""The detectors that the leaderboard compares: the platform's own, prompts to a chat model, and peers.

Belongs here: what each hides in some notes, in which time, and the digest that names it. Does not belong here: scores
(`leaderboard.py`), calling a peer (`detection/peers`), or asking a chat model (`llm/`).

Ours and peers read in this process or in one of their own, so that seconds of processor time compare. What they load at
their start is not among them. A chat model works elsewhere: of it, seconds are those that pass until all notes are
answered, and none are told where an answer was known before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

from deid_platform.bench.plan import CHAT, OURS, UNRECOVERED
from deid_platform.detection.combination import UNITED
from deid_platform.detection.peers.process import VARIANT, Peer, PeerProcess
from deid_platform.detection.registry import stage_names
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.spec import DetectorSpec
from deid_platform.detection.two_pass import Detection, SecondPass, first_pass
from deid_platform.engine import build, found_in
from deid_platform.errors import Code, DeidError
from deid_platform.gc_freeze import freeze_gc
from deid_platform.keys import file_digest, module_digest, plain_digest
from deid_platform.labels import Label
from deid_platform.llm.answers import KeptAnswers
from deid_platform.llm.api import Failure
from deid_platform.llm.known_models import known_model
from deid_platform.llm.prompted import Asking, NotFound, Prompted
from deid_platform.llm.prompts import Prompt, Task, prompt
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
_CHAT_CODE = tuple(f"deid_platform.llm.{it}" for it in ("answered", "extraction", "prompted", "rewriting", "tagging"))
_PEER_CODE = tuple(f"deid_platform.detection.peers.{it}" for it in ("adapters", "variants"))


class Hidden(NamedTuple):
    """A place that a detector hides, and the labels that it may be; none where the detector claims none of ours."""

    start: int
    end: int
    labels: frozenset[Label]


@dataclass(frozen=True, repr=False)
class Reading:
    """What a detector hides in each of some notes.

    Attributes:
        hidden: Of each note; nothing where it failed.
        seconds: That it took; None if nobody knows.
        failed: The notes on which it failed, by their number from 0; None of what cannot fail on a note alone.
        texts: What it wrote of each note, None where it failed; None of what does not write notes out again.
    """

    hidden: Sequence[Sequence[Hidden]]
    seconds: float | None
    failed: frozenset[int] | None = None
    texts: Sequence[str | None] | None = None

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
        name = self.name.removesuffix(UNRECOVERED)
        spec = replace(self._site.spec(topics).as_measured(), name=name)
        if name != self.name:
            # The lines of Murugadoss 2024 without medical dictionaries.
            spec = replace(spec, without=(*spec.without, "recovery"), keep=None)
        return spec if "models" in stage_names(name) else replace(spec, models=None, combination=UNITED, chat=None)

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
        parts = (peer.name, str(peer.engine), self._process.version, *map(file_digest, _files(peer.model)), *claims)
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


class ChatDetector:
    """A prompt and the language model of deid.toml, whose answers are kept. It reads the text alone.

    Raises:
        DeidError: `llm-missing`, `endpoint-refused`; `settings-invalid` for a key, certificates or a context that are
            of no use; `store-write` if answers cannot be kept.
    """

    def __init__(self, site: Site, asked: Prompt) -> None:
        self.name = f"{CHAT}{asked.name}"
        self._prompt = asked
        self.claims = None
        asking = Asking.of(site.settings)
        self._model = KeptAnswers(asking.endpoint.build(), site.answers)
        self._prompted = Prompted(asked, self._model, temperature=asking.temperature, seed=asking.seed)
        known = known_model(self.model)
        self.word = f"chat-{asked.name}@{known}" if known else f"chat-{asked.name}"

    @cached_property
    def digest(self) -> str:
        """Of the prompt, the model as far as it is known, how it is asked, and what reads its answers."""
        return plain_digest(self._prompted.digest, module_digest(*_CHAT_CODE))

    @property
    def model(self) -> str:
        """What the endpoint calls the model."""
        return self._model.identity.name

    def reads(self, language: str) -> bool:
        """The language of the prompt."""
        return language == self._prompt.language

    def read(self, notes: Sequence[Note], topics: Topics) -> Iterator[tuple[Inputs, Reading]]:  # noqa: ARG002
        """On the text alone.

        Raises:
            DeidError: `endpoint-failed` where the server and not the model failed on a note: figures of that would be
                of the server. What was answered is kept.
        """
        known, start = self._model.known, time.monotonic()
        outcomes = list(self._prompted.find(note.text for note in notes))
        seconds = time.monotonic() - start if self._model.known == known else None
        failed = {number: it.why for number, it in enumerate(outcomes) if isinstance(it, NotFound)}
        if of_server := Counter(why.value for why in failed.values() if isinstance(why, Failure) and why.of_server):
            raise DeidError(Code.ENDPOINT_FAILED, ", ".join(f"{why}: {n}" for why, n in sorted(of_server.items())))
        hidden = [
            [
                Hidden(start, end, frozenset[Label]() if label is None else frozenset((label,)))
                for start, end, label in ([] if isinstance(it, NotFound) else it.mentions)
            ]
            for it in outcomes
        ]
        yield Inputs.TEXT, Reading(hidden, seconds, frozenset(failed), self._texts(notes))

    def _texts(self, notes: Sequence[Note]) -> list[str | None] | None:
        """What a prompt that rewrites makes of the notes; its answers to most of them are kept already."""
        if self._prompt.task is not Task.REWRITE:
            return None
        return [it if isinstance(it, str) else None for it in self._prompted.rewrite(note.text for note in notes)]


def word_of(peer: Peer) -> str:
    """What the leaderboard calls a peer, whatever its model is: one of `warehouse.lab.PEERS`."""
    return f"{VARIANT if peer.variant else ''}{peer.adapter}{_ENGINES.get((peer.adapter, peer.engine), '')}"


class Detectors:
    """The detectors of a plan that are here, each made once; a context manager that ends the peers' processes.

    Args:
        site: The installation.
        names: As a plan has them.

    Attributes:
        missing: Peers and chat models that are not here -> why, in words.
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
        """Makes a detector anew after it failed, since a peer's process may have ended; without it if that fails."""
        if name not in OURS:
            self._make(name)

    def _make(self, name: str) -> None:
        self._made.pop(name, None)
        if name in OURS:
            self._made[name] = OwnDetector(self._site, name)
            return
        try:
            if name.startswith(CHAT):
                self._made[name] = ChatDetector(self._site, prompt(name.removeprefix(CHAT)))
                return
            process = PeerProcess(peer_of(self._site.settings, name))
        except DeidError as error:
            if error.code not in (Code.PEER_MISSING, Code.PEER_FAILED, Code.LLM_MISSING):
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
