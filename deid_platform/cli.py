"""The command line, `deid`.

Belongs here: arguments, progress bars and what a person reads. Does not belong here: anything that a
test could ask of a function in another room. Heavy rooms are imported by the command that needs them, so
that `deid redact` starts at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from deid_platform import __version__, officer
from deid_platform.errors import Code, DeidError, internal
from deid_platform.quiet import hush

if TYPE_CHECKING:
    from deid_platform.notes import Topics
    from deid_platform.refresh.site import Site

app = typer.Typer(
    name="deid",
    help="Clinical-text de-identification that proves itself on every refresh.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
db = typer.Typer(help="The warehouse: roles, migrations, a psql session.", no_args_is_help=True)
app.add_typer(db, name="db")
officer.register(app)

console = Console(stderr=True)
out = Console()

Config = Annotated[Path | None, typer.Option("--config", help="Another deid.toml than the one found here.")]
DetectorName = Annotated[str, typer.Option("--detector", help="A registered detector; `deid doctor` lists them.")]
Patients = Annotated[Path | None, typer.Option(help="The patients topic (CSV, JSONL or Parquet).")]
Providers = Annotated[Path | None, typer.Option(help="The providers topic.")]
Facilities = Annotated[Path | None, typer.Option(help="The facilities topic.")]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes; 1 means this process.")]


def main() -> None:
    """Runs the command line; a coded error becomes a few lines on stderr and exit status 1."""
    # Whatever is written from here on may hold notes.
    os.umask(0o077)
    hush()
    try:
        app()
    except Exception as error:
        if os.environ.get("DEID_DEBUG"):
            raise
        said = error if isinstance(error, DeidError) else internal(error)
        console.print(f"[bold red]{said.code.slug}[/]", end="")
        console.print(f" [{said.ref}]" if said.ref else "", markup=False, highlight=False, end="")
        console.print(f"\n{said.code.meaning}\n{said.code.remedy}", markup=False, highlight=False)
        sys.exit(1)


@dataclass(frozen=True)
class _Bar:
    """One progress bar."""

    bars: Progress
    task: TaskID

    def advance(self, notes: int) -> None:
        """So many more are done."""
        self.bars.advance(self.task, notes)

    def at(self, done: int, total: int) -> None:
        """So many of so many are done."""
        self.bars.update(self.task, completed=done, total=total)


@contextmanager
def _progress(what: str) -> Iterator[_Bar]:
    """A bar on stderr that appears only where a person watches."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield _Bar(bars, bars.add_task(what, total=None))


@app.command()
def redact(
    notes: Annotated[
        Path, typer.Argument(metavar="NOTES", help='JSON lines {"note_id", "text", ...}, CSV or Parquet.')
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the redacted JSON lines go.")],
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    policy: Annotated[str, typer.Option(help="A shipped policy or a path to YAML.")] = "safe_harbor_plus_providers",
    detector: DetectorName = "rules",
    workers: Workers = 1,
) -> None:
    """Redact a file of notes, without a warehouse.

    Writes {"note_id", "text", "spans": [[start, end, label], ...]} in input order. The spans are all identifiers
    that were found, as offsets into the original, also those whose label the policy keeps. Rows that are refused,
    and notes on which a stage fails, are counted and left out; exit status 3 says so.
    """
    from deid_platform.detection import DetectorSpec
    from deid_platform.engine import LocalEngine
    from deid_platform.redaction.policy import load_policy
    from deid_platform.workbench import redact_file

    _must_exist(notes, patients, providers, facilities)
    rules = load_policy(policy)
    topics = _topics(patients, providers, facilities)
    spec = DetectorSpec(name=detector, topics=topics or None)
    with _progress("redacting") as bar:
        outcome = redact_file(
            notes,
            output,
            spec=spec,
            policy=rules,
            engine=LocalEngine(workers=workers),
            beside=(patients, providers, facilities, Path(policy)),
            progress=bar.advance,
        )
    console.print(
        f"{outcome.notes:,} notes redacted under {rules.name}: {outcome.replaced:,} of {outcome.found:,} spans replaced"
    )
    if outcome.undated:
        console.print(f"{outcome.undated:,} notes have a date that is none (YYYY-MM-DD is read)", highlight=False)
    if not outcome.complete:
        for reason, count in sorted(outcome.rejected.items()):
            console.print(f"{count:,} rows refused: {reason}")
        if outcome.withheld:
            console.print(f"{outcome.withheld:,} notes withheld: a stage failed on them")
        raise typer.Exit(3)


@app.command()
def evaluate(
    gold: Annotated[Path, typer.Argument(help='JSON lines {"note_id", "text", "spans": [[start, end, label], ...]}.')],
    detector: DetectorName = "rules",
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    scheme: Annotated[str, typer.Option(help="Whose label names the gold uses (labels.CROSSWALKS).")] = "i2b2-2014",
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples for the 95% intervals.")] = 100,
    workers: Workers = 1,
) -> None:
    """Score a detector against gold spans: word-level precision, recall and F1, as paper 001 does."""
    from deid_platform.detection import DetectorSpec
    from deid_platform.engine import LocalEngine
    from deid_platform.evaluation.files import score_file
    from deid_platform.reports.summary import scores_table

    _must_exist(gold, patients, providers, facilities)
    topics = _topics(patients, providers, facilities)
    spec = DetectorSpec(name=detector, topics=topics or None)
    with _progress("scoring") as bar:
        scores = score_file(
            gold,
            spec=spec,
            engine=LocalEngine(workers=workers),
            scheme=scheme,
            resamples=resamples,
            progress=bar.advance,
        )
    out.print(scores_table(scores, title=f"{detector}, inputs: {spec.inputs}"))


@app.command()
def hospital(
    notes: Annotated[int, typer.Option(min=20, help="Notes over all deliveries.")] = 1500,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bytes.")] = 7,
    feed: Annotated[str, typer.Option(help="The feed of deid.toml to write to.")] = "hospital",
    config: Config = None,
) -> None:
    """Write a synthetic hospital's deliveries into a feed, and its gold apart from them."""
    from deid_platform.corpora.hospital import HospitalSpec, write
    from deid_platform.settings import load_settings

    settings = load_settings(config)
    chosen = settings.feeds.get(feed)
    if chosen is None or chosen.gold is None:
        raise DeidError(Code.SETTINGS_INVALID, f"feeds.{feed}.gold")
    spec = HospitalSpec(seed=seed, notes=notes)
    with _progress("writing notes") as bar:
        written = write(
            spec, feed_root=settings.path(chosen.path), gold_root=settings.path(chosen.gold), progress=bar.at
        )
    console.print(f"a synthetic hospital of {notes:,} notes: deliveries {', '.join(written)}")


@app.command()
def refresh(
    feed: Annotated[str | None, typer.Option(help="Only this feed.")] = None,
    delivery: Annotated[str | None, typer.Option(help="Only this delivery, `<feed>@<watermark>`.")] = None,
    force: Annotated[bool, typer.Option(help="Run deliveries too that research already holds unchanged.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait for a refresh that is running instead of giving up.")] = False,
    config: Config = None,
) -> None:
    """Run the main job on every delivery that is new or changed, oldest first, and print the release summary."""
    from deid_platform.refresh.lock import installation_lock
    from deid_platform.settings import config_path, load_settings

    path = config_path(config)
    with installation_lock(load_settings(path).home_path, wait=wait):
        with console.status("loading the platform"):
            from deid_platform.main_job import load_job, refresh_deliveries

            job = load_job(path)
        outcomes = refresh_deliveries(job, path, feed=feed, only=delivery, force=force, console=console)
        summary(path)
    if any(outcome.failure for outcome in outcomes):
        raise typer.Exit(1)


@app.command()
def summary(config: Config = None) -> None:
    """Print the release summary again."""
    from deid_platform.refresh.summary import release_summary
    from deid_platform.reports.summary import summary_panel

    out.print(summary_panel(release_summary(_site(config))))


@app.command()
def ui(
    port: Annotated[int, typer.Option(help="Of the loopback address.")] = 3000,
    config: Config = None,
) -> None:
    """Start the Dagster UI and its daemon on this installation's instance."""
    from deid_platform.instance import prepare_instance
    from deid_platform.settings import config_path, load_settings

    path = config_path(config)
    prepare_instance(load_settings(path), path)
    console.print(f"Dagster UI: [bold]http://127.0.0.1:{port}[/] (ends with Ctrl-C)")
    program = Path(sys.executable).with_name("dagster")
    arguments = [
        "dagster",
        "dev",
        "-w",
        str(_workspace()),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
        "--log-level",
        "warning",
    ]
    # A shell ignores interrupts in what it starts in the background, and Dagster takes SIGTERM for one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(program, arguments)  # noqa: S606 - no shell, and every argument is ours


@app.command()
def doctor(config: Config = None) -> None:
    """Check the installation, one line a thing, and list what can be chosen."""
    from deid_platform.doctor import examine

    findings = examine(config)
    table = Table(title=f"deid {__version__}", show_header=False, box=None)
    for finding in findings:
        table.add_row("[green]ok[/]" if finding.good else "[red]no[/]", finding.subject, finding.detail)
    out.print(table)
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)


@db.command("bootstrap")
def db_bootstrap(config: Config = None) -> None:
    """Make the key secret, the server, its roles and its schemas, or bring them up to date. Safe to repeat."""
    from deid_platform.settings import ensure_secret
    from deid_platform.warehouse.migrate import prepare

    site = _site(config)
    ensure_secret(site.settings)
    with _progress("preparing the warehouse"):
        prepare(site.warehouse, profile=site.settings.profile)
    console.print(f"warehouse ready: {site.warehouse.describe()}, gate profile {site.settings.profile}")


@db.command("status")
def db_status(config: Config = None) -> None:
    """Say where the warehouse is and which gate profile and release are in force."""
    from deid_platform.warehouse.queries import summary as state
    from deid_platform.warehouse.roles import Role

    warehouse = _site(config).warehouse
    found = state(warehouse.engine(Role.OFFICER))
    out.print(f"{warehouse.describe()}, gate profile {found.profile}, release {found.release or 'none active'}")


@db.command("psql", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def db_psql(
    context: typer.Context,
    role: Annotated[str, typer.Option(help="Log in as this role.")] = "analyst",
    config: Config = None,
) -> None:
    """Open psql on the warehouse, as the analyst by default; further arguments go to psql."""
    from deid_platform.warehouse.roles import Role

    (program, *arguments), environment = _site(config).warehouse.psql(Role(role))
    os.execvpe(program, [program, *arguments, *context.args], {**os.environ, **environment})  # noqa: S606 - no shell


@db.command("stop")
def db_stop(config: Config = None) -> None:
    """Stop the embedded server unless someone is connected; it starts again by itself when it is needed."""
    from deid_platform.settings import load_settings
    from deid_platform.warehouse.server import EmbeddedServer

    stopped = EmbeddedServer(load_settings(config).home_path).stop()
    console.print("stopped" if stopped else "still in use, not stopped")


def _site(config: Path | None) -> Site:
    from deid_platform.refresh.site import Site
    from deid_platform.settings import load_settings

    return Site(load_settings(config))


def _topics(patients: Path | None, providers: Path | None, facilities: Path | None) -> Topics:
    from deid_platform.corpora import Role
    from deid_platform.workbench import read_topics

    topics, dropped = read_topics({Role.PATIENTS: patients, Role.PROVIDERS: providers, Role.FACILITIES: facilities})
    for role, count in dropped.items():
        console.print(f"{role}: {count:,} dates left out that are none (YYYY-MM-DD is read)", highlight=False)
    return topics


def _workspace() -> Path:
    return Path(__file__).resolve().parent.parent / "workspace.yaml"


def _must_exist(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and not path.is_file():
            # The path is the caller's own argument, yet a file may be named after a patient.
            raise DeidError(Code.FEED_UNREADABLE, "no such file")
