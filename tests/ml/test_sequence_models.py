"""Classifiers of texts and of pairs from a folder, with drawn weights: codes for JSC and NSDCG, judges of chunks."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from command_line import deid
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.icd import note_codes
from deid_platform.evaluation.retention.judges import Kind
from deid_platform.evaluation.retention.sequence_models import code_classifier, pair_classifier

CODES = ("E11", "I10", "J18")


@pytest.fixture
def classifier(tmp_path: Path, encoder_folder: Path):
    def written(labels: Sequence[str], **given: object) -> Path:
        torch.manual_seed(5)
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(encoder_folder / "tokenizer.json"),
            **{f"{it}_token": f"[{it.upper()}]" for it in ("pad", "unk", "cls", "sep")},
        )
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=64,
            initializer_range=0.6,
            id2label=dict(enumerate(labels)),
            label2id={label: at for at, label in enumerate(labels)},
            **given,
        )
        folder = tmp_path / "model"
        BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return written


def test_codes_of_a_note_and_of_its_release(classifier) -> None:
    model = code_classifier(classifier(CODES, problem_type="multi_label_classification"))
    short, long = model.scores(["diabetes mellitus", "diabetes mellitus " * 60])
    assert set(short) == set(long) == set(CODES) and all(0 < share < 1 for share in (*short.values(), *long.values()))
    assert not math.isclose(sum(short.values()), 1)
    (same, other) = note_codes([("diabetes", "diabetes"), ("diabetes", "pneumonia of the lung")], model)
    assert same.nsdcg == pytest.approx(1) and (same.jsc is None or same.jsc == 1)
    assert other.nsdcg is not None and other.nsdcg <= 1


def test_one_code_of_many_and_the_digest_of_weights(classifier) -> None:
    folder = classifier(CODES)
    first = code_classifier(folder)
    (scores,) = first.scores(["diabetes"])
    assert sum(scores.values()) == pytest.approx(1)
    again = code_classifier(folder).digest
    (folder / "vocab.txt").write_text("another\n")
    assert first.digest == again != code_classifier(folder).digest


@pytest.mark.parametrize(
    ("labels", "kind", "at"),
    [(("contradiction", "neutral", "entailment"), Kind.ENTAILMENT, 2), (("not", "paraphrase"), Kind.PARAPHRASE, 1)],
)
def test_a_judge_of_pairs_by_its_labels(classifier, labels: tuple[str, ...], kind: Kind, at: int) -> None:
    folder = classifier(labels)
    judge = pair_classifier(folder)
    assert judge.identity.kind is kind and judge.identity.metric == f"{kind.value} retention"
    pairs = [("aspirin 81 mg", "aspirin 40 mg"), ("no fever", "fever"), *[("seen", "seen today")] * 20]
    found = judge.judge(pairs)
    assert len(found) == len(pairs) and len({it.changed for it in found[2:]}) == 1
    strict, lenient = (pair_classifier(folder, threshold=it).judge(pairs) for it in (0.999, 0.001))
    assert sum(bool(it.changed) for it in strict) > sum(bool(it.changed) for it in lenient)


def test_what_cannot_be_read(classifier, tmp_path: Path) -> None:
    for folder, said in ((classifier(("A", "B")), "no label is of"), (tmp_path / "none", "config.json")):
        with pytest.raises(DeidError, match=said) as error:
            pair_classifier(folder)
        assert error.value.code is Code.MODEL_UNUSABLE
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(DeidError, match="a sequence classifier"):
        code_classifier(tmp_path / "model")


def test_by_the_commands(classifier, tmp_path: Path) -> None:
    rows = [{"note_id": f"n{it}", "text": f"Ann has diabetes, seen on day {it}."} for it in range(3)]
    for name, text in (("notes", lambda it: it["text"]), ("out", lambda it: it["text"].replace("Ann", "[NAME]"))):
        lines = (json.dumps({"note_id": it["note_id"], "text": text(it)}) + "\n" for it in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    folder = str(classifier(CODES))
    done = deid("evaluate", "notes.jsonl", "--released", "out.jsonl", "--codes", folder, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {it["measure"]: it for it in map(json.loads, done.stdout.splitlines())}
    assert 0 < found["NSDCG"]["value"] <= 1 and found["NSDCG"]["n"] == 3
    folder = str(classifier(("not", "paraphrase")))
    (tmp_path / "deid.toml").write_text('site = "north"\n')
    done = deid(
        *("judge", "retention", "notes.jsonl", "--released", "out.jsonl", "--pairs-model", folder, "--json"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    metrics = [json.loads(line)["metric"] for line in done.stdout.splitlines()]
    assert metrics == ["lexical retention", "paraphrase retention"]
