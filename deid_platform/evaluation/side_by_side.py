"""Detectors of any kind on the same notes: what `deid compare` does, without a warehouse.

Belongs here: which detectors a command line names, reading the notes with their gold if they have any, and running one
detector after the other. Does not belong here: what is counted (`comparison.py`), the peers themselves
(`detection/peers/`), or asking a language model (`llm/`).

All that can be refused is refused before a note is read: an unknown detector, a model or a peer that is not there. The
notes are then held in memory, since every detector reads all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from deid_platform.corpora import Format, Reason, Rejection, Role
from deid_platform.corpora.columns import ColumnMapping
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.delimited import written_as
from deid_platform.corpora.gold import COMPRESSION, Gold
from deid_platform.corpora.gold_sets import JSON_LINES, GoldSet, form_of
from deid_platform.corpora.refusals import Refusals
from deid_platform.corpora.single_files import read_notes
from deid_platform.corpora.source import STANDARD_INPUT, opened
from deid_platform.corpora.tables import table_rows
from deid_platform.detection import DetectorSpec, detector_names, stage_names
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import VARIANT, Peer, PeerProcess
from deid_platform.engine import Engine
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.evaluation.comparison import Compared, ComparedNote, Hidden
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


Named = Ours | Peer | Chat
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

    Raises:
        DeidError: `detector-unknown`, `prompt-unknown`, `llm-missing` for a prompt without a model, `peer-unknown`,
            `peer-missing` for a peer without an interpreter, `settings-invalid` for a model of a detector that has
            none, `input-invalid` for a name that comes twice.
    """
    found = [_named(each, base, peers, asking) for one in written for each in _parted(one)]
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
        seen = {what: n for what, n in remarks.items() if n}
        return Compared(self.name, failed_on=frozenset(failed), remarks=seen), found


def _hidden(mention: Mention) -> Hidden:
    claimed = frozenset[Label]() if mention.label is None else frozenset((mention.label,))
    return Hidden(mention.start, mention.end, mention.label or Label.IDNUM, claimed)


@dataclass(repr=False)
class NotesRead:
    """The notes of a comparison.

    Attributes:
        notes: In the order of the file.
        gold: Of each note; None if the file is no gold.
        refusals: Rows that were refused.
        read_as: How the notes are written, where it is not the input's name that says so.
    """

    notes: list[Note] = field(default_factory=list)
    gold: list[Gold] | None = None
    refusals: Refusals = field(default_factory=Refusals)
    read_as: Format | None = None

    def __repr__(self) -> str:
        return "<NotesRead>"

    def with_hidden(self, hidden: Sequence[Sequence[Sequence[Hidden]]]) -> list[ComparedNote]:
        """The notes with what each detector hides in them.

        Args:
            hidden: By detector, then by note.
        """
        golds: Sequence[Gold | None] = self.gold or [None] * len(self.notes)
        return [
            ComparedNote(
                note.text,
                places,
                gold=None if gold is None else gold.spans,
                clinical=() if gold is None else gold.clinical,
                cluster=note.patient_id,
            )
            for note, gold, *places in zip(self.notes, golds, *hidden, strict=True)
        ]


def read(
    source: Path,
    *,
    mapping: ColumnMapping | None = None,
    table_format: Format | None = None,
    scheme: str | None = None,
    as_gold: bool | None = None,
    gold_form: str | None = None,
) -> NotesRead:
    """The notes of a file as `deid redact` reads them, or of gold as `deid evaluate` does.

    Args:
        source: A file, or `-` for standard input.
        mapping: How the notes' columns become fields.
        table_format: How they are written; by default what the name or, of standard input, the beginning says.
        scheme: Which label names the gold uses; by default those of its format.
        as_gold: Whether it is gold; by default JSON lines whose first has `spans` are, and what other formats of gold
            write.
        gold_form: Format of the gold; by default its files tell.

    Raises:
        DeidError: `input-empty` if there is no note, or gold without a span; what `source.opened` and `GoldSet` raise.
            Rows of other notes are refused one by one.
    """
    mapping = mapping or ColumnMapping({})
    shape = mapping.shapes()[Role.NOTES]
    if as_gold is not False and (gold_form or (source != STANDARD_INPUT and form_of(source) != JSON_LINES)):
        return _gold_of(GoldSet(source, gold_form, scheme, shape.columns), None)
    with opened(source, table_format, shape) as (path, read_as):
        if as_gold is None:
            as_gold = (read_as or written_as(path)[0]) == Format.JSONL and _has_spans(path, shape.columns)
        if not as_gold:
            return _notes_of(path, mapping, read_as)
        return _gold_of(GoldSet(path, JSON_LINES, scheme, shape.columns), read_as)


def _gold_of(gold_set: GoldSet, read_as: Format | None) -> NotesRead:
    refusals = Refusals()
    gold = [one for one in replace(gold_set, refused=refusals.add) if one.note is not None]
    if not any(one.spans for one in gold):
        raise DeidError(Code.INPUT_EMPTY, "gold: no span" if gold else "gold: no note")
    return NotesRead([one.note for one in gold if one.note is not None], gold, refusals, read_as)


def _has_spans(path: Path, columns: Mapping[str, str]) -> bool:
    with suppress(BrokenFileError):  # whoever reads it says so
        for _, cells in table_rows(path, Format.JSONL, COMPRESSION.get(path.suffix), max_chars=MAX_CHARS):
            return not isinstance(cells, Reason) and any(columns.get(key, key) == "spans" for key in cells)
    return False


def _notes_of(path: Path, mapping: ColumnMapping, read_as: Format | None) -> NotesRead:
    found = NotesRead(read_as=read_as)
    for item in read_notes(
        path,
        columns=mapping.columns,
        ignore=mapping.ignore,
        defaults=mapping.defaults,
        strict=False,
        table_format=read_as,
    ):
        if not isinstance(item, Rejection):
            found.notes.append(item)
        elif item.reason is not Reason.IMPOSSIBLE_DATE:  # such a note stands, and its date is of no use here
            found.refusals.add(item)
    if not found.notes and not found.refusals.lost:
        raise DeidError(Code.INPUT_EMPTY, "notes")
    return found
