"""The one way in which an asset of this platform is declared.

Belongs here: what all assets share (key, group, partitioning, seconds in the metadata, errors that carry a
code and no value, seconds of models, and which of them are tried again). Does not belong here: any one asset.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from time import perf_counter
from typing import Any, get_type_hints

import dagster as dg
from dagster import DagsterInvariantViolationError
from dagster._core.errors import DagsterUserCodeProcessError
from dagster._utils.error import USER_FACING_ERROR_ID_ATTR_NAME
from dagster_shared.error import SerializableErrorInfo

from assets.run_config import refuse_run_config
from deid_platform.errors import DeidError, internal
from deid_platform.notes import Delivery
from deid_platform.refresh.installation.lock import installation_lock
from deid_platform.runtime.model_seconds import Ran
from deid_platform.runtime.stopping import check, watched
from resources import SiteResource

# Dynamic, because late and corrected notes arrive today whatever their date.
DELIVERIES = dg.DynamicPartitionsDefinition(name="delivery")

ENGINEERS = "team:data-engineering"
PRIVACY = "team:privacy-office"
ANALYTICS = "team:analytics"

Counts = Mapping[str, Any]

# Three more attempts over three quarters of a minute: a server that restarts or fails over is back by then.
# Jitter, so that runs which lost the same server do not return to it together.
RETRIES = dg.RetryPolicy(max_retries=3, delay=4.0, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)

# What a run's record says once somebody has asked it to stop, or has given it up.
_NO_LONGER_WANTED = (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.FAILURE)


def layer_asset(
    key: str,
    *,
    owner: str,
    kinds: set[str],
    deps: Sequence[dg.AssetsDefinition | dg.AssetKey | dg.AssetDep] = (),
    partitions: dg.PartitionsDefinition[str] | None = None,
    pool: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    description: str | None = None,
    alone: bool = True,
) -> Callable[[Callable[..., Counts]], dg.AssetsDefinition]:
    """Declares an asset whose function returns what may be shown of it: counts, digests and pictures.

    Args:
        key: `layer/entity`; the layer is its group.
        owner: The team that answers for it.
        kinds: Tags that the UI shows on the asset.
        deps: The assets it reads from the store or the warehouse.
        partitions: How it is partitioned, mostly by delivery.
        pool: Assets of one pool run one at a time.
        metadata: Of the definition, such as its columns.
        description: By default the function's docstring.
        alone: Whether nothing else refreshes the installation meanwhile; without, it may only read.
    """

    def declare(compute: Callable[..., Counts]) -> dg.AssetsDefinition:
        @wraps(compute)
        def guarded(*args: Any, **kwargs: Any) -> dg.MaterializeResult[None]:
            started, ran_before = perf_counter(), _ran(kwargs)
            with step(key, kwargs["site"]) if alone else coded(key):
                shown = compute(*args, **kwargs)
            spent = {"seconds": perf_counter() - started, **_seconds_of_models(kwargs, ran_before)}
            return dg.MaterializeResult(metadata={**shown, **{name: round(it, 2) for name, it in spent.items()}})

        # Dagster reads the context's and the resources' types off the signature, and wants types, not their names.
        asked = inspect.signature(compute, eval_str=True).replace(return_annotation=dg.MaterializeResult)
        guarded.__signature__ = asked  # type: ignore[attr-defined]
        guarded.__annotations__ = {**get_type_hints(compute, include_extras=True), "return": dg.MaterializeResult}
        return dg.asset(
            key=key.split("/"),
            group_name=key.split("/")[0],
            partitions_def=partitions,
            deps=[dep.key if isinstance(dep, dg.AssetsDefinition) else dep for dep in deps],
            owners=[owner],
            kinds=kinds,
            pool=pool,
            config_schema={},
            metadata=dict(metadata or {}),
            description=description or inspect.getdoc(compute),
        )(guarded)

    return declare


def _ran(resources: Mapping[str, Any]) -> Ran:
    """The seconds in which models of a run have run so far."""
    return resources["gpu"].seconds.ran if "gpu" in resources else Ran()


def _seconds_of_models(resources: Mapping[str, Any], before: Ran) -> dict[str, float]:
    """The seconds in which models ran in this step, if it asks for any; both, so that Dagster plots either."""
    if "gpu" not in resources:
        return {}
    ran = _ran(resources).since(before)
    return {"gpu_seconds": ran.gpu, "model_seconds_on_processor": ran.processor}


@contextmanager
def step(where: str, site: SiteResource) -> Iterator[None]:
    """One step's work: no other process refreshes the installation meanwhile, and only coded failures get out.

    A step does not wait for the lock: it may be in a pool, and whoever holds the lock may be waiting for that pool.
    """
    with coded(where), installation_lock(site.site.settings.home_path):
        yield


@contextmanager
def coded(where: str) -> Iterator[None]:
    """Lets only coded failures out: any other error could quote a note, and Dagster stores what it sees.

    A run that brings a configuration is refused. Inside a run, a failure of infrastructure asks for another attempt
    as `RETRIES` says; any other is final. The policy is not handed to Dagster, which would apply it to a run's
    termination too: the step that an operator stops would start again.
    """
    running = _running()
    try:
        if running is None:
            yield
        else:
            refuse_run_config(running.run.run_config)
            with _stoppable(running):
                yield
    except Exception as error:
        said = error if isinstance(error, DeidError) else internal(error)
        failure = dg.Failure(str(said), {"code": said.code.slug, "where": where}, allow_retries=False)
        # The last failure is raised as it is: Dagster, redacting, would cut it off from the request.
        if said.code.transient and running is not None and running.retry_number < RETRIES.max_retries:
            wait = RETRIES.calculate_delay(running.retry_number + 1)
            raise dg.RetryRequested(max_retries=RETRIES.max_retries, seconds_to_wait=wait) from failure
        raise failure if running is None else RefusalError(failure) from None


class RefusalError(DagsterUserCodeProcessError, dg.Failure):
    """A step's failure in the platform's own words, which the UI shows as they are: no stack, no "Error ID".

    Dagster would mask it as any error of code that is not its own, and name an id to look up in a log in which nothing
    is. It takes over what an error of this class says of itself, as long as that has no such id.
    """

    def __init__(self, failure: dg.Failure) -> None:
        shown = SerializableErrorInfo(message=failure.description or "", stack=[], cls_name=type(self).__name__)
        super().__init__(  # type: ignore[no-untyped-call]
            failure.description, failure.metadata, False, user_code_process_error_infos=[shown]
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name != USER_FACING_ERROR_ID_ATTR_NAME:
            super().__setattr__(name, value)


@contextmanager
def _stoppable(running: dg.OpExecutionContext) -> Iterator[None]:
    """Stops before and after a step, if Dagster's own interrupt got lost on the way."""
    run = running.instance.get_run_by_id(running.run_id)
    if run is not None and run.status in _NO_LONGER_WANTED:
        raise KeyboardInterrupt
    with watched():
        check()
        yield
        check()


def _running() -> dg.OpExecutionContext | None:
    """The step that runs; None outside a run, as in a sensor."""
    try:
        return dg.OpExecutionContext.get()
    except DagsterInvariantViolationError:
        return None


def delivery_of(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> Delivery:
    """The delivery that this run is about."""
    return Delivery.parse(context.partition_key)
