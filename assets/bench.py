"""The bench: a stratified test set, its gold, the detector's spans in it, and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg

from assets import shown
from assets.layer import PRIVACY, Counts, layer_asset
from assets.source import raw_notes
from deid_platform.bench.gate import held_out, measured_notes, scoring
from deid_platform.bench.lab import attacker as lab_attacker
from deid_platform.bench.lab import indirect as lab_indirect
from deid_platform.bench.lab import measures, on_request
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, suppress
from deid_platform.evaluation.sources import Source
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.figures import sample_figure, scores_figure
from deid_platform.reports.summary import MEASURES
from deid_platform.warehouse.quality.lab import LabScore
from resources import Gpu, SiteResource

GIVEN = {"topics": "topics", "text": "text alone"}


@layer_asset(
    "bench/test_set",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[raw_notes],
    metadata=shown.columns(tables.SAMPLED_SCHEMA),
)
def test_set(site: SiteResource) -> Counts:
    """Notes to measure on, sampled by note type and period as in Murugadoss 2024.

    Within a group, distinct patients come first, then notes that name their own patient, by what the topics said when
    they arrived.
    """
    chosen = measured_notes.build_test_set(site.site)
    periods = sorted({group.period for group in chosen.groups})
    kinds: dict[str, dict[str, str]] = {}
    for group in chosen.groups:
        kinds.setdefault(group.note_type, {})[group.period] = f"{suppress(group.sampled)}/{suppress(group.population)}"
    return shown.counts(
        len(chosen.note_ids),
        share_naming_the_patient=shown.share(chosen.phi_share),
        sampled_of_population=shown.table(
            ("note type", *periods), ((kind, *map(found.get, periods)) for kind, found in sorted(kinds.items()))
        ),
        picture=shown.picture(sample_figure(chosen), "population against sample"),
    )


@layer_asset(
    "bench/gold_notes",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[test_set],
    metadata=shown.columns(tables.GOLD_SCHEMA),
)
def gold_notes(site: SiteResource) -> Counts:
    """Notes with gold: the site's own where it has some, else the synthetic hospital's; and those of the library."""
    library = measured_notes.collect_library(site.site)
    found = measured_notes.collect_gold(site.site)
    return shown.counts(
        found.notes,
        gold=f"{found.source.whose}, {found.source.hand}",
        library=f"{library.source.whose}, {library.source.hand}" if library else None,
        gold_spans=found.spans,
        notes_with_gold=shown.table(("feed", "notes"), sorted(found.by_feed.items())) if found.by_feed else None,
    )


@layer_asset(
    "bench/detections",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[gold_notes],
    pool="gpu",
    metadata=shown.columns(tables.DETECTION_SCHEMA),
)
def detections(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """What the configured detector finds in the gold notes, with topics and on text alone."""
    it = site.using(gpu)
    manifest, *_ = [scoring.run_detector(it, gold) for gold in scoring.sets(it)]
    source = Source.of_meta({**manifest.meta, "notes": manifest.rows // len(GIVEN)})
    return shown.counts(manifest.rows, gold=source.both, detector_digest=manifest.meta["detector_digest"])


@layer_asset("bench/metrics", owner=PRIVACY, kinds={"postgres"}, deps=[detections])
def metrics(site: SiteResource) -> Counts:
    """How well the detector does on the gold, word by word, with 95% bootstrap intervals; into quality.score.

    Recall is the share of the gold's words that are hidden, precision the share of hidden words that are gold.
    Looks at the gold are counted in the ledger; the same scores computed again are none. Shown are the scores that the
    gate judges by.
    """
    every = sorted((scoring.measure(site.site, it) for it in scoring.sets(site.site)), key=lambda it: it.source.rank)
    measured = every[0]
    scores = measured.by_inputs["topics"]
    looks = held_out.looks(site.site, measured.taken.held_out)
    return shown.counts(
        sum(scoring.record(site.site, it) for it in every),
        gold=measured.source.both,
        **measured.source.words,
        held_out_set=looks.name,
        looks=looks.looks,
        detectors_looked_with=looks.detectors,
        # Numbers by themselves, so that the UI plots them over time.
        precision_with_topics=shown.share(scores.precision.value),
        recall_with_topics=shown.share(scores.recall.value),
        f1_with_topics=shown.share(scores.f1.value),
        notes_with_a_miss_with_topics=shown.share(scores.leak_rate.value),
        scores=shown.table(
            ("detector was given", "measure", "value", "95% from", "to"),
            [(GIVEN[inputs], MEASURES[measure], *figures) for inputs, measure, *figures in measured.headline()],
        ),
        scores_by_label_with_topics=shown.table(("label", "recall", "precision"), measured.by_label()),
        beside=shown.table(
            ("measured on", "detector was given", "measure", "value", "95% from", "to"),
            [
                (it.source.whose, GIVEN[inputs], MEASURES[measure], *figures)
                for it in every[1:]
                for inputs, measure, *figures in it.headline()
            ],
        ),
        picture=shown.picture(
            scores_figure(scores, title="What the detector misses with topics, by label", source=str(measured.source)),
            "share of words missed and wrongly hidden, by label, with topics",
        ),
    )


@layer_asset("bench/lab", owner=PRIVACY, kinds={"postgres"}, deps=[detections])
def laboratory(site: SiteResource) -> Counts:
    """What the detector misses by risk, what an attacker makes of it, what of the medicine is left; quality.lab_score.

    Notes are redacted as the policy says; intervals are bootstraps over patients, of disclosure exact. Where gold,
    detections, policy and code have not changed, the figures are the last ones, and nothing is measured.
    """
    found = measures.measure(site.site)
    measures.record_judge(site.site)
    return shown.counts(
        measures.record(site.site, found),
        gold=gold_source(site.site, found.gold).both,
        notes=found.notes,
        withheld=suppress(found.withheld),
        measured="as before: nothing has changed" if found.spared else "now",
        figures=figures(found.scores),
    )


def figures(by_inputs: Mapping[str, Sequence[LabScore]]) -> dg.MarkdownMetadataValue:
    """Figures of the laboratory as a table, without those over few."""
    return shown.table(
        ("detector was given", "family", "of", "measure", "value", "95% from", "to"),
        [
            (GIVEN[inputs], it.family, it.subject, it.measure, it.value, it.low, it.high)
            for inputs, scores in by_inputs.items()
            for it in scores
            if it.n is None or it.n >= SMALLEST_SHOWN
        ],
    )


@layer_asset("bench/stability", owner=PRIVACY, kinds={"postgres"}, deps=[gold_notes], pool="gpu")
def stability(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """What recall and precision lose where the same notes come in another format; into quality.lab_score.

    Detects anew in `bench.on_request_notes` notes of the gold, in each of eight formats.
    """
    return _on_request(site.site, on_request.measure_stability(site.using(gpu)))


@layer_asset("bench/utility", owner=PRIVACY, kinds={"postgres"}, deps=[detections])
def utility(site: SiteResource) -> Counts:
    """A task learned from released notes beside the same from true ones: note type, and what it is about.

    The second where the gold says it, as the synthetic hospital's does; into quality.lab_score.
    """
    return _on_request(site.site, on_request.measure_utility(site.site))


@layer_asset("bench/cost", owner=PRIVACY, kinds={"postgres"}, deps=[gold_notes], pool="gpu")
def cost(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """Words a second, seconds a note and memory of the detector in one process of its own; into quality.lab_score.

    And the price of 10,000 notes, where `bench.price_per_hour` says that of a machine.
    """
    return _on_request(site.site, on_request.measure_cost(site.using(gpu)))


@layer_asset("bench/attacker", owner=PRIVACY, kinds={"postgres"}, deps=[detections], pool="gpu")
def attacker(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """What a language model learns of patients from released notes; into quality.lab_score.

    Whose note it is, what stood in a masked place, and sex, age, town and occupation, each among numbered choices;
    beside a guess, raw notes and the laboratory's linkage. In `bench.on_request_notes` notes of the gold.
    """
    found = lab_attacker.measure_attacker(site.using(gpu))
    return _on_request(site.site, found.measured, language_model=found.model, **found.failures)


@layer_asset("bench/indirect", owner=PRIVACY, kinds={"postgres"}, deps=[detections], pool="gpu")
def indirect(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """Released notes in which something tells who somebody is although it names nobody; into quality.lab_score.

    By nine categories, as a language model lists it; in `bench.on_request_notes` notes of the gold. No policy hides
    it.
    """
    found = lab_indirect.measure_indirect(site.using(gpu))
    return _on_request(site.site, found.measured, language_model=found.model, **found.failures)


def _on_request(site: Site, found: on_request.Measured, **more: str) -> Counts:
    table = figures(found.scores)
    return shown.counts(on_request.record(site, found), gold=gold_source(site, found.gold).both, figures=table, **more)


def gold_source(site: Site, gold: str) -> Source:
    """Where figures of the laboratory are from: the gold that the bench has sealed."""
    sealed = site.store.required(tables.GOLD_NOTES, tables.ALL).meta
    return Source.of_meta(sealed if sealed["gold"] == gold else {"gold": gold})


ON_REQUEST = [stability, utility, cost, attacker, indirect]
ASSETS = [test_set, gold_notes, detections, metrics, laboratory, *ON_REQUEST]
