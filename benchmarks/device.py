"""The parts of the ensemble on one core, and the whole of it on a card where there is one.

    python benchmarks/device.py [--notes 400] [--device cuda] [--workers 16]

Notes are the synthetic hospital's. The table says how many words a second one core does of each part, and how many
cores 500,000 words a second would take: what workers do beside a card has to fit on its machine. Where there is a card,
all of it is run with the network there, on twenty times as many notes, with the utilisation that `nvidia-smi` reports.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice

import aims

from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import CARD, card_name
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.windows import windows
from deid_platform.engine import LocalEngine
from deid_platform.notes import Note

WANTED = 500_000
BATCH = 64


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
    read = [model.reader.read(text) for text in texts]
    framed = [model.reader.framed(it, w.start, w.end) for it in read for w in windows(it)]
    yield (
        "pieces and windows",
        seconds(lambda: [model.reader.framed(it, w.start, w.end) for t in texts for it in [model.reader.read(t)]
                         for w in windows(it)]),
    )  # fmt: skip
    sent = [pickle.dumps([(it.ids, it.features) for it in framed[i : i + BATCH]]) for i in range(0, len(framed), BATCH)]
    logits = [None] * len(framed)
    yield "network, onnxruntime int8", seconds(lambda: logits.__setitem__(slice(None), model.network.logits(framed)))
    back = [pickle.dumps(logits[i : i + BATCH]) for i in range(0, len(logits), BATCH)]
    yield "to the card and back", 2 * seconds(lambda: [pickle.loads(it) for it in (*sent, *back)])
    model.network = _Known(iter(logits))
    yield "labels of words", seconds(lambda: [model.probabilities(text) for text in texts])
    words = sum(len(text.split()) for text in texts)
    pieces = sum(len(it.ids) for it in framed)
    traffic = (sum(map(len, sent)) + sum(map(len, back))) / words
    print(f"{pieces / words:.2f} pieces a word with overlaps, {traffic:.0f} bytes a word to the card and back\n")


class _Known:
    """A network whose logits are known: what is left is reading and deciding."""

    def __init__(self, logits: Iterator[object]) -> None:
        self._logits = logits

    def logits(self, framed: Sequence[object]) -> list[object]:
        return list(islice(self._logits, len(framed)))


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
        amount = sum(len(note.text.split()) for note in many)
        with utilisation() as seen:
            begun = time.monotonic()
            list(LocalEngine(workers=arguments.workers).detect(spec, many))
            rate = amount / (time.monotonic() - begun)
        busy = f"{sum(seen) / len(seen):.0f}%" if seen else "not known"
        print(f"\n{card_name() or arguments.device}, {arguments.workers} workers: {rate:,.0f} words/s with the start")
        print(f"utilisation of the card: {busy}")
        if arguments.device == CARD:
            said = f"{rate:,.0f} with the start, {arguments.workers} workers, {card_name()}, utilisation {busy}"
            aims.keep(arguments.json, {aims.CARD: said})


if __name__ == "__main__":
    main()
