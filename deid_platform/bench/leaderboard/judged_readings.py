"""What a language model of a paper says of what detectors release: of the medicine, and of identifiers.

Belongs here: which detectors' readings are judged, and recording what is said for the leaderboard. Does not belong
here: asking a judge (`evaluation/`), or judges of a site's own release (`bench/lab/judges.py`).

A judge that no paper has says nothing here: its figures would stand beside nobody's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from deid_platform.bench.gate.held_out import look
from deid_platform.bench.leaderboard.detectors import MeasuredDetector
from deid_platform.bench.leaderboard.leaderboard import NotesToScore
from deid_platform.bench.leaderboard.reading import Reading
from deid_platform.bench.leaderboard.readings_released import category_of, of_judge, released, spans_of
from deid_platform.evaluation.panel import chat_panel
from deid_platform.evaluation.panel.judge_plan import JudgePlan, judge_prompts
from deid_platform.evaluation.panel.panel import Counts
from deid_platform.evaluation.retention.chat_judge import ChatJudge
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.llm.known_models import known_model
from deid_platform.llm.prompts import Task
from deid_platform.llm.questions import Asked
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.judges import JudgeRow, record_judge
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role


def judge_medicine(site: Site, detectors: Iterable[MeasuredDetector], given: NotesToScore, prompt: str) -> int:
    """Retention of what detectors release of some notes, by the model of deid.toml.

    Of a prompt that asks yes or no it is CIRE (Aghakasiri 2025, tables 9, 11).

    Returns:
        How many figures were recorded; 0 for a model that no paper has as a judge.

    Raises:
        DeidError: `llm-missing`; `prompt-unknown`; what detectors, engines and the warehouse raise.
    """
    (asked,) = JudgePlan.single(site.settings, judge_prompts(Task.RETENTION, [prompt])).asked(site.models)
    known = known_model(asked.model.identity.name)
    if known is None:
        return 0
    judge = ChatJudge(asked)
    digest = judge.identity.digest.removeprefix("sha256:")
    recorded = 0
    for detector, reading in _read(detectors, given):
        scores = list(of_judge(released(given.notes, given.gold, reading), judge, known, site.settings.bench.resamples))
        recorded += _record(site, detector, given, scores, asked, digest)
    return recorded


def judge_identifiers(site: Site, detectors: Iterable[MeasuredDetector], given: NotesToScore, prompt: str) -> int:
    """F1 by category of what detectors release of some notes, by the panel of deid.toml (Miranda 2025, table 2).

    Returns:
        How many figures were recorded.

    Raises:
        DeidError: As `judge_medicine`.
    """
    panel = list(JudgePlan.panel(site.settings, judge_prompts(Task.PANEL, [prompt])).asked(site.models))
    digest = plain_digest("panel", *sorted(it.digest for it in panel))
    recorded = 0
    for detector, reading in _read(detectors, given):
        releases = list(_as_judged(given, reading))
        heard = [chat_panel.heard(chat_panel.hear(each, releases), releases) for each in panel]
        totals: defaultdict[str, Counts] = defaultdict(Counts)
        for label, counts in chat_panel.voted(heard, releases).labels.items():
            if (subject := category_of(label)) is not None:
                totals[subject] += counts
        scores = [
            LabScore("panel", "f1", it.f1, n=it.tp + it.fp + it.fn, subject=subject)
            for subject, it in totals.items()
            if it.f1 is not None
        ]
        recorded += _record(site, detector, given, scores, panel[0], digest)
    return recorded


def _as_judged(given: NotesToScore, reading: Reading) -> Iterator[chat_panel.JudgedRelease]:
    """A note and its release as a panel sees them; of every label of the four categories it is asked."""
    labels = {label for label in Label if category_of(label) is not None}
    hidden = {note.note_id: spans for note, spans in zip(given.notes, spans_of(reading), strict=True)}
    for it in released(given.notes, given.gold, reading):
        yield chat_panel.JudgedRelease.of(
            it.note.note_id, it.note.text, it.text, it.gold, hidden[it.note.note_id], labels
        )


def _read(detectors: Iterable[MeasuredDetector], given: NotesToScore) -> Iterator[tuple[MeasuredDetector, Reading]]:
    for detector in detectors:
        if detector.reads(given.language):
            yield from ((detector, it) for inputs, it in detector.read(given.notes, given.topics) if inputs == "text")


def _record(
    site: Site,
    detector: MeasuredDetector,
    given: NotesToScore,
    scores: Sequence[LabScore],
    asked: Asked,
    digest: str,
) -> int:
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    judge = JudgeRow(digest, asked.model.identity.name, asked.prompt.name, asked.prompt.digest)
    notes = ((note, gold, ()) for note, gold in zip(given.notes, given.gold, strict=True))
    of = {"gold": given.word, "locale": given.locale, "detector_digest": detector.digest}
    taken = look(site, notes, **of, purpose=Purpose.COMPARE)
    record_judge(gatekeeper, judge)
    on = MeasuredOn(detector.word, inputs=Inputs.TEXT.value, **of, look=taken.number, judge=digest)
    return record_lab_scores(gatekeeper, on, scores)
