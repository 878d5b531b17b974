"""`kill -9` of a refresh at any moment and at any place, then a refresh again: nothing lost, doubled or shown early."""

from __future__ import annotations

import os
import random
import re
import time
from typing import Any

import crash_scene
import pytest

from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.store import SETTLED

pytestmark = pytest.mark.slow

# Of one installation; more, and it would be done before the last.
KILLS_IN_A_ROW = 5


class Watch:
    """What analysts see over time: only what passed an undisturbed gate too, and never again what was hidden."""

    def __init__(self, reference: dict[str, Any]) -> None:
        self.may_be_shown = reference["ever_shown"]
        self.newest: dict[str, int] = {}
        self.seen: set[tuple[str, str]] = set()
        self.hidden: set[tuple[str, str]] = set()

    def look(self, installation) -> None:
        shown = crash_scene.shown(Site(load_settings(installation.config)).warehouse)
        assert shown <= self.may_be_shown
        self.hidden |= self.seen - shown
        assert not shown & self.hidden
        for key, text in shown:
            version = int(re.findall(r"^Version (\d)", text)[0])
            assert version >= self.newest.get(key, 0)
            self.newest[key] = version
        self.seen = shown


@pytest.mark.parametrize("how", ["at a moment", "at a place"])
def test_killed_again_and_again_it_ends_as_if_it_had_never_been(
    how, reference, new_installation, dice, sampling
) -> None:
    kills = 0
    while kills < sampling.number(everything=15, sample=3):
        with new_installation() as installation:
            watch = Watch(reference)
            for _ in range(sampling.number(everything=KILLS_IN_A_ROW, sample=3)):
                if installation.refresh(**_blow(how, reference, dice))["outcome"] == "done":
                    break
                kills += 1
                watch.look(installation)
            assert installation.refresh()["outcome"] == "done", installation.struck
            watch.look(installation)
            assert installation.picture() == reference["picture"], installation.struck


def _blow(how: str, reference: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    if how == "at a moment":
        return {"after": dice.uniform(0.05, 0.35) * reference["seconds"]}
    return {"at": dice.randrange(reference["places"] // 3)}


def test_killed_as_each_step_begins_it_ends_as_if_it_had_never_been(reference, new_installation, sampling) -> None:
    steps = sampling.some(list(crash_scene.STEPS), sample=3, name="steps to be killed in")
    with new_installation() as installation:
        for step in steps:
            assert installation.refresh(before=f"hospital@2026-01-12 {step}")["outcome"] == "killed"
        assert installation.struck == steps
        assert installation.refresh()["outcome"] == "done"
        assert installation.picture() == reference["picture"]


def test_what_a_kill_left_half_written_is_swept_by_the_next_write_once_no_reader_can_be_at_it(
    reference, new_installation
) -> None:
    # Never another seed: with no luck, the refreshes would be done before a kill has left anything half written.
    dice = random.Random("1 test_what_a_kill_left_half_written_is_swept_by_the_next_write_once_no_reader_can_be_at_it")
    with new_installation() as installation:
        while not crash_scene.torn_files(installation.config):
            assert installation.refresh(at=dice.randrange(reference["places"] // 4))["outcome"] == "killed"
        assert installation.refresh()["outcome"] == "done"
        assert crash_scene.torn_files(installation.config)
        past = time.time() - SETTLED.total_seconds() - 60
        for path in crash_scene.torn_files(installation.config):
            os.utime(path, (past, past))
        site = Site(load_settings(installation.config))
        for delivery in site.deliveries():
            for name in crash_scene.STEPS:
                crash_scene.STEPS[name](site, delivery)
        site.store.sweep()  # what still says what it was made of is not written again
        left = [path for path in crash_scene.torn_files(installation.config) if path.stat().st_mtime <= past + 1]
        assert left == []
        assert installation.picture() == reference["picture"]
