"""What it costs to write the institution dictionary of a delivery, by the number of patients that are known before it.

    python benchmarks/institution.py [--patients 40000 100000] [--changed 0.01] [--deliveries 1]

The patients are invented, with six terms each; so many equal deliveries bring them. The last delivery gives one in a
hundred another surname. No notes are read: the rows of topics are written into a note store in a temporary folder.

Of each call, in a process of its own: its processor seconds, and by how much it raised that process's largest resident
set. `harvest` is the reading of all terms.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import pyarrow as pa

from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.dictionaries import proposals, record
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

_SETTINGS = (
    'site = "north"\nprofile = "demo"\nhome = "home"\n[detection]\ndetector = "rules"\n'
    '[feeds.hospital]\npath = "deliveries"\ndemonstration = true\n'
)


def patients(numbers: range, *, married: bool = False) -> Iterator[dict[str, str]]:
    """Rows of invented patients."""
    for number in numbers:
        dice = random.Random(number)
        given, family, other, street = (
            "".join(dice.choice("bdfgklmnprst") + dice.choice("aeiou") for _ in range(4)).title() for _ in range(4)
        )
        yield {
            "patient_id": f"P{number:08}",
            "first_name": given,
            "last_name": other if married else family,
            "mrn": f"{dice.randrange(10**8):08}",
            "ssn": f"{dice.randrange(10**9):09}",
            "email": f"{given}.{family}@example.org",
            "street": f"{dice.randrange(1, 9999)} {street} Street",
        }


def write(site: Site, delivery: Delivery, rows: Iterator[dict[str, str]]) -> None:
    """Writes a delivery of patients alone."""
    for name, schema in tables.TOPIC_SCHEMAS.items():
        table = pa.Table.from_pylist(list(rows) if name == "patients" else [], schema=schema)
        site.store.write(f"source/{name}", delivery.key, [table], meta=lambda: {"rejected": {}})


def read_all(site: Site, delivery: Delivery) -> None:
    proposals._of_topics(site, [delivery], ["allen drainage"])


CALLS: dict[str, Callable[[Site, Delivery], object]] = {
    "write_institution": record.write_institution,
    "harvest": read_all,
}


def largest() -> int:
    """The largest resident set of this process, in bytes."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main() -> None:
    """Prints one row a call and number of patients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patients", type=int, nargs="+", default=[40_000, 100_000])
    parser.add_argument("--changed", type=float, default=0.01)
    parser.add_argument("--deliveries", type=int, default=1)
    parser.add_argument("--call", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.call is not None:
        call, key = arguments.call
        site = Site(load_settings(Path(os.environ["DEID_CONFIG"])))
        # From here on the largest is counted anew.
        Path("/proc/self/clear_refs").write_text("5")
        begun, before = process_time(), largest()
        CALLS[call](site, Delivery.parse(key))
        print(json.dumps([process_time() - begun, (largest() - before) / 1e6]))
        return
    print("| patients | deliveries before | call | delivery | processor seconds | MB |\n|" + " --- |" * 6)
    for count in arguments.patients:
        with tempfile.TemporaryDirectory(prefix="deid-bench-") as name:
            measure(Path(name), count, arguments.deliveries, int(count * arguments.changed))


def measure(folder: Path, count: int, deliveries: int, changed: int) -> None:
    """Prints what the first delivery takes, and the last one."""
    (folder / "deid.toml").write_text(_SETTINGS)
    os.environ |= {"DEID_CONFIG": str(folder / "deid.toml"), "DEID_SECRET": hashlib.sha256(b"bench").hexdigest()}
    site = Site(load_settings(folder / "deid.toml"))
    every = [Delivery("hospital", str(number + 1)) for number in range(deliveries + 1)]
    for number, delivery in enumerate(every[:-1]):
        write(site, delivery, patients(range(number * count // deliveries, (number + 1) * count // deliveries)))
        taken = asked("write_institution", delivery)
        if not number:
            print(f"| {count:,} | 0 | write_institution | the first | {taken} |", flush=True)
    write(site, every[-1], patients(range(changed), married=True))
    for call in CALLS:
        print(f"| {count:,} | {deliveries} | {call} | the last | {asked(call, every[-1])} |", flush=True)


def asked(call: str, delivery: Delivery) -> str:
    """What a call takes in a process of its own."""
    command = [sys.executable, __file__, "--call", call, delivery.key]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, held = json.loads(told.stdout)
    return f"{seconds:.2f} | {held:,.0f}"


if __name__ == "__main__":
    main()
