"""Detectors of any kind on the same notes: what `deid compare` does, without a warehouse.

Belongs here: which detectors a command line names, and running one after the other. Does not belong here: reading the
notes (`notes_read.py`), what is counted (`comparison.py`), the peers themselves (`detection/peers/`), or asking a
language model (`llm/`).

All that can be refused is refused before a note is read: an unknown detector, a model or a peer that is not there. The
notes are then held in memory, since every detector reads all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from deid_platform.corpora.released_texts import ReleasedTexts
from deid_platform.detection import DetectorSpec, detector_names, stage_names
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import VARIANT, Peer, PeerProcess
from deid_platform.engine import Engine
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.evaluation.comparison import Compared, Hidden
from deid_platform.evaluation.released import hidden_places
from deid_platform.labels import Label
from deid_platform.llm.answered import Mention
from deid_platform.llm.prompted import Asking, NotFound, Prompted
from deid_platform.llm.prompts import Prompt, prompt
from deid_platform.notes import Note
from deid_platform.stopping import check

MODEL = "model"
"""Before a model's name or folder: the token classifier alone."""
CHAT = "chat"
"""Before a prompt's name: the prompt, and the language model of deid.toml."""
_PEER_BATCH = 16


@dataclass(frozen=True)
class Ours:
    """A detector of the platform, under the name by which it was asked for."""

    name: str
    spec: DetectorSpec


@dataclass(frozen=True)
class Chat:
    """A prompt and how the model is asked, under the name by which it was asked for."""

    name: str
    prompt: Prompt
    asking: Asking

    def prompted(self) -> Prompted:
        """The prompt with its model.

        Raises:
            DeidError: `endpoint-refused` where no note may go; `settings-invalid`.
        """
        asking = self.asking
        return Prompted(self.prompt, asking.endpoint.build(), temperature=asking.temperature, seed=asking.seed)


@dataclass(frozen=True)
class Texts:
    """A file of released texts, under a name: of any system, whose spans nobody knows."""

    name: str
    path: Path

    @classmethod
    def parse(cls, written: str) -> Texts:
        """`NAME=FILE`, or a file alone, which is called `released`: its own name may name a patient."""
        name, given, path = written.partition("=")
        return cls(name.strip(), Path(path)) if given else cls("released", Path(written))


Named = Ours | Peer | Chat | Texts
OnBatch = Callable[[int], None]


class Finder(Protocol):
    """A detector that is ready for notes."""

    @property
    def name(self) -> str:
        """As it was asked for."""
        ...

    def hidden(self, notes: Sequence[Note], on_batch: OnBatch) -> tuple[Compared, list[list[Hidden]]]:
        """What it hides in each note, and what is known of the detector afterwards."""
        ...


def detectors(
    written: Iterable[str],
    base: DetectorSpec,
    peers: Mapping[str, Path] = MappingProxyType({}),
    asking: Callable[[], Asking] | None = None,
    texts: Sequence[Texts] = (),
) -> list[Named]:
    """The detectors that a command line names, in its order.

    Args:
        written: Each one or several, parted by commas: a registered detector; `model:MODEL`, a token classifier alone;
            `DETECTOR:MODEL`, a detector with that model in the place of the shipped one; `chat:PROMPT`, a prompt to a
            language model; or a peer, `NAME[:ENGINE:MODEL][=INTERPRETER]`. A comma within a peer's model does not
            part it.
        base: What ours have in common: topics, recognizers, allow list, device. A detector without the stage that uses
            one of them goes without it.
        peers: Name -> interpreter, of peers that are named without one.
        asking: How the language model is asked; called where a prompt is named.
        texts: Files of released texts, which come last.

    Raises:
        DeidError: `detector-unknown`, `prompt-unknown`, `llm-missing` for a prompt without a model, `peer-unknown`,
            `peer-missing` for a peer without an interpreter, `settings-invalid` for a model of a detector that has
            none, `input-invalid` for a name that comes twice.
    """
    found: list[Named] = [_named(each, base, peers, asking) for one in written for each in _parted(one)]
    found += texts
    names = [each.name for each in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DeidError(Code.INPUT_INVALID, f"detectors: {twice} comes twice")
    return found


def _parted(written: str) -> list[str]:
    """At each comma, but for the one in `presidio:transformers:FOLDER,MODEL=INTERPRETER`."""
    parts: list[str] = []
    for part in written.split(","):
        open_ended = parts and _is_peer(parts[-1]) and parts[-1].count(":") > 1 and "=" not in parts[-1]
        if open_ended and "=" in part and not _is_peer(part):
            parts[-1] += f",{part}"
        else:
            parts.append(part.strip())
    return parts


def _is_peer(written: str) -> bool:
    return written.replace("=", ":").partition(":")[0].removeprefix(VARIANT) in CLAIMS


def _named(written: str, base: DetectorSpec, peers: Mapping[str, Path], asking: Callable[[], Asking] | None) -> Named:
    name, _, model = written.partition(":")
    if name == CHAT:
        chosen = prompt(model)
        if asking is None:
            raise DeidError(Code.LLM_MISSING)
        return Chat(written, chosen, asking())
    if _is_peer(written) or ("=" in written and name not in (MODEL, *detector_names())):
        if "=" in written:
            return Peer.parse(written)
        if written not in peers:
            raise DeidError(Code.PEER_MISSING, f"{name}: no interpreter, here or in [peers] of deid.toml")
        return Peer.parse(f"{written}={peers[written]}")
    if name not in (MODEL, *detector_names()):
        raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(name, (*detector_names(), MODEL, CHAT, *CLAIMS)))
    stages = stage_names(detector_names()[0] if name == MODEL else name)
    spec = replace(
        base,
        name=detector_names()[0] if name == MODEL else name,
        models=(model,) if model else None,
        without=tuple(stage for stage in stages if stage != "models") if name == MODEL else (),
        recognizers=base.recognizers if "recognizers" in stages and name != MODEL else None,
        keep=base.keep if "recovery" in stages and name != MODEL else None,
    )
    spec.chosen_models()  # is refused here where there is none of that name
    return Ours(written, spec)


@contextmanager
def ready(named: Iterable[Named], engine: Engine) -> Iterator[list[Finder]]:
    """The detectors, peers in their processes, which end with the block.

    Raises:
        DeidError: `peer-missing` for what is not installed, `peer-failed` for what does not start, `endpoint-refused`
            for a language model where no note may go.
    """
    with ExitStack() as stack:
        yield [
            _OfPeer(stack.enter_context(PeerProcess(each)))
            if isinstance(each, Peer)
            else _OfChat.built(each)
            if isinstance(each, Chat)
            else _OfTexts(each)
            if isinstance(each, Texts)
            else _OfOurs(each, engine)
            for each in named
        ]


@dataclass(frozen=True)
class _OfOurs:
    detector: Ours
    engine: Engine

    @property
    def name(self) -> str:
        return self.detector.name

    def hidden(self, notes: Sequence[Note], on_batch: OnBatch) -> tuple[Compared, list[list[Hidden]]]:
        found: list[list[Hidden]] = []
        failed: set[int] = set()
        for _, detection in self.engine.detect_in_two_passes(self.detector.spec, lambda: notes, on_batch=on_batch):
            if detection.spans is None:
                failed.add(len(found))
            found.append([Hidden.of(span) for span in detection.spans or ()])
        return Compared(self.name, self.detector.spec.inputs, failed_on=frozenset(failed)), found


@dataclass(frozen=True)
class _OfPeer:
    process: PeerProcess

    @property
    def name(self) -> str:
        return self.process.peer.name

    def hidden(self, notes: Sequence[Note], on_batch: OnBatch) -> tuple[Compared, list[list[Hidden]]]:
        peer = self.process.peer
        found: list[list[Hidden]] = []
        for start in range(0, len(notes), _PEER_BATCH):
            check()
            batch = notes[start : start + _PEER_BATCH]
            found += [
                [
                    Hidden(span.start, span.end, self.process.label_of(span), frozenset(peer.claims.get(span.kind, ())))
                    for span in spans
                ]
                for spans in self.process.find([note.text for note in batch])
            ]
            on_batch(len(batch))
        return Compared(peer.name, labels=peer.labels), found


@dataclass(frozen=True)
class _OfChat:
    name: str
    prompted: Prompted

    @classmethod
    def built(cls, chat: Chat) -> _OfChat:
        return cls(chat.name, chat.prompted())

    def hidden(self, notes: Sequence[Note], on_batch: OnBatch) -> tuple[Compared, list[list[Hidden]]]:
        found: list[list[Hidden]] = []
        failed: set[int] = set()
        remarks: Counter[str] = Counter()
        for outcome in self.prompted.find(note.text for note in notes):
            if isinstance(outcome, NotFound):
                failed.add(len(found))
                remarks[f"notes failed: {outcome.why}"] += 1
                found.append([])
            else:
                remarks["places of an unknown label"] += outcome.unlabelled
                for what, count in outcome.drift._asdict().items():
                    remarks[f"tokens {what} by the model"] += count
                found.append([_hidden(mention) for mention in outcome.mentions])
            on_batch(1)
        for what, tokens in zip(("read", "written"), self.prompted.tokens or (), strict=False):
            remarks[f"tokens {what}"] = tokens
        seen = {what: n for what, n in remarks.items() if n}
        return Compared(self.name, failed_on=frozenset(failed), remarks=seen), found


def _hidden(mention: Mention) -> Hidden:
    claimed = frozenset[Label]() if mention.label is None else frozenset((mention.label,))
    return Hidden(mention.start, mention.end, mention.label or Label.IDNUM, claimed)


@dataclass(frozen=True)
class _OfTexts:
    texts: Texts

    @property
    def name(self) -> str:
        return self.texts.name

    def hidden(self, notes: Sequence[Note], on_batch: OnBatch) -> tuple[Compared, list[list[Hidden]]]:
        released = ReleasedTexts.read(self.texts.path, {note.note_id for note in notes})
        found: list[list[Hidden]] = []
        withheld: set[int] = set()
        for note in notes:
            text = released.of(note)
            if text is None:
                withheld.add(len(found))
            places = [] if text is None else hidden_places(note.text, text)
            found.append([_hidden(Mention(place.start, place.end, place.label)) for place in places])
            on_batch(1)
        remarks = {"notes withheld": len(withheld)} if withheld else {}
        return Compared(self.name, failed_on=frozenset(withheld), remarks=remarks), found
