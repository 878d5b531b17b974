"""Language models as judges: which figures are recorded under which judge, and what stands in the dossier of them."""

from __future__ import annotations

import json
import os

import dagster as dg
import pytest
import sealed_gold
from chat_endpoint import Reply, asked_about, serving

from assets.judges import judge_assets
from deid_platform.bench.gate.held_out import seal_bench
from deid_platform.bench.lab import judges
from deid_platform.errors import DeidError
from deid_platform.evaluation.panel.judge_plan import JudgePlan, judge_prompts
from deid_platform.evaluation.retention.pairs import Split, labelled_pairs
from deid_platform.labels import Label
from deid_platform.llm.engines import EngineSpec
from deid_platform.llm.prompts import Task
from deid_platform.notes import Note, Span
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.dossier.page import FOUND, MEDICINE
from deid_platform.settings import JudgeSettings, VllmSettings, load_settings
from deid_platform.warehouse.quality.judges import JudgeRow, judges_of
from deid_platform.warehouse.quality.lab import FAMILIES, JUDGES, MEASURES, lab_scores
from deid_platform.warehouse.server.roles import Role
from resources import SiteResource, gpu_resource

DETECTOR = "d" * 32
NAMES = [f"Quillf{letter}" for letter in "abcdefghijkl"]
# The first name is missed: it is left in the release. Every second note loses a dose.
NOTES = [
    (Note(f"n{n}", f"Ms. {name} takes aspirin{' 100 mg' * (n % 2)}.", f"p{n}"), [Span(4, 11, Label.PATIENT)])
    for n, name in enumerate(NAMES)
]
FOUND_IN = [
    [*(gold if n else ()), *([Span(26, 29, Label.IDNUM)] if n % 2 else ())] for n, (_, gold) in enumerate(NOTES)
]
PAIRS = {
    pair.texts: pair
    for pair in {(it.language, it.changed, it.hard): it for it in labelled_pairs(Split.HELD_OUT)}.values()
}


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    """An installation without a server."""
    made = sealed_gold.site_in(tmp_path, monkeypatch)
    monkeypatch.setattr(judges, "labelled_pairs", lambda split: list(PAIRS.values()))
    sealed_gold.seal(made, NOTES, found=FOUND_IN)
    return made


def asking(site: Site, url: str, more: str = "") -> Site:
    path = site.settings.root / "deid.toml"
    path.write_text(path.read_text() + f'[llm]\nurl = "{url}"\nmodel = "toy"\n{more}')
    return Site(load_settings(path))


def answers(body, count) -> Reply:
    """Sees every lost dose, is wrong on hard pairs that were not changed, and says what is hidden."""
    about = asked_about(body)
    if "kind" in about:
        words = ["left" if it in about["released"] else "hidden" for it in about["entities"]]
        return Reply(json.dumps({"entities": words, "wrongly_hidden": []}))
    pair = PAIRS.get((about["original"], about["released"]))
    changed = (
        "100" in about["original"] and "100" not in about["released"] if pair is None else pair.changed or pair.hard
    )
    return Reply(json.dumps({"change": "dose" if changed else "none"}))


def test_words_of_judges_are_the_prompts_that_are_shipped() -> None:
    shipped = {it.name for task in (Task.RETENTION, Task.PANEL) for it in judge_prompts(task)}
    assert {f"judge-{name}" for name in shipped} == set(JUDGES)
    assert "panel" in FOUND and "retention" in MEDICINE


def test_a_judge_is_validated_before_it_says_what_is_left(site) -> None:
    with serving(answers) as endpoint:
        found = judges.measure_retention(asking(site, endpoint.url), "retention-few")
    (of_judge, validation), (on, scores) = found.measured
    assert (found.judge.model, found.judge.prompt) == ("toy", "retention-few")
    assert (of_judge.detector, of_judge.gold, of_judge.look) == ("judge-retention-few", "judged_pairs", None)
    assert of_judge.detector_digest == of_judge.judge == on.judge == found.judge.digest
    assert (on.detector, on.detector_digest, on.look, on.policy_digest) == (
        "rules", DETECTOR, sealed_gold.LOOK, site.policy.digest)  # fmt: skip
    right = sum(pair.changed or not pair.hard for pair in PAIRS.values())
    of = {it.measure: it for it in validation}
    assert (of["accuracy"].value, of["accuracy"].n) == (pytest.approx(right / len(PAIRS)), len(PAIRS))
    assert of["kappa"].value == found.quality.kappa and of["unanswered"].value == 0
    measured = {it.measure: (it.value, it.n) for it in scores}
    # A note is one chunk here: six of the twelve lost their dose.
    assert measured == {"chat_retention": (pytest.approx(0.5), 12), "unanswered": (0.0, 11)}
    for it in (*validation, *scores):
        assert it.family in FAMILIES and it.measure in MEASURES


def test_a_panel_stands_beside_what_spans_say(site) -> None:
    with serving(answers) as endpoint:
        panel = '[judges]\nmodels = ["one", "two"]\nseeds = [1]\n'
        found = judges.measure_panel(asking(site, endpoint.url, panel), "panel-zero")
    ((on, scores),) = found.measured
    assert (found.judge.model, on.judge, on.look) == ("one, two", found.judge.digest, sealed_gold.LOOK)
    of = {it.measure: (it.value, it.n) for it in scores}
    assert of["recall"] == (pytest.approx(11 / 12), 12)  # one name is left, and the panel says so
    assert (of["accuracy"], of["unanswered"]) == ((1.0, 12), (0.0, 12))
    assert {it.family for it in scores} == {"panel"}


@pytest.mark.parametrize("measure", [judges.measure_pairs, judges.measure_retention, judges.measure_panel])
def test_a_judge_that_says_nothing_records_nothing(site, measure) -> None:
    prompt = "panel-zero" if measure is judges.measure_panel else "retention-few"
    with (
        serving(lambda body, count: Reply(status=400)) as endpoint,
        pytest.raises(DeidError, match=r"llm-silent.*request"),
    ):
        measure(asking(site, endpoint.url), prompt)


def test_assets_are_there_where_a_model_is_and_in_the_pool_of_the_card_where_it_is_of_this_process(site) -> None:
    assert judge_assets(site.settings) == []
    there = judge_assets(asking(site, "http://127.0.0.1:9/v1").settings)
    assert [it.key.to_user_string() for it in there] == ["judges/pairs", "judges/retention", "judges/panel"]
    assert {it.op.pool for it in there} == {None}
    assert there[2].partitions_def.get_partition_keys() == ["panel-zero", "panel-zero-it"]
    in_process = site.settings.model_copy(update={"vllm": VllmSettings(model="weights")})
    assert {it.op.pool for it in judge_assets(in_process)} == {"gpu"}
    prompts = judge_prompts(Task.PANEL, ["panel-zero"])
    for plan in (JudgePlan.single(in_process, prompts), JudgePlan.panel(in_process, prompts)):
        assert {type(it) for it, _ in plan.members} == {EngineSpec}
    # Models by name are an endpoint's.
    named = in_process.model_copy(update={"judges": JudgeSettings(models=("one",))})
    with pytest.raises(DeidError, match="llm-missing"):
        JudgePlan.panel(named, prompts)


def test_an_asset_records_its_judge_for_officers_and_shows_nothing_of_a_note(site, warehouse, monkeypatch) -> None:
    secret = os.environ["DEID_SECRET"]
    monkeypatch.undo()  # from here on there is a server
    monkeypatch.setenv("DEID_SECRET", secret)
    monkeypatch.setenv("DEID_WAREHOUSE_URL", warehouse.admin_engine().url.render_as_string(hide_password=False))
    monkeypatch.setattr(judges, "labelled_pairs", lambda split: list(PAIRS.values()))
    with serving(answers) as endpoint:
        chatting = asking(site, endpoint.url)
        seal_bench(chatting)
        config = str(chatting.settings.root / "deid.toml")
        done = dg.materialize(
            judge_assets(chatting.settings)[1:2],
            resources={"site": SiteResource(config=config), "gpu": gpu_resource()},
            partition_key="retention-few",
        )
    (event,) = done.get_asset_materialization_events()
    shown = event.materialization.metadata
    officer = warehouse.engine(Role.OFFICER)
    of_detector = {it.measure: (on, it) for on, it in lab_scores(officer, DETECTOR)}
    on, left = of_detector["chat_retention"]
    assert (left.value, left.n, on.judge) == (0.5, 12, shown["judge_digest"].value)
    prompt = judge_prompts(Task.RETENTION, ["retention-few"])[0]
    assert judges_of(officer, [on.judge]) == {on.judge: JudgeRow(on.judge, "toy", "retention-few", prompt.digest)}
    validated = {it.measure: it.value for _, it in lab_scores(officer, on.judge)}
    assert validated["accuracy"] == pytest.approx(shown["accuracy"].value, abs=1e-4)
    assert shown["prompt_digest"].value == prompt.digest
    assert "| topics | retention | ALL | chat_retention | 0.5" in shown["figures"].value
    assert not any(name in str(shown) for name in NAMES)
