"""`deid evaluate`: a detector's scores on a file of gold, without an installation.

Belongs here: arguments and what a person reads. Does not belong here: how it is scored (`evaluation/scores/files.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.inputs import (
    Columns,
    Device,
    Facilities,
    Feed,
    GoldForm,
    GoldPath,
    GoldScheme,
    Keep,
    Models,
    Patients,
    Providers,
    Recognizers,
    Spans,
    Workers,
    column_mapping,
    end_refused,
    given_spans,
    gold_set,
    must_exist,
    settings_or_none,
    topics_of,
)
from deid_platform.cli.released import (
    POLICY,
    Measuring,
    ReleasedFile,
    Whose,
    measure_release,
    originals,
    write_formats_of,
)
from deid_platform.cli.terminal import Json, console, counted, out, progress, say, show

if TYPE_CHECKING:
    from deid_platform.detection import DetectorSpec
    from deid_platform.detection.resolve.chat_judge import ChatJudgeSpec
    from deid_platform.evaluation.scores.scores import Scores


def evaluate(
    gold: GoldPath,
    detector: Annotated[
        str,
        typer.Option(
            help="A registered detector, which `deid doctor` lists; or `chat:PROMPT`, `model:MODEL` or a peer, as "
            "`deid compare` names them, of which the release is measured."
        ),
    ] = "ensemble",
    model: Models = None,
    device: Device = "cpu",
    recognizers: Recognizers = None,
    keep: Keep = None,
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    columns: Columns = None,
    feed: Feed = None,
    scheme: GoldScheme = None,
    gold_format: GoldForm = None,
    spans: Spans = None,
    spans_scheme: Annotated[
        str | None, typer.Option(help="Label scheme of --spans; by default that of the gold.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="A stage to switch off, to see what it contributes; `deid doctor` lists them."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=2, help="Bootstrap resamples for the 95% intervals.")] = 1000,
    workers: Workers = 1,
    misses: Annotated[
        Path | None,
        typer.Option(
            help="File for missed and wrongly hidden words in context, as JSON lines. It holds text of notes."
        ),
    ] = None,
    by_source: Annotated[
        bool,
        typer.Option("--by-source", help="Show what each recognizer, dictionary and model adds, instead of scores."),
    ] = False,
    ablation: Annotated[
        bool,
        typer.Option("--ablation", help="Score model and rules alone, then with topics, recovery, doubt and judge."),
    ] = False,
    judge: Annotated[
        str | None,
        typer.Option(
            help="A judge that weighs removals for their clinical relevance: `vocabulary`, or `chat:PROMPT`, a prompt "
            "to the language model of deid.toml (docs/language-models.md)."
        ),
    ] = None,
    released: ReleasedFile = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="Measure what --detector would release under this policy, by name or a path to YAML, as --released "
            f"does. For a prompt or a peer {POLICY} unless told."
        ),
    ] = None,
    save_released: Annotated[
        Path | None,
        typer.Option(help="File for the released texts, as --released reads them. It may hold text of notes."),
    ] = None,
    write_formats: Annotated[
        Path | None,
        typer.Option(help="Only write the gold in eight other formats into this folder, for a system to release."),
    ] = None,
    released_formats: Annotated[
        Path | None,
        typer.Option(help="Folder of what was released of --write-formats, under the same names: stability."),
    ] = None,
    codes: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a sequence classifier of `transformers` whose labels are diagnosis codes, for JSC and "
            "NSDCG of a release (extra ml); by default terms of ICD-10-CM."
        ),
    ] = None,
    token_prices: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT",
            help="What 1,000 tokens that a language model reads and writes cost: the price of 10,000 notes.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a detector against gold spans: word-level precision, recall and F1, as Murugadoss 2024 does.

    With --released, --policy, or a --detector that is a prompt or a peer, a release is measured instead, by its texts
    and with gold or without: what is left of identifiers and of the medicine, a row a measure (docs/evaluation.md).

    The words of the lines of --misses add up to the missed and wrongly hidden words of `all`; a word with two labels
    counts for each label in its row, and a word that is partly covered counts as found. With --without, the detector
    is scored with all stages and without the named ones, label by label.
    """
    from deid_platform.corpora.gold import SCHEME
    from deid_platform.detection import DetectorSpec, detector_names
    from deid_platform.detection.combination import Combination
    from deid_platform.detection.models.device import usable
    from deid_platform.engine.engines import LocalEngine
    from deid_platform.evaluation.comparison.named_detectors import is_another
    from deid_platform.evaluation.scores.ablation import ablations
    from deid_platform.evaluation.scores.files import contributions_to, score_file
    from deid_platform.reports.scores import (
        ABLATION_COLUMNS,
        CONTRIBUTION_COLUMNS,
        SCORE_COLUMNS,
        WORTH_COLUMNS,
        ablation_records,
        score_records,
        scores_table,
        worth_records,
    )
    from deid_platform.settings import files_in_force

    must_exist(patients=patients, providers=providers, facilities=facilities, spans=spans)
    must_exist(released=None if released is not None and released.is_dir() else released)
    if write_formats is not None:
        write_formats_of(originals(gold, gold_format, scheme, column_mapping(columns, feed)), write_formats)
        return
    stages = {"--without": bool(without), "--by-source": by_source}
    of_release = released is not None or policy is not None or is_another(detector)
    if of_release:
        _apart("a release", True, {**stages, "--ablation": ablation, "--misses": bool(misses), "--spans": bool(spans)})
        _apart("--released", bool(released), {"--policy": bool(policy), "--detector": detector != "ensemble"})
    else:
        of_texts = {"--save-released": bool(save_released), "--released-formats": bool(released_formats)}
        of_texts |= {"--codes": bool(codes), "--token-prices": bool(token_prices)}
        _apart("scores of spans: name --released, --policy, a prompt or a peer", True, of_texts)
    given = (
        None if of_release else given_spans(spans, spans_scheme or scheme or SCHEME, detector, model, recognizers, keep)
    )
    _apart("--spans", given is not None, {**stages, "--ablation": ablation})
    _apart("--ablation", ablation, {**stages, "--misses": misses is not None})
    mapping = column_mapping(columns, feed)
    topics = topics_of(patients, providers, facilities, mapping)
    models = tuple(model) if model else None
    spec = DetectorSpec(
        name=detector_names()[0] if of_release else detector,
        topics=topics or None,
        recognizers=recognizers,
        keep=keep,
        models=models,
        combination=Combination(judge=judge),
        device=usable(device),
        chat_judge=_chat_judge(judge),
    )
    if of_release:
        whose = Whose(released, ":".join((detector, *(models or ()))), policy or POLICY, replace(spec, models=None))
        measure_release(
            originals(gold, gold_format, scheme, mapping),
            whose,
            Measuring(
                *(resamples, save_released, released_formats, codes, _prices(token_prices)),
                beside=(gold, patients, providers, facilities, recognizers, keep, *files_in_force()),
                as_json=as_json,
            ),
        )
        return
    notes, refusals = gold_set(gold, gold_format, scheme, mapping)
    reduced = replace(spec, without=tuple(without or ()))

    if by_source:
        with progress("reading") as bar:
            found = contributions_to(notes, spec=reduced, progress=bar.advance)
        show(CONTRIBUTION_COLUMNS, (astuple(row) for row in found), as_json=as_json)
        end_refused(refusals)
        return

    def scored(spec: DetectorSpec, misses: Path | None) -> Scores:
        refusals.clear()  # the notes are read each time
        with progress("scoring") as bar:
            return score_file(
                notes,
                spec=spec,
                engine=LocalEngine(workers=workers),
                resamples=resamples,
                misses=misses,
                beside=(patients, providers, facilities, spans, recognizers, keep, *files_in_force()),
                given=given,
                progress=bar.advance,
            )

    if ablation:
        rows = (
            (name, scored(replace(spec, without=left), None))
            for name, left in ablations(spec.stages, topics=bool(topics))
        )
        show(ABLATION_COLUMNS, ablation_records(rows), as_json=as_json)
        _say_unjudged()
        end_refused(refusals)
        return

    scores = scored(reduced, misses)
    _say_unjudged()
    if without:
        show(WORTH_COLUMNS, worth_records(scored(spec, None), scores), as_json=as_json)
    elif as_json:
        show(SCORE_COLUMNS, score_records(scores), as_json=True)
    else:
        title = f"{detector}, inputs: {spec.inputs}" if given is None else "spans of another detector"
        out.print(scores_table(scores, title=title))
    if misses is not None:
        missed, wrong = (share.total - share.hits for share in (scores.recall, scores.precision))
        (console if as_json else out).print(
            f"{missed:,} missed words and {wrong:,} wrongly hidden ones are in the file of misses, which holds text of "
            "notes and belongs into the PHI zone",
            highlight=False,
        )
    end_refused(refusals)


def _chat_judge(judge: str | None) -> ChatJudgeSpec | None:
    """The chat model that is the judge, as the deid.toml in force says; None for another judge."""
    if judge is None or not judge.startswith("chat:"):
        return None
    from deid_platform.detection.resolve.chat_judge import ChatJudgeSpec
    from deid_platform.evaluation.panel.judge_plan import kept_at

    settings = settings_or_none(None)
    return ChatJudgeSpec.of(judge, settings, kept_at(settings) if settings else None)


def _say_unjudged() -> None:
    """What stays hidden because a chat model that is the judge gave no answer; of this process, not of workers."""
    loaded = sys.modules.get("deid_platform.detection.resolve.chat_judge")
    for why, removals in sorted(loaded.FAILURES.items()) if loaded else ():
        say(f"no answer of the judge: {why}: {counted(removals, 'removal')} stay hidden")


def _prices(written: str | None) -> tuple[float, float] | None:
    """Prices of tokens read and written."""
    if written is None:
        return None
    try:
        read, wrote = map(float, written.split(","))
    except ValueError:
        raise typer.BadParameter("two numbers, as 0.03,0.06", param_hint="--token-prices") from None
    return read, wrote


def _apart(option: str, chosen: bool, others: Mapping[str, bool]) -> None:
    """Refuses options that make no sense beside another."""
    for other, too in others.items():
        if chosen and too:
            raise typer.BadParameter(f"cannot be combined with {option}", param_hint=other)
