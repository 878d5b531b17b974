"""The bench: a stratified test set, its gold, what the detector finds in it, and how good that is."""

from __future__ import annotations

from assets import shown
from assets.dictionaries import medical
from assets.layer import PRIVACY, Counts, layer_asset
from assets.source import raw_notes
from deid_platform.evaluation.scores import suppress
from deid_platform.refresh import bench, tables
from deid_platform.reports.figures import sample_figure, scores_figure
from deid_platform.reports.summary import MEASURES
from resources import SiteResource


@layer_asset(
    "bench/test_set",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[raw_notes],
    metadata=shown.columns(tables.TEST_SET_SCHEMA),
)
def test_set(site: SiteResource) -> Counts:
    """Notes sampled by note type and period after Murugadoss 2024: distinct patients first, then notes with PHI."""
    chosen = bench.build_test_set(site.site)
    rows = [(g.note_type, g.period, suppress(g.population), suppress(g.sampled)) for g in chosen.groups]
    return shown.counts(
        len(chosen.note_ids),
        phi_share=chosen.phi_share,
        groups=shown.table(("note type", "period", "population", "sampled"), rows),
        population_against_sample=shown.picture(sample_figure(chosen), "population against sample"),
    )


@layer_asset(
    "bench/surrogate_notes",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[test_set],
    metadata=shown.columns(tables.SURROGATE_SCHEMA, {"gold": "planted or annotated, never detected"}),
)
def surrogate_notes(site: SiteResource) -> Counts:
    """Notes whose identifiers are known: the site's own gold where it has some, else the synthetic hospital's."""
    found = bench.collect_gold(site.site)
    return shown.counts(found.notes, gold=found.name, gold_spans=found.spans, gold_by_feed=found.by_feed)


@layer_asset(
    "bench/detections",
    owner=PRIVACY,
    kinds={"parquet", "phi"},
    deps=[surrogate_notes, medical],
    pool="gpu",
    metadata=shown.columns(tables.DETECTION_SCHEMA),
)
def detections(site: SiteResource) -> Counts:
    """What the configured detector finds in the gold notes, with topics and on text alone."""
    manifest = bench.run_detector(site.site)
    return shown.counts(manifest.rows, gold=manifest.meta["gold"], detector_digest=manifest.meta["detector_digest"])


@layer_asset("bench/metrics", owner=PRIVACY, kinds={"postgres"}, deps=[detections])
def metrics(site: SiteResource) -> Counts:
    """Word-level precision, recall and F1 with 95% bootstrap intervals, by label, into quality.score."""
    measured = bench.measure(site.site)
    scores = measured.by_inputs["topics"]
    return shown.counts(
        bench.record(site.site, measured),
        gold=measured.gold,
        # Numbers by themselves, so that the UI plots them over time.
        precision=scores.precision.value,
        recall=scores.recall.value,
        f1=scores.f1.value,
        notes_with_a_missed_identifier=scores.leak_rate.value,
        scores=shown.table(
            ("detector was given", "measure", "value", "low", "high"),
            [(inputs, MEASURES[measure], *figures) for inputs, measure, *figures in measured.headline()],
        ),
        scores_by_label=shown.table(("label", "recall", "precision"), measured.by_label()),
        missed_by_label=shown.picture(
            scores_figure(scores, title=f"What the detector misses with topics, by label; gold: {measured.gold}"),
            "share of words missed and wrongly hidden, by label, with topics",
        ),
    )


ASSETS = [test_set, surrogate_notes, detections, metrics]
