"""What happens to an installation in a soak, and when: drawn from a seed, the same however often the soak is resumed.

Kills, restarts of Postgres and signals come while a refresh runs, after a share of the time that the last one took.
"""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil
from workers import children_of


class Victim(StrEnum):
    """What is struck while a refresh runs."""

    REFRESH = "the refresh"
    CHILD = "a process under it"
    POSTGRES = "Postgres"


@dataclass(frozen=True)
class Event:
    """What happens with one delivery.

    Attributes:
        victim: What is struck during the refresh; None lets it be.
        moment: When, as a share of the seconds of the last refresh that ended well.
        retract: Whether a reader reports a note after it.
        secret: Which key secret is in force.
        detector: Which of two detectors is in force.
    """

    victim: Victim | None
    moment: float
    retract: bool
    secret: int
    detector: int


def planned(deliveries: int, seed: int) -> list[Event]:
    """One event a delivery: half of them are struck, Postgres twice; the secret and the detector change once each."""
    rng = random.Random(seed)
    restarts = {max(1, deliveries // 3), max(2, 2 * deliveries // 3)}
    events = []
    for index in range(deliveries):
        victim = rng.choice([Victim.REFRESH, Victim.CHILD, None, None]) if index else None
        events.append(
            Event(
                victim=Victim.POSTGRES if index in restarts else victim,
                moment=rng.uniform(0.05, 0.95),
                retract=bool(index) and index % max(2, deliveries // 6) == 0,
                secret=int(index >= max(1, deliveries // 2)),
                detector=int(index >= max(2, 3 * deliveries // 4)),
            )
        )
    return events


def strike(victim: Victim, refresh: psutil.Process, home: Path, seed: int) -> str:
    """Kills, or restarts Postgres as an administrator would; returns what was struck, by its kind alone."""
    if victim is Victim.POSTGRES:
        with suppress(ProcessLookupError, FileNotFoundError):
            # The first line is the postmaster's id; this signal is its "fast" shutdown. It starts when it is needed.
            os.kill(int((home / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
        return victim.value
    family = children_of(refresh)
    if victim is Victim.CHILD and family:
        with suppress(psutil.NoSuchProcess):
            random.Random(seed).choice(family).kill()
        return victim.value
    with suppress(psutil.NoSuchProcess):
        refresh.kill()
    return Victim.REFRESH.value
