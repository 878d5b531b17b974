"""SIGTERM to a refresh, even one that Python loses: it ends, publishes nothing more, and the next one goes on."""

from __future__ import annotations

import signal
from typing import Any

import crash_scene
import pytest

from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.gate import queries
from deid_platform.warehouse.server.roles import Role

pytestmark = pytest.mark.slow

MOMENTS = 50
# Of one installation.
STOPS_IN_A_ROW = 10


def published(config: Any) -> list[Any]:
    """What the ledger tells of publishing, with the moment at which each transaction began."""
    entries = queries.ledger(Site(load_settings(config)).warehouse.engine(Role.OFFICER))
    return [entry for entry in entries if entry.event in ("promoted", "activated")]


def test_stopped_as_each_step_begins_though_python_lost_the_signal_it_ends_there(
    reference, new_installation, sampling
) -> None:
    steps = sampling.some(list(crash_scene.STEPS), sample=3, name="steps to be stopped in")
    with new_installation() as installation:
        for step in steps:
            before = len(published(installation.config))
            ended = installation.refresh(before=f"hospital@2026-01-12 {step}", lost=True)
            assert (ended["outcome"], ended["code"]) == ("failed", "stopped")
            assert ended["step"] == f"hospital@2026-01-12 {step}"
            now = {entry.delivery for entry in published(installation.config)[before:] if entry.event == "promoted"}
            assert ("hospital@2026-01-12" in now) is (step == "active")
        assert installation.refresh()["outcome"] == "done"
        assert installation.picture() == reference["picture"]


def test_stopped_at_any_moment_it_publishes_nothing_afterwards_and_the_next_refresh_ends_well(
    reference, new_installation, dice, sampling
) -> None:
    moments = 0
    while moments < sampling.number(everything=MOMENTS, sample=6):
        with new_installation() as installation:
            for _ in range(sampling.number(everything=STOPS_IN_A_ROW, sample=6)):
                if moments % 2:
                    order = {"at": dice.randrange(reference["places"] // 5), "lost": True}
                else:
                    order = {"after": dice.uniform(0.02, 0.2) * reference["seconds"], "signal": signal.SIGTERM}
                ended = installation.refresh(**order)
                if ended["outcome"] == "done":
                    break
                moments += 1
                # Before it is watched, the signal ends the process at once.
                assert ended["code"] == "stopped" or ended["outcome"] == "killed"
                if ended["sent"] is not None:
                    assert [e for e in published(installation.config) if e.at.timestamp() > ended["sent"]] == []
            assert installation.refresh()["outcome"] == "done", installation.struck
            assert installation.picture() == reference["picture"], installation.struck
