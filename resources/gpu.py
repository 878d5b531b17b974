"""The card, as Dagster hands it to the steps of one run: a language model is loaded once, and freed at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from deid_platform.errors import Code, DeidError
from deid_platform.llm.api import ChatModel
from deid_platform.llm.engines import ENGINES
from deid_platform.refresh.site import Site
from deid_platform.settings import load_settings


class Gpu:
    """What a run holds of the card. Steps that ask for it are in Dagster's pool `gpu`, so that no other run does too.

    Args:
        config: Path of deid.toml.
    """

    def __init__(self, config: str) -> None:
        self._config = config

    def chat_model(self) -> ChatModel:
        """The language model of `[vllm]`, loaded when the first step of a run asks for it.

        Raises:
            DeidError: `settings-invalid` if deid.toml has no such section; what an engine raises as it starts.
        """
        spec = Site(load_settings(Path(self._config))).chat_engine
        if spec is None:
            raise DeidError(Code.SETTINGS_INVALID, "vllm: not set")
        return spec.build()


def gpu_resource(config: str) -> dg.ResourceDefinition:
    """The card for runs of one installation; no run can configure it."""

    @contextmanager
    def held(_: dg.InitResourceContext) -> Iterator[Gpu]:
        try:
            yield Gpu(config)
        finally:
            ENGINES.release()

    return dg.ResourceDefinition(held, config_schema={})
