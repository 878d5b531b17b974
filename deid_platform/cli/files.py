"""Commands on files, without an installation: redact, evaluate.

Belongs here: arguments and what a person reads. Does not belong here: what is done with a file (`workbench.py`,
`evaluation/files.py`). Heavy rooms are imported by the command that needs them, so that `deid redact` starts at once.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Json, console, counted, out, progress, say, show
from deid_platform.corpora import Format
from deid_platform.errors import Code, DeidError
from deid_platform.labels import CROSSWALKS

if TYPE_CHECKING:
    from deid_platform.corpora.columns import ColumnMapping
    from deid_platform.corpora.given_spans import GivenSpans
    from deid_platform.corpora.refusals import Refusals
    from deid_platform.notes import Topics
    from deid_platform.surrogates.keyed import Surrogates

DetectorName = Annotated[str, typer.Option("--detector", help="A registered detector; `deid doctor` lists them.")]
Patients = Annotated[Path | None, typer.Option(help="The patients topic (CSV, JSONL or Parquet).")]
Providers = Annotated[Path | None, typer.Option(help="The providers topic.")]
Facilities = Annotated[Path | None, typer.Option(help="The facilities topic.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(help="A column and its field, `NOTE_TXT=text` or `PAT=patients.patient_id`; `COLUMN=` leaves it out."),
]
Feed = Annotated[str | None, typer.Option(help="Read columns as this feed of deid.toml does; --columns adds to it.")]
Recognizers = Annotated[Path | None, typer.Option(help="The site's own recognizers (docs/detection.md).")]
Keep = Annotated[Path | None, typer.Option(help="Phrases that identify nobody at the site, one a line.")]
Spans = Annotated[
    Path | None,
    typer.Option(
        help="What another detector found, in place of --detector: JSON lines as docs/detection.md shows them; a plain "
        "text is the note `note`."
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes; 1 means this process.")]


def redact(
    notes: Annotated[
        Path,
        typer.Argument(
            metavar="NOTES",
            help='JSON lines {"note_id", "text", ...}, CSV, Parquet, or a .txt file, which is one note; - is standard '
            "input.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where the redacted notes go; - is standard output, the default where the notes come from standard "
            "input.",
        ),
    ] = None,
    table_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="How the notes are written; by default as the file's name ends. Standard input and .txt are JSON "
            "lines if they begin with a JSON object, CSV if with a header of columns, else text.",
        ),
    ] = None,
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    columns: Columns = None,
    feed: Feed = None,
    policy: Annotated[str, typer.Option(help="A shipped policy or a path to YAML.")] = "safe_harbor_plus_providers",
    secret_file: Annotated[
        Path | None,
        typer.Option(
            help="The key secret, for a policy with surrogates; else DEID_SECRET_FILE, DEID_SECRET or deid.toml's."
        ),
    ] = None,
    site: Annotated[str | None, typer.Option(help="Whose surrogates; by default deid.toml's site, or `local`.")] = None,
    detector: DetectorName = "rules",
    recognizers: Recognizers = None,
    keep: Keep = None,
    spans: Spans = None,
    scheme: Annotated[
        str, typer.Option(help=f"Whose label names --spans uses: {', '.join(sorted(CROSSWALKS))}.")
    ] = "i2b2-2014",
    scores: Annotated[
        bool, typer.Option("--scores", help="Write the score of each span that has one behind its label.")
    ] = False,
    workers: Workers = 1,
) -> None:
    """Redact a file of notes, without a warehouse.

    Writes {"note_id", "text", "spans": [[start, end, label], ...]} in input order. The spans are all identifiers
    that were found, as offsets into the original, also those whose label the policy keeps; under a policy with
    surrogates they are the places of what was put in, as offsets into the redacted text, since the length of a true date
    would tell how far it was moved. Of a plain text, which is one note, only the redacted text is written. One secret,
    site and set of topics make the same surrogates and date shifts each time. Each note goes through the leak check.
    Rows that are refused, notes on which a stage fails, notes that leak and notes that --spans has no line for are
    counted and left out; exit status 3 says so. A score says how sure the detector is; those of rules are set by hand
    and no probabilities.
    """
    from deid_platform.corpora.source import STANDARD_INPUT
    from deid_platform.detection import DetectorSpec
    from deid_platform.engine import LocalEngine
    from deid_platform.output import STANDARD_OUTPUT
    from deid_platform.redaction.policy import load_policy
    from deid_platform.settings import files_in_force
    from deid_platform.workbench import redact_file

    if output is None:
        if notes != STANDARD_INPUT:
            raise typer.BadParameter("name a file, or - for standard output", param_hint="--output")
        output = STANDARD_OUTPUT
    given_notes = None if notes == STANDARD_INPUT else notes
    _must_exist(notes=given_notes, patients=patients, providers=providers, facilities=facilities, spans=spans)
    given = _given(spans, scheme, detector, recognizers, keep)
    rules = load_policy(policy)
    mapping = _mapping(columns, feed)
    topics = _topics(patients, providers, facilities, mapping)
    spec = DetectorSpec(
        name=detector,
        topics=topics or None,
        professions=rules.hides_professions,
        recognizers=recognizers,
        keep=keep,
    )
    with progress("redacting") as bar:
        outcome = redact_file(
            notes,
            output,
            spec=spec,
            policy=rules,
            engine=LocalEngine(workers=workers),
            surrogates=_surrogates(secret_file, site, topics) if rules.uses_surrogates else None,
            beside=(
                *(patients, providers, facilities, spans, Path(policy), secret_file, recognizers, keep),
                *files_in_force(),
            ),
            mapping=mapping,
            table_format=table_format,
            given=given,
            scores=scores,
            progress=bar.advance,
        )
    if table_format is None and (notes == STANDARD_INPUT or outcome.read_as not in (None, Format.TEXT)):
        what = "standard input" if notes == STANDARD_INPUT else "the file"
        say(f"{what} was read as {outcome.read_as}; --format takes it for something else")
    say(
        f"{counted(outcome.notes, 'note')} redacted under {rules.name}: {outcome.replaced:,} of"
        f" {counted(outcome.found, 'span')} replaced"
    )
    if outcome.undated:
        say(f"invalid dates (YYYY-MM-DD is read): {counted(outcome.undated, 'note')}")
    if not outcome.complete:
        _print_refusals(outcome.refusals)
        for reason, count in sorted(outcome.withheld.items()):
            say(f"{counted(count, 'note')} withheld: {reason}")
        raise typer.Exit(3)


def evaluate(
    gold: Annotated[Path, typer.Argument(help='JSON lines {"note_id", "text", "spans": [[start, end, label], ...]}.')],
    detector: DetectorName = "rules",
    recognizers: Recognizers = None,
    keep: Keep = None,
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    columns: Columns = None,
    feed: Feed = None,
    scheme: Annotated[
        str, typer.Option(help=f"Whose label names the gold uses: {', '.join(sorted(CROSSWALKS))}.")
    ] = "i2b2-2014",
    spans: Spans = None,
    spans_scheme: Annotated[
        str | None, typer.Option(help="Whose label names --spans uses; by default those of the gold.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples for the 95% intervals.")] = 100,
    workers: Workers = 1,
    misses: Annotated[
        Path | None,
        typer.Option(
            help="Where what was missed and wrongly hidden goes, in context, as JSON lines. They hold text of notes."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a detector against gold spans: word-level precision, recall and F1, as Murugadoss 2024 does.

    The words of the lines of --misses add up to the missed and wrongly hidden words of `all`; a word with two labels
    counts for each label in its row, and a word that is half covered counts as found.
    """
    from deid_platform.corpora import Role
    from deid_platform.detection import DetectorSpec
    from deid_platform.engine import LocalEngine
    from deid_platform.evaluation.files import score_file
    from deid_platform.reports.summary import SCORE_COLUMNS, score_records, scores_table
    from deid_platform.settings import files_in_force

    _must_exist(gold=gold, patients=patients, providers=providers, facilities=facilities, spans=spans)
    given = _given(spans, spans_scheme or scheme, detector, recognizers, keep)
    mapping = _mapping(columns, feed)
    topics = _topics(patients, providers, facilities, mapping)
    spec = DetectorSpec(name=detector, topics=topics or None, recognizers=recognizers, keep=keep)
    with progress("scoring") as bar:
        scores = score_file(
            gold,
            spec=spec,
            engine=LocalEngine(workers=workers),
            scheme=scheme,
            columns=mapping.shapes()[Role.NOTES].columns,
            resamples=resamples,
            misses=misses,
            beside=(patients, providers, facilities, spans, recognizers, keep, *files_in_force()),
            given=given,
            progress=bar.advance,
        )
    title = f"{detector}, inputs: {spec.inputs}" if given is None else "spans of another detector"
    if as_json:
        show(SCORE_COLUMNS, score_records(scores), as_json=True)
    else:
        out.print(scores_table(scores, title=title))
    if misses is not None:
        missed, wrong = (share.total - share.hits for share in (scores.recall, scores.precision))
        (console if as_json else out).print(
            f"{missed:,} missed words and {wrong:,} wrongly hidden ones are in the file of misses, which holds text of "
            "notes and belongs into the PHI zone",
            highlight=False,
        )


def _given(
    spans: Path | None, scheme: str, detector: str, recognizers: Path | None, keep: Path | None
) -> GivenSpans | None:
    from deid_platform.corpora.given_spans import GivenSpans

    if spans is None:
        return None
    if detector != "rules" or recognizers or keep:
        raise typer.BadParameter("goes without --detector, --recognizers and --keep", param_hint="--spans")
    return GivenSpans.read(spans, scheme=scheme)


def _surrogates(secret_file: Path | None, site: str | None, topics: Topics) -> Surrogates:
    from deid_platform.settings import keyring_for
    from deid_platform.surrogates.keyed import Surrogates

    return Surrogates(keyring_for(secret_file, site), topics or None)


def _mapping(columns: list[str] | None, feed: str | None) -> ColumnMapping:
    from deid_platform.corpora.columns import ColumnMapping
    from deid_platform.settings import load_settings

    base = None
    if feed is not None:
        settings = load_settings().feed(feed)
        base = ColumnMapping(settings.columns, settings.ignore, settings.defaults)
    return ColumnMapping.parse(columns or (), base)


def _print_refusals(refusals: Refusals) -> None:
    from deid_platform.corpora.refusals import lines_of

    for kind in refusals:
        say(f"{counted(kind.rows, 'row')} refused: {kind.reason.value}, {lines_of(kind)}")
    fields, _ = refusals.mapping()
    if fields:
        options = " ".join(shlex.join(("--columns", f"{column}={field}")) for column, field in fields.items())
        say(f"columns that may be meant: {options}")
    elif any(unknown.unnamed and not unknown.header for unknown in refusals.unknown.values()):
        say("no column is known: map them with --columns COLUMN=field, or give the file a header line")


def _topics(patients: Path | None, providers: Path | None, facilities: Path | None, mapping: ColumnMapping) -> Topics:
    from deid_platform.corpora import Role
    from deid_platform.workbench import read_topics

    files = {Role.PATIENTS: patients, Role.PROVIDERS: providers, Role.FACILITIES: facilities}
    topics, dropped = read_topics(files, mapping)
    for role, count in dropped.items():
        say(f"{role}: {counted(count, 'invalid date')} left out (YYYY-MM-DD is read)")
    return topics


def _must_exist(**files: Path | None) -> None:
    for name, path in files.items():
        if path is not None and not path.is_file():
            # The path is the caller's own argument, yet a file may be named after a patient.
            raise DeidError(Code.FEED_UNREADABLE, f"{name}: no such file")
