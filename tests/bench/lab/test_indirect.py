"""Indirect identifiers in released gold: counted as a model finds them, and not at all where none reads."""

from __future__ import annotations

import json

import pytest
import sealed_gold
from chat_endpoint import Reply, serving
from sealed_gold import asking, asking_in_process
from toy_engine import engine

from deid_platform.bench.lab import indirect
from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.quality.lab import FAMILIES, MEASURES, SUBJECTS, LabScore

NOTES = [
    (Note(f"n{n}", f"Ms. Quillfeather is well. {words}", f"p{n}"), [Span(4, 16, Label.PATIENT)])
    for n, words in enumerate(["Worked as a tailor."] * 3 + ["Keeps a tame wolf."] * 3 + ["BP 120/80."] * 6)
]


@pytest.fixture
def site(tmp_path, monkeypatch):
    site = sealed_gold.site_in(tmp_path, monkeypatch)
    sealed_gold.seal(site, NOTES, topics=[Patient(f"p{n}", last_name="Quillfeather") for n in range(12)])
    return site


def values(scores: list[LabScore], measure: str) -> dict[str, float | None]:
    return {it.subject: it.value for it in scores if it.measure == measure and it.value}


def test_without_a_model_nothing_is_said_to_be_none(site) -> None:
    with pytest.raises(DeidError, match="llm-missing"):
        indirect.measure_indirect(site)


def test_a_model_counts_what_it_finds_in_the_release_and_what_it_fails_at(site) -> None:
    def script(body, count) -> Reply:
        note = body["messages"][-1]["content"]
        assert "Quillfeather" not in note
        if "tailor" in note:
            return Reply("no list")
        return Reply(json.dumps([{"text": "a tame wolf", "category": "WAY-OF-LIFE"}]))  # in the others it is absent

    with serving(script) as endpoint:
        found = indirect.measure_indirect(asking(site, endpoint.url))
    scores = found.measured.scores["topics"]
    assert values(scores, "notes_by_model") == {"ALL": 0.25, "indirect WAY-OF-LIFE": 0.25}
    assert values(scores, "unanswered") == {"ALL": 0.25}
    assert (found.model, found.failures) == ("toy", {"unanswered_form": "<11"})
    assert {it.family for it in scores} <= set(FAMILIES) and {it.n for it in scores} == {12}
    assert {it.measure for it in scores} <= set(MEASURES) and {it.subject for it in scores} <= set(SUBJECTS)


def test_without_a_server_the_model_of_this_process_reads(site) -> None:
    with engine(lambda request: json.dumps([{"text": "a tame wolf", "category": "WAY-OF-LIFE"}])) as toy:
        found = indirect.measure_indirect(asking_in_process(site))
        assert toy.loaded == 1
    assert (found.model, values(found.measured.scores["topics"], "notes_by_model")["ALL"]) == ("weights", 0.25)


def test_a_model_that_answers_nothing_or_is_elsewhere_records_nothing(site) -> None:
    with serving(lambda body, count: Reply("", "content_filter")) as endpoint:
        with pytest.raises(DeidError, match=r"llm-silent.*refused"):
            indirect.measure_indirect(asking(site, endpoint.url))
        asked = len(endpoint.received)
    assert asked == 12
    path = site.settings.root / "deid.toml"
    path.write_text(path.read_text().replace(endpoint.url, "https://reader.example/v1"))
    with pytest.raises(DeidError, match="endpoint-refused"):
        indirect.measure_indirect(Site(load_settings(path)))
