"""The installation that deid.toml describes, as Dagster hands it to assets."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import dagster as dg

from deid_platform.detection.models.loading import Models
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings


@lru_cache(maxsize=4)
def _site(config: str, _modified: float) -> Site:
    return Site(load_settings(config))


class SiteResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Feeds, note store, keys, detector and policy of one installation."""

    config: str
    """Path of deid.toml; the file itself never appears in a run's configuration."""

    @property
    def site(self) -> Site:
        """The installation as deid.toml describes it now; a changed file is read again."""
        return _site(self.config, Path(self.config).stat().st_mtime)

    def using(self, models: Models) -> Site:
        """The installation as it is now, whose models come from the resource `gpu` of a run."""
        return replace(self.site, models=models)
