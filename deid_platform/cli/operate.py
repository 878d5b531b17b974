"""Commands that run an installation: hospital, refresh, archive, withdraw, summary, proposals, accept-store, ui and
doctor.

Belongs here: arguments and what a person reads. Does not belong here: the main job (`main_job/command.py`) or what it
does (`refresh/`).
"""

from __future__ import annotations

import signal
import socket
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.extract import tell_holders
from deid_platform.cli.terminal import (
    Config,
    Json,
    console,
    counted,
    needs,
    out,
    progress,
    say,
    show,
    show_json,
    site_of,
)
from deid_platform.errors import Code, DeidError
from deid_platform.extras import PLATFORM
from deid_platform.orchestration.code_location import FOLDER
from deid_platform.runtime.stopping import check, requested, watched

if TYPE_CHECKING:
    from deid_platform.refresh.installation.site import Site

DEMONSTRATION_NOTES = 600


def hospital(
    notes: Annotated[int, typer.Option(min=20, help="Notes over all deliveries.")] = DEMONSTRATION_NOTES,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bytes.")] = 7,
    feed: Annotated[str, typer.Option(help="The feed of deid.toml to write to.")] = "hospital",
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Only the held-out note types, styles, names and phrasings.")
    ] = False,
    config: Config = None,
) -> None:
    """Write a synthetic hospital's deliveries into a feed, and its gold to another folder."""
    from deid_platform.corpora.hospital import HospitalSpec, Part, write
    from deid_platform.settings import load_settings

    settings = load_settings(config)
    chosen = settings.feed(feed)
    if chosen.gold is None or chosen.from_database:
        raise DeidError(Code.SETTINGS_INVALID, f"feeds.{feed}.{'gold' if chosen.gold is None else 'path'}")
    spec = HospitalSpec(seed=seed, notes=notes, part=Part.HELD_OUT if held_out else Part.WHOLE)
    with progress("writing notes") as bar:
        written = write(
            spec, feed_root=settings.path(chosen.path), gold_root=settings.path(chosen.gold), progress=bar.at
        )
    say(f"a synthetic hospital of {notes:,} notes: deliveries {', '.join(written)}")


def refresh(
    feed: Annotated[str | None, typer.Option(help="Only this feed.")] = None,
    delivery: Annotated[str | None, typer.Option(help="Only this delivery, `<feed>@<watermark>`.")] = None,
    force: Annotated[bool, typer.Option(help="Also run deliveries that research already holds unchanged.")] = False,
    reread: Annotated[
        bool, typer.Option("--reread", help="Read all files to see what changed, also those that nobody touched.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait for a refresh that is running instead of giving up.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what is due, and why.")] = False,
    config: Config = None,
) -> None:
    """Run the main job on every delivery that is new or changed, oldest first, and print the release summary."""
    needs(PLATFORM)
    from deid_platform.settings import config_path

    path = config_path(config)
    if dry_run:
        _tell_due(site_of(path), feed=feed, delivery=delivery)
        return
    with watched():
        try:
            _withdraw(path)  # without the lock: whoever leaves waits for no other refresh
            failed = _refresh(path, feed=feed, delivery=delivery, force=force, reread=reread, wait=wait)
            check()
        except KeyboardInterrupt:
            say("stopped; the next `deid refresh` continues from here")
            raise typer.Exit(128 + (requested() or signal.SIGINT)) from None
    if failed:
        raise typer.Exit(1)


def _tell_due(site: Site, *, feed: str | None, delivery: str | None) -> None:
    """Each delivery with what makes it due, oldest first."""
    from deid_platform.refresh.staging.due import why_due

    wanted = site.wanted(feed, delivery)
    reasons = why_due(site, wanted)
    for each in wanted:
        say(f"{each.key}: due: {', '.join(reasons[each])}" if each in reasons else f"{each.key}: unchanged")


def _refresh(path: Path, *, feed: str | None, delivery: str | None, force: bool, reread: bool, wait: bool) -> bool:
    """One refresh and its summary; whether any delivery failed."""
    from deid_platform.refresh.installation.lock import installation_lock

    site = site_of(path)
    # A mistyped name is told before the platform is loaded, and so is a policy that cannot be read.
    site.accept_any(each.feed for each in site.wanted(feed, delivery))
    _ = site.policy
    with installation_lock(site.settings.home_path, wait=wait):
        with console.status("loading the platform"):
            from deid_platform.main_job.command import load_job, refresh_deliveries

            job = load_job(path)
        outcomes = refresh_deliveries(job, path, feed=feed, only=delivery, force=force, reread=reread, console=console)
        made = delivery is not None or _corpora(path)
        summary(config=path)
    return not made or any(outcome.failure for outcome in outcomes)


def _corpora(path: Path) -> bool:
    """Makes the surrogate corpora that deid.toml asks for; whether all are there."""
    from deid_platform.bench.leaderboard.corpora import to_make
    from deid_platform.main_job.command import make_corpora

    failures = 0
    for key, failure in make_corpora(path, to_make(site_of(path)), scores=False):
        say(f"surrogate corpus {key.partition}: {failure or 'made'}")
        failures += failure is not None
    return not failures


def archive(
    folder: Annotated[Path, typer.Argument(help="The archive's tables, in a folder named by its last day.")],
    feed: Annotated[str, typer.Option(help="The feed whose deliveries it becomes.")],
    notes: Annotated[
        int, typer.Option(min=1, help="About how many notes a delivery shall have; at most 500 deliveries come of it.")
    ] = 50_000,
    wait: Annotated[bool, typer.Option(help="Wait for a refresh that is running instead of giving up.")] = False,
    config: Config = None,
) -> None:
    """Load an archive: split it into deliveries, all notes of a patient in one, and refresh them one by one.

    Before, turn off the sensor and timers that start refreshes, but not `deid withdraw` (docs/archive.md).
    Ctrl-C or SIGTERM pauses it; the same command continues. What arrived meanwhile is refreshed at the end.
    """
    from deid_platform.settings import config_path

    path = config_path(config)
    with watched():
        try:
            failed = _archive(path, folder, feed, notes=notes, wait=wait)
            check()
        except KeyboardInterrupt:
            say("paused; the same command continues from here")
            raise typer.Exit(128 + (requested() or signal.SIGINT)) from None
    if failed:
        raise typer.Exit(1)


def _archive(path: Path, folder: Path, feed: str, *, notes: int, wait: bool) -> bool:
    """Splits an archive, refreshes what is due of it, then all else that is due; whether any delivery failed."""
    from deid_platform.refresh.hiding.withdraw import withdraw_first
    from deid_platform.refresh.installation.lock import installation_lock
    from deid_platform.refresh.intake.archive import Pace, prepare
    from deid_platform.refresh.staging.due import pending

    site = site_of(path)
    with installation_lock(site.settings.home_path, wait=wait):
        with progress("splitting the archive") as bar:
            loading = prepare(site, folder, feed, notes=notes, progress=bar.advance)
        _withdraw(path)
        withdraw_first(site, [*loading.parts][-1])  # the others may not be shown without it
        with console.status("loading the platform"):
            from deid_platform.main_job.command import load_job, refresh_deliveries

            job = load_job(path)
        pace = Pace(loading.parts, pending(site, [*loading.parts]))
        say(f"{loading.delivery.key}: {pace}")
        failed = False
        for part in pace.due:
            outcomes = refresh_deliveries(job, path, feed=feed, only=part.key, force=False, console=console)
            promoted = not any(outcome.failure for outcome in outcomes)
            failed |= not promoted
            pace.through(part, promoted=promoted)
            say(f"{loading.delivery.key}: {pace}")
            _withdraw(path)  # whoever leaves meanwhile does not wait for the end of the archive
        outcomes = refresh_deliveries(job, path, feed=None, only=None, force=False, console=console)
        summary(config=path)
    return failed or any(outcome.failure for outcome in outcomes)


def withdraw(config: Config = None) -> None:
    """Hide withdrawn notes and patients of arrived deliveries, and opt-outs, at once, even during a refresh.

    Unchanged files are not read again, so this may run every minute. Exit status 1 means that something could not be
    read; the rest has taken effect.
    """
    if not _withdraw(config):
        raise typer.Exit(1)


def _withdraw(config: Path | None) -> bool:
    from deid_platform.refresh.hiding.withdraw import withdraw_arrived

    done = withdraw_arrived(site_of(config))
    if done.keys or done.opted_out:
        say(f"withdrawn: {done.keys:,} notes and patients; opt-outs changed: {done.opted_out:,}")
    tell_holders(done.extracts)
    if done.lost:
        where = "`deid feed check FOLDER` names their lines"
        say(f"unreadable rows of withdrawals: {done.lost:,}; {where}")
    for failure in done.failures:
        say(f"not withdrawn: {failure}")
    return not done.failures and not done.lost


def summary(as_json: Json = False, config: Config = None) -> None:
    """Print the release summary again."""
    from deid_platform.oversight.summary import release_summary
    from deid_platform.reports.summary import summary_panel

    found = release_summary(site_of(config))
    if as_json:
        show_json(asdict(found))
    else:
        out.print(summary_panel(found))


def proposals(config: Config = None) -> None:
    """Print the phrases that dictionaries/harvested proposes, as a list of terms to review.

    They are words of notes. Keep the file in the PHI zone, delete what is not clinical, and name it in
    [dictionaries] medical_terms.
    """
    from deid_platform.refresh.dictionaries.proposals import proposals as proposed

    for line in proposed(site_of(config).store):
        typer.echo(line)


def accept_store(config: Config = None) -> None:
    """Accept every partition of the note store as the newest, after a restore from a backup that you trust.

    Of a store in a bucket, this installation is the one that writes it from then on.
    """
    accepted = site_of(config).store.accept()
    say(f"accepted as they are: {counted(accepted, 'partition')} of the note store")


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the loopback address.")] = 3000,
    config: Config = None,
) -> None:
    """Start the Dagster UI and its daemon on this installation's instance."""
    needs(PLATFORM)
    from deid_platform.orchestration.instance import prepare_instance
    from deid_platform.settings import config_path, load_settings

    path = config_path(config)
    settings = load_settings(path)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError:
        raise DeidError(Code.PORT_UNUSABLE, str(port)) from None
    prepare_instance(settings, path)
    # A shell ignores interrupts in what it starts in the background, and Dagster takes SIGTERM for one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with console.status("loading the platform"):
        from deid_platform.ui.guard import Login
        from deid_platform.ui.local import run

    login = Login(port)
    say("Dagster UI (ends with Ctrl-C); this link works once, in one browser:")
    say(f"http://127.0.0.1:{port}{login.path}")
    with listening:
        raise typer.Exit(run(FOLDER / "workspace.yaml", listening=listening, login=login))


def doctor(as_json: Json = False, config: Config = None) -> None:
    """Check the installation, one line per check, and list detectors, stages, policies and more to choose from.

    Exit status 1 means that a check failed.
    """
    from deid_platform.doctor import examine

    diagnoses = examine(config)
    show(("well", "what", "detail"), ((d.good, d.subject, d.detail) for d in diagnoses), as_json=as_json)
    if ill := [d.subject for d in diagnoses if not d.good]:
        console.print(f"[red]problems[/]: {', '.join(ill)}", highlight=False)
        raise typer.Exit(1)
