"""Models: one of the site's own, trained on request."""

from __future__ import annotations

from assets import shown
from assets.layer import ENGINEERS, Counts, layer_asset
from deid_platform.refresh.training import train_own
from deid_platform.reports.training_figures import losses_figure
from resources import SiteResource


@layer_asset("models/trained", owner=ENGINEERS, kinds={"onnx", "phi"}, pool="gpu", alone=False)
def trained(site: SiteResource) -> Counts:
    """A token classifier, trained as `[training]` in deid.toml says; needs the extra `ml`.

    Not part of a refresh, and not used by one before `detection.models` names its folder and the gate has measured it
    (docs/model.md).
    """
    made = train_own(site.site)
    kept_back = made.card["kept_back"]
    return shown.counts(
        made.card["notes"],
        windows=made.card["windows"],
        model_digest=made.digest,
        notes_kept_back=kept_back["notes"],
        recall=shown.share(kept_back["recall"]),
        precision=shown.share(kept_back["precision"]),
        thresholds=shown.table(("label", "hidden from"), sorted(made.card["thresholds"].items())),
        picture=shown.picture(losses_figure(made.losses), "loss by step"),
    )


ASSETS = [trained]
