"""Models that torch runs: the shipped one too, in a process of its own for all workers."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.models import network_server
from deid_platform.detection.models.device import CARD, TORCH_ON_PROCESSOR
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.network_server import NetworkServer
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.engine.engines import LocalEngine
from deid_platform.engine.warm_up import made_up_note
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note

pytestmark = pytest.mark.process

SHIPPED = ModelFolder.shipped("minilm")
SPEC = DetectorSpec("ensemble", device=TORCH_ON_PROCESSOR)


def texts() -> list[str]:
    """Notes of different lengths."""
    lines = made_up_note().note.text.splitlines()
    draw = random.Random(4)
    return ["\n".join(draw.sample(lines, draw.randint(2, len(lines)))) for _ in range(9)]


def notes() -> list[Note]:
    return [Note(str(number), text) for number, text in enumerate(texts())]


@pytest.fixture(scope="module")
def server() -> Iterator[NetworkServer]:
    with NetworkServer([SHIPPED], TORCH_ON_PROCESSOR) as started:
        yield started


def test_torch_reads_the_shipped_model_as_onnxruntime_does() -> None:
    exact, ours = TokenClassifier(SHIPPED), TokenClassifier(SHIPPED, device=TORCH_ON_PROCESSOR)
    apart, alike, words = 0.0, 0, 0
    for text in texts():
        (_, one), (_, other) = exact.probabilities(text), ours.probabilities(text)
        apart = max(apart, float(np.abs(one - other).mean()))
        alike += int((exact.thresholds.taken(one) == ours.thresholds.taken(other)).sum())
        words += len(one)
    # int8 activations are rounded, float32 ones are not.
    assert apart < 0.01
    assert alike / words > 0.99


def test_what_torch_finds_in_a_note_depends_on_no_other() -> None:
    model = TokenClassifier(SHIPPED, device=TORCH_ON_PROCESSOR)
    alone = [model.probabilities(text)[1] for text in texts()]
    for order in (texts(), texts()[::-1]):
        read = dict(zip(order, model._read(order), strict=True))
        for text, expected in zip(texts(), alone, strict=True):
            assert np.array_equal(read[text][1], expected)


def test_all_workers_are_answered_as_if_each_were_alone(server: NetworkServer) -> None:
    expected = [TokenClassifier(SHIPPED, device=TORCH_ON_PROCESSOR).probabilities(text)[1] for text in texts()]

    def read(number: int) -> bool:
        model = TokenClassifier(SHIPPED, device=TORCH_ON_PROCESSOR, served=server.served)
        found = [model.probabilities(text)[1] for text in texts()[number:]]
        return all(map(np.array_equal, found, expected[number:]))

    with ThreadPoolExecutor(5) as threads:
        assert all(threads.map(read, range(5)))


def test_who_does_not_know_the_key_is_not_answered(server: NetworkServer) -> None:
    stranger = replace(server.served, key=b"guessed")
    with pytest.raises(DeidError) as refused:
        TokenClassifier(SHIPPED, device=TORCH_ON_PROCESSOR, served=stranger).probabilities("Mr. Quarmby")
    assert refused.value.code is Code.DETECTOR_FAILED
    assert TokenClassifier(SHIPPED, device=TORCH_ON_PROCESSOR, served=server.served).probabilities("Mr. Quarmby")
    assert "guessed" not in repr(stranger)


def test_workers_find_what_one_process_finds_and_the_server_ends_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _watched(monkeypatch)
    alone = [found.spans for found in LocalEngine().detect(SPEC, notes())]
    assert started == []
    engine = LocalEngine(workers=2, batch_size=2)
    together = [found.spans for found in engine.detect(SPEC, notes())]
    assert engine.models.seconds.ran.processor > 0, "the server's, by way of the workers"
    assert together == alone
    assert any(alone)
    (server,) = started
    assert not server._process.is_alive()
    assert not Path(server.served.address).exists()


def test_a_server_that_dies_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _watched(monkeypatch)
    reading = LocalEngine(workers=2, batch_size=1).detect(SPEC, notes())
    next(reading)
    os.kill(started[0].pid or 0, signal.SIGKILL)
    with pytest.raises(DeidError) as stopped:
        list(reading)
    assert stopped.value.code is Code.DEVICE_LOST


def test_a_server_that_answers_no_more_is_lost_before_it_has_ended() -> None:
    with NetworkServer([], TORCH_ON_PROCESSOR) as server:
        server.check()
        Path(server.served.address).unlink()
        with pytest.raises(DeidError) as lost:
            server.check()
        assert lost.value.code is Code.DEVICE_LOST
        assert server._process.is_alive()


def test_a_server_whose_owner_is_gone_ends_and_leaves_nothing() -> None:
    with NetworkServer([], TORCH_ON_PROCESSOR) as server:
        server._control.close()
        server._process.join(60)
        assert not Path(server.served.address).parent.exists()


def test_a_server_that_cannot_load_a_model_says_so() -> None:
    with pytest.raises(DeidError) as refused, NetworkServer([replace(SHIPPED, path=SHIPPED.path.parent)], "torch-cpu"):
        pass
    assert refused.value.code is Code.DEVICE_LOST


def test_a_card_that_is_not_here_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deid_platform.detection.models.device.no_card", lambda: "a card that torch can use")
    for engine in (LocalEngine(), LocalEngine(workers=2)):
        with pytest.raises(DeidError) as refused:
            next(engine.detect(replace(SPEC, device=CARD), notes()))
        assert refused.value.code is Code.DEVICE_MISSING


def _watched(monkeypatch: pytest.MonkeyPatch) -> list[NetworkServer]:
    started: list[NetworkServer] = []
    enter = network_server.NetworkServer.__enter__

    def watched(server: NetworkServer) -> NetworkServer:
        started.append(server)
        return enter(server)

    monkeypatch.setattr(network_server.NetworkServer, "__enter__", watched)
    return started
