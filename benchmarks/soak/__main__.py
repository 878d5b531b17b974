"""A soak: an installation over many deliveries, with everything that happens to one, and a plain model beside it.

    python benchmarks/soak FOLDER [--notes 100000] [--deliveries 30] [--words 40] [--workers 2] [--minutes 150]

Deliveries of the synthetic hospital, cut to their first words, arrive one by one; they correct, delay and withdraw
notes. Refreshes are killed, and so are processes under them; Postgres is restarted in the middle of two; readers report
notes; the key secret changes once and the detector once. After each delivery, what readers see is compared with
`model.py`, planted identifiers are looked for in what is shown, and planted text, in every encoding, in Dagster's
storage, in what the commands say, in dossiers, in the server's log and in the tables beside the notes. Seconds, memory,
disk and connections of each delivery are kept.

After the stated minutes it ends before the next delivery; the same command goes on, also after a kill. What was kept
lies in `FOLDER/soak.jsonl`, a line a delivery. At the end comes the verdict; exit status 1 says that something was
lost, doubled, shown against the model or leaked, or took more and more. Progress goes to the standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

# Not this folder, whose modules have plain names, but the one above it.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from soak.run import Soak
from soak.verdict import breaches, verdict


def main() -> None:
    """Goes on with a soak, and prints the verdict once it is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--deliveries", type=int, default=30)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--minutes", type=float, default=150)
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("DEID_", "DAGSTER_"))]:
        del os.environ[name]  # no other installation is struck
    soak = Soak(given.folder.resolve(), given.notes, given.deliveries, given.words, given.workers, given.seed)
    try:
        soak.run(until=time.monotonic() + 60 * given.minutes)
    finally:
        soak.stop()
    lines = soak.lines()
    if len(lines) == given.deliveries:
        print("\n".join(verdict(lines)))
    else:
        print(f"{len(lines)} of {given.deliveries} deliveries; the same command goes on")
    if wrong := breaches(lines):
        print("\n".join(wrong))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
