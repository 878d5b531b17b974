"""A model of a paper beside the papers, end to end: `benchmarks/real_models.py` with a model that answers by rule."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Reply, serving
from sqlalchemy import text

from deid_platform.bench.leaderboard.plan import BenchPlan, CorpusPlan
from deid_platform.corpora.gold_words import words_of_own
from deid_platform.llm.known_models import KNOWN, KNOWN_STARTS
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.migrate import migrate
from deid_platform.warehouse.server.roles import Role

pytestmark = [pytest.mark.process, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
NAME = "Brenda Quill"
NOTE = f"Seen today: {NAME}, who has pneumonia."
MODEL = "Llama-3.3-70B-Instruct"


@pytest.fixture(scope="module")
def config(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installation with an invented corpus in place of the reports and of the Italian cases."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "asq_phi").mkdir()
    with gzip.open(folder / "asq_phi" / "queries.jsonl.gz", "wt") as stream:
        for number in range(40):
            spans = [[NOTE.index(NAME), NOTE.index(NAME) + len(NAME), "NAME", NAME]]
            stream.write(json.dumps({"note_id": f"n{number}", "text": NOTE, "spans": spans}) + "\n")
    case = {"text": f"Paziente: {NAME}, polmonite.", "entities": [{"text": NAME, "type": "NOME"}]}
    cases = (json.dumps({"note_id": f"c{number}", **case}) + "\n" for number in range(40))
    (folder / "cases.jsonl").write_text("".join(cases))
    with installation.open("a") as stream:  # its last section is [bench]
        stream.write("resamples = 20\n")
        stream.write(f'[corpora.sets.cases]\npath = "{folder}/cases.jsonl"\nformat = "entities"\n')
    site = Site(load_settings(installation))
    migrate(site.warehouse.admin_engine(), golds=words_of_own(site.settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        patch.setenv("DEID_CORPORA", str(folder))
        yield installation


def script(body: dict[str, Any], count: int) -> Reply:
    """Hides whoever was seen, with other words around; as a judge it finds a drug changed, and every name removed."""
    asked, form = body["messages"][-1]["content"], str(body.get("response_format", ""))
    if "wrongly_hidden" in form:
        number = int(re.search(r"minItems\W+(\d+)", form)[1])  # type: ignore[index]  # every form says it
        return Reply(json.dumps({"entities": ["hidden"] * number, "wrongly_hidden": []}))
    if '"original"' in asked:
        return Reply("Yes")
    seen = re.search(r"Seen today: (.+?), who has", asked)
    if seen is None:
        return Reply("I would rather not.")
    if form:
        return Reply(json.dumps([{"text": seen[1], "label": "PATIENT"}]))
    return Reply("Seen: [PATIENT], with pneumonia.")


def test_a_model_of_a_paper_fills_its_rows(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import real_models

    for name, value in (
        *(("ENGLISH", "asq_phi"), ("ITALIAN", "asq_phi"), ("JUDGED", (("asq_phi", "en_CA"),)), ("PEERS", ())),
        ("PROMPTS", ("chat:rewrite-patient-one", "chat:extract-zero")),
    ):
        monkeypatch.setattr(real_models, name, value)
    one = {"asq_phi": CorpusPlan(locales=("en_CA", "it_IT"))}
    plan = BenchPlan(says="A trial.", detectors=real_models.PROMPTS, notes=12, corpora=one)
    monkeypatch.setattr(real_models, "plan", lambda *_: plan)
    # Labelled pairs have tests of their own, and are many.
    monkeypatch.setattr(real_models.lab_judges, "measure_pairs", lambda *_: None)
    monkeypatch.setattr(real_models.lab_judges, "record", lambda *_: 0)
    told: list[str] = []
    with serving(script) as endpoint:
        real_models.measured(
            Path(f"/weights/{MODEL}"), config, notes=12, url=endpoint.url, train=False, told=told.append
        )
    assert "chat:rewrite-patient-one on asq_phi.en_CA: measured" in told
    site = Site(load_settings(config))
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = connection.execute(text("SELECT * FROM quality.lab_scores WHERE gold = 'asq_phi'")).mappings().all()
    panel = [row for row in rows if row["family"] == "panel"]
    assert {(row["locale"], row["subject"], row["value"]) for row in panel} == {("it_IT", "category NAME", 1.0)}
    rows = [row for row in rows if row["locale"] == "en_CA"]
    of = {(row["detector"], row["family"], row["subject"], row["measure"]): row for row in rows}
    rewriting, extracting = "chat-rewrite-patient-one@llama-3.3-70b", "chat-extract-zero@llama-3.3-70b"
    assert {row["detector"] for row in rows} == {rewriting, extracting}
    # Of a rewriting its own text is measured, in which words around the name are others.
    assert of[rewriting, "occurrences", "category NAME", "f1"]["value"] == 1.0
    judged = "judged by llama-3.3-70b"
    assert of[rewriting, "retention", judged, "cire"]["value"] == 0.0
    assert of[extracting, "retention", judged, "cire"]["judge"] == of[rewriting, "retention", judged, "cire"]["judge"]
    assert (rewriting, "tokens", "ALL", "recall_patient_only") in of
    # What a prompt asks for is the prompt's, whichever model is asked.
    assert (rewriting, "words", "claimed by chat-rewrite-patient-one", "labels_claimed") in of


def test_a_sites_own_gold_with_the_labels_of_miranda_is_read_and_judged(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import real_models

    for name, value in (("PEERS", ()), ("JUDGED", ()), ("PROMPTS", ("chat:rewrite-zero-it",))):
        monkeypatch.setattr(real_models, name, value)
    monkeypatch.setattr(real_models.lab_judges, "measure_pairs", lambda *_: None)
    monkeypatch.setattr(real_models.lab_judges, "record", lambda *_: 0)

    def italian(body: dict[str, Any], count: int) -> Reply:
        reply = script(body, count)
        return Reply("Paziente: [NOME], polmonite.") if reply.text == "I would rather not." else reply

    told: list[str] = []
    with serving(italian) as endpoint:
        weights = Path("/weights/gemma-3-4b-it")
        real_models.measured(
            weights, config, notes=12, url=endpoint.url, train=False, gold=("cases",), told=told.append
        )
    assert "chat:rewrite-zero-it on cases.as-written: measured" in told
    with Site(load_settings(config)).warehouse.begin(Role.DEMO_ANALYST) as connection:
        statement = text(
            "SELECT detector, family, value FROM quality.lab_scores"
            " WHERE gold = 'own-cases-as-written' AND subject = 'category NAME' AND measure = 'f1'"
        )
        rows = {tuple(row) for row in connection.execute(statement)}
    word = "chat-rewrite-zero-it@gemma-3-4b"
    assert rows == {(word, "occurrences", 1.0), (word, "panel", 1.0)}


def test_a_model_that_no_paper_has_is_measured_under_no_papers_name(config: Path) -> None:
    import real_models

    settings = real_models.served(load_settings(config), Path("/weights/SmolLM2-135M"), "http://127.0.0.1:1/v1")
    with real_models.Detectors(Site(settings), ("chat:rewrite-one",)) as detectors:
        assert [it.word for it in detectors] == ["chat-rewrite-one"]


def test_weights_by_themselves_are_run_in_this_process(config: Path) -> None:
    import real_models

    settings = real_models.served(load_settings(config), Path("/weights/gemma-3-4b-it"), None)
    assert settings.llm is None and settings.vllm is not None
    assert settings.vllm.model == Path("/weights/gemma-3-4b-it")


def test_the_plan_has_the_papers_prompts_on_the_corpora_that_stand_beside_theirs(config: Path) -> None:
    import real_models

    plan = real_models.plan(30)
    assert {key.partition for key in plan.corpus_keys()} >= {"mtsamples.en_CA", "mimic.zh", "e3c_it.it_IT"}
    with (ROOT / "dbt" / "seeds" / "nearest_system.csv").open(encoding="utf-8", newline="") as file:
        detectors = {row["detector"].partition("@")[0] for row in csv.DictReader(file)}
    chats = {it for it in detectors if it.startswith("chat-")}
    assert chats == {name.replace("chat:", "chat-") for name in plan.detectors}


def test_every_model_of_a_row_is_known_by_the_name_of_its_folder() -> None:
    with (ROOT / "dbt" / "seeds" / "nearest_system.csv").open(encoding="utf-8", newline="") as file:
        models = {row["detector"].partition("@")[2] for row in csv.DictReader(file) if "@" in row["detector"]}
    assert models == {*KNOWN_STARTS, "minilm", *(models & set(KNOWN))}


def test_training_starts_from_the_folder_in_each_experiment_that_a_table_is_of(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import real_models

    asked: list[tuple[str, Path | None]] = []

    def experiment(site: Site, name: str, told: object) -> list[object]:
        asked.append((name, site.settings.experiments.start))
        return []

    monkeypatch.setattr(real_models, "experiment", experiment)
    for name in ("Qwen2.5-7B", "roberta-base"):
        folder = Path(f"/weights/{name}")
        real_models.measured(folder, config, notes=12, url=None, train=True, told=lambda _: None)
    names = ("one_locale", "leave_one_locale_out", "learning_curve")
    assert asked == [(name, Path("/weights/Qwen2.5-7B")) for name in names]
