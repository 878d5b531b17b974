"""Surrogate corpora, one partition a corpus and a locale: their notes, what they are made of, the detector's scores."""

from __future__ import annotations

from dataclasses import astuple

import dagster as dg

from assets import shown
from assets.bench import GIVEN
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.bench import corpora
from deid_platform.bench.contributions import contributions as contributions_of
from deid_platform.bench.fairness import fairness as fairness_of
from deid_platform.corpora.catalogue import PUBLISHED
from deid_platform.evaluation.bootstrap import Estimate
from deid_platform.evaluation.scores import Scores, suppress
from deid_platform.evaluation.sources import Source
from deid_platform.refresh import tables
from deid_platform.reports.corpus_figures import corpus_figure
from deid_platform.reports.fairness_figure import fairness_figure
from deid_platform.reports.figures import scores_figure
from deid_platform.reports.scores import CONTRIBUTION_COLUMNS
from deid_platform.surrogates.locales import LOCALES
from resources import SiteResource

_SHOWN = 25
"""Rows of a table of sources; the store has all of them."""

CORPUS_BY_LOCALE = dg.MultiPartitionsDefinition(
    {
        "corpus": dg.StaticPartitionsDefinition(sorted(PUBLISHED)),
        "locale": dg.StaticPartitionsDefinition(list(LOCALES)),
    }
)


def _key(context: dg.AssetExecutionContext) -> corpora.CorpusKey:
    assert isinstance(context.partition_key, dg.MultiPartitionKey)  # noqa: S101 - by the partitions' definition
    by_name = context.partition_key.keys_by_dimension
    return corpora.CorpusKey(by_name["corpus"], by_name["locale"])


@layer_asset(
    "bench/surrogate_notes",
    owner=PRIVACY,
    kinds={"parquet"},
    partitions=CORPUS_BY_LOCALE,
    metadata=shown.columns(tables.SURROGATE_SCHEMA),
)
def surrogate_notes(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """Published notes with the identifiers of one locale: slots filled, and woven into notes that have none.

    The training part and the test part share no name, no way of writing and no carrier.
    """
    made = corpora.make(site.site, _key(context))
    notes = {f"notes_{part}": count for part, count in made.notes.items()}
    return shown.counts(sum(made.notes.values()), **notes, identifiers=made.identifiers, carriers_refused=made.refused)


@layer_asset(
    "bench/corpus_statistics", owner=PRIVACY, kinds={"table"}, partitions=CORPUS_BY_LOCALE, deps=[surrogate_notes]
)
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


@layer_asset(
    "bench/corpus_scores",
    owner=PRIVACY,
    kinds={"table"},
    partitions=CORPUS_BY_LOCALE,
    deps=[surrogate_notes],
    pool="gpu",
)
def corpus_scores(context: dg.AssetExecutionContext, site: SiteResource) -> Counts:
    """How well the configured detector does on the test part, with topics and on the text alone."""
    key = _key(context)
    found = corpora.scores(site.site, key)
    measures = ("precision", "recall", "f1", "leak_rate")
    text = found["text"]
    source = Source.of(key.corpus, "text")
    return shown.counts(
        text.notes,
        measured_on=Source.of(key.corpus, "topics", notes=suppress(text.notes)).both,
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


@layer_asset("bench/fairness", owner=PRIVACY, kinds={"table"}, deps=[corpus_scores])
def fairness(site: SiteResource) -> Counts:
    """Whether the detector serves every name alike: on the text alone, recall by locale, and of names by sex.

    Over the corpora that every scored locale has, so that only the names differ.
    """
    found = fairness_of(site.site)
    rows = [(name, *_shares(scores)) for name, scores in found.by_locale.items()]
    names = [(sex, *_of_names(it)) for sex, it in found.by_sex.items()]
    names += [(" ".join(group), *_of_names(it)) for group, it in found.by_both.items()]
    return shown.counts(
        sum(scores.notes for scores in found.by_locale.values()),
        corpora=", ".join(found.corpora),
        measured_on=str(_ON_TEXT),
        worst_locale_below_en_us=shown.share(found.locale_gap),
        difference_of_sexes=shown.share(found.sex_gap),
        scores=shown.table(("", "notes", "recall", "from", "to", "precision", "notes with a miss"), rows),
        names_by_sex=shown.table(("names of patients", "words", "recall", "from", "to"), names),
        picture=shown.picture(
            fairness_figure(found.by_both, f"text alone; {', '.join(found.corpora)}", str(_ON_TEXT)),
            "words of names missed by locale and sex",
        ),
    )


@layer_asset("bench/contributions", owner=PRIVACY, kinds={"table"}, deps=[surrogate_notes], pool="gpu")
def contributions(site: SiteResource) -> Counts:
    """What each recognizer, dictionary and model adds that no other does, and what recognizers cost, on the text alone.

    A rule that finds nothing alone, and hides medicine or takes time, does not earn its place.
    """
    found = contributions_of(site.site)
    idle = [row for row in found.rows if not row.right_alone]
    return shown.counts(
        found.notes,
        measured_on=str(_ON_TEXT),
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


_ON_TEXT = Source.of("published", "text")
BY_CORPUS = [surrogate_notes, corpus_statistics, corpus_scores]
ASSETS = [*BY_CORPUS, fairness, contributions]
