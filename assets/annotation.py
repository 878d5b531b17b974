"""Annotation by people: how far the two annotators of the newest round agree."""

from __future__ import annotations

from assets import shown
from assets.bench import test_set
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.evaluation.scores.agreement import Kappa, SpanAgreement, agreement
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, suppress
from deid_platform.reports.agreement_figures import agreement_figure
from deid_platform.review.annotation.adjudication import newest_paired, paired
from resources import SiteResource

TITLES = ("label", "spans of A", "spans of B", "F1 exact", "F1 overlapping", "kappa", "95% from", "to")


@layer_asset("annotation/agreement", owner=PRIVACY, kinds={"table"}, deps=[test_set])
def annotation_agreement(site: SiteResource) -> Counts:
    """Agreement of two annotators: F1 of their spans, and Cohen's kappa over words with 95% bootstrap intervals.

    Not part of a refresh: materialize it when annotations have come back (docs/annotation.md).
    """
    standing = newest_paired(site.site)
    found = agreement(paired(standing))
    return shown.counts(
        found.notes,
        annotation_round=standing.number,
        words=found.words,
        kappa=shown.share(found.kappa.value),
        f1_exact=shown.share(found.spans.exact),
        f1_overlapping=shown.share(found.spans.overlapping),
        notes_by_standing=shown.table(
            ("", "notes"),
            [
                ("annotators agree", suppress(len(standing.agreed))),
                ("annotators differ", suppress(len(standing.disputed))),
                ("to be decided by the adjudicator", suppress(len(standing.undecided))),
                ("lack an annotator", suppress(len(standing.waiting))),
            ],
        ),
        agreement=shown.table(
            TITLES,
            [
                _row("all", found.spans, found.kappa),
                *(_row(label.value, by.spans, by.kappa) for label, by in found.labels.items()),
            ],
        ),
        disagreements=shown.table(
            ("kind", "places"),
            [(kind.value.replace("_", " "), suppress(count)) for kind, count in found.disagreements.items()],
        ),
        picture=shown.picture(agreement_figure(found), "Cohen's kappa over words, by label"),
    )


def _row(name: str, spans: SpanAgreement, kappa: Kappa) -> tuple[object, ...]:
    counts = (suppress(spans.one), suppress(spans.other))
    # From a share of few, the few could be counted.
    if min(spans.one, spans.other) < SMALLEST_SHOWN:
        return (name, *counts, None, None, None, None, None)
    return (name, *counts, spans.exact, spans.overlapping, kappa.value, kappa.low, kappa.high)


ASSETS = [annotation_agreement]
