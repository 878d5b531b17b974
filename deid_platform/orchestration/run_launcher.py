"""Dagster's run launcher, which also detects that a run's worker is gone.

Belongs here: asking the code server about a run. Does not belong here: what becomes of a run that is gone, which is
the daemon's run monitoring (dagster.yaml).

A run is a child of the code server that started it, and ends with it. Dagster's own launcher cannot say so: such a run
would stay "started", and hold the one place in the queue, until its time is up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg
import grpc
from dagster import Field
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import ConfigurableClassData, deserialize_value


class WatchedRunLauncher(DefaultRunLauncher):
    """Launches runs on their code server and asks it about them.

    Args:
        reloads: Whether the code server hands its work over when code is reloaded, as that of `deid ui` does: the new
            one does not know the runs of the old, which go on. Then a run is gone only if there is no server at all.
        inst_data: Dagster's own, from dagster.yaml.
    """

    def __init__(self, *, reloads: bool = False, inst_data: ConfigurableClassData | None = None) -> None:
        self._reloads = reloads
        super().__init__(inst_data)

    @classmethod
    def config_type(cls) -> dict[str, Field]:
        """What dagster.yaml may set."""
        return {"reloads": Field(bool, is_required=False, default_value=False)}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> WatchedRunLauncher:
        """The launcher of a dagster.yaml."""
        return cls(inst_data=inst_data, **config_value)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Asks run monitoring to ask."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the run's code server still has it."""
        client = self._get_grpc_client_for_termination(run.run_id)  # type: ignore[no-untyped-call]
        if client is None:  # `deid refresh` executes its runs itself, and ends those that were killed
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        try:
            answer = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run.run_id))
        except DagsterUserCodeUnreachableError as error:
            if isinstance(error.__cause__, grpc.RpcError) and error.__cause__.code() is grpc.StatusCode.UNAVAILABLE:
                return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "its code server is gone")
            # One that is too busy to answer is there.
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        if self._reloads or deserialize_value(answer, CanCancelExecutionResult).can_cancel:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "its code server was started anew")
