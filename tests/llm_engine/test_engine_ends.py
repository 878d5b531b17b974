"""How an engine in this process ends: killed, or with the process that started it; and what it says meanwhile."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.chat.spec import ChatSpec
from deid_platform.detection.models.loading import Models
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.llm.api import ChatRequest, Message
from deid_platform.llm.engines import EngineSpec
from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine
from deid_platform.notes import Note

pytestmark = pytest.mark.process

MARKER = "Zebulonquist"
SECONDS = 60


def request(**given: object) -> ChatRequest:
    return replace(ChatRequest((Message("user", f"Seen by Dr. {MARKER}."),)), **given)  # type: ignore[arg-type]


def children(of: int | None = None) -> set[int]:
    """The processes that vLLM started, without the guard and Python's own tracker of resources."""
    found = set()
    for child in psutil.Process(of).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it ends meanwhile
            if not {"tracker", "guard"} & set(re.findall(r"[a-z]+", str(child.cmdline()))):
                found.add(child.pid)
    return found


def ended(pids: set[int]) -> bool:
    """Whether all of them have, within a minute."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
            return True
        time.sleep(0.2)
    return False


def test_a_killed_engine_is_lost_says_nothing_and_leaves_nothing(
    engine_settings: EngineSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    before = children()
    with VllmEngine(engine_settings) as engine:
        own = children() - before
        assert own
        outcomes = engine.model().answer(request(max_tokens=200 + 100 * number) for number in range(6))
        next(outcomes)
        for pid in own:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(DeidError) as raised:
            list(outcomes)
        assert engine.lost
        assert raised.value.code is Code.DEVICE_LOST
        # Nor does it answer anything later.
        with pytest.raises(DeidError) as raised:
            list(engine.model().answer([request()]))
        assert raised.value.code is Code.DEVICE_LOST
    assert ended(own)
    assert capfd.readouterr() == ("", "")


def test_a_run_whose_engine_is_killed_stops_and_the_next_one_reads_every_note(engine_settings: EngineSettings) -> None:
    notes = [Note(str(number), f"Seen by Dr. {MARKER}, day {number}.") for number in range(3)]
    chat = ChatSpec("extract-zero", EngineSpec(replace(engine_settings, max_length=1200)))
    spec = DetectorSpec("ensemble", without=("models", "doubt"), chat=chat)
    with Models() as models:
        engine = LocalEngine(batch_size=1, models=models)
        before = children()
        reading = engine.detect(spec, notes)
        next(reading)
        for pid in children() - before:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(DeidError) as raised:
            list(reading)
        assert raised.value.code is Code.DEVICE_LOST
        assert models.seconds.ran.processor > 0
        models.release()  # as at the end of a run
        assert len(list(engine.detect(spec, notes))) == len(notes)


def test_an_engine_that_cannot_start_is_lost_at_once(
    engine_settings: EngineSettings, capfd: pytest.CaptureFixture[str]
) -> None:
    # A cache that holds no request of the whole length, as on a card that is too small.
    small = replace(engine_settings, cache_gib=0.0001)
    before = children()
    with pytest.raises(DeidError) as raised, VllmEngine(small):
        pass
    assert raised.value.code is Code.DEVICE_LOST
    assert ended(children() - before)
    assert capfd.readouterr() == ("", "")


def test_a_model_that_cannot_converse_is_refused_before_it_is_loaded(
    engine_settings: EngineSettings, tmp_path: Path
) -> None:
    with pytest.raises(DeidError) as raised, VllmEngine(replace(engine_settings, model=tmp_path)):
        pass
    assert (raised.value.code, raised.value.ref) == (Code.MODEL_UNUSABLE, "config.json")


PROGRAM = """
import sys, time
from pathlib import Path
from deid_platform.llm.vllm_engine import EngineSettings, VllmEngine
if __name__ == "__main__":
    with VllmEngine(EngineSettings(Path(sys.argv[1]), cache_gib=0.25, at_once=4, compiled=False)):
        print("started", flush=True)
        time.sleep(600)
"""


def test_an_engine_ends_with_the_process_that_started_it(chat_folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, str(program), str(chat_folder)], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "started\n"
        own = children(owner.pid)
        assert own
        owner.kill()
    assert ended(own)
