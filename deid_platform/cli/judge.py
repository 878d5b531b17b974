"""`deid judge`: judges of what is left of the medicine, and how good they are.

Belongs here: arguments and what a person reads. Does not belong here: who judges (`evaluation/judge_plan.py`), what a
judge is (`evaluation/retention/`), or the judge of the ensemble (`detection/resolve/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Config, Json, progress, say, show, show_json

if TYPE_CHECKING:
    from deid_platform.evaluation.judge_plan import JudgePlan
    from deid_platform.evaluation.retention.judge_validation import Quality
    from deid_platform.evaluation.retention.judges import Verdict
    from deid_platform.evaluation.retention.pairs import LabelledPair

judge = typer.Typer(help="Judges of what a release keeps of the medicine, and how good they are.", no_args_is_help=True)
Prompts = Annotated[
    list[str] | None,
    typer.Option("--prompt", help="A prompt of docs/retention.md; may be repeated. By default all for this."),
]
AsPanel = Annotated[
    bool,
    typer.Option("--panel", help="Ask the panel of [judges] in deid.toml, and say what its majority says."),
]


@judge.command("pairs")
def pairs(prompts: Prompts = None, panel: AsPanel = False, as_json: Json = False, config: Config = None) -> None:
    """Validate judges on labelled pairs of chunks: the lexical judge, and the language model of deid.toml.

    The pairs come with the platform. An answer that is no judgement counts as judged wrongly, and why there was none is
    said. With a key secret, answers are kept, so that a run that was stopped goes on where it was.
    """
    from deid_platform.evaluation.judge_plan import JudgePlan, judge_prompts
    from deid_platform.evaluation.retention.chat_judge import ChatJudge, majority
    from deid_platform.evaluation.retention.judge_validation import agreement
    from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
    from deid_platform.evaluation.retention.pairs import labelled_pairs
    from deid_platform.llm.prompts import Task
    from deid_platform.settings import load_settings

    settings = load_settings(config)
    plan = (JudgePlan.panel if panel else JudgePlan.single)(settings, judge_prompts(Task.RETENTION, prompts or ()))
    judges = [ChatJudge(asked) for asked in plan.asked()]
    asked = labelled_pairs()
    texts = [pair.texts for pair in asked]
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
    shown = [(name, _in_all_groups(verdicts, asked)) for name, verdicts in named]
    _show_quality(shown, as_json=as_json)
    for name, groups in shown:
        _say_failures(name, groups["all"].failures)
    if panel and len(judges) > 1:
        _say_agreement(*agreement(of_chat))
    _say_kept(plan)
    if all(verdict.changed is None for verdicts in of_chat for verdict in verdicts):
        raise typer.Exit(3)


def _in_all_groups(verdicts: Sequence[Verdict], pairs: Sequence[LabelledPair]) -> dict[str, Quality]:
    from deid_platform.evaluation.retention.judge_validation import in_groups

    found = in_groups(verdicts, pairs, lambda _: "all")
    found |= in_groups(verdicts, pairs, lambda pair: pair.split.value.replace("_", " "))
    found |= in_groups(verdicts, pairs, lambda pair: "hard" if pair.hard else "plain")
    return found | in_groups(verdicts, pairs, lambda pair: pair.language)


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


def _say_kept(plan: JudgePlan) -> None:
    if plan.at is None:
        say("without a key secret no answer is kept: the next run asks again")
