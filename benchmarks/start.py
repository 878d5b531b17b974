"""Start and memory of `deid redact`: one note in a process of its own, without topics, with caches beside the bytecode.

    python benchmarks/start.py [--runs 3] [--detector ensemble] [--json FILE]

Seconds are from the start of the interpreter to its end, the median of the runs after a first one, which writes
what is kept beside the bytecode if there is none; those of the processor stand beside those of the clock, since a
shared machine has neither core free. Memory is the peak of resident pages. The processor is named.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aims
from measure import processor_named

COMMAND = "from deid_platform.cli import main; main()"
NOTE = {
    "note_id": "1",
    "text": "Seen by Dr. Ndoye on 3/14/2019. The patient lives in Peebles and takes metoprolol 25 mg.",
}


def once(notes: Path, detector: str) -> tuple[float, float, float]:
    """Seconds of the clock and of the processor, and the peak in MB."""
    command = [sys.executable, "-c", COMMAND, "redact", str(notes), "-o", str(notes.with_name("redacted.jsonl"))]
    begun = time.perf_counter()
    process = subprocess.Popen([*command, "--detector", detector], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("deid redact failed")
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--detector", default="ensemble")
    aims.add_json(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.jsonl"
        notes.write_text(json.dumps(NOTE) + "\n", encoding="utf-8")
        once(notes, arguments.detector)
        clock, processor, peaks = zip(*(once(notes, arguments.detector) for _ in range(arguments.runs)), strict=True)
    measured = {
        aims.START: f"{statistics.median(clock):.1f} (of the processor {statistics.median(processor):.1f})",
        aims.MEMORY: f"{max(peaks):,.0f} MB",
    }
    aims.keep(arguments.json, measured)
    print(f"{processor_named()}\n\n{aims.beside_aims(measured)}", end="")


if __name__ == "__main__":
    main()
