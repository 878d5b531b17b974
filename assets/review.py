"""Review by people: what clinicians say of what was removed although no gold marks it."""

from __future__ import annotations

from typing import Any

from assets import shown
from assets.bench import detections
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, suppress
from deid_platform.evaluation.sources import Source
from deid_platform.labels import Label
from deid_platform.review import scores
from deid_platform.review.sources import READ
from resources import SiteResource

TITLES = ("of", "measure", "value", "95% from", "to", "counted")


@layer_asset("review/removals", owner=PRIVACY, kinds={"postgres"}, deps=[detections])
def review_removals(site: SiteResource) -> Counts:
    """Shares of wrong removals by category and severity, as tables 14 and 3 of Aghakasiri 2025; quality.lab_score.

    Of the newest round of which anything is settled, and of a delivery's notes without gold the share that was right
    (docs/review.md), with 95% bootstrap intervals over patients, and how far the two readers agree. Not part of a
    refresh: materialize it when people have decided.
    """
    every: dict[str, Any] = {}
    rows = 0
    for found in scores.newest(site.site):
        recorded = scores.record(site.site, found)
        rows += len(found.scores)
        suffix = "_without_gold" if found.drawn_with.gold == READ else ""
        every |= {
            f"{name}{suffix}": value for name, value in _shown(found, recorded, scores.source(site.site, found)).items()
        }
    return shown.counts(rows, **every)


def _shown(found: scores.Reviewed, recorded: int, source: Source) -> dict[str, Any]:
    standing = found.report.standing
    return {
        "review_round": found.number,
        "gold": str(source),
        "recorded": "now" if recorded else "before: nothing has changed",
        "removals_by_standing": shown.table(
            ("", "removals"),
            [
                ("drawn", suppress(found.drawn)),
                ("settled", suppress(len(standing.settled))),
                ("to be decided by the adjudicator", suppress(len(standing.undecided))),
                ("lack a reader", suppress(len(standing.waiting))),
            ],
        ),
        "removals": shown.table(
            TITLES,
            [
                (it.subject, it.measure.replace("_", " "), it.value, it.low, it.high, it.n)
                for it in found.scores
                if it.n is not None and it.n >= SMALLEST_SHOWN and not (it.value == 0 and it.subject in tuple(Label))
            ],
        ),
    }


ASSETS = [review_removals]
