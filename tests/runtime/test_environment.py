"""Which variables another program inherits."""

from __future__ import annotations

import pytest

from deid_platform.runtime.environment import harmless_environment, ordinary_environment

SECRETS = {
    "DEID_SECRET": "x",
    "DEID_PASSWORD_LOADER": "x",
    "DEID_SECRET_FILE": "/run/secrets/key",
    "DEID_WAREHOUSE_URL": "postgresql://server/deid",
    "PGPASSWORD": "x",
    "DAGSTER_PG_PASSWORD": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_ACCESS_KEY_ID": "x",
    "HF_TOKEN": "x",
    "OPENAI_API_KEY": "x",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "DBT_ENV_SECRET_MODELLER": "x",
    "EHR": "postgresql://reader:word@ehr/notes",
}
HARMLESS = {
    "TERM": "xterm",
    "CUDA_VISIBLE_DEVICES": "0",
    "TESSDATA_PREFIX": "/usr/share/tessdata",
    "KEYBOARD": "us",
    "AUTHOR": "A. Reed",
    "PGSSLROOTCERT": "/etc/ssl/root.crt",
    "MONKEY_ISLAND": "1",
    "INDEX": "https://packages.example/simple",
    "NOTE": "5:30 at ward 9 @ noon",
}


@pytest.fixture(autouse=True)
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SECRETS, **HARMLESS, "LC_TIME": "C"}.items():
        monkeypatch.setenv(name, value)


def test_a_program_of_somebody_else_inherits_no_secret_and_the_rest() -> None:
    assert not SECRETS.keys() & harmless_environment().keys()
    assert harmless_environment().items() >= HARMLESS.items()


def test_a_program_whose_users_read_its_environment_inherits_what_any_needs() -> None:
    found = ordinary_environment()
    assert not found.keys() & (SECRETS | HARMLESS).keys()
    assert {"PATH", "LC_TIME"} <= found.keys()
