"""Which detectors a command line names: the platform's, models, prompts to a language model, peers, and joined ones.

Belongs here: from what is written to what can be run. Does not belong here: running any (`side_by_side.py`), or the
names that plans have too (`detection/named.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from deid_platform.detection import DetectorSpec, detector_names
from deid_platform.detection.named import MODEL, Joined, Own, is_model, is_own, own, parted
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import VARIANT, Peer
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.llm.engines import Engines
from deid_platform.llm.prompted import Asking, Prompted
from deid_platform.llm.prompts import DEIDENTIFY, Prompt, prompt_of

CHAT = "chat"
"""Before a prompt's name or file: the prompt, and the language model of deid.toml."""


@dataclass(frozen=True)
class Chat:
    """A prompt and how the model is asked, under the name by which it was asked for."""

    name: str
    prompt: Prompt
    asking: Asking

    def prompted(self, models: Engines) -> Prompted:
        """The prompt with its model, which `models` load.

        Raises:
            DeidError: `endpoint-refused` where no note may go; `settings-invalid`.
        """
        asking = self.asking
        return Prompted(self.prompt, asking.build(models), temperature=asking.temperature, seed=asking.seed)


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


Named = Own | Joined | Peer | Chat | Texts


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
            language model, by name or file; a peer, `NAME[:ENGINE:MODEL][=INTERPRETER]`; or `model:MODEL+PEER`, both
            joined. A comma within a peer's model does not part it.
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
    found = [_named(each, base, peers, asking) for one in written for each in _parted(one)]
    found += texts
    names = [each.name for each in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DeidError(Code.INPUT_INVALID, f"detectors: {twice} comes twice")
    return found


def is_another(written: str) -> bool:
    """Whether it has the form of a prompt, a model or a peer, and not of a registered detector."""
    of_model = is_own(written) and ":" in written
    return written.startswith(f"{CHAT}:") or is_model(written) or of_model or _is_peer(written)


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
    _, peer = parted(written) or ("", written)
    return peer.replace("=", ":").partition(":")[0].removeprefix(VARIANT) in CLAIMS


def _named(written: str, base: DetectorSpec, peers: Mapping[str, Path], asking: Callable[[], Asking] | None) -> Named:
    name, _, model = written.partition(":")
    if name == CHAT:
        chosen = prompt_of(model, *DEIDENTIFY)
        if asking is None:
            raise DeidError(Code.LLM_MISSING)
        return Chat(written, chosen, asking())
    if (both := parted(written)) is not None:
        if not is_model(both[0]):
            raise DeidError(Code.DETECTOR_UNKNOWN, f"{both[0]}: only a model alone is joined with a peer")
        model_alone, peer = own(both[0], base), _peer(both[1], peers)
        return Joined(f"{model_alone.name}+{peer.name}", model_alone, peer)
    if is_own(written):
        return own(written, base)
    if _is_peer(written) or "=" in written:
        return _peer(written, peers)
    raise DeidError(Code.DETECTOR_UNKNOWN, did_you_mean(name, (*detector_names(), MODEL, CHAT, *CLAIMS)))


def _peer(written: str, peers: Mapping[str, Path]) -> Peer:
    if "=" in written:
        return Peer.parse(written)
    if written not in peers:
        name = written.partition(":")[0]
        raise DeidError(Code.PEER_MISSING, f"{name}: no interpreter, here or in [peers] of deid.toml")
    return Peer.parse(f"{written}={peers[written]}")
