"""The laboratory on the gate's gold: what the detector finds and leaves, and what of the medicine is left.

Belongs here: which notes, releasing them under the site's policy, and which figures go to `quality`. Does not belong
here: any formula (`evaluation/`).

Detection is measured on all gold notes, with topics and on the text alone. What an adversary sees and what is left of
the medicine is measured on the texts as they would be released, with topics; a note that the leak check withholds is
not among them, since nobody would see it.

It takes longer than the gate's own scores, and most deliveries change nothing of it: what was measured is sealed with a
digest of all that it hangs on, and stands as long as that is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

from deid_platform.bench.gate.consistency import current_detections
from deid_platform.bench.gate.gold_topics import sealed_topics
from deid_platform.bench.gate.held_out import look_at_bench
from deid_platform.bench.lab.detection import of_detection, of_site
from deid_platform.bench.lab.notes import gold_notes
from deid_platform.bench.lab.release import of_release, released_notes
from deid_platform.evaluation.retention.judge_validation import Quality, validate
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge, judge_digest
from deid_platform.evaluation.retention.pairs import Split, labelled_pairs
from deid_platform.keys import module_digest, package_digest
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role


@dataclass(frozen=True)
class Laboratory:
    """The figures of one gold.

    Attributes:
        gold: What was measured on.
        notes: Notes with gold.
        withheld: Of these, how many the leak check withholds with topics.
        scores: Inputs -> figures.
        look: The number of the look that they are of.
        measured_of: Digest of all that the figures hang on.
        spared: Whether they are those of the last time, since nothing of that has changed.
    """

    gold: str
    notes: int
    withheld: int
    scores: dict[str, list[LabScore]]
    look: int | None = None
    measured_of: str = ""
    spared: bool = False


_CODE = ("evaluation", "leakcheck", "lexicon", "text")
"""Packages that decide the figures; the policy's digest is of those by which it redacts."""
_MODULES = (
    *("deid_platform.labels", "deid_platform.deidentify.release_note"),
    *(f"{__package__}.{name}" for name in ("measures", "notes", "detection", "release")),
    "deid_platform.bench.leaderboard.paper_figures",
)
_JUDGE = "judge"
"""The partition that says which judge was measured."""


def measure(site: Site) -> Laboratory:
    """Measures the sealed detections on the sealed gold, unless nothing has changed since the last time.

    That is a look at the gold, which is counted first.

    Raises:
        DeidError: `not-materialized` without detections in today's gold; what `ReleaseSpec.build` raises;
            `held-out-refused`.
    """
    current_detections(site.store)
    measured_of = _measured_of(site)
    sealed = site.store.manifest(tables.LAB, tables.ALL)
    if sealed is None or sealed.meta.get("measured_of") != measured_of or "look" not in sealed.meta:
        return replace(_measured(site), measured_of=measured_of)
    meta = sealed.meta
    scores = {inputs: [LabScore(*row) for row in rows] for inputs, rows in meta["scores"].items()}
    return Laboratory(meta["gold"], meta["notes"], meta["withheld"], scores, meta["look"], measured_of, spared=True)


def _measured_of(site: Site) -> str:
    """A keyed digest of gold, topics and detections as they are sealed, policy, resamples and code."""
    names = (tables.GOLD_NOTES, tables.DETECTIONS, *tables.OWN.topics.values())
    sealed = [site.store.required(name, tables.ALL) for name in names]
    if sample := _sample(site):
        sealed.append(sample)
    return site.keyring.digest(
        "lab",
        *(json.dumps([[part.digest for part in it.parts], dict(it.meta)], sort_keys=True) for it in sealed),
        site.policy.digest,
        str(site.settings.bench.resamples),
        *(package_digest(f"deid_platform.{package}") for package in _CODE),
        module_digest(*_MODULES),
    )


def _sample(site: Site) -> Manifest | None:
    """The sample that gold is of, with its design; None if gold is not the site's, or earlier versions sealed it."""
    manifest = site.store.manifest(tables.TEST_SET, tables.ALL)
    gold = site.store.required(tables.DETECTIONS, tables.ALL).meta["gold"]
    return manifest if manifest is not None and gold == "site" and "strata" in manifest.meta else None


def _measured(site: Site) -> Laboratory:
    store = site.store
    manifest = store.required(tables.DETECTIONS, tables.ALL)
    look = look_at_bench(site, manifest.meta["detector_digest"], Purpose.LABORATORY)
    topics = sealed_topics(store)
    by_inputs = {inputs.value: list(gold_notes(site, inputs.value)) for inputs in Inputs}
    resamples = site.settings.bench.resamples
    scores = {inputs: list(of_detection(notes, topics, resamples)) for inputs, notes in by_inputs.items()}
    if sample := _sample(site):
        population = {(kind, period, named): notes for kind, period, named, notes in sample.meta["strata"]}
        strata = {
            f"{row['feed']}/{row['note_id']}": (row["note_type"], row["period"], row["names_patient"])
            for row in store.stream(tables.TEST_SET, tables.ALL)
        }
        for inputs, notes in by_inputs.items():
            scores[inputs] += of_site(notes, strata, population, resamples)
    notes = by_inputs["topics"]
    released = list(released_notes(site, notes, topics))
    scores["topics"] += of_release(released, topics, site.policy, resamples)
    return Laboratory(manifest.meta["gold"], len(notes), len(notes) - len(released), scores, look.number)


def record(site: Site, found: Laboratory) -> int:
    """Writes the figures to quality.lab_score, unless they stand there already.

    Returns:
        How many figures there are.
    """
    detector = site.store.required(tables.DETECTIONS, tables.ALL).meta["detector_digest"]
    meta = {
        "measured_of": found.measured_of,
        "look": found.look,
        "gold": found.gold,
        "notes": found.notes,
        "withheld": found.withheld,
        "detector_digest": detector,
        "policy_digest": site.policy.digest,
        "scores": {inputs: [list(astuple(it)) for it in some] for inputs, some in found.scores.items()},
    }
    if not found.spared:
        for inputs, some in found.scores.items():
            on = MeasuredOn(site.spec(None).name, detector, found.gold, inputs, site.policy.digest, look=found.look)
            record_lab_scores(site.warehouse.engine(Role.GATEKEEPER), on, some)
        site.store.write(tables.LAB, tables.ALL, [], meta=lambda: meta)
    return sum(map(len, found.scores.values()))


def record_judge(site: Site) -> int:
    """Measures the lexical judge on the labelled pairs that it was not tuned on, once for each version of it.

    Returns:
        How many figures were recorded now.
    """
    meta = {"judge": judge_digest(), "code": package_digest("deid_platform.evaluation")}
    sealed = site.store.manifest(tables.LAB, _JUDGE)
    if sealed is not None and sealed.meta == meta:
        return 0
    figures = list(of_quality("judges", validate(LexicalJudge(), labelled_pairs(Split.HELD_OUT))["all"]))
    on = MeasuredOn("lexical-judge", meta["judge"], "judged_pairs", Inputs.TEXT.value)
    record_lab_scores(site.warehouse.engine(Role.GATEKEEPER), on, figures)
    site.store.write(tables.LAB, _JUDGE, [], meta=lambda: meta)
    return len(figures)


def of_quality(family: str, found: Quality) -> Iterator[LabScore]:
    """How good a judge is, as figures."""
    called, changed = found.tp + found.fp, found.tp + found.fn
    pairs = changed + found.tn + found.fp
    for measure, share, n in (
        ("precision", found.precision, called),
        ("recall", found.recall, changed),
        ("accuracy", found.accuracy, pairs),
    ):
        yield LabScore(family, measure, share.value, share.low, share.high, n)
    yield LabScore(family, "kappa", found.kappa, n=pairs)
