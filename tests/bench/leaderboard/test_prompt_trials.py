"""Trials of prompts: on notes that no test has, failed ones counted both ways, every version beside the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from chat_endpoint import Endpoint, Reply, serving
from command_line import deid
from toy_engine import engine, weights

from assets.prompt_trials import prompt_trials
from deid_platform.bench.leaderboard import corpora
from deid_platform.bench.leaderboard.corpora import CorpusKey, notes_for_tuning, notes_of_test
from deid_platform.bench.leaderboard.prompt_trials import trials, tried
from deid_platform.corpora.catalogue import Corpus
from deid_platform.corpora.injection.carriers import Carrier
from deid_platform.corpora.injection.corpus import Part, part_of
from deid_platform.errors import Code, DeidError
from deid_platform.llm.prompts import DEIDENTIFY, prompt_names, prompt_of
from deid_platform.notes import Note
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import Settings, VllmSettings, load_settings
from resources import SiteResource, gpu_resource

CASE = "A {n}-year-old came with a cough of {n} days. The chest was clear. Warfarin was given. The cough went away."
OWN = """
name: short
version: {version}
language: en
task: extract
messages:
  - role: user
    content: "{words} {{{{note}}}}"
"""


def answers(body: dict[str, Any], count: int) -> Reply:
    """Lists every word that begins with a capital; of one note in four nothing that could be read."""
    note = body["messages"][-1]["content"].rpartition("note:")[2]
    if hashlib.sha256(note.encode()).digest()[0] % 4 == 0:
        return Reply("I would rather not.")
    words = {word.strip(".,;:()") for word in note.split() if word[:1].isupper()}
    return Reply(json.dumps([{"text": word, "label": "PATIENT"} for word in sorted(words) if word]))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serving(answers) as running:
        yield running


@pytest.fixture(scope="module")
def config(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("trials")
    path = folder / "deid.toml"
    llm = f'[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\n'
    path.write_text(f'site = "north"\nhome = "home"\n{llm}[bench]\ntrial_notes = 12\n')
    published = corpora.carriers

    def carriers(corpus: Corpus, settings: Settings | None, part: Part, **given: Any) -> Iterator[Carrier]:
        if corpus.name != "e3c_en":
            return published(corpus, settings, part, **given)
        notes = (Note(f"c{number}", CASE.format(n=number + 20)) for number in range(60))
        return (Carrier(note, ()) for note in notes if part_of(note.note_id) is part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "carriers", carriers)
        for name in ("DEID_SECRET_FILE", "DAGSTER_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("DEID_SECRET", hashlib.sha256(b"trials").hexdigest())
        patch.setenv("DEID_CONFIG", str(path))
        patch.setenv("DEID_CORPORA", str(folder))
        yield path


@pytest.fixture(scope="module")
def site(config: Path) -> Site:
    return Site(load_settings(config))


def test_no_test_has_the_notes_for_tuning_nor_their_ways(site: Site) -> None:
    key = CorpusKey("e3c_en", "en_US")
    tuning = notes_for_tuning(site.settings, key, most=100)
    test, _ = notes_of_test(site.settings, key, most=None)
    assert tuning and test
    carriers = [{one.note.note_id for one in made} for made in (tuning, test)]
    assert not carriers[0] & carriers[1]
    ways = [{way.partition("/")[0] for one in made for way in one.ways if way} for made in (tuning, test)]
    assert ways == [{"coast"}, {"summit"}]


def test_every_version_stands_beside_the_others_and_is_asked_once(
    site: Site, endpoint: Endpoint, tmp_path: Path
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(OWN.format(version=1, words="List names. The note:"))
    first = tried(site, prompt_of(str(own), *DEIDENTIFY))
    assert (first.prompt, first.version, first.model, first.notes) == ("short", 1, "toy", 12)
    assert 0 < first.failed < 12
    assert first.recall and first.recall_answered and first.recall < first.recall_answered
    assert first.precision == first.precision_answered  # on a failed note nothing is hidden
    asked = len(endpoint.received)
    assert tried(site, prompt_of(str(own), *DEIDENTIFY)).f1 == first.f1
    # What failed by its form was answered all the same, and is not asked again.
    assert len(endpoint.received) == asked
    assert [it.prompt for it in trials(site)] == ["short"]
    own.write_text(OWN.format(version=2, words="List all names. The note:"))
    tried(site, prompt_of(str(own), *DEIDENTIFY))
    assert [(it.prompt, it.version) for it in trials(site)] == [("short", 1), ("short", 2)]


def test_a_trial_is_of_a_model_of_this_process_too(site: Site, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(OWN.format(version=1, words="In this process. The note:"))
    told = {"llm": None, "vllm": VllmSettings(model=weights(tmp_path / "toy-weights"))}
    served = Site(site.settings.model_copy(update=told))
    with engine(lambda request: "[]") as running:
        trial = tried(served, prompt_of(str(own), *DEIDENTIFY), 3)
        tried(served, prompt_of(str(own), *DEIDENTIFY), 3)
        assert running.loaded == 1
    assert (trial.model, trial.notes, trial.failed, trial.recall) == ("toy-weights", 3, 0, 0)


def test_the_asset_and_the_command_show_the_same(site: Site, config: Path) -> None:
    assert prompt_trials.partitions_def is not None
    assert prompt_trials.partitions_def.get_partition_keys() == list(prompt_names())
    with dg.DagsterInstance.ephemeral() as instance:
        resources = {"site": SiteResource(config=str(config)), "gpu": gpu_resource()}
        done = dg.materialize([prompt_trials], partition_key="extract-zero", resources=resources, instance=instance)
        (event,) = done.get_asset_materialization_events()
    metadata = {name: it.value for name, it in event.step_materialization_data.materialization.metadata.items()}
    (trial,) = (it for it in trials(site) if it.prompt == "extract-zero")
    assert metadata["recall"] == pytest.approx(trial.recall, abs=1e-4)
    assert metadata["notes_failed"] == trial.failed
    assert "| extract-zero | 1 | en | toy | 12 |" in str(metadata["trials"])
    assert "data:image/png;base64," in str(metadata["picture"])
    assert not any(word in str(metadata) for word in ("Warfarin", "cough"))

    shown = deid("prompts", "--json")
    assert shown.returncode == 0, shown.stderr
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    (row,) = (row for row in rows if row["prompt"] == "extract-zero")
    assert (row["recall"], row["recall_without_failed"]) == (trial.recall, trial.recall_answered)
    fewer = deid("prompts", "extract-zero", "--notes", "5", "--json")
    assert "extract-zero, version 1: " in fewer.stderr and "of 5 notes failed" in fewer.stderr
    assert len(fewer.stdout.splitlines()) == len(rows) + 1


def test_what_is_no_prompt_is_refused(site: Site, tmp_path: Path) -> None:
    for name, code in (("extract-zer0", Code.PROMPT_UNKNOWN), (str(tmp_path / "none"), Code.PROMPT_UNKNOWN)):
        with pytest.raises(DeidError) as error:
            prompt_of(name, *DEIDENTIFY)
        assert error.value.code is code
    (tmp_path / "own.yaml").write_text(OWN.format(version=1, words="x").replace("short", "Zebulon Quill"))
    with pytest.raises(DeidError) as error:
        prompt_of(str(tmp_path / "own.yaml"), *DEIDENTIFY)
    assert error.value.code is Code.PROMPT_INVALID
    assert "Zebulon" not in str(error.value)
    with pytest.raises(DeidError) as error:
        tried(site, prompt_of("extract-zero-it", *DEIDENTIFY))  # no Italian case is here
    assert error.value.code is Code.CORPUS_MISSING
