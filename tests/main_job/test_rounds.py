"""Which deliveries one `deid refresh` runs, how often, and what a run after a waiver leaves out."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace

import dagster as dg
import pytest
from rich.console import Console

from deid_platform.main_job import command as main_job
from deid_platform.main_job.command import Refreshed
from deid_platform.notes import Delivery

FIRST, SECOND = Delivery("hospital", "2026-01-05"), Delivery("hospital", "2026-01-12")


class Instance:
    """An instance of Dagster that remembers nothing."""

    def get_runs(self, *_: object, **__: object) -> list[object]:
        return []

    def add_dynamic_partitions(self, *_: object) -> None:
        pass


@pytest.fixture
def refresh(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Delivery]]:
    """Runs deliveries of which these are due at first and after each round, and returns the runs in order."""

    def run(*due: list[Delivery], failing: tuple[Delivery, ...] = ()) -> list[Delivery]:
        rounds = iter(due)
        monkeypatch.setattr(main_job, "due_after_search", lambda *_: (next(rounds), []))
        monkeypatch.setattr(main_job, "pending", lambda *_: next(rounds, due[-1]))
        monkeypatch.setattr(main_job, "weights", lambda _, which: dict.fromkeys(which, 1))
        monkeypatch.setattr(
            main_job,
            "_run",
            lambda job, instance, delivery, console, *, waived: Refreshed(
                delivery, "failed" if delivery in failing else None
            ),
        )
        monkeypatch.setattr(main_job, "only_to_promote", lambda *_: frozenset())
        reader = SimpleNamespace(refused=list)
        site = SimpleNamespace(wanted=lambda *_: [FIRST, SECOND], reader=lambda _: reader)
        done = main_job._refresh(
            None, site, Instance(), feed=None, only=None, force=False, console=Console(file=StringIO())
        )  # type: ignore[arg-type]
        return [each.delivery for each in done]

    return run


def test_a_delivery_that_a_later_one_makes_due_again_runs_again(refresh) -> None:
    assert refresh([FIRST, SECOND], [FIRST], []) == [FIRST, SECOND, FIRST]


def test_one_that_failed_waits_for_the_next_refresh(refresh) -> None:
    assert refresh([FIRST, SECOND], [FIRST], failing=(FIRST,)) == [FIRST, SECOND]


def test_two_that_make_each_other_due_end(refresh) -> None:
    assert refresh([FIRST, SECOND]) == [FIRST, SECOND] * 3


def test_a_run_after_a_waiver_is_the_promotion_and_what_comes_after_it() -> None:
    deliveries = dg.DynamicPartitionsDefinition(name="delivery")

    def asset(key: str, *deps: str) -> dg.AssetsDefinition:
        partitions = deliveries if key in ("gate/delivery", "research/note_version") else None

        @dg.asset(key=key.split("/"), deps=[dep.split("/") for dep in deps], partitions_def=partitions)
        def made() -> None:
            pass

        return made

    after = {"research/note_version", "marts/note_profile", "marts/scores", "papers/table_2", "research/release"}
    assets = [
        asset("bench/metrics"),
        asset("gate/delivery", "bench/metrics"),
        asset("research/note_version", "gate/delivery"),
        asset("marts/note_profile", "research/note_version"),
        asset("marts/scores", "bench/metrics"),  # dbt builds it with the others
        asset("papers/table_2"),
        asset("research/release", "research/note_version", "marts/note_profile"),
    ]
    jobs = [dg.define_asset_job("refresh", selection=dg.AssetSelection.all())]
    job = dg.Definitions(assets=assets, jobs=jobs).resolve_job_def("refresh")
    assert {key.to_user_string() for key in main_job._from_promotion(job)} == after
