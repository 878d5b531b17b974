"""The card in a run: a language model is loaded once, however many steps ask, and released whatever comes."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import dagster as dg
import pytest

from assets.run_config import EXECUTOR
from deid_platform.errors import Code, DeidError
from deid_platform.llm import engines
from deid_platform.llm.api import ModelIdentity
from resources import Gpu, gpu_resource

SITE = 'site = "north"\nprofile = "demo"\n'


class Engine:
    """Stands for one that would take a card; `happened` is what became of all of them."""

    happened: ClassVar[list[str]] = []

    def __init__(self, settings: engines.EngineSettings) -> None:
        self.settings = settings

    def __enter__(self) -> Engine:
        self.happened.append(f"loaded {self.settings.model.name} of {self.settings.max_length}")
        return self

    def __exit__(self, *_: object) -> None:
        self.happened.append("released")

    def model(self, adapter: str | None) -> ModelIdentity:
        return ModelIdentity(f"model with {adapter}", "")


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(Engine, "happened", [])
    monkeypatch.setattr(engines, "VllmEngine", Engine)
    return Engine.happened


def run(config: Path, happened: list[str], *, fail: bool = False) -> dg.ExecuteInProcessResult:
    """A run of two steps that both ask."""

    @dg.asset(pool="gpu")
    def first(gpu: dg.ResourceParam[Gpu]) -> None:
        happened.append(gpu.chat_model().name)  # type: ignore[attr-defined]

    @dg.asset(pool="gpu", deps=[first])
    def second(gpu: dg.ResourceParam[Gpu]) -> None:
        happened.append(gpu.chat_model().name)  # type: ignore[attr-defined]
        if fail:
            raise DeidError(Code.DEVICE_LOST)

    defs = dg.Definitions([first, second], resources={"gpu": gpu_resource(str(config))}, executor=EXECUTOR)
    return defs.get_implicit_global_asset_job_def().execute_in_process(raise_on_error=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "deid.toml"
    path.write_text(SITE + '[vllm]\nmodel = "weights"\nmax_length = 4096\nadapter = "house"\nadapters.house = "a"\n')
    return path


def test_a_run_loads_once_and_releases_at_its_end(config: Path, happened: list[str]) -> None:
    assert run(config, happened).success
    assert happened == ["loaded weights of 4096", "model with house", "model with house", "released"]
    assert run(config, happened).success
    assert happened[4:] == happened[:4]


def test_a_run_that_fails_releases_too(config: Path, happened: list[str]) -> None:
    assert not run(config, happened, fail=True).success
    assert happened[-1] == "released"


def test_a_site_without_a_language_model_loads_none(tmp_path: Path, happened: list[str]) -> None:
    path = tmp_path / "deid.toml"
    path.write_text(SITE)
    failed = run(path, happened)
    assert not failed.success
    assert happened == []
