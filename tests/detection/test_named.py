"""What a name of a detector stands for, and what the leaderboard calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from deid_platform.detection.combination import UNITED, Combination
from deid_platform.detection.models.folder import CONFIG
from deid_platform.detection.named import UNRECOVERED, is_own, own
from deid_platform.detection.peers.variants import varied_model
from deid_platform.detection.registry import SHIPPED
from deid_platform.detection.spec import DetectorSpec
from deid_platform.labels import Label
from deid_platform.warehouse.quality.lab import DETECTORS, MODELS

BASE = DetectorSpec("ensemble", models=("of-the-site",), combination=Combination(judge="vocabulary"))


def published(folder: Path, architecture: str, *labels: str) -> str:
    """A folder that says what it is, without weights."""
    folder.mkdir()
    classes = dict(enumerate(["O", *labels]))
    (folder / CONFIG).write_text(json.dumps({"model_type": architecture, "id2label": classes}))
    return str(folder)


def test_the_leaderboard_calls_a_model_by_what_it_is(tmp_path: Path) -> None:
    clinical_bert = published(tmp_path / "1", "bert", "B-STAFF", "L-HOSP")
    roberta = published(tmp_path / "2", "roberta", "B-STAFF", "L-HOSP")
    another_bert = published(tmp_path / "3", "bert", "DOCTOR", "HOSPITAL")
    kinds = {
        f"model:{clinical_bert}": "bert",
        f"modified-model:{clinical_bert}": "modified-bert",
        f"model:{roberta}": "model-own",
        f"model:{another_bert}": "model-own",
        f"model:{SHIPPED}": "model-shipped",
        "model": "model-shipped",
        f"ensemble:{clinical_bert}": "ensemble-own",
    }
    assert {name: own(name, BASE).kind for name in kinds} == kinds
    assert set(kinds.values()) <= set(MODELS)
    assert own("ensemble", DetectorSpec("ensemble")).kind == "ensemble"


def test_a_model_alone_is_asked_by_nobody_else_and_a_detector_keeps_what_the_site_has() -> None:
    alone = own(f"model:{SHIPPED}", BASE).spec
    assert (alone.stages, alone.models, alone.combination) == (("models",), (SHIPPED,), UNITED)
    within = own(f"ensemble:{SHIPPED}", BASE).spec
    assert (within.models, within.combination.judge) == ((SHIPPED,), "vocabulary")
    assert own("rules", BASE).spec.models is None


def test_the_ensemble_without_recovery_keeps_all_else_that_the_site_has() -> None:
    base = replace(BASE, models=(SHIPPED,), keep=Path("allowed.txt"))
    whole, without = own("ensemble", base), own(UNRECOVERED, base)
    assert (without.name, without.kind) == ("ensemble-unrecovered", "ensemble-unrecovered")
    assert without.kind in DETECTORS
    assert "recovery" in whole.spec.stages
    assert [stage for stage in whole.spec.stages if stage != "recovery"] == list(without.spec.stages)
    assert (without.spec.models, without.spec.combination) == (whole.spec.models, whole.spec.combination)
    assert (whole.spec.keep, without.spec.keep) == (Path("allowed.txt"), None)
    assert not is_own(f"{UNRECOVERED}:{SHIPPED}") and not is_own("rules-unrecovered")


def test_the_folder_of_a_model_is_where_the_caller_says(tmp_path: Path) -> None:
    published(tmp_path / "clinical", "bert", "DOCTOR")
    found = own("model:clinical", BASE, lambda name: str(tmp_path / name))
    assert found.spec.models == (str(tmp_path / "clinical"),)
    assert found.name == "model:clinical"


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("45 years old, DOB 3/4/1990", [("45", Label.AGE), ("3/4/1990", Label.DATE)], ["3/4/"]),
        ("Ann Roe, T2P 1J9", [("Ann Roe", Label.PATIENT)], ["Ann Roe", "T2P 1J9"]),
    ],
)
def test_the_variant_of_a_model(text: str, found: list[tuple[str, Label]], expected: list[str]) -> None:
    places = [(text.index(words), text.index(words) + len(words), label) for words, label in found]
    varied = varied_model(text, places)
    assert [text[start:end] for start, end, _ in varied] == expected
    assert {label for *_, label in varied} <= {Label.DATE, Label.PATIENT, Label.ZIP}
