"""A model of the site's own, as deid.toml says.

Belongs here: training under an installation, on nothing that it measures on. Does not belong here: training itself
(`training/`), or the comparison of the new detector with the one in force (`refresh/staging/detector_in_force.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from deid_platform.bench.leaderboard.corpora import CorpusKey, sealed
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import SCHEME, Gold
from deid_platform.corpora.injection.corpus import Part
from deid_platform.errors import Code, DeidError
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
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

    @property
    def thresholds(self) -> list[tuple[str, float]]:
        """Labels and the probability from which their words are hidden; none where the likeliest class decides."""
        least = self.card["thresholds"]
        return [] if isinstance(least, str) else sorted(least.items())


def train_own(site: Site, starting: Starting | None = None) -> OwnModel:
    """Trains as the section `[training]` says.

    Args:
        site: The installation.
        starting: Loads what it starts from; `training.starting.start_of` unless given.

    Raises:
        DeidError: `not-materialized` if a surrogate corpus is not made; `settings-invalid` if gold beside one has other
            label names; what `carried_out` raises.
    """
    asked = site.settings.training
    if asked.corpora and asked.scheme not in (None, SCHEME):
        raise DeidError(Code.SETTINGS_INVALID, "training.scheme")
    with training_parts(site, asked.corpora) as filled:
        plan = Plan(
            folder=site.settings.path(asked.folder),
            gold=(*map(site.settings.path, asked.gold), *filled),
            scheme=asked.scheme,
            start=asked.start,
            epochs=asked.epochs,
            seed=asked.seed,
            preset=asked.preset,
        )
        done = carried_out(plan, site.settings, measured=measured_on(site), models=site.models, starting=starting)
    told = [json.loads(line) for line in done.losses.read_text(encoding="utf-8").splitlines()]
    return OwnModel(done.model.card, done.model.digest, tuple((it["step"], it["loss"]) for it in told))


@contextmanager
def training_parts(site: Site, partitions: Sequence[str]) -> Iterator[list[Path]]:
    """The training parts of surrogate corpora as files of gold, while they are needed.

    Raises:
        DeidError: `not-materialized` if one is not made.
    """
    if not partitions:
        yield []
        return
    with TemporaryDirectory(dir=site.settings.home_path) as folder:
        files = []
        for name in partitions:
            files.append(Path(folder, f"{name}.jsonl"))
            site.store.required(tables.SURROGATE_NOTES, name)
            part = sealed(site, CorpusKey.of(name), Part.TRAINING)
            golds = (Gold(note.note_id, spans, note=note) for note, spans, _ in part)
            gold_format("jsonl").write(golds, files[-1])
        yield files


def measured_on(site: Site) -> frozenset[str]:
    """Digests of the notes on which an installation measures its detector; none before its first refresh."""
    if not site.settings.home_path.is_dir() or site.store.manifest(tables.GOLD_NOTES, tables.ALL) is None:
        return frozenset()
    return frozenset(text_digest(row["text"]) for row in site.store.stream(tables.GOLD_NOTES, tables.ALL))
