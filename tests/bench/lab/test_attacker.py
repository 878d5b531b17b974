"""What a language model learns of patients from released gold: which figures are recorded, and when none is."""

from __future__ import annotations

import json
import re
from datetime import date

import pytest
import sealed_gold
from chat_endpoint import Reply, serving
from sealed_gold import asking, asking_in_process
from toy_engine import engine

from assets.bench import attacker as attacker_asset
from deid_platform.bench.lab import attacker, on_request
from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span
from deid_platform.warehouse.quality.lab import FAMILIES, MEASURES, SUBJECTS, LabScore
from resources import Gpu, SiteResource

PEOPLE = [
    Patient(f"p{n}", first_name="Ann", last_name=f"Quillf{'abcdefghijkl'[n]}", sex="F", birth_date=date(1950, 1, 2))
    for n in range(12)
]
NOTES = [
    (Note(f"n{n}", f"Ms. {it.last_name} is well.", it.patient_id), [Span(4, 11, Label.PATIENT)])
    for n, it in enumerate(PEOPLE)
]


@pytest.fixture
def site(tmp_path, monkeypatch):
    site = sealed_gold.site_in(tmp_path, monkeypatch)
    sealed_gold.seal(site, NOTES, topics=PEOPLE)
    return site


def choice(question: str) -> str:
    choices, _, note = question.partition("\n\n")
    names = [re.findall(r"Quillf\w", line) for line in choices.splitlines()]
    return json.dumps({"choice": next((n for n, it in enumerate(names, 1) if it and it[0] in note), 1)})


def reads(body, count) -> Reply:
    return Reply(choice(body["messages"][-1]["content"]))


def test_a_name_stands_in_the_raw_note_and_not_in_its_release(site) -> None:
    with serving(reads) as endpoint:
        found = attacker.measure_attacker(asking(site, endpoint.url))
    assert (found.model, found.failures, found.measured.look) == ("toy", {}, sealed_gold.LOOK)
    scores = found.measured.scores["topics"]
    assert {it.family for it in scores} <= set(FAMILIES)
    assert {it.measure for it in scores} <= set(MEASURES) and {it.subject for it in scores} <= set(SUBJECTS)
    whose = {it.measure: it for it in scores if it.subject == "attack whose note"}
    assert (whose["right_raw"].value, whose["right_raw"].n) == (1.0, 12)
    assert whose["right"].value < 0.5 and whose["unanswered"].value == 0
    assert whose["chance"].value == whose["right_by_linkage"].value == pytest.approx(0.1)


def test_the_asset_records_figures_and_shows_reasons_and_nothing_of_a_note_or_an_answer(site, monkeypatch) -> None:
    recorded: list[LabScore] = []
    monkeypatch.setattr(on_request, "record_lab_scores", lambda _engine, on, scores: recorded.extend(scores))

    def script(body, count) -> Reply:
        return Reply("Quillfa it is") if "⟦" in body["messages"][-1]["content"] else reads(body, count)

    with serving(script) as endpoint:
        asking(site, endpoint.url)
        config = str(site.settings.root / "deid.toml")
        shown = attacker_asset(site=SiteResource(config=config), gpu=Gpu()).metadata
    assert shown["dagster/row_count"] == len(recorded) > 5
    assert (shown["language_model"], shown["unanswered_form"]) == ("toy", "12")
    assert "| topics | attacker | attack masked place | unanswered | 1.0" in shown["figures"].value
    assert "Quillf" not in str(shown)


def test_without_a_server_the_model_of_this_process_attacks(site) -> None:
    with engine(lambda request: choice(request.messages[-1].content)) as toy:
        found = attacker.measure_attacker(asking_in_process(site))
        assert toy.loaded == 1
    whose = {it.measure: it.value for it in found.measured.scores["topics"] if it.subject == "attack whose note"}
    assert (found.model, whose["right_raw"], whose["unanswered"]) == ("weights", 1.0, 0)


def test_a_model_that_answers_nothing_records_nothing(site) -> None:
    with (
        serving(lambda body, count: Reply(status=400)) as endpoint,
        pytest.raises(DeidError, match=r"llm-silent.*request"),
    ):
        attacker.measure_attacker(asking(site, endpoint.url))


def test_without_a_model_or_with_one_elsewhere_nothing_is_measured(site, monkeypatch) -> None:
    monkeypatch.setattr(attacker, "look_at_bench", lambda *_: pytest.fail("looked"))
    with pytest.raises(DeidError, match="llm-missing"):
        attacker.measure_attacker(site)
    with pytest.raises(DeidError, match="endpoint-refused"):
        attacker.measure_attacker(asking(site, "https://attacker.example/v1"))
