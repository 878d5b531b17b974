"""What a language model learns of patients from gold notes as they would be released: measured on request.

Belongs here: which notes are attacked, and which figures go to `quality`. Does not belong here: the attack
(`evaluation/disclosure/attacker/`).

A prompt holds a released note and what the topics know of some patients, so it goes only where notes may go
(`settings/address.py`). Answers are counted and dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deid_platform.bench.gate.gold_topics import sealed_topics
from deid_platform.bench.gate.held_out import look_at_bench
from deid_platform.bench.lab.notes import gold_notes, of_ratio, of_share
from deid_platform.bench.lab.on_request import Measured
from deid_platform.bench.lab.release import ReleasedGold, released_notes
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.disclosure.attacker.attack import Success, attack
from deid_platform.evaluation.disclosure.attacker.questions import Aim, Target
from deid_platform.evaluation.scores.scores import suppress
from deid_platform.keys import plain_digest
from deid_platform.llm.prompted import Asking
from deid_platform.notes import Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import LabScore

_FAMILY = "attacker"


@dataclass(frozen=True)
class Attacked:
    """Figures of an attack.

    Attributes:
        measured: What is recorded.
        model: The attacker's name.
        failures: Why there was no answer, and how often, small numbers hidden.
    """

    measured: Measured
    model: str
    failures: dict[str, str]


def measure_attacker(site: Site) -> Attacked:
    """Attacks released gold notes of the site's policy, and the same notes raw to see what the model can do.

    Raises:
        DeidError: `llm-missing`, `endpoint-refused`, `not-materialized` without detections, `llm-silent` if no question
            was answered; what an engine and `ReleaseSpec.build` raise.
    """
    model = site.models.chat_model(Asking.of(site.settings).model)
    manifest = site.store.required(tables.DETECTIONS, tables.ALL)
    digest = manifest.meta["detector_digest"]
    look = look_at_bench(site, digest, Purpose.LABORATORY)
    topics = sealed_topics(site.store)
    released = some_released(site, topics)
    resamples = site.settings.bench.resamples
    found = attack(model, [released_target(it) for it in released], topics, resamples=resamples)
    raw = attack(model, [raw_target(it) for it in released], topics, aims=[Aim.WHOSE], resamples=resamples)
    failures = answered((*found.values(), *raw.values()))
    scores = [*figures(found), *_of_raw(raw[Aim.WHOSE])]
    measured = Measured(manifest.meta["gold"], digest, site.policy.digest, {Inputs.TOPICS.value: scores}, look.number)
    return Attacked(measured, model.identity.name, shown_failures(failures))


def some_released(site: Site, topics: Topics) -> list[ReleasedGold]:
    """So many of the gold notes as may be read anew, always the same, as they would be released."""
    notes = sorted(gold_notes(site, Inputs.TOPICS.value), key=lambda it: plain_digest(it.note.note_id))
    return list(released_notes(site, notes[: site.settings.bench.on_request_notes], topics))


def shown_failures(failures: Mapping[str, int]) -> dict[str, str]:
    """Why there was no answer, and how often, as metadata: small numbers hidden."""
    return {f"unanswered_{why}".replace("-", "_"): suppress(count) for why, count in sorted(failures.items())}


def released_target(it: ReleasedGold) -> Target:
    """A gold note as it would be released."""
    return Target(it.note, it.text, it.redaction.applied, it.redaction.replacements, it.gold.gold)


def raw_target(it: ReleasedGold) -> Target:
    """The same note as it was written."""
    return Target(it.note, it.note.text, gold=it.gold.gold)


def answered(found: Sequence[Success]) -> Counter[str]:
    """Why there was no answer, and how often.

    Raises:
        DeidError: `llm-silent` if questions were asked and none was answered.
    """
    failures: Counter[str] = Counter()
    for it in found:
        failures.update({why.value: count for why, count in it.failures.items()})
    if failures and failures.total() == sum(it.right.total for it in found):
        raise DeidError(Code.LLM_SILENT, failures.most_common(1)[0][0])
    return failures


def figures(found: dict[Aim, Success]) -> Iterator[LabScore]:
    """The figures of each aim that was asked about."""
    for aim, it in found.items():
        n, subject = it.right.total, f"attack {aim.value}"
        if it.chance is None:
            continue
        yield of_share(_FAMILY, "right", it.right, subject)
        yield LabScore(_FAMILY, "chance", it.chance, n=n, subject=subject)
        yield LabScore(_FAMILY, "unanswered", it.failed / n, n=n, subject=subject)
        if it.linked is not None:
            linked = of_ratio(_FAMILY, "right_by_linkage", it.linked)
            yield LabScore(_FAMILY, linked.measure, linked.value, linked.low, linked.high, linked.n, subject)


def _of_raw(it: Success) -> Iterator[LabScore]:
    if it.chance is not None:
        yield of_share(_FAMILY, "right_raw", it.right, f"attack {Aim.WHOSE.value}")
