"""Models: one of the site's own, and those of experiments, trained on request."""

from __future__ import annotations

import dagster as dg

from assets import corpora, shown
from assets.layer import ENGINEERS, Counts, layer_asset
from deid_platform.bench.leaderboard.experiments import experiment
from deid_platform.bench.leaderboard.training import train_own
from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.reports.experiment_figure import experiment_figure
from deid_platform.reports.training_figures import losses_figure
from deid_platform.training.experiments import CROSS_FORMAT, LEARNING_CURVE, LEAVE_ONE_OUT, ONE_LOCALE
from resources import Gpu, SiteResource


@layer_asset(
    "models/trained",
    owner=ENGINEERS,
    kinds={"onnx", "phi"},
    deps=[dg.AssetKey(corpora.NOTES.split("/"))],
    pool="gpu",
    alone=False,
)
def trained(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
    """A token classifier, trained as `[training]` in deid.toml says; needs the extra `ml`.

    On gold of the site's own, and on the training parts of the surrogate corpora that `training.corpora` names.

    Not part of a refresh, and not used by one before `detection.models` names its folder and the gate has measured it
    (docs/model.md).
    """
    made = train_own(site.using(gpu), gpu.encoder)
    kept_back = made.card["kept_back"]
    return shown.counts(
        made.card["notes"],
        windows=made.card["windows"],
        model_digest=made.digest,
        notes_kept_back=kept_back["notes"],
        recall=shown.share(kept_back["recall"]),
        precision=shown.share(kept_back["precision"]),
        thresholds=shown.table(("label", "hidden from"), made.thresholds),
        picture=shown.picture(losses_figure(made.losses), "loss by step"),
    )


def _experiment(name: str, about: str) -> dg.AssetsDefinition:
    @layer_asset(f"models/{name}", owner=ENGINEERS, kinds={"onnx"}, pool="gpu", description=about, alone=False)
    def asset(context: dg.AssetExecutionContext, site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
        found = experiment(site.using(gpu), name, starting=gpu.encoder, told=context.log.info)
        rows = [(f"{it.arm} on {it.test}", it.scores) for it in found]
        return shown.counts(
            sum(it.scores.notes for it in found),
            scores=shown.table(
                ("model", "trained on notes", "measured on", "recall", "from", "to", "precision"),
                (
                    (it.arm, it.trained_on, it.test, *_interval(it.scores.recall), it.scores.precision.value)
                    for it in found
                ),
            ),
            picture=shown.picture(experiment_figure(rows, name.replace("_", " ")), "share of words missed"),
        )

    return asset


def _interval(share: Estimate) -> tuple[float | None, float | None, float | None]:
    return share.value, share.low, share.high


EXPERIMENTS = [
    _experiment(LEAVE_ONE_OUT, "Recall of a locale's names by a model that has seen them, and by one that has not."),
    _experiment(ONE_LOCALE, "Trained on American names alone, measured on the names of every locale."),
    _experiment(CROSS_FORMAT, "Trained on the synthetic hospital, measured on transcribed reports, and the reverse."),
    _experiment(LEARNING_CURVE, "What more notes to train on are worth."),
]
ASSETS = [trained, *EXPERIMENTS]
