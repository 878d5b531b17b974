"""Training: the loop, its checkpoint, and one run from notes to a model's folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from deid_platform.bench.leaderboard import experiments
from deid_platform.bench.leaderboard.training import train_own
from deid_platform.cli import app
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.bert import Network
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.tokens import Reader
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.training_figures import losses_figure
from deid_platform.settings import Settings
from deid_platform.training.examples import Example, examples
from deid_platform.training.experiments import Arm
from deid_platform.training.fine_tuning import Progress, fine_tune, fine_tune_mean, seeded
from deid_platform.training.mixture import Mixture, labelled
from deid_platform.training.presets import Preset
from deid_platform.training.starting import Start, from_encoder, student
from resources import Gpu

PRESET = Preset(epochs=1.0, rate=1e-3, tokens=1024)


@pytest.fixture(scope="module")
def windows(encoder_folder: Path) -> list[Example]:
    notes = labelled(Mixture(corpora=(), hospital=30), None)
    return list(examples(notes, Reader(encoder_folder / "tokenizer.json")))


def trained(
    folder: Path, encoder_folder: Path, windows: Sequence[Example], preset: Preset = PRESET, keep_every: int = 5
) -> tuple[Network, list[Progress]]:
    seeded(1)
    network = from_encoder(encoder_folder)
    told: list[Progress] = []
    fine_tune(network, windows, preset, folder, told=told.append, every=4, keep_every=keep_every)
    return network, told


def test_the_loss_falls_and_the_progress_is_told(encoder_folder, windows, tmp_path):
    _, told = trained(tmp_path, encoder_folder, windows)
    assert told[-1].step == told[-1].steps > 20
    assert told[-1].loss < 0.6 * told[0].loss


class StoppedError(Exception):
    """The power is gone."""


def test_a_training_that_stopped_goes_on_and_ends_as_if_it_had_not(encoder_folder, windows, tmp_path):
    whole, _ = trained(tmp_path / "whole", encoder_folder, windows)

    def stop(progress: Progress) -> None:
        if progress.step >= 12:
            raise StoppedError

    seeded(1)
    network = from_encoder(encoder_folder)
    with pytest.raises(StoppedError):
        fine_tune(network, windows, PRESET, tmp_path / "part", told=stop, every=4, keep_every=5)
    again, told = trained(tmp_path / "part", encoder_folder, windows)
    assert told[0].step == 12
    for name, value in whole.state_dict().items():
        assert torch.allclose(value, again.state_dict()[name], atol=1e-6), name


def test_weights_are_the_mean_of_the_trained_and_of_those_before(encoder_folder, windows, tmp_path):
    seeded(1)
    before = from_encoder(encoder_folder).state_dict()
    preset = replace(PRESET, former=0.2)
    alone = trained(tmp_path / "alone", encoder_folder, windows, preset)[0].state_dict()
    seeded(1)
    network = from_encoder(encoder_folder)
    fine_tune_mean(network, windows, preset, tmp_path / "mean")
    for name, value in network.state_dict().items():
        assert torch.allclose(value, 0.2 * before[name] + 0.8 * alone[name], atol=1e-5), name
    assert any((value != alone[name]).any() for name, value in network.state_dict().items())


def test_a_student_keeps_layers_of_its_teacher_and_learns_what_it_answers(encoder_folder, windows, tmp_path):
    seeded(1)
    taught = student(Start(from_encoder(encoder_folder), encoder_folder / "tokenizer.json", {}), [1])
    teacher, network = taught.teacher, taught.network
    assert teacher is not None
    assert network.state_dict().keys() < teacher.state_dict().keys()
    assert (network.size.num_hidden_layers, taught.said["size"]["num_hidden_layers"]) == (1, 1)
    assert torch.equal(
        network.encoder.encoder["layer"][0].output.dense.weight, teacher.encoder.encoder["layer"][1].output.dense.weight
    )
    unlabelled = [replace(window, labels=window.labels * 0) for window in windows]  # the teacher alone can tell
    with torch.no_grad():
        teacher.classifier.bias[3] += 20
    before = {name: value.clone() for name, value in teacher.state_dict().items()}
    fine_tune_mean(network, unlabelled, PRESET, tmp_path, teacher=teacher)
    ids, features = (torch.from_numpy(part)[None].long() for part in (windows[0].ids, windows[0].features))
    with torch.no_grad():
        assert 0.2 < network(ids, features)[0, 1].softmax(-1)[3] < 0.8  # half of each
    assert all(torch.equal(value, before[name]) for name, value in teacher.state_dict().items())


def test_a_layer_that_the_teacher_has_not_is_refused(encoder_folder):
    with pytest.raises(DeidError) as raised:
        student(Start(from_encoder(encoder_folder), encoder_folder / "tokenizer.json", {}), [0, 2])
    assert raised.value.code is Code.MODEL_UNUSABLE


def test_the_checkpoint_of_another_training_is_refused(encoder_folder, windows, tmp_path):
    trained(tmp_path, encoder_folder, windows)
    with pytest.raises(DeidError) as raised:
        trained(tmp_path, encoder_folder, windows, replace(PRESET, rate=1e-4))
    assert raised.value.code is Code.INPUT_INVALID


@pytest.mark.parametrize("part", ["ids", "features", "labels"])
def test_so_is_that_of_other_gold_of_the_same_shape(encoder_folder, windows, tmp_path, part):
    trained(tmp_path, encoder_folder, windows)
    changed = getattr(windows[0], part).copy()
    changed[1] += 1
    with pytest.raises(DeidError) as raised:
        trained(tmp_path, encoder_folder, [replace(windows[0], **{part: changed}), *windows[1:]])
    assert raised.value.code is Code.INPUT_INVALID


@pytest.fixture(scope="module")
def gold(tmp_path_factory) -> Path:
    """Notes of a site's own."""
    text = "Seen by Ndoye on 3/14/2019.\nNdoye will call again."
    spans = [[8, 13, "DOCTOR"], [17, 26, "DATE"], [28, 33, "DOCTOR"]]
    lines = [json.dumps({"note_id": f"n{n}", "patient_id": f"p{n}", "text": text, "spans": spans}) for n in range(300)]
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_a_site_trains_on_its_own_gold_and_uses_what_comes_of_it(encoder_folder, gold, tmp_path):
    told = ["train", str(tmp_path / "own"), "--gold", str(gold), "--start", str(encoder_folder)]
    done = CliRunner().invoke(app, [*told, "--epochs", "0.2"])
    assert done.exit_code == 0, done.output
    card = json.loads((tmp_path / "own" / "model.json").read_text())
    assert card["data"]["own_gold"] == 300
    assert len((tmp_path / "own" / "losses.jsonl").read_text().splitlines()) >= 1
    assert b".py" not in (tmp_path / "own" / "model.onnx").read_bytes()  # where torch's exporter was, with folders
    detector = DetectorSpec("ensemble", models=(str(tmp_path / "own"),)).build()
    (found,) = detector.detect([Note("1", "Dr. Quarmby")])
    assert found


def test_what_an_installation_trains_is_named_and_shown(encoder_folder, gold, tmp_path):
    asked = {"folder": "own", "gold": [gold], "start": str(encoder_folder), "epochs": 0.2}
    gpu = Gpu()
    settings = Settings(site="north", home="home", training=asked, root=tmp_path)
    made = train_own(Site(settings, models=gpu), gpu.encoder)
    learned = json.loads((tmp_path / "own" / "losses.jsonl").read_text().splitlines()[-1])["seconds"]
    ran = gpu.seconds.ran
    assert (ran.gpu if torch.cuda.is_available() else ran.processor) > learned > 0
    assert made.digest == ModelFolder(tmp_path / "own").digest
    assert [step for step, _ in made.losses][-1] == made.losses[-1][0] > 0
    assert losses_figure(made.losses).startswith(b"\x89PNG")
    assert 0 <= made.card["kept_back"]["recall"] <= 1


def test_an_experiment_trains_measures_and_goes_on(
    encoder_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hospital = Mixture(corpora=(), plain=0)
    small = tuple(Arm(f"{size}_notes", hospital, size, ("hospital",)) for size in (24, 48))
    monkeypatch.setattr(experiments, "arms", lambda *_, **__: small)
    told: list[str] = []

    def run() -> list[experiments.Result]:
        size = experiments.Size(epochs=1, test_notes=1)
        return list(
            experiments.results(
                "learning_curve", tmp_path, None, size=size, start=str(encoder_folder), told=told.append
            )
        )

    first = run()
    assert [(it.arm, it.trained_on, it.test) for it in first] == [
        ("24_notes", 24, "hospital"),
        ("48_notes", 48, "hospital"),
    ]
    cards = [json.loads((tmp_path / it.arm / "model.json").read_text()) for it in first]
    # From a start of one's own: as the paper trains that architecture, on all of the notes.
    assert [(it["preset"]["epochs"], it["preset"]["length"], it["thresholds"]) for it in cards] == [
        (10, 64, "argmax")
    ] * 2
    assert all(it.scores.notes >= 11 for it in first)
    losses = [(tmp_path / it.arm / "losses.jsonl").read_text() for it in first]
    assert [it.scores for it in run()] == [it.scores for it in first]
    assert [(tmp_path / it.arm / "losses.jsonl").read_text() for it in first] == losses
    assert told[:2] == ["model 24_notes", "24_notes on hospital"]
