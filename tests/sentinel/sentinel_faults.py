"""Runs `deid` with its stages broken in turn: a program of its own, so that no fault has a hook in the platform.

    python sentinel_faults.py PLAN COMMAND...

PLAN is a JSON file: `faults` (watermark -> names of those that strike in that delivery's run), `feed` (its folder),
`home` (the installation), `out` (a folder for what the tests want to know of the run). Each further argument is one
command line of `deid`; all run in this process, one after the other.

Belongs here: how a stage breaks. Does not belong here: what must hold afterwards (`test_sentinel.py`). A fault is as
indiscreet as it can be: it raises with the whole delivery in its message, in its cause and in its notes, and says the
same to a logger and as a warning, as a library might.
"""

from __future__ import annotations

import atexit
import dataclasses
import importlib
import json
import logging
import os
import resource
import shlex
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any

RAISE, LIE, KILL, UNREDACTABLE = "XRAISE", "XLIE", "XKILL", "XUNREDACTABLE"
"""In a note's text: the detector raises, answers nonsense, kills its own process; redaction raises."""


def indiscreet(said: str) -> Exception:
    """An error that tells all it knows, wherever a library could tell it."""
    logging.getLogger("indiscreet.library").error("could not process %s", said)
    warnings.warn(f"could not process {said}", RuntimeWarning, stacklevel=2)
    error = ValueError(f"invalid value: {said}")
    error.__cause__ = KeyError(said)
    error.add_note(said)
    return error


class Broken:
    """Which delivery is in hand, and the faults that strike in its run."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.feed, self.out, self.home = (Path(plan[name]) for name in ("feed", "out", "home"))
        self.by_watermark: dict[str, list[str]] = plan["faults"]
        self.watermark = ""

    def strikes(self, fault: str) -> bool:
        """Whether a fault strikes now; told to the tests, since one that never struck proves nothing."""
        if fault not in self.by_watermark.get(self.watermark, ()):
            return False
        with (self.out / "struck").open("a") as stream:
            stream.write(f"{self.watermark} {fault}\n")
        return True

    def said(self) -> str:
        """All that the delivery holds."""
        files = sorted((self.feed / self.watermark).iterdir())
        return " ".join([*(f.name for f in files), *(f.read_text(errors="replace") for f in files)])


def replace(place: str, wrap: Callable[..., Any]) -> None:
    """Puts `wrap(original)` in the place of `module:attribute`, or of `module:Class.method`."""
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    holder: Any = importlib.import_module(module)
    for owner in owners:
        holder = getattr(holder, owner)
    setattr(holder, name, wrap(getattr(holder, name)))


def raising(broken: Broken, fault: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """The original, but that it raises where the fault strikes."""

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        if broken.strikes(fault):
            raise indiscreet(broken.said())
        return original(*args, **kwargs)

    return run


RAISING = {
    "topics": "assets.source:sealing.take_in_topic",
    "raw_notes": "assets.source:sealing.take_in_notes",
    "institution": "assets.dictionaries:record.write_institution",
    "medical": "assets.dictionaries:record.write_medical",
    "redacted_notes": "assets.deid:redact_delivery",
    "test_set": "assets.bench:measured_notes.build_test_set",
    "figure": "assets.bench:sample_figure",
    "gold_notes": "assets.bench:measured_notes.collect_gold",
    "detections": "assets.bench:scoring.run_detector",
    "metrics": "assets.bench:scoring.measure",
    "lab": "assets.bench:measures.measure",
    "withdrawals": "assets.gate:stage.stage_withdrawals",
    "named since": "assets.gate:hide_named_since",
    "delivery": "assets.gate:stage.stage_delivery",
    "measurements": "assets.gate:measure.record_measurements",
    "requirements": "assets.checks:gate_requirements",
    "expectations": "assets.checks:record_expectations",
    "note_version": "assets.research:publish.promote_delivery",
    "release": "assets.research:release_summary",
    "dossier": "assets.research:write_dossier",
}
"""Fault -> the domain function that one asset or check calls, and that raises."""


def keys_alike(broken: Broken, original: Callable[..., str]) -> Callable[..., str]:
    """Two notes get one key, so that the server refuses the second, and quotes it."""

    def key(self: Any, kind: str, *source_id: str) -> str:
        return "n_" + "a" * 26 if kind == "note" and broken.strikes("unique") else original(self, kind, *source_id)

    return key


def unstorable(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """Texts that Postgres cannot hold: the driver quotes the whole of them."""

    @wraps(original)
    def rows(*args: Any, **kwargs: Any) -> Iterator[Any]:
        tails = {"nul": "\0", "surrogate": "\ud800"}
        tail = "".join(tails[fault] for fault in tails if broken.strikes(fault))
        for row in original(*args, **kwargs):
            yield row if row.text is None else dataclasses.replace(row, text=row.text + tail)

    return rows


def gone(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """The server dies once rows are staged."""

    @wraps(original)
    def measure(*args: Any, **kwargs: Any) -> Any:
        if broken.strikes("server gone"):
            os.kill(_server(broken).status().pid, signal.SIGQUIT)  # at once, without a checkpoint
            while _server(broken).status().running:
                time.sleep(0.05)
        return original(*args, **kwargs)

    return measure


def _server(broken: Broken) -> Any:
    from deid_platform.warehouse.server.server import EmbeddedServer

    return EmbeddedServer(broken.home)


def full(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """The disk takes 64 bytes a file and no more."""

    @wraps(original)
    def write(*args: Any, **kwargs: Any) -> Any:
        if not broken.strikes("disk full"):
            return original(*args, **kwargs)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
        try:
            return original(*args, **kwargs)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return write


def unexpected(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """Great Expectations: no note type is expected, so that an expectation fails on every row."""

    @wraps(original)
    def validate(*args: Any, **kwargs: Any) -> Any:
        if broken.strikes("unmet expectation"):
            kwargs["note_types"] = ()
        return original(*args, **kwargs)

    return validate


def failing_mart(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """dbt reads a text as a number: Postgres quotes it, and dbt repeats that."""

    @wraps(original)
    def environment(*args: Any, **kwargs: Any) -> dict[str, str]:
        return {**original(*args, **kwargs), "DEID_BROKEN_MART": "yes" if broken.strikes("mart") else ""}

    return environment


def broken_project(out: Path) -> Path:
    """The dbt project with a model that fails where the environment says so."""
    from resources import dbt

    copy = out / "dbt"
    shutil.copytree(dbt.PROJECT_DIR, copy, ignore=shutil.ignore_patterns("target", "logs"), dirs_exist_ok=True)
    model = copy / "models" / "marts" / "note_profile.sql"
    model.write_text(
        "{% if env_var('DEID_BROKEN_MART', '') %}select text::integer as note_type, 1 as note_year, true as suppressed"
        " from {{ source('research', 'notes') }}"
        "{% else %}\n" + model.read_text() + "\n{% endif %}\n"
    )
    return copy


def faulty_detector(original: Callable[..., Any]) -> Callable[..., Any]:
    """The detector as notes break it, in this process or in a worker."""
    from deid_platform.labels import Label
    from deid_platform.notes import Span

    def detect(self: Any, notes: Iterable[Any]) -> list[tuple[Any, ...]]:
        notes = list(notes)
        for note in notes:
            if RAISE in note.text:
                raise indiscreet(note.text)
            if KILL in note.text:
                logging.getLogger("indiscreet.library").error("out of memory at %s", note.text)
                os.kill(os.getpid(), signal.SIGKILL)
        return [
            (Span(0, len(note.text) + 1, Label.PATIENT),) if LIE in note.text else spans
            for note, spans in zip(notes, original(self, notes), strict=True)
        ]

    return detect


def faulty_redaction(original: Callable[..., Any]) -> Callable[..., Any]:
    """Redaction as a note breaks it."""

    @wraps(original)
    def redact(note: Any, *args: Any, **kwargs: Any) -> Any:
        if UNREDACTABLE in note.text:
            raise indiscreet(note.text)
        return original(note, *args, **kwargs)

    return redact


def faulty_expectation(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """Great Expectations itself raises in the middle of a suite, where it catches and keeps what was raised."""

    @wraps(original)
    def validate(*args: Any, **kwargs: Any) -> Any:
        if broken.strikes("expectation raises"):
            raise indiscreet(broken.said())
        return original(*args, **kwargs)

    return validate


def break_everything(broken: Broken) -> None:
    """Puts every fault in its place; each strikes in the runs that the plan names."""
    import dagster as dg

    import assets.layer
    from resources import dbt

    for fault, place in RAISING.items():
        replace(place, partial(raising, broken, fault))
    replace("deid_platform.keys:Keyring.key", partial(keys_alike, broken))
    replace("deid_platform.refresh.staging.stage:staged_rows", partial(unstorable, broken))
    replace("assets.gate:measure.record_measurements", partial(gone, broken))
    replace("assets.deid:redact_delivery", partial(full, broken))
    replace("deid_platform.refresh.staging.measure:validate_staged", partial(unexpected, broken))
    replace("deid_platform.warehouse.server.connection:Warehouse.dbt_environment", partial(failing_mart, broken))
    replace(
        "great_expectations.expectations:ExpectColumnValuesToMatchRegex._validate",
        partial(faulty_expectation, broken),
    )
    dbt.PROJECT_DIR = broken_project(broken.out)
    # Another attempt fails like the first: no need to wait for it.
    assets.layer.RETRIES = dg.RetryPolicy(max_retries=1)

    replace("deid_platform.main_job.command:execute", partial(in_hand, broken))


def in_hand(broken: Broken, original: Callable[..., Any]) -> Callable[..., Any]:
    """Tells which delivery a run is of; a server that a fault has stopped is there again."""

    @wraps(original)
    def execute(*args: Any, partition: str, **kwargs: Any) -> Any:
        broken.watermark = partition.partition("@")[2]
        _server(broken).start()
        return original(*args, partition=partition, **kwargs)

    return execute


def watch_figures(out: Path) -> None:
    """Writes down every word that a figure shows: a picture cannot be searched."""

    def watched(original: Callable[..., bytes]) -> Callable[..., bytes]:
        def png(figure: Any, path: Path | None) -> bytes:
            from matplotlib.text import Text

            with (out / "figures").open("a") as stream:
                stream.writelines(f"{text.get_text()}\n" for text in figure.findobj(Text))
            return original(figure, path)

        return png

    replace("deid_platform.reports.figures:png", watched)


def watch(told: Path) -> None:
    """Writes down every file that this process opens for writing, with the module that does, and what it starts.

    Files that are gone afterwards are included, and a temporary file without a name by its folder.
    """
    opened: set[str] = set()
    started: set[str] = set()
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            started.add(repr(args[1]))
        elif event == "open" and isinstance(args[0], str) and (args[2] or 0) & writing:
            frame = sys._getframe(1)
            while frame.f_back and frame.f_globals.get("__name__") == "tempfile":
                frame = frame.f_back
            opened.add(f"{frame.f_globals.get('__name__')} {args[0]}")

    sys.addaudithook(hook)
    atexit.register(lambda: told.write_text("\n".join(sorted(opened))))
    atexit.register(lambda: told.with_suffix(".started").write_text("\n".join(sorted(started))))


def run(commands: list[str]) -> None:
    """Runs command lines of `deid` one after the other, and tells how each ended on standard output."""
    from deid_platform.cli import main

    for command in commands:
        sys.argv = ["deid", *shlex.split(command)]
        status: object = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code
        sys.stdout.write(f"{command.split()[0]} ended with {status or 0}\n")
        sys.stdout.flush()


# Worker processes import this program under another name: their detector and redaction are as faulty.
replace("deid_platform.detection.pipeline:Pipeline.detect", faulty_detector)
replace("deid_platform.deidentify.release_note:redact", faulty_redaction)

if __name__ == "__main__":
    chosen = Broken(json.loads(Path(sys.argv[1]).read_text()))
    watch(Path(sys.argv[1]).with_suffix(".opened"))
    # A compressed Parquet file is laid out on disk from its first byte on, as a large one is.
    importlib.import_module("deid_platform.corpora.parquet")._IN_MEMORY = 1
    break_everything(chosen)
    watch_figures(chosen.out)
    run(sys.argv[2:])
