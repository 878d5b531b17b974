"""A site makes a model its own: trained on what people marked, and used only if it is better."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import drawn_notes
import pytest
from command_line import deid
from drawn_notes import answered, drawing_site

from deid_platform.detection.models.folder import ModelFolder
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation import adaptation
from deid_platform.review.annotation.adaptation import own_model
from deid_platform.settings import load_settings
from deid_platform.training import adapting
from deid_platform.training.starting import model_or_encoder

__all__ = ["drawing_site"]


@pytest.fixture
def marked(drawing_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The deid.toml of a site whose notes are marked; it learns beside nothing."""
    monkeypatch.setattr(adapting, "labelled", lambda *_: iter(()))
    adaptation.hand_out(drawing_site, adaptation.draw(drawing_site, 20), tmp_path / "tasks.json", blind=True)
    adaptation.take(drawing_site, [answered(tmp_path / "tasks.json")])
    return tmp_path / "deid.toml"


def test_a_model_that_is_not_better_is_not_put_into_its_folder(marked: Path, encoder_folder: Path) -> None:
    marked.write_text(marked.read_text() + f'[training]\nstart = "{encoder_folder}"\nepochs = 0.5\n')
    done = deid("adapt", "train")
    assert done.returncode == 3, done.stderr
    assert "is not better" in done.stderr
    assert "recall" in done.stdout
    models = marked.parent / "models"
    assert (models / "own.candidate" / "model.json").is_file()
    assert not (models / "own").exists()


@pytest.fixture
def plainly_unintroduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every note names that a model alone finds, so that the notes for the comparison have some."""
    monkeypatch.setattr(drawn_notes, "SEEN", drawn_notes.ODD)


@pytest.mark.usefixtures("plainly_unintroduced")
def test_a_better_one_takes_the_place_of_the_former_and_says_what_it_learned(marked: Path) -> None:
    own = marked.parent / "models" / "own"
    # In use is one that finds nothing.
    shutil.copytree(ModelFolder.shipped("minilm").path, own)
    card = json.loads((own / "model.json").read_text())
    card["thresholds"] = dict.fromkeys(card["labels"][1:], 1.1)
    text = marked.read_text().replace("[detection]\n", '[detection]\nmodels = ["models/own"]\n')
    marked.write_text(text + "[training]\nepochs = 2\n")
    before = ModelFolder(own).digest
    done = own_model.adapt(Site(load_settings(marked)))
    assert done.comparison.better
    assert (done.folder, done.learned + done.thresholds < 20) == (own, True)
    assert ModelFolder(own).digest != before
    said = ModelFolder(own).card
    assert said["data"]["own_gold"] == done.learned + done.thresholds
    assert said["start"] == {"model": ModelFolder.shipped("minilm").digest}
    assert not (marked.parent / "models" / "own.candidate").exists()


def test_layers_that_are_frozen_stay_as_they_are() -> None:
    start = model_or_encoder("minilm")
    start.freeze(3)
    learns = {name for name, value in start.network.named_parameters() if value.requires_grad}
    assert not any("embeddings" in name or "layer.2." in name for name in learns)
    assert any("layer.3." in name for name in learns)
    assert {"classifier.weight", "features.weight"} <= learns
