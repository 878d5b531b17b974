"""Every asset as the UI shows it. A change here is a change that operators see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
from dagster._config import ConfigType, ConfigTypeKind

from assets import layer
from assets.automation import freshness, refresh
from assets.checks import expectation_check
from assets.judges import judge_assets
from assets.research import MART
from deid_platform.corpora.catalogue import LICENSED, PUBLISHED, shipped
from deid_platform.settings import ScheduleSettings, Settings, load_settings
from deid_platform.surrogates.locales import LOCALES
from deid_platform.warehouse.gate.expectations import EXPECTATIONS
from deid_platform.warehouse.server.roles import Role
from resources import dbt_project, mart_relations
from resources.dbt import Dbt

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
        "deid/redacted_notes dictionaries/institution source/raw_notes",
    ),
    "dictionaries/recovered": (
        "privacy-office",
        "parquet phi",
        False,
        "gpu",
        "source/facilities source/patients source/providers source/raw_notes",
    ),
    "deid/redacted_notes": (
        "data-engineering",
        "parquet phi",
        True,
        "gpu",
        "bench/metrics dictionaries/institution dictionaries/medical "
        "source/facilities source/patients source/providers source/raw_notes",
    ),
    "bench/test_set": ("privacy-office", "parquet phi", False, None, "source/raw_notes"),
    "bench/gold_notes": ("privacy-office", "parquet phi", False, None, "bench/test_set"),
    "annotation/agreement": ("privacy-office", "table", False, None, "bench/test_set"),
    "review/removals": ("privacy-office", "postgres", False, None, "bench/detections"),
    "bench/detections": (
        "privacy-office",
        "parquet phi",
        False,
        "gpu",
        "bench/gold_notes",
    ),
    "bench/surrogate_notes": ("privacy-office", "parquet", True, None, ""),
    "bench/corpus_detections": ("privacy-office", "parquet", True, "gpu", "bench/surrogate_notes"),
    "bench/corpus_statistics": ("privacy-office", "table", True, None, "bench/surrogate_notes"),
    "bench/corpus_scores": ("privacy-office", "table", True, None, "bench/corpus_detections"),
    "bench/contributions": ("privacy-office", "table", False, "gpu", "bench/surrogate_notes"),
    "bench/fairness": ("privacy-office", "table", False, None, "bench/corpus_scores"),
    "bench/detector_scores": ("privacy-office", "postgres", True, "gpu", "bench/surrogate_notes"),
    "bench/prompt_trials": ("privacy-office", "table", True, "gpu", ""),
    "models/trained": ("data-engineering", "onnx phi", False, "gpu", "bench/surrogate_notes"),
    "models/leave_one_locale_out": ("data-engineering", "onnx", False, "gpu", ""),
    "models/one_locale": ("data-engineering", "onnx", False, "gpu", ""),
    "models/cross_format": ("data-engineering", "onnx", False, "gpu", ""),
    "models/learning_curve": ("data-engineering", "onnx", False, "gpu", ""),
    "bench/metrics": ("privacy-office", "postgres", False, None, "bench/detections"),
    "bench/lab": ("privacy-office", "postgres", False, None, "bench/detections"),
    "bench/stability": ("privacy-office", "postgres", False, "gpu", "bench/gold_notes"),
    "bench/utility": ("privacy-office", "postgres", False, None, "bench/detections"),
    "bench/cost": ("privacy-office", "postgres", False, "gpu", "bench/gold_notes"),
    "bench/attacker": ("privacy-office", "postgres", False, "gpu", "bench/detections"),
    "bench/indirect": ("privacy-office", "postgres", False, "gpu", "bench/detections"),
    "gate/withdrawals": ("privacy-office", "postgres", True, None, "source/raw_notes"),
    "gate/delivery": ("privacy-office", "postgres", True, None, "bench/metrics deid/redacted_notes gate/withdrawals"),
    "research/note_version": ("privacy-office", "postgres", True, None, "gate/delivery"),
    "marts/note_profile": ("analytics", "dbt postgres", False, None, "research/note_version"),
    "marts/structured_profile": ("analytics", "dbt postgres", False, None, "research/note_version"),
    **{
        f"marts/{name}": (
            *("analytics", "dbt postgres", False, None),
            " ".join(["bench/lab", "bench/metrics", *papers]),
        )
        for name, papers in {
            "leaderboard": [],
            "scores_by_label": [],
            "scores_by_group": [],
            "token_scores": [],
            "sex_gap": [],
            "retention": [],
            "risk": [],
            "efficiency": [],
            "judge_quality": ["papers/published_judges"],
            "published_beside_ours": [
                *("papers/nearest_corpus", "papers/nearest_measure", "papers/nearest_system"),
                *("papers/published_corpora", "papers/published_costs", "papers/published_judges"),
                *("papers/published_misprints", "papers/published_missed", "papers/published_recovered"),
                *("papers/published_retention", "papers/published_scores"),
            ],
        }.items()
    },
    "marts/score_history": (
        *("analytics", "dbt postgres", False, None),
        "bench/lab bench/metrics",
    ),
    **{
        f"papers/{name}": ("analytics", "dbt postgres", False, None, "")
        for name in (
            *("published_scores", "published_retention", "published_judges", "published_costs", "published_missed"),
            *("published_recovered", "published_corpora", "published_survey", "published_misprints"),
            *("nearest_corpus", "nearest_measure", "nearest_system"),
        )
    },
    "marts/published_coverage": ("analytics", "dbt postgres", False, None, "marts/published_beside_ours"),
    "research/release": ("analytics", "postgres", False, None, "marts/note_profile research/note_version"),
    "research/dossier": ("privacy-office", "html", False, None, "bench/lab research/release"),
}

OF_DBT = ("marts", "papers")
"""Whose checks are dbt's data tests."""
JOBS = ["refresh", "surrogate_corpora", "search", "retention", "__ASSET_JOB"]


@pytest.fixture(scope="module")
def specs(definitions: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {"/".join(spec.key.path): spec for spec in definitions.resolve_all_asset_specs()}


def test_there_are_no_other_assets(specs: dict[str, dg.AssetSpec]) -> None:
    assert set(specs) == set(ASSETS)


def test_all_that_operators_start_or_read_is_described(definitions: dg.Definitions) -> None:
    repository = definitions.get_repository_def()
    named = [job for job in repository.get_all_jobs() if not job.name.startswith("__")]
    checks = definitions.resolve_asset_graph().asset_check_keys
    shown = [*named, *repository.schedule_defs, *repository.sensor_defs]
    assert len(shown) >= 5
    assert [one.name for one in shown if not one.description] == []
    specs = [definitions.resolve_asset_graph().get_check_spec(key) for key in checks if key.asset_key.path[0] == "gate"]
    assert specs
    assert [spec.name for spec in specs if not spec.description] == []


def test_the_marts_columns_have_types_and_meanings(specs: dict[str, dg.AssetSpec]) -> None:
    columns = {
        key: spec.metadata["dagster/column_schema"].columns
        for key, spec in specs.items()
        if key.startswith(("marts/", "papers/"))
    }
    assert [c.name for c in columns["marts/note_profile"]][:2] == ["note_type", "note_year"]
    assert [
        (key, c.name) for key, its in columns.items() for c in its if not c.type or c.type == "?" or not c.description
    ] == []


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
    assert [column.name for column in schema.columns if not column.description] == []
    assert [column.type for column in schema.columns if len(column.type) > 45] == []


def test_the_gate_is_mirrored_in_partitioned_checks(definitions: dg.Definitions) -> None:
    keys = definitions.resolve_asset_graph().asset_check_keys
    ours = [key for key in keys if key.asset_key.path[0] not in OF_DBT]
    assert {"/".join(key.asset_key.path) for key in ours} == {"gate/delivery"}
    names = {key.name for key in ours}
    required = {f"gate_{name}" for name in ("parity", "leaks", "bench", "topics", "languages", "site_gold")}
    expected = {expectation_check(name) for name in EXPECTATIONS}
    assert names == expected | required
    for key in keys:
        spec = definitions.resolve_asset_graph().get_check_spec(key)
        if key.name in expected:
            assert spec.blocking, key.name


def test_what_the_gate_demands_is_listed_before_what_is_expected_of_which_rows(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    ours = [key for key in graph.asset_check_keys if key.asset_key.path[0] not in OF_DBT]
    said = {key.name: graph.get_check_spec(key).description for key in ours}
    listed = [name.split("_")[0] for name in sorted(said)]
    assert [*dict.fromkeys(listed)] == ["gate", "staged"]
    assert said["staged_key_id_format"] == "every staged row, column key_id: hexadecimal"


def test_a_launch_of_the_main_job_asks_about_no_asset_that_is_made_on_request(definitions: dg.Definitions) -> None:
    # The UI asks "Are you sure?" where an asset that the job stands on, and does not make, was never made.
    graph = definitions.resolve_asset_graph()
    made = definitions.resolve_job_def("refresh").asset_layer.selected_asset_keys
    stands_on = {parent for key in made for parent in graph.get(key).parent_keys}
    assert len(stands_on) > 10
    assert {key for key in stands_on - made if graph.get(key).is_materializable} == set()


def test_no_description_begins_a_line_with_blanks_which_the_ui_shows_as_code(specs: dict[str, dg.AssetSpec]) -> None:
    ours = {key: spec.description or "" for key, spec in specs.items() if not key.startswith(("marts/", "papers/"))}
    assert [key for key, said in ours.items() if re.search(r"^ ", said, re.M)] == []


def test_what_analysts_see_has_a_deadline_a_day_after_the_weekly_refresh(
    definitions: dg.Definitions, specs: dict[str, dg.AssetSpec]
) -> None:
    deadline = dg.FreshnessPolicy.time_window(fail_window=timedelta(days=8), warn_window=timedelta(days=7.5))
    assert {key: spec.freshness_policy for key, spec in specs.items() if spec.freshness_policy} == {
        "research/release": deadline,
        **{key: deadline for key in ASSETS if key.startswith("marts/")},
    }


def test_a_site_sets_the_deadline_with_its_schedule() -> None:
    policy = freshness(ScheduleSettings(warn_after_days=1, stale_after_days=2))(dg.AssetSpec("any")).freshness_policy
    assert policy == dg.FreshnessPolicy.time_window(fail_window=timedelta(days=2), warn_window=timedelta(days=1))


CORPORA = {"bench/surrogate_notes", "bench/corpus_statistics", "bench/corpus_detections", "bench/corpus_scores"}


def test_a_refresh_makes_everything_but_what_is_made_on_request(definitions: dg.Definitions) -> None:
    made = definitions.resolve_job_def("refresh").asset_layer.selected_asset_keys
    assert set(ASSETS) - {"/".join(key.path) for key in made} == {
        "dictionaries/harvested",
        "dictionaries/recovered",
        "annotation/agreement",
        "review/removals",
        "models/trained",
        "models/leave_one_locale_out",
        "models/one_locale",
        "models/cross_format",
        "models/learning_curve",
        "bench/contributions",
        "bench/fairness",
        "bench/stability",
        "bench/utility",
        "bench/cost",
        "bench/attacker",
        "bench/indirect",
        "bench/detector_scores",
        "bench/prompt_trials",
        *CORPORA,
    }


def test_no_refresh_asks_a_language_model_to_judge(definitions: dg.Definitions) -> None:
    judging = judge_assets(Settings(site="north", profile="demo", llm={"url": "http://127.0.0.1:9/v1", "model": "toy"}))
    every = [*(definitions.assets or ()), *judging]
    made = {key.to_user_string() for key in refresh.selection.resolve(every)}
    assert "bench/lab" in made and not any(key.startswith("judges/") for key in made)
    assert {it.key.to_user_string() for it in judging} == {"judges/pairs", "judges/retention", "judges/panel"}


def test_surrogate_corpora_have_a_partition_for_each_corpus_and_locale(definitions: dg.Definitions) -> None:
    job = definitions.resolve_job_def("surrogate_corpora")
    assert {"/".join(key.path) for key in job.asset_layer.selected_asset_keys} == CORPORA
    assert job.partitions_def is not None
    keys = set(job.partitions_def.get_partition_keys())
    assert keys == {f"{corpus}|{locale}" for corpus in (*PUBLISHED, *LICENSED, *shipped()) for locale in LOCALES}


def test_a_sensor_and_three_schedules_start_three_jobs(definitions: dg.Definitions) -> None:
    assert [(sensor.name, sensor.job_name) for sensor in definitions.sensors] == [("new_deliveries", "refresh")]
    assert [(each.name, each.job_name, each.cron_schedule) for each in definitions.schedules] == [
        ("weekly_refresh", "refresh", "0 6 * * 1"),
        ("daily_search", "search", "30 2 * * *"),
        ("daily_retention", "retention", "30 3 * * *"),
    ]


@pytest.mark.parametrize("job", JOBS)
def test_a_run_is_one_process(definitions: dg.Definitions, job: str) -> None:
    assert definitions.resolve_job_def(job).executor_def.name == "in_process"


def test_a_resource_shows_nothing_of_its_settings(definitions: dg.Definitions) -> None:
    for name in ("site", "dbt"):
        assert definitions.resources[name].config_schema.as_field().config_type.fields == {}


# What a run may set. Whoever launches one could else hand resources another program to run, other thresholds or
# another folder.

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

# What one might set, and of which job: a section that the job's own schema knows.
OPEN = {
    "the program that dbt is": (
        "__ASSET_JOB",
        {"resources": {"dbt": {"config": {"dbt_executable": "/bin/sh", "global_config_flags": ["-c", "exit"]}}}},
    ),
    "dbt's project": ("refresh", {"resources": {"dbt": {"config": {"project_dir": "/tmp", "profiles_dir": "/tmp"}}}}),
    "the thresholds": ("refresh", {"resources": {"site": {"config": {"config": "/tmp/deid.toml"}}}}),
    "where values are written": ("__ASSET_JOB", {"resources": {"io_manager": {"config": {"base_dir": "/tmp"}}}}),
    "a step": ("refresh", {"ops": {"research__note_version": {"config": {"delivery": "hospital@2026-01-05"}}}}),
    "a step of dbt's": ("__ASSET_JOB", {"ops": {"marts": {"config": {"select": "*"}}}}),
    "a check": ("__ASSET_JOB", {"ops": {"expectations": {"config": {"skip": True}}}}),
    "retention's step": ("retention", {"ops": {"forget_old_runs": {"config": {"days": 0}}}}),
    "the executor": ("refresh", {"execution": {"config": {"retries": {"disabled": {}}}}}),
    "the executor of retention": ("retention", {"execution": {"config": {"multiprocess": {}}}}),
    "the logger's name": ("refresh", {"loggers": {"console": {"config": {"name": "dagster.redacted_errors"}}}}),
    "another logger": ("refresh", {"loggers": {"json": {"config": {}}}}),
    "an input": ("refresh", {"inputs": {"site": {"value": "/tmp"}}}),
}


def _leaves(kind: ConfigType, path: str = "") -> Iterator[str]:
    """The paths of a run's configuration at which a value may stand."""
    if kind.kind in (ConfigTypeKind.STRICT_SHAPE, ConfigTypeKind.PERMISSIVE_SHAPE, ConfigTypeKind.SELECTOR):
        for name, field in kind.fields.items():
            yield from _leaves(field.config_type, f"{path}.{name}" if path else name)
    else:
        yield path


def _job(definitions: dg.Definitions, name: str) -> dg.JobDefinition:
    return definitions.get_repository_def().get_job(name)


@pytest.mark.parametrize("name", JOBS)
def test_all_that_a_run_may_set_is_what_the_console_says(definitions: dg.Definitions, name: str) -> None:
    schema = _job(definitions, name).run_config_schema.run_config_schema_type
    assert set(_leaves(schema)) == {"loggers.console.config.log_level"}


def test_these_are_all_jobs(definitions: dg.Definitions) -> None:
    assert {each.name for each in definitions.get_repository_def().get_all_jobs()} == set(JOBS)


@pytest.mark.parametrize("what", OPEN)
def test_a_run_that_sets_anything_else_does_not_begin(definitions: dg.Definitions, what: str) -> None:
    name, run_config = OPEN[what]
    with pytest.raises(dg.DagsterInvalidConfigError):
        dg.validate_run_config(_job(definitions, name), run_config)


def test_the_console_s_level_is_one_of_the_known_ones(definitions: dg.Definitions) -> None:
    dg.validate_run_config(_job(definitions, "refresh"), QUIET)
    with pytest.raises(dg.DagsterInvalidConfigError):
        dg.validate_run_config(
            _job(definitions, "refresh"), {"loggers": {"console": {"config": {"log_level": "/bin/sh"}}}}
        )


def test_a_mart_whose_columns_changed_gives_up_on_its_readers_with_a_code(
    definitions, instance, warehouse, monkeypatch
) -> None:
    monkeypatch.setattr(layer, "RETRIES", dg.RetryPolicy(max_retries=0))
    with warehouse.administer() as connection:
        connection.exec_driver_sql("SET ROLE deid_modeller")
        connection.exec_driver_sql("CREATE TABLE marts.note_profile (former integer)")
    cli = Dbt.cli
    impatient = ["--vars", "lock_timeout: 100ms"]
    monkeypatch.setattr(Dbt, "cli", lambda self, args, **more: cli(self, [*args, *impatient], **more))

    with warehouse.engine(Role.DEMO_ANALYST).connect() as idle:
        idle.exec_driver_sql("SELECT * FROM marts.note_profile")
        job = definitions.resolve_implicit_global_asset_job_def()
        refused = job.execute_in_process(asset_selection=[MART], instance=instance, raise_on_error=False)
        assert not refused.success
        said = refused.failure_data_for_node("marts").user_failure_data.description
        assert said.startswith("warehouse-busy [marts]")


def test_marts_are_built_only_if_what_they_are_built_from_has_changed(
    definitions, instance, installation, warehouse, monkeypatch
) -> None:
    project = mart_relations(dbt_project(load_settings(installation).home_path / "dagster" / "dbt"))
    built: list[Path] = []

    def cli(self, args, *, context, target_path):
        built.append(target_path)
        with warehouse.begin(Role.MODELLER) as connection:
            for schema, name in (*project.models, *project.seeds):
                connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {schema}.{name} (one integer)")
        order = definitions.resolve_asset_graph().toposorted_asset_keys
        made = [dg.MaterializeResult(asset_key=key) for key in order if key in context.selected_asset_keys]
        return SimpleNamespace(stream=lambda: made)

    monkeypatch.setattr(Dbt, "cli", cli)
    every = [key for key in definitions.resolve_asset_graph().get_all_asset_keys() if key.path[0] in OF_DBT]
    job = definitions.resolve_implicit_global_asset_job_def()

    def refreshed(keys: list[dg.AssetKey]) -> dict[dg.AssetKey, object]:
        events = job.execute_in_process(asset_selection=keys, instance=instance).get_asset_materialization_events()
        return {event.asset_key: event.materialization.metadata.get("built") for event in events}

    assert refreshed(every) == dict.fromkeys(every)
    before = dg.MetadataValue.text("as before: nothing has changed that they are built from")
    assert refreshed(every) == dict.fromkeys(every, before)
    assert len(built) == 1
    assert refreshed([MART]) == {MART: None}  # somebody asked for it
    assert len(built) == 2
    assert not any(folder.exists() for folder in built)
