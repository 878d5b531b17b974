"""What a machine of a Ray cluster refuses, and for how many staffs there is room; without Ray."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deid_platform.deidentify.files import _RedactionJob
from deid_platform.deidentify.release_note import ReleaseSpec
from deid_platform.detection import DetectorSpec
from deid_platform.engine import ray_engine
from deid_platform.engine.detection_job import DetectionJob
from deid_platform.engine.ray_engine import _Machine, _Machines
from deid_platform.engine.workers import Job
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.redaction.policy import load_policy
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.row import RedactionJob


class Staffed:
    """Stands for worker processes."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def answer(self, batch: list[object]) -> tuple[list[object], None]:
        return batch, None


@pytest.fixture
def keep(tmp_path: Path) -> Path:
    """An allow list, at the same path on both machines."""
    file = tmp_path / "keep.txt"
    file.write_text("Quillfeather score\n")
    return file


@pytest.fixture(params=["detection", "a delivery's rows", "files on the command line"])
def job(request: pytest.FixtureRequest, keep: Path) -> Job:
    spec, policy = DetectorSpec("rules", keep=keep), load_policy("safe_harbor")
    keys = Keyring(hashlib.sha256(b"a machine").hexdigest().encode(), site="north")
    return {
        "detection": lambda: DetectionJob(spec),
        "a delivery's rows": lambda: RedactionJob(Recipe(spec, policy, keys)),
        "files on the command line": lambda: _RedactionJob(ReleaseSpec(policy), spec, as_text=False, scores=False),
    }[request.param]()


@pytest.fixture(autouse=True)
def staffed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "Staff", Staffed)
    monkeypatch.setattr(ray_engine, "silence_libraries", lambda: None)


def said(sent: bytes, job: Job, digest: str) -> tuple[object, object]:
    """What the machine answers to a batch."""
    found = _Machine(sent, job.fault, 1, digest).answer(["item"])
    return (found.code, found.ref) if isinstance(found, DeidError) else found


def test_a_machine_that_is_the_same_answers(job: Job) -> None:
    assert said(pickle.dumps(job), job, job.digest) == (["item"], None)


def test_a_machine_with_another_file_of_the_settings_refuses(job: Job, keep: Path) -> None:
    sent, digest = pickle.dumps(job), job.digest
    keep.write_text("Quillfeather scale\n")
    assert said(sent, job, digest) == (job.fault, "other-version")
    keep.unlink()
    # A file that is not there at all is named, as on one machine.
    assert said(sent, job, digest)[0] is Code.ALLOW_LIST_INVALID


def test_a_machine_with_another_version_of_the_platform_refuses(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, digest = pickle.dumps(job), job.digest
    monkeypatch.setattr("deid_platform.engine.workers.package_digest", lambda _: "of another version")
    assert said(sent, job, digest) == (job.fault, "other-version")


def test_a_job_that_a_machine_cannot_read_is_refused() -> None:
    job = DetectionJob(DetectorSpec("rules"))
    assert said(b"of another version", job, job.digest) == (Code.DETECTOR_FAILED, "worker")


def test_a_machine_whose_card_torch_cannot_use_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deid_platform.detection.models.device.no_card", lambda: "a card that torch can use")
    job = DetectionJob(DetectorSpec("ensemble", device="cuda"))
    assert said(pickle.dumps(job), job, job.digest)[0] is Code.DEVICE_MISSING


class Cluster:
    """Stands for Ray, connected to machines of so many processors and cards."""

    def __init__(self, machines: Sequence[tuple[int, int]]) -> None:
        self._machines = machines
        self.hired: list[tuple[float, float]] = []

    def nodes(self) -> list[dict[str, Any]]:
        gone = {"Alive": False, "Resources": {}}
        return [gone, *({"Alive": True, "Resources": {"CPU": float(c), "GPU": float(g)}} for c, g in self._machines)]

    def put(self, value: object) -> object:
        return value

    def remote(self, *_: object) -> Cluster:
        return self

    def options(self, *, num_cpus: int, num_gpus: float, max_concurrency: int) -> Cluster:
        assert max_concurrency > num_cpus
        self.hired.append((num_cpus, num_gpus))
        return self


@pytest.mark.parametrize(
    ("machines", "share", "staffs"),
    [
        ([(16, 1)], 1, 1),
        ([(64, 4)], 1, 4),
        ([(40, 4)], 1, 2),
        ([(64, 1)], 0.5, 2),
        ([(64, 1)], 0.3, 3),
        ([(160, 2)], 0.1, 10),
        ([(16, 0), (16, 1), (64, 2)], 1, 3),
        ([(16, 0), (64, 0)], 1, 0),
        ([(8, 1), (64, 0)], 1, 0),
    ],
)
def test_only_machines_with_a_card_detect_by_models_on_one(
    machines: list[tuple[int, int]], share: float, staffs: int
) -> None:
    cluster, job = Cluster(machines), DetectionJob(DetectorSpec("ensemble", device="cuda"))
    if staffs:
        _Machines(cluster, job, 16, share)
    else:
        with pytest.raises(DeidError) as refused:
            _Machines(cluster, job, 16, share)
        assert refused.value.code is Code.DEVICE_MISSING
    assert cluster.hired == [(16, share)] * staffs


def test_what_runs_no_model_on_a_card_is_done_on_all_machines() -> None:
    machines = [(16, 0), (16, 1)]
    for spec in (DetectorSpec("ensemble"), DetectorSpec("rules", device="cuda")):
        cluster = Cluster(machines)
        _Machines(cluster, DetectionJob(spec), 16, 1)
        assert cluster.hired == [(16, 0), (16, 0)]
