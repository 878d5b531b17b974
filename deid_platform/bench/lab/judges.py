"""Language models as judges of released gold notes, and how good they are: measured on request.

Belongs here: which pairs and notes are judged, and which figures go to `quality`. Does not belong here: what a judge is
asked (`evaluation/retention/chat_judge.py`, `evaluation/panel/chat_panel.py`), or any formula.

A figure by a judge says nothing without how good the judge is: whatever measures retention validates its judge on the
held-out pairs first, and a panel stands beside what spans say of the same identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deid_platform.bench.gate.gold_topics import sealed_topics
from deid_platform.bench.gate.held_out import look_at_bench
from deid_platform.bench.lab.attacker import shown_failures, some_released
from deid_platform.bench.lab.measures import of_quality
from deid_platform.bench.lab.release import ReleasedGold
from deid_platform.bench.leaderboard.readings_released import measure_of
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.panel import chat_panel
from deid_platform.evaluation.panel.judge_plan import JudgePlan, judge_prompts
from deid_platform.evaluation.retention.chat_judge import ChatJudge, majority
from deid_platform.evaluation.retention.judge_validation import Quality, quality, validate
from deid_platform.evaluation.retention.pairs import Split, labelled_pairs
from deid_platform.evaluation.retention.retention import Pair, note_retentions
from deid_platform.evaluation.retention.retention import retention as retention_of
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.llm.prompts import Task
from deid_platform.llm.questions import Asked
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.judges import JudgeRow, record_judge
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role


@dataclass(frozen=True)
class Judged:
    """Figures by a judge, and of it.

    Attributes:
        judge: Who judged.
        quality: How good it is: on the held-out pairs, or beside spans.
        measured: What is recorded.
        failures: Why there was no answer, and how often, small numbers hidden.
    """

    judge: JudgeRow
    quality: Quality
    measured: Sequence[tuple[MeasuredOn, Sequence[LabScore]]]
    failures: Mapping[str, str]


def record(site: Site, found: Judged) -> int:
    """Writes the judge and the figures down; earlier ones stay.

    Returns:
        How many figures there are.
    """
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    record_judge(gatekeeper, found.judge)
    return sum(record_lab_scores(gatekeeper, on, scores) for on, scores in found.measured)


def measure_pairs(site: Site, prompt: str) -> Judged:
    """Validates the judge that is the configured model with a prompt, on the labelled pairs that are held out.

    Raises:
        DeidError: `llm-missing`; `endpoint-refused`; `prompt-unknown`; `llm-silent` if it answered to no pair; what an
            engine raises.
    """
    return _validated(_asked(site, prompt))


def measure_retention(site: Site, prompt: str) -> Judged:
    """Validates the judge, and measures retention by it in gold notes as they would be released.

    Raises:
        DeidError: As `measure_pairs`; `not-materialized` without detections; what `ReleaseSpec.build` raises.
    """
    asked = _asked(site, prompt)
    validated = _validated(asked)
    released, on = _released(site, validated.judge.digest)
    judge = ChatJudge(asked)
    pairs = [Pair(it.note.text, it.text, it.note.patient_id) for it in released]
    found = retention_of(note_retentions(pairs, judge), judge.identity, resamples=site.settings.bench.resamples)
    if found.mean is None and found.unanswered:
        raise _silent(found.failures)
    asked_of = found.chunks - found.identical
    scores = [
        LabScore("retention", measure_of(judge), found.mean, found.low, found.high, found.notes),
        LabScore("retention", "unanswered", found.unanswered / asked_of if asked_of else None, n=asked_of),
    ]
    failures = {**validated.quality.failures}
    failures |= {why: failures.get(why, 0) + n for why, n in found.failures.items()}
    return Judged(validated.judge, validated.quality, [*validated.measured, (on, scores)], shown_failures(failures))


def measure_panel(site: Site, prompt: str) -> Judged:
    """Asks the panel of `[judges]` which identifiers gold notes as they would be released hide.

    Raises:
        DeidError: As `measure_retention`; `settings-invalid` where a judge would come twice.
    """
    members = list(JudgePlan.panel(site.settings, judge_prompts(Task.PANEL, [prompt])).asked(site.models))
    judge = JudgeRow(
        plain_digest("panel", *sorted(it.digest for it in members)),
        ", ".join(dict.fromkeys(it.model.identity.name for it in members)),
        members[0].prompt.name,
        members[0].prompt.digest,
    )
    released, on = _released(site, judge.digest)
    hidden = {label for label in Label if site.policy.hidden(label)}
    releases = [
        chat_panel.JudgedRelease.of(
            *(it.note.note_id, it.note.text, it.text), *(it.gold.gold, it.redaction.applied, hidden)
        )
        for it in released
    ]
    heard = [chat_panel.heard(chat_panel.hear(each, releases), releases) for each in members]
    failures: dict[str, int] = {}
    for each in heard:
        failures |= {why: failures.get(why, 0) + n for why, n in each.failures.items()}
    verdicts = [it.verdicts for it in heard]
    if failures and all(it.changed is None for some in verdicts for it in some):
        raise _silent(failures)
    by_spans = quality([left for _, left in chat_panel.entities_of(releases)], majority(verdicts))
    counts = chat_panel.voted(heard, releases).all
    scores = [
        LabScore("panel", "recall", counts.recall, n=counts.tp + counts.fn),
        LabScore("panel", "precision", counts.precision, n=counts.tp + counts.fp),
        LabScore("panel", "f1", counts.f1, n=counts.tp + counts.fp + counts.fn),
        *(it for it in of_quality("panel", by_spans) if it.measure in ("accuracy", "kappa")),
        _unanswered("panel", by_spans),
    ]
    return Judged(judge, by_spans, [(on, scores)], shown_failures(failures))


def _asked(site: Site, prompt: str) -> Asked:
    (asked,) = JudgePlan.single(site.settings, judge_prompts(Task.RETENTION, [prompt])).asked(site.models)
    return asked


def _validated(asked: Asked) -> Judged:
    judge, prompt = ChatJudge(asked), asked.prompt
    digest = judge.identity.digest.removeprefix("sha256:")
    found = validate(judge, labelled_pairs(Split.HELD_OUT))["all"]
    if found.unanswered == found.pairs:
        raise _silent(found.failures)
    on = MeasuredOn(f"judge-{prompt.name}", digest, "judged_pairs", Inputs.TEXT.value, judge=digest)
    scores = [*of_quality("judges", found), _unanswered("judges", found)]
    row = JudgeRow(digest, asked.model.identity.name, prompt.name, prompt.digest)
    return Judged(row, found, [(on, scores)], shown_failures(found.failures))


def _released(site: Site, judge: str) -> tuple[list[ReleasedGold], MeasuredOn]:
    """Some gold notes as they would be released, and what figures of them are of; a look at the gold."""
    manifest = site.store.required(tables.DETECTIONS, tables.ALL)
    digest = manifest.meta["detector_digest"]
    look = look_at_bench(site, digest, Purpose.LABORATORY)
    topics = sealed_topics(site.store)
    on = MeasuredOn(
        *(site.spec(None).name, digest, manifest.meta["gold"], Inputs.TOPICS.value),
        policy_digest=site.policy.digest,
        look=look.number,
        judge=judge,
    )
    return some_released(site, topics), on


def _unanswered(family: str, found: Quality) -> LabScore:
    return LabScore(family, "unanswered", found.unanswered / found.pairs if found.pairs else None, n=found.pairs)


def _silent(failures: Mapping[str, int]) -> DeidError:
    return DeidError(Code.LLM_SILENT, max(failures, key=lambda why: failures[why]))
