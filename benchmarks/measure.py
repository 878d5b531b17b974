"""One row of a speed table: processor time, words a second and the peak memory of this process meanwhile.

Where the system cannot forget the earlier peak (any but Linux), it is the peak so far.
"""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")
_FORGET_PEAK = "5"


def forget_peak() -> None:
    """Begins the peak of memory anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_FORGET_PEAK)


def peak() -> float:
    """Peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor(process: psutil.Process) -> float:
    """Processor seconds of a process and of those under it, whether they have ended or not."""
    spent = 0.0
    with suppress(psutil.Error):
        own = process.cpu_times()
        spent = own.user + own.system + own.children_user + own.children_system
        spent += sum(processor(each) for each in process.children())
    return spent


def processor_named() -> str:
    """The processor, how many cores of it this process may use, and whether it multiplies whole numbers in one step.

    A figure of speed says little without it: the network's int8 takes twice as long without VNNI.
    """
    known: dict[str, str] = {}
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
        known = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = known.get("flags", "").split()
    has = ", ".join(name for name in ("avx2", "avx512f", "avx_vnni", "avx512_vnni") if name in flags)
    name = known.get("model name") or platform.processor() or platform.machine()
    return f"{name}, {len(os.sched_getaffinity(0)) if known else os.cpu_count()} cores ({has or 'no AVX2, no VNNI'})"


def row(stage: str, amount: int, work: Callable[[], T], *, unit: str = "words") -> T:
    """Runs a stage on one core and prints its row: how much of what it read in how long, and its memory."""
    forget_peak()
    started = time.process_time()
    result = work()
    seconds = time.process_time() - started
    rate = f"{amount / max(seconds, 1e-6):12,.0f} {unit}/s"
    print(f"{stage:<30}{seconds:8.2f} s  {rate}   peak {peak():6,.0f} MB", flush=True)
    return result
