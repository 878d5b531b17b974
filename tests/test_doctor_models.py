"""What the doctor says of models, peers and language models: which are there, and what is missing of each."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import deid

from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.registry import SHIPPED
from deid_platform.doctor import models
from deid_platform.doctor.diagnosis import Diagnosis
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

PLAN = """
says: A trial.
detectors: ["model:own/good", "ensemble:own/wards", "model:own/none+pydeid", "model:own/torch"]
corpora: {mtsamples: {locales: [en_US]}}
"""
CONFIG = """
site = "north"
[bench]
plan = "plan.yaml"
[peers]
pydeid = "starts"
"gliner2:pii:weights" = "lacks"
philter = "nowhere/python"
"""
SAYS = "#!{python}\nimport json\nprint(json.dumps({said!r}), flush=True)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deid.toml").write_text(CONFIG)
    (tmp_path / "plan.yaml").write_text(PLAN)
    said = {"starts": {"ready": True, "version": "pyDeid 1.0.1"}, "lacks": {"missing": "weights"}}
    for name, answer in said.items():
        (tmp_path / name).write_text(SAYS.format(python=sys.executable, said=answer))
        (tmp_path / name).chmod(0o700)
    shutil.copytree(ModelFolder.shipped(SHIPPED).path, tmp_path / "own" / "good")
    for name, tag in (("wards", "B-WARD"), ("torch", "B-HOSP")):
        (own := tmp_path / "own" / name).mkdir()
        (own / "config.json").write_text(f'{{"id2label": {{"0": "O", "1": "{tag}"}}}}')
    for file in ("model.safetensors", "tokenizer.json"):
        (tmp_path / "own" / "torch" / file).touch()
    return tmp_path


def told(folder: Path) -> dict[str, Diagnosis]:
    return {it.subject: it for it in models.of_models(Site(load_settings(folder / "deid.toml")))}


@pytest.mark.process
def test_each_is_named_with_what_is_missing(folder: Path) -> None:
    found = told(folder)
    expected = {
        "model minilm": (True, "28 labels, classes of i2b2-2014, runs with onnxruntime"),
        "plan: model:own/good": (True, "28 labels"),
        "plan: ensemble:own/wards": (False, "model-unusable [config.json: B-WARD is a tag of no label scheme]"),
        "plan: model:own/none": (False, "detector-unknown"),
        "peer pydeid": (True, "pyDeid 1.0.1"),
        "peer gliner2:pii:weights": (False, "peer-missing [gliner2: weights]"),
        "peer philter": (False, "peer-missing [philter: no interpreter]"),
        "peers": (True, "presidio needs an interpreter with presidio-analyzer; deidentify needs an interpreter with"),
        "language model": (True, "none by [llm], none by [vllm]"),
    }
    assert {
        subject: (found[subject].good, said in found[subject].detail) for subject, (_, said) in expected.items()
    } == {subject: (good, True) for subject, (good, _) in expected.items()}
    assert (found["plan: model:own/torch"].good, "extra-missing" in found["plan: model:own/torch"].detail) == (
        (True, False) if find_spec("torch") else (False, True)
    )


def test_every_peer_is_named_with_what_it_needs() -> None:
    assert models.NEEDS.keys() == CLAIMS.keys()


def test_a_language_model_lacks_its_weights_and_the_extra_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deid.toml").write_text('site = "north"\n[vllm]\nmodel = "nowhere"\n')
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    said = told(tmp_path)["language model"]
    assert not said.good
    assert "the extra llm is not installed" in said.detail
    assert "model-unusable [config.json]" in said.detail


@pytest.mark.process
def test_the_command_ends_with_1_where_a_peer_does_not_start(folder: Path) -> None:
    done = deid("doctor", "--config", str(folder / "deid.toml"))
    assert done.returncode == 1
    assert "peer philter" in done.stderr


def test_what_is_not_set_up_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "deid.toml").write_text('site = "north"\n[llm]\nurl = "http://127.0.0.1:1/v1"\nmodel = "toy"\n')
    found = told(tmp_path)
    assert all(it.good for it in found.values())
    assert "toy by [llm], none by [vllm]" in found["language model"].detail
    assert "privacy-filter" in found["peers"].detail
