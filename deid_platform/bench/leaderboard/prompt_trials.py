"""Trials of prompts: each version of a prompt to the language model, and its scores on notes for tuning.

Belongs here: trying a prompt, and what is known of earlier trials. Does not belong here: tests, on which no prompt is
tried (`leaderboard.py`), or prompts (`llm/prompts`).

Whoever changes a prompt looks at scores and changes it again, so the notes are those that are kept for tuning: no test
has their carriers, names or ways, and no figure of a trial goes into the warehouse. A trial is known by the digests of
the detector (prompt, model, what reads its answers) and of the notes; trials of earlier versions stay beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deid_platform.bench.leaderboard.corpora import CorpusKey, notes_for_tuning
from deid_platform.bench.leaderboard.detectors import ChatDetector
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.labels import Label
from deid_platform.llm.prompts import Prompt
from deid_platform.notes import Span, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.lock import installation_lock
from deid_platform.refresh.installation.site import Site
from deid_platform.runtime.stopping import check

ON = {"en": CorpusKey("e3c_en", "en_US"), "it": CorpusKey("e3c_it", "it_IT")}
"""By language, what prompts in it are tried on: clinical cases of one collection."""
_PARTITION = "all"
_MEASURES = ("recall", "precision", "f1")


@dataclass(frozen=True)
class Trial:
    """What one version of a prompt scores.

    Attributes:
        prompt: Its name.
        version: As its file says.
        language: In which it is written.
        model: What the endpoint calls the model.
        digest: Of prompt, model and what reads its answers.
        on: Keyed, of the notes.
        notes: How many these are.
        failed: Those among them on which the model failed.
        recall: Of words, where all is missed on failed notes.
        precision: Likewise.
        f1: Likewise.
        recall_answered: Without the failed notes, as Murugadoss 2024 counts.
        precision_answered: Likewise.
        f1_answered: Likewise.
    """

    prompt: str
    version: int
    language: str
    model: str
    digest: str
    on: str
    notes: int
    failed: int
    recall: float | None
    precision: float | None
    f1: float | None
    recall_answered: float | None
    precision_answered: float | None
    f1_answered: float | None

    @property
    def key(self) -> tuple[str, str]:
        """By what it is known."""
        return self.digest, self.on


def tried(site: Site, asked: Prompt, most: int | None = None) -> Trial:
    """Tries a prompt on the first notes for tuning in its language; what was answered before is not asked again.

    Args:
        site: The installation.
        asked: The prompt.
        most: How many notes; as many as `bench.trial_notes` says unless given.

    Raises:
        DeidError: `llm-missing`, `corpus-missing`, `input-empty`; what `ChatDetector.read` raises.
    """
    detector = ChatDetector(site, asked)
    made = notes_for_tuning(site.settings, ON[asked.language], most=most or site.settings.bench.trial_notes)
    if not made:
        raise DeidError(Code.INPUT_EMPTY, ON[asked.language].partition)
    check()
    ((_, reading),) = detector.read([one.note for one in made], Topics())
    counts = [
        count_note(
            one.note.text, one.gold, [Span(it.start, it.end, min(it.labels, default=Label.IDNUM)) for it in hidden]
        )
        for one, hidden in zip(made, reading.hidden, strict=True)
    ]
    failed = reading.failed or frozenset()
    both = (
        summarise(counts, resamples=2),
        summarise([count for number, count in enumerate(counts) if number not in failed], resamples=2),
    )
    scores = (getattr(of, measure).value for of in both for measure in _MEASURES)
    parts = (part for one in made for part in (one.note.text, *(f"{it.start} {it.end}" for it in one.gold)))
    trial = Trial(
        *(asked.name, asked.version, asked.language, detector.model, detector.digest),
        *(site.keyring.digest("tuning notes", *parts), len(made), len(failed)),
        *scores,
    )
    # Nothing else writes to the note store meanwhile; trying, which takes long, holds up nobody.
    with installation_lock(site.settings.home_path, wait=True):
        kept = [it for it in trials(site) if it.key != trial.key]
        meta = {"trials": [asdict(it) for it in (*kept, trial)]}
        site.store.write(tables.PROMPT_TRIALS, _PARTITION, [], meta=lambda: meta)
    return trial


def trials(site: Site) -> list[Trial]:
    """All trials that are known, by language, prompt, model and version."""
    manifest = site.store.manifest(tables.PROMPT_TRIALS, _PARTITION)
    found: list[Any] = [] if manifest is None else manifest.meta["trials"]
    return sorted(
        (Trial(**it) for it in found),
        key=lambda it: (it.language, it.prompt, it.model, it.version, it.notes, it.digest),
    )


COLUMNS = (
    *("prompt", "version", "language", "model", "notes", "failed", "recall", "precision", "F1"),
    *("recall without failed", "precision without failed", "F1 without failed", "digest"),
)


def trial_rows(found: Sequence[Trial]) -> Iterator[tuple[str | int | float | None, ...]]:
    """The rows under `COLUMNS`."""
    for it in found:
        yield (
            *(it.prompt, it.version, it.language, it.model, it.notes, it.failed, it.recall, it.precision, it.f1),
            *(it.recall_answered, it.precision_answered, it.f1_answered, it.digest[:8]),
        )
