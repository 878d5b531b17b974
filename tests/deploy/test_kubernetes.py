"""The values for Dagster's own chart, and what lies beside them: read as far as nothing of a cluster is needed.

The chart is not in this repository. What its schema says of the names used here is stated below. Where
DEID_DAGSTER_CHART names the chart's folder, the values are validated against its own `values.schema.json` too.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import jsonschema
import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"

# Facts of the chart: its sections, and those whose schema allows no further name.
SECTIONS = {
    "global",
    "rbacEnabled",
    "generatePostgresqlPasswordSecret",
    "postgresql",
    "dagster-user-deployments",
    "dagsterDaemon",
    "dagsterWebserver",
    "runLauncher",
    "computeLogManager",
    "pythonLogs",
    "telemetry",
    "retention",
    "additionalInstanceConfig",
}
OF_A_POD = {"image", "env", "volumes", "volumeMounts", "podSecurityContext", "securityContext"}
CLOSED = {
    "dagsterWebserver": OF_A_POD | {"enableReadOnly"},
    "dagsterDaemon": OF_A_POD | {"enabled", "runCoordinator", "runMonitoring", "runRetries"},
    "runLauncher": {"type", "config"},
    "pythonLogs": {"pythonLogLevel"},
}
# What the chart itself writes into dagster.yaml, from other values.
BY_THE_CHART = {"storage", "telemetry", "compute_logs", "python_logs", "run_launcher", "retention"}


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "kubernetes" / "values.yaml").read_text())


@pytest.fixture(scope="module")
def code(values: dict[str, Any]) -> dict[str, Any]:
    (found,) = values["dagster-user-deployments"]["deployments"]
    return found


@pytest.fixture(scope="module")
def instance_settings() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "dagster.yaml").read_text())


def test_the_values_name_only_what_the_chart_has(values: dict[str, Any]) -> None:
    assert set(values) <= SECTIONS
    for section, names in CLOSED.items():
        assert set(values[section]) <= names, section


def test_the_chart_s_instance_is_that_of_the_other_installations(
    values: dict[str, Any], instance_settings: dict[str, Any]
) -> None:
    ours = {name: found for name, found in instance_settings.items() if name not in BY_THE_CHART}
    assert values["additionalInstanceConfig"] == ours
    launcher = instance_settings["run_launcher"]
    assert values["runLauncher"]["config"]["customRunLauncher"] == {**launcher, "config": {}}
    assert values["pythonLogs"]["pythonLogLevel"] == instance_settings["python_logs"]["python_log_level"]
    assert values["telemetry"] == instance_settings["telemetry"]
    days = {name: found["purge_after_days"] for name, found in instance_settings["retention"].items()}
    assert {name: values["retention"][name]["purgeAfterDays"] for name in days} == days
    # Both ways to set these at once are refused by Dagster.
    for name in ("runCoordinator", "runMonitoring", "runRetries"):
        assert values["dagsterDaemon"][name] == {"enabled": False}


def test_dagster_opens_the_instance_that_the_chart_makes_of_them(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {
        **values["additionalInstanceConfig"],
        "run_launcher": values["runLauncher"]["config"]["customRunLauncher"],
        "scheduler": {"module": "dagster.core.scheduler", "class": "DagsterDaemonScheduler"},
        "compute_logs": {
            "module": "dagster.core.storage.noop_compute_log_manager",
            "class": values["computeLogManager"]["type"],
        },
        "python_logs": {"python_log_level": values["pythonLogs"]["pythonLogLevel"]},
        "telemetry": values["telemetry"],
    }
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(made))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with dg.DagsterInstance.get() as instance:
        assert type(instance.run_launcher).__name__ == "WatchedRunLauncher"
        assert type(instance.compute_log_manager).__name__ == "NoOpComputeLogManager"
        assert instance.get_concurrency_config().run_queue_config.max_concurrent_runs == 1
        assert instance.run_monitoring_enabled
        assert instance.run_retries_max_retries == 1


def containers(values: dict[str, Any], code: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[dict]]]:
    """Every container, with the volumes of its pod."""
    yield "code", code, code["volumes"]
    for container in code["initContainers"]:
        yield container["name"], container, code["volumes"]
    for name in ("dagsterDaemon", "dagsterWebserver"):
        yield name, values[name], values[name]["volumes"]


def test_only_what_reads_notes_can_reach_them(values: dict[str, Any], code: dict[str, Any]) -> None:
    for name, container, volumes in containers(values, code):
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted <= {volume["name"] for volume in volumes}, name
        assert ({"home", "secrets"} <= mounted) is (name in ("code", "bootstrap")), name
        assert ("administrator" in mounted) is (name == "bootstrap"), name
    assert "home" not in {volume["name"] for volume in values["dagsterDaemon"]["volumes"]}


def test_what_an_archive_sets_lets_the_code_server_write_deliveries_and_nothing_else(values: dict[str, Any]) -> None:
    page = (DEPLOY.parent / "docs" / "archive.md").read_text()
    changed = copy.deepcopy(values)
    for path in re.findall(r"--set '([^']+)=false'", page):
        *way, last = (int(step) if step.isdigit() else step for step in re.findall(r"[\w-]+", path))
        at = changed
        for step in way:
            at = at[step]
        assert at[last] is True
        at[last] = False
    before, after = (it["dagster-user-deployments"]["deployments"][0] for it in (values, changed))
    for section in ("volumes", "volumeMounts"):
        now = [it for it in after[section] if it not in before[section]]
        assert [it["name"] for it in now] == ["deliveries"]
    after |= {section: before[section] for section in ("volumes", "volumeMounts")}
    assert changed == values


def test_every_container_runs_without_privileges_and_every_secret_is_a_file(
    values: dict[str, Any], code: dict[str, Any]
) -> None:
    for name, container, _ in containers(values, code):
        closed = container["securityContext"]
        assert closed == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        for variable in container["env"]:
            assert not variable["name"].endswith(("PASSWORD", "SECRET")), name
            assert "@" not in variable["value"] or ":" not in variable["value"].split("//")[1].split("@")[0]
    users = {name: values[name]["podSecurityContext"]["runAsUser"] for name in ("dagsterDaemon", "dagsterWebserver")}
    assert set(users.values()) == {10002}
    assert code["podSecurityContext"]["runAsUser"] == 10001
    assert code["deploymentStrategy"] == {"type": "Recreate"}
    assert not values["rbacEnabled"]


def test_the_network_is_closed_but_for_the_ways_that_are_needed(code: dict[str, Any]) -> None:
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "platform.yaml").read_text()))
    policies = {
        document["spec"]["podSelector"]["matchLabels"]["component"]: document["spec"]
        for document in documents
        if document["kind"] == "NetworkPolicy"
    }
    assert policies["dagster-webserver"]["ingress"] == policies["dagster-daemon"]["ingress"] == []
    ours = policies["user-deployments"]
    assert ours["podSelector"]["matchLabels"]["deployment"] == code["name"]
    (way,) = ours["ingress"]
    assert way["ports"] == [{"port": code["port"]}]
    asked = {source["podSelector"]["matchLabels"]["component"] for source in way["from"]}
    assert asked == {"dagster-daemon", "dagster-webserver", "dagster-webserver-read-only"}
    assert "Egress" in ours["policyTypes"]
    assert {port["port"] for way in ours["egress"] for port in way["ports"]} == {5432, 53}
    claims = {document["metadata"]["name"] for document in documents if document["kind"] == "PersistentVolumeClaim"}
    used = {v["persistentVolumeClaim"]["claimName"] for v in code["volumes"] if "persistentVolumeClaim" in v}
    assert claims == used


def test_the_chart_s_own_schema_accepts_the_values(values: dict[str, Any]) -> None:
    if (chart := os.environ.get("DEID_DAGSTER_CHART")) is None:
        pytest.skip("NOT RUN: DEID_DAGSTER_CHART names no folder of Dagster's chart")
    schema = _local(json.loads((Path(chart) / "values.schema.json").read_text()))
    # As helm does: the chart's own values, and ours over them.
    merged = _merged(yaml.safe_load((Path(chart) / "values.yaml").read_text()), values)
    jsonschema.validate(merged, schema)
    merged["dagsterWebserver"]["no_such_name"] = 1
    with pytest.raises(jsonschema.ValidationError, match="no_such_name"):
        jsonschema.validate(merged, schema)


def _local(schema: Any) -> Any:
    """A schema without what it refers to on the network: that of Kubernetes' own objects."""
    if isinstance(schema, list):
        return [_local(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: _local(v) for k, v in schema.items() if k != "$ref" or not str(v).startswith("http")}


def _merged(under: Any, over: Any) -> Any:
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {**under, **{name: _merged(under.get(name), found) for name, found in over.items()}}
