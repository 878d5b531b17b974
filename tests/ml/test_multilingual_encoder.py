"""An encoder with a cased SentencePiece vocabulary: unpacked from a package's file, cut, and trained like the other."""

from __future__ import annotations

import struct
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from detector_contract import check_model

from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.tokens import Reader
from deid_platform.evaluation.scores.scores import NoteCounts
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.training.labelled import Labelled
from deid_platform.training.presets import Preset
from deid_platform.training.run import train
from deid_platform.training.starting import encoder, from_encoder

WIDTH, LAYERS = 32, 3
TEXT = "Ndoye was seen on 3/14/2019 and Ndoye will call again. The abdomen was soft."
SPANS = (Span(0, 5, Label.DOCTOR), Span(18, 27, Label.DATE), Span(32, 37, Label.DOCTOR))
LETTERS = [chr(code) for code in (*range(33, 127), *range(0xE0, 0x100))]
VOCABULARY = [
    *((mark, 0.0) for mark in ("<s>", "<pad>", "</s>", "<unk>")),
    *((letter, -9.0) for letter in ("▁", *LETTERS)),
    *((piece, -4.0 - number / 10) for number, piece in enumerate(("▁was", "oye", "▁García", "▁seen", "▁привет"))),
]


@pytest.fixture(scope="module")
def benchmark() -> Iterator[types.ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        yield import_module("multilingual_encoder")


@pytest.fixture(scope="module")
def comparison(benchmark) -> types.ModuleType:
    return import_module("encoders")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file as the package has it, of drawn weights."""
    random = np.random.default_rng(2)
    tensors: list[tuple[str, int, bytes]] = []

    def packed(name: str, rows: int, columns: int) -> None:
        blocks = np.empty(rows * columns // 32, dtype=[("scale", "<f2"), ("halves", "u1", 16)])
        blocks["scale"] = 0.01
        blocks["halves"] = random.integers(0, 256, (len(blocks), 16))
        tensors.append((name, 1, blocks.tobytes()))

    def plain(name: str, count: int, mean: float = 0.0) -> None:
        tensors.append((name, 0, random.normal(mean, 0.02, count).astype("<f4").tobytes()))

    packed("emb.word", len(VOCABULARY), WIDTH)
    plain("emb.pos", 256 * WIDTH)
    plain("emb.type", 2 * WIDTH)
    plain("emb.ln.w", WIDTH, 1.0)
    plain("emb.ln.b", WIDTH)
    for layer in range(LAYERS):
        for name, rows, columns in (*((it, WIDTH, WIDTH) for it in ("q", "k", "v", "ao")),
                                    ("fi", 4 * WIDTH, WIDTH), ("fo", WIDTH, 4 * WIDTH)):  # fmt: skip
            packed(f"l{layer}.{name}.w", rows, columns)
            plain(f"l{layer}.{name}.b", rows)
        for name in ("aln", "oln"):
            plain(f"l{layer}.{name}.w", WIDTH, 1.0)
            plain(f"l{layer}.{name}.b", WIDTH)
    pieces = [piece.encode() for piece, _ in VOCABULARY]
    offsets = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, WIDTH, LAYERS, 2, 4 * WIDTH, len(pieces), 256, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, offsets[-1]) + offsets.tobytes()
    head += np.array([score for _, score in VOCABULARY], dtype="<f4").tobytes() + b"".join(pieces)
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", len(tensors))
    at = len(head) + sum(23 + len(name) for name, _, _ in tensors)
    for name, kind, data in tensors:
        count = len(data) // 18 * 32 if kind else len(data) // 4
        head += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, count, at, len(data))
        at += len(data)
    path = tmp_path_factory.mktemp("package") / "encoder.bin"
    path.write_bytes(head + b"".join(data for _, _, data in tensors))
    return path


def test_blocks_of_four_bits_become_numbers(benchmark):
    halves = [0x0F | 0x10 * (number % 16) for number in range(16)]
    (numbers,) = benchmark.whole_numbers(np.array([(0.5, halves)], dtype=benchmark.BLOCK))
    assert numbers[:16].tolist() == [3.5] * 16
    assert numbers[16:].tolist() == [0.5 * (number - 8) for number in range(16)]


def test_some_layers_and_some_pieces_are_kept(benchmark, file, tmp_path):
    packed = benchmark.unpacked(file)
    assert [piece for piece, _ in packed.vocabulary] == [piece for piece, _ in VOCABULARY]
    pieces = benchmark.chosen(packed.vocabulary, [], most=len(VOCABULARY) - 2)
    benchmark.write(packed, tmp_path, layers=(0, 2), pieces=pieces)
    kept = from_encoder(tmp_path).state_dict()
    assert kept["encoder.encoder.layer.1.output.dense.weight"].numpy() == pytest.approx(packed.tensors["l2.fo.w"])
    assert "encoder.encoder.layer.2.output.dense.weight" not in kept
    words = kept["encoder.embeddings.word_embeddings.weight"].numpy()
    assert words == pytest.approx(packed.tensors["emb.word"][pieces])


@pytest.mark.parametrize(
    ("texts", "gone"),
    [([], {"▁seen", "▁привет"}), (["seen"], {"▁García", "▁привет"}), (["привет"], {"▁García", "▁seen"})],
)
def test_what_texts_use_is_kept_before_what_is_likely(benchmark, texts, gone):
    kept = {VOCABULARY[it][0] for it in benchmark.chosen(VOCABULARY, texts, most=len(VOCABULARY) - 2)}
    assert {piece for piece, _ in VOCABULARY} - kept == gone


@pytest.fixture
def reader(benchmark, tmp_path) -> Reader:
    benchmark.tokenizer(VOCABULARY).save(str(tmp_path / "tokenizer.json"))
    return Reader(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "Dr. García-López saw  Mr. O'Brien\n\n(MRN 12-34): 3/14/2019;\tTel: +39 055 123  \n",
        "\n  x^2 <y> $5 a_b\u00a0c",
        "",
        " \n ",
    ],
)
def test_the_words_are_those_of_the_other_encoder(text, reader, encoder_folder):
    ours, other = reader.read(text), Reader(encoder_folder / "tokenizer.json").read(text)
    for part in ("starts", "ends", "gaps", "word_features"):
        assert getattr(ours, part).tolist() == getattr(other, part).tolist()
    assert len(ours.ids) == len(ours.words)


def test_case_and_accents_are_read(reader):
    assert len(reader.read("García").ids) == 1
    assert len({tuple(reader.read(word).ids.tolist()) for word in ("García", "garcía", "Garcia", "GARCÍA")}) == 4
    assert (reader.before, reader.marks) == (1, 2)


def test_it_is_trained_exported_and_detects(benchmark, file, tmp_path):
    packed = benchmark.unpacked(file)
    benchmark.write(packed, tmp_path / "encoder", layers=(0, 1))
    notes = [Labelled(str(number), "own", "", TEXT, SPANS) for number in range(40)]
    preset = Preset(epochs=30, rate=1e-2, tokens=1024)
    done = train(notes, notes[:20], encoder(tmp_path / "encoder"), preset, tmp_path / "made", about={})
    assert done.recall > 0.9
    check_model(lambda: TokenClassifier(ModelFolder(tmp_path / "made")))


# The comparison


def compared(module: types.ModuleType, found: dict[str, tuple[int, int]]) -> list[str]:
    """The row of recall, of carriers of ten words each of which two models find so many."""
    measured = [
        module.Measured(
            Labelled(key, "meddocan", "", "", ()),
            {
                name: NoteCounts(10, right, 0, 10 - right, 0, 0)
                for name, right in zip((module.SHIPPED, module.MULTILINGUAL), rights, strict=True)
            },
        )
        for key, rights in found.items()
    ]
    return module.row(measured, "recall")


def test_a_difference_has_the_interval_of_both_models_on_the_same_carriers(comparison):
    first, second, apart = compared(comparison, {str(number): (number, number + 1) for number in range(9)})
    assert first.startswith("0.4000 (")
    assert second.startswith("0.5000 (")
    assert apart == "+0.1000 (+0.1000 to +0.1000)"  # though each of them varies from carrier to carrier


def test_one_carrier_says_nothing_of_others(comparison):
    assert compared(comparison, {"a": (9, 8)}) == ["0.9000 (-)", "0.8000 (-)", "-0.1000 (-)"]
