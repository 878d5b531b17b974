"""The model by which languages are told, as one process leaves it unpacked for the next."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deid_platform.languages import model

LANGUAGES = ("en", "it", "de")
TEXTS = ("Seen in the clinic today.", "Ricoverata ieri per dolore toracico.", "Aufnahme wegen Fieber.")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(model, "_place", lambda _: tmp_path / "cache" / "languages.arrays")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "cache" / "languages.arrays"


def test_what_is_kept_scores_as_what_was_unpacked_and_is_not_unpacked_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = model.language_model(LANGUAGES)
    monkeypatch.setattr(model, "_unpacked", None)
    kept = model.language_model(LANGUAGES)
    assert kept.nb_classes == unpacked.nb_classes
    assert [kept.classify(text)[0] for text in TEXTS] == ["en", "it", "de"]
    assert [kept.rank(text) for text in TEXTS] == [unpacked.rank(text) for text in TEXTS]
    assert [file.name for file in place.parent.iterdir()] == [place.name]


def test_files_that_are_torn_are_not_read(place: Path) -> None:
    model.language_model(LANGUAGES)
    weights = place / "weights.npy"
    weights.write_bytes(weights.read_bytes()[:-9])
    assert model._kept(place) is None
    assert model.language_model(LANGUAGES).classify(TEXTS[1])[0] == "it"


@pytest.mark.parametrize("reason", ["no folder", "unwanted"])
def test_where_nothing_can_be_written_the_model_is_unpacked(
    place: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "unwanted":
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    else:
        place.parent.write_text("no folder")
    assert model.language_model(LANGUAGES).classify(TEXTS[2])[0] == "de"
    assert not place.exists()


def test_other_languages_are_kept_elsewhere() -> None:
    assert model._place(LANGUAGES) == model._place(reversed(LANGUAGES))
    assert model._place(LANGUAGES) != model._place(LANGUAGES[:2])
