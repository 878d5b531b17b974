"""The parts of the ensemble on one core, and the whole of it on a card where there is one.

    python benchmarks/device.py [--notes 400] [--device cuda] [--workers 16]

Notes are the synthetic hospital's. The table says how many words a second one core does of each part, and how many
cores 500,000 words a second would take: what workers do beside a card has to fit on its machine, and what the process
that owns the card does has to fit on one core, since it is one. That is its work without the network: unpickling,
padding, cutting apart and pickling answers. Where there is a card, all of it is run with the network there, on twenty
times as many notes, with the utilisation that `nvidia-smi` reports: with the start of all processes, and without it,
from the first fifth of the notes on.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle, islice

import aims
import numpy as np

from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import CARD, card_name
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.tokens import Framed
from deid_platform.detection.models.torch_network import TOKENS, TorchNetwork
from deid_platform.detection.models.windows import LENGTH, windows
from deid_platform.engine.engines import LocalEngine
from deid_platform.notes import Note

WANTED = 500_000
REQUEST = 1024
"""Windows that are run together: the requests that gather while the card is busy."""


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def written(amount: int) -> list[Note]:
    """Notes of the hospital."""
    return [note for delivery in generate(HospitalSpec(notes=amount)) for note in delivery.notes]


def parts(notes: Sequence[Note]) -> Iterator[tuple[str, float]]:
    """Each part and its seconds on one core."""
    texts = [note.text for note in notes]
    rest = DetectorSpec("ensemble", without=("models",)).build()
    rest.detect(notes[:3])
    yield "rules, recovery, merging", seconds(lambda: rest.detect(notes))
    model = TokenClassifier(ModelFolder.shipped("minilm"), threads=1)
    framed: list[Framed] = []

    def cut() -> None:
        for text in texts:
            read = model.reader.read(text)
            framed.extend(model.reader.framed(read, window.start, window.end) for window in windows(read))

    reading = seconds(cut)
    yield "pieces and windows", reading
    requests = [[(it.ids, it.features) for it in framed[i : i + REQUEST]] for i in range(0, len(framed), REQUEST)]
    logits = [None] * len(framed)
    yield "network, onnxruntime int8", seconds(lambda: logits.__setitem__(slice(None), model.network.logits(framed)))
    sent = [pickle.dumps(some) for some in requests]
    back = [pickle.dumps(logits[i : i + REQUEST]) for i in range(0, len(logits), REQUEST)]
    both = list(zip(requests, back, strict=True))
    yield "worker: to the process and back", seconds(lambda: [(pickle.dumps(a), pickle.loads(b)) for a, b in both])
    padded = _Padded(model.reader.marks + LENGTH, logits[0].shape[1])
    yield "process on the card, without it", seconds(lambda: [padded.answered(it) for it in sent])
    model.network = _Known(logits)
    yield "labels of words", seconds(lambda: [model.probabilities(text) for text in texts]) - reading
    words = sum(len(text.split()) for text in texts)
    pieces = sum(len(it.ids) for it in framed)
    traffic = (sum(map(len, sent)) + sum(map(len, back))) / words
    print(f"{pieces / words:.2f} pieces a word with overlaps, {padded.pieces / words:.2f} with padding, "
          f"{traffic:.0f} bytes a word to the process and back\n")  # fmt: skip


class _Known:
    """A network whose logits are known, again and again: what is left is reading and deciding."""

    def __init__(self, logits: Sequence[object]) -> None:
        self._logits = cycle(logits)

    def logits(self, framed: Sequence[object]) -> list[object]:
        return list(islice(self._logits, len(framed)))


class _Padded(TorchNetwork):
    """What the process on the card does with a request, beside running the network."""

    def __init__(self, length: int, classes: int) -> None:
        self._length, self._tokens = length, TOKENS[CARD]
        self._classes = classes
        self._told: dict[tuple[int, ...], np.ndarray] = {}
        self.pieces = 0
        self._forward = self._nothing

    def _nothing(self, ids: np.ndarray, *_: np.ndarray) -> np.ndarray:
        self.pieces += ids.size
        if ids.shape not in self._told:
            self._told[ids.shape] = np.ones((*ids.shape, self._classes), dtype=np.float32)
        return self._told[ids.shape]

    def answered(self, request: bytes) -> bytes:
        """From what a worker sent to what it gets."""
        return pickle.dumps(self.logits([Framed(*window) for window in pickle.loads(request)]))


@contextmanager
def utilisation() -> Iterator[list[int]]:
    """The card's utilisation in percent, read now and then."""
    seen: list[int] = []
    done = threading.Event()

    def look() -> None:
        command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        while not done.wait(0.5):
            with suppress(OSError, ValueError, IndexError):
                seen.append(int(subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()[0]))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        done.set()
        looking.join()


def rates(engine: LocalEngine, spec: DetectorSpec, notes: Sequence[Note]) -> tuple[float, float]:
    """Words a second over all, and from the first fifth of the notes on."""
    words = np.cumsum([len(note.text.split()) for note in notes])
    begun, first = time.monotonic(), len(notes) // 5
    for number, _ in enumerate(engine.detect(spec, notes), 1):
        if number == first:
            running = time.monotonic()
    ended = time.monotonic()
    return words[-1] / (ended - begun), (words[-1] - words[first - 1]) / (ended - running)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--device", default=CARD if card_name() else "")
    parser.add_argument("--workers", type=int, default=16)
    aims.add_json(parser)
    arguments = parser.parse_args()
    notes = written(arguments.notes)
    words = sum(len(note.text.split()) for note in notes)
    print(f"{len(notes):,} notes, {words:,} words")
    found = list(parts(notes))
    print(f"| part | words/s of one core | cores for {WANTED:,} words/s |\n| --- | --- | --- |")
    for name, spent in found:
        print(f"| {name} | {words / spent:,.0f} | {WANTED * spent / words:.1f} |")
    if arguments.device:
        spec = DetectorSpec("ensemble", device=arguments.device)
        many = written(20 * arguments.notes)
        with utilisation() as seen:
            whole, running = rates(LocalEngine(workers=arguments.workers), spec, many)
        busy = f"{sum(seen) / len(seen):.0f}%, at most {max(seen)}%" if seen else "not known"
        said = f"{running:,.0f} ({whole:,.0f} with the start), {arguments.workers} workers, {card_name() or 'no card'}"
        print(f"\n{arguments.device}: {said} words/s\nutilisation of the card: {busy}")
        if arguments.device == CARD:
            aims.keep(arguments.json, {aims.CARD: said})


if __name__ == "__main__":
    main()
