"""docs/serve.md says what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

from service_client import InThisProcess, client_of, service_of

from deid_platform.doctor import examine
from deid_platform.errors import Code, DeidError
from deid_platform.service.openapi import OPERATIONS
from deid_platform.service.watching import RETRIED, status_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")


def test_the_example_is_answered_as_the_page_says() -> None:
    sent = json.loads(re.search(r"-d '\n(.*?)'\n", PAGE, re.S)[1])
    answered = json.loads(re.search(r"```json\n(.*?)```", PAGE, re.S)[1])
    assert client_of(service_of(InThisProcess())).post("/v1/redact", json=sent).json() == answered


def test_every_address_and_every_code_is_on_the_page() -> None:
    for operation in OPERATIONS:
        assert operation.path.removeprefix("/v1") in PAGE, operation.path
    rows = re.findall(r"^\| ([\d, ]+) \| (.*?) \|", PAGE, re.M)
    named = {code: int(status.split(",")[0]) for status, codes in rows for code in re.findall(r"`([a-z-]+)`", codes)}
    assert set(named) > {"token-refused", "request-slow", "request-too-large", "deadline-passed", "service-busy"}
    by_slug = {code.slug: code for code in Code}
    assert {slug: status_of(DeidError(by_slug[slug])) for slug in named} == named
    assert all(f"`{code.slug}`" in PAGE for code in (*RETRIED, Code.WORKER_LOST, Code.SERVICE_OPEN))


def test_the_page_is_found(tmp_path: Path) -> None:
    assert "(serve.md)" in (ROOT / "docs/README.md").read_text(encoding="utf-8")
    doctor = {diagnosis.subject: diagnosis.detail for diagnosis in examine(tmp_path / "none.toml")}
    assert "serve" in doctor["extras"].partition(";")[0].split(", ")
