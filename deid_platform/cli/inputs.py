"""What the commands on files of notes share: options, and how they become topics, columns and spans.

Belongs here: arguments that more than one command takes. Does not belong here: a command.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import counted, say
from deid_platform.corpora import Format
from deid_platform.errors import Code, DeidError
from deid_platform.labels import CROSSWALKS

if TYPE_CHECKING:
    from deid_platform.corpora.columns import ColumnMapping
    from deid_platform.corpora.given_spans import GivenSpans
    from deid_platform.corpora.gold_sets import GoldSet
    from deid_platform.corpora.refusals import Refusals
    from deid_platform.detection.chat.spec import ChatSpec
    from deid_platform.notes import Topics
    from deid_platform.settings import Settings

NotesFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="Format of the notes; by default by the file's name. Standard input and .txt are JSON "
        "lines if they begin with a JSON object, CSV if with a header of columns, else text.",
    ),
]
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
Keep = Annotated[Path | None, typer.Option(help="Phrases that identify nobody at the site, one per line.")]
SecretFile = Annotated[
    Path | None,
    typer.Option(
        help="The key secret, for a policy with surrogates; else DEID_SECRET_FILE, DEID_SECRET or deid.toml's."
    ),
]
SiteName = Annotated[
    str | None, typer.Option(help="The site whose surrogates are used; by default deid.toml's, or `local`.")
]
GoldPath = Annotated[
    Path,
    typer.Argument(
        help='Notes with gold: JSON lines {"note_id", "text", "spans": [[start, end, label], ...]}, or a file or a '
        "folder of i2b2, brat, CoNLL, Label Studio, marked text or MIMIC. With --released also notes without gold."
    ),
]
GoldForm = Annotated[
    str | None,
    typer.Option("--gold-format", help="Format of the gold, as `deid corpora` lists it; by default its files tell."),
]
GoldScheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        help=f"Label scheme of the gold: {', '.join(sorted(CROSSWALKS))}. By default i2b2-2014, of CoNLL "
        "conll-2003, of entities without offsets miranda-2025.",
    ),
]
Spans = Annotated[
    Path | None,
    typer.Option(
        help="Spans of another detector, instead of --detector: JSON lines as docs/detection.md shows them; a plain "
        "text is the note `note`."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="A model's name or the folder of one that `deid train` wrote; may be repeated."),
]
ChatPrompt = Annotated[
    str | None,
    typer.Option(
        "--chat",
        help="A prompt, by name or file, to the language model of deid.toml, which reads after the detector and may "
        "only add (docs/language-models.md).",
    ),
]
Device = Annotated[str, typer.Option(help="Where models run: cpu, cuda, cuda-or-cpu (docs/model.md).")]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes; 1 means this process.")]


def given_spans(
    spans: Path | None,
    scheme: str,
    detector: str,
    models: list[str] | None,
    recognizers: Path | None,
    keep: Path | None,
    chat: str | None = None,
) -> GivenSpans | None:
    """What another detector found, which goes without one of ours."""
    from deid_platform.corpora.given_spans import GivenSpans

    if spans is None:
        return None
    if detector != "ensemble" or models or recognizers or keep or chat:
        raise typer.BadParameter(
            "cannot be combined with --detector, --model, --recognizers, --keep or --chat", param_hint="--spans"
        )
    return GivenSpans.read(spans, scheme=scheme)


def gold_set(
    path: Path, form: str | None, scheme: str | None, mapping: ColumnMapping | None = None
) -> tuple[GoldSet, Refusals]:
    """Notes with gold, and where those that cannot be used are counted.

    Raises:
        DeidError: `feed-unreadable` if there is nothing at the path.
    """
    from deid_platform.corpora import Role
    from deid_platform.corpora.gold_sets import GoldSet
    from deid_platform.corpora.refusals import Refusals

    if not path.exists():
        raise DeidError(Code.FEED_UNREADABLE, "gold: no such file")
    refusals = Refusals()
    columns = {} if mapping is None else mapping.shapes()[Role.NOTES].columns
    return GoldSet(path, form, scheme, columns, refusals.add), refusals


def column_mapping(columns: list[str] | None, feed: str | None) -> ColumnMapping:
    """How the columns of the files become fields."""
    from deid_platform.corpora.columns import ColumnMapping
    from deid_platform.settings import load_settings

    base = None
    if feed is not None:
        settings = load_settings().feed(feed)
        base = ColumnMapping(settings.columns, settings.ignore, settings.defaults)
    return ColumnMapping.parse(columns or (), base)


def topics_of(patients: Path | None, providers: Path | None, facilities: Path | None, mapping: ColumnMapping) -> Topics:
    """The topics of the files; says which values were left out, and how many patients have no last name."""
    from deid_platform.corpora import Role
    from deid_platform.deidentify.files import read_topics
    from deid_platform.refresh.topics.known import names_somebody

    files = {Role.PATIENTS: patients, Role.PROVIDERS: providers, Role.FACILITIES: facilities}
    topics, dropped = read_topics(files, mapping)
    for role, count in dropped.items():
        say(f"{role}: {counted(count, 'invalid date')} left out (expected YYYY-MM-DD)")
    if nameless := sum(not any(map(names_somebody, rows)) for rows in topics.each_patient()):
        of_all = f"{nameless:,} of {len(topics.patients):,}"
        say(f"patients without a last name: {of_all}; the leak check looks for none in their notes")
    return topics


def must_exist(**files: Path | None) -> None:
    """Refuses files that are not there.

    Raises:
        DeidError: `feed-unreadable`, naming the argument.
    """
    for name, path in files.items():
        if path is not None and not path.is_file():
            # The path is the caller's own argument, yet a file may be named after a patient.
            raise DeidError(Code.FEED_UNREADABLE, f"{name}: no such file")


def settings_or_none(config: Path | None) -> Settings | None:
    """The installation's settings; None where there is none and none is asked for."""
    from deid_platform.settings import load_settings

    try:
        return load_settings(config)
    except DeidError as error:
        if error.code is Code.SETTINGS_MISSING and config is None:
            return None
        raise


def chat_of(prompt: str | None) -> ChatSpec | None:
    """The language model of the deid.toml in force, which keeps its answers where there is a key secret.

    Raises:
        DeidError: `llm-missing` if there is none; `prompt-unknown`.
    """
    if prompt is None:
        return None
    from deid_platform.detection.chat.spec import chat_in_force

    return chat_in_force(prompt)


def end_refused(refusals: Refusals) -> None:
    """Exit status 3 where rows were refused, which it says."""
    if refusals.lost:
        say_refusals(refusals)
        raise typer.Exit(3)


def say_refusals(refusals: Refusals) -> None:
    """Says which rows of notes were refused and why, and which columns may have been meant."""
    from deid_platform.corpora.refusals import lines_of

    for kind in refusals:
        say(f"{counted(kind.rows, 'row')} refused: {kind.reason.value}, {lines_of(kind)}")
    fields = refusals.mapping()
    if fields:
        options = " ".join(shlex.join(("--columns", f"{column}={field}")) for column, field in fields.items())
        say(f"suggested columns: {options}")
    elif any(unknown.unnamed and not unknown.header for unknown in refusals.unknown.values()):
        say("no column is known: map them with --columns COLUMN=field, or give the file a header line")
