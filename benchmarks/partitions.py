"""What one table of versions does at a stated size, beside the same table in partitions by release.

    python benchmarks/partitions.py [notes of a release] [layout ...]

Two releases of the same notes, of 100 characters each, in deliveries of 100,000 whose rows lie in the order of their
keys, as promotion writes them. The layout `plain` is the platform's own. Each other layout is a copy of that database
with its rows moved: `release` has a partition a release; `hash` has these divided by hash of the note's key into eight.
One more delivery is then promoted (`ctl.copy`), and once more in place of itself. On an embedded server in a temporary
folder, which is removed afterwards.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from measure import processor
from sqlalchemy import text

from deid_platform.warehouse.migrate import prepare
from deid_platform.warehouse.migrations.statements import replace_code
from deid_platform.warehouse.officer.releases import STEP
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import EmbeddedServer

DELIVERY = 100_000
RELEASES = ("r1", "r2")
TABLES = ("research.note_version", "research.version_key")
PAGE = "patient denies fever and reports mild pain since the fall in her knee " * 3

ANNOUNCE = """
    INSERT INTO ctl.release (release, detector_digest, policy_digest, key_id, deactivated_at) VALUES
        ('r1', 'd1', 'p', 'k', clock_timestamp() - interval '1 day'), ('r2', 'd2', 'p', 'k', NULL);
    UPDATE ctl.release SET active = true, activated_at = clock_timestamp() WHERE release = 'r2'
"""
ANNOUNCE_DELIVERY = """
    INSERT INTO ctl.delivery (delivery, feed, delivery_seq, release, detector_digest, inputs, demonstration,
        clean, quarantined, withdrawn, state)
    VALUES (:delivery, 'bench', :seq, :release, 'd', 'text', true, :notes, 0, 0, 'staged')
    ON CONFLICT (delivery) DO UPDATE SET release = EXCLUDED.release
"""
# Keys as evenly drawn as the platform's, four notes a patient, one note in 100,000 with a word of its own.
NOTES = """
    SELECT CAST(:delivery AS text) AS delivery, 'bench' AS feed, CAST(:seq AS bigint) AS delivery_seq,
           'n_' || left(md5(n::text), 26) COLLATE "C" AS note_key, 'p_' || left(md5((n / 4)::text), 26) AS patient_key,
           'progress' AS note_type, 2020 AS note_year, 'en' AS language,
           CASE WHEN n % 100000 = 7 THEN 'Quillfeather ' ELSE '' END || substr(CAST(:page AS text), 1 + n % 70, 100)
               AS text,
           repeat('d', 32) AS detector_digest, repeat('e', 32) AS dictionary_digest, repeat('f', 32) AS policy_digest,
           'k' AS key_id, 'run' AS run_id, CAST(:release AS text) AS release, repeat('c', 32) AS content_digest,
           md5((n / 4)::text) AS shift_key
    FROM generate_series(CAST(:first AS integer), CAST(:last AS integer)) AS n
"""
COLUMNS = (
    "delivery, feed, delivery_seq, note_key, patient_key, note_type, note_year, language, text, detector_digest,"
    " dictionary_digest, policy_digest, key_id, run_id, release, content_digest, shift_key"
)
FILL = f"INSERT INTO research.note_version ({COLUMNS}) SELECT * FROM ({NOTES}) AS n ORDER BY n.note_key"
SHIFT = """
    INSERT INTO research.shift (release, patient_key, shift_key)
    SELECT DISTINCT release, patient_key, shift_key FROM research.note_version
"""
STAGE = f"INSERT INTO staging.note ({COLUMNS}, status, former_keys) SELECT n.*, 'clean', '{{}}' FROM ({NOTES}) AS n"
PUBLISH = "INSERT INTO ctl.publication (release, delivery, approved) VALUES (:release, :delivery, :notes)"
# The search for what is the newest version of its note, which any way to remove a release begins with.
HOLD = """
    INSERT INTO research.held (note_key, feed, release, delivery_seq, delivery, reason)
    SELECT v.note_key, v.feed, v.release, v.delivery_seq, v.delivery, 'correction'
    FROM research.note_version v
    WHERE v.release = 'r1' AND NOT EXISTS (
        SELECT 1 FROM research.note_version o
        WHERE o.note_key = v.note_key AND o.feed = v.feed
          AND (o.delivery_seq > v.delivery_seq OR (o.delivery_seq = v.delivery_seq AND o.release <> 'r1')))
    ON CONFLICT DO NOTHING
"""
LOCKS = """
    SELECT c.relname || ' ' || l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    WHERE l.pid = pg_backend_pid() AND l.mode IN ('AccessExclusiveLock', 'ShareRowExclusiveLock')
      AND c.relkind IN ('r', 'p') AND c.relnamespace::regnamespace::text <> 'pg_toast' ORDER BY 1
"""


@contextmanager
def timed(what: str, server: EmbeddedServer) -> Iterator[None]:
    root = psutil.Process(server.status().pid)
    start, theirs = time.perf_counter(), processor(root)
    yield
    seconds = time.perf_counter() - start
    time.sleep(2)  # until a session that has ended counts as ended
    print(f"{what:<52}{seconds:9.2f} s {processor(root) - theirs:9.2f} s of the server", flush=True)


def partition(warehouse: Warehouse, parts: int) -> None:
    """Moves both tables of versions into partitions by release, each divided into `parts` where these are over 1."""
    admin = warehouse.admin_engine()
    with admin.begin() as connection:
        connection.exec_driver_sql(f"SET LOCAL ROLE {Role.OWNER}; SET LOCAL search_path = pg_catalog, pg_temp")
        for table in TABLES:
            name = table.split(".")[1]
            connection.exec_driver_sql(
                f"ALTER TABLE {table} RENAME TO {name}_old;"
                f"CREATE TABLE {table} (LIKE {table}_old INCLUDING ALL) PARTITION BY LIST (release)"
            )
            for release in RELEASES:
                divided = " PARTITION BY HASH (note_key)" if parts > 1 else ""
                of = f"PARTITION OF {table} FOR VALUES IN ('{release}')"
                connection.exec_driver_sql(f"CREATE TABLE {table}_{release} {of}{divided}")
                for part in range(parts if parts > 1 else 0):
                    each = f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})"
                    of = f"PARTITION OF {table}_{release} {each}"
                    connection.exec_driver_sql(f"CREATE TABLE {table}_{release}_{part} {of}")
            order = "delivery_seq, note_key" if name == "note_version" else "note_key, feed, delivery_seq"
            connection.exec_driver_sql(
                f"INSERT INTO {table} SELECT * FROM {table}_old ORDER BY release, {order};"
                f"DROP TABLE {table}_old CASCADE"
            )
        replace_code(connection)


def values(number: int, release: str) -> dict[str, object]:
    first = number * DELIVERY
    return {
        "delivery": f"bench@{number:04d}", "seq": number + 1, "release": release, "notes": DELIVERY, "page": PAGE,
        "first": first, "last": first + DELIVERY - 1,
    }  # fmt: skip


def load(warehouse: Warehouse, server: EmbeddedServer, deliveries: int) -> None:
    with timed("load", server), warehouse.administer() as connection:
        connection.exec_driver_sql(ANNOUNCE)
        for release in RELEASES:
            for number in range(deliveries):
                for statement in (ANNOUNCE_DELIVERY, FILL, PUBLISH):
                    connection.execute(text(statement), values(number, release))
        connection.exec_driver_sql(SHIFT)
    vacuum(warehouse, server)


def vacuum(warehouse: Warehouse, server: EmbeddedServer) -> None:
    with timed("vacuum", server), warehouse.administer() as connection:
        connection.exec_driver_sql(f"VACUUM {', '.join(TABLES)}, research.shift")


def sizes(warehouse: Warehouse) -> None:
    statement = text(
        "SELECT sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r'"
        " AND c.relnamespace = CAST('research' AS regnamespace) AND starts_with(c.relname, :t)"
    )
    with warehouse.administer() as connection:
        for table in TABLES:
            own, indexes = connection.execute(statement, {"t": table.split(".")[1]}).one()
            print(f"  {table}: {int(own) / 1e6:,.0f} MB and indexes {int(indexes) / 1e6:,.0f} MB", flush=True)


def read(warehouse: Warehouse, server: EmbeddedServer, notes: int, deliveries: int) -> None:
    last = values(deliveries, RELEASES[-1])
    with warehouse.administer() as connection:
        for statement in (ANNOUNCE_DELIVERY, STAGE):
            connection.execute(text(statement), last)
    for what in ("copy a delivery that is new", "copy it again"):
        with timed(what, server), warehouse.administer() as connection:
            connection.execute(text("SELECT ctl.copy(:delivery)"), last)
    search = text(
        "SELECT count(*) FROM research.note_version v"
        " WHERE v.release = 'r2' AND v.feed = 'bench' AND v.delivery_seq = 9999"
    )
    with timed("what a delivery that is new looks for to replace", server), warehouse.administer() as connection:
        connection.execute(search)
    with warehouse.administer() as connection:
        drawn = "SELECT note_key FROM research.version_key WHERE release = 'r2' ORDER BY note_key OFFSET 1000 LIMIT 20"
        keys = connection.execute(text(drawn)).scalars().all()
    seconds = []
    for key in keys:
        with warehouse.begin(Role.DEMO_ANALYST) as connection:
            start = time.perf_counter()
            one = connection.execute(text("SELECT text FROM research.notes WHERE note_key = :key"), {"key": key})
            assert one.scalar_one()
            seconds.append(time.perf_counter() - start)
    print(
        f"an analyst reads one note, median of {len(seconds)}: {statistics.median(seconds) * 1000:.1f} ms", flush=True
    )
    with timed("an analyst counts all notes", server), warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar_one() == notes + DELIVERY
    search = text("SELECT count(*) FROM ctl.versions_holding(ARRAY[CAST(:key AS text)], 'Quillfeather')")
    with timed("a retraction searches all texts", server), warehouse.administer() as connection:
        found = connection.execute(search, {"key": keys[0]}).scalar_one()
    print(f"  found in {found} versions", flush=True)


def expire_at_once(warehouse: Warehouse, server: EmbeddedServer) -> None:
    """Deletes a release in one transaction and takes it back, so that it can be deleted another way."""
    with warehouse.admin_engine().connect() as connection:
        with timed("expiry in one transaction: hold what is newest", server):
            connection.exec_driver_sql(HOLD)
        with timed("expiry in one transaction: delete", server):
            connection.exec_driver_sql("DELETE FROM research.note_version WHERE release = 'r1'")
            connection.exec_driver_sql("DELETE FROM research.shift WHERE release = 'r1'")
        with timed("  and roll it back", server):
            connection.rollback()


def expire_by_steps(warehouse: Warehouse, server: EmbeddedServer) -> None:
    """Expires a release as `releases.expire_releases` does, with a clock on each step."""
    seconds = []
    with timed("expiry by steps", server):
        with warehouse.begin(Role.PROMOTER) as connection:
            connection.execute(text("SELECT ctl.expire_releases(0, 0)"))
        left = True
        while left:
            start = time.perf_counter()
            with warehouse.begin(Role.PROMOTER) as connection:
                left = connection.execute(text("SELECT ctl.forget_expired(:s)"), {"s": STEP}).scalar_one()
            seconds.append(time.perf_counter() - start)
    print(
        f"  {len(seconds)} steps: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s", flush=True
    )


def expire_partition(warehouse: Warehouse, server: EmbeddedServer) -> None:
    with warehouse.admin_engine().begin() as connection:
        with timed("expiry of a partition: hold what is newest", server):
            connection.exec_driver_sql(HOLD)
        with timed("expiry of a partition: detach and drop", server):
            for table in TABLES:
                connection.exec_driver_sql(f"ALTER TABLE {table} DETACH PARTITION {table}_r1; DROP TABLE {table}_r1")
            connection.exec_driver_sql("DELETE FROM research.shift WHERE release = 'r1'")
        print("  locks:", ", ".join(connection.execute(text(LOCKS)).scalars()), flush=True)


def main(notes: int = 1_000_000, *layouts: str) -> None:
    home = Path(tempfile.mkdtemp(prefix="deid-bench-"))
    server = EmbeddedServer(home)
    deliveries = notes // DELIVERY
    try:
        server.start()
        print(f"{len(RELEASES)} releases of {notes:,} notes", flush=True)
        plain = Warehouse(server, database="deid_plain")
        prepare(plain, profile="demo")
        load(plain, server, deliveries)
        made = {"plain": plain}
        for layout, parts in (("release", 1), ("hash", 8)):
            if layout in layouts:
                with plain.administer(maintenance=True) as connection:
                    connection.exec_driver_sql(f"CREATE DATABASE deid_{layout} TEMPLATE deid_plain STRATEGY file_copy")
                made[layout] = Warehouse(server, database=f"deid_{layout}")
                partition(made[layout], parts)
                vacuum(made[layout], server)
        for layout, warehouse in made.items():
            print(layout, flush=True)
            sizes(warehouse)
            read(warehouse, server, notes, deliveries)
            if layout == "plain":
                expire_at_once(warehouse, server)
                expire_by_steps(warehouse, server)
            else:
                expire_partition(warehouse, server)
            vacuum(warehouse, server)
            sizes(warehouse)
    finally:
        server.stop(force=True)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(*(int(argument) if argument.isdigit() else argument for argument in sys.argv[1:]))
