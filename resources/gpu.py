"""The card, as Dagster hands it to the steps of one run: they ask it for every model that they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from deid_platform.detection.models.loading import Models

if TYPE_CHECKING:
    from deid_platform.training.presets import Preset
    from deid_platform.training.starting import Start


class Gpu(Models):
    """What loads the models of a run, counts the seconds in which they run, and frees them at its end.

    A step works on an installation that loads from here (`SiteResource.using`), or asks by itself: for a token
    classifier (`token_classifier`), a chat model (`chat_model`) or an encoder to train. Each is on a card or on the
    processor, as deid.toml says or as there is one. Steps that ask for it are in Dagster's pool `gpu`, so that no other
    run does too; those that ask a model behind an endpoint need not be.
    """

    def encoder(self, name: str | None, preset: Preset) -> Start:
        """What a training starts from; see `training.starting.start_of`. What it learns in is counted by `train`.

        Raises:
            DeidError: What `start_of` raises.
        """
        from deid_platform.training.starting import start_of

        return start_of(name, preset)


@contextmanager
def _held(_: dg.InitResourceContext) -> Iterator[Gpu]:
    with Gpu() as gpu:
        yield gpu


def gpu_resource() -> dg.ResourceDefinition:
    """The card; no run can configure it."""
    return dg.ResourceDefinition(_held, config_schema={})
