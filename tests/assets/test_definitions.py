"""Every asset as the UI shows it. A change here is a change that operators see."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from assets import layer
from assets.research import MART
from deid_platform.warehouse.expectations import EXPECTATIONS
from deid_platform.warehouse.roles import Role

# key: (team, kinds, partitioned by delivery, pool, upstream)
ASSETS = {
    "source/patients": ("data-engineering", "parquet phi", True, None, ""),
    "source/providers": ("data-engineering", "parquet phi", True, None, ""),
    "source/facilities": ("data-engineering", "parquet phi", True, None, ""),
    "source/raw_notes": (
        "data-engineering",
        "parquet phi",
        True,
        None,
        "source/facilities source/patients source/providers",
    ),
    "dictionaries/institution": (
        "data-engineering",
        "parquet phi",
        True,
        None,
        "source/facilities source/patients source/providers",
    ),
    "dictionaries/medical": ("data-engineering", "parquet", False, None, ""),
    "dictionaries/harvested": (
        "privacy-office",
        "parquet phi",
        False,
        None,
        "deid/redacted_notes dictionaries/institution dictionaries/medical",
    ),
    "deid/redacted_notes": (
        "data-engineering",
        "parquet phi",
        True,
        "gpu",
        "dictionaries/institution dictionaries/medical source/raw_notes",
    ),
    "bench/test_set": ("privacy-office", "parquet phi", False, None, "source/raw_notes"),
    "bench/surrogate_notes": ("privacy-office", "parquet phi", False, None, "bench/test_set"),
    "bench/detections": (
        "privacy-office",
        "parquet phi",
        False,
        "gpu",
        "bench/surrogate_notes dictionaries/medical",
    ),
    "bench/metrics": ("privacy-office", "postgres", False, None, "bench/detections"),
    "gate/withdrawals": ("privacy-office", "postgres", True, None, "source/raw_notes"),
    "gate/delivery": ("privacy-office", "postgres", True, None, "bench/metrics deid/redacted_notes gate/withdrawals"),
    "research/note_version": ("privacy-office", "postgres", True, None, "gate/delivery"),
    "marts/note_profile": ("analytics", "dbt postgres", False, None, "research/note_version"),
    "research/release": ("analytics", "postgres", False, None, "marts/note_profile research/note_version"),
}


@pytest.fixture(scope="module")
def specs(definitions: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {"/".join(spec.key.path): spec for spec in definitions.resolve_all_asset_specs()}


def test_there_are_no_other_assets(specs: dict[str, dg.AssetSpec]) -> None:
    assert set(specs) == set(ASSETS)


@pytest.mark.parametrize("key", ASSETS)
def test_an_asset_is_described_grouped_owned_and_placed(
    key: str, specs: dict[str, dg.AssetSpec], definitions: dg.Definitions
) -> None:
    team, kinds, partitioned, pool, upstream = ASSETS[key]
    spec = specs[key]
    assert spec.group_name == key.split("/")[0]
    assert spec.description
    assert list(spec.owners) == [f"team:{team}"]
    assert " ".join(sorted(spec.kinds)) == kinds
    assert (spec.partitions_def is not None) is partitioned
    assert " ".join(sorted("/".join(dep.asset_key.path) for dep in spec.deps)) == upstream
    graph = definitions.resolve_asset_graph()
    assert (graph.get(dg.AssetKey(key.split("/"))).pools or {None}) == {pool}


@pytest.mark.parametrize("key", [key for key, (_, kinds, *_) in ASSETS.items() if "parquet" in kinds])
def test_what_lies_in_the_note_store_shows_its_columns(key: str, specs: dict[str, dg.AssetSpec]) -> None:
    schema = specs[key].metadata["dagster/column_schema"]
    assert len(schema.columns) >= 2


def test_the_gate_is_mirrored_in_partitioned_checks(definitions: dg.Definitions) -> None:
    keys = definitions.resolve_asset_graph().asset_check_keys
    assert {"/".join(key.asset_key.path) for key in keys if "note_profile" not in str(key)} == {"gate/delivery"}
    names = {key.name for key in keys}
    assert set(EXPECTATIONS) <= names
    assert {"parity", "leaks", "bench", "topics", "site_gold"} <= names
    for key in keys:
        spec = definitions.resolve_asset_graph().get_check_spec(key)
        if key.name in EXPECTATIONS:
            assert spec.blocking, key.name


def test_a_refresh_makes_everything_but_the_proposals(definitions: dg.Definitions) -> None:
    made = definitions.resolve_job_def("refresh").asset_layer.selected_asset_keys
    assert set(ASSETS) - {"/".join(key.path) for key in made} == {"dictionaries/harvested"}


def test_a_sensor_and_two_schedules_start_two_jobs(definitions: dg.Definitions) -> None:
    assert [(sensor.name, sensor.job_name) for sensor in definitions.sensors] == [("new_deliveries", "refresh")]
    assert [(each.name, each.job_name, each.cron_schedule) for each in definitions.schedules] == [
        ("weekly_refresh", "refresh", "0 6 * * 1"),
        ("daily_retention", "retention", "30 3 * * *"),
    ]


@pytest.mark.parametrize("job", ["refresh", "retention", "__ASSET_JOB"])
def test_a_run_is_one_process(definitions: dg.Definitions, job: str) -> None:
    assert definitions.resolve_job_def(job).executor_def.name == "in_process"


def test_resources_can_be_overridden(installation: Path) -> None:
    from deid_platform.definitions import build_defs

    stand_in = object()
    defs = build_defs(config=installation, resource_overrides={"site": stand_in})
    assert defs.resources["site"] is stand_in


def test_a_resource_shows_where_its_settings_lie_and_nothing_of_them(
    definitions: dg.Definitions, installation: Path
) -> None:
    assert definitions.resources["site"].model_dump() == {"config": str(installation)}


def test_a_mart_whose_columns_changed_gives_up_on_its_readers_with_a_code(
    definitions, instance, warehouse, monkeypatch
) -> None:
    monkeypatch.setattr(layer, "RETRIES", dg.RetryPolicy(max_retries=0))
    with warehouse.administer() as connection:
        connection.exec_driver_sql("SET ROLE deid_modeller")
        connection.exec_driver_sql("CREATE TABLE marts.note_profile (former integer)")
    dbt = definitions.resources["dbt"]
    cli = type(dbt).cli
    impatient = ["--vars", "lock_timeout: 100ms"]
    monkeypatch.setattr(type(dbt), "cli", lambda self, args, **more: cli(self, [*args, *impatient], **more))

    with warehouse.engine(Role.DEMO_ANALYST).connect() as idle:
        idle.exec_driver_sql("SELECT * FROM marts.note_profile")
        job = definitions.resolve_implicit_global_asset_job_def()
        refused = job.execute_in_process(asset_selection=[MART], instance=instance, raise_on_error=False)
        assert not refused.success
        said = refused.failure_data_for_node("marts").user_failure_data.description
        assert said.startswith("warehouse-busy [marts]")
