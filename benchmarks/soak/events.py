"""What happens to an installation in a soak, and when: drawn from a seed, the same however often the soak is resumed.

Kills and restarts of Postgres come while a refresh runs, after a share of the time that one usually takes. Where a
delivery is struck, its refresh is struck, and then the next one that was to mend it.
"""

from __future__ import annotations

import random
import signal
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from pathlib import Path

import psutil


class Victim(StrEnum):
    """What is struck while a refresh runs."""

    REFRESH = "the refresh"
    CHILD = "a process under it"
    SESSION = "a session of Postgres"
    SERVER = "Postgres"
    RESTART = "Postgres, restarted"


@dataclass(frozen=True)
class Event:
    """What happens with one delivery.

    Attributes:
        blows: What is struck during the first refresh, the second and so on, and when, as a share of the seconds
            that a refresh usually takes.
        retract: Whether a reader reports a note after it.
        secret: Which key secret is in force.
        detector: Which of two detectors is in force.
        calm: Whether nothing of it happens here, so that the seconds can be compared.
    """

    blows: tuple[tuple[Victim, float], ...]
    retract: bool
    secret: int
    detector: int
    calm: bool


_KILLED = (Victim.REFRESH, Victim.CHILD, Victim.SESSION, Victim.SERVER)


def planned(deliveries: int, seed: int) -> list[Event]:
    """One event a delivery: half of them are struck twice, Postgres is restarted in two, all kinds of kills in turn.

    The secret and the detector change once each; with as few as six deliveries, everything happens.
    """
    rng = random.Random(seed)
    restarts = {max(1, deliveries // 3), max(2, 2 * deliveries // 3)}
    others = [index for index in range(1, deliveries) if index not in restarts]
    struck = rng.sample(others, (len(others) + 1) // 2)
    kills = cycle(rng.sample(_KILLED, len(_KILLED)))
    turned, changed = max(1, deliveries // 2), max(2, 3 * deliveries // 4)
    events = []
    for index in range(deliveries):
        victims = [Victim.RESTART] if index in restarts else [next(kills), next(kills)] if index in struck else []
        retract = bool(index) and index % max(2, deliveries // 6) == 0
        events.append(
            Event(
                blows=tuple((victim, rng.uniform(0.05, 0.95)) for victim in victims),
                retract=retract,
                secret=int(index >= turned),
                detector=int(index >= changed),
                calm=not (victims or retract or index in (0, turned, changed)),
            )
        )
    return events


def strike(victim: Victim, refresh: psutil.Process, home: Path, seed: int) -> bool:
    """Kills, or restarts Postgres as an administrator would; returns whether there was any of it."""
    dice = random.Random(seed)
    with suppress(psutil.NoSuchProcess, FileNotFoundError, IndexError):
        if victim is Victim.REFRESH:
            refresh.kill()
        elif victim is Victim.CHILD:
            dice.choice(refresh.children(recursive=True)).kill()
        else:
            _strike_server(victim, home / "postgres", dice)
        return True
    return False


def _strike_server(victim: Victim, data: Path, dice: random.Random) -> None:
    """It starts again when it is needed."""
    postmaster = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
    if victim is Victim.RESTART:
        postmaster.send_signal(signal.SIGINT)  # its "fast" shutdown
        return
    if victim is Victim.SESSION:
        dice.choice([each for each in postmaster.children() if "[local]" in " ".join(each.cmdline())]).kill()
        return
    postmaster.suspend()  # or it would notice the first of its children
    for each in (*postmaster.children(), postmaster):
        with suppress(psutil.NoSuchProcess):
            each.kill()
