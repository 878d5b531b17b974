"""The shipped model on a real card: by one process, by workers of this machine, and by workers of a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil
import pytest
from small_feed import taken_in

from deid_platform.corpora.hospital import HospitalSpec, generate, write
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import CARD
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.loading import Models
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.engine import ray_engine
from deid_platform.engine.engines import Engine, LocalEngine
from deid_platform.engine.ray_engine import RayEngine
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.settings import load_settings

pytestmark = [pytest.mark.process, pytest.mark.slow]

SPEC = DetectorSpec("ensemble", device=CARD)
SHIPPED = ModelFolder.shipped("minilm")
LOCAL = LocalEngine(workers=4, batch_size=16)


@pytest.fixture(scope="module")
def notes() -> list[Note]:
    made = (note for delivery in generate(HospitalSpec(notes=80)) for note in delivery.notes)
    return [replace(note, note_id=str(number)) for number, note in enumerate(made)]  # of some there are two versions


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayEngine]:
    yield RayEngine(workers=4, batch_size=16, spool=tmp_path_factory.mktemp("home") / "spool")
    ray_engine.CONNECTION.close()


def spans(engine: Engine, notes: list[Note]) -> dict[str, object]:
    """What is found in each note, by its id."""
    found = list(engine.detect(SPEC, notes))
    assert [it.error for it in found] == [None] * len(notes)
    return {note.note_id: it.spans for note, it in zip(notes, found, strict=True)}


def owners_of_cards() -> list[psutil.Process]:
    """The processes under this one that run models on the card."""
    found = []
    for it in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # one that has just ended
            found += [it] if "multiprocessing.spawn" in " ".join(it.cmdline()) else []
    return found


def test_the_card_reads_the_shipped_model_as_the_processor_does(notes: list[Note]) -> None:
    exact, ours = TokenClassifier(SHIPPED), TokenClassifier(SHIPPED, device=CARD)
    apart, alike, words = 0.0, 0, 0
    for note in notes[:40]:
        (_, one), (_, other) = exact.probabilities(note.text), ours.probabilities(note.text)
        apart = max(apart, float(np.abs(one - other).mean()))
        alike += int((exact.thresholds.taken(one) == ours.thresholds.taken(other)).sum())
        words += len(one)
    # int8 on one, bfloat16 on the other.
    assert apart < 0.01
    assert alike / words > 0.99


def test_what_is_found_depends_neither_on_workers_nor_on_other_notes(notes: list[Note]) -> None:
    alone = spans(LocalEngine(), notes)
    assert spans(LOCAL, notes) == alone
    assert spans(replace(LOCAL, batch_size=7), notes[::-1]) == alone
    assert any(alone.values())


@pytest.mark.parametrize("workers", [1, 4])
def test_seconds_of_the_card_are_counted_once_however_many_wait_for_it(workers: int, notes: list[Note]) -> None:
    engine = replace(LOCAL, workers=workers, models=Models())
    began = perf_counter()
    spans(engine, notes)
    ran = engine.models.seconds.ran
    assert 0 < ran.gpu < perf_counter() - began
    assert ran.processor == 0
    engine.models.release()


def test_a_cluster_finds_on_the_card_what_this_machine_finds_there(cluster: RayEngine, notes: list[Note]) -> None:
    assert spans(cluster, notes) == spans(LOCAL, notes)


def test_three_sets_of_workers_share_a_card(cluster: RayEngine, notes: list[Note]) -> None:
    few = replace(cluster, workers=2, batch_size=4, card_share=0.5)
    list(few.detect(DetectorSpec("patterns"), notes[:1]))  # starts a cluster with room for one set
    from ray._private import worker
    from ray.cluster_utils import Cluster

    ours = Cluster()
    ours.head_node = worker.global_worker.node
    ours.redis_address = ours.head_node.redis_address
    added = ours.add_node(num_cpus=4, num_gpus=1, node_ip_address="127.0.0.1")
    owners: list[int] = []
    many = [replace(note, note_id=f"{turn}/{note.note_id}") for turn in range(4) for note in notes]
    found = list(few.detect(SPEC, many, on_batch=lambda _: owners.append(len(owners_of_cards()))))
    ours.remove_node(added)
    assert [it.spans for it in found] == 4 * list(spans(LOCAL, notes).values())
    assert max(owners) == 3


def test_a_delivery_is_redacted_on_the_card_as_on_this_machine_alone(cluster: RayEngine, tmp_path: Path) -> None:
    rows = {}
    secret = os.urandom(16).hex()
    for name, engine in (("ray", cluster), ("local", LOCAL)):
        folder = tmp_path / name
        write(HospitalSpec(notes=60, deliveries=1), feed_root=folder / "deliveries", gold_root=folder / "gold")
        (folder / "deid.toml").write_text(
            'site = "north"\nprofile = "demo"\nhome = "home"\n[feeds.hospital]\npath = "deliveries"\n'
            f'[detection]\ndetector = "ensemble"\ndevice = "cuda"\nengine = "{name}"\nworkers = 4\n'
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("DEID_SECRET_FILE", raising=False)
            patch.setenv("DEID_SECRET", secret)
            site = Site(load_settings(folder / "deid.toml"))
            (delivery,) = site.deliveries()
            taken_in(site, delivery)
            manifest = deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=engine)
        rows[name] = manifest.meta["counts"], site.store.rows(tables.REDACTED_NOTES, delivery.key)
    assert rows["ray"] == rows["local"]
    assert len(rows["ray"][1]) == 60


def test_a_process_that_dies_on_the_card_stops_the_run(notes: list[Note]) -> None:
    many = [replace(note, note_id=f"{turn}/{note.note_id}") for turn in range(20) for note in notes]
    reading = replace(LOCAL, batch_size=4).detect(SPEC, many)
    next(reading)
    for owner in owners_of_cards():
        owner.kill()
    with pytest.raises(DeidError) as stopped:
        list(reading)
    assert stopped.value.code is Code.DEVICE_LOST
