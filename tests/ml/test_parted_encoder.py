"""The preset `large`: its encoder joined from the parts of five packages, trained, and used. Weights are drawn."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import RobertaProcessing
from transformers import MPNetConfig, MPNetModel
from typer.testing import CliRunner, Result

from deid_platform.cli import app
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import PROCESSOR
from deid_platform.detection.models.folder import CONFIG, VOCABULARY, WEIGHTS, ModelFolder
from deid_platform.detection.models.tokens import Reader
from deid_platform.detection.models.torch_network import TorchNetwork
from deid_platform.detection.models.windows import LENGTH, windows
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note
from deid_platform.training import parted_encoder, plan
from deid_platform.training.mixture import Mixture
from deid_platform.training.parted_encoder import NAME
from deid_platform.training.presets import PRESETS
from deid_platform.training.starting import of_transformers

MARKS = ("<s>", "<pad>", "</s>", "<unk>")
SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
TEXT = "Seen by Ndoye on 3/14/2019.\nNdoye will call again."
SPANS = [[8, 13, "DOCTOR"], [17, 26, "DATE"], [28, 33, "DOCTOR"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder named and filled as the packed one is: an MPNet of two thin layers, and a vocabulary of signs."""
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("packed") / NAME
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    words = [*MARKS, *signs, *(f"##{sign}" for sign in signs)]
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(list(MARKS))
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    MPNetModel(MPNetConfig(vocab_size=len(words), max_position_embeddings=514, **SIZE)).save_pretrained(folder)
    tokenizer.save(str(folder / VOCABULARY))
    return folder


@pytest.fixture
def packages(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """Five packages, as they are installed; gives the file of a part."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for file in files.iterdir():
            made.write(file, f"{NAME}/{file.name}")
    whole = packed.getvalue()
    cuts = [len(whole) * number // 5 for number in range(6)]

    def part(number: int) -> Path:
        return tmp_path / "site" / f"{NAME}-pypi-part_{number:03}" / "input" / f"{NAME}.zip.{number:03}"

    for number in range(1, 6):
        part(number).parent.mkdir(parents=True)
        (part(number).parents[1] / "__init__.py").touch()
        part(number).write_bytes(whole[cuts[number - 1] : cuts[number]])
    known = {name: hashlib.sha256((files / name).read_bytes()).hexdigest() for name in (CONFIG, WEIGHTS, VOCABULARY)}
    monkeypatch.setattr(parted_encoder, "_DIGESTS", known)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return part


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`deid train model --preset large` with gold of few notes, as fast as so small a model can learn."""
    gold = tmp_path / "gold.jsonl"
    note = {"text": TEXT, "spans": SPANS}
    gold.write_text("\n".join(json.dumps({"note_id": f"n{n}", "patient_id": f"p{n}", **note}) for n in range(120)))
    monkeypatch.setattr(plan, "_BESIDE_GOLD", Mixture(corpora=(), hospital=0, plain=0))
    monkeypatch.setitem(PRESETS, "large", replace(PRESETS["large"], rate=1e-2, tokens=1024))

    def run(*told: str) -> Result:
        return CliRunner().invoke(
            app, ["train", str(tmp_path / "model"), "--preset", "large", "--gold", str(gold), *told]
        )

    return run


def refused(done: Result) -> str:
    """What a refusal as unusable names."""
    assert isinstance(done.exception, DeidError), done.output
    assert done.exception.code is Code.MODEL_UNUSABLE
    return done.exception.ref


def test_parts_become_a_model_that_detects(packages, files, run, tmp_path):
    done = run("--epochs", "10")
    assert done.exit_code == 0, done.output
    assert "trains on the processor" in done.output
    model = ModelFolder(tmp_path / "model").verified()
    assert model.card["start"]["encoder"] == NAME
    assert model.card["start"]["sha256"] == hashlib.sha256((files / WEIGHTS).read_bytes()).hexdigest()
    assert (model.card["length"], model.card["preset"]["adapters"]) == (LENGTH, False)
    assert set(model.card["thresholds"]) >= {"DOCTOR", "DATE"}
    spec = DetectorSpec("ensemble", models=(str(model.path),), without=("recognizers",))
    (found,) = spec.build().detect([Note("1", TEXT)])
    assert {"Ndoye", "3/14/2019"} <= {TEXT[span.start : span.end] for span in found}
    assert sorted(path.name for path in model.path.iterdir() if path.name.startswith(NAME)) == [NAME]


def test_joined_once_it_needs_no_packages(packages, tmp_path):
    made = parted_encoder.joined(tmp_path / "model")
    for number in range(1, 6):
        packages(number).unlink()
    assert parted_encoder.joined(tmp_path / "model") == made


@pytest.mark.parametrize("number", [1, 4])
def test_a_missing_part_is_named(packages, run, tmp_path, number):
    for missing in range(number, 6):
        packages(missing).unlink()
    assert refused(run()) == f"{NAME}-pypi-part-00{number}"
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("number", [1, 3, 5])
@pytest.mark.parametrize("damage", [lambda data: data[:-30], lambda data: bytes(len(data))], ids=["cut", "zeros"])
def test_damaged_parts_are_refused(packages, run, tmp_path, number, damage):
    part = packages(number)
    part.write_bytes(damage(part.read_bytes()))
    assert refused(run()) == f"{NAME}.zip"
    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, VOCABULARY])
def test_other_files_than_the_known_are_refused(packages, run, tmp_path, monkeypatch, name):
    monkeypatch.setitem(parted_encoder._DIGESTS, name, "0" * 64)
    assert refused(run()) == name
    assert list((tmp_path / "model").iterdir()) == []


def test_an_encoder_of_ones_own_needs_no_packages(files, run, tmp_path):
    done = run("--start", str(files), "--epochs", "0.2")
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "model" / NAME).exists()


def test_a_window_is_read_alike_beside_longer_ones(files, tmp_path):
    of_transformers(files, PRESETS["large"]).save(tmp_path)
    reader = Reader(tmp_path / VOCABULARY)
    tokens = reader.read(" ".join([TEXT, "<s> struck </s> <pad> out"] * 9))
    cut = [reader.framed(tokens, window.start, window.end) for window in windows(tokens)]
    assert all((frame.ids[0], frame.ids[-1]) == (0, 2) for frame in cut)
    assert {len(frame.ids) for frame in cut[:-1]} <= set(range(2 * LENGTH // 3, LENGTH + 3))
    network = TorchNetwork(ModelFolder(tmp_path), length=LENGTH + reader.marks, device=PROCESSOR)
    for frame, together in zip(cut, network.logits(cut), strict=True):
        whole = network._forward(frame.ids[None], frame.features[None], np.ones((1, len(frame.ids)), dtype=np.int64))
        assert together == pytest.approx(whole[0], abs=1e-5)
