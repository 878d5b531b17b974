"""Surrogate corpora, one partition a corpus and a locale: their notes, what they are made of, the detector's spans and
scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from functools import partial

import dagster as dg

from assets import shown
from assets.bench import GIVEN
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.bench.leaderboard import corpora
from deid_platform.bench.leaderboard import corpus_scores as corpus_scoring
from deid_platform.bench.leaderboard.contributions import contributions as contributions_of
from deid_platform.bench.leaderboard.fairness import REFERENCE
from deid_platform.bench.leaderboard.fairness import fairness as fairness_of
from deid_platform.corpora.catalogue import gold_word, known_corpora
from deid_platform.corpora.gold_words import OWN
from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.evaluation.scores.scores import Scores, suppress
from deid_platform.evaluation.sources import Source
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.corpus_figures import corpus_figure
from deid_platform.reports.fairness_figure import fairness_figure
from deid_platform.reports.figures import scores_figure
from deid_platform.reports.scores import CONTRIBUTION_COLUMNS
from deid_platform.settings import Settings
from deid_platform.surrogates.locales import LOCALES
from resources import Gpu, SiteResource

_SHOWN = 25
"""Rows of a table of sources; the store has all of them."""

NOTES, STATISTICS = tables.SURROGATE_NOTES, "bench/corpus_statistics"
DETECTIONS, SCORES = tables.CORPUS_DETECTIONS, "bench/corpus_scores"
BY_CORPUS = (NOTES, STATISTICS, DETECTIONS, SCORES)


def _at(key: str) -> dg.AssetKey:
    return dg.AssetKey(key.split("/"))


def _key(context: dg.AssetExecutionContext) -> corpora.CorpusKey:
    assert isinstance(context.partition_key, dg.MultiPartitionKey)  # noqa: S101 - by the partitions' definition
    by_name = context.partition_key.keys_by_dimension
    return corpora.CorpusKey(by_name["corpus"], by_name["locale"])


def surrogate_notes(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Notes of a corpus with the identifiers of one locale: slots filled, and woven into notes that have none.

    The corpora are published ones, the library and the synthetic hospital, which ship, and the site's own.

    The training part and the test part share no name, no way of writing and no carrier.
    """
    made = corpora.make(site.site, _key(context))
    notes = {f"notes_{part}": count for part, count in made.notes.items()}
    return shown.counts(sum(made.notes.values()), **notes, identifiers=made.identifiers, carriers_refused=made.refused)


def corpus_statistics(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Notes, words, identifiers by label, and how many names are on no list of detection's."""
    key = _key(context)
    found = corpora.statistics(site.site, key)
    rows = zip(*(it.rows() for it in found.values()), strict=True)
    return shown.counts(
        sum(it.notes for it in found.values()),
        statistics=shown.table(("", *found), ((row[0][0], *(value for _, value in row)) for row in rows)),
        picture=shown.picture(
            corpus_figure({str(part): it for part, it in found.items()}, f"{key.corpus}, {key.locale}"),
            "identifiers by label, training and test part",
        ),
    )


def corpus_detections(context: dg.AssetExecutionContext, site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """What the configured detector finds in the test part, with topics and on the text alone."""
    it = site.using(gpu)
    return shown.counts(corpus_scoring.detect(it, _key(context)), detector_digest=it.spec(None).detector_digest)


def corpus_scores(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """How good what was found is, word by word, with topics and on the text alone."""
    key = _key(context)
    found = corpus_scoring.scores(site.site, key)
    word, _ = key.gold(site.site.settings)
    measures = ("precision", "recall", "f1", "leak_rate")
    text = found["text"]
    source = Source.of(word, "text")
    return shown.counts(
        text.notes,
        measured_on=Source.of(word, "topics", notes=suppress(text.notes)).both,
        recall_text=shown.share(text.recall.value),
        recall_with_topics=shown.share(found["topics"].recall.value),
        precision_text=shown.share(text.precision.value),
        scores=shown.table(
            ("detector was given", *measures),
            ((GIVEN[inputs], *(getattr(it, measure).value for measure in measures)) for inputs, it in found.items()),
        ),
        picture=shown.picture(
            scores_figure(text, title=f"Missed in {key.corpus}, {key.locale}, text alone", source=str(source)),
            "share of words missed and wrongly hidden, by label, on the text alone",
        ),
    )


def corpus_assets(settings: Settings) -> list[dg.AssetsDefinition]:
    """The assets that have a partition for each corpus that an installation can fill, in each locale."""
    by_locale = dg.MultiPartitionsDefinition(
        {
            "corpus": dg.StaticPartitionsDefinition(corpora.corpora_to_fill(settings)),
            "locale": dg.StaticPartitionsDefinition(list(LOCALES)),
        }
    )
    of = partial(layer_asset, owner=PRIVACY, partitions=by_locale)
    spans = tables.CORPUS_DETECTION_SCHEMA
    return [
        of(NOTES, kinds={"parquet"}, metadata=shown.columns(tables.SURROGATE_SCHEMA))(surrogate_notes),
        of(STATISTICS, kinds={"table"}, deps=[_at(NOTES)])(corpus_statistics),
        of(DETECTIONS, kinds={"parquet"}, deps=[_at(NOTES)], pool="gpu", metadata=shown.columns(spans))(
            corpus_detections
        ),
        of(SCORES, kinds={"table"}, deps=[_at(DETECTIONS)])(corpus_scores),
    ]


@layer_asset("bench/fairness", owner=PRIVACY, kinds={"table"}, deps=[_at(SCORES)])
def fairness(site: SiteResource) -> Counts:
    """Whether the detector serves every name alike: on the text alone, recall by locale, and of names by sex.

    Over the corpora that every scored locale has, so that only the names differ.
    """
    found = fairness_of(site.site)
    measured_on = _measured_on(site.site, found.corpora)
    rows = [(name, *_shares(scores)) for name, scores in found.by_locale.items()]
    names = [(sex, *_of_names(it)) for sex, it in found.by_sex.items()]
    names += [(" ".join(group), *_of_names(it)) for group, it in found.by_both.items()]
    return shown.counts(
        sum(scores.notes for scores in found.by_locale.values()),
        corpora=", ".join(found.corpora),
        measured_on=measured_on,
        worst_locale_below_en_us=shown.share(found.locale_gap),
        difference_of_sexes=shown.share(found.sex_gap),
        scores=shown.table(("", "notes", "recall", "from", "to", "precision", "notes with a miss"), rows),
        names_by_sex=shown.table(("names of patients", "words", "recall", "from", "to"), names),
        picture=shown.picture(
            fairness_figure(found.by_both, f"text alone; {', '.join(found.corpora)}", measured_on),
            "words of names missed by locale and sex",
        ),
    )


@layer_asset("bench/contributions", owner=PRIVACY, kinds={"table"}, deps=[_at(NOTES)], pool="gpu")
def contributions(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """What each recognizer, dictionary and model adds that no other does, and what recognizers cost, on the text alone.

    A rule that finds nothing alone, and hides medicine or takes time, does not earn its place.
    """
    found = contributions_of(site.using(gpu))
    idle = [row for row in found.rows if not row.right_alone]
    return shown.counts(
        found.notes,
        measured_on=_measured_on(site.site, found.corpora),
        sources=len(found.rows),
        sources_that_add_nothing=len(idle),
        seconds_of_those=round(sum(row.seconds for row in idle), 3),
        most_added=shown.table(CONTRIBUTION_COLUMNS, map(astuple, found.rows[:_SHOWN])),
        nothing_added_most_wrong=shown.table(
            CONTRIBUTION_COLUMNS, map(astuple, sorted(idle, key=lambda row: (-row.wrong_alone, -row.seconds))[:_SHOWN])
        ),
    )


def _shares(scores: Scores) -> tuple[object, ...]:
    recall = scores.recall
    return scores.notes, recall.value, recall.low, recall.high, scores.precision.value, scores.leak_rate.value


def _of_names(recall: Estimate) -> tuple[object, ...]:
    return recall.total, recall.value, recall.low, recall.high


def _measured_on(site: Site, names: Iterable[str]) -> str:
    """On whose notes, for people, where detectors read the text alone."""
    known = known_corpora(site.settings)
    # What is no longer known was one of deid.toml.
    words = (gold_word(known[name], REFERENCE, site.settings) if name in known else f"{OWN}{name}" for name in names)
    return "; ".join(dict.fromkeys(str(Source.of(word, "text")) for word in words))


ASSETS = [fairness, contributions]
