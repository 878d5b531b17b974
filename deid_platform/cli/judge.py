"""`deid judge`: judges of what is left of the medicine, and how good they are.

Belongs here: arguments and what a person reads. Does not belong here: who judges (`evaluation/panel/judge_plan.py`),
what a judge is (`evaluation/retention/`), or the judge of the ensemble (`detection/resolve/`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.inputs import GoldForm, GoldPath, GoldScheme, end_refused, settings_or_none
from deid_platform.cli.released import POLICY, AnyDetector, PolicyName, ReleasedFile, Whose, originals, releases_of
from deid_platform.cli.terminal import Config, Json, counted, progress, say, show, show_json
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from deid_platform.evaluation.panel.judge_plan import JudgePlan
    from deid_platform.evaluation.retention.judge_validation import Quality
    from deid_platform.evaluation.retention.judges import Verdict
    from deid_platform.evaluation.retention.own_pairs import OwnPair
    from deid_platform.evaluation.retention.pairs import LabelledPair
    from deid_platform.settings import Settings

judge = typer.Typer(help="Judges of what a release keeps of the medicine, and how good they are.", no_args_is_help=True)
Prompts = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        help="A prompt of docs/retention.md, or a file with one; may be repeated. By default all for this, of a panel "
        "retention-few. Without a language model in deid.toml nobody is asked.",
    ),
]
OwnPairs = Annotated[
    Path | None,
    typer.Option(
        "--pairs",
        help='Pairs that your own physicians labelled: JSON lines {"original", "released", "changed": {"NAME": true, '
        '...}, "note_id"?}, or CSV with the columns original, released, note_id (if there is one) and one for each '
        "physician: yes, no or empty.",
    ),
]
AsPanel = Annotated[
    bool,
    typer.Option("--panel", help="Ask the panel of [judges] in deid.toml, and say what its majority says."),
]

Most = Annotated[int, typer.Option("--notes", min=1, help="The most notes, from the beginning of the file.")]


@judge.command("pairs")
def pairs(
    prompts: Prompts = None,
    own: OwnPairs = None,
    panel: AsPanel = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Validate judges on labelled pairs of chunks: the lexical judge, and the language model of deid.toml.

    Without a model the lexical judge stands alone. The pairs come with the platform, or are your own with --pairs: then
    each judge stands beside what more than half of your physicians say, and beside each of them, with its correlations
    with their mean. An answer that is no judgement
    counts as judged wrongly, and why there was none is said. With a key secret, answers are kept, so that a run that
    was stopped goes on where it was.
    """
    from deid_platform.evaluation.retention.chat_judge import ChatJudge, majority
    from deid_platform.evaluation.retention.judge_validation import agreement
    from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
    from deid_platform.evaluation.retention.own_pairs import own_pairs
    from deid_platform.evaluation.retention.pairs import labelled_pairs
    from deid_platform.llm.engines import Engines

    plan = _plan(settings_or_none(config), prompts or (("retention-few",) if panel else ()), panel=panel)
    labelled, mine = labelled_pairs(), [] if own is None else own_pairs(own)
    judges = [] if plan is None else [ChatJudge(asked) for asked in plan.asked(Engines())]
    texts = [pair.texts for pair in mine or labelled]
    of_chat: list[list[Verdict]] = []
    for each in judges:
        with progress(each.identity.model) as bar:
            bar.at(0, len(texts))
            of_chat.append([])
            for verdict in each.verdicts(texts):
                of_chat[-1].append(verdict)
                bar.advance(1)
    lexical = LexicalJudge()
    named = [
        (lexical.identity.model, lexical.judge(texts)),
        *zip((each.identity.model for each in judges), of_chat, strict=True),
    ]
    if panel and len(judges) > 1:
        named.append((f"majority of {len(judges)}", majority(of_chat)))
    if mine:
        _show_physicians(mine, named, as_json=as_json)
    else:
        _show_quality([(name, _in_all_groups(verdicts, labelled)) for name, verdicts in named], as_json=as_json)
    for name, verdicts in named:
        _say_failures(name, Counter(verdict.failure.value for verdict in verdicts if verdict.failure))
    if panel and len(judges) > 1:
        _say_agreement(*agreement(of_chat))
    _say_kept(plan)
    if judges and all(verdict.changed is None for verdicts in of_chat for verdict in verdicts):
        raise typer.Exit(3)


@judge.command("retention")
def retention(
    gold: GoldPath,
    prompt: Annotated[
        str | None, typer.Option(help="A prompt of docs/retention.md, or a file: retention-few unless told.")
    ] = None,
    panel: AsPanel = False,
    detector: AnyDetector = "ensemble",
    released: ReleasedFile = None,
    pairs_model: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a paraphrase or an entailment model of `transformers`, as one more judge (extra ml)."
        ),
    ] = None,
    policy: PolicyName = POLICY,
    scheme: GoldScheme = None,
    gold_format: GoldForm = None,
    notes: Most = 100,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Measure what a release of notes keeps of the medicine, by the language model and by lexical retention.

    A model that is asked yes or no (retention-yes-no) gives CIRE, one that names what changed chat retention.

    The notes, which need no gold, are released by the detector on their text alone, or --released has what any system
    released of them. The chunks go to the language model of deid.toml; without one the lexical judge stands alone.
    """
    from deid_platform.evaluation.retention.chat_judge import ChatJudge, Majority
    from deid_platform.evaluation.retention.judges import Judge
    from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
    from deid_platform.evaluation.retention.retention import Pair, note_retentions
    from deid_platform.evaluation.retention.retention import retention as measured
    from deid_platform.llm.engines import Engines
    from deid_platform.reports.judges import RETENTION, retention_record

    settings = settings_or_none(config)
    judges: list[Judge] = [LexicalJudge()]
    named = () if prompt is None else (prompt,)
    plan = _plan(settings, named, panel=panel, otherwise=("retention-few",))
    if plan is not None:
        chat: list[Judge] = [ChatJudge(asked) for asked in plan.asked(Engines())]
        judges += [Majority(chat)] if len(chat) > 1 else chat
    if pairs_model is not None:
        from deid_platform.evaluation.retention.sequence_models import pair_classifier

        judges.append(pair_classifier(pairs_model))
    read = originals(gold, gold_format, scheme)
    made = releases_of(read, Whose(released, detector, policy), settings, most=notes)[1]
    pairs = [Pair(it.note.text, it.text, it.note.patient_id) for it in made.notes if it.text is not None]
    records = []
    for each in judges:
        with progress(each.identity.model):
            found = measured(note_retentions(pairs, each), each.identity)
        records.append(retention_record(found))
        _say_failures(each.identity.model, found.failures)
    if as_json:
        for record in records:
            show_json(record)
    else:
        show([name.replace("_", " ") for name in RETENTION], ([record[it] for it in RETENTION] for record in records))
    _say_kept(plan)
    if any(record["mean"] is None for record in records):
        raise typer.Exit(3)
    end_refused(read.refusals)


@judge.command("panel")
def panel_of_judges(
    gold: GoldPath,
    prompts: Annotated[
        list[str] | None, typer.Option("--prompt", help="By name or file; may be repeated: panel-zero unless told.")
    ] = None,
    detector: AnyDetector = "ensemble",
    released: ReleasedFile = None,
    policy: PolicyName = POLICY,
    scheme: GoldScheme = None,
    gold_format: GoldForm = None,
    notes: Most = 100,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Ask the panel of [judges] which identifiers a release of gold notes hides, beside what is known of it.

    The notes are released by the detector on their text alone, or --released has what any system released of them. What
    spans say is known where there are any; of a text alone, a gold text that stands in it is left. Each judge is asked
    for one label of a note at a time; an identifier that is left is a positive. What more than half of the panel says
    counts, the rest is discarded.
    """
    from deid_platform.evaluation.panel import chat_panel
    from deid_platform.evaluation.panel.judge_plan import JudgePlan, judge_prompts
    from deid_platform.evaluation.retention.chat_judge import majority
    from deid_platform.evaluation.retention.judge_validation import agreement, quality
    from deid_platform.llm.engines import Engines
    from deid_platform.llm.prompts import Task
    from deid_platform.redaction.policy import Action
    from deid_platform.reports.judges import PANEL, panel_records
    from deid_platform.settings import load_settings

    settings = load_settings(config)
    plan = JudgePlan.panel(settings, judge_prompts(Task.PANEL, prompts or ("panel-zero",)))
    members = list(plan.asked(Engines()))
    read = originals(gold, gold_format, scheme)
    if read.gold is None:
        raise DeidError(Code.GOLD_MISSING)
    rules, made = releases_of(read, Whose(released, detector, policy), settings, most=notes)
    hidden = {label for label, action in rules.labels.items() if action is not Action.KEEP}
    releases = [chat_panel.JudgedRelease.of_release(it, hidden) for it in made.notes if it.text is not None]
    heard = []
    for asked in members:
        with progress(asked.name) as bar:
            bar.at(0, chat_panel.questions_of(releases))
            said = []
            for answer in chat_panel.hear(asked, releases):
                said.append(answer)
                bar.advance(1)
        heard.append(chat_panel.heard(said, releases))
    verdicts = [(asked.name, each.verdicts) for asked, each in zip(members, heard, strict=True)]
    if len(heard) > 1:
        verdicts.append((f"majority of {len(heard)}", majority([each.verdicts for each in heard])))
    left = [it for _, it in chat_panel.entities_of(releases)]
    voted, known = chat_panel.voted(heard, releases), chat_panel.known(releases)
    _show_quality([(name, {"identifiers": quality(left, of)}) for name, of in verdicts], as_json=as_json)
    records = list(panel_records(voted, known))
    if as_json:
        for record in records:
            show_json(record)
    else:
        show([name.replace("_", " ") for name in PANEL], ([record[name] for name in PANEL] for record in records))
    for asked, each in zip(members, heard, strict=True):
        _say_failures(asked.name, each.failures)
    if len(heard) > 1:
        _say_agreement(*agreement([each.verdicts for each in heard]))
    _say_kept(plan)
    if all(verdict.changed is None for each in heard for verdict in each.verdicts):
        raise typer.Exit(3)
    end_refused(read.refusals)


def _in_all_groups(verdicts: Sequence[Verdict], pairs: Sequence[LabelledPair]) -> dict[str, Quality]:
    from deid_platform.evaluation.retention.judge_validation import in_groups

    found = in_groups(verdicts, pairs, lambda _: "all")
    found |= in_groups(verdicts, pairs, lambda pair: pair.split.value.replace("_", " "))
    found |= in_groups(verdicts, pairs, lambda pair: "hard" if pair.hard else "plain")
    return found | in_groups(verdicts, pairs, lambda pair: pair.language)


def _show_physicians(
    pairs: Sequence[OwnPair], named: Sequence[tuple[str, Sequence[Verdict]]], *, as_json: bool
) -> None:
    """Each judge beside the physicians who labelled some pairs, and how far these agree among themselves."""
    from deid_platform.evaluation.retention.own_pairs import agreement_of, beside_physicians, physicians
    from deid_platform.reports.judges import PHYSICIANS, physicians_record

    judges = [(name, beside_physicians(pairs, verdicts)) for name, verdicts in named]
    _show_quality([(name, beside.by) for name, beside in judges], as_json=as_json)
    records = [physicians_record(name, beside) for name, beside in judges]
    if as_json:
        for record in records:
            show_json(record)
    else:
        show(
            [name.replace("_", " ") for name in PHYSICIANS],
            ([record[name] for name in PHYSICIANS] for record in records),
        )
    kappa, whole = agreement_of(pairs)
    if split := sum(pair.label is None for pair in pairs):
        say(f"{counted(split, 'pair')} without a majority of physicians, and so without a label")
    fleiss = "none" if kappa is None else f"{kappa:.3f}"
    say(f"{counted(len(physicians(pairs)), 'physician')}: Fleiss' kappa {fleiss} on {counted(whole, 'pair')} of all")


def _show_quality(found: Iterable[tuple[str, Mapping[str, Quality]]], *, as_json: bool) -> None:
    from deid_platform.reports.judges import SHOWN, quality_records

    records = list(quality_records(found))
    if as_json:
        for record in records:
            show_json(record)
    else:
        show([name.replace("_", " ") for name in SHOWN], ([record[name] for name in SHOWN] for record in records))


def _say_failures(name: str, failures: Mapping[str, int]) -> None:
    for failure, count in sorted(failures.items()):
        say(f"{name}: no answer: {failure}: {count:,}")


def _say_agreement(kappa: float | None, unanimous: float | None, answered: int) -> None:
    if unanimous is not None:
        fleiss = "none" if kappa is None else f"{kappa:.3f}"
        say(f"of {answered:,} that all judges answered, they agree on {unanimous:.1%}; Fleiss' kappa {fleiss}")


def _plan(
    settings: Settings | None, prompts: Sequence[str], *, panel: bool, otherwise: Sequence[str] = ()
) -> JudgePlan | None:
    """Which chat models judge; None where deid.toml names none and nobody asked for one: the lexical judge is alone.

    Raises:
        DeidError: `llm-missing` where a prompt or the panel was asked for; what `judge_prompts` and `JudgePlan` raise.
    """
    from deid_platform.evaluation.panel.judge_plan import JudgePlan, judge_prompts
    from deid_platform.llm.prompts import Task

    if settings is None or (settings.llm is None and settings.vllm is None):
        if prompts or panel:
            raise DeidError(Code.LLM_MISSING)
        say("no language model is named in deid.toml, so none is asked")
        return None
    chosen = judge_prompts(Task.RETENTION, prompts or otherwise)
    return (JudgePlan.panel if panel else JudgePlan.single)(settings, chosen)


def _say_kept(plan: JudgePlan | None) -> None:
    if plan is not None and plan.at is None:
        say("without a key secret no answer is kept: the next run asks again")
