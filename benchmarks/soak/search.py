"""Looks for planted text where no note may be: what the commands say, Dagster's storage, dossiers, logs, other tables.

Belongs here: where a soak looks. Does not belong here: encodings and what is packed (`tests/sentinel`), or identifiers
in what analysts read (`model.py`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "sentinel"))

from sentinel_search import Marker, Search

from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.server import psql_binary

MARK = "qzxsoak"
"""A word of every planted note, which stands nowhere else."""


def planted_elsewhere(folder: Path, *, since: float, tables: bytes) -> int:
    """In how many files, and the tables, planted text is found outside the notes, in whatever encoding.

    Args:
        folder: The soak's.
        since: Files that have not changed since this time were looked at before; 0 looks at everything. Dagster's
            index repeats what the events of its runs say, and is looked at only then: it is long and changes always.
        tables: What `tables_beside` gave.
    """
    home, search = folder / "home", Search([Marker("planted", MARK)])
    files = [folder / "said", home / "postgres" / "log"]
    files += [path for place in ("dagster", "dossiers") for path in (home / place).rglob("*")]
    changed = [path for path in files if path.is_file() and path.stat().st_mtime >= since]
    if since:
        changed = [path for path in changed if path.name != "index.db"]
    found = [search.in_bytes(path.read_bytes(), path.name) for path in changed]
    return sum(map(bool, [*found, search.in_bytes(tables, "tables")]))


def tables_beside(warehouse: Warehouse) -> bytes:
    """The warehouse as SQL, without the notes that analysts may read and those that wait for the gate."""
    url = warehouse.admin_engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    program = [str(Path(psql_binary()).with_name("pg_dump")), "--exclude-schema=research", "--exclude-schema=staging"]
    return subprocess.run([*program, f"--dbname={url}"], check=True, capture_output=True).stdout
