"""One training from notes to a model's folder.

Belongs here: the order of the steps, and what the card says of them. Does not belong here: any of the steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from deid_platform.detection.models.decoding import ARGMAX
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.loading import Models
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.detection.models.tokens import Reader
from deid_platform.detection.models.windows import LENGTH
from deid_platform.errors import Code, DeidError
from deid_platform.training.calibration import calibrated
from deid_platform.training.examples import examples, labels_of
from deid_platform.training.export import write_card
from deid_platform.training.fine_tuning import Progress, device_of, fine_tune_mean
from deid_platform.training.labelled import Labelled
from deid_platform.training.presets import Preset
from deid_platform.training.starting import Start

LOSSES = "losses.jsonl"


@dataclass(frozen=True)
class Trained:
    """A finished training.

    Attributes:
        model: The folder.
        notes: Notes that it was trained on.
        windows: Windows of them.
        kept_back: Notes for the thresholds; none where all of a site's gold is learned from.
        recall: Share of the words of their identifiers that the model finds; None without such notes.
        precision: Share of the words that it finds that are of identifiers; likewise.
    """

    model: ModelFolder
    notes: int
    windows: int
    kept_back: int
    recall: float | None
    precision: float | None

    @property
    def losses(self) -> Path:
        """One line of JSON for each part of the training: step, steps, loss, seconds."""
        return self.model.path / LOSSES


def train(
    notes: Iterable[Labelled],
    tuning: Iterable[Labelled],
    start: Start,
    preset: Preset,
    folder: Path,
    *,
    about: dict[str, object],
    at_most: ModelFolder | None = None,
    models: Models | None = None,
    told: Callable[[Progress], object] = lambda _: None,
) -> Trained:
    """Trains, exports and calibrates a model; goes on where a training of the same notes stopped.

    Args:
        notes: What to learn from.
        tuning: For the thresholds: other notes, best of other authors; may be none where the preset has no thresholds.
        start: The network.
        preset: How to train.
        folder: Becomes the model's; holds the checkpoint and the losses too.
        about: What else the card says: the data and where they are from.
        at_most: A model whose thresholds are not surpassed; None for any.
        models: Load what was trained, and count the seconds in which it learns and reads; some of their own unless
            given.
        told: Of the progress.

    Raises:
        DeidError: `input-empty` if there are no notes; `input-invalid` if the folder holds the checkpoint of another
            training.
    """
    learned, kept_back, models = list(notes), list(tuning), models or Models()
    reader = Reader(start.vocabulary)
    length = preset.length - reader.marks if preset.length else LENGTH
    windows = list(examples(learned, reader, length=length, binary=preset.binary))
    if not windows or not (kept_back or preset.argmax):
        raise DeidError(Code.INPUT_EMPTY, "training")
    folder.mkdir(parents=True, exist_ok=True)

    def keep(progress: Progress) -> None:
        with (folder / LOSSES).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(progress)) + "\n")
        told(progress)

    if preset.frozen is not None:
        start.freeze(preset.frozen)
    with models.seconds.running(int(device_of(start.network).type == "cuda")):
        fine_tune_mean(start.network, windows, preset, folder, teacher=start.teacher, told=keep)
    start.save(folder)
    said = {
        **start.said,
        "length": length,
        "preset": asdict(preset),
        "notes": len(learned),
        "windows": len(windows),
        **about,
    }
    said["versions"] = {name: version(name) for name in ("torch", "onnxruntime", "tokenizers")}
    thresholds: dict[str, float] | str = ARGMAX
    if not preset.argmax:
        write_card(folder, {}, said)
        former = at_most.card["thresholds"] if at_most else {}
        chosen = calibrated(models.token_classifier(ModelFolder(folder)), kept_back)
        thresholds = {label: min(least, former.get(label, least)) for label, least in chosen.items()}
    write_card(folder, thresholds, said)
    recall, precision = None, None
    if kept_back:
        recall, precision = _scores(models.token_classifier(ModelFolder(folder)), kept_back)
    said["kept_back"] = {"notes": len(kept_back), "recall": recall, "precision": precision}
    write_card(folder, thresholds, said)
    return Trained(ModelFolder(folder), len(learned), len(windows), len(kept_back), recall, precision)


def _scores(model: TokenClassifier, notes: Iterable[Labelled]) -> tuple[float, float]:
    """Recall and precision by the model's words, without signs, to four places."""
    right = missed = wrong = 0
    for note in notes:
        tokens, probabilities = model.probabilities(note.text)
        gold = labels_of(tokens, note.spans) > 0
        found = model.thresholds.taken(probabilities) >= 0
        word = tokens.is_word
        right += int(np.count_nonzero(found & gold & word))
        missed += int(np.count_nonzero(~found & gold & word))
        wrong += int(np.count_nonzero(found & ~gold & word))
    return round(right / max(1, right + missed), 4), round(right / max(1, right + wrong), 4)
