"""A cluster of our own on this machine: what it finds, what it survives, and what it leaves behind."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import killed_delivery
import psutil
import pytest
import small_feed
from engine_faults import SECRET, FaultyOnCard, FaultySpec, OnPretendedCard
from killed_delivery import A_PART, BLOCK

from deid_platform.corpora.hospital import HospitalSpec, generate, write
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import TORCH_ON_PROCESSOR
from deid_platform.detection.two_pass import Detection
from deid_platform.engine import ray_engine
from deid_platform.engine.engines import LocalEngine
from deid_platform.engine.ray_engine import RayEngine
from deid_platform.engine.warm_up import made_up_note
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.runtime.silence import silent_ray
from deid_platform.settings import load_settings

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def cluster(home: Path) -> Iterator[RayEngine]:
    """Two workers on one machine; Ray starts once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)  # for `engine_faults`
        yield RayEngine(workers=2, batch_size=4, spool=home / "spool")
        ray_engine.CONNECTION.close()
    assert actors() == []
    assert list(home.iterdir()) == []


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installation that runs on Ray, and has taken in one delivery."""
    folder = tmp_path_factory.mktemp("site") / "taken_in"
    write(HospitalSpec(notes=30, deliveries=1), feed_root=folder / "deliveries", gold_root=folder / "gold")
    (folder / "deid.toml").write_text(
        'site = "north"\nprofile = "demo"\nhome = "home"\n[feeds.hospital]\npath = "deliveries"\n'
        '[detection]\ndetector = "rules"\nengine = "ray"\nworkers = 2\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DEID_SECRET_FILE", raising=False)
        patch.setenv("DEID_SECRET", os.urandom(16).hex())
        site = Site(load_settings(folder / "deid.toml"))
        (delivery,) = site.deliveries()
        small_feed.taken_in(site, delivery)
        site.recipe(delivery)  # chooses the words in force, so that the places are those of detection and redaction
        yield folder


@pytest.fixture
def environment() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def notes(*texts: str) -> list[Note]:
    return [Note(str(i), f"{text} {SECRET}") for i, text in enumerate(texts)]


def outcomes(found: list[Detection]) -> list[str]:
    assert [it.index for it in found] == list(range(len(found)))
    return ["ok" if it.error is None else it.error.slug for it in found]


def running(command: str, under: psutil.Process) -> list[psutil.Process]:
    found = []
    for it in under.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # one that has ended, and that nobody has asked for since
            found += [it] if command in " ".join(it.cmdline()) else []
    return found


def actors() -> list[psutil.Process]:
    """The actor of each machine, of clusters that this process started."""
    return running("ray::_Machine", psutil.Process())


def owners_of_cards() -> list[psutil.Process]:
    """The process of each machine that runs models."""
    return [it for one in actors() for it in running("multiprocessing.spawn", one)]


@pytest.fixture(scope="module")
def machine_with_card(cluster: RayEngine) -> Iterator[Callable[[], None]]:
    """Another machine of the cluster, with four processors and what Ray is told is a card; ended by a call."""
    list(cluster.detect(FaultySpec(), notes("a")))  # starts the cluster
    silent_ray()
    from ray._private import worker
    from ray.cluster_utils import Cluster

    ours = Cluster()
    ours.head_node = worker.global_worker.node
    ours.redis_address = ours.head_node.redis_address
    added = ours.add_node(num_cpus=4, num_gpus=1, node_ip_address="127.0.0.1")
    yield lambda: ours.remove_node(added, allow_graceful=False)
    if added in ours.worker_nodes:
        ours.remove_node(added)


def test_what_is_found_is_what_this_machine_alone_finds_in_the_order_of_the_notes(cluster: RayEngine) -> None:
    made = [note for delivery in generate(HospitalSpec(notes=60)) for note in delivery.notes]
    done: list[int] = []
    found = list(cluster.detect(DetectorSpec("rules"), made, on_batch=done.append))
    assert found == list(LocalEngine().detect(DetectorSpec("rules"), made))
    assert sum(done) == len(made)


def test_only_the_offending_notes_fail(cluster: RayEngine) -> None:
    texts = ["a", "b", "raise", "c", "short", "d", "outside", "e", "die", "f"]
    found = list(cluster.detect(FaultySpec(), notes(*texts)))
    assert outcomes(found) == ["detector-failed" if len(text) > 1 else "ok" for text in texts]


def test_a_machine_that_is_lost_loses_no_note(cluster: RayEngine) -> None:
    killed: list[int] = []

    def kill_once(_: int) -> None:
        if not killed:
            (actor,) = actors()
            killed.append(actor.pid)
            actor.kill()

    found = list(cluster.detect(FaultySpec(), notes(*(f"{i}" for i in range(40))), on_batch=kill_once))
    assert killed
    assert outcomes(found) == ["ok"] * 40


def test_a_note_that_takes_its_machine_with_it_each_time_fails_alone(cluster: RayEngine) -> None:
    found = list(cluster.detect(FaultySpec(), notes("a", "b", "machine", "c", "d")))
    assert outcomes(found) == ["ok", "ok", "detector-failed", "ok", "ok"]


def test_a_detector_that_cannot_be_built_is_an_error_and_no_quarantine(
    cluster: RayEngine, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DeidError) as failed:
        list(cluster.detect(FaultySpec("unbuildable"), notes("a", "b")))
    assert (failed.value.code, failed.value.__cause__) == (Code.DETECTOR_FAILED, None)
    assert capfd.readouterr() == ("", "")


def test_a_machine_of_another_version_is_an_error_and_no_quarantine(cluster: RayEngine) -> None:
    with pytest.raises(DeidError) as failed:
        list(cluster.detect(FaultySpec("other-version"), notes("a", "b")))
    assert (failed.value.code, failed.value.ref) == (Code.DETECTOR_FAILED, "other-version")


def test_a_delivery_is_redacted_as_on_this_machine_alone(cluster: RayEngine, taken_in: Path) -> None:
    rows = []
    for name, engine in (("ray", cluster), ("local", LocalEngine())):
        folder = taken_in.with_name(name)
        shutil.copytree(taken_in, folder)
        site = Site(load_settings(folder / "deid.toml"))
        assert site.engine == RayEngine(workers=2, spool=folder / "home/store/.ray")
        (delivery,) = site.deliveries()
        deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=engine)
        rows.append(site.store.rows(tables.REDACTED_NOTES, delivery.key))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 30


def test_ray_listens_to_this_machine_alone_and_writes_no_note(cluster: RayEngine, home: Path) -> None:
    list(cluster.detect(FaultySpec(), notes("raise", "die", "a")))
    listening = set()
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # an actor that is just ending
            listening |= {
                it.laddr.ip.removeprefix("::ffff:") for it in one.net_connections("tcp") if it.status == "LISTEN"
            }
    assert listening == {"127.0.0.1"}
    folder = ray_engine.CONNECTION.folder
    assert folder is not None
    for closed in (folder, home / "spool"):
        assert closed.stat().st_mode & 0o777 == 0o700
    written = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.suffix == ".log" for path in written)
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def test_nothing_is_left_of_a_cluster_whose_owner_is_killed(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from deid_platform.engine import ray_engine\n"
        "from deid_platform.detection import DetectorSpec\n"
        "from deid_platform.notes import Note\n"
        "engine = ray_engine.RayEngine(workers=1, batch_size=1, spool=Path(sys.argv[1]))\n"
        "found = engine.detect(DetectorSpec('patterns'), (Note(str(i), 'Seen.') for i in range(9)))\n"
        "next(found)\n"
        "print(ray_engine.CONNECTION.folder, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "spool")],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as owner:
        assert owner.stdout is not None
        folder = owner.stdout.readline().strip()
        owner.wait()
    until = time.monotonic() + 60
    while left := [it for it in psutil.process_iter(["cmdline"]) if folder in " ".join(it.info["cmdline"] or ())]:
        assert time.monotonic() < until, [it.name() for it in left]
        time.sleep(0.2)


@pytest.mark.parametrize("missing", ["RAY_AUTH_MODE", "RAY_USE_TLS"])
def test_a_cluster_that_anybody_could_enter_or_listen_to_is_not_joined(
    environment: pytest.MonkeyPatch, missing: str
) -> None:
    for name, value in {"RAY_AUTH_MODE": "token", "RAY_USE_TLS": "1"}.items():
        environment.setenv(name, value)
    environment.delenv(missing)
    with pytest.raises(DeidError) as refused:
        list(RayEngine(address="10.0.0.9:6379").detect(DetectorSpec("patterns"), notes("a")))
    assert refused.value.code is Code.CLUSTER_OPEN


def test_without_ray_the_extra_is_named(environment: pytest.MonkeyPatch) -> None:
    environment.setattr(importlib.util, "find_spec", lambda _: None)
    environment.setattr(ray_engine, "find_spec", lambda _: None)
    with pytest.raises(DeidError) as missing:
        list(RayEngine(workers=3).detect(DetectorSpec("patterns"), notes("a")))
    assert (missing.value.code, missing.value.ref) == (Code.EXTRA_MISSING, "ray")


def test_a_delivery_whose_driver_is_killed_is_resumed_from_its_sealed_parts(cluster: RayEngine, taken_in: Path) -> None:
    folders = {name: taken_in.with_name(name) for name in ("killed", "undisturbed")}
    for folder in folders.values():
        shutil.copytree(taken_in, folder)
    # In the middle of the third part of ten notes.
    program = [sys.executable, killed_delivery.__file__, str(folders["killed"] / "deid.toml"), str(2 * A_PART + 1)]
    assert subprocess.run(program, check=False, start_new_session=True).returncode == -signal.SIGKILL
    counts = {name: killed_delivery.run(folder / "deid.toml", cluster) for name, folder in folders.items()}
    assert {name: each["detected"] for name, each in counts.items()} == {"killed": 30 - 2 * BLOCK, "undisturbed": 30}
    rows = []
    for folder in folders.values():
        site = Site(load_settings(folder / "deid.toml"))
        (delivery,) = site.deliveries()
        rows.append([site.store.rows(name, delivery.key) for name in (tables.FIRST_PASS, tables.REDACTED_NOTES)])
    assert rows[0] == rows[1]
    assert [len(each) for each in rows[0]] == [30, 30]


def test_models_for_a_card_are_refused_by_a_cluster_without_one(cluster: RayEngine) -> None:
    with pytest.raises(DeidError) as refused:
        list(cluster.detect(DetectorSpec("ensemble", device="cuda"), notes("a")))
    assert refused.value.code is Code.DEVICE_MISSING
    assert "a machine of the cluster with 1 card and 2 processors" in str(refused.value)


# No card is here: Ray is told of one, and torch runs the models on the processor.


def test_models_run_where_ray_has_a_card_and_find_what_they_find_here(
    cluster: RayEngine, machine_with_card: object
) -> None:
    assert machine_with_card
    lines = [line for line in made_up_note().note.text.splitlines() if line]
    made = [Note(str(number), lines[number % len(lines)]) for number in range(8)]
    owners: list[int] = []
    found = list(cluster.detect(OnPretendedCard(), made, on_batch=lambda _: owners.append(len(owners_of_cards()))))
    assert owners == [1, 1]
    assert found == list(LocalEngine().detect(DetectorSpec("ensemble", device=TORCH_ON_PROCESSOR), made))
    assert any(it.spans for it in found)


def test_a_machine_that_loses_its_card_is_given_up_and_the_run_ends_with_the_last(
    cluster: RayEngine, machine_with_card: object
) -> None:
    assert machine_with_card
    halves = replace(cluster, card_share=0.5)
    found: list[Detection] = []
    with pytest.raises(DeidError) as stopped:
        for each in halves.detect(FaultyOnCard(), notes("die", *map(str, range(150)))):
            found.append(each)
            if len(found) in {4, 80}:  # two batches a worker are under way: when the second is lost, these are through
                owners = owners_of_cards()
                assert len(owners) == (2 if len(found) == 4 else 1)
                owners[0].kill()
    assert stopped.value.code is Code.DEVICE_LOST
    assert len(found) >= 80
    assert outcomes(found) == ["detector-failed"] + ["ok"] * (len(found) - 1)


def test_a_run_ends_when_the_last_machine_with_a_card_is_lost(
    cluster: RayEngine, machine_with_card: Callable[[], None]
) -> None:
    reading = cluster.detect(FaultyOnCard(), notes(*map(str, range(80))))
    next(reading)
    (actor,) = actors()
    machine_with_card()
    with suppress(psutil.NoSuchProcess):  # it follows its machine by itself, but after a while in which it may be done
        actor.kill()
    with pytest.raises(DeidError) as stopped:
        list(reading)
    assert stopped.value.code is Code.DEVICE_LOST
