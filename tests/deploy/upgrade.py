"""An installation of the first commit that was put to use comes to today's code with all that it holds.

Not a `test_*.py`: it runs that commit's own code for a whole refresh, takes minutes and needs the history, so that it
is run by name, `make test-upgrade`. The commit's code runs in this environment: what it needs is pinned to the same
versions as today, which the first test checks.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import text

from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import EmbeddedServer

pytestmark = [pytest.mark.process, pytest.mark.warehouse]

ROOT = Path(__file__).parents[2]
FIRST = "a08cbeb"
NOTES = 60
_DEID = "import sys; sys.argv[0] = 'deid'; from deid_platform.cli import main; main()"


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


@dataclass(frozen=True)
class Installation:
    """A home made by the first commit, and either commit's commands on it."""

    folder: Path

    def first(self, *command: str) -> str:
        return self._run(self.folder / "first", command)

    def today(self, *command: str) -> str:
        return self._run(ROOT, command)

    def _run(self, code: Path, command: tuple[str, ...]) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("DEID_", "DAGSTER_"))}
        environment |= {"PYTHONPATH": str(code), "DEID_CONFIG": str(self.folder / "deid.toml"), "DO_NOT_TRACK": "1"}
        # -P: what lies in the current folder is neither commit's code.
        line = [sys.executable, "-P", "-c", _DEID, *command]
        done = subprocess.run(line, env=environment, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def ask(self, question: str) -> list[tuple[object, ...]]:
        """As the administrator, whom no version of the platform keeps from reading its tables."""
        with self._warehouse.administer() as connection:
            return [tuple(row) for row in connection.execute(text(question))]

    def shown(self) -> list[tuple[object, ...]]:
        """What an analyst reads today."""
        with self._warehouse.begin(Role.DEMO_ANALYST) as connection:
            return [tuple(row) for row in connection.execute(text(SHOWN))]

    @property
    def _warehouse(self) -> Warehouse:
        server = EmbeddedServer(self.folder / "home")
        server.start()
        return Warehouse(server)


@pytest.fixture(scope="module")
def used() -> Iterator[Installation]:
    """Two deliveries refreshed by the first commit's own code."""
    if subprocess.run(["git", "-C", str(ROOT), "cat-file", "-e", f"{FIRST}^{{commit}}"], check=False).returncode:
        pytest.fail(f"NOT RUN: this checkout has no history down to {FIRST}")
    with tempfile.TemporaryDirectory(prefix="deid-upgrade-") as name:
        made = Installation(Path(name))
        with tarfile.open(fileobj=io.BytesIO(git("archive", FIRST))) as archive:
            archive.extractall(made.folder / "first", filter="data")
        config = (made.folder / "first" / "deid.toml").read_text()
        (made.folder / "deid.toml").write_text(config.replace('".deid', '"home'))
        made.first("hospital", "--notes", str(NOTES))
        made.first("db", "bootstrap")
        made.first("refresh")
        yield made
        EmbeddedServer(made.folder / "home").stop(force=True)


def versions(constraints: str) -> dict[str, str]:
    pinned = (line.partition("==") for line in constraints.splitlines() if "==" in line)
    return {name: version for name, _, version in pinned}


def test_the_first_commit_runs_with_the_versions_that_it_was_made_with() -> None:
    first = versions(git("show", f"{FIRST}:constraints.txt").decode())
    today = versions((ROOT / "constraints.txt").read_text())
    # The same modules without the data of carriers and places, which nothing reads.
    assert first.pop("phonenumbers").startswith("9.")
    assert today["phonenumberslite"].startswith("9.")
    assert first.items() <= today.items()


VERSIONS = "SELECT release, note_key, delivery, text FROM research.note_version ORDER BY 1, 2, 3"
LEDGER = "SELECT id, event, delivery, release FROM ctl.ledger ORDER BY id"
SHOWN = "SELECT note_key, text FROM research.notes ORDER BY note_key"
ACTIVE = "SELECT release FROM ctl.release WHERE active"


def test_nothing_is_lost_nothing_comes_twice_and_the_old_release_can_be_read(used: Installation) -> None:
    versions_before, ledger_before = used.ask(VERSIONS), used.ask(LEDGER)
    ((old,),) = used.ask(ACTIVE)
    assert len(versions_before) >= NOTES * 0.9
    sealed = {path.relative_to(used.folder) for path in (used.folder / "home" / "store").rglob("manifest.json")}

    used.today("db", "bootstrap")
    assert used.ask(VERSIONS) == versions_before
    assert used.ask(LEDGER)[: len(ledger_before)] == ledger_before
    shown_before = used.shown()
    assert 0 < len(shown_before) <= len(versions_before)

    said = used.today("refresh")
    assert "stopped" not in said
    ((new,),) = used.ask(ACTIVE)
    assert new != old
    assert [row for row in used.ask(VERSIONS) if row[0] == old] == versions_before
    assert used.ask(LEDGER)[: len(ledger_before)] == ledger_before
    keys = [key for key, _ in used.shown()]
    assert len(keys) == len(set(keys))
    # The secret is the same, so a note has the key that it had; a few may be quarantined by today's leak check.
    assert len({key for key, _ in shown_before} - set(keys)) <= NOTES * 0.05
    assert sealed <= {path.relative_to(used.folder) for path in (used.folder / "home" / "store").rglob("manifest.json")}

    assert "unchanged" in used.today("refresh")
    used.today("release", "rollback", "--who", "A. Officer", "--why", "the old release is read again")
    assert used.shown() == shown_before
