"""Commands on corpora: what is known and readable here, surrogate corpora, locales, the detector's scores on each.

Belongs here: arguments and what a person reads. Does not belong here: making or scoring one
(`bench/leaderboard/corpora.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.inputs import DetectorName, Models, settings_or_none
from deid_platform.cli.terminal import Config, Json, Value, console, counted, progress, say, show, site_of

if TYPE_CHECKING:
    from deid_platform.corpora.injection.carriers import Carrier
    from deid_platform.evaluation.experiments.corpus_statistics import CorpusScores
    from deid_platform.settings import Settings

corpora = typer.Typer(help="Corpora: gold sets to measure and to train on.", invoke_without_command=True)

Locale = Annotated[list[str] | None, typer.Option(help="One of `deid corpora locales`; may be repeated. Default: all.")]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes.")]

_COUNTS = ("training", "test", "training carriers", "test carriers", "left out", "near copies", "unknown types")


@corpora.callback()
def listed(context: typer.Context, as_json: Json = False, config: Config = None) -> None:
    """List corpora and formats, with what is readable here."""
    if context.invoked_subcommand is None:
        settings = settings_or_none(config)
        columns = ("name", "kind", "what", "readable here", "notes", *_COUNTS)
        show(columns, _rows(settings), as_json=as_json)


def _rows(settings: Settings | None) -> Iterator[tuple[Value, ...]]:
    from deid_platform.corpora.catalogue import known_corpora
    from deid_platform.corpora.feeds import DATABASES
    from deid_platform.corpora.formats import FORMATS
    from deid_platform.corpora.injection.corpus import Part
    from deid_platform.corpora.overview import overview

    for corpus in known_corpora(settings).values():
        it = overview(corpus, settings)
        notes = sum(it.notes.values()) if it.readable else None
        parts = (counts.get(part) for counts in (it.notes, it.carriers) for part in Part)
        aside = it.left_out, it.near_copies, it.unknown_types
        yield corpus.name, "corpus", corpus.what, it.readable, notes, *parts, *aside
    nothing: tuple[Value, ...] = (None,) * len(_COUNTS)
    for name, what in [*((name, what) for name, (_, what) in FORMATS.items()), *DATABASES.items()]:
        deliveries, held = _arrived(settings, name)
        yield name, "format", what, f"deliveries: {deliveries}" if deliveries else False, held, *nothing


def _arrived(settings: Settings | None, name: str) -> tuple[int, int | None]:
    """How many deliveries of feeds of a format have arrived, and how many notes of them are in the note store: to count
    those of others, all their files would have to be read. A feed that cannot be listed has none.
    """
    from contextlib import suppress

    from deid_platform.errors import DeidError
    from deid_platform.refresh.datasets import tables
    from deid_platform.refresh.installation.site import Site

    if settings is None:
        return 0, None
    site, count, notes = Site(settings), 0, None
    for feed, it in settings.feeds.items():
        if it.format == name:
            with suppress(DeidError):
                for delivery in site.deliveries(feed):
                    count += 1
                    held = site.store.manifest(tables.RAW_NOTES, delivery.key)
                    notes = notes if held is None else (notes or 0) + held.rows
    return count, notes


@corpora.command("fill")
def fill(
    corpus: Annotated[str, typer.Argument(help="A corpus by name, as `deid corpora` lists it.")],
    folder: Annotated[Path, typer.Argument(help="Where to write; must not exist.")],
    locale: Annotated[str, typer.Option(help="Whose names, places and numbers: see `deid corpora locales`.")] = "en_US",
    part: Annotated[str, typer.Option(help="`test` or `training`: they share no name, way or carrier.")] = "test",
    noise: Annotated[float, typer.Option(min=0, max=1, help="Share of identifiers with errors of a scanner.")] = 0.0,
    scan: Annotated[str | None, typer.Option(help="Print, wear and read them: `scan`, `copy` or `fax`.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same notes.")] = 7,
    most: Annotated[int | None, typer.Option("--notes", min=1, help="The most carriers. Default: all.")] = None,
    workers: Workers = 1,
    config: Config = None,
) -> None:
    """Write a surrogate corpus: a feed with notes and topics, and its gold with the text, for `deid evaluate`."""
    from collections import Counter
    from dataclasses import replace
    from itertools import islice

    from deid_platform.bench.leaderboard.corpora import CorpusKey, spec_of
    from deid_platform.corpora import Rejection
    from deid_platform.corpora.catalogue import carriers, corpus_of
    from deid_platform.corpora.injection.corpus import Part, inject
    from deid_platform.corpora.injection.feed import write
    from deid_platform.corpora.injection.on_paper import on_paper
    from deid_platform.corpora.noise import NoiseSpec
    from deid_platform.corpora.scans.degrade import Level

    if scan is not None and scan not in tuple(Level):
        raise typer.BadParameter(f"one of {', '.join(Level)}", param_hint="--scan")
    if part not in tuple(Part):
        raise typer.BadParameter(f"one of {', '.join(Part)}", param_hint="--part")
    settings = settings_or_none(config)
    known = corpus_of(corpus, settings)
    worse = NoiseSpec(identifiers=noise, seed=seed) if noise else None
    spec = replace(spec_of(CorpusKey(corpus, locale), Part(part), weave=known.weave), seed=seed, noise=worse)
    refused: list[Rejection] = []
    lost: Counter[str] = Counter()
    unknown: Counter[str] = Counter()

    def counting(read: Iterable[Carrier]) -> Iterator[Carrier]:
        for carrier in read:
            unknown["placeholders"] += sum(not slot.known for slot in carrier.slots)
            yield carrier

    read = counting(islice(carriers(known, settings, spec.part, refused=refused.append), most))
    found = inject(spec, read, workers=workers)
    notes = found if scan is None else on_paper(found, Level(scan), lost=lost, workers=workers)
    with progress("filling") as bar:
        count = write(spec, notes, folder, progress=bar.advance)
    say(f"{counted(count, 'note')} of {corpus} in {locale}, {part} part; {counted(len(refused), 'carrier')} refused")
    if unknown.total():
        say(f"{counted(unknown.total(), 'placeholder')} of a type that is not known: filled by a number")
    if scan is not None:
        said = ", ".join(f"{lost[reason]} {reason}" for reason in sorted(lost)) or "none"
        say(f"lost on paper ({scan}): {said}")


@corpora.command("make")
def make(
    corpus: Annotated[list[str], typer.Argument(help="Corpora by name, as `deid corpora` lists them.")],
    locale: Annotated[list[str] | None, typer.Option(help="One of `deid corpora locales`; may be repeated.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Let the configured detector read, and score it.")] = False,
    config: Config = None,
) -> None:
    """Make surrogate corpora in the installation: the job `surrogate_corpora`, for the UI and what reads them.

    By default in the locale en_US, and notes and statistics alone. Exit status 1 means that one could not be made.
    """
    from deid_platform.bench.leaderboard.corpora import CorpusKey
    from deid_platform.corpora.catalogue import corpus_of
    from deid_platform.settings import config_path
    from deid_platform.surrogates.locales import locale as locale_of

    path = config_path(config)
    settings = site_of(path).settings
    keys = [CorpusKey(corpus_of(name, settings).name, it) for name in corpus for it in locale or ("en_US",)]
    for key in keys:  # a mistyped name is told before the platform is loaded
        locale_of(key.locale)
    with console.status("loading the platform"):
        from deid_platform.main_job.command import make_corpora
    failed = False
    for key, failure in make_corpora(path, keys, scores=scores):
        say(f"{key.corpus} in {key.locale}: {failure or 'made'}")
        failed |= failure is not None
    if failed:
        raise typer.Exit(1)


@corpora.command("check")
def check(
    folder: Annotated[Path, typer.Argument(help="A folder of notes, or one file.")],
    form: Annotated[str, typer.Option("--format", help="How they are written: `marked`.")] = "marked",
    as_json: Json = False,
) -> None:
    """Check notes that were written for a site by the brief: counts, what is refused, what should be looked at.

    A place is that of the file in the order of names, from 0, and a line of it: neither names of files nor texts are
    shown. Exit status 3 says that something is refused, 1 that no note is left.
    """
    from deid_platform.corpora.library.check import check as checked

    if form != "marked":
        raise typer.BadParameter("marked", param_hint="--format")
    found = checked(folder)
    places = [("refused", it) for it in found.refused] + [("look", it) for it in found.doubts]
    rows = [(f"notes[{it.file}]", it.line, kind, it.what) for kind, it in places]
    show(("file", "line", "kind", "what"), rows, as_json=as_json)
    say(f"{counted(found.notes, 'note')}, {counted(found.words, 'word')}, {counted(found.kinds, 'kind')} of note; "
        f"languages: {_counts(found.languages)}")  # fmt: skip
    say(f"{counted(sum(found.marks.values()), 'mark')}: {_counts(found.marks)}")
    say(f"{counted(len(found.refused), 'file')} refused; {counted(len(found.doubts), 'line')} to look at")
    if not found.notes:
        raise typer.Exit(1)
    if found.refused:
        raise typer.Exit(3)


@corpora.command("library")
def library(
    markdown: Annotated[bool, typer.Option("--markdown", help="The table of docs/library.md.")] = False,
    as_json: Json = False,
) -> None:
    """Who wrote the library's notes, which part of the work they serve, and how many there are."""
    from deid_platform.corpora.library.check import statistics

    columns = ("author", "language", "use", "institution", "notes", "words", "marks")
    if not markdown:
        show(columns, statistics(), as_json=as_json)
        return
    rows = (
        (name, *rest, f"{notes:,}", f"{words:,}", f"{marks:,}") for name, *rest, notes, words, marks in statistics()
    )
    for row in (columns, ["---"] * len(columns), *((f"`{name}`", *rest) for name, *rest in rows)):
        typer.echo(f"| {' | '.join(map(str, row))} |")


def _counts(of: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(of.items())) or "none"


@corpora.command("locales")
def locales(as_json: Json = False) -> None:
    """How many distinct values each locale has of each kind; fewer than 1,000 of a part of a name is thin."""
    from deid_platform.surrogates.locales import catalogue

    rows = list(catalogue())
    show(("locale", "kind", "values", "on no list", "thin"), (_locale_row(row) for row in rows), as_json=as_json)


def _locale_row(row: object) -> tuple[Value, ...]:
    return tuple(getattr(row, name) for name in ("locale", "kind", "values", "unlisted", "thin"))


@corpora.command("scores")
def scores(
    corpus: Annotated[list[str] | None, typer.Option(help="May be repeated. Default: all that are here.")] = None,
    locale: Locale = None,
    detector: DetectorName = "ensemble",
    model: Models = None,
    notes: Annotated[int, typer.Option(min=1, help="The most notes of each.")] = 300,
    workers: Workers = 1,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables by locale and corpus.")] = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """What a detector finds in the test part of each surrogate corpus, by locale, with topics and without."""
    from deid_platform.bench.leaderboard.corpora import CorpusKey, score_corpus
    from deid_platform.corpora.catalogue import is_carrier, known_corpora
    from deid_platform.detection import DetectorSpec
    from deid_platform.engine.engines import LocalEngine
    from deid_platform.reports.corpus_scores import corpus_scores_markdown
    from deid_platform.surrogates.locales import LOCALES

    settings = settings_or_none(config)
    here = corpus or [name for name, it in known_corpora(settings).items() if is_carrier(it, settings)]
    columns = ("corpus", "locale", "notes", "identifiers", "unlisted names", "recall with topics",
               "precision with topics", "recall on text alone", "precision on text alone",
               "notes with a miss on text alone")  # fmt: skip
    spec = DetectorSpec(detector, models=tuple(model) if model else None)
    keys = [CorpusKey(name, where) for name in here for where in locale or LOCALES]
    found: list[CorpusScores] = []
    with progress("scoring") as bar:
        for done, key in enumerate(keys, start=1):
            found.append(score_corpus(settings, key, spec, LocalEngine(workers=workers), most=notes))
            bar.at(done, len(keys))
    if markdown:
        typer.echo(corpus_scores_markdown(found), nl=False)
    else:
        show(columns, found, as_json=as_json)
