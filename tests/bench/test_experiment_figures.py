"""Models of experiments beside the papers: what is recorded of them, and of which none is."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from deid_platform.bench.leaderboard import experiments
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.training.experiments import ONE_LOCALE
from deid_platform.warehouse.server.roles import Role

pytestmark = pytest.mark.process
SIZE = experiments.Size(locales=("zh",))
NAME, TEXT = "Brenda Quill", "Is warfarin safe for Brenda Quill, seen on March 3, 2021? Ms. Quill is well."


@pytest.fixture(scope="module")
def site(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """With an invented corpus in place of the reports, and the shipped model in place of those of one locale."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "asq_phi").mkdir()
    with gzip.open(folder / "asq_phi" / "queries.jsonl.gz", "wt") as stream:
        for number in range(40):
            start = TEXT.index(NAME)
            spans = [[start, start + len(NAME), "NAME", NAME]]
            stream.write(json.dumps({"note_id": f"q{number}", "text": TEXT, "spans": spans}) + "\n")
    with installation.open("a") as config:  # its last section is [bench]
        config.write("resamples = 20\n")
    for name in ("en_US", "en_US_kinds"):
        (folder / "models").mkdir(exist_ok=True)
        (folder / "models" / name).symlink_to(ModelFolder.shipped("minilm").path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEID_CORPORA", str(folder))
        patch.setattr(experiments, "REPORTS", "asq_phi")
        yield Site(load_settings(installation))


def rows(site: Site) -> set[tuple[str, str, str, str, str]]:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        found = connection.execute(
            text("SELECT detector, locale, inputs, family, subject FROM quality.lab_scores WHERE gold = 'asq_phi'")
        )
        return {tuple(row) for row in found}  # type: ignore[misc]  # five columns


def models() -> Path:
    return Path(os.environ["DEID_CORPORA"]) / "models"


def test_a_model_of_one_locale_stands_in_the_leaderboard_by_each_locale(site: Site) -> None:
    found = experiments.record(site, ONE_LOCALE, models(), size=SIZE)
    assert [(it.name, it.key.locale) for it in found] == [
        ("trained-en_US@minilm", "en_US"),
        ("trained-en_US@minilm", "zh"),
        ("trained-en_US-kinds@minilm", "en_US"),
    ]
    recorded = rows(site)
    for locale in ("en_US", "zh"):
        assert ("trained-en_US@minilm", locale, "text", "tokens", "ALL") in recorded
        assert {"names sex F", "names sex M"} & {it[4] for it in recorded if it[1] == locale}
    assert ("trained-en_US@minilm", "zh", "text", "names", "names rare") not in recorded
    assert {it[2] for it in recorded} == {"text"}
    # What was measured is not measured again.
    assert not any(it.anew for it in experiments.record(site, ONE_LOCALE, models(), size=SIZE))


def test_models_that_were_trained_on_one_locale_are_told_by_the_folder_of_their_start(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = ModelFolder.shipped("minilm").path
    for start in ("", "Llama-3.2-1B", "roberta-base"):
        (folder := tmp_path / start / "one_locale").mkdir(parents=True)
        (folder / "en_US").symlink_to(shipped)
    monkeypatch.setattr(experiments, "_folder", lambda _: tmp_path)
    words = {it.word for it in experiments.trained_on_one_locale(site)}
    assert words == {"trained-en_US@minilm", "trained-en_US@llama-1b"}


def test_of_an_architecture_that_no_paper_has_nothing_is_recorded(site: Site) -> None:
    assert experiments.record(site, ONE_LOCALE, models(), size=SIZE, start="/weights/roberta-base") == []
