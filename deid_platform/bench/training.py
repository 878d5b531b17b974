"""A model of the site's own, as deid.toml says.

Belongs here: training under an installation, on nothing that it measures on. Does not belong here: training itself
(`training/`), or the comparison of the new detector with the one in force (`in_force.py`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.training.plan import Plan, carried_out, text_digest

if TYPE_CHECKING:
    from deid_platform.training.starting import Starting


@dataclass(frozen=True)
class OwnModel:
    """What may be shown of a finished training.

    Attributes:
        card: What `model.json` says.
        digest: Of the model.
        losses: Steps, and the mean loss up to each.
    """

    card: dict[str, Any]
    digest: str
    losses: tuple[tuple[int, float], ...]


def train_own(site: Site, starting: Starting | None = None) -> OwnModel:
    """Trains as the section `[training]` says.

    Args:
        site: The installation.
        starting: Loads what it starts from; `training.starting.start_of` unless given.

    Raises:
        DeidError: What `carried_out` raises.
    """
    asked = site.settings.training
    plan = Plan(
        folder=site.settings.path(asked.folder),
        gold=tuple(map(site.settings.path, asked.gold)),
        scheme=asked.scheme,
        start=asked.start,
        epochs=asked.epochs,
        seed=asked.seed,
        preset=asked.preset,
    )
    done = carried_out(plan, site.settings, measured=measured_on(site), models=site.models, starting=starting)
    told = [json.loads(line) for line in done.losses.read_text(encoding="utf-8").splitlines()]
    return OwnModel(done.model.card, done.model.digest, tuple((it["step"], it["loss"]) for it in told))


def measured_on(site: Site) -> frozenset[str]:
    """Digests of the notes on which an installation measures its detector; none before its first refresh."""
    if not site.settings.home_path.is_dir() or site.store.manifest(tables.GOLD_NOTES, tables.ALL) is None:
        return frozenset()
    return frozenset(text_digest(row["text"]) for row in site.store.stream(tables.GOLD_NOTES, tables.ALL))
