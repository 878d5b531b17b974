"""The command line, `deid`.

    terminal, inputs       what commands share: output and the installation; options of those that read files of notes
    redact, serve          a file of notes, and the platform as an HTTP service; neither needs an installation
    evaluate, compare      scores on a file of gold, and detectors side by side; neither needs an installation
    released               released texts, and their scores
    demo                   a first look
    operate                running an installation, from `hospital` and `refresh` to `doctor`
    feeds, gate, database  a feed's files, the gate and its waivers, the warehouse's server
    dossier, releases      signed dossiers, and which release analysts see
    projects, extract      who may read a release, and extracts of it
    findings, review       what a reader found in a released note; removals and quarantined notes, judged by people
    annotate, adapt        annotation by people, and a model made the site's own
    corpora, bench, judge  what corpora there are, the leaderboard, judges of what is left of the medicine
    train, prompts         training of models, and trials of prompts

Belongs here: which commands there are, and how a failure is told. Does not belong here: anything that a test could
ask of a function in another package.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from deid_platform import __version__
from deid_platform.cli import (
    annotate,
    corpora,
    database,
    dossier,
    extract,
    feeds,
    findings,
    gate,
    judge,
    operate,
    projects,
    releases,
    review,
)
from deid_platform.cli.adapt import adapt
from deid_platform.cli.bench import bench
from deid_platform.cli.compare import compare
from deid_platform.cli.demo import demo, workspace
from deid_platform.cli.evaluate import evaluate
from deid_platform.cli.prompts import prompts
from deid_platform.cli.redact import redact
from deid_platform.cli.serve import serve
from deid_platform.cli.terminal import console
from deid_platform.cli.train import train
from deid_platform.errors import DeidError, internal
from deid_platform.runtime.silence import silence_libraries


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"deid {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="deid",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",  # rich's own would take the brackets of formats for markup
)


@app.callback()
def _every_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """De-identification of clinical text, measured on every refresh."""


for command in (
    redact,
    serve,
    evaluate,
    compare,
    bench,
    prompts,
    train,
    demo,
    operate.hospital,
    operate.refresh,
    operate.archive,
    operate.withdraw,
    operate.summary,
    operate.proposals,
    operate.accept_store,
    operate.ui,
    workspace,
    operate.doctor,
    gate.gate,
    gate.waive,
    findings.retract,
):
    app.command()(command)
app.add_typer(feeds.feed, name="feed")
app.add_typer(corpora.corpora, name="corpora")
app.add_typer(annotate.annotate, name="annotate")
app.add_typer(adapt, name="adapt")
app.add_typer(review.review, name="review")
app.add_typer(judge.judge, name="judge")
app.add_typer(gate.waivers, name="waivers")
app.add_typer(findings.finding, name="finding")
app.add_typer(releases.releases, name="release")
app.add_typer(dossier.dossier, name="dossier")
app.add_typer(projects.projects, name="project")
app.add_typer(extract.extract, name="extract")
app.add_typer(database.db, name="db")


def main() -> None:
    """Runs the command line; a coded error becomes a few lines on stderr and exit status 1."""
    # Whatever is written from here on may hold notes.
    os.umask(0o077)
    silence_libraries()
    try:
        app()
    except Exception as error:
        if os.environ.get("DEID_DEBUG"):
            raise
        said = error if isinstance(error, DeidError) else internal(error)
        console.print(f"[bold red]{said.code.slug}[/]", end="")
        whole = not console.is_terminal  # whoever reads a pipe takes a line for a message
        shown = f" [{said.ref}]" * bool(said.ref) + f"\n{said.code.meaning}\n{said.code.remedy}"
        console.print(shown, markup=False, highlight=False, soft_wrap=whole)
        sys.exit(1)
