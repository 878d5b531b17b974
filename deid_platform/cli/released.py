"""What commands on a release share: released texts of a file or of a named detector, and `deid evaluate --released`.

Belongs here: options, originals beside their releases, and the table of a release. Does not belong here: making a
release (`deidentify/releasing.py`), reading one (`corpora/released_texts.py`), or any measure (`evaluation/`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.inputs import end_refused, settings_or_none
from deid_platform.cli.terminal import counted, progress, say, show
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from deid_platform.corpora.columns import ColumnMapping
    from deid_platform.deidentify.releasing import Releases
    from deid_platform.detection import DetectorSpec
    from deid_platform.evaluation.comparison.notes_read import NotesRead
    from deid_platform.evaluation.experiments.perturbations import Perturbation
    from deid_platform.evaluation.release_measures import Figure
    from deid_platform.llm.prompted import Asking
    from deid_platform.notes import Span
    from deid_platform.redaction.policy import Policy
    from deid_platform.runtime.output import Output
    from deid_platform.settings import Settings

POLICY = "safe_harbor_plus_providers"
ReleasedFile = Annotated[
    Path | None,
    typer.Option(
        "--released",
        help='Released texts of any system, instead of --detector: JSON lines {"note_id", "text"}, CSV or Parquet, or '
        "a folder with NOTE_ID.txt a note. A note without one was withheld.",
    ),
]
AnyDetector = Annotated[
    str,
    typer.Option(
        "--detector",
        help="Whose release: a registered detector, `chat:PROMPT`, `model:MODEL` or a peer, as `deid compare` names "
        "them. Of `chat:rewrite-*` it is what the model wrote.",
    ),
]
PolicyName = Annotated[str, typer.Option("--policy", help="A shipped policy or a path to YAML.")]


@dataclass(frozen=True)
class Whose:
    """Whose release it is.

    Attributes:
        released: A file of released texts; None for those of a detector.
        detector: Its name.
        policy: What replaces what it finds.
        base: Topics, recognizers, allow list, model and device of our detectors; None for the text alone.
    """

    released: Path | None
    detector: str = "ensemble"
    policy: str = POLICY
    base: DetectorSpec | None = None


def originals(
    path: Path, form: str | None = None, scheme: str | None = None, mapping: ColumnMapping | None = None
) -> NotesRead:
    """Notes with gold or without, as `deid compare` reads them.

    Raises:
        DeidError: `feed-unreadable` if there is nothing at the path; what `notes_read.read` raises.
    """
    from deid_platform.corpora.source import STANDARD_INPUT
    from deid_platform.evaluation.comparison.notes_read import read

    if path != STANDARD_INPUT and not path.exists():
        raise DeidError(Code.FEED_UNREADABLE, "notes: no such file")
    notes = read(path, mapping=mapping, scheme=scheme, gold_form=form)
    say_unfilled(notes)
    return notes


def say_unfilled(read: NotesRead) -> None:
    """Warns of notes in which placeholders stand where identifiers did."""
    if read.unfilled:
        say(
            f"{counted(read.unfilled, 'note')} with placeholders in brackets, as MIMIC-III writes: they are read as "
            "text; `deid corpora fill mimic OUT` writes identifiers into them first (docs/corpora.md)"
        )


def releases_of(
    read: NotesRead, whose: Whose, settings: Settings | None, *, most: int | None = None
) -> tuple[Policy, Releases]:
    """The policy, and notes with what was released of them; says how many were withheld.

    Args:
        read: The originals.
        whose: Whose release it is.
        settings: The installation's; None without one.
        most: The most notes, from the beginning.
    """
    from deid_platform.redaction.policy import load_policy

    rules = load_policy(whose.policy)
    some = replace(read, notes=read.notes[:most], gold=None if read.gold is None else read.gold[:most])
    if whose.released is None:
        made = _made(some, whose, rules, settings)
        who = f"by {whose.detector}, policy {whose.policy}"
    else:
        made = _from_file(some, whose.released, {note.note_id for note in read.notes})
        who = "with released texts"
    say(f"{counted(len(made.notes), 'note')} {who}; withheld: {made.withheld.total():,}")
    for why, notes in sorted(made.withheld.items()):
        if why:
            say(f"withheld, {why}: {notes:,}")
    return rules, made


def _from_file(read: NotesRead, path: Path, ids: set[str]) -> Releases:
    from collections import Counter

    from deid_platform.corpora.released_texts import ReleasedTexts
    from deid_platform.deidentify.releasing import Releases
    from deid_platform.evaluation.released.released import NoteRelease

    texts = ReleasedTexts.read(path, ids)
    notes = [NoteRelease(note, texts.of(note), spans) for note, spans in zip(read.notes, _gold_of(read), strict=True)]
    return Releases(notes, Counter({"": sum(one.text is None for one in notes)}))


def _made(read: NotesRead, whose: Whose, rules: Policy, settings: Settings | None) -> Releases:
    from deid_platform.deidentify.release_note import ReleaseSpec
    from deid_platform.deidentify.releasing import released_by
    from deid_platform.detection import DetectorSpec, detector_names
    from deid_platform.engine.engines import LocalEngine
    from deid_platform.evaluation.comparison import named_detectors
    from deid_platform.settings import keyring_for
    from deid_platform.surrogates.date_order import NOTHING_SAID, DateWriting

    base = whose.base or DetectorSpec(detector_names()[0])
    base = replace(base, professions=rules.hides_professions, ages=rules.hides_ages)
    peers = {} if settings is None else {name: settings.path(path) for name, path in settings.peers.items()}
    named, *others = named_detectors.detectors([whose.detector], base, peers, lambda: asking(settings))
    if others:
        raise typer.BadParameter("name one; `deid compare` takes several", param_hint="--detector")
    keyring, writing = None, NOTHING_SAID
    if rules.uses_surrogates:
        keyring = keyring_for(None, None) if settings is None else settings.keyring()
    if settings is not None:
        writing = DateWriting.of(settings.redaction.date_order, settings.redaction.date_zeros)
    release = ReleaseSpec(rules, base.topics, keyring, writing=writing)
    with progress("releasing") as bar:
        bar.at(0, len(read.notes))
        return released_by(named, read.notes, _gold_of(read), release, LocalEngine(), bar.advance)


def _gold_of(read: NotesRead) -> list[tuple[Span, ...] | None]:
    return [None for _ in read.notes] if read.gold is None else [marked.spans for marked in read.gold]


def asking(settings: Settings | None) -> Asking:
    """As the deid.toml in force says; none is as one without the section."""
    from deid_platform.llm.prompted import Asking

    if settings is None:
        raise DeidError(Code.LLM_MISSING)
    return Asking.of(settings)


@dataclass(frozen=True)
class Measuring:
    """What `deid evaluate` measures of a release beside the texts.

    Attributes:
        resamples: Of the bootstrap.
        save: Where the released texts go, as JSON lines; None for nowhere.
        formats: Folder of the releases of the same notes in other formats; None without.
        codes: Folder of a sequence classifier whose labels are diagnosis codes; None for the coder by terms.
        token_prices: For 1,000 tokens that a language model reads, and writes; None where nobody said.
        beside: The files that all was read from, which nothing may be written over.
        as_json: JSON lines instead of a table.
    """

    resamples: int = 1000
    save: Path | None = None
    formats: Path | None = None
    codes: Path | None = None
    token_prices: tuple[float, float] | None = None
    beside: tuple[Path | None, ...] = ()
    as_json: bool = False


def measure_release(read: NotesRead, whose: Whose, how: Measuring) -> None:
    """Shows every measure of a release, a row each."""
    from deid_platform.evaluation.release_measures import measures, of_asking, of_shift
    from deid_platform.runtime.output import Output

    predictor = None
    if how.codes is not None:
        from deid_platform.evaluation.retention.sequence_models import code_classifier

        predictor = code_classifier(how.codes)
    settings = settings_or_none(None)
    if not read.notes:
        end_refused(read.refusals)
    output = None if how.save is None else Output.at(how.save).apart_from((whose.released, *how.beside))
    rules, made = releases_of(read, whose, settings)
    if output is not None:
        _save(made, output)
    figures = list(measures(made.notes, predictor=predictor, resamples=how.resamples))
    if how.formats is not None:
        figures += _in_formats(made, how.formats, how.resamples)
    if whose.released is None and rules.shifts_dates:
        figures += of_shift(rules.date_shift, read.notes)
    if made.asked is not None:
        figures += of_asking(made.asked, how.token_prices)
    show(("measure", "category", "value", "low", "high", "n"), figures, as_json=how.as_json)
    end_refused(read.refusals)
    if all(one.text is None for one in made.notes):
        raise typer.Exit(3)


def _save(made: Releases, output: Output) -> None:
    with output.opened() as file:
        for one in made.notes:
            if one.text is not None:
                row = {"note_id": one.note.note_id, "text": one.text}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    say("the released texts may hold what was missed: they belong into the PHI zone")


def write_formats_of(read: NotesRead, folder: Path) -> None:
    """Writes gold notes in each other format, a file each, for a system to release: `deid evaluate --write-formats`."""
    from deid_platform.evaluation.experiments.perturbations import Perturbation, perturbed
    from deid_platform.runtime.output import Output

    if read.gold is None:
        raise DeidError(Code.GOLD_MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    for how in Perturbation:
        with Output.at(folder / _file_of(how)).opened() as file:
            for note, marked in zip(read.notes, read.gold, strict=True):
                text, spans = perturbed(note, marked.spans, how)
                places = [[span.start, span.end, span.label.value] for span in spans]
                row = {"note_id": note.note_id, "text": text, "spans": places, "patient_id": note.patient_id}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    say(f"{counted(len(read.notes), 'note')} in {len(Perturbation)} other formats; they hold text of notes")


def _file_of(how: Perturbation) -> str:
    return f"{how.value.replace(' ', '-').lower()}.jsonl"


def _in_formats(made: Releases, folder: Path, resamples: int) -> Iterator[Figure]:
    """What the release of the same notes in other formats loses, of those that were not withheld in any."""
    from deid_platform.corpora.released_texts import ReleasedTexts
    from deid_platform.evaluation.experiments.perturbations import Perturbation, perturbed
    from deid_platform.evaluation.experiments.stability import of_texts, stability
    from deid_platform.evaluation.release_measures import Figure

    shown = [one for one in made.notes if one.text is not None and one.gold is not None]
    ids = {one.note.note_id for one in made.notes}
    for how in Perturbation:
        if not (folder / _file_of(how)).exists():
            continue
        texts = ReleasedTexts.read(folder / _file_of(how), ids)
        both = []
        for one in shown:
            text, _ = perturbed(one.note, one.gold or (), how)
            other = replace(one, note=replace(one.note, text=text), text=texts.of(one.note), redaction=None)
            if other.text is not None:
                both.append((one, other))
        find = of_texts(it for pair in both for it in pair)
        gold = [(one.note, one.gold or ()) for one, _ in both]
        for row in stability(gold, find, perturbations=[how], resamples=resamples):
            for name, lost in (("recall", row.recall), ("precision", row.precision)):
                yield Figure(f"stability, {name} difference", how.value, lost.value, lost.low, lost.high, row.notes)
