"""A peer as a detector, in a process of its own.

Belongs here: naming a peer, starting its process, and its spans as candidates. Does not belong here: what runs in that
process (`adapters.py`).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.peers.claims import CLAIMS, Claims, claimed
from deid_platform.detection.peers.spans import PeerSpan
from deid_platform.detection.peers.variants import claims_of_variant, varied
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.labels import Label
from deid_platform.runtime.environment import harmless_environment

VARIANT = "modified-"
"""Before the name of a peer: the variant of Aghakasiri 2025."""
_ADAPTERS = Path(__file__).with_name("adapters.py")
_UNCLAIMED = Label.IDNUM
# Nothing is fetched, and one core does the work.
_ENVIRONMENT = {
    **dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Peer:
    """Which peer, and in which interpreter it is.

    Attributes:
        name: As it was asked for.
        adapter: A key of `CLAIMS`.
        engine: The kind of its engine, None without one.
        model: What the engine loads.
        variant: Whether it is the variant of Aghakasiri 2025.
        python: The interpreter that has the peer.
    """

    name: str
    adapter: str
    engine: str | None
    model: str
    variant: bool
    python: Path

    @classmethod
    def parse(cls, written: str) -> Self:
        """A peer from `[modified-]NAME[:ENGINE:MODEL]=INTERPRETER`.

        Raises:
            DeidError: `peer-unknown` for a peer, an engine or a form that is none.
        """
        name, _, python = written.rpartition("=")
        adapter, *more = name.removeprefix(VARIANT).split(":", 2)
        if adapter not in CLAIMS:
            raise DeidError(Code.PEER_UNKNOWN, did_you_mean(adapter, CLAIMS))
        engine, model = more if len(more) == 2 else (None, "")
        if engine not in CLAIMS[adapter] or len(more) == 1:
            raise DeidError(Code.PEER_UNKNOWN, f"{adapter}: engines are {_engines(adapter)}")
        return cls(name, adapter, engine, model, name.startswith(VARIANT), Path(python))

    @cached_property
    def claims(self) -> Claims:
        """The kinds that it finds, and the labels that each covers."""
        claims = CLAIMS[self.adapter][self.engine]
        return claims_of_variant(self.adapter, claims) if self.variant else claims

    @property
    def labels(self) -> frozenset[Label]:
        """The labels that it claims to find."""
        return claimed(self.claims)


class PeerProcess:
    """A running peer (`Detector`); a context manager that ends its process.

    Args:
        peer: Which one.
        script: What runs in its interpreter; speaks as `adapters.py` does.

    Attributes:
        seconds: Processor time that the peer took for texts so far, without its start.
        version: Of the peer and of its model, as their packages say it; empty where none does.
        unclaimed: Kinds that it has found so far and that no crosswalk has.

    Raises:
        DeidError: `peer-missing` if interpreter, package or model is not there; `peer-failed`.
    """

    def __init__(self, peer: Peer, *, script: Path = _ADAPTERS) -> None:
        self.peer = peer
        self.seconds = 0.0
        self.unclaimed: set[str] = set()
        # What a peer prints may hold text of notes.
        command = [peer.python, "-I", script, peer.adapter, *((peer.engine, peer.model) if peer.engine else ())]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the caller names
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                # Without the installation's secrets: what runs there is somebody else's program.
                env={**harmless_environment(), **_ENVIRONMENT},
            )
        except OSError:
            raise DeidError(Code.PEER_MISSING, f"{peer.adapter}: no interpreter") from None
        try:
            self.version = str(self._answer().get("version", ""))
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<PeerProcess: {self.peer.name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()

    def find(self, texts: Sequence[str]) -> list[list[PeerSpan]]:
        """What the peer hides in each text, in any order, possibly overlapping, inside the text.

        Raises:
            DeidError: `peer-failed` if the process ends, or answers with anything else.
        """
        if not texts:
            return []
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        try:
            self._process.stdin.write(json.dumps(list(texts)) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failed("its process ended") from None
        answer = self._answer()
        try:
            found = [
                [PeerSpan(int(start), min(int(end), len(text)), str(kind)) for start, end, kind in spans]
                for text, spans in zip(texts, answer["found"], strict=True)
            ]
            self.seconds += float(answer["seconds"])
        except (KeyError, TypeError, ValueError):
            raise self._failed("an answer of another form") from None
        inside = [[span for span in spans if 0 <= span.start < span.end] for spans in found]
        known = CLAIMS[self.peer.adapter][self.peer.engine]
        self.unclaimed |= {span.kind for spans in inside for span in spans} - known.keys()
        if not self.peer.variant:
            return inside
        return [varied(text, spans, self.peer.adapter) for text, spans in zip(texts, inside, strict=True)]

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        """The candidates of each document; see `Detector`. A kind that covers no label is a number of some kind."""
        source = Source(SourceKind.MODEL, self.peer.adapter)
        return [
            [Candidate(s.start, s.end, self.label_of(s), source, Evidence.PREDICTED, 1.0) for s in spans]
            for spans in self.find([document.text for document in documents])
        ]

    def label_of(self, span: PeerSpan) -> Label:
        """The likeliest of the labels that a span's kind covers."""
        return next(iter(self.peer.claims.get(span.kind, ())), _UNCLAIMED)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe
        try:
            answer = json.loads(self._process.stdout.readline())
        except ValueError:
            raise self._failed("its process ended") from None
        if not isinstance(answer, dict):
            raise self._failed("an answer of another form")
        if "missing" in answer:
            raise DeidError(Code.PEER_MISSING, f"{self.peer.adapter}: {answer['missing']}")
        if "failed" in answer:
            raise self._failed(str(answer["failed"]))
        return answer

    def _failed(self, why: str) -> DeidError:
        return DeidError(Code.PEER_FAILED, f"{self.peer.adapter}: {why}")


def _engines(adapter: str) -> str:
    return ", ".join(engine or "none" for engine in CLAIMS[adapter])
