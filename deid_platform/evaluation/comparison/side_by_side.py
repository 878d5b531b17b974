"""Detectors of any kind on the same notes: what `deid compare` does, without a warehouse.

Belongs here: running one detector after the other. Does not belong here: which detectors a command line names
(`named_detectors.py`), reading the notes (`notes_read.py`), what is counted (`comparison.py`), the peers themselves
(`detection/peers/`), or asking a language model (`llm/`).

All that can be refused is refused before a note is read: an unknown detector, a model or a peer that is not there. The
notes are then held in memory, since every detector reads all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from deid_platform.corpora.released_texts import ReleasedTexts
from deid_platform.detection.named import Joined, Own
from deid_platform.detection.peers.process import Peer, PeerProcess
from deid_platform.detection.peers.variants import varied_model
from deid_platform.engine.engines import Engine
from deid_platform.evaluation.comparison.comparison import Compared, Hidden
from deid_platform.evaluation.comparison.named_detectors import Chat, Named, Texts
from deid_platform.evaluation.released.released import hidden_places
from deid_platform.labels import Label
from deid_platform.llm.answered import Mention
from deid_platform.llm.prompted import NotFound, Prompted
from deid_platform.notes import Note
from deid_platform.runtime.stopping import check

_PEER_BATCH = 16


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


@contextmanager
def ready(named: Iterable[Named], engine: Engine) -> Iterator[list[Finder]]:
    """The detectors, peers in their processes, which end with the block.

    Raises:
        DeidError: `peer-missing` for what is not installed, `peer-failed` for what does not start, `endpoint-refused`
            for a language model where no note may go.
    """
    with ExitStack() as stack:

        def of_peer(peer: Peer) -> _OfPeer:
            return _OfPeer(stack.enter_context(PeerProcess(peer)))

        def finder(it: Named) -> Finder:
            match it:
                case Peer():
                    return of_peer(it)
                case Joined():
                    return _OfJoined(it.name, _OfOwn(it.model, engine), of_peer(it.peer))
                case Chat():
                    return _OfChat(it.name, it.prompted(engine.models))
                case Texts():
                    return _OfTexts(it)
                case Own():
                    return _OfOwn(it, engine)

        yield [finder(it) for it in named]


@dataclass(frozen=True)
class _OfOwn:
    detector: Own
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
        if self.detector.variant:
            found = [_varied(note.text, some) for note, some in zip(notes, found, strict=True)]
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
class _OfJoined:
    name: str
    model: _OfOwn
    peer: _OfPeer

    def hidden(self, notes: Sequence[Note], on_batch: OnBatch) -> tuple[Compared, list[list[Hidden]]]:
        model, mine = self.model.hidden(notes, lambda _: None)
        _, its = self.peer.hidden(notes, on_batch)
        both = [[*one, *other] for one, other in zip(mine, its, strict=True)]
        return Compared(self.name, failed_on=model.failed_on), both


@dataclass(frozen=True)
class _OfChat:
    name: str
    prompted: Prompted

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


def _varied(text: str, found: Sequence[Hidden]) -> list[Hidden]:
    places = varied_model(text, [(it.start, it.end, it.label) for it in found])
    return [Hidden(start, end, label, frozenset((label,))) for start, end, label in places]


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
