"""Another detector than the one in force is compared with it before a note that it redacted is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import deid
from small_feed import measure_bench

from deid_platform.bench.gate import measured_notes
from deid_platform.detection import DetectorSpec
from deid_platform.errors import DeidError
from deid_platform.notes import Topics
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.staging import detector_in_force, measure, stage
from deid_platform.settings import ProfileSettings, Settings
from deid_platform.warehouse.gate.standing import Figure
from deid_platform.warehouse.gate.waivers import waive
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.server.roles import Role

PATIENTS = [{"patient_id": "p1", "first_name": "Thandiwe", "last_name": "Quillfeather"}]
NOTES = [{"note_id": "1", "patient_id": "p1", "text": "Ms. Quillfeather is well."}]
ON_THESE, BEFORE, LOWER = (
    *("recall on these notes", "recall of the detector in force", "difference in recall (lower end)"),
)


@pytest.fixture(scope="module")
def delivery(deliver, take_in, warehouse):
    configure(warehouse.admin_engine(), "production")
    arrived = deliver("2026-01-05", notes=NOTES, patients=PATIENTS)
    take_in(arrived)
    return arrived


@pytest.fixture(scope="module")
def with_detector(site) -> Callable[..., Site]:
    """The installation with another allow list, which is another detector; the absolute thresholds let any pass."""
    lax = ProfileSettings(min_recall=0, min_precision=0, min_clinical_retention=0, min_roster_share=0)

    def made(keep: str = "quartz survey\n", *, synthetic_notes: int = 60) -> Site:
        path = Path(f"{len(keep)}.txt")  # a name for each
        site.settings.path(path).write_text(keep)
        changes = {
            "profile": "production",
            "profiles": {"production": lax},
            "detection": site.settings.detection.model_copy(update={"keep": path}),
            "bench": site.settings.bench.model_copy(update={"synthetic_notes": synthetic_notes}),
        }
        settings: Settings = site.settings.model_copy(update=changes)
        return Site(settings)

    return made


@pytest.fixture(scope="module")
def through(delivery) -> Callable[[Site], dict[str, Figure]]:
    """Asks the gate for the delivery as a detector redacts it, and tells the figures of the bench."""

    def run(site: Site) -> dict[str, Figure]:
        deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine)
        measure_bench(site)
        measure.record_measurements(site, stage.stage_delivery(site, delivery, run_id="run-1"))
        measure.record_expectations(site, delivery)
        (found,) = (it for it in publish.gate_requirements(site, delivery) if it.name == "bench")
        publish.promote_delivery(site, delivery)
        return {figure.name: figure for figure in found.figures}

    return run


@pytest.fixture(scope="module", autouse=True)
def waived(delivery, site) -> None:
    until = datetime.now(UTC).date() + timedelta(days=30)
    waive(
        site.warehouse.engine(Role.OFFICER),
        ("languages", "site_gold", "topics"),
        who="Privacy Officer",
        reason="gold is being annotated",
        until=until,
        delivery=delivery,
    )


def in_force_now(site: Site) -> str:
    return site.store.manifest(tables.IN_FORCE, tables.ALL).meta["detector_digest"]


def test_the_first_detector_is_compared_with_none(with_detector, through) -> None:
    first = with_detector()
    assert BEFORE not in through(first)
    assert in_force_now(first) == first.spec(None).detector_digest


def test_nor_is_the_one_in_force_with_itself(with_detector, through) -> None:
    assert BEFORE not in through(with_detector())


def test_an_equal_one_passes_and_is_in_force_from_then_on(with_detector, through) -> None:
    equal = with_detector("a survey of quartz\n")
    figures = through(equal)
    assert figures[ON_THESE].value == figures[BEFORE].value > 0
    assert figures[LOWER].value == 0.0
    assert figures[LOWER].met
    assert in_force_now(equal) == equal.spec(None).detector_digest


class WithoutRecognizers(Site):
    """Knows little more than what the topics say."""

    def spec(self, topics: Topics | None) -> DetectorSpec:
        return replace(super().spec(topics), without=("recognizers",))


@pytest.fixture(scope="module")
def worse(with_detector) -> Site:
    return WithoutRecognizers(with_detector().settings)


@pytest.fixture(scope="module")
def refused(worse, through) -> str:
    with pytest.raises(DeidError) as error:
        through(worse)
    return error.value.ref


def test_a_worse_one_is_refused_though_it_reaches_the_thresholds(refused, worse) -> None:
    assert "bench failed (difference in recall (lower end) -0." in refused
    assert "at least -0.002" in refused
    assert in_force_now(worse) != worse.spec(None).detector_digest


def test_the_gate_shows_both_and_the_difference(refused, delivery) -> None:
    lines = [line.split("\t") for line in deid("gate", delivery.key).stdout.splitlines()]
    shown = {figure: (value, demand) for _, _, figure, value, demand, *_ in lines}
    before, now = float(shown[BEFORE][0]), float(shown[ON_THESE][0])
    assert float(shown["difference in recall"][0]) == pytest.approx(now - before, abs=0.001)
    assert before > now
    assert shown[LOWER][1] == "at least -0.002"


def test_a_waiver_lets_it_pass_and_lowers_no_bar(refused, worse, through, delivery) -> None:
    until = datetime.now(UTC).date() + timedelta(days=30)
    officer = worse.warehouse.engine(Role.OFFICER)
    waive(officer, ("bench",), who="Privacy Officer", reason="names are on no list", until=until, delivery=delivery)
    through(worse)
    assert in_force_now(worse) != worse.spec(None).detector_digest


def test_on_another_gold_it_is_not_compared_and_that_is_said(with_detector, through, monkeypatch) -> None:
    # Another seed is another hospital: no note of it was measured before.
    monkeypatch.setattr(measured_notes, "SYNTHETIC_SEED", 4)
    figures = through(with_detector("a survey\n", synthetic_notes=30))
    assert "recall on these notes" not in figures
    (figure,) = (it for name, it in figures.items() if name.startswith("recall against the detector in force"))
    assert (figure.value, figure.demand, figure.met) == (None, "not compared", True)


def test_what_is_kept_for_it_holds_no_note_and_no_id(site) -> None:
    rows = site.store.rows(tables.IN_FORCE, tables.ALL)
    assert set(rows[0]) == {"note", "patient", "inputs", "gold", "found", "whole"}
    gold = site.store.rows(tables.GOLD_NOTES, tables.ALL)
    ids = {it["note_id"] for it in gold} | {it["patient_id"] for it in gold}
    assert ids.isdisjoint({row["note"] for row in rows} | {row["patient"] for row in rows})


def test_without_two_patients_a_difference_is_no_proof(site) -> None:
    assert not detector_in_force.holds(site, detector_in_force.Compared(1, 1.0, 1.0, difference=0.0, low=None))
