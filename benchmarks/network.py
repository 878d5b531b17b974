"""The network of the shipped model on one core: what its graph, its windows and its sessions are worth.

    python benchmarks/network.py [--before MODEL.onnx] [--overlap 8 0] [--careful] [--threads] [--every 1]

Notes are those of the library's threshold authors, on the text alone. Each note is read by every variant in turn, so
that all share whatever else the machine does; seconds are of the processor, in the network alone, with one thread. The
first row is the graph of `--before`, as onnxruntime fuses it by itself; without it, the shipped one. "Of int8" is the
time of the network's matrix multiplications alone, as onnxruntime does them with int8 weights, on as many pieces: the
share of that in each row's time is what the row makes of the processor. "Change" is the share of the words which the
first row hides that only one of both hides. `--careful` adds the mean of two placements of the windows, the second half
a window on. `--threads` compares two threads that share each window with two windows side by side, in turns. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnxruntime
from aims import estimate, table
from onnx import TensorProto, helper, numpy_helper

from deid_platform.corpora.library.authors import Use, authors, notes_by
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.folder import NETWORK, ModelFolder
from deid_platform.detection.models.onnx_network import SLOWER, OnnxNetwork
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.tokens import Framed, Tokens
from deid_platform.detection.models.windows import OVERLAP, Window, windows
from deid_platform.detection.pipeline import Pipeline, detecting
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.notes import Span

FOLDER = ModelFolder.shipped("minilm")


class Fused(OnnxNetwork):
    """A graph as onnxruntime fuses it by itself, or without some fusions, with threads that share each window."""

    def __init__(self, file: Path, threads: int = 1, without: Sequence[str] = ()) -> None:
        super().__init__(file, threads=1)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"], disabled_optimizers=without
        )


class Variant(TokenClassifier):
    """The model with another network or other windows; counts the network's seconds and pieces.

    Args:
        network: The network.
        overlap: Pieces that a window shares with the next.
        placements: How many ways of cutting a text are averaged, one or two.
    """

    def __init__(self, network: OnnxNetwork, overlap: int, placements: int = 1) -> None:
        super().__init__(FOLDER, threads=1)
        self.network, self._overlap, self._placements = network, overlap, placements
        self.seconds, self.pieces = 0.0, 0

    def _read(self, texts: Sequence[str]) -> list[tuple[Tokens, np.ndarray, np.ndarray]]:
        return [self._read_one(text) for text in texts]

    def _read_one(self, text: str) -> tuple[Tokens, np.ndarray, np.ndarray]:
        tokens = self.reader.read(text)
        placed = [self._of_words(tokens, cut, self._logits(tokens, cut)) for cut in self._cuts(tokens)]
        return tokens, np.mean([probabilities for probabilities, _ in placed], axis=0), placed[0][1]

    def _cuts(self, tokens: Tokens) -> Iterator[list[Window]]:
        cut = list(windows(tokens, self._length, self._overlap))
        yield cut
        if self._placements > 1:
            yield moved(cut, tokens)

    def _logits(self, tokens: Tokens, cut: Sequence[Window]) -> Iterator[np.ndarray]:
        framed = [self.reader.framed(tokens, window.start, window.end) for window in cut]
        begun = time.process_time()
        logits = self.network.logits(framed)
        self.seconds += time.process_time() - begun
        self.pieces += sum(len(window.ids) for window in framed)
        return iter(logits)


def moved(cut: Sequence[Window], tokens: Tokens) -> list[Window]:
    """Windows that meet in the middle of those given, at a word, and share half of the overlap with each neighbour."""
    words, pieces, shared = tokens.words, len(tokens.ids), OVERLAP // 4
    middles = [int(words.searchsorted(words[(window.judged_from + window.judged_to) // 2])) for window in cut]
    judged = sorted({0, *middles, pieces})
    return [Window(max(0, a - shared), min(pieces, b + shared), a, b) for a, b in pairwise(judged)]


def int8_limit(framed: Sequence[Framed]) -> float:
    """Seconds of the network's matrix multiplications alone for a piece, on windows of the usual length."""
    size = FOLDER.card["size"]
    hidden, inner = size["hidden_size"], size["intermediate_size"]
    shapes = [*[(hidden, hidden)] * 4, (hidden, inner), (inner, hidden)] * size["num_hidden_layers"]
    draw = np.random.default_rng(0)
    nodes = [helper.make_node("MatMulInteger", [f"x{k}", f"w{at}"], [f"y{at}"]) for at, (k, _) in enumerate(shapes)]
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info(f"x{k}", TensorProto.UINT8, ["pieces", k]) for k in (hidden, inner)],
        [helper.make_tensor_value_info(f"y{at}", TensorProto.INT32, ["pieces", n]) for at, (_, n) in enumerate(shapes)],
        [
            numpy_helper.from_array(draw.integers(-64, 64, shape).astype(np.int8), f"w{at}")
            for at, shape in enumerate(shapes)
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    pieces = int(np.median([len(window.ids) for window in framed]))
    feed = {f"x{k}": draw.integers(0, 255, (pieces, k)).astype(np.uint8) for k in (hidden, inner)}
    taken = []
    for _ in range(40):
        begun = time.process_time()
        session.run(None, feed)
        taken.append(time.process_time() - begun)
    return float(np.median(taken)) / pieces


def of_threads(framed: Sequence[Framed]) -> str:
    """Seconds of the processor and of the clock for a hundred windows, the least of five turns."""
    file = FOLDER.path / NETWORK
    networks = {
        "one thread": OnnxNetwork(file, threads=1),
        "two threads share each window": Fused(file, threads=2, without=SLOWER),
        "two windows side by side": OnnxNetwork(file, threads=2),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in networks}
    for _ in range(5):
        for name, network in networks.items():
            begun = time.process_time(), time.monotonic()
            network.logits(framed[:100])
            taken[name].append((time.process_time() - begun[0], time.monotonic() - begun[1]))
    least = {name: [min(values) for values in zip(*some, strict=True)] for name, some in taken.items()}
    head = ("a hundred windows", "processor s", "s of the clock")
    return table(head, [(name, *(f"{value:.2f}" for value in values)) for name, values in least.items()])


def of(base: Pipeline, model: Variant) -> Pipeline:
    """The ensemble with a variant of its model."""
    other = copy(base)
    other.stages = {
        name: detecting(model) if name.startswith("model:") else stage for name, stage in base.stages.items()
    }
    return other


def hidden(text: str, spans: Sequence[Span]) -> np.ndarray:
    """Which words of a text are hidden."""
    return touched(word_offsets(text), [(span.start, span.end) for span in spans])


def processor() -> str:
    """What the system calls the processor, and whether it multiplies int8 in one instruction."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    told = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    if "avx2_only" in os.environ.get("LD_PRELOAD", ""):
        return f"{told.get('model name', 'processor not named')}, as one of AVX2 without VNNI (avx2_only.c)"
    kind = next((it for it in ("avx512_vnni", "avx_vnni", "avx2") if it in told.get("flags", "").split()), "neither")
    return f"{told.get('model name', 'processor not named')}, {kind}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a graph of the same weights to compare with")
    parser.add_argument("--overlap", type=int, nargs="*", default=[], help="other overlaps than today's")
    parser.add_argument("--careful", action="store_true")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="read only every so manieth note")
    arguments = parser.parse_args()
    shipped = OnnxNetwork(FOLDER.path / NETWORK, threads=1)
    variants = {}
    if arguments.before:
        variants["before"] = Variant(Fused(arguments.before), OVERLAP)
        variants["before, without the slow fusion"] = Variant(OnnxNetwork(arguments.before, threads=1), OVERLAP)
    variants[f"shipped, overlap {OVERLAP}"] = Variant(shipped, OVERLAP)
    variants |= {f"shipped, overlap {overlap}": Variant(shipped, overlap) for overlap in arguments.overlap}
    if arguments.careful:
        variants["mean of two placements"] = Variant(shipped, OVERLAP, 2)
    items = [item for one in authors(Use.THRESHOLDS) for item in notes_by(one) if item.gold.note is not None]
    items = items[:: arguments.every]
    base = DetectorSpec("ensemble", professions=True).build()
    pipelines = {name: of(base, model) for name, model in variants.items()}
    spans: dict[str, list[Sequence[Span]]] = {name: [] for name in variants}
    for item in items:
        for name, pipeline in pipelines.items():
            spans[name] += pipeline.detect([item.gold.note])
    first = next(iter(variants))
    texts = [item.gold.note.text for item in items]
    words = sum(len(text.split()) for text in texts)
    reader = variants[first].reader
    framed = [
        reader.framed(read, window.start, window.end) for read in map(reader.read, texts) for window in windows(read)
    ]
    limit = int8_limit(framed)
    marks = {name: [hidden(*pair) for pair in zip(texts, some, strict=True)] for name, some in spans.items()}
    of_first = sum(int(mark.sum()) for mark in marks[first])
    print(f"{processor()}; onnxruntime {onnxruntime.__version__}; {len(items)} notes, {words:,} words\n")
    rows = []
    for name, model in variants.items():
        changed = sum(int((a != b).sum()) for a, b in zip(marks[name], marks[first], strict=True))
        scores = summarise(
            count_note(item.gold.note.text, item.gold.spans, found, cluster=item.gold.note_id)
            for item, found in zip(items, spans[name], strict=True)
        )
        rows.append(
            (
                name,
                f"{model.pieces / words:.2f}",
                f"{words / model.seconds:,.0f}",
                f"{variants[first].seconds / model.seconds:.2f}",
                f"{limit * model.pieces / model.seconds:.2f}",
                f"{changed / of_first:.4f}",
                estimate(scores.recall),
                estimate(scores.precision),
            )
        )
    if arguments.threads:
        print(of_threads(framed))
    print(table(("", "pieces a word", "words/s", "times", "of int8", "change", "recall", "precision"), rows))


if __name__ == "__main__":
    main()
