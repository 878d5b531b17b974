"""The card in a run: steps ask it for their models; a chat model is loaded once, and freed whatever comes."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import dagster as dg
import pytest

from assets import layer
from assets.run_config import EXECUTOR
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.loading import Models
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.llm import engines
from deid_platform.llm.api import ModelIdentity
from deid_platform.llm.engines import EngineSpec
from deid_platform.notes import Note
from deid_platform.runtime.model_seconds import ModelSeconds, Ran
from deid_platform.settings import load_settings
from resources import Gpu, SiteResource, gpu_resource

SITE = 'site = "north"\nprofile = "demo"\n'
TEXT = "Mr. Quarmby was seen by Dr. Ndoye in Peebles."


class Engine:
    """Stands for one that would take a card; `happened` is what became of all of them."""

    happened: ClassVar[list[str]] = []

    def __init__(self, settings: engines.EngineSettings) -> None:
        self.settings = settings
        self.seconds = ModelSeconds()

    def __enter__(self) -> Engine:
        self.happened.append(f"loaded {self.settings.model.name} of {self.settings.max_length}")
        return self

    def __exit__(self, *_: object) -> None:
        self.happened.append("released")

    def model(self, adapter: str | None) -> ModelIdentity:
        with self.seconds.running(cards=2):
            return ModelIdentity(f"model with {adapter}", "")


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(Engine, "happened", [])
    monkeypatch.setattr(engines, "VllmEngine", Engine)
    return Engine.happened


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "deid.toml"
    path.write_text(SITE + '[vllm]\nmodel = "weights"\nmax_length = 4096\nadapter = "house"\nadapters.house = "a"\n')
    return path


def run(config: Path, happened: list[str], *, fail: bool = False) -> dg.ExecuteInProcessResult:
    """A run of two steps that both ask for the language model."""

    def ask(site: SiteResource, gpu: Gpu) -> None:
        spec = EngineSpec.of(load_settings(config))
        assert spec is not None
        happened.append(site.using(gpu).models.chat_model(spec).name)  # type: ignore[attr-defined]

    @layer.layer_asset("toy/first", owner=layer.PRIVACY, kinds={"table"}, pool="gpu", alone=False)
    def first(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> layer.Counts:
        """Asks."""
        ask(site, gpu)
        return {}

    @layer.layer_asset("toy/second", owner=layer.PRIVACY, kinds={"table"}, pool="gpu", deps=[first], alone=False)
    def second(site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> layer.Counts:
        """Asks again."""
        ask(site, gpu)
        if fail:
            raise DeidError(Code.DEVICE_LOST)
        return {}

    resources = {"gpu": gpu_resource(), "site": SiteResource(config=str(config))}
    defs = dg.Definitions([first, second], resources=resources, executor=EXECUTOR)
    return defs.get_implicit_global_asset_job_def().execute_in_process(raise_on_error=False)


def test_a_run_loads_once_and_releases_at_its_end(config: Path, happened: list[str]) -> None:
    assert run(config, happened).success
    assert happened == ["loaded weights of 4096", "model with house", "model with house", "released"]
    assert run(config, happened).success
    assert happened[4:] == happened[:4]


def test_a_run_that_fails_releases_too(config: Path, happened: list[str]) -> None:
    assert not run(config, happened, fail=True).success
    assert happened[-1] == "released"


def test_each_step_shows_the_seconds_of_its_own_models(config: Path, happened: list[str]) -> None:
    clock = iter(range(1000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deid_platform.runtime.model_seconds.perf_counter", lambda: float(next(clock)))
        done = run(config, happened)
    shown = [event.materialization.metadata for event in done.get_asset_materialization_events()]
    # A second each, on two cards; the other's is not counted again.
    assert [(it["gpu_seconds"].value, it["model_seconds_on_processor"].value) for it in shown] == [(2.0, 0.0)] * 2


def test_whoever_is_in_the_pool_asks_and_none_asks_that_ignores_it(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    pooled = {key for key in graph.get_all_asset_keys() if graph.get(key).pools}
    asking = {key for it in definitions.assets or () for key in it.keys if "gpu" in it.required_resource_keys}
    assert len(pooled) >= 12
    # Judges that ask a model behind an endpoint have no card to share.
    assert asking - {key for key in asking if key.path[0] == "judges"} == pooled
    lines = [line for path in Path(layer.__file__).parent.glob("*.py") for line in path.read_text().splitlines()]
    assert len([line for line in lines if "gpu: dg.ResourceParam[Gpu]" in line]) >= 12
    assert [line for line in lines if "gpu" in line and "noqa" in line] == []


def test_a_token_classifier_and_an_encoder_are_had_from_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str | None, str]] = []
    starting = SimpleNamespace(start_of=lambda name, preset: started.append((name, preset)) or "a network")
    monkeypatch.setitem(sys.modules, "deid_platform.training.starting", starting)  # which needs torch
    with Gpu() as gpu:
        classifier = gpu.token_classifier(ModelFolder.shipped("minilm"))
        assert isinstance(classifier, TokenClassifier)
        classifier.probabilities(TEXT)
        assert gpu.seconds.ran.processor > 0
        assert gpu.seconds.ran.gpu == 0
        assert gpu.encoder("minilm", "preset") == "a network"  # type: ignore[arg-type,comparison-overlap]
    assert started == [("minilm", "preset")]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_detection_takes_its_models_from_there_and_tells_the_seconds_of_all_processes(workers: int) -> None:
    notes = [Note(str(n), f"{TEXT} {n}") for n in range(4)]
    with Models() as models:
        engine = LocalEngine(workers=workers, batch_size=2, models=models)
        found = list(engine.detect(DetectorSpec("ensemble"), notes))
        ran = models.seconds.ran
        assert ran.processor > 0
        assert ran.gpu == 0
        list(engine.detect(DetectorSpec("rules"), notes))
        assert models.seconds.ran == ran, "rules are no model"
    assert [it.spans for it in found] == [it.spans for it in LocalEngine().detect(DetectorSpec("ensemble"), notes)]


def test_whoever_stops_at_a_result_has_the_seconds_of_all_notes_until_then() -> None:
    notes = [Note(str(n), f"{TEXT} {n}") for n in range(3)]
    with Models() as models:
        reading = LocalEngine(batch_size=1, models=models).detect(DetectorSpec("ensemble"), notes)
        next(reading)
        first = models.seconds.ran.processor
        next(reading)
        assert models.seconds.ran.processor > first > 0


def test_what_a_worker_hands_on_is_counted_once() -> None:
    seconds, worker = ModelSeconds(), ModelSeconds()
    seconds.add(Ran(gpu=1.0))
    worker.add(Ran(processor=2.0))
    for counted in (seconds, worker):  # in this process, a worker's count is the one that it is added to
        seconds.add(counted.take())
    assert seconds.ran == Ran(1.0, 2.0)
    assert worker.ran == Ran()


def test_another_process_gets_none_of_what_is_loaded(config: Path, happened: list[str]) -> None:
    spec = EngineSpec.of(load_settings(config))
    assert spec is not None
    with Gpu() as gpu:
        gpu.chat_model(spec)
        copy = pickle.loads(pickle.dumps(gpu))
        assert type(copy) is Models, "a worker loads no Dagster for it"
        assert copy.seconds.ran == Ran()
        copy.release()
        assert happened == ["loaded weights of 4096"]
    assert happened[-1] == "released"


def test_memory_of_a_card_that_torch_holds_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def torch(*, used: bool) -> Iterator[str]:
        cuda = SimpleNamespace(is_initialized=lambda: used, empty_cache=lambda: given.append("back"))
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        with Models():
            yield from ()

    for used in (False, True):
        list(torch(used=used))
    assert given == ["back"]


def test_a_second_of_a_shared_card_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from deid_platform.detection.models import network_server

    clock = iter((10.0, 14.0))
    monkeypatch.setattr("deid_platform.runtime.model_seconds.perf_counter", lambda: next(clock))
    heard: list[Ran] = []

    class Pipe:
        def send(self, answered: network_server.Answered) -> None:
            heard.append(answered[1])

    def request(windows: Sequence[str]) -> network_server._Request:
        return network_server._Request(Pipe(), "minilm", list(windows))  # type: ignore[arg-type]

    network_server._answer(lambda windows: windows, [request("a"), request("bcd")], cards=1)
    assert heard == [Ran(gpu=1.0), Ran(gpu=3.0)]
