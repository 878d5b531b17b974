"""New deliveries become partitions and runs, oldest first; what research lacks is asked for again; old runs go."""

from __future__ import annotations

import datetime
from pathlib import Path

import dagster as dg
import pytest

from deid_platform.warehouse.server.roles import Role

NOTE = {"note_id": "1", "text": "Well."}


def resources(definitions: dg.Definitions) -> dict[str, object]:
    return {"site": definitions.resources["site"]}


@pytest.fixture
def look(definitions, instance):
    """One evaluation of the sensor; its cursor and its partitions are kept, as the daemon keeps them."""
    cursor = None

    def evaluate():
        nonlocal cursor
        (sensor,) = definitions.sensors
        context = dg.build_sensor_context(
            instance=instance, resources=resources(definitions), definitions=definitions, cursor=cursor
        )
        found = sensor(context)
        if isinstance(found, dg.SkipReason):
            return []
        cursor = found.cursor
        for request in found.dynamic_partitions_requests:
            instance.add_dynamic_partitions("delivery", list(request.partition_keys))
        return [(request.partition_key, request.run_key) for request in found.run_requests]

    return evaluate


def test_new_and_changed_deliveries_are_requested_once_and_in_order(look, instance, arrive) -> None:
    assert look() == []
    arrive("2026-01-12", [NOTE])
    arrive("2026-01-05", [NOTE])
    found = look()
    assert [key for key, _ in found] == ["hospital@2026-01-05", "hospital@2026-01-12"]
    assert set(instance.get_dynamic_partitions("delivery")) == {key for key, _ in found}
    assert look() == []

    arrive("2026-01-05", [NOTE, {"note_id": "2", "text": "Corrected."}])
    ((key, run_key),) = look()
    assert key == "hospital@2026-01-05"
    assert run_key not in {run_key for _, run_key in found}
    assert look() == []


def test_a_run_key_names_no_file(look, arrive) -> None:
    arrive("2026-01-19", [NOTE])
    assert all("notes" not in run_key for _, run_key in look())


def test_a_changed_list_of_opt_outs_or_of_excluded_types_makes_every_delivery_due(look, arrive, installation) -> None:
    arrive("2026-01-26", [NOTE])
    before = dict(look())
    text, opt_outs = installation.read_text(), installation.with_name("optouts.csv")
    opt_outs.write_text("patient_id\nZebulon\n")
    try:
        requested = [before]
        for exclusions in ('opt_outs = "optouts.csv"', 'opt_outs = "optouts.csv"\nnote_types = ["hiv"]'):
            installation.write_text(f"{text}\n[exclusions]\n{exclusions}\n")
            requested.append(dict(look()))
            assert look() == []
        opt_outs.write_text("patient_id\nZebulon\nQuarmby\n")
        requested.append(dict(look()))
        assert all(found.keys() == before.keys() for found in requested)
        run_keys = [run_key for found in requested for run_key in found.values()]
        assert len(set(run_keys)) == len(run_keys)
        assert "Zebulon" not in "".join(run_keys)
        opt_outs.write_text("patient_id\n\n")
        with pytest.raises(dg.Failure, match="opt-outs-unreadable"):
            look()
    finally:
        installation.write_text(text)
    assert dict(look()).keys() == before.keys()


def test_sensor_and_schedule_hide_who_left_before_any_run(look, definitions, instance, arrive, warehouse) -> None:
    def hidden() -> set[str]:
        with warehouse.begin(Role.OFFICER) as connection:
            return set(connection.exec_driver_sql("SELECT ctl.withdrawn_ahead()").scalars())

    arrive("2026-03-02", [NOTE], withdrawn="note_id\nZebulon\n")
    look()
    assert hidden() == {"hospital@2026-03-02"}
    arrive("2026-03-09", [NOTE], withdrawn="note_id\nQuarmby\n")
    scheduled(definitions, instance)
    assert hidden() == {"hospital@2026-03-02", "hospital@2026-03-09"}


def test_the_schedule_requests_what_research_does_not_hold(definitions, instance, arrive) -> None:
    arrive("2026-01-05", [NOTE])
    arrive("2026-01-12", [NOTE])
    requests = scheduled(definitions, instance)
    wanted = ["hospital@2026-01-05", "hospital@2026-01-12"]
    assert [request.partition_key for request in requests][:2] == wanted
    assert set(wanted) <= set(instance.get_dynamic_partitions("delivery"))
    assert requests[0].run_key == "hospital@2026-01-05/2026-02-02"


def scheduled(definitions: dg.Definitions, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    """What the weekly schedule asks for at its time."""
    schedule = next(each for each in definitions.schedules if each.name == "weekly_refresh")
    context = dg.build_schedule_context(
        instance=instance,
        resources=resources(definitions),
        scheduled_execution_time=datetime.datetime(2026, 2, 2, 6, tzinfo=datetime.UTC),
    )
    return list(schedule(context))


@pytest.fixture
def finished(instance):
    """Leaves a finished run behind, as if a job had run on that partition, and returns its id."""

    def leave(partition: str, *, success: bool = True) -> str:
        @dg.op
        def step() -> None:
            if not success:
                raise ValueError

        @dg.job(name="refresh", executor_def=dg.in_process_executor)
        def stand_in() -> None:
            step()

        tags = {"dagster/partition": partition}
        return stand_in.execute_in_process(instance=instance, tags=tags, raise_on_error=False).run_id

    return leave


def forget(definitions: dg.Definitions, instance: dg.DagsterInstance, config: Path, days: int) -> None:
    text = config.read_text()
    config.write_text(f"{text}\n[schedule]\nkeep_runs_days = {days}\n")
    try:
        assert definitions.resolve_job_def("retention").execute_in_process(instance=instance).success
    finally:
        config.write_text(text)


def test_a_finished_run_is_forgotten_in_time_but_not_the_last_success_of_its_delivery(
    definitions, instance, finished, installation
) -> None:
    older = finished("hospital@2026-01-05")
    last = finished("hospital@2026-01-05")
    failed = finished("hospital@2026-01-05", success=False)
    other = finished("hospital@2026-01-12")
    waiting = instance.create_run_for_job(definitions.resolve_job_def("retention")).run_id

    forget(definitions, instance, installation, days=1)
    kept = {run.run_id for run in instance.get_runs()}
    assert {older, last, failed, other, waiting} <= kept

    forget(definitions, instance, installation, days=0)
    kept = {run.run_id for run in instance.get_runs()}
    assert {last, other, waiting} <= kept
    assert kept.isdisjoint({older, failed})
    assert instance.all_logs(failed) == []
