"""`deid redact`: a file of notes, without an installation.

Belongs here: arguments and what a person reads. Does not belong here: what is done with the file
(`deidentify/files.py`). Heavy packages are imported when they are needed, so that `deid redact` starts at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.inputs import (
    ChatPrompt,
    Columns,
    DetectorName,
    Device,
    Facilities,
    Feed,
    Keep,
    Models,
    NotesFormat,
    Patients,
    Providers,
    Recognizers,
    SecretFile,
    SiteName,
    Spans,
    Workers,
    chat_of,
    column_mapping,
    given_spans,
    must_exist,
    say_refusals,
    topics_of,
)
from deid_platform.cli.terminal import counted, progress, say
from deid_platform.corpora import Format
from deid_platform.labels import CROSSWALKS
from deid_platform.languages import is_code
from deid_platform.languages.shipped import SHIPPED

if TYPE_CHECKING:
    from deid_platform.keys import Keyring


def redact(
    notes: Annotated[
        Path,
        typer.Argument(
            metavar="NOTES",
            help='JSON lines {"note_id", "text", ...}, CSV, Parquet, .xlsx, or a .txt, .docx, .rtf, .eml or .msg file, '
            "which is one note; - is standard input.",
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
    table_format: NotesFormat = None,
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    columns: Columns = None,
    feed: Feed = None,
    policy: Annotated[str, typer.Option(help="A shipped policy or a path to YAML.")] = "safe_harbor_plus_providers",
    secret_file: SecretFile = None,
    site: SiteName = None,
    detector: DetectorName = "ensemble",
    model: Models = None,
    device: Device = "cpu",
    recognizers: Recognizers = None,
    keep: Keep = None,
    chat: ChatPrompt = None,
    spans: Spans = None,
    scheme: Annotated[
        str, typer.Option(help=f"Label scheme of --spans: {', '.join(sorted(CROSSWALKS))}.")
    ] = "i2b2-2014",
    date_order: Annotated[
        str | None,
        typer.Option(
            help="dmy or mdy: which of two numbers is the day in a date that is shifted, where its note does not tell; "
            "by default what deid.toml says."
        ),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write the score of each span that has one after its label.")
    ] = False,
    languages: Annotated[
        str | None,
        typer.Option(
            help="Languages of which notes pass too, such as `de,nl`, if you have measured the detector in them; "
            f"by default {', '.join(SHIPPED)}."
        ),
    ] = None,
    workers: Workers = 1,
) -> None:
    """Redact a file of notes, without a warehouse.

    Writes {"note_id", "text", "spans": [[start, end, label], ...]} in input order. The spans are all identifiers that
    were found, also those whose label the policy keeps, as offsets into the original. Under a policy with surrogates
    they are the positions of the surrogates in the redacted text, since the length of a true date would reveal the
    shift. For a plain text, a document or a mail, which is one note, only the redacted text is written: a document
    itself is never changed, and may be no safer for it. The same secret, site and topics
    always make the same surrogates and date shifts. Each note goes through the leak check. Refused rows, notes on which
    a stage fails, notes that leak, notes in a language that the detector was not measured in and notes without a line
    in --spans are counted and left out; the exit status is then 3. A score is the detector's confidence; those of rules
    are set by hand and are not probabilities.
    """
    from deid_platform.corpora.source import STANDARD_INPUT
    from deid_platform.deidentify.files import date_writing, redact_file
    from deid_platform.detection import DetectorSpec
    from deid_platform.detection.models.device import usable
    from deid_platform.detection.registry import is_shipped
    from deid_platform.engine.engines import LocalEngine
    from deid_platform.redaction.policy import load_policy
    from deid_platform.runtime.output import STANDARD_OUTPUT
    from deid_platform.settings import files_in_force
    from deid_platform.surrogates.date_order import NOTHING_SAID

    if output is None:
        if notes != STANDARD_INPUT:
            raise typer.BadParameter("name a file, or - for standard output", param_hint="--output")
        output = STANDARD_OUTPUT
    given_notes = None if notes == STANDARD_INPUT else notes
    must_exist(notes=given_notes, patients=patients, providers=providers, facilities=facilities, spans=spans)
    given = given_spans(spans, scheme, detector, model, recognizers, keep, chat)
    rules = load_policy(policy)
    mapping = column_mapping(columns, feed)
    topics = topics_of(patients, providers, facilities, mapping)
    spec = DetectorSpec(
        name=detector,
        topics=topics or None,
        professions=rules.hides_professions,
        ages=rules.hides_ages,
        recognizers=recognizers,
        keep=keep,
        models=tuple(model) if model else None,
        device=usable(device),
        chat=chat_of(chat),
    )
    with progress("redacting") as bar:
        outcome = redact_file(
            notes,
            output,
            spec=spec,
            policy=rules,
            engine=LocalEngine(workers=workers),
            keyring=_keyring(secret_file, site) if rules.uses_surrogates else None,
            beside=(
                *(patients, providers, facilities, spans, Path(policy), secret_file, recognizers, keep),
                *files_in_force(),
            ),
            mapping=mapping,
            table_format=table_format,
            given=given,
            scores=scores,
            writing=date_writing(date_order) if rules.uses_surrogates else NOTHING_SAID,
            languages=() if languages is None else languages.split(","),
            progress=bar.advance,
        )
    if given is not None or not is_shipped(detector, model):
        say(f"no figures of this detector in {', '.join(SHIPPED)}: measure it on notes of your own (deid evaluate)")
    if outcome.read_as is Format.DOCUMENT:
        say("its text was redacted, with what it shows; the document itself is as it was and holds all of it")
    by_name = (None, Format.TEXT, Format.XLSX, Format.DOCUMENT)
    if table_format is None and (notes == STANDARD_INPUT or outcome.read_as not in by_name):
        what = "standard input" if notes == STANDARD_INPUT else "the file"
        say(f"{what} was read as {outcome.read_as}; --format chooses another format")
    say(
        f"{counted(outcome.notes, 'note')} redacted under {rules.name}: {outcome.replaced:,} of"
        f" {counted(outcome.found, 'span')} replaced"
    )
    if outcome.undecided:
        became = "date became a tag" if outcome.undecided == 1 else "dates became tags"
        say(f"{outcome.undecided:,} {became} since nothing says which number is the day: --date-order")
    if outcome.undated:
        say(f"invalid dates (expected YYYY-MM-DD): {counted(outcome.undated, 'note')}")
    if not outcome.complete:
        say_refusals(outcome.refusals)
        for reason, count in sorted(outcome.withheld.items()):
            say(f"{counted(count, 'note')} withheld: {reason}")
        if outcome.unmeasured:
            codes = sorted(outcome.unmeasured)
            found = ", ".join(f"{code} {outcome.unmeasured[code]:,}" for code in codes)
            accepted = ",".join(code for code in codes if is_code(code))
            how = f"; if you have measured it in them: --languages {accepted}" if accepted else ""
            say(f"the detector was measured in {', '.join(SHIPPED)}; withheld were notes in {found}{how}")
        raise typer.Exit(3)


def _keyring(secret_file: Path | None, site: str | None) -> Keyring:
    from deid_platform.settings import keyring_for

    return keyring_for(secret_file, site)
