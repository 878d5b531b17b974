"""Where a page that shows notes listens: on loopback, wherever it runs (docs/security.md)."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from socket import socket

import pytest
from command_line import deid
from free_port import free_port

from deid_platform.ui import desk, queue
from deid_platform.ui.guard import Login


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The address of each page that a command opens, in place of serving it."""
    found: list[str] = []

    def serve(*_: object, listening: socket, login: Login) -> None:
        found.append(listening.getsockname()[0])

    monkeypatch.setattr(queue, "serve_queue", serve)
    monkeypatch.setattr(desk, "serve", serve)
    monkeypatch.setenv("DEID_SECRET", secrets.token_hex(32))
    monkeypatch.setattr("deid_platform.review.rounds.known_round", lambda *_: 1)
    return found


@pytest.mark.parametrize("page", [("open", "--as", "A"), ("quarantine", "--who", "A. Reader")])
def test_a_page_listens_on_loopback_and_has_no_option_for_another_address(
    page: tuple[str, ...], opened: list[str], tmp_path: Path
) -> None:
    config = shutil.copy(Path(__file__).parents[2] / "deid.toml", tmp_path)
    command = ["review", *page, "--port", str(free_port()), "--config", str(config)]
    assert deid(*command).returncode == 0
    assert opened == ["127.0.0.1"]
    for option in ("--address", "--host"):
        assert "No such option" in deid(*command, option, "0.0.0.0").stderr
    assert opened == ["127.0.0.1"]
