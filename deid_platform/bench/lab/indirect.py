"""How many released gold notes still have indirect identifiers: measured on request.

Belongs here: which notes are read, and which figures go to `quality`. Does not belong here: finding
(`llm/indirect/`), or how good the taggers are (`evaluation/scores/indirect_scores.py`, `benchmarks/indirect.py`).

Where the model fails on a note, the note counts among those in which nothing was found, and as a failure: a share by
the model is therefore too low by as much as `unanswered` at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deid_platform.bench.gate.gold_topics import sealed_topics
from deid_platform.bench.gate.held_out import look_at_bench
from deid_platform.bench.lab.attacker import shown_failures, some_released
from deid_platform.bench.lab.notes import of_share
from deid_platform.bench.lab.on_request import Measured
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import Resampling, column
from deid_platform.labels import Indirect
from deid_platform.llm.answered import Why
from deid_platform.llm.indirect.tagger import ChatTagger
from deid_platform.llm.prompted import Asking
from deid_platform.notes import IndirectMention, Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import LabScore

_FAMILY = "indirect"


@dataclass(frozen=True)
class Read:
    """Figures of indirect identifiers.

    Attributes:
        measured: What is recorded.
        model: The language model's name.
        failures: Why it found nothing in a note, and how often, small numbers hidden.
    """

    measured: Measured
    model: str
    failures: dict[str, str]


def measure_indirect(site: Site) -> Read:
    """Has the model of `[llm]`, or else of `[vllm]`, read released gold notes for indirect identifiers.

    Raises:
        DeidError: `llm-missing`, `endpoint-refused`, `not-materialized` without detections, `llm-silent` if the model
            answered of no note; what an engine and `ReleaseSpec.build` raise.
    """
    model = site.models.chat_model(Asking.of(site.settings).model)
    manifest = site.store.required(tables.DETECTIONS, tables.ALL)
    digest = manifest.meta["detector_digest"]
    look = look_at_bench(site, digest, Purpose.LABORATORY)
    topics = sealed_topics(site.store)
    notes = [replace(it.note, text=it.text) for it in some_released(site, topics)]
    resamples = site.settings.bench.resamples
    found = list(ChatTagger(model).tag(notes))
    failures = Counter(it.value for it in found if not isinstance(it, list))
    if failures and failures.total() == len(notes):
        raise DeidError(Code.LLM_SILENT, failures.most_common(1)[0][0])
    scores = list(_figures(notes, found, resamples))
    if notes:
        scores.append(LabScore(_FAMILY, "unanswered", failures.total() / len(notes), n=len(notes)))
    measured = Measured(manifest.meta["gold"], digest, site.policy.digest, {Inputs.TOPICS.value: scores}, look.number)
    return Read(measured, model.identity.name, shown_failures(failures))


def _figures(notes: Sequence[Note], found: Sequence[list[IndirectMention] | Why], resamples: int) -> Iterator[LabScore]:
    """The share of notes with a mention of any category, and of each."""
    categories = [({it.category for it in some} if isinstance(some, list) else set()) for some in found]
    rows = [[bool(some), *(category in some for category in Indirect), 1] for some in categories]
    table = np.array(rows, dtype=np.float64).reshape(-1, len(Indirect) + 2)
    resampled = Resampling(table, [note.patient_id for note in notes], resamples=resamples)
    for at, subject in enumerate(("ALL", *(f"indirect {category.value}" for category in Indirect))):
        yield of_share(_FAMILY, "notes_by_model", resampled.share(column(at), column(-1)), subject)
