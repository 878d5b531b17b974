"""The detectors that the leaderboard compares: the platform's own, models, prompts to a chat model, peers.

Belongs here: which of a plan's are here, what each is given, and the digest that names it. Does not belong here:
reading notes with one (`reading.py`), scores (`leaderboard.py`), or asking a chat model (`llm/`).

Ours and peers read in this process or in one of their own, so that seconds of processor time compare. A chat model
works elsewhere: of it, seconds are those that pass until all notes are answered, and none are told where an answer was
known before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Protocol

from deid_platform.bench.leaderboard.plan import CHAT, OURS
from deid_platform.bench.leaderboard.reading import Hidden, Reading, joined, read_own, read_peer
from deid_platform.detection.named import Own, is_own, own, parted
from deid_platform.detection.peers.process import VARIANT, Peer, PeerProcess
from deid_platform.errors import Code, DeidError
from deid_platform.keys import file_digest, module_digest, plain_digest
from deid_platform.labels import Label
from deid_platform.llm.answers import KeptAnswers
from deid_platform.llm.api import Failure
from deid_platform.llm.known_models import known_model
from deid_platform.llm.prompted import Asking, NotFound, Prompted
from deid_platform.llm.prompts import DEIDENTIFY, Prompt, Task, is_shipped, prompt_of
from deid_platform.notes import Note, Topics
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import Settings
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.lab import OWN_PROMPT

_ENGLISH = "en"
# Why a detector of a plan is left out, and named.
_NOT_HERE = (
    *(Code.PEER_MISSING, Code.PEER_FAILED, Code.LLM_MISSING),
    *(Code.DETECTOR_UNKNOWN, Code.MODEL_UNUSABLE, Code.EXTRA_MISSING),
)
# Of a peer with engines, by the kind of its engine; without a word it is what the papers call by its name alone.
_ENGINES: Mapping[tuple[str, str | None], str] = {
    ("presidio", None): "-patterns",
    ("presidio", "transformers"): "-transformers",
}
_CHAT_CODE = (
    "deid_platform.labels",
    *(f"deid_platform.llm.{name}" for name in ("answered", "extraction", "prompted", "rewriting", "tagging")),
)
_PEER_CODE = tuple(f"deid_platform.detection.peers.{it}" for it in ("adapters", "variants"))


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

    def read(self, notes: Sequence[Note], topics: Topics | None) -> Iterator[tuple[Inputs, Reading]]:
        """What it hides in notes, once for each inputs that it can use: without topics, on the text alone.

        Raises:
            DeidError: `detector-failed`, `peer-failed`.
        """
        ...


class OwnDetector:
    """One of the platform's own detectors, configured as the site's is; a model alone reads the text alone.

    Raises:
        DeidError: `detector-unknown` for a model that is not there; `model-unusable`, `extra-missing`.
    """

    def __init__(self, site: Site, name: str) -> None:
        self.name = name
        self._site = site
        self._own = self._with(None)
        self._is_alone = self._own.spec.stages == ("models",)
        if self._is_alone or ":" in name:
            self._own.spec.build(site.models)  # a folder that cannot be used is left out before a note is read
        self.word = self._own.kind
        self.claims = None

    def _with(self, topics: Topics | None) -> Own:
        return own(self.name, self._site.spec(topics).as_measured(), self._site.model_path)

    @cached_property
    def digest(self) -> str:
        """That of the detector, by which a release has it too; of a variant, with what varies it."""
        detector = self._own.spec.detector_digest
        return plain_digest(detector, module_digest(*_PEER_CODE)) if self._own.variant else detector

    def reads(self, language: str) -> bool:  # noqa: ARG002
        """Any."""
        return True

    def read(self, notes: Sequence[Note], topics: Topics | None) -> Iterator[tuple[Inputs, Reading]]:
        """With topics where there are any, then on the text alone, in two passes as a refresh reads."""
        models = self._site.models
        if topics is not None and not self._is_alone:
            yield Inputs.TOPICS, read_own(self._with(topics).spec, notes, models)
        yield Inputs.TEXT, read_own(self._own.spec, notes, models, variant=self._own.variant)


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

    def read(self, notes: Sequence[Note], topics: Topics | None) -> Iterator[tuple[Inputs, Reading]]:  # noqa: ARG002
        """On the text alone."""
        yield Inputs.TEXT, read_peer(self._process, notes)


class JoinedDetector:
    """A model alone and a running peer: what either finds in the text alone, in English."""

    def __init__(self, name: str, model: OwnDetector, peer: PeerDetector) -> None:
        self.name = name
        self._parts = (model, peer)
        self.word = word_of_joined(model.word, peer.word)
        self.claims = None

    @cached_property
    def digest(self) -> str:
        """Of both."""
        return plain_digest("joined", *(part.digest for part in self._parts))

    def reads(self, language: str) -> bool:
        """What both do."""
        return all(part.reads(language) for part in self._parts)

    def read(self, notes: Sequence[Note], topics: Topics | None) -> Iterator[tuple[Inputs, Reading]]:
        """On the text alone."""
        ((_, one), (_, other)) = (next(part.read(notes, topics)) for part in self._parts)
        yield Inputs.TEXT, joined(one, other)


class ChatDetector:
    """A prompt and the language model of deid.toml, whose answers are kept. It reads the text alone.

    Raises:
        DeidError: `llm-missing`, `endpoint-refused`; `settings-invalid` for a key, certificates or a context that are
            of no use; `store-write` if answers cannot be kept.
    """

    def __init__(self, site: Site, asked: Prompt) -> None:
        self.name = f"{CHAT}{asked.name}"
        self._prompt = asked
        self.claims = asked.claims
        asking = Asking.of(site.settings)
        self._model = KeptAnswers(asking.build(site.models), site.answers)
        self._prompted = Prompted(asked, self._model, temperature=asking.temperature, seed=asking.seed)
        known = known_model(self.model)
        self.word = OWN_PROMPT if not is_shipped(asked) else f"chat-{asked.name}{f'@{known}' if known else ''}"

    @cached_property
    def digest(self) -> str:
        """Of the prompt, the model as far as it is known, how it is asked, and what reads its answers."""
        return plain_digest(self._prompted.digest, module_digest(*_CHAT_CODE))

    @property
    def model(self) -> str:
        """What the endpoint or its folder calls the model."""
        return self._model.identity.name

    def reads(self, language: str) -> bool:
        """The language of the prompt."""
        return language == self._prompt.language

    def read(self, notes: Sequence[Note], topics: Topics | None) -> Iterator[tuple[Inputs, Reading]]:  # noqa: ARG002
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


def word_of_joined(model: str, peer: str) -> str:
    """What the leaderboard calls a model joined with a peer, by the words of both: one of `warehouse.lab.MODELS`.

    Presidio is told apart, as Aghakasiri 2025 joins it: with a spaCy model, and varied if the model is.
    """
    alike = model.startswith(VARIANT) == peer.startswith(VARIANT)
    return f"{model}-{'presidio' if alike and peer.removeprefix(VARIANT) == 'presidio' else 'peer'}"


class Detectors:
    """The detectors of a plan that are here, each made once; a context manager that ends the peers' processes.

    Args:
        site: The installation.
        names: As a plan has them.

    Attributes:
        missing: Models, peers and chat models that are not here -> why, in words.
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
            self._make(next(planned for planned, made in self._made.items() if made.name == name))

    def _make(self, name: str) -> None:
        self._made.pop(name, None)
        try:
            self._made[name] = self._named(name)
        except DeidError as error:
            if name in OURS or error.code not in _NOT_HERE:
                raise
            self.missing[name] = error.ref or error.code.slug

    def _named(self, name: str) -> MeasuredDetector:
        if name.startswith(CHAT):
            return ChatDetector(self._site, prompt_of(name.removeprefix(CHAT), *DEIDENTIFY))
        if is_own(name):
            return OwnDetector(self._site, name)
        if (both := parted(name)) is not None:
            return JoinedDetector(name, OwnDetector(self._site, both[0]), self._peer(both[1]))
        return self._peer(name)

    def _peer(self, name: str) -> PeerDetector:
        return PeerDetector(self._running.enter_context(PeerProcess(peer_of(self._site.settings, name))))


def peer_of(settings: Settings, name: str) -> Peer:
    """A peer by its name, in the interpreter that the site's settings give it.

    Raises:
        DeidError: `peer-unknown`; `peer-missing` if the settings have no interpreter for it.
    """
    if name not in settings.peers:
        Peer.parse(f"{name}=")
        raise DeidError(Code.PEER_MISSING, f"{name}: not in [peers] of deid.toml")
    return Peer.parse(f"{name}={settings.path(settings.peers[name])}")


def _files(model: str) -> Iterator[Path]:
    """The files of a peer's model, where it is one or a folder of some."""
    for path in (Path(part) for part in model.split(",") if part):
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file())
