"""A model of the site's own: trained on nothing that its detector is measured on."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import dagster as dg
import pytest

from assets.models import trained
from deid_platform.bench.gate import measured_notes
from deid_platform.bench.leaderboard.training import measured_on
from deid_platform.errors import Code, DeidError
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import TrainingSettings
from deid_platform.training.plan import Plan, carried_out, text_digest
from deid_platform.training.presets import PRESETS
from resources import SiteResource, gpu_resource


def gold_file(path: Path, *texts: str) -> Path:
    lines = [{"note_id": str(at), "text": text, "spans": [[0, 3, "PATIENT"]]} for at, text in enumerate(texts)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def measured(site: Site) -> frozenset[str]:
    assert measured_on(site) == frozenset()
    measured_notes.build_test_set(site)
    assert measured_notes.collect_gold(site).notes > 0
    return measured_on(site)


@pytest.mark.warehouse
def test_notes_that_are_measured_on_are_not_trained_on(site: Site, measured: frozenset[str], tmp_path: Path) -> None:
    (shown, *_) = (row["text"] for row in site.store.stream("bench/gold_notes", "all"))
    assert text_digest(shown) in measured
    gold = gold_file(tmp_path / "gold.jsonl", "Ann was seen.", shown)
    with pytest.raises(DeidError) as raised:
        carried_out(Plan(tmp_path / "model", gold=(gold,)), None, measured=measured)
    assert (raised.value.code, raised.value.ref) == (Code.TRAINING_ON_TEST, "1 of 2 notes")
    assert not (tmp_path / "model").exists()


@pytest.mark.warehouse
@pytest.mark.skipif(find_spec("torch") is not None, reason="tests/ml trains with torch")
def test_the_asset_asks_for_the_extra(installation: Path) -> None:
    resources = {"site": SiteResource(config=str(installation)), "gpu": gpu_resource()}
    done = dg.materialize([trained], resources=resources, raise_on_error=False)
    (failed,) = [event for event in done.all_events if event.is_step_failure]
    assert "extra-missing [ml]" in str(failed.step_failure_data.user_failure_data)


def test_the_section_and_the_command_train_the_same_by_default() -> None:
    asked, plan = TrainingSettings(), Plan(Path("models/own"))
    assert asked.model_dump() == {**asdict(plan), "corpora": ()}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_section_knows_every_preset(preset: str) -> None:
    assert TrainingSettings(preset=preset).preset == preset
