"""What all assets share: which failures are tried again, and that none of them says more than its code."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import pytest
import yaml
from dagster._core.instance import InstanceRef
from dagster_shared.error import SerializableErrorInfo
from lost_signals import lose

from assets import layer
from assets.run_config import closed
from deid_platform.errors import Code, DeidError
from deid_platform.orchestration.instance import prepare_instance
from deid_platform.settings import load_settings
from resources import SiteResource

Found = Callable[[Path], dict[str, str]]
ROOT = Path(__file__).parents[2]
MARKER = "Wolfgangsee Brombeer"


class Open(dg.ConfigurableResource):
    """A resource that reads what a run sets."""

    program: str = "dbt"


class Steps:
    """Runs one asset whose first attempts end with these errors, and counts its attempts."""

    def __init__(self, site: object, instance: dg.DagsterInstance) -> None:
        self.site, self.instance, self.attempts = site, instance, 0

    def run(self, *errors: BaseException, run_config: Mapping[str, object] | None = None) -> dg.ExecuteInProcessResult:
        left = list(errors)

        @layer.layer_asset("deid/step", owner=layer.ENGINEERS, kinds={"parquet"})
        def step(site: SiteResource) -> layer.Counts:
            """A step."""
            self.attempts += 1
            if left:
                raise left.pop(0)
            return {"rows": 1}

        return dg.materialize(
            [step],
            # The second is open to a run's configuration, as one that a site adds may be.
            resources={"site": self.site, "open": Open()},
            run_config=run_config,
            instance=self.instance,
            raise_on_error=False,
        )


@pytest.fixture
def steps(definitions: dg.Definitions, monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    monkeypatch.setattr(layer, "RETRIES", layer.RETRIES._replace(delay=0, backoff=None, jitter=None))
    with dg.DagsterInstance.ephemeral() as in_memory:
        yield Steps(definitions.resources["site"], in_memory)


def unreachable(times: int) -> list[BaseException]:
    return [DeidError(Code.WAREHOUSE_UNREACHABLE) for _ in range(times)]


def failure(result: dg.ExecuteInProcessResult) -> dg.DagsterEvent:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    return event


@pytest.mark.parametrize("times", [1, layer.RETRIES.max_retries])
def test_a_step_that_lost_the_warehouse_is_tried_again_and_succeeds(steps: Steps, times: int) -> None:
    assert steps.run(*unreachable(times)).success
    assert steps.attempts == times + 1


def test_a_step_gives_up_on_a_warehouse_that_stays_away_and_says_so(steps: Steps) -> None:
    times = layer.RETRIES.max_retries + 1
    result = steps.run(*unreachable(times))
    assert not result.success
    assert steps.attempts == times
    assert failure(result).step_failure_data.user_failure_data.description.startswith("warehouse-unreachable")


@pytest.mark.parametrize(
    "error",
    [
        DeidError(Code.GATE_REFUSED),
        DeidError(Code.WAREHOUSE_LOGIN),
        DeidError(Code.WAREHOUSE_FULL),
        DeidError(Code.STORE_WRITE),
        ValueError("surprise"),
    ],
    ids=lambda error: error.code.slug if isinstance(error, DeidError) else type(error).__name__,
)
def test_any_other_failure_is_final(steps: Steps, error: Exception) -> None:
    assert not steps.run(error).success
    assert steps.attempts == 1


@pytest.mark.parametrize(
    "refusal",
    [
        DeidError(Code.GATE_REFUSED, "hospital@2026-01-05: bench failed (recall 0.588, at least 0.850)"),
        DeidError(Code.FEED_UNREADABLE, "hospital@2026-01-05"),
    ],
    ids=lambda error: error.code.slug,
)
def test_a_refusal_shows_its_own_words_and_neither_a_stack_nor_an_error_id(steps: Steps, refusal: DeidError) -> None:
    assert os.environ["DAGSTER_REDACT_USER_CODE_ERRORS"] == "1"
    result = steps.run(refusal)
    (ended,) = [event for event in result.all_events if event.is_failure and not event.is_step_event]
    shown = [failure(result).step_failure_data.error, ended.job_failure_data.first_step_failure_event]
    assert shown[0] == SerializableErrorInfo(message=str(refusal), stack=[], cls_name="RefusalError")
    assert shown[1] is None or shown[1].step_failure_data.error == shown[0]
    metadata = failure(result).step_failure_data.user_failure_data.metadata
    assert metadata["code"] == dg.MetadataValue.text(refusal.code.slug)


def test_only_infrastructure_is_worth_another_attempt() -> None:
    assert {code for code in Code if code.transient} == {
        Code.FEED_UNREACHABLE,
        Code.STORE_UNREACHABLE,
        Code.WAREHOUSE_UNREACHABLE,
        Code.WAREHOUSE_BUSY,
    }


def test_the_attempts_outlast_a_restart_of_the_server_and_end_within_two_minutes() -> None:
    longest = sum(layer.RETRIES.calculate_delay(attempt) for attempt in (1, 2, 3))
    assert 30 <= longest <= 120


def test_a_step_that_is_stopped_is_not_started_again(steps: Steps) -> None:
    assert not steps.run(KeyboardInterrupt()).success
    assert steps.attempts == 1


QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
OPENED = {"resources": {"open": {"config": {"program": "/bin/sh"}}}}


# What "Scaffold all default config" of the UI writes into the launchpad.
SCAFFOLDED = {
    **QUIET,
    "execution": {"config": {}},
    "ops": {"deid__step": {"config": {}}},
    "resources": {"open": {"config": {}}},
}


@pytest.mark.parametrize(
    "run_config", [None, {}, QUIET, SCAFFOLDED], ids=["none", "empty", "quiet", "as the launchpad scaffolds it"]
)
def test_a_step_runs_without_configuration(steps: Steps, run_config: Mapping[str, object] | None) -> None:
    assert steps.run(run_config=run_config).success


@pytest.mark.parametrize("run_config", [OPENED, OPENED | QUIET, SCAFFOLDED | OPENED], ids=str)
def test_a_step_refuses_its_run_where_a_schema_let_configuration_pass(
    steps: Steps, run_config: Mapping[str, object]
) -> None:
    result = steps.run(run_config=run_config)
    assert failure(result).step_failure_data.user_failure_data.description.startswith("run-config-refused")
    assert steps.attempts == 0


def test_a_resource_is_handed_out_as_it_was_made() -> None:
    made = Open(program="ours")
    with dg.build_resources({"open": closed(made)}) as handed:
        assert handed.open is made
    with (
        pytest.raises(dg.DagsterInvalidConfigError),
        dg.build_resources({"open": closed(made)}, resource_config=OPENED["resources"]),
    ):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_step_whose_interrupt_got_lost_is_the_last_of_its_run(
    definitions: dg.Definitions, instance: dg.DagsterInstance, how: signal.Signals
) -> None:
    done: list[str] = []

    @layer.layer_asset("gate/first", owner=layer.PRIVACY, kinds={"postgres"})
    def first(site: SiteResource) -> layer.Counts:
        """Finishes what it does."""
        lose(how)
        done.append("first")
        return {}

    @layer.layer_asset("research/second", owner=layer.PRIVACY, kinds={"postgres"}, deps=[first])
    def second(site: SiteResource) -> layer.Counts:
        """Would publish."""
        done.append("second")
        return {}

    result = dg.materialize(
        [first, second], resources={"site": definitions.resources["site"]}, instance=instance, raise_on_error=False
    )
    assert not result.success
    assert done == ["first"]
    assert result.get_asset_materialization_events() == []


@pytest.mark.parametrize("ended", ["report_run_canceling", "report_run_canceled", "report_run_failed"])
def test_a_run_that_was_stopped_or_given_up_meanwhile_begins_no_further_step(
    definitions: dg.Definitions, instance: dg.DagsterInstance, ended: str
) -> None:
    done: list[str] = []

    @dg.asset
    def first(context) -> None:
        getattr(instance, ended)(context.run)

    @layer.layer_asset("research/second", owner=layer.PRIVACY, kinds={"postgres"}, deps=[first])
    def second(site: SiteResource) -> layer.Counts:
        """Would publish."""
        done.append("second")
        return {}

    resources = {"site": definitions.resources["site"]}
    assert not dg.materialize([first, second], resources=resources, instance=instance, raise_on_error=False).success
    assert done == []


@pytest.mark.parametrize("error", [ValueError(MARKER), UnicodeDecodeError("utf-8", MARKER.encode(), 0, 1, "?")])
def test_what_an_unexpected_error_says_reaches_neither_the_event_log_nor_the_console(
    steps: Steps,
    instance: dg.DagsterInstance,
    error: Exception,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    steps.instance = instance  # one with files
    result = steps.run(error)
    assert failure(result).step_failure_data.user_failure_data.description.startswith("internal-error")
    assert_unseen(tmp_path, capfd)


def test_not_even_where_the_platform_did_not_catch_it(
    instance: dg.DagsterInstance, definitions: dg.Definitions, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    @dg.asset
    def bare() -> None:
        raise ValueError(MARKER)

    result = dg.materialize([bare], instance=instance, raise_on_error=False)
    assert not result.success
    assert_unseen(tmp_path, capfd)


def assert_unseen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shown = capfd.readouterr()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    for word in MARKER.split():
        assert word not in shown.out + shown.err
        assert [path.name for path in files if word.encode() in path.read_bytes()] == []


def test_what_a_run_writes_is_its_owners_alone(
    definitions: dg.Definitions, installation: Path, arrive: Callable[..., None], open_to_others: Found
) -> None:
    arrive("2026-03-02", [{"note_id": "1", "text": "Well."}])
    home = load_settings(installation).home_path
    with dg.DagsterInstance.local_temp(str(home / "dagster")) as own:
        own.add_dynamic_partitions("delivery", ["hospital@2026-03-02"])
        result = definitions.resolve_job_def("refresh").execute_in_process(
            partition_key="hospital@2026-03-02",
            instance=own,
            asset_selection=[
                dg.AssetKey(["source", name]) for name in ("patients", "providers", "facilities", "raw_notes")
            ],
        )
    assert result.success
    assert (home / "store" / "source" / "raw_notes" / "hospital@2026-03-02" / "manifest.json").exists()
    assert open_to_others(home) == {}


@pytest.fixture
def environment() -> Iterator[None]:
    """Puts back what `prepare_instance` sets."""
    with patch.dict(os.environ):
        yield


@pytest.mark.usefixtures("environment")
def test_an_instance_folder_that_was_open_is_closed(installation: Path, tmp_path: Path, open_to_others: Found) -> None:
    settings = load_settings(installation).model_copy(update={"home": tmp_path})
    folder = tmp_path / "dagster"
    folder.mkdir(mode=0o755)
    assert prepare_instance(settings, installation) == folder
    assert open_to_others(folder) == {}


@pytest.mark.usefixtures("environment")
def test_dagster_dev_in_a_clone_has_the_history_of_the_platform(
    installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `dagster dev` makes its instance where DAGSTER_HOME is not set: a temporary one, configured by this folder."""
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    ref = InstanceRef.from_dir(str(tmp_path / "temporary"), config_dir=str(ROOT))
    with dg.DagsterInstance.from_ref(ref) as of_dev:
        of_dev.add_dynamic_partitions("delivery", ["hospital@2026-03-02"])
        run = of_dev.create_run_for_job(dg.job(name="retention")(lambda: None))
    prepare_instance(load_settings(installation).model_copy(update={"home": tmp_path / ".deid"}), installation)
    with dg.DagsterInstance.get() as of_ui:
        assert [it.run_id for it in of_ui.get_runs()] == [run.run_id]
        assert of_ui.get_dynamic_partitions("delivery") == ["hospital@2026-03-02"]


def test_dagster_dev_runs_on_the_settings_of_the_platform_s_instance() -> None:
    of_dev = yaml.safe_load((ROOT / "dagster.yaml").read_text())
    packaged = yaml.safe_load((ROOT / "deid_platform" / "orchestration" / "dagster.yaml").read_text())
    assert {key: it for key, it in of_dev.items() if key not in ("storage", "local_artifact_storage")} == packaged


@pytest.mark.usefixtures("environment")
def test_dagster_dev_says_once_that_nothing_guards_it(
    installation: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DEID_DEV_TOLD", raising=False)
    settings = load_settings(installation)
    prepare_instance(settings, installation)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("DAGSTER_IS_DEV_CLI", "1")
    prepare_instance(settings, installation)
    prepare_instance(settings, installation)
    assert capsys.readouterr().err.count("`deid ui` serves the same runs behind the guard") == 1
