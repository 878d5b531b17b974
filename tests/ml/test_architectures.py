"""Any architecture of `transformers`: trained, saved, loaded and used as a detector. All have drawn weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from detector_contract import check_model
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE
from transformers import (
    AutoModelForTokenClassification,
    AutoTokenizer,
    BertConfig,
    BertForTokenClassification,
    LlamaConfig,
    LlamaForTokenClassification,
    ModernBertConfig,
    ModernBertForTokenClassification,
    MPNetConfig,
    MPNetForTokenClassification,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForTokenClassification,
)

from deid_platform.bench.leaderboard.detectors import Detectors
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.decoding import ARGMAX
from deid_platform.detection.models.folder import CARD, CONFIG, VOCABULARY, WEIGHTS, ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.training.labelled import Labelled
from deid_platform.training.plan import Plan, carried_out
from deid_platform.training.presets import PRESETS
from deid_platform.training.run import train
from deid_platform.training.starting import of_transformers
from deid_platform.training.transformers_start import settled
from deid_platform.warehouse.gate.staging import Inputs

SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "num_labels": 3}
TEXT = "Ndoye was seen on 3/14/2019 and Ndoye will call again. The abdomen was soft."
SPANS = (Span(0, 5, Label.DOCTOR), Span(18, 27, Label.DATE), Span(32, 37, Label.DOCTOR))


def bert(words: int) -> PreTrainedModel:
    return BertForTokenClassification(BertConfig(vocab_size=words, **SIZE))


def modern_bert(words: int) -> PreTrainedModel:
    marks = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id"), 0)
    return ModernBertForTokenClassification(ModernBertConfig(vocab_size=words, **marks, **SIZE))


def mpnet(words: int) -> PreTrainedModel:
    return MPNetForTokenClassification(MPNetConfig(vocab_size=words, **SIZE))


def llama(words: int) -> PreTrainedModel:
    return LlamaForTokenClassification(LlamaConfig(vocab_size=words, num_key_value_heads=1, **SIZE))


def qwen(words: int) -> PreTrainedModel:
    return Qwen3ForTokenClassification(Qwen3Config(vocab_size=words, num_key_value_heads=1, head_dim=16, **SIZE))


ARCHITECTURES = {"bert": bert, "modernbert": modern_bert, "mpnet": mpnet, "llama": llama, "qwen": qwen}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of an architecture, with a vocabulary of bytes as that of decoders is."""

    def make(name: str) -> Path:
        torch.manual_seed(1)
        folder = tmp_path_factory.mktemp(name)
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        tokenizer = Tokenizer(BPE({sign: at for at, sign in enumerate(alphabet)}, []))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Punctuation(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        tokenizer.save(str(folder / VOCABULARY))
        ARCHITECTURES[name](len(alphabet)).save_pretrained(folder)
        return folder

    return make


@pytest.mark.parametrize(
    ("name", "epochs", "length", "tokens", "adapters"),
    [
        ("bert", 10, 64, 512, False),
        ("modernbert", 10, 1024, 2048, False),
        ("mpnet", 10, 64, 512, False),
        ("llama", 5, 2048, 2048, True),
        ("qwen", 5, 2048, 2048, True),
    ],
)
def test_the_paper_trains_each_as_it_says(name, epochs, length, tokens, adapters, folder_of, tmp_path):
    folder = folder_of(name)
    found = settled(PRESETS["paper004"], folder)
    assert (found.epochs, found.length, found.tokens, found.adapters) == (epochs, length, tokens, adapters)
    assert (found.rate, found.decay) == (2e-5, 0.01)
    if adapters:  # Llama-3.2-3B; Qwen2.5-7B and Llama-3.1-8B
        for width, passes in ((3072, 5), (3584, 3), (4096, 3)):
            config = json.loads((folder / CONFIG).read_text()) | {"hidden_size": width}
            (tmp_path / CONFIG).write_text(json.dumps(config))
            assert settled(PRESETS["paper004"], tmp_path).epochs == passes


def test_a_preset_of_the_paper_learns_from_ones_own_notes_alone(folder_of, tmp_path):
    gold = tmp_path / "mine.jsonl"
    spans = [[it.start, it.end, it.label.value] for it in SPANS]
    rows = [{"note_id": str(n), "text": f"{TEXT} Visit {n}.", "spans": spans} for n in range(24)]
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = Plan(tmp_path / "made", (gold,), start=str(folder_of("bert")), epochs=1, preset="paper004")
    done = carried_out(plan, None)
    assert (done.notes, done.kept_back, done.recall) == (24, 0, None)
    card = json.loads((tmp_path / "made" / CARD).read_text())
    assert (card["notes"], *(card["data"][name] for name in ("own_gold", "library", "hospital"))) == (24, 24, 0, 0)
    assert card["thresholds"] == ARGMAX
    model = TokenClassifier(ModelFolder(tmp_path / "made"))
    _, likely = model.probabilities(TEXT)
    assert ((model.thresholds.taken(likely) >= 0) == (likely.argmax(axis=1) > 0)).all()
    assert len(model.thresholds.taken(likely)) > 5


@pytest.mark.parametrize("binary", [False, True], ids=["labels", "binary"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_it_is_trained_saved_and_detects(name, binary, folder_of, tmp_path):
    preset = PRESETS["paper004-binary" if binary else "paper004"]
    preset = replace(settled(preset, folder_of(name)), epochs=30, rate=1e-2, tokens=1024)
    notes = [Labelled(str(n), "own", "", TEXT, SPANS) for n in range(40)]
    start = of_transformers(folder_of(name), preset)
    trainable = sum(value.requires_grad for value in start.network.parameters())
    assert (trainable < len(list(start.network.parameters()))) is preset.adapters
    done = train(notes, notes[:20], start, preset, tmp_path / "made", about={})
    card = json.loads((tmp_path / "made" / CARD).read_text())
    assert len(card["labels"]) == (2 if binary else 29)
    assert done.recall > 0.9
    detector = DetectorSpec("ensemble", models=(str(tmp_path / "made"),), without=("recognizers",)).build()
    (found,) = detector.detect([Note("1", TEXT)])
    marked = {TEXT[span.start : span.end]: span.label for span in found}
    assert {"Ndoye", "3/14/2019"} <= marked.keys()
    assert marked["3/14/2019"] is (Label.IDNUM if binary else Label.DATE)
    check_model(lambda: TokenClassifier(ModelFolder(tmp_path / "made")))


def test_a_sites_own_classifier_needs_no_card(folder_of):
    folder = folder_of("bert")
    config = json.loads((folder / CONFIG).read_text())
    named = {"0": "O", "1": "B-DOCTOR", "2": "I-DOCTOR"}
    (folder / CONFIG).write_text(json.dumps(config | {"id2label": named}))
    model = ModelFolder(folder)
    assert model.classes == (None, Label.DOCTOR, Label.DOCTOR)
    _, probabilities = TokenClassifier(model).probabilities(TEXT)
    assert probabilities.shape[1] == 2
    assert probabilities.sum(axis=1) == pytest.approx(1)
    spec = DetectorSpec("ensemble", models=(str(folder),))
    assert len(spec.build().detect([Note("1", TEXT)])) == 1
    assert spec.detector_digest != DetectorSpec("ensemble").detector_digest
    digest = model.digest
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes() + b" ")
    assert ModelFolder(folder).digest != digest


def test_a_preset_of_any_classifier_says_that_it_needs_a_folder(tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"note_id": "1", "text": "Seen by Ode.", "spans": [[8, 11, "DOCTOR"]]}\n')
    with pytest.raises(DeidError) as raised:
        carried_out(Plan(tmp_path / "made", (gold,), preset="paper004"), None)
    assert (raised.value.code, raised.value.ref) == (Code.MODEL_UNUSABLE, "--start names no folder of weights")


def test_classes_that_are_no_labels_are_refused(folder_of):
    with pytest.raises(DeidError) as raised:
        TokenClassifier(ModelFolder(folder_of("bert")))
    assert (raised.value.code, raised.value.ref) == (
        Code.MODEL_UNUSABLE,
        f"{CONFIG}: LABEL_0 is a tag of no label scheme",
    )


def test_a_published_classifier_of_before_safetensors_is_read_once_saved_anew(tmp_path):
    """Classes of obi's ClinicalBERT; its folder has weights of torch and the words of its vocabulary, a line each."""
    names = ["O", *(f"{mark}-{label}" for label in ("STAFF", "HOSP", "OTHERPHI") for mark in "BILU")]
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "vocab.txt").write_text(
        "\n".join(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "seen", "by", "ndo", "##ye"))
    )
    config = BertConfig(vocab_size=9, **SIZE | {"num_labels": len(names)}, id2label=dict(enumerate(names)))
    torch.save(BertForTokenClassification(config).state_dict(), old / "pytorch_model.bin")
    config.save_pretrained(old)
    with pytest.raises(DeidError) as raised:
        TokenClassifier(ModelFolder(old))
    assert raised.value.ref == WEIGHTS
    # As docs/model.md says.
    for part in (AutoTokenizer, AutoModelForTokenClassification):
        part.from_pretrained(old).save_pretrained(new)
    model = ModelFolder(new)
    assert (model.tags.scheme, model.architecture) == ("obi", "bert")
    assert set(model.classes) == {None, Label.DOCTOR, Label.HOSPITAL, Label.IDNUM}
    tokens, probabilities = TokenClassifier(model).probabilities("Seen by Ndoye")
    assert probabilities.shape == (3, 4) and len(tokens.ids) == 4
    (tmp_path / "deid.toml").write_text('site = "north"')
    with Detectors(Site(load_settings(tmp_path / "deid.toml")), ["model:new", "model:old"]) as detectors:
        (bert,) = detectors
        assert (bert.word, detectors.missing) == ("bert", {"model:old": WEIGHTS})
        ((inputs, reading),) = bert.read([Note("1", "Seen by Ndoye")], Topics())
    assert (inputs, len(reading.hidden)) == (Inputs.TEXT, 1)


def test_code_in_a_folder_is_not_run(folder_of, tmp_path):
    folder = tmp_path / "evil"
    shutil.copytree(folder_of("bert"), folder)
    config = json.loads((folder / CONFIG).read_text())
    own = {"auto_map": {"AutoModelForTokenClassification": "evil.Model", "AutoConfig": "evil.Config"}}
    (folder / CONFIG).write_text(json.dumps(config | own | {"model_type": "evil"}))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(DeidError):
        of_transformers(folder, PRESETS["paper004"])
    assert not (tmp_path / "ran").exists()
