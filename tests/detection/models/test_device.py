"""Where models run: what is refused, what falls back, and what it makes of a detector. With torch: `tests/ml`."""

from __future__ import annotations

from pathlib import Path

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.models import device
from deid_platform.errors import Code, DeidError
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import Settings
from tests.command_line import deid


@pytest.fixture(params=["the extra ml", "a card that torch can use"])
def missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A machine without torch, and one with torch and without a card."""
    monkeypatch.setattr(device, "find_spec", lambda _: None if request.param == "the extra ml" else object())
    monkeypatch.setattr(device, "no_card", lambda: "a card that torch can use")
    return str(request.param)


def test_a_card_that_is_not_here_is_refused_unless_told_to_do_without(missing: str) -> None:
    assert device.usable("cpu") == "cpu"
    assert device.usable("cuda-or-cpu") == "cpu"
    with pytest.raises(DeidError) as refused:
        device.usable("cuda")
    assert refused.value.code is Code.DEVICE_MISSING
    assert missing in str(refused.value)


def test_a_card_that_is_here_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "find_spec", lambda _: object())
    monkeypatch.setattr(device, "no_card", lambda: "")
    assert device.usable("cuda") == device.usable("cuda-or-cpu") == "cuda"


def test_a_device_that_is_none_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(DeidError) as refused:
        device.usable("gpu")
    assert "cuda-or-cpu" in str(refused.value)


def test_what_runs_elsewhere_is_another_detector_unless_it_has_no_model() -> None:
    digests = {DetectorSpec("ensemble", device=where).detector_digest for where in device.DEVICES}
    assert len(digests) == len(device.DEVICES)
    assert len({DetectorSpec("rules", device=where).detector_digest for where in device.DEVICES}) == 1


def test_what_a_cluster_has_is_not_looked_for_here(missing: str) -> None:
    def asked(engine: str, device: str) -> str:
        return Site(
            Settings.model_validate({"site": "north", "detection": {"engine": engine, "device": device}})
        ).device

    assert asked("ray", "cuda") == "cuda"
    assert asked("local", "cuda-or-cpu") == "cpu"
    for engine, where, code in (("local", "cuda", Code.DEVICE_MISSING), ("ray", "cuda-or-cpu", Code.SETTINGS_INVALID)):
        with pytest.raises(DeidError) as refused:
            asked(engine, where)
        assert refused.value.code is code
    assert missing


def test_only_a_detector_with_models_asks_for_a_process_on_the_card() -> None:
    assert DetectorSpec("ensemble").network_server() is None
    assert DetectorSpec("rules", device="cuda").network_server() is None


def test_the_command_refuses_before_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "find_spec", lambda _: None)
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"note_id": "1", "text": "Mr. Quarmby came."}\n')
    refused = deid("redact", str(notes), "--output", str(tmp_path / "out.jsonl"), "--device", "cuda")
    assert refused.returncode == 1
    assert "device-missing" in refused.stderr
    assert not (tmp_path / "out.jsonl").exists()
