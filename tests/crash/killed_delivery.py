"""One delivery through detection and redaction, in parts of few notes; as a program, in a process that is killed.

    python killed_delivery.py CONFIG PLACE

PLACE is one of `crash_scene.interrupted`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import crash_scene

from deid_platform.engine.engines import Engine
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.settings import load_settings

BLOCK = 10
A_PART = 4
"""Places of a part: before and in the middle of its file, and of the list with it."""
BATCH = 2


def run(config: Path, engine: Engine | None = None) -> dict[str, int]:
    """Runs the first delivery; returns how many notes were detected, and the counts of its manifest.

    Args:
        config: An installation that has taken it in.
        engine: Another than that of deid.toml.
    """
    site = Site(load_settings(config))
    delivery = site.deliveries()[0]
    detected: list[int] = []
    size, tables.NOTES_A_BLOCK = tables.NOTES_A_BLOCK, BLOCK
    try:
        manifest = deidentify(
            delivery,
            store=site.store,
            recipe=site.recipe(delivery),
            engine=engine or replace(site.engine, batch_size=BATCH),
            progress=detected.append,
        )
    finally:
        tables.NOTES_A_BLOCK = size
    return {**manifest.meta["counts"], "detected": sum(detected)}


if __name__ == "__main__":
    with crash_scene.interrupted(int(sys.argv[2]), crash_scene.kill_me):
        run(Path(sys.argv[1]))
