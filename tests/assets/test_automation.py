"""New deliveries become partitions and runs, oldest first; the schedule asks again for what research lacks."""

from __future__ import annotations

import datetime

import dagster as dg
import pytest

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


def test_the_schedule_requests_what_research_does_not_hold(definitions, instance, arrive) -> None:
    arrive("2026-01-05", [NOTE])
    arrive("2026-01-12", [NOTE])
    (schedule,) = definitions.schedules
    context = dg.build_schedule_context(
        instance=instance,
        resources=resources(definitions),
        scheduled_execution_time=datetime.datetime(2026, 2, 2, 6, tzinfo=datetime.UTC),
    )
    requests = list(schedule(context))
    wanted = ["hospital@2026-01-05", "hospital@2026-01-12"]
    assert [request.partition_key for request in requests][:2] == wanted
    assert set(wanted) <= set(instance.get_dynamic_partitions("delivery"))
    assert requests[0].run_key == "hospital@2026-01-05/2026-02-02"
