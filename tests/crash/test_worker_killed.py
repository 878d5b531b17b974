"""`kill -9` of detector workers at random moments: each note is redacted as ever or quarantined, and then as ever."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import crash_scene
import psutil
import pytest

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.engine.engines import LocalEngine
from deid_platform.notes import Delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.settings import load_settings

pytestmark = [pytest.mark.slow, pytest.mark.process]

SECRET = "7f1c9be04d3a5862e7b0914fd2c68a35"
WORKERS = LocalEngine(workers=2, batch_size=16)


class Killer(threading.Thread):
    """Kills workers of this process, at random moments, until it has killed two or is stopped."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.pauses = [dice.uniform(0.0, 0.6) for _ in range(2)]
        self.choose = dice.choice
        self.killed = 0
        self.over = threading.Event()

    def run(self) -> None:
        for pause in self.pauses:
            while not (workers := _workers()) and not self.over.wait(0.01):
                pass
            if self.over.wait(pause):
                return
            if workers := _workers():
                self.choose(workers).kill()
                self.killed += 1


def _workers() -> list[psutil.Process]:
    """What was forked for this process, and is not yet dead: the process that builds, and the workers under it."""
    found = []
    for child in psutil.Process().children():
        if "forkserver" in " ".join(child.cmdline()):
            found += [p for p in child.children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]
    return found


def _rows(site: Site, delivery: Delivery) -> dict[str, dict]:
    return {row["note_id"]: row for row in site.store.rows("deid/redacted_notes", delivery.key)}


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The deid.toml of an installation that has taken in the first delivery of a synthetic hospital."""
    folder = tmp_path_factory.mktemp("workers") / "installation"
    folder.mkdir()
    config = folder / "deid.toml"
    config.write_text('site = "north"\nprofile = "demo"\nhome = "home"\n[feeds.hospital]\npath = "deliveries"\n')
    write(HospitalSpec(notes=300), feed_root=folder / "deliveries", gold_root=folder / "gold")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DEID_SECRET_FILE", raising=False)
        patch.setenv("DEID_SECRET", SECRET)
        site = Site(load_settings(config))
        crash_scene.take_in_topics(site, site.deliveries()[0])
        crash_scene.take_in_notes(site, site.deliveries()[0])
        yield config


def test_each_note_ends_as_ever_or_in_quarantine_and_the_next_run_makes_it_good(taken_in: Path, dice, sampling) -> None:
    undisturbed = Site(load_settings(taken_in))
    delivery = undisturbed.deliveries()[0]
    before = taken_in.parent.with_name("before")
    shutil.copytree(taken_in.parent, before)
    recipe = undisturbed.recipe(delivery)
    deidentify(delivery, store=undisturbed.store, recipe=recipe, engine=LocalEngine())
    reference = _rows(undisturbed, delivery)

    killed = rounds = 0
    while killed < sampling.number(everything=10, sample=2):
        rounds += 1
        folder = taken_in.parent.with_name(f"round{rounds}")
        shutil.copytree(before, folder)
        site = Site(load_settings(folder / "deid.toml"))
        killer = Killer(dice)
        killer.start()
        try:
            deidentify(delivery, store=site.store, recipe=recipe, engine=WORKERS)
        finally:
            killer.over.set()
            killer.join()
        killed += killer.killed
        found = _rows(site, delivery)
        assert list(found) == list(reference)
        changed = {note: row for note, row in found.items() if row != reference[note]}
        failed = [row for row in changed.values() if row["status"] == "quarantined"]
        assert {(row["reason"], row["text"]) for row in failed} <= {
            ("detector-failed", None),
            ("redaction-failed", None),
        }
        # What a failed note tells about its patient's other notes is told to them by the next run alone.
        assert {row["patient_id"] for row in changed.values()} <= {row["patient_id"] for row in failed}
        deidentify(delivery, store=site.store, recipe=recipe, engine=LocalEngine())
        assert _rows(site, delivery) == reference
