"""What the laboratory measures on request: other formats of the same notes, a task, and what detection costs."""

from __future__ import annotations

from functools import partial

import pytest
import sealed_gold

from assets.bench import stability as stability_asset
from deid_platform.bench.lab import on_request
from deid_platform.detection import DetectorSpec
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.experiments.efficiency import Run
from deid_platform.evaluation.experiments.perturbations import Perturbation
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.quality.lab import MEASURES, SUBJECTS, LabScore
from resources import Gpu, SiteResource


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    return sealed_gold.site_in(tmp_path, monkeypatch)


@pytest.fixture
def seal(site: Site):
    return partial(sealed_gold.seal, site)


def with_bench(site: Site, **changes) -> Site:
    bench = site.settings.bench.model_copy(update=changes)
    return Site(site.settings.model_copy(update={"bench": bench}))


def words_of(scores: list[LabScore]) -> None:
    """Analysts see no figure whose words are on no list."""
    assert {it.measure for it in scores} <= set(MEASURES)
    assert {it.subject for it in scores} <= set(SUBJECTS)


DATED = [(Note(str(n), f"Seen on 03/0{n}/2019.\nWell.", f"p{n}"), [Span(8, 18, Label.DATE)]) for n in range(1, 7)]


def test_stability_detects_in_as_many_notes_as_are_allowed_in_every_format(site, seal) -> None:
    seal(DATED, topics=())
    found = on_request.measure_stability(with_bench(site, on_request_notes=4))
    assert (found.gold, found.detector_digest, found.policy_digest, found.look) == (
        "synthetic_hospital", site.spec(None).detector_digest, "", sealed_gold.LOOK,
    )  # fmt: skip
    for scores in found.scores.values():
        words_of(scores)
        recall = {it.subject: it for it in scores if it.measure == "recall_difference"}
        assert set(recall) == {it.value for it in Perturbation}
        assert (recall["dates written otherwise"].value, recall["dates written otherwise"].n) == (0.0, 4)
        assert recall["lines broken at 60 columns"].n == 0


def test_what_is_lost_in_another_format_is_below_zero(site, seal, monkeypatch) -> None:
    seal(DATED, topics=())

    monkeypatch.setattr(on_request, "build", lambda *_: BlindToCapitals())
    found = on_request.measure_stability(site).scores["text"]
    upper = next(it for it in found if (it.subject, it.measure) == ("upper case", "recall_difference"))
    assert (upper.value, upper.low, upper.high, upper.n) == (-1.0, -1.0, -1.0, 6)


class BlindToCapitals:
    def detect(self, notes):
        return [() if note.text.isupper() else (Span(8, 18, Label.DATE),) for note in notes]


class Failing:
    def detect(self, notes):
        if any("2019" not in note.text for note in notes):
            raise ValueError(notes[0].text)
        return [(Span(8, 18, Label.DATE),) for _ in notes]


def test_a_note_on_which_the_detector_raises_counts_as_one_in_which_nothing_is_found(site, seal, monkeypatch) -> None:
    seal([*DATED, (Note("7", "Seen in 1999.", "p7"), [Span(8, 12, Label.DATE)])], topics=())
    monkeypatch.setattr(on_request, "build", lambda *_: Failing())
    found = on_request.measure_stability(site).scores["text"]
    ends = next(it for it in found if (it.subject, it.measure) == ("line ends of Windows", "recall_difference"))
    assert (ends.value, ends.n) == (0.0, 6)
    dates = next(it for it in found if (it.subject, it.measure) == ("upper case", "recall_difference"))
    assert (dates.value, dates.n) == (0.0, 7)


def test_the_asset_records_and_shows(site, seal, monkeypatch) -> None:
    recorded: list[LabScore] = []
    monkeypatch.setattr(on_request, "record_lab_scores", lambda _engine, on, scores: recorded.extend(scores))
    seal(DATED * 2, topics=())
    shown = stability_asset(site=SiteResource(config=str(site.settings.root / "deid.toml")), gpu=Gpu()).metadata
    assert shown["dagster/row_count"] == len(recorded) == 2 * 2 * len(Perturbation)
    assert (shown["gpu_seconds"], shown["model_seconds_on_processor"]) == (0.0, 0.0)  # of an installation with rules
    assert "| text alone | stability | upper case | recall_difference |" in shown["figures"].value


def learnable(n: int = 60) -> tuple[list, list[str]]:
    """Notes of two conditions that one word tells apart."""
    notes, conditions = [], []
    for i in range(n):
        condition = ("asthma", "gout")[i % 2]
        text = f"Seen today for {condition}. Plan reviewed, note {i}."
        kind = ("progress note", "e-mail")[i % 2] if i < n - 5 else "letter"
        notes.append((Note(str(i), text, f"p{i // 2 if i % 2 else i}", note_type=kind), []))
        conditions.append(condition)
    return notes, conditions


def of_task(found: on_request.Measured, task: str) -> dict[str, LabScore]:
    return {it.measure: it for it in found.scores["topics"] if it.subject == task}


def test_a_task_that_a_release_spoils_is_worth_less(site, seal) -> None:
    notes, conditions = learnable()
    hidden = [[Span(15, 15 + len(condition), Label.PATIENT)] for condition in conditions]
    seal(notes, found=hidden, conditions=conditions)
    found = on_request.measure_utility(site)
    words_of(found.scores["topics"])
    assert (found.policy_digest, found.look) == (site.policy.digest, sealed_gold.LOOK)
    task = of_task(found, "task condition")
    assert (task["score_raw"].value, task["score_raw"].n) == (1.0, 60)
    assert task["score_released"].value < 0.8
    assert task["difference"].value == pytest.approx(task["score_released"].value - 1)
    assert task["difference"].high < 0
    # Of note types, one that five notes have is left out.
    assert of_task(found, "task note type")["score_raw"].n == 55


def test_what_a_release_leaves_can_be_learned_as_well(site, seal) -> None:
    notes, conditions = learnable()
    seal(notes, found=[[] for _ in notes], conditions=conditions)
    task = of_task(on_request.measure_utility(site), "task condition")
    assert (task["score_released"].value, task["difference"].value, task["most_frequent"].value) == (1.0, 0.0, 0.5)


def test_gold_that_says_no_condition_has_no_such_task(site, seal) -> None:
    seal(learnable()[0])
    found = on_request.measure_utility(site)
    assert {it.subject for it in found.scores["topics"]} == {"task note type"}


RUNS = [Run(100, 20_000, seconds, 0, 400_000_000) for seconds in (2.0, 4.0)]


def test_the_price_of_notes_is_that_of_the_time_that_they_take() -> None:
    found = {it.measure: it.value for it in on_request.of_runs(RUNS, 1.80)}
    assert found == {
        "words_per_second": 7500.0,
        "words_per_second_deviation": pytest.approx(2500 * 2**0.5),  # 10,000 and 5,000
        "seconds_per_note": 0.03,
        "peak_mb": 400.0,
        "cost_per_10000_notes": pytest.approx(0.15),  # 300 s at 1.80 an hour
    }
    assert "cost_per_10000_notes" not in {it.measure for it in on_request.of_runs(RUNS, None)}
    assert {it.family for it in on_request.of_runs(RUNS, 1.80)} == {"cost"}


def test_a_run_counts_words_of_the_notes_alone() -> None:
    run = on_request.timed(DetectorSpec("rules"), [note for note, _ in DATED])
    assert (run.notes, run.words, run.gpus) == (6, 36, 0)
    assert run.seconds > 0 and run.peak_bytes > 0


@pytest.mark.process
def test_cost_is_measured_in_a_process_of_its_own(site, seal, monkeypatch) -> None:
    seal(DATED, topics=())
    monkeypatch.setattr(on_request, "_specs", lambda _: {"text": DetectorSpec("ensemble")})
    asking = with_bench(site, price_per_hour=1.0, on_request_notes=3, cost_runs=1)
    found = on_request.measure_cost(asking)
    assert asking.models.seconds.ran.processor > 0, "that process tells of its models"
    assert found.look is None  # nobody looks at gold for it
    for scores in found.scores.values():
        words_of(scores)
        assert {it.n for it in scores} == {None}, "no shares of anything"
        figures = {it.measure: it.value for it in scores}
        assert figures["words_per_second"] == pytest.approx(6 / figures["seconds_per_note"])
        assert figures["cost_per_10000_notes"] == pytest.approx(figures["seconds_per_note"] * 10_000 / 3600)


def test_a_run_that_fails_leaves_no_figures(site, seal, monkeypatch) -> None:
    seal(DATED, topics=())
    run = Run(6, 36, 1.0)

    def one_of_three_died(_job, batches, _workers):
        yield from (([None if number else run], None) for number, _ in enumerate(batches))

    monkeypatch.setattr(on_request, "answers", one_of_three_died)
    with pytest.raises(DeidError) as raised:
        on_request.measure_cost(site)
    assert raised.value.code is Code.DETECTOR_FAILED
