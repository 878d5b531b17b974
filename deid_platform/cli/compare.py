"""`deid compare`: any detectors side by side on the same notes, without an installation.

Belongs here: arguments and what a person reads. Does not belong here: running detectors
(`evaluation/comparison/side_by_side.py`), what is counted (`evaluation/comparison/comparison.py`), or how it is laid
out (`reports/comparison/`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from deid_platform.cli.inputs import (
    Columns,
    Device,
    Facilities,
    Feed,
    GoldForm,
    GoldScheme,
    Keep,
    NotesFormat,
    Patients,
    Providers,
    Recognizers,
    Workers,
    column_mapping,
    end_refused,
    must_exist,
    settings_or_none,
    topics_of,
)
from deid_platform.cli.released import asking, say_unfilled
from deid_platform.cli.terminal import Json, counted, out, progress, say, show_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deid_platform.evaluation.comparison.comparison import Compared, Hidden
    from deid_platform.evaluation.comparison.notes_read import NotesRead
    from deid_platform.evaluation.comparison.side_by_side import Finder
    from deid_platform.reports.comparison.tables import ShownTable


def compare(
    notes: Annotated[
        Path,
        typer.Argument(
            metavar="NOTES",
            help="Notes as `deid redact` reads them, or gold, a folder too, as `deid evaluate` does; - is stdin.",
        ),
    ],
    detectors: Annotated[
        list[str] | None,
        typer.Option(
            help="Two or more, parted by commas: a registered detector; `model:MODEL`, a model alone; "
            "`ensemble:MODEL`, the ensemble with that model; `chat:PROMPT`, a prompt, by name or file, to the language "
            "model of deid.toml (docs/language-models.md); or a peer, `NAME[:ENGINE:MODEL][=INTERPRETER]` "
            "(docs/peers.md), whose interpreter may stand in [peers] of deid.toml; `model:MODEL+PEER`, both joined. "
            "MODEL is a model's name or folder. May be repeated.",
        ),
    ] = None,
    released: Annotated[
        list[str] | None,
        typer.Option(
            "--released",
            metavar="[NAME=]FILE",
            help="Released texts of any system as one more detector, called NAME or `released`: JSON lines "
            '{"note_id", "text"}, CSV or Parquet. Words of the note that they have not are hidden. May be repeated.',
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="File for one page with the tables and with places where they differ. It holds text of notes."
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=1, help="The most places on the page of each group of detectors that differ.")
    ] = 20,
    gold: Annotated[
        bool | None,
        typer.Option(
            "--gold/--no-gold",
            help="Whether NOTES is gold to score against; by default JSON lines are whose first has `spans`.",
            show_default=False,
        ),
    ] = None,
    scheme: GoldScheme = None,
    gold_format: GoldForm = None,
    table_format: NotesFormat = None,
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    columns: Columns = None,
    feed: Feed = None,
    device: Device = "cpu",
    recognizers: Recognizers = None,
    keep: Keep = None,
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples for the 95% intervals.")] = 1000,
    workers: Workers = 1,
    as_json: Json = False,
) -> None:
    """Compare detectors on the same notes: what each hides, what the others hide too, and where they differ.

    Of released texts, what stands in the note and not in them counts as hidden, and a note without one as failed.

    Without gold, agreement is all that there is: it says how alike detectors are, not how good. With gold, each is
    scored as `deid evaluate` does, with its paired difference from the first one. Peers read the text alone; topics,
    recognizers and the allow list go to those that use them. A detector, model or peer that is not there is refused
    before a note is read, and a peer that fails on a note ends the comparison. The terminal shows counts, never text.
    """
    from deid_platform.corpora.source import STANDARD_INPUT
    from deid_platform.detection import DetectorSpec, detector_names
    from deid_platform.detection.models.device import usable
    from deid_platform.engine.engines import LocalEngine
    from deid_platform.evaluation.comparison import comparison, named_detectors, notes_read, side_by_side
    from deid_platform.reports.comparison import comparison_html, comparison_records, comparison_tables
    from deid_platform.runtime.output import STANDARD_OUTPUT, Output
    from deid_platform.settings import files_in_force

    from_file = None if notes == STANDARD_INPUT else notes
    folder = notes.is_dir()
    must_exist(notes=None if folder else from_file, patients=patients, providers=providers, facilities=facilities)
    if html == STANDARD_OUTPUT:
        raise typer.BadParameter("name a file: it holds text of notes", param_hint="--html")
    texts = [named_detectors.Texts.parse(written) for written in released or ()]
    for text in texts:
        must_exist(released=None if text.path.is_dir() else text.path)
    beside = (patients, providers, facilities, recognizers, keep, *(text.path for text in texts), *files_in_force())
    page = None if html is None else Output.at(html).apart_from((from_file or Path("/dev/stdin"), *beside))
    mapping = column_mapping(columns, feed)
    base = DetectorSpec(
        detector_names()[0],
        topics=topics_of(patients, providers, facilities, mapping) or None,
        recognizers=recognizers,
        keep=keep,
        device=usable(device),
    )
    settings = settings_or_none(None)
    peers = {} if settings is None else {name: settings.path(path) for name, path in settings.peers.items()}
    named = named_detectors.detectors(detectors or (), base, peers, lambda: asking(settings), texts)
    if len(named) < 2:
        raise typer.BadParameter("name at least two; `deid evaluate` scores one", param_hint="--detectors")
    with side_by_side.ready(named, LocalEngine(workers=workers)) as finders:
        read = notes_read.read(
            notes,
            mapping=mapping,
            table_format=table_format,
            scheme=scheme,
            as_gold=gold,
            gold_form=gold_format,
        )
        say_unfilled(read)
        if read.notes:
            found = [_found(finder, read) for finder in finders]
    if not read.notes:
        end_refused(read.refusals)
    compared = comparison.compare(
        [detector for detector, _ in found],
        read.with_hidden([hidden for _, hidden in found]),
        resamples=resamples,
    )
    if page is not None:
        with page.opened() as file:
            file.write(comparison_html(compared, read.notes, examples=examples))
    if as_json:
        for record in comparison_records(compared):
            show_json(record)
    else:
        for table in comparison_tables(compared):
            out.print(_laid_out(table))
            out.print()
    scored = (
        "without gold" if compared.identifiers is None else f"gold has {counted(compared.identifiers, 'identifier')}"
    )
    say(f"{counted(compared.notes, 'note')}, {counted(compared.words, 'word')}; {scored}")
    say(f"they differ on {counted(sum(group.words for group in compared.groups), 'word')}")
    for detector, _ in found:
        for what, count in sorted(detector.remarks.items()):
            say(f"{detector.name}: {what}: {count:,}")
    if page is not None:
        say("the page holds text of notes and belongs into the PHI zone")
    end_refused(read.refusals)


def _found(finder: Finder, read: NotesRead) -> tuple[Compared, Sequence[Sequence[Hidden]]]:
    with progress(finder.name) as bar:
        bar.at(0, len(read.notes))
        return finder.hidden(read.notes, bar.advance)


def _laid_out(table: ShownTable) -> Table:
    laid = Table(title=table.caption, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for at, title in enumerate(table.titles):
        laid.add_column(escape(title), justify="left" if at < table.texts else "right", overflow="fold")
    for row in table.rows:
        laid.add_row(*map(escape, row))
    return laid
