"""Who may ask the service, and what it may listen on."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import deid
from service_client import InThisProcess, client_of, note, service_of

from deid_platform.errors import Code, DeidError
from deid_platform.service.access import Tokens, check_listening, is_loopback, is_own_name

ONE, TWO = "Kx7-" * 2 + "abcdefghijklmnopqrstuvwx", "Q" * 3 + "abcdefghijklmnopqrstuvwxyz0123456"


@pytest.mark.parametrize(
    ("written", "clients"),
    [
        (f"ehr:{ONE}\n\n# former\nold-ehr:{TWO}\n", 2),
        ("", 0),
        (ONE, "line 1: not name:token"),
        (f"ehr:{ONE}\nehr:{TWO}", "line 2: stands twice"),
        (f"ehr:{ONE}\nlab:{ONE}", "line 2: stands twice"),
        ("ehr:short", "line 1: too short"),
        ("ehr:" + "a" * 64, "line 1: too short"),
    ],
)
def test_tokens_are_lines_of_a_name_and_a_token(written: str, clients: int | str) -> None:
    if isinstance(clients, int):
        assert bool(Tokens.parse(written)) == bool(clients)
        return
    with pytest.raises(DeidError) as error:
        Tokens.parse(written)
    assert (error.value.code, error.value.ref) == (Code.TOKENS_INVALID, clients)


@pytest.mark.parametrize(
    ("header", "client"),
    [
        (f"Bearer {ONE}", "ehr"),
        (f"bearer {TWO}", "lab"),
        (f"Basic {ONE}", None),
        (f"Bearer {ONE}x", None),
        (ONE, None),
        ("Bearer ", None),
        (None, None),
        ("Bearer \udcff", None),
    ],
)
def test_a_header_is_whose_token_it_bears(header: str | None, client: str | None) -> None:
    assert Tokens({"ehr": ONE, "lab": TWO}).client_of(header) == client


def test_tokens_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEID_SERVE_TOKENS", f"env:{ONE}")
    assert Tokens.read().client_of(f"Bearer {ONE}") == "env"
    (tmp_path / "tokens").write_text(f"file:{TWO}")
    monkeypatch.setenv("DEID_SERVE_TOKENS_FILE", str(tmp_path / "tokens"))
    assert Tokens.read().client_of(f"Bearer {TWO}") == "file"
    (tmp_path / "none").write_text("# nobody yet\n")
    for file, ref in (("none", "there is none"), ("gone", "the file cannot be read")):
        with pytest.raises(DeidError) as error:
            Tokens.read(tmp_path / file)
        assert (error.value.code, error.value.ref) == (Code.TOKENS_INVALID, ref)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "deid.example.org"])
def test_a_service_without_tokens_does_not_listen_beyond_this_machine(host: str) -> None:
    with pytest.raises(DeidError) as error:
        check_listening(host, Tokens({}))
    assert error.value.code is Code.SERVICE_OPEN
    check_listening(host, Tokens({"ehr": ONE}))
    done = deid("serve", "--host", host)
    assert (done.returncode, "service-open" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("127.0.0.1:8090", True),
        ("localhost", True),
        ("[::1]:8090", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        (None, False),
    ],
)
def test_without_tokens_only_names_of_this_machine_are_answered(name: str | None, ours: bool) -> None:
    assert is_own_name(name) == ours
    assert is_loopback("127.0.0.1")


@pytest.fixture(scope="module")
def staff() -> InThisProcess:
    return InThisProcess()


def test_another_sites_page_cannot_ask(staff: InThisProcess) -> None:
    pointed_here = client_of(service_of(staff), at="http://evil.example:8090")
    assert pointed_here.post("/v1/redact", json={"notes": [note("Seen.")]}).json()["error"]["ref"] == "host"
    # What a form sends without asking first.
    form = client_of(service_of(staff)).post("/v1/redact", content='{"notes": [{"text": "Seen."}]}')
    assert form.status_code == 415


def test_with_tokens_nothing_of_notes_is_answered_without_one(staff: InThisProcess) -> None:
    client = client_of(service_of(staff), Tokens({"ehr": ONE}), at="http://deid.example.org")
    body = {"notes": [note("Seen by Dr. Alan Reed.")]}
    for path in ("/v1/redact", "/v1/detect", "/v1/redact/stream", "/metrics", "/nowhere"):
        refused = client.post(path, json=body)
        assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer"), path
        assert refused.json()["error"]["code"] == "token-refused"
    answer = client.post("/v1/redact", json=body, headers={"Authorization": f"Bearer {ONE}"})
    assert answer.json()["notes"][0]["text"] == "Seen by Dr. [DOCTOR]."
    for path in ("/healthz", "/readyz", "/docs", "/openapi.json"):
        assert client.get(path).status_code == 200
