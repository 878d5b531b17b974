"""The service in this process, for tests of what it answers: no worker process is started.

Belongs here: a stand-in for the processes, and a client. Does not belong here: processes and sockets
(`service/test_serving.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.testclient import TestClient

from deid_platform.engine.workers import Answer, answer
from deid_platform.service.access import Tokens
from deid_platform.service.app import Limits, Service, app_of
from deid_platform.service.queue import Asking, Queue
from deid_platform.service.setting_up import job_of
from deid_platform.service.work import Answered, Asked

HERE = "http://127.0.0.1:8090"


class InThisProcess:
    """Answers as a worker process would."""

    def __init__(self, **options: Any) -> None:
        self._job = job_of(**{"policies": ["safe_harbor_plus_providers"], "detector": "rules", **options})
        self._task = self._job.build()

    def answer(self, batch: list[Asked], *, until: float | None = None) -> Answer[Answered]:
        return answer(self._job, self._task, batch)

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


def service_of(
    staff: Asking, *policies: str, limits: Limits | None = None, workers: int = 2, places: int = 8, seconds: float = 60
) -> Service:
    """A service that is ready."""
    names = policies or ("safe_harbor_plus_providers",)
    queue = Queue(staff, names, workers=workers, places=places, seconds=seconds)
    queue.ready = True
    return Service(queue, names, limits or Limits())


def client_of(service: Service, tokens: Tokens | None = None, *, at: str = HERE) -> TestClient:
    """Who asks it; what raises there comes out as the server would show it."""
    return TestClient(app_of(service, tokens or Tokens({})), base_url=at, raise_server_exceptions=False)


def note(text: str, **fields: object) -> Mapping[str, object]:
    return {"text": text, **fields}
