"""Seconds to stage, digest, judge, promote and read deliveries, and what they take on disk.

    python benchmarks/warehouse.py [notes of a delivery] [characters of a note] [deliveries]

Beside each step's seconds: processor seconds of this process and of the server, since a shared machine gives a step
less than its cores, and the peak memory of this process, which holds all notes meanwhile (`refresh.py` does not).
Starts an embedded server of its own in a temporary folder and removes it afterwards.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from measure import forget_peak, peak, processor
from sqlalchemy import text

from deid_platform.keys import Keyring, plain_digest
from deid_platform.notes import Delivery
from deid_platform.redaction.policy import load_policy
from deid_platform.settings import PROFILES
from deid_platform.warehouse.gate.expectations import validate_staged
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.promotion import promote
from deid_platform.warehouse.gate.staging import Counts, Header, Inputs, StagedNote, Status, count_differences, stage
from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.quality.held_out import HeldOutSet, Purpose, record_look, seal
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import EmbeddedServer

WORDS = ("patient", "denies", "fever", "and", "reports", "mild", "pain", "since", "the", "fall", "in", "her", "knee")


@contextmanager
def timed(what: str, server: EmbeddedServer) -> Iterator[None]:
    forget_peak()
    root = psutil.Process(server.status().pid)
    start, ours, theirs = time.perf_counter(), time.process_time(), processor(root)
    yield
    seconds, own = time.perf_counter() - start, time.process_time() - ours
    used = f"{own:8.2f} s here {processor(root) - theirs:8.2f} s of the server"
    print(f"{what:<28}{seconds:8.2f} s {used}   peak {peak():6,.0f} MB", flush=True)


def notes(numbers: range, characters: int, keyring: Keyring) -> Iterator[StagedNote]:
    rng = random.Random(numbers.start)
    page = " ".join(rng.choices(WORDS, k=characters))
    dictionary = plain_digest("dictionary")
    for number in numbers:
        start = rng.randrange(len(page) - characters)
        yield StagedNote(
            note_key=keyring.key("note", str(number)),
            patient_key=keyring.key("patient", str(number // 4)),
            status=Status.CLEAN,
            text=page[start : start + characters],
            content_digest=plain_digest(str(number)),
            dictionary_digest=dictionary,
            note_type="progress",
            note_year=2020,
            language="en",
        )


def print_sizes(warehouse: Warehouse) -> None:
    """Rows and disk of what research holds, its indexes apart."""
    measured = "SELECT count(*), pg_table_size(:t), pg_indexes_size(:t) FROM research.note_version"
    with warehouse.administer() as connection:
        rows, table, indexes = connection.execute(text(measured), {"t": "research.note_version"}).one()
    each = f"{table / rows:,.0f} and {indexes / rows:,.0f} bytes a row"
    print(f"research.note_version: {rows:,} rows, {table / 1e6:,.0f} MB and indexes {indexes / 1e6:,.0f} MB: {each}")


def main(count: int = 100_000, characters: int = 4_000, deliveries: int = 2) -> None:
    home = Path(tempfile.mkdtemp(prefix="deid-bench-"))
    server = EmbeddedServer(home)
    try:
        server.start()
        warehouse = Warehouse(server)
        with timed("roles and migrations", server):
            prepare(warehouse, profile="demo")
        keyring = Keyring(hashlib.sha256(b"bench").digest(), site="bench")
        detector, policy = plain_digest("detector"), plain_digest("policy")
        measured_on = HeldOutSet(
            plain_digest("set"), "synthetic_hospital", "", 1, 1, 1, {}, (plain_digest("note")[:16],)
        )
        seal(warehouse.engine(Role.GATEKEEPER), measured_on)
        record_look(warehouse.engine(Role.GATEKEEPER), measured_on.digest, detector, Purpose.GATE)
        header = Header("r1", detector, policy, keyring.key_id, Inputs.TOPICS, "run", Counts(clean=count), True)
        for number in range(deliveries):
            delivery, numbers = Delivery("bench", f"{number:04d}"), range(number * count, (number + 1) * count)
            print(f"{delivery.key}: {count:,} notes of {characters:,} characters")
            rows = list(notes(numbers, characters, keyring))
            with timed("  stage (digest included)", server):
                staged = stage(warehouse.engine(Role.LOADER), delivery, rows, header)
            with timed("  digest alone", server), warehouse.begin(Role.GATEKEEPER) as connection:
                connection.execute(text("SELECT ctl.staged_digest(:d)"), {"d": delivery.key})
            with timed("  parity", server):
                assert count_differences(warehouse.engine(Role.GATEKEEPER), staged, rows, ()) == 0
            with timed("  expectations", server):
                outcomes = validate_staged(
                    warehouse.engine(Role.GATEKEEPER),
                    staged,
                    note_types=("progress",),
                    policy=load_policy("safe_harbor"),
                    thresholds=PROFILES["demo"],
                )
            assert all(outcome.passed for outcome in outcomes)
            record_gate(
                warehouse.engine(Role.GATEKEEPER),
                staged,
                [GateRow(name, True) for name in ("parity", "expectations", "leaks", "bench")],
                detector_digest=detector,
                inputs=Inputs.TOPICS,
                profile="demo",
            )
            with timed("  promote (digest included)", server):
                promote(warehouse.engine(Role.PROMOTER), delivery)
            with timed("  promote again, unchanged", server):
                promote(warehouse.engine(Role.PROMOTER), delivery)
            activate_release(warehouse.engine(Role.PROMOTER), "r1")
            with timed("  analyst counts all notes", server), warehouse.begin(Role.DEMO_ANALYST) as connection:
                assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar() == numbers.stop
            with timed("  analyst reads one note", server), warehouse.begin(Role.DEMO_ANALYST) as connection:
                statement = text("SELECT text FROM research.notes WHERE note_key = :key")
                assert connection.execute(statement, {"key": rows[0].note_key}).scalar() == rows[0].text
        print_sizes(warehouse)
    finally:
        server.stop(force=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
